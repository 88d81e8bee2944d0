package documents

import "github.com/edigw/edigw/edi"

// maxIndexed bounds, in bytes, what goes into an index.
const maxIndexed = 140

// Generic keeps a message that has no handler: its number, if BGM says one, and
// its segments, each as an array of tag and elements. It refuses only text that
// is not valid in its character set.
func Generic(ic *edi.Interchange, i int, b *edi.Body) (*Document, []*edi.Error) {
	m := begin(ic, i, b, ClassGeneric)
	d := m.doc
	if i >= 0 && i < len(ic.Messages) && ic.Messages[i].Type != nil {
		d.TypeCode = ic.Messages[i].Type.Type
	}
	segments := make([]byte, 0, 1024)
	segments = append(segments, '[')
	begun := false
	for at := range b.Segments {
		s := &b.Segments[at]
		if s.Is("BGM") && !begun {
			begun = true
			if d.Number = trimBlanks(s.Get(2, 1)); len(d.Number) > maxIndexed {
				m.warn("document-number-too-long", s.Location(2, 1), "the document number has %d bytes; it stands in the segments only", len(d.Number))
				d.Number = ""
			}
			d.Function = s.Get(3, 1)
			if code := s.Get(1, 1); code != "" {
				d.TypeCode += " " + code
			}
		}
		if d.IssueDate == "" && at < 20 && s.Is("DTM") && s.Get(1, 1) == "137" {
			date, fault := parseDate(s.Get(1, 2), s.Get(1, 3))
			if fault == dateFine || fault == dateMismatch {
				d.IssueDate = date.Day()
			}
		}
		if at > 0 {
			segments = append(segments, ',')
		}
		segments = appendSegment(segments, s)
	}
	d.Segments = append(segments, ']')
	d.Issuer = issuer(ic, nil)
	return m.end()
}
