package edi

import (
	"errors"
	"fmt"
)

// Location is a place in the text.
type Location struct {
	Offset     int64  `json:"offset"`               // bytes from the start of the payload
	Segment    int    `json:"segment"`              // in a message UNH or ST is 1; outside one, the number in the interchange, header = 1; 0 in no segment
	Tag        string `json:"tag,omitempty"`        // UNB, LIN, N1
	Element    int    `json:"element,omitempty"`    // from 1, the tag not counted
	Component  int    `json:"component,omitempty"`  // from 1
	Repetition int    `json:"repetition,omitempty"` // from 1
}

// Severity of a finding.
type Severity int

// Notes and warnings are forgiven, an error refuses what it stands in.
const (
	SeverityNote Severity = iota + 1
	SeverityWarning
	SeverityError
)

// String gives "note", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case SeverityNote:
		return "note"
	case SeverityWarning:
		return "warning"
	case SeverityError:
		return "error"
	}
	return "none"
}

// Error is something wrong in the sender's text: what, where and what to do.
// It is always theirs, never ours.
type Error struct {
	Code     string // ours, stable: "unt-count-mismatch"
	Standard string // 0085 for EDIFACT, I18/715/718/720/723 for X12; may be empty
	Severity Severity
	Text     string // one sentence a person understands
	Location

	// Of an element that a table describes, for acknowledgements that ask for it
	// (AK402, AK404).
	Number    string // 1154, C506, 373
	Value     string // as it was sent
	Composite bool   // the element is one, so Component tells which of its values

	// Of what a table places: the segment group or loop that the segment stands in, or
	// that lacks it (AK303); "" in none. 25, IT1.
	Group string
}

// Error gives the sentence with its place.
func (e *Error) Error() string {
	if e.Segment == 0 {
		return fmt.Sprintf("%s at byte %d: %s", e.Code, e.Offset, e.Text)
	}
	return fmt.Sprintf("%s at byte %d (segment %d %s): %s", e.Code, e.Offset, e.Segment, e.Tag, e.Text)
}

// Worst is the highest severity in errs, zero if there is none.
func Worst(errs []*Error) Severity {
	var w Severity
	for _, e := range errs {
		w = max(w, e.Severity)
	}
	return w
}

// AsError gives the sender's fault that err is, nil if it is none.
func AsError(err error) *Error {
	var fault *Error
	if errors.As(err, &fault) {
		return fault
	}
	return nil
}
