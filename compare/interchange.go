package compare

import (
	"github.com/edigw/edigw/edi"
)

// Interchange is one side of a comparison: the envelope, and of each message
// the segments as plain values. A Builder makes it.
type Interchange struct {
	Envelope *edi.Interchange
	Messages []Message // in the order of Envelope.Messages
	Fault    string    // why it could not be read, "" if it could
	Withheld int       // messages compared by digest only, their segments being over the Limits

	header *Segment // UNB or ISA as sent, nil if unknown
}

// Message is one UNH…UNT or ST…SE.
type Message struct {
	Type      edi.MessageType
	Reference string // group's and message's reference, as edi.Interchange.MessageReference
	Number    string // of the document: BGM 1004, BIG02, BSN02; "" if there is none
	SHA256    [32]byte
	Location  edi.Location
	Segments  []Segment // nil where Withheld or Same
	Withheld  bool      // over the Limits: only the digest is compared
	Same      bool      // the other side holds the same bytes: nothing to compare
}

// Segment is a tag with the values that are not empty, in the order of the
// text. A value's trailing blanks are dropped: they are filling, not content
// (ISO 9735-1 §10.1, X12.6 §3.5.1.4).
type Segment struct {
	Tag      string
	Values   []Value
	Location edi.Location
}

// Value is one component, decoded. All indexes count from 1.
type Value struct {
	Element, Repetition, Component uint16
	Text                           string
}

// value gives the first repetition of a component, "" if it is empty.
func (s *Segment) value(element, component int) string {
	for i := range s.Values {
		v := &s.Values[i]
		if int(v.Element) > element {
			return ""
		}
		if int(v.Element) == element && v.Repetition == 1 && int(v.Component) == component {
			return v.Text
		}
	}
	return ""
}

// before orders positions as they stand in the text.
func (v *Value) before(w *Value) bool {
	if v.Element != w.Element {
		return v.Element < w.Element
	}
	if v.Repetition != w.Repetition {
		return v.Repetition < w.Repetition
	}
	return v.Component < w.Component
}

// Unreadable is a side that could not be parsed. fault is a sentence for a
// person; with it the class is unparseable.
func Unreadable(fault string) *Interchange {
	if fault == "" {
		fault = "no interchange was found"
	}
	return &Interchange{Fault: fault}
}
