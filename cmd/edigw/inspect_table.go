package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/edigw/edigw/edi"
)

// maxTold is how many messages of an interchange the table lists.
const maxTold = 40

// inspectTable writes the answer of inspect for a person.
type inspectTable struct {
	w       io.Writer
	told    int
	untold  int
	untoldS int // segments of those not told
}

func (t *inspectTable) interchange(ic *edi.Interchange, key string) error {
	t.told, t.untold, t.untoldS = 0, 0, 0
	test := ""
	if ic.Test {
		test = "  TEST"
	}
	syntax := ic.Syntax
	if ic.SyntaxID != "" {
		syntax = ic.SyntaxID + ":" + ic.SyntaxVersion
	}
	_, err := fmt.Fprintf(t.w, "Interchange %s  %s  %s → %s  %s%s\n  message id      %s\n  payload sha256  %s\n",
		printable(ic.ControlReference), printable(syntax), partyText(ic.Sender), partyText(ic.Recipient), momentText(ic), test,
		printable(key), digestText(ic.PayloadSHA256))
	return err
}

func (t *inspectTable) message(m inspectedMessage) error {
	if t.told >= maxTold && m.Content == nil {
		t.untold++
		t.untoldS += m.Segments
		return nil
	}
	t.told++
	_, err := fmt.Fprintf(t.w, "  %-8s %-16s ref %-14s %-20s %d segments\n",
		printable(m.Type), printable(m.Version), printable(m.Reference), printable(m.DocumentNumber), m.Segments)
	switch {
	case err != nil || m.Content == nil:
		return err
	case m.Tree:
		return writeTree(t.w, m.Content, 1)
	}
	return writeSegments(t.w, m.Content)
}

func (t *inspectTable) end(ic *edi.Interchange) error {
	if t.untold > 0 {
		if _, err := fmt.Fprintf(t.w, "  … and %d more messages with %d segments; -o json lists all\n", t.untold, t.untoldS); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.w, "  content sha256  %s\n  %s, %s, %s\n", digestText(ic.ContentSHA256),
		plural(len(ic.Messages), "message"), plural(ic.Segments, "segment"), plural(int(ic.Length), "byte"))
	return err
}

func (t *inspectTable) findings(list []finding, errors, omitted int) error {
	if err := t.list(list, omitted); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.w, "%s (%s)\n", plural(len(list)+omitted, "finding"), plural(errors, "error"))
	return err
}

// list writes a line for each finding.
func (t *inspectTable) list(list []finding, omitted int) error {
	for _, f := range list {
		mark := map[string]string{"error": "✗", "warning": "⚠"}[f.Severity]
		where := ""
		if l := f.Location; l != nil {
			where = placeText(*l) + ": "
		}
		if _, err := fmt.Fprintf(t.w, "%s %-7s %s%s (%s)\n", cmp.Or(mark, "·"), f.Severity, where, printable(f.Message), f.Code); err != nil {
			return err
		}
		if _, err := io.WriteString(t.w, f.Excerpt.lines()); err != nil {
			return err
		}
	}
	if omitted > 0 {
		if _, err := fmt.Fprintf(t.w, "… and %d more\n", omitted); err != nil {
			return err
		}
	}
	return nil
}

// placeText gives "segment 31 MOA, element 1.2, byte 1187".
func placeText(l edi.Location) string {
	var b strings.Builder
	if l.Segment > 0 {
		fmt.Fprintf(&b, "segment %d", l.Segment)
		if l.Tag != "" {
			b.WriteString(" " + printable(l.Tag))
		}
		if l.Element > 0 {
			fmt.Fprintf(&b, ", element %d", l.Element)
			if l.Component > 0 {
				fmt.Fprintf(&b, ".%d", l.Component)
			}
		}
		b.WriteString(", ")
	}
	fmt.Fprintf(&b, "byte %d", l.Offset)
	return b.String()
}

func partyText(p edi.Party) string {
	if p.Qualifier == "" {
		return printable(p.ID)
	}
	return printable(p.ID + ":" + p.Qualifier)
}

// momentText gives the interchange's own date and time, or what it says of them.
func momentText(ic *edi.Interchange) string {
	d, c := ic.Date, ic.Time
	if len(d) == 8 {
		d = d[:4] + "-" + d[4:6] + "-" + d[6:]
	}
	if len(c) >= 4 {
		c = c[:2] + ":" + c[2:]
	}
	return strings.TrimSpace(printable(d + " " + c))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
