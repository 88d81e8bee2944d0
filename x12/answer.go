package x12

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/edigw/edigw/edi"
)

// answer writes AK2, what is wrong inside transaction set i, and AK5; in a 999 IK3,
// IK4 and IK5 take the places of AK3, AK4 and AK5.
func (w *Writer) answer(ic *edi.Interchange, b batch, i int, a *edi.MessageAnswer, refused bool) {
	m := &ic.Messages[i]
	ak2 := []Element{E(m.Type.Type), E(m.Reference)}
	if c := m.Type.AssociationCode; c != "" && b.version >= "005010" {
		ak2 = append(ak2, E(m.Type.Release+c))
	}
	w.Segment("AK2", ak2...)
	action := "A"
	var whole []Element
	if refused {
		action = "R"
		if a != nil {
			whole = w.inside(a.Errors, prefix(b.form))
		}
	}
	w.Segment(prefix(b.form)+"5", append([]Element{E(action)}, whole...)...)
}

func prefix(form string) string {
	if form == "999" {
		return "IK"
	}
	return "AK"
}

// inside writes what is wrong with segments and elements, and gives the codes of
// 718 for the set as a whole.
func (w *Writer) inside(list []*edi.Error, prefix string) []Element {
	const inSegments = "5" // one or more segments are in error
	var whole []Element
	add := func(code string) {
		for _, e := range whole {
			if e[0][0] == code {
				return
			}
		}
		if len(whole) < 5 {
			whole = append(whole, E(code))
		}
	}
	var segments []*edi.Error
	for _, e := range list {
		switch {
		case e.Severity < edi.SeverityError:
		case e.Code == "unsupported-message-type":
			add("1")
		case e.Tag == "ST" || e.Tag == "SE" || e.Tag == "GS" || e.Tag == "GE":
			if e.Standard != "" {
				add(e.Standard)
			}
		case e.Segment == 0 || e.Tag == "" || e.Standard == "":
			add(inSegments)
		default:
			segments = append(segments, e)
			add(inSegments)
		}
	}
	slices.SortStableFunc(segments, func(a, b *edi.Error) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Tag, b.Tag))
	})
	for len(segments) > 0 {
		n := 1
		for n < len(segments) && segments[n].Segment == segments[0].Segment && segments[n].Tag == segments[0].Tag {
			n++
		}
		w.segmentErrors(segments[:n], prefix)
		segments = segments[n:]
	}
	return whole
}

// segmentErrors writes AK3 for each error of one segment as a whole, and for those
// of its elements one AK3 with their AK4. AK304 holds a single code.
func (w *Writer) segmentErrors(list []*edi.Error, prefix string) {
	ak3 := func(code string) {
		w.Segment(prefix+"3", E(list[0].Tag), E(strconv.Itoa(list[0].Segment)), E(), E(code))
	}
	elements := false
	for _, e := range list {
		if e.Element > 0 {
			elements = true
		} else {
			ak3(e.Standard)
		}
	}
	if !elements {
		return
	}
	ak3("8")
	for _, e := range list {
		if e.Element > 0 {
			w.Segment(prefix+"4", position(e), E(e.Number), E(e.Standard), E(clean(e.Value)))
		}
	}
}

// maxCopy is how much of a value AK404 holds, in characters.
const maxCopy = 99

// clean is a sender's value as our answer can hold it: cut, and left out where it is
// not printable ASCII, since the place is told anyway.
func clean(s string) string {
	s = s[:min(len(s), maxCopy)]
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ""
		}
	}
	return s
}

// position is C030: element, component from the second on, and repetition from the
// second on.
func position(e *edi.Error) Element {
	component, repetition := "", ""
	if e.Component > 1 {
		component = strconv.Itoa(e.Component)
	}
	if e.Repetition > 1 {
		repetition = strconv.Itoa(e.Repetition)
	}
	return E(strconv.Itoa(e.Element), component, repetition)
}
