package documents

import "github.com/edigw/edigw/edi"

// maxIndexed bounds, in bytes, what goes into an index.
const maxIndexed = 140

// Generic keeps a message that has no handler: its number, if BGM says one, and
// its segments, each as an array of tag and elements. It refuses only text that
// is not valid in its character set.
func Generic(ic *edi.Interchange, i int, b *edi.Body) (*Document, []*edi.Error) {
	m := begin(ic, i, ClassGeneric, nil)
	d := m.doc
	if i >= 0 && i < len(ic.Messages) && ic.Messages[i].Type != nil {
		d.TypeCode = ic.Messages[i].Type.Type
	}
	segments := make([]byte, 0, 1024)
	segments = append(segments, '[')
	begun := false
	m.read(b, func(s *segment, at int) {
		if s.tag == "BGM" && !begun {
			begun = true
			if d.Number = trimBlanks(s.get(2, 1)); len(d.Number) > maxIndexed {
				m.warn("document-number-too-long", s.Location(2, 1), "the document number has %d bytes; it stands in the segments only", len(d.Number))
				d.Number = ""
			}
			d.Function = s.get(3, 1)
			if code := s.get(1, 1); code != "" {
				d.TypeCode += " " + code
			}
		}
		if at < 20 && s.tag == "DTM" && s.get(1, 1) == "137" {
			date, _ := parseDate(s.get(1, 2), s.get(1, 3))
			m.issuedOn(date)
		}
		if at > 0 {
			segments = append(segments, ',')
		}
		segments = appendSegment(segments, s.Segment)
	})
	d.Segments = append(segments, ']')
	d.Issuer = senderOf(ic)
	return m.end()
}
