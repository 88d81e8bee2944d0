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
	if err := w.answers(ic, a); err != nil {
		return "", nil, err
	}
	w.EndMessage()
	content, err = w.Close()
	return "CONTRL", content, err
}

// answers tells of each message in a, behind its group where there are groups.
// What is rejected with its group is not told one by one, and a group without
// fault only where one of its messages is told.
func (w *Writer) answers(ic *edi.Interchange, a edi.Acknowledgement) error {
	told := int32(-1) // the last group that has its UCF
	groups := func(until int32) {
		for g := told + 1; g <= until; g++ {
			if bad := edi.Worst(ic.Groups[g].Errors) >= edi.SeverityError; bad || g == until {
				w.ucf(&ic.Groups[g], bad || a.Action == edi.ActionRejected)
			}
		}
		told = max(told, until)
	}
	for _, m := range a.Messages {
		if m.Index < 0 || m.Index >= len(ic.Messages) {
			return errors.New("CONTRL for a message that the interchange does not hold")
		}
		if g := ic.Messages[m.Index].Group; g >= 0 {
			if g > told {
				groups(g)
			}
			if edi.Worst(ic.Groups[g].Errors) >= edi.SeverityError {
				continue
			}
		}
		if ic.Messages[m.Index].Type.Type == "CONTRL" { // ISO 9735-4: never in answer to one
			continue
		}
		w.ucm(&ic.Messages[m.Index], m)
	}
	if a.Action == edi.ActionReceived { // no judgement of what is in it
		return nil
	}
	for g := len(ic.Groups) - 1; g > int(told); g-- {
		if edi.Worst(ic.Groups[g].Errors) >= edi.SeverityError {
			groups(int32(g))
			break
		}
	}
	return nil
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

// uci may name UNA, UNB and UNZ; of what is wrong elsewhere, it tells the code.
func (w *Writer) uci(ic *edi.Interchange, a edi.Acknowledgement) {
	elements := []Element{E(ic.ControlReference), E(ic.Sender.ID, ic.Sender.Qualifier), E(ic.Recipient.ID, ic.Recipient.Qualifier), action(a.Action)}
	w.Segment("UCI", append(elements, w.told(first(a.Errors), "UNA", "UNB", "UNZ")...)...)
}

// ucf names the group that the following UCM belong to, and what is wrong with
// UNG or UNE.
func (w *Writer) ucf(g *edi.Group, rejected bool) {
	act := edi.ActionAcknowledged
	if rejected {
		act = edi.ActionRejected
	}
	elements := []Element{E(g.Reference), E(g.Sender.ID, g.Sender.Qualifier), E(g.Recipient.ID, g.Recipient.Qualifier), action(act)}
	w.Segment("UCF", append(elements, w.told(first(g.Errors), "UNG", "UNE")...)...)
}

// ucm tells what is wrong with header or trailer, or with the message as a whole;
// what is wrong inside it stands in the UCS that follow.
func (w *Writer) ucm(m *edi.Message, a edi.MessageAnswer) {
	var whole *edi.Error
	for _, e := range a.Errors {
		if e.Severity == edi.SeverityError && e.Standard != "" && !inUserSegment(e) {
			whole = e
			break
		}
	}
	if m.Type.Type == edi.Package {
		elements := make([]Element, 6, 8)
		elements[2] = action(a.Action)
		copy(elements[3:], w.told(whole, "UNO", "UNP"))
		w.Segment("UCM", append(elements, E(strings.TrimPrefix(m.Reference, referencePrefix)), E(m.Type.Version, m.Type.Release))...)
		return
	}
	t := m.Type
	elements := []Element{E(m.Reference), E(t.Type, t.Version, t.Release, t.Agency, t.AssociationCode), action(a.Action)}
	w.Segment("UCM", append(elements, w.told(whole, "UNH", "UNT")...)...)
	w.ucs(a.Errors)
}

// inUserSegment reports whether UCS tells e.
func inUserSegment(e *edi.Error) bool {
	switch e.Tag {
	case "UNH", "UNT", "UNO", "UNP":
		return false
	}
	return e.Segment > 0
}

func action(a edi.Action) Element { return E(strconv.Itoa(int(a))) }

// told gives 0085, and the service segment (0013, in version 4 0135) and S011
// where e is in one of those that may be named.
func (w *Writer) told(e *edi.Error, service ...string) []Element {
	if e == nil {
		return nil
	}
	// A service segment that is missing is noticed at another one, which is not
	// at fault.
	if name, _, missing := strings.Cut(e.Code, "-missing"); missing && isService(strings.ToUpper(name)) {
		if name = strings.ToUpper(name); slices.Contains(service, name) {
			return []Element{E(e.Standard), E(name)}
		}
		return []Element{E(e.Standard)}
	}
	// What is empty or mixed is a whole level, not the segment where that shows.
	if !slices.Contains(service, e.Tag) || e.Standard == "30" || e.Standard == "32" {
		return []Element{E(e.Standard)}
	}
	return []Element{E(e.Standard), E(e.Tag), w.position(e)}
}

func isService(tag string) bool {
	return len(tag) == 3 && tag[:2] == "UN" && strings.Contains("ABGHTEZOP", tag[2:])
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
// told from the second on, and where the element is known to be a composite; the first
// of a simple element is the element itself. Version 4 adds which
// occurrence of the element it was.
func (w *Writer) position(e *edi.Error) Element {
	if e.Element == 0 {
		return E()
	}
	component, occurrence := "", ""
	if e.Component > 1 || e.Component == 1 && (e.Composite || composites[e.Tag][e.Element]) {
		component = strconv.Itoa(e.Component)
	}
	if e.Repetition > 1 && w.envelope.SyntaxVersion >= "4" {
		occurrence = strconv.Itoa(e.Repetition)
	}
	return E(strconv.Itoa(e.Element+1), component, occurrence)
}

// composites are those of the service segments, ISO 9735-1 annex C.
var composites = map[string]map[int]bool{
	"UNB": {1: true, 2: true, 3: true, 4: true, 6: true},
	"UNG": {2: true, 3: true, 4: true, 7: true},
	"UNH": {2: true, 4: true, 5: true, 6: true, 7: true},
	"UNO": {2: true, 3: true, 4: true},
}

// ucs tells the errors in user segments, by segment.
func (w *Writer) ucs(list []*edi.Error) {
	inside := make([]*edi.Error, 0, len(list))
	for _, e := range list {
		if e.Severity == edi.SeverityError && e.Standard != "" && inUserSegment(e) {
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
			w.Segment("UCD", E(e.Standard), w.position(e))
			n++
		}
	}
}
