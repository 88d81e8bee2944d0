package dedup

import (
	"encoding/binary"
	"fmt"
)

// State of a variant, as in docs/reference/outcomes.md.
type State int16

// The states of a variant. A transport key's variants are Accepted (processed
// or refused under it), Quarantined (open transport drift) or Refused
// (rejected transport drift).
const (
	Received    State = iota + 1 // something pending
	Accepted                     // all posted, absorbed or held
	Partly                       // some of that, and something refused or dead
	Rejected                     // nothing of that, nothing dead
	Dead                         // nothing of that, something dead
	Quarantined                  // drift, undecided
	Refused                      // drift, decided against
	Superseded                   // replaced by a decision
	Imported                     // known from a former gateway, without digest
)

var stateNames = [...]string{"", "received", "accepted", "partly", "rejected", "dead", "quarantined", "refused", "superseded", "imported"}

// String gives the word of the outcome table.
func (s State) String() string {
	if s > 0 && int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", int16(s))
}

// Fate is where a message of a variant stands.
type Fate uint8

// The fates of a message.
const (
	Posted      Fate = iota + 1 // its document is in the tables
	Absorbed                    // the same bytes or the same document were posted before
	Held                        // drift of kind document, waiting for a decision
	RefusedMsg                  // the sender's fault
	DeadMsg                     // our handler failed on it
	Pending                     // deferred
	Discarded                   // refused by us; never judged again
	HeldClosed                  // held, decided to stay so
	WithOthers                  // sound, but refused with the interchange (acceptance: interchange)
	DeadWithOne                 // sound, but not processed since another message is dead
)

var fateNames = [...]string{"", "posted", "absorbed", "held", "refused", "dead", "pending", "discarded", "held", "refused", "dead"}

// String gives the word of the outcome table.
func (f Fate) String() string {
	if int(f) < len(fateNames) && f > 0 {
		return fateNames[f]
	}
	return fmt.Sprintf("fate %d", uint8(f))
}

// Effective reports posted, absorbed or held: the message has had its effect.
func (f Fate) Effective() bool {
	return f == Posted || f == Absorbed || f == Held || f == HeldClosed
}

// IsRefused reports refused in the sense of the variant's state.
func (f Fate) IsRefused() bool { return f == RefusedMsg || f == Discarded || f == WithOthers }

// IsDead reports dead in the sense of the variant's state.
func (f Fate) IsDead() bool { return f == DeadMsg || f == DeadWithOne }

// Revision is what a message was judged under: the partner's configuration and
// the gateway's own rules.
type Revision struct {
	Partner, Rules int32
}

// Before reports whether r is older than now: in either part.
func (r Revision) Before(now Revision) bool { return r.Partner < now.Partner || r.Rules < now.Rules }

// MessageState is one message of a variant, in the order of the interchange.
type MessageState struct {
	SHA256   [32]byte
	Fate     Fate
	Attempts uint8 // runs of its handler that failed
	Revision Revision
}

const messageRecord = 44

// PackMessages writes the records of the column messages: 32 bytes digest, fate,
// attempts, two spare, and the revision as two big-endian 32-bit numbers.
func PackMessages(ms []MessageState) []byte {
	b := make([]byte, len(ms)*messageRecord)
	for i := range ms {
		r := b[i*messageRecord:]
		copy(r, ms[i].SHA256[:])
		r[32], r[33] = byte(ms[i].Fate), ms[i].Attempts
		binary.BigEndian.PutUint32(r[36:], uint32(ms[i].Revision.Partner))
		binary.BigEndian.PutUint32(r[40:], uint32(ms[i].Revision.Rules))
	}
	return b
}

// UnpackMessages reads what PackMessages wrote.
func UnpackMessages(b []byte) ([]MessageState, error) {
	if len(b)%messageRecord != 0 {
		return nil, fmt.Errorf("message records of %d bytes: not a multiple of %d", len(b), messageRecord)
	}
	ms := make([]MessageState, len(b)/messageRecord)
	for i := range ms {
		r := b[i*messageRecord:]
		copy(ms[i].SHA256[:], r)
		ms[i].Fate, ms[i].Attempts = Fate(r[32]), r[33]
		ms[i].Revision.Partner = int32(binary.BigEndian.Uint32(r[36:]))
		ms[i].Revision.Rules = int32(binary.BigEndian.Uint32(r[40:]))
	}
	return ms, nil
}

// StateOf derives a variant's state from its messages: outcomes.md, States. A
// variant without messages is accepted if it is empty by right, so the caller
// says what an empty one is.
func StateOf(ms []MessageState, empty State) State {
	var effect, refused, dead, pending int
	for i := range ms {
		switch f := ms[i].Fate; {
		case f == Pending:
			pending++
		case f.Effective():
			effect++
		case f.IsDead():
			dead++
		default:
			refused++
		}
	}
	switch {
	case len(ms) == 0:
		return empty
	case pending > 0:
		return Received
	case refused+dead == 0:
		return Accepted
	case effect > 0:
		return Partly
	case dead > 0:
		return Dead
	}
	return Rejected
}
