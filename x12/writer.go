package x12

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// Element is one data element as it is written: its repetitions, each with its
// components.
type Element [][]string

// E is an element that occurs once, simple or composite.
func E(components ...string) Element { return Element{components} }

// Writer writes an interchange: it pads ISA, drops trailing empty elements and
// components, and keeps the counts of the trailers. X12 has no release character,
// so a delimiter in a value becomes a blank. What it cannot write is Close's error. See
// NewWriter.
type Writer struct {
	envelope Envelope
	special  [utf8.RuneSelf]bool
	out      []byte
	err      error // the first that there was

	set      string // ST02 of the open transaction set
	segments int    // in it, ST counted
	group    string // GS06 of the open group
	sets     int    // in it
	groups   int
}

// Envelope is what ISA and GS say.
type Envelope struct {
	Version           string // ISA12, 00401 if empty
	Sender, Recipient edi.Party
	Prepared          time.Time // ISA09, ISA10, GS04, GS05, in its own zone
	Reference         string    // ISA13, up to nine digits
	AckRequested      bool      // ISA14
	Test              bool      // ISA15

	LineEnd    string         // written behind each terminator; "" is what the standard knows
	Delimiters edi.Delimiters // * : ^ ~ where they are zero; a repetition separator from 00402 on only
}

// DefaultDelimiters are those of an interchange that chooses none.
var DefaultDelimiters = edi.Delimiters{Element: '*', Component: ':', Repetition: '^', Terminator: '~', Explicit: true}

// NewWriter begins an interchange with its ISA. What its fixed elements cannot hold
// is an error.
func NewWriter(e Envelope) (*Writer, error) {
	if e.Version == "" {
		e.Version = "00401"
	}
	if e.Delimiters == (edi.Delimiters{}) {
		e.Delimiters = DefaultDelimiters
	}
	if e.Version < "00402" {
		e.Delimiters.Repetition = 0
	}
	if !edi.Digits(e.Reference) || len(e.Reference) > 9 {
		return nil, fmt.Errorf("control number %q (ISA13) is not one to nine digits", e.Reference)
	}
	w := &Writer{envelope: e}
	d := e.Delimiters
	for _, b := range [...]byte{d.Component, d.Element, d.Repetition, d.Terminator} {
		if b != 0 && b < utf8.RuneSelf {
			w.special[b] = true
		}
	}
	return w, w.isa()
}

func (w *Writer) isa() error {
	e, d := w.envelope, w.envelope.Delimiters
	standards := "U"
	if d.Repetition != 0 {
		standards = string(rune(d.Repetition))
	}
	for i, v := range []string{"ISA", "00", "", "00", "", e.Sender.Qualifier, e.Sender.ID, e.Recipient.Qualifier, e.Recipient.ID,
		e.Prepared.Format("060102"), e.Prepared.Format("1504"), standards, e.Version, fmt.Sprintf("%09s", e.Reference), flag(e.AckRequested), usage(e.Test)} {
		pad := isaWidths[i] - utf8.RuneCountInString(v)
		if pad < 0 {
			return fmt.Errorf("%q does not fit into ISA%02d, which has %d characters", v, i, isaWidths[i])
		}
		pad = max(0, isaWidths[i]-len(v)) // in bytes: by them its separators are looked for
		if i == 11 {
			w.out = append(w.out, v...)
		} else {
			w.value(v)
		}
		w.out = append(append(w.out, strings.Repeat(" ", pad)...), d.Element)
	}
	w.out = append(append(w.out, d.Component, d.Terminator), w.envelope.LineEnd...)
	return nil
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func usage(test bool) string {
	if test {
		return "T"
	}
	return "P"
}

// Segment writes one segment. An element that occurs again in an interchange without
// repetition separator, as before 00402, is an error.
func (w *Writer) Segment(tag string, elements ...Element) {
	d := w.envelope.Delimiters
	w.out = append(w.out, tag...)
	pending := 0
	for _, e := range elements {
		pending++
		for len(e) > 0 && len(trimComponents(e[len(e)-1])) == 0 {
			e = e[:len(e)-1]
		}
		if len(e) == 0 {
			continue
		}
		for ; pending > 0; pending-- {
			w.out = append(w.out, d.Element)
		}
		for i, components := range e {
			if i > 0 && d.Repetition != 0 {
				w.out = append(w.out, d.Repetition)
			} else if i > 0 {
				if w.err == nil {
					w.err = fmt.Errorf("%s: an element occurs %d times, but the interchange (ISA12 %s) has no repetition separator", tag, len(e), w.envelope.Version)
				}
				break
			}
			for k, v := range trimComponents(components) {
				if k > 0 {
					w.out = append(w.out, d.Component)
				}
				w.value(v)
			}
		}
	}
	w.out = append(append(w.out, d.Terminator), w.envelope.LineEnd...)
	w.segments++
}

func trimComponents(c []string) []string {
	for len(c) > 0 && c[len(c)-1] == "" {
		c = c[:len(c)-1]
	}
	return c
}

// value appends v, delimiters and control characters in it as blanks.
func (w *Writer) value(v string) {
	for _, r := range v {
		if r < utf8.RuneSelf && w.special[r] || unicode.IsControl(r) {
			r = ' '
		}
		w.out = utf8.AppendRune(w.out, r)
	}
}

// Binary writes a BIN segment, X12.6: its length and data, whatever stands in them.
func (w *Writer) Binary(data []byte) {
	d := w.envelope.Delimiters
	w.out = append(append(w.out, "BIN"...), d.Element)
	w.out = append(strconv.AppendInt(w.out, int64(len(data)), 10), d.Element)
	w.out = append(append(append(w.out, data...), d.Terminator), w.envelope.LineEnd...)
	w.segments++
}

// Group begins a functional group: GS01, the applications of GS02 and GS03, GS06
// and GS08.
func (w *Writer) Group(functionalID, sender, recipient, reference, version string) {
	e := w.envelope
	date := "20060102"
	if version < "004" { // GS04 is YYMMDD before 004010
		date = "060102"
	}
	w.Segment("GS", E(functionalID), E(sender), E(recipient), E(e.Prepared.Format(date)), E(e.Prepared.Format("1504")), E(reference), E("X"), E(version))
	w.group, w.sets = reference, 0
	w.groups++
}

// EndGroup writes GE.
func (w *Writer) EndGroup() { w.Segment("GE", E(strconv.Itoa(w.sets)), E(w.group)) }

// Message begins a transaction set with its ST; convention, ST03, may be empty.
func (w *Writer) Message(kind, reference, convention string) {
	w.set, w.segments = reference, 0
	w.sets++
	w.Segment("ST", E(kind), E(reference), E(convention))
}

// EndMessage writes SE.
func (w *Writer) EndMessage() { w.Segment("SE", E(strconv.Itoa(w.segments+1)), E(w.set)) }

// Close writes IEA and gives the interchange. The error is the first thing that could not
// be written.
func (w *Writer) Close() ([]byte, error) {
	w.Segment("IEA", E(strconv.Itoa(w.groups)), E(fmt.Sprintf("%09s", w.envelope.Reference)))
	return w.out, w.err
}

// errNoReference: an acknowledgement is an interchange and needs a control number.
var errNoReference = errors.New("no acknowledgement without a control number of its own")
