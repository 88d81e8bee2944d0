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
	if c := m.Type.Convention; c != "" && b.version >= "005010" {
		ak2 = append(ak2, E(c))
	}
	w.Segment("AK2", ak2...)
	action := "A"
	var whole []Element
	if refused {
		action = "R"
		if a != nil {
			whole = w.inside(a.Errors, b)
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
func (w *Writer) inside(list []*edi.Error, b batch) []Element {
	const inSegments = "5" // one or more segments are in error
	var whole []Element
	var segments []*edi.Error
	for _, e := range list {
		switch {
		case e.Severity < edi.SeverityError:
		case e.Code == "unsupported-message-type":
			whole = withCode(whole, "1")
		case e.Tag == "ST" || e.Tag == "SE" || e.Tag == "GS" || e.Tag == "GE":
			if e.Standard != "" {
				whole = withCode(whole, said(setCode, e.Standard, b.version))
			}
		case e.Segment == 0 || e.Tag == "" || e.Standard == "":
			whole = withCode(whole, inSegments)
		default:
			segments = append(segments, e)
			whole = withCode(whole, inSegments)
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
		w.segmentErrors(segments[:n], b)
		segments = segments[n:]
	}
	return whole
}

// segmentErrors writes AK3 for each error of one segment as a whole, and for those
// of its elements one AK3 with their AK4. AK304 holds a single code.
func (w *Writer) segmentErrors(list []*edi.Error, b batch) {
	var last Element
	ak3 := func(e *edi.Error, code string) {
		code = said(segmentCode, code, b.version)
		if last != nil && last[0][0] == code { // two looks found the same
			return
		}
		last = E(code)
		w.Segment(prefix(b.form)+"3", E(shortTag(e.Tag)), E(strconv.Itoa(e.Segment)), E(loop(e.Group, b.form)), last)
	}
	var first *edi.Error
	for _, e := range list {
		if e.Element == 0 {
			ak3(e, e.Standard)
		} else if first == nil || first.Group == "" {
			first = e
		}
	}
	if first == nil {
		return
	}
	ak3(first, "8")
	for _, e := range list {
		if e.Element > 0 {
			number := e.Number // AK402 is of digits: what composites are called has none
			if !edi.Digits(number) {
				number = ""
			}
			w.Segment(prefix(b.form)+"4", position(e, b), E(number), E(said(elementCode, e.Standard, b.version)), E(clean(e.Value)))
		}
	}
}

// shortTag is a segment's tag as AK301 can hold it, in up to three characters: what
// is longer is none, and AK302 tells where it stands.
func shortTag(tag string) string { return clean(tag[:min(len(tag), 3)]) }

// loop is what AK303 and IK303 name: AN 1/4 and, in guides, 1/6.
func loop(group, form string) string {
	if n := len(group); n > 6 || n > 4 && form != "999" {
		return ""
	}
	return group
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

// position is C030: the element, the component where the element is a composite or
// is written as one, and the repetition from the second on, which C030 has only
// where there are repetitions (00402).
func position(e *edi.Error, b batch) Element {
	component, repetition := "", ""
	if e.Component > 1 || e.Component == 1 && e.Composite {
		component = strconv.Itoa(e.Component)
	}
	if e.Repetition > 1 && b.version >= "004020" {
		repetition = strconv.Itoa(e.Repetition)
	}
	return E(strconv.Itoa(e.Element), component, repetition)
}
