package edifact

import (
	"fmt"
	"strconv"
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

// Writer writes an interchange: it releases service characters, drops trailing
// empty elements and components, encodes to the character set and keeps the
// counts of the trailers. What it cannot write is Close's error. The zero value is not
// useful: see NewWriter.
type Writer struct {
	LineEnd string // written behind each terminator; "" is what the standard knows

	delimiters edi.Delimiters
	encode     func([]byte, rune) []byte
	special    [utf8.RuneSelf]bool
	out        []byte
	err        error // the first that there was

	envelope Envelope
	message  string // 0062 of the open message
	segments int    // in it, UNH counted
	messages int    // in the interchange, or in the open group
	group    string // 0048 of the open group
	groups   int
}

// Envelope is what UNB says.
type Envelope struct {
	SyntaxID      string // 0001, UNOC if empty
	SyntaxVersion string // 0002, 3 if empty
	Encoding      string // 0133

	Sender, Recipient    edi.Party
	Prepared             time.Time // S004, in its own zone
	Reference            string    // 0020
	ApplicationReference string    // 0026
	AckRequested         bool      // 0031
	Agreement            string    // 0032
	Test                 bool      // 0035

	Delimiters edi.Delimiters // the default ones if zero; UNA is written where they are others or Explicit is set
}

// NewWriter begins an interchange with its UNB.
func NewWriter(e Envelope) *Writer {
	w := newWriter(e)
	w.unb()
	return w
}

func newWriter(e Envelope) *Writer {
	if e.SyntaxID == "" {
		e.SyntaxID = "UNOC"
	}
	if e.SyntaxVersion == "" {
		e.SyntaxVersion = "3"
	}
	standard, _ := settleRepetition(levelA, e.SyntaxVersion) // of which it is always sound
	if e.Delimiters == (edi.Delimiters{}) {
		e.Delimiters = standard
	}
	if d := e.Delimiters; d != standard {
		e.Delimiters.Explicit = true
	}
	w := &Writer{envelope: e, delimiters: e.Delimiters}
	w.encode = encoder(Reader{}, e.SyntaxID, e.Encoding)
	d := w.delimiters
	for _, b := range [...]byte{d.Component, d.Element, d.Release, d.Repetition, d.Terminator} {
		if b != 0 && b < utf8.RuneSelf {
			w.special[b] = true
		}
	}
	return w
}

// Bytes is what was written.
func (w *Writer) Bytes() []byte { return w.out }

// Segment writes one segment. A character that the character set has not becomes
// a question mark; a control character, or a delimiter in a value of an interchange
// without release character, becomes a blank. Where the interchange has no repetition
// separator, as before syntax version 4, an element that occurs again is an error.
func (w *Writer) Segment(tag string, elements ...Element) {
	d := w.delimiters
	w.out = append(w.out, tag...)
	pending := 0
	for _, e := range elements {
		pending++
		e = trimElement(e)
		if len(e) == 0 {
			continue
		}
		for ; pending > 0; pending-- {
			w.out = append(w.out, d.Element)
		}
		for i, components := range e {
			if i > 0 && d.Repetition == 0 {
				w.refuse("%s: an element occurs %d times, but the interchange (syntax version %s) has no repetition separator", tag, len(e), w.envelope.SyntaxVersion)
				break
			} else if i > 0 {
				w.out = append(w.out, d.Repetition)
			}
			for k, v := range trimComponents(components) {
				if k > 0 {
					w.out = append(w.out, d.Component)
				}
				w.value(v)
			}
		}
	}
	w.out = append(w.out, d.Terminator)
	w.out = append(w.out, w.LineEnd...)
	w.segments++
}

func (w *Writer) refuse(text string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(text, args...)
	}
}

func trimElement(e Element) Element {
	for len(e) > 0 && len(trimComponents(e[len(e)-1])) == 0 {
		e = e[:len(e)-1]
	}
	return e
}

func trimComponents(c []string) []string {
	for len(c) > 0 && c[len(c)-1] == "" {
		c = c[:len(c)-1]
	}
	return c
}

