package main

import (
	"fmt"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/structure"
	"github.com/edigw/edigw/x12"
)

const block = 32 << 10

// checker judges the structure of a message.
type checker = func(*edi.Interchange, int, *edi.Body) []*edi.Error

// read splits and scans all of t; where check judges messages without digests, as
// edigw validate does.
func (t *text) read(check checker, visit func(*edi.Interchange, int, *edi.Body) error) error {
	p := edi.Bytes(t.raw)
	e, x := edifact.Reader{Check: check, Undigested: check != nil}, x12.Reader{Check: check, Undigested: check != nil}
	split, scan := e.Split, e.Scan
	if t.syntax == "x12" {
		split, scan = x.Split, x.Scan
	}
	ic, err := split(p, 0)
	if err != nil {
		return err
	}
	if err := scan(p, ic, func(i int, b *edi.Body) error { return visit(ic, i, b) }); err != nil {
		return err
	}
	if edi.Worst(ic.Errors) >= edi.SeverityError || len(ic.MessageErrors) > 0 {
		return fmt.Errorf("the text is not sound: %v %v", ic.Errors, ic.MessageErrors[0])
	}
	return nil
}

// sum is count and checksum of elements.
type sum struct {
	elements int
	hash     uint64
}

func (s *sum) message(_ *edi.Interchange, _ int, b *edi.Body) error {
	for i := range b.Segments {
		s.segment(&b.Segments[i])
	}
	return nil
}

func (s *sum) segment(g *edi.Segment) {
	for v := range g.Values() {
		s.elements++
		for i := range len(v.Text) { // FNV-1a, and a step at the end of each element
			s.hash = (s.hash ^ uint64(v.Text[i])) * 1099511628211
		}
		s.hash = (s.hash ^ 0x100) * 1099511628211
	}
}

// lexed sums what stands in messages, by the lexer alone.
func lexed(t *text) *sum {
	s, in := new(sum), false
	l := edi.NewLexer(t.delimiters, nil)
	l.Window(t.raw, 0)
	for more := true; more; {
		more = l.Lex(block)
		for i := range l.Segments {
			g := &l.Segments[i]
			in = in || g.Is("UNH") || g.Is("ST")
			if in {
				s.segment(g)
			}
			in = in && !g.Is("UNT") && !g.Is("SE")
		}
		l.Drop(len(l.Segments))
	}
	return s
}

// loop is what is measured.
type loop struct {
	name string
	run  func() error
}

func loopsOf(t *text) ([]loop, error) {
	tables, err := structure.BuiltIn()
	if err != nil {
		return nil, err
	}
	handlers := map[string]documents.Handler{}
	for _, h := range documents.Handlers() {
		handlers[h.Type] = h
	}
	none := func(*edi.Interchange, int, *edi.Body) error { return nil }
	d := t.delimiters
	segments := terminators(t.raw, d.Terminator)
	return []loop{
		{"indexbyte", func() error {
			if terminators(t.raw, d.Terminator) != segments {
				return fmt.Errorf("another count")
			}
			return nil
		}},
		{"bound", func() error { offsets(t.raw, d); return nil }},
		{"lex", func() error {
			l := edi.NewLexer(d, nil)
			l.Window(t.raw, 0)
			for l.Lex(block) {
				l.Drop(len(l.Segments))
			}
			return nil
		}},
		{"read", func() error { return t.read(nil, none) }},
		{"validate", func() error { return t.read(tables.Checker(edi.Tolerance{Structure: edi.StructureRefused}), none) }},
		{"map", func() error {
			return t.read(nil, func(ic *edi.Interchange, i int, b *edi.Body) error {
				doc, errs := handlers[ic.Messages[i].Type.Type].Map(ic, i, b, nil)
				if doc == nil {
					return fmt.Errorf("message %d is refused: %v", i+1, errs)
				}
				return nil
			})
		}},
	}, nil
}

// offsets is the bound: the plain loop that records where each delimiter stands,
// in reused blocks.
func offsets(raw []byte, d edi.Delimiters) {
	marks := make([]uint32, 0, block)
	for at := 0; at < len(raw); at += block {
		marks = marks[:0]
		for i, c := range raw[at:min(at+block, len(raw))] {
			if c == d.Element || c == d.Component || c == d.Terminator || c == d.Release && c != 0 {
				marks = append(marks, uint32(i))
			}
		}
	}
}
