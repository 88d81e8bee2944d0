package edi

import (
	"errors"
	"time"
)

// Advice is what an application advice says of one interchange that came in, before it
// is written as APERAK or 824: what its functional acknowledgement did not say, since it
// was found behind it or by another than the syntax.
type Advice struct {
	Reference string    // control reference of our interchange, and number of the advice (1004, BGN02)
	Prepared  time.Time // for its S004 and DTM 137, or ISA09, GS04 and BGN03

	// Acceptance is what became of all that is named: AcceptanceReceived of what is kept
	// for somebody to look at, Accepted, or Rejected.
	Acceptance Acceptance
	Reason     AdviceReason
	Text       string // in words, of what Messages does not explain itself

	// Messages are those that it is about; none: the interchange as a whole.
	Messages []AdvisedMessage
	Omitted  int // further ones, which are not named beside those that are
}

// ErrNoneNamed: an advice on some messages names none of them, and would be read as one
// on the interchange as a whole.
var ErrNoneNamed = errors.New("no advice on messages of which none is named")

// AdvisedMessage is a message that an advice names.
type AdvisedMessage struct {
	Index  int    // into Interchange.Messages
	Number string // of its document, as sent; "" where none is known
	Text   string // in words
	Errors []*Error
}

// AdviceReason is why an advice is sent, as a code: in an APERAK it is the application
// error (9321), of which no list is agreed on; 824 has a code of 647 for it.
type AdviceReason string

// The reasons.
const (
	AdviceHeld    AdviceReason = "HELD"    // the document is known with other content: somebody will look at it
	AdviceTaken   AdviceReason = "TAKEN"   // what was held is processed
	AdviceKnown   AdviceReason = "KNOWN"   // what was held is not
	AdviceDrift   AdviceReason = "DRIFT"   // the interchange is known with other content, and this one is not processed
	AdviceInvalid AdviceReason = "INVALID" // it has errors that were found when it was processed
	AdviceGivenUp AdviceReason = "GIVENUP" // it could not be processed
)

// Condition is the code of 647 that says the same.
func (r AdviceReason) Condition() string {
	switch r {
	case AdviceHeld, AdviceKnown, AdviceDrift:
		return "006" // duplicate
	}
	return "024" // another reason, which has no code
}
