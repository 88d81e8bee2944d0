package edifact

import (
	"fmt"

	"github.com/edigw/edigw/edi"
)

// How many findings are kept. What is dropped is counted; an interchange with
// more refused messages than maxRefused is refused as a whole, so that none of
// them can pass for sound.
const (
	maxInterchangeErrors = 100
	maxMessageErrors     = 20
	maxRefused           = 10_000
)

// ofGroup is where report keeps what it finds on group g.
func ofGroup(g int) int { return -2 - g }

// report adds a finding on message i, on the interchange if i is -1, or on a
// group: ofGroup.
func (s *scan) report(i int, severity edi.Severity, code, standard string, at edi.Location, text string, args ...any) {
	s.add(i, &edi.Error{Code: code, Standard: standard, Severity: severity, Text: fmt.Sprintf(text, args...), Location: at})
}

// add keeps a finding, as report does.
func (s *scan) add(i int, e *edi.Error) {
	var dropped bool
	switch {
	case i < -1:
		g := &s.ic.Groups[ofGroup(i)]
		g.Errors, dropped = keep(g.Errors, e, maxMessageErrors)
	case i < 0:
		s.ic.Errors, dropped = keep(s.ic.Errors, e, maxInterchangeErrors)
	case len(s.ic.MessageErrors[i]) == 0 && len(s.ic.MessageErrors) >= maxRefused:
		dropped = true
		if e.Severity == edi.SeverityError {
			s.stop("too-many-errors", "18", e.Location, "more than %d messages have findings; the interchange is not read further", maxRefused)
		}
	default:
		if s.ic.MessageErrors == nil {
			s.ic.MessageErrors = make(map[int][]*edi.Error)
		}
		s.ic.MessageErrors[i], dropped = keep(s.ic.MessageErrors[i], e, maxMessageErrors)
	}
	if dropped {
		s.ic.DroppedErrors++
	}
}

// keep appends e to list up to limit. A first error takes the place of a lesser
// finding: what refuses is never dropped.
func keep(list []*edi.Error, e *edi.Error, limit int) (_ []*edi.Error, dropped bool) {
	if len(list) < limit {
		return append(list, e), false
	}
	if e.Severity == edi.SeverityError && edi.Worst(list) < edi.SeverityError {
		list[limit-1] = e
	}
	return list, true
}

// stop ends the scan with an error that refuses the interchange.
func (s *scan) stop(code, standard string, at edi.Location, text string, args ...any) {
	if s.stopped {
		return
	}
	s.stopped = true
	s.report(-1, edi.SeverityError, code, standard, at, text, args...)
}

// once reports whether a finding of this kind is the first in the interchange.
func (s *scan) once(kind string) bool {
	if s.said[kind] {
		return false
	}
	if s.said == nil {
		s.said = make(map[string]bool)
	}
	s.said[kind] = true
	return true
}
