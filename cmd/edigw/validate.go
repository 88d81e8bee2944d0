package main

import (
	"fmt"
	"io"
	"slices"

	codes "github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

type validateCommand struct {
	Files     []string `arg:"" help:"Files to read, or - for standard input."`
	Structure string   `enum:"off,note,refuse" default:"refuse" help:"What becomes of messages that depart from their directory: off, note or refuse."`
	Guide     string   `help:"Judge messages by this guide's tables, in place of the association code that they name."`
	Profile   string   `default:"automatic" help:"Read documents by this profile, in place of the one that messages name."`
	Refuse    []string `placeholder:"CODE" help:"Findings in documents that are errors here, as a partner's checks may have them: codes, or all."`
	Quiet     bool     `short:"q" help:"Only the files in which a finding is an error, and only their errors."`
	Output    string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// validatedFile is what is said of one file.
type validatedFile struct {
	File     string    `json:"file"`
	Refused  bool      `json:"refused"` // a finding is an error
	Messages int       `json:"messages"`
	Errors   int       `json:"errors"`
	Findings []finding `json:"findings"`
	Omitted  int       `json:"findings_omitted,omitempty"`
}

// Run reads every file to its end, whatever is wrong with those before it.
func (c *validateCommand) Run(a *app) error {
	tables, err := a.tables()
	if err != nil {
		return err
	}
	policy, err := refusing(c.Refuse)
	if err != nil {
		return err
	}
	by, err := profile(c.Profile)
	if err != nil {
		return err
	}
	o := gateway.Reading{Tolerance: edi.Tolerance{Guide: c.Guide}, Undigested: true}
	switch c.Structure {
	case "refuse":
		o.Structure = edi.StructureRefused
	case "off":
		o.Structure = edi.StructureIgnored
	}
	var list []*validatedFile
	refused, errors, findingsCount := 0, 0, 0
	for _, name := range c.Files {
		f, err := c.file(a, name, formats(tables), o, policy, by)
		if err != nil {
			return fmt.Errorf("validate %s: %w", name, err)
		}
		errors, findingsCount = errors+f.Errors, findingsCount+len(f.Findings)+f.Omitted
		if f.Refused {
			refused++
		}
		if c.Quiet {
			f.onlyErrors()
		}
		if c.Output == "table" {
			if err := c.table(a.stdout, f); err != nil {
				return err
			}
			continue
		}
		list = append(list, f)
	}
	if c.Output == "json" {
		err = a.json(struct {
			Files []*validatedFile `json:"files"`
		}{list})
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s, %d refused: %s (%s)\n", plural(len(c.Files), "file"), refused,
			plural(findingsCount, "finding"), plural(errors, "error"))
	}
	if err == nil && refused > 0 {
		return findings()
	}
	return err
}

// file reads one file.
func (c *validateCommand) file(a *app, name string, formats []gateway.Format, o gateway.Reading, policy map[string]string, by *roles.Set) (_ *validatedFile, err error) {
	p, closeSource, err := a.source(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := closeSource(); err == nil {
			err = e
		}
	}()
	f := &validatedFile{File: name, Findings: []finding{}}
	in := newInspector(p, o, (*validation)(f))
	in.policy, in.by = policy, by
	if err := in.read(formats); err != nil {
		return nil, err
	}
	f.Findings, f.Errors, f.Omitted, f.Refused = append(f.Findings, in.found...), in.errors, in.omitted, in.errors > 0
	return f, nil
}

// refusing is a policy by which findings refuse.
func refusing(list []string) (map[string]string, error) {
	policy := map[string]string{}
	for _, code := range list {
		c, known := codes.Find(code)
		switch near := partners.Nearest(code, codes.Settable()); {
		case code == "all":
			policy[codes.Default] = codes.Refuse
		case known && c.Settable():
			policy[code] = codes.Refuse
		case known:
			return nil, usage("--refuse %s: what it finds is told as it is, whatever is set", code)
		case near != "":
			return nil, usage("--refuse %s: there is no such finding; did you mean %s?", code, near)
		default:
			return nil, usage("--refuse %s: there is no such finding; see docs/reference/documents.md", code)
		}
	}
	return policy, nil
}

func (f *validatedFile) onlyErrors() {
	f.Findings = slices.DeleteFunc(f.Findings, func(e finding) bool { return !e.Refuses() })
	f.Omitted = f.Errors - len(f.Findings)
}

func (c *validateCommand) table(w io.Writer, f *validatedFile) error {
	if c.Quiet && !f.Refused {
		return nil
	}
	state := "sound"
	if f.Refused {
		state = "refused"
	}
	if _, err := fmt.Fprintf(w, "%s: %s, %s\n", printable(f.File), state, plural(f.Messages, "message")); err != nil {
		return err
	}
	return (&inspectTable{w: w}).list(f.Findings, f.Omitted)
}

// validation counts what an inspector reads.
type validation validatedFile

func (v *validation) interchange(*edi.Interchange, string) error { return nil }
func (v *validation) message(inspectedMessage) error             { v.Messages++; return nil }
func (v *validation) answer(edi.Answer) error                    { return nil }
func (v *validation) end(*edi.Interchange) error                 { return nil }
func (v *validation) findings([]finding, int, int) error         { return nil }
