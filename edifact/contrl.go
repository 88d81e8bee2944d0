package edifact

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/edigw/edigw/edi"
)

// CONTRL limits, ISO 9735-4: SG2 UCS 999 a message, UCD 99 a segment.
const (
	maxUCS = 999
	maxUCD = 99
)

// Acknowledge writes the CONTRL that answers ic, in the syntax version and
// character set of ic, with the default service characters: UCI for the
// interchange, UCF and UCM for each message in a.Messages, UCS and UCD for what
// is wrong inside it. At each level the first error with a 0085 code is told;
// warnings and notes are not. A CONTRL is never answered by one: the caller sees
// to that.
func Acknowledge(ic *edi.Interchange, a edi.Acknowledgement) (kind string, content []byte, err error) {
	if ic.ControlReference == "" || ic.Sender.ID == "" || ic.Recipient.ID == "" {
		return "", nil, errors.New("no CONTRL without control reference, sender and recipient of the interchange")
	}
	if a.Reference == "" {
		return "", nil, errors.New("no CONTRL without a control reference of its own")
	}
	version, t := contrlType(ic.SyntaxVersion)
	id, encoding := ic.SyntaxID, ic.Encoding
	if _, known := (Reader{}).charset(id, encoding); !known {
		id, encoding = "UNOC", ""
	}
	w := NewWriter(Envelope{
		SyntaxID: id, SyntaxVersion: version, Encoding: encoding, Sender: ic.Recipient, Recipient: ic.Sender,
		Prepared: a.Prepared, Reference: a.Reference, Test: ic.Test,
	})
	w.Message("1", t)
	w.uci(ic, a)
	group := int32(-1)
	for _, m := range a.Messages {
		if m.Index < 0 || m.Index >= len(ic.Messages) {
			return "", nil, errors.New("CONTRL for a message that the interchange does not hold")
		}
		if g := ic.Messages[m.Index].Group; g >= 0 && g != group {
			group = g
			w.ucf(&ic.Groups[g])
		}
		w.ucm(&ic.Messages[m.Index], m)
	}
	w.EndMessage()
	return "CONTRL", w.Close(), nil
}

// contrlType is the syntax version and S009 of the answer: version 1 and 2 have
// CONTRL 2:2, version 3 CONTRL D:3, version 4 CONTRL 4:1. An unsupported version
// is answered in 3.
func contrlType(version string) (string, edi.MessageType) {
	switch version {
	case "1", "2":
		return version, edi.MessageType{Type: "CONTRL", Version: "2", Release: "2", Agency: "UN"}
	case "4":
		return version, edi.MessageType{Type: "CONTRL", Version: "4", Release: "1", Agency: "UN"}
	}
	return "3", edi.MessageType{Type: "CONTRL", Version: "D", Release: "3", Agency: "UN"}
}

func (w *Writer) uci(ic *edi.Interchange, a edi.Acknowledgement) {
	elements := []Element{E(ic.ControlReference), E(ic.Sender.ID, ic.Sender.Qualifier), E(ic.Recipient.ID, ic.Recipient.Qualifier), action(a.Action)}
	w.Segment("UCI", append(elements, told(a.Errors, "UNA", "UNB", "UNZ", "UNG", "UNE", "UNH", "UNT")...)...)
}

// ucf names the group that the following UCM belong to.
func (w *Writer) ucf(g *edi.Group) {
	w.Segment("UCF", E(g.Reference), E(g.Sender.ID, g.Sender.Qualifier), E(g.Recipient.ID, g.Recipient.Qualifier), action(edi.ActionAcknowledged))
}

func (w *Writer) ucm(m *edi.Message, a edi.MessageAnswer) {
	t := m.Type
	elements := []Element{E(m.Reference), E(t.Type, t.Version, t.Release, t.Agency, t.AssociationCode), action(a.Action)}
	w.Segment("UCM", append(elements, told(a.Errors, "UNH", "UNT")...)...)
	w.ucs(a.Errors)
}

func action(a edi.Action) Element { return E(strconv.Itoa(int(a))) }

// told gives 0085, 0013 and S011 for the first error that has a code. The tag
// and the position are told for service segments only: 0013 knows no others.
func told(list []*edi.Error, service ...string) []Element {
	e := first(list)
	if e == nil {
		return nil
	}
	// A service segment that is missing is noticed at another one, which is not
	// at fault.
	if name, _, missing := strings.Cut(e.Code, "-missing"); missing && slices.Contains(service, strings.ToUpper(name)) {
		return []Element{E(e.Standard), E(strings.ToUpper(name))}
	}
	if !slices.Contains(service, e.Tag) {
		return []Element{E(e.Standard)}
	}
	return []Element{E(e.Standard), E(e.Tag), position(e)}
}

func first(list []*edi.Error) *edi.Error {
	for _, e := range list {
		if e.Severity == edi.SeverityError && e.Standard != "" {
			return e
		}
	}
	return nil
}

// position is S011: the tag has position 1, so element 1 has 2. The component is
// told from the second on; the first of a simple element is the element itself.
func position(e *edi.Error) Element {
	if e.Element == 0 {
		return E()
	}
	component := ""
	if e.Component > 1 {
		component = strconv.Itoa(e.Component)
	}
	return E(strconv.Itoa(e.Element+1), component)
}

// ucs tells the errors in user segments, by segment.
func (w *Writer) ucs(list []*edi.Error) {
	inside := make([]*edi.Error, 0, len(list))
	for _, e := range list {
		if e.Severity == edi.SeverityError && e.Standard != "" && e.Segment > 0 && e.Tag != "UNH" && e.Tag != "UNT" {
			inside = append(inside, e)
		}
	}
	slices.SortStableFunc(inside, func(a, b *edi.Error) int { return a.Segment - b.Segment })
	for n := 0; len(inside) > 0 && n < maxUCS; n++ {
		k := 1
		for k < len(inside) && inside[k].Segment == inside[0].Segment {
			k++
		}
		w.ucd(inside[:k])
		inside = inside[k:]
	}
}

// ucd writes UCS for one segment and UCD for its elements.
func (w *Writer) ucd(list []*edi.Error) {
	whole := ""
	for _, e := range list {
		if e.Element == 0 && whole == "" {
			whole = e.Standard
		}
	}
	w.Segment("UCS", E(strconv.Itoa(list[0].Segment)), E(whole))
	n := 0
	for _, e := range list {
		if e.Element > 0 && n < maxUCD {
			w.Segment("UCD", E(e.Standard), position(e))
			n++
		}
	}
}
