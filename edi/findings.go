package edi

import (
	"fmt"
	"slices"
)

// How many findings are kept. What is dropped is counted; an interchange with more
// refused messages than MaxRefused is refused as a whole, so that none of them can
// pass for sound.
const (
	MaxRefused           = 10_000
	maxInterchangeErrors = 100
	maxMessageErrors     = 20 // and of a group

	// maxNoted is how many messages of an interchange may have findings of Check that
	// refuse nothing. A sender that departs from its directory does so in every
	// message, and their number must not have the interchange refused.
	maxNoted = 1_000
)

// OfGroup is where Findings keep what is wrong with group g.
func OfGroup(g int) int { return -2 - g }

// Findings gather what is wrong with an interchange while it is read.
type Findings struct {
	IC      *Interchange
	Dialect *Dialect
	Stopped bool // what follows is not read

	said map[string]bool
}

// Report adds a finding on message i, on the interchange if i is -1, or on a group:
// OfGroup.
func (f *Findings) Report(i int, severity Severity, code, standard string, at Location, text string, args ...any) {
	f.Add(i, &Error{Code: code, Standard: standard, Severity: severity, Text: fmt.Sprintf(text, args...), Location: at})
}

// Add keeps a finding, as Report does. One on a group of severity error refuses
// every message in it, and no other.
func (f *Findings) Add(i int, e *Error) {
	var dropped *Error
	switch ic := f.IC; {
	case i < -1:
		g := &ic.Groups[OfGroup(i)]
		g.Errors, dropped = keep(g.Errors, e, maxMessageErrors)
	case i < 0:
		ic.Errors, dropped = keep(ic.Errors, e, maxInterchangeErrors)
	case len(ic.MessageErrors[i]) == 0 && len(ic.MessageErrors) >= MaxRefused:
		dropped = e
		if e.Severity == SeverityError {
			f.Stop("too-many-errors", f.Dialect.TooLarge, e.Location, "more than %d %ss have findings; the interchange is not read further", MaxRefused, f.Dialect.Message)
		}
	default:
		if ic.MessageErrors == nil {
			ic.MessageErrors = make(map[int][]*Error)
		}
		ic.MessageErrors[i], dropped = keep(ic.MessageErrors[i], e, maxMessageErrors)
	}
	if dropped != nil {
		f.IC.DroppedErrors++
		if dropped.Severity == SeverityError {
			f.IC.DroppedRefusals++
		}
	}
}

func keep(list []*Error, e *Error, limit int) (_ []*Error, dropped *Error) {
	return Keep(list, e, limit, func(e *Error) bool { return e.Severity == SeverityError })
}

// Keep appends v to list up to limit, and gives what is dropped, if anything: v, or
// the last finding that refuses nothing, whose place an error takes. So no error is
// dropped for lesser ones, and a list that lacks one is full of errors.
func Keep[T any](list []T, v T, limit int, isError func(T) bool) (_ []T, dropped T) {
	if len(list) < limit {
		return append(list, v), dropped
	}
	if isError(v) {
		for i := len(list) - 1; i >= 0; i-- {
			if dropped = list[i]; !isError(dropped) {
				return append(slices.Delete(list, i, i+1), v), dropped
			}
		}
	}
	return list, v
}

// Stop ends the reading with an error that refuses the interchange.
func (f *Findings) Stop(code, standard string, at Location, text string, args ...any) {
	if f.Stopped {
		return
	}
	f.Stopped = true
	f.Report(-1, SeverityError, code, standard, at, text, args...)
}

// NotAllowed ends the sentence on what the partner's settings do not forgive.
const NotAllowed = "; the partner's settings do not allow that"

// Forgive reports what a partner's settings let pass; where they do not, it is an
// error.
func (f *Findings) Forgive(i int, severity Severity, refuse bool, code, standard string, at Location, text string, args ...any) {
	if refuse {
		severity, text = SeverityError, text+NotAllowed
	}
	f.Report(i, severity, code, standard, at, text, args...)
}

// Once reports whether a finding of this kind is the first in the interchange.
func (f *Findings) Once(kind string) bool {
	if f.said[kind] {
		return false
	}
	if f.said == nil {
		f.said = make(map[string]bool)
	}
	f.said[kind] = true
	return true
}

// Said reports whether Once was asked for a finding of this kind.
func (f *Findings) Said(kind string) bool { return f.said[kind] }

// judge adds what check finds to the findings of message i.
func (f *Findings) judge(check func(*Interchange, int, *Body) []*Error, i int, b *Body) {
	if check == nil || f.Stopped {
		return
	}
	for _, e := range check(f.IC, i, b) {
		if e.Severity < SeverityError && len(f.IC.MessageErrors[i]) == 0 && len(f.IC.MessageErrors) >= maxNoted {
			f.IC.DroppedErrors++
			continue
		}
		f.Add(i, e)
	}
}
