package edi

import "time"

// Action is what an acknowledgement says of a level: 0083 in CONTRL.
type Action int

// 0083: 4, 7 and 8. TA1, 997 and 999 have their own letters for the same.
const (
	ActionRejected     Action = 4 // this level and all below
	ActionAcknowledged Action = 7 // this level, and below unless rejected explicitly
	ActionReceived     Action = 8 // interchange received, no judgement of its content
)

// Acknowledgement is what a functional acknowledgement says of one interchange,
// before it is written as CONTRL, or TA1 and 997.
type Acknowledgement struct {
	Reference string    // control reference of our interchange, an..14
	Prepared  time.Time // for its S004
	Action    Action
	Errors    []*Error // of the interchange
	Messages  []MessageAnswer

	// Of X12: what the partner's settings say.
	Form string // of what answers groups: "997" or "999"; "" by the version of the group
	TA1  string // "always", "never", or "": where ISA14 asks for it or the envelope is refused
}

// MessageAnswer is the word on one message of the acknowledged interchange.
type MessageAnswer struct {
	Index  int // into Interchange.Messages
	Action Action
	Errors []*Error
}
