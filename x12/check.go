package x12

import "github.com/edigw/edigw/edi"

// maxNoted is how many transaction sets of an interchange may have findings of
// Check that refuse nothing. A sender that departs from its guide does so in every
// one, and their number must not have the interchange refused (maxRefused).
const maxNoted = 1_000

// check adds what Reader.Check finds to the findings of transaction set i.
func (s *scan) check(i int, b *edi.Body) {
	if s.reader.Check == nil || s.stopped {
		return
	}
	for _, e := range s.reader.Check(s.ic, i, b) {
		if e.Severity < edi.SeverityError && len(s.ic.MessageErrors[i]) == 0 && len(s.ic.MessageErrors) >= maxNoted {
			s.ic.DroppedErrors++
			continue
		}
		s.add(i, e)
	}
}
