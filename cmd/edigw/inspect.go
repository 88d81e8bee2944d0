package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// maxFindings bounds the findings that are listed; the others are counted.
const maxFindings = 1000

type inspectCommand struct {
	File   string `arg:"" help:"File to read, or - for standard input."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// inspection is where what was read goes, as it is read: an interchange of a
// million messages does not have to fit into memory.
type inspection interface {
	interchange(ic *edi.Interchange, key string) error
	message(m inspectedMessage) error
	end(ic *edi.Interchange) error
	findings(list []gateway.Finding, errors, omitted int) error
}

// inspectedMessage is a message in the answer of inspect.
type inspectedMessage struct {
	Type           string `json:"type"`
	Version        string `json:"version"`
	Reference      string `json:"reference"`
	DocumentNumber string `json:"document_number"`
	Segments       int    `json:"segments"`
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
	in := newInspector(p, gateway.Reading{}, to)
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

// inspector reads interchanges and collects findings.
type inspector struct {
	p        *edi.Payload
	reading  gateway.Reading
	to       inspection
	handlers map[string]documents.Handler
	count    int
	found    []gateway.Finding
	errors   int
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
	if err := each(in.p, formats, in.reading, in.interchange); err != nil {
		return err
	}
	if in.count == 0 && len(in.found) == 0 {
		in.find(&edi.Error{Code: "empty", Severity: edi.SeverityError, Text: "there is no interchange in it"})
	}
	return nil
}

func (in *inspector) find(list ...*edi.Error) {
	for _, e := range list {
		if e.Severity >= edi.SeverityError {
			in.errors++
		}
		if len(in.found) == maxFindings {
			in.omitted++
			continue
		}
		in.found = append(in.found, gateway.FindingOf(e))
	}
}

func (in *inspector) interchange(f *gateway.Format, ic *edi.Interchange, fault *edi.Error) error {
	if fault != nil {
		in.find(fault)
		return nil
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
		if err := in.tell(ic, in.told, "", 0); err != nil {
			return err
		}
	}
	in.find(ic.Errors...)
	if ic.DroppedErrors > 0 {
		in.omitted += ic.DroppedErrors
	}
	return in.to.end(ic)
}

// message tells one message, and what its mapping finds.
func (in *inspector) message(ic *edi.Interchange, i int, b *edi.Body) error {
	for in.told < i {
		if err := in.tell(ic, in.told, "", 0); err != nil {
			return err
		}
	}
	errs := ic.MessageErrors[i]
	if h, ok := in.handlers[ic.Messages[i].Type.Type]; ok && edi.Worst(errs) < edi.SeverityError {
		_, mapped := h.Map(ic, i, b)
		in.find(mapped...)
	}
	return in.tell(ic, i, documentNumber(b), b.Len())
}

func (in *inspector) tell(ic *edi.Interchange, i int, number string, segments int) error {
	in.told = i + 1
	in.find(ic.MessageErrors[i]...)
	m := &ic.Messages[i]
	told := inspectedMessage{Reference: m.Reference, DocumentNumber: number, Segments: segments}
	if segments == 0 {
		told.Segments = int(m.Segments)
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