func (w *Writer) value(v string) {
	for _, r := range v {
		if unicode.IsControl(r) {
			r = ' '
		}
		if r < utf8.RuneSelf && w.special[r] {
			if w.delimiters.Release == 0 {
				w.out = append(w.out, ' ')
				continue
			}
			w.out = append(w.out, w.delimiters.Release)
		}
		n := len(w.out)
		w.out = w.encode(w.out, r)
		if r >= utf8.RuneSelf && len(w.out) == n+1 && w.out[n] == '?' && w.special['?'] {
			w.out = append(w.out[:n], w.delimiters.Release, '?')
		}
	}
}

// encoder gives the function that appends a rune in the character set in force.
func encoder(r Reader, id, encoding string) func([]byte, rune) []byte {
	c, _ := r.charset(id, encoding) // an unknown one is written as ASCII
	return c.Append
}

func (w *Writer) unb() {
	e, d := w.envelope, w.delimiters
	if d.Explicit {
		or := func(b, other byte) byte {
			if b == 0 {
				return other
			}
			return b
		}
		w.out = append(w.out, 'U', 'N', 'A', d.Component, d.Element, or(d.Decimal, '.'), or(d.Release, ' '), or(d.Repetition, ' '), d.Terminator)
		w.out = append(w.out, w.LineEnd...)
	}
	w.Segment("UNB", E(e.SyntaxID, e.SyntaxVersion, "", e.Encoding), E(e.Sender.ID, e.Sender.Qualifier),
		E(e.Recipient.ID, e.Recipient.Qualifier), e.moment(), E(e.Reference), E(),
		E(e.ApplicationReference), E(), E(flag(e.AckRequested)), E(e.Agreement), E(flag(e.Test)))
}

// moment is S004 of UNB and UNG.
func (e *Envelope) moment() Element {
	layout := "060102"
	if digitsOf0017(e.SyntaxVersion) == 8 {
		layout = "20060102"
	}
	return E(e.Prepared.Format(layout), e.Prepared.Format("1504"))
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return ""
}

// Group begins a functional group.
func (w *Writer) Group(functionalID, reference string, t edi.MessageType) {
	e := w.envelope
	w.Segment("UNG", E(functionalID), E(e.Sender.ID, e.Sender.Qualifier), E(e.Recipient.ID, e.Recipient.Qualifier),
		e.moment(), E(reference), E(t.Agency), E(t.Version, t.Release, t.AssociationCode))
	w.group, w.messages = reference, 0
	w.groups++
}

// EndGroup writes UNE.
func (w *Writer) EndGroup() {
	w.Segment("UNE", E(strconv.Itoa(w.messages)), E(w.group))
}

// Message begins a message with its UNH.
func (w *Writer) Message(reference string, t edi.MessageType) {
	w.message, w.segments = reference, 0
	w.messages++
	w.Segment("UNH", E(reference), E(t.Type, t.Version, t.Release, t.Agency, t.AssociationCode))
}

// EndMessage writes UNT.
func (w *Writer) EndMessage() {
	w.Segment("UNT", E(strconv.Itoa(w.segments+1)), E(w.message))
}

// Package writes UNO, an object of any bytes and UNP, in syntax version 4. about
// is S020, what the object belongs to, and kind S021, what it is.
func (w *Writer) Package(reference string, about, kind Element, object []byte) {
	length := E(strconv.Itoa(len(object)))
	end := w.LineEnd
	w.LineEnd = "" // the object follows at once
	w.Segment("UNO", E(reference), about, kind, length)
	w.LineEnd = end
	w.out = append(w.out, object...)
	w.Segment("UNP", length, E(reference))
	w.messages++
}

// Close writes UNZ and gives the interchange. The error is the first thing that could
// not be written.
func (w *Writer) Close() ([]byte, error) {
	n := w.messages
	if w.groups > 0 {
		n = w.groups
	}
	w.Segment("UNZ", E(strconv.Itoa(n)), E(w.envelope.Reference))
	return w.out, w.err
}
