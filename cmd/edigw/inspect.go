package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/structure"
)

// maxFindings bounds the findings that are listed, errors first; the others are counted.
const maxFindings = 1000

type inspectCommand struct {
	File     string `arg:"" help:"File to read, or - for standard input."`
	Segments bool   `xor:"detail" help:"List every segment of every message."`
	Tree     bool   `xor:"detail" help:"Show every segment below the one that opens its group, with every value and what it is."`
	Guide    string `help:"Place and judge segments by this guide's tables, in place of the association code that messages name."`
	Profile  string `default:"automatic" help:"Read documents by this profile, in place of the one that messages name."`
	Output   string `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// inspection is where what was read goes, as it is read: an interchange of a
// million messages does not have to fit into memory.
type inspection interface {
	interchange(ic *edi.Interchange, key string) error
	message(m inspectedMessage) error
	answer(a edi.Answer) error
	end(ic *edi.Interchange) error
	findings(list []finding, errors, omitted int) error
}

// finding is what is wrong, with the text it is about where that can be shown.
type finding struct {
	gateway.Finding
	Excerpt *excerpt `json:"excerpt,omitempty"`
}

// inspectedMessage is a message in the answer of inspect.
type inspectedMessage struct {
	Type           string `json:"type"`
	Version        string `json:"version"`
	Reference      string `json:"reference"`
	DocumentNumber string `json:"document_number"`
	Segments       int    `json:"segments"`

	Content []*inspectedSegment `json:"content,omitempty"` // with --segments and --tree
	Tree    bool                `json:"-"`
}

// Run reads the file once, to its end whatever is wrong with it.
func (c *inspectCommand) Run(a *app) (err error) {
	p, closeSource, err := a.source(c.File)
	if err != nil {
		return err
	}
	defer func() {
		if e := closeSource(); err == nil {
			err = e
		}
	}()
	var to inspection = &inspectTable{w: a.stdout}
	if c.Output == "json" {
		to = &inspectJSON{w: a.stdout}
	}
	tables, err := a.tables()
	if err != nil {
		return err
	}
	in := newInspector(p, gateway.Reading{Tolerance: edi.Tolerance{Guide: c.Guide}}, to)
	in.excerpts, in.answers = true, true
	if in.by, err = profile(c.Profile); err != nil {
		return err
	}
	if c.Segments || c.Tree {
		in.detail, in.tree = tables, c.Tree
	}
	if err := in.read(formats(tables)); err != nil {
		return fmt.Errorf("inspect %s: %w", c.File, err)
	}
	if err := to.findings(in.found, in.errors, in.omitted); err != nil {
		return err
	}
	if in.errors > 0 {
		return findings()
	}
	return nil
}

// profile gives a profile of documents by its name.
func profile(name string) (*roles.Set, error) {
	by, ok := roles.New(name, roles.Settings{})
	if !ok {
		return nil, usage("--profile %s: there is no such profile; there are %s and %s", name, roles.Automatic, strings.Join(roles.Names(), ", "))
	}
	return by, nil
}

// inspector reads interchanges and collects findings.
type inspector struct {
	p        *edi.Payload
	reading  gateway.Reading
	to       inspection
	handlers map[string]documents.Handler
	count    int
	found    []finding
	excerpts bool              // show the text that findings are about
	detail   *structure.Tables // tell the segments of messages, placed by these tables; nil: do not
	tree     bool              // and as a tree
	answers  bool              // tell what it says of what was sent
	policy   map[string]string // what findings in documents do, by their codes
	by       *roles.Set        // what qualifiers of documents stand for
	errors   int
	listed   int // errors among those found
	omitted  int
	told     int // messages of the interchange at hand that were told
}

func newInspector(p *edi.Payload, o gateway.Reading, to inspection) *inspector {
	in := &inspector{p: p, reading: o, to: to, handlers: map[string]documents.Handler{}}
	for _, h := range documents.Handlers() {
		in.handlers[h.Type] = h
	}
	return in
}

// read reads all there is.
func (in *inspector) read(formats []gateway.Format) error {
	err := gateway.Walk(in.p, formats, in.reading, in.interchange)
	if errors.Is(err, gateway.ErrTooMany) {
		in.errors++ // told first: it says why the rest was not read
		in.found = slices.Insert(in.found, 0, finding{Finding: gateway.FindingOf(gateway.TooMany())})
		return nil
	}
	if err != nil {
		return err
	}
	if in.count == 0 && len(in.found) == 0 {
		return in.find(nil, &edi.Error{Code: "empty", Severity: edi.SeverityError, Text: "there is no interchange in it"})
	}
	return nil
}

// find keeps findings, errors before others. ic tells how the text they are about is
// written; nil shows none of it.
func (in *inspector) find(ic *edi.Interchange, list ...*edi.Error) error {
	for _, e := range list {
		isError := e.Severity >= edi.SeverityError
		if isError {
			in.errors++
		}
		if len(in.found) == maxFindings {
			if in.omitted++; !isError || in.listed == maxFindings {
				continue
			}
		}
		if isError {
			in.listed++
		}
		f := finding{Finding: gateway.FindingOf(e)}
		if ic != nil && in.excerpts && f.Location != nil && ic.Delimiters.Terminator != 0 {
			var err error
			if f.Excerpt, err = excerptAt(in.p, ic, *f.Location); err != nil {
				return err
			}
		}
		in.found, _ = edi.Keep(in.found, f, maxFindings, finding.Refuses) // what is dropped was counted
	}
	return nil
}

func (in *inspector) interchange(f *gateway.Format, ic *edi.Interchange, fault *edi.Error) error {
	if fault != nil {
		return in.find(ic, fault)
	}
	in.count++
	in.told = 0
	if err := in.to.interchange(ic, dedup.InterchangeKey(ic, dedup.Shape{ControlReference: "unique"})); err != nil {
		return err
	}
	err := f.Scan(in.p, ic, in.reading, func(i int, b *edi.Body) error { return in.message(ic, i, b) })
	if err != nil {
		return err
	}
	for in.told < len(ic.Messages) { // those without their trailer
		if err := in.tell(ic, in.told, nil); err != nil {
			return err
		}
	}
	if err := in.find(ic, ic.Errors...); err != nil {
		return err
	}
	for i := range ic.Groups {
		if err := in.find(ic, ic.Groups[i].Errors...); err != nil {
			return err
		}
	}
	in.omitted, in.errors = in.omitted+ic.DroppedErrors, in.errors+ic.DroppedRefusals
	if in.answers {
		if err := f.Answers(in.p, ic, in.reading, func(a edi.Answer) error { return in.answer(ic, a) }); err != nil {
			return err
		}
	}
	return in.to.end(ic)
}

// message tells one message, and what its mapping finds.
func (in *inspector) message(ic *edi.Interchange, i int, b *edi.Body) error {
	for in.told < i {
		if err := in.tell(ic, in.told, nil); err != nil {
			return err
		}
	}
	errs := ic.MessageErrors[i]
	if h, ok := in.handlers[ic.Messages[i].Type.Type]; ok && edi.Worst(errs) < edi.SeverityError {
		doc, mapped := h.Map(ic, i, b, &documents.Reading{Roles: in.by, Checks: in.policy})
		_, mapped = documents.Judge(in.policy, ic.Syntax, doc, mapped)
		if err := in.find(ic, mapped...); err != nil {
			return err
		}
	}
	return in.tell(ic, i, b)
}

// answer tells what an acknowledgement says, and what is wrong with it; that its own
// message has errors was told with those.
func (in *inspector) answer(ic *edi.Interchange, a edi.Answer) error {
	for _, e := range a.Findings {
		if e.Code == edi.AnswerRefused {
			continue
		}
		if err := in.find(ic, e); err != nil {
			return err
		}
	}
	return in.to.answer(a)
}

// tell tells message i; b is its text, nil where it has no trailer.
func (in *inspector) tell(ic *edi.Interchange, i int, b *edi.Body) error {
	in.told = i + 1
	if err := in.find(ic, ic.MessageErrors[i]...); err != nil {
		return err
	}
	m := &ic.Messages[i]
	told := inspectedMessage{Reference: m.Reference, Segments: int(m.Segments), Tree: in.tree}
	if b != nil {
		told.DocumentNumber, told.Segments = documentNumber(b), b.Len()
		if in.detail != nil {
			told.Content = segmentsOf(ic.Syntax, b, in.detail.Outline(ic, i, b, in.reading.Guide))
		}
		if in.tree {
			told.Content = treeOf(told.Content)
		}
	}
	if t := m.Type; t != nil {
		told.Type, told.Version = t.Type, versionOf(t)
	}
	return in.to.message(told)
}

// versionOf joins what says which directory a message follows: D.96A.EAN008.
func versionOf(t *edi.MessageType) string {
	v := ""
	for _, part := range []string{t.Version, t.Release, t.AssociationCode} {
		if part != "" && v != "" {
			v += "."
		}
		v += part
	}
	return v
}

// documentNumber is BGM 1004: alone in its element in D.96A, the first
// component of C106 in D.01B. In X12 it is BIG02 and BSN02.
func documentNumber(b *edi.Body) string {
	for _, s := range b.Segments[:min(b.Len(), 8)] {
		switch s.Tag() {
		case "BGM", "BIG", "BSN":
			return s.Get(2, 1)
		}
	}
	return ""
}

// party is an end of an interchange in the answer.
type party struct {
	ID        string `json:"id"`
	Qualifier string `json:"qualifier"`
}

func digestText(d [32]byte) string { return hex.EncodeToString(d[:]) }

// compact gives v as JSON on one line.
func compact(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
