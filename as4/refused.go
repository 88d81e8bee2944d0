package as4

import (
	"errors"
	"slices"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/wire"
)

// What an error says of a message: core §6.7, AS4 profile §4. Any other is of who sends,
// of the keys, or of what was agreed on: it says the same of all that comes, until
// somebody mends that.
var (
	// passing are of the moment: the receiver cannot complete, or reach who would, and the
	// message comes again.
	passing = []string{ConnectionFailure, DysfunctionalReliability, DeliveryFailure}
	// ofContent are of this very message.
	ofContent = []string{MimeInconsistency, InvalidHeader, ExternalPayloadError, DecompressionFailure}
)

// ending says what errors tell. Who has not proved to be the partner may be anybody on the
// way, and ends nothing.
func (r *Refused) ending() outbox.Ending {
	has := func(codes ...string) func(ErrorSignal) bool {
		return func(e ErrorSignal) bool { return slices.Contains(codes, e.Code) }
	}
	others := slices.ContainsFunc(r.Errors, func(e ErrorSignal) bool { return e.Code != OtherError && !slices.Contains(passing, e.Code) })
	switch {
	case !r.Proven || r.Again:
		return outbox.TryOn
	case slices.ContainsFunc(r.Errors, has(ofContent...)):
		return outbox.Refused
	case others:
		return outbox.TryOn
	}
	return outbox.Unexplained // EBMS:0004
}

// endingOf says what a try tells of a message that ended by err. A status of HTTP refuses
// nothing: it may be that of a server before the partner's.
func endingOf(answer *Answered, err error) outbox.Ending {
	refused := (*Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return refused.ending()
	case errors.Is(err, ErrLost), answer != nil && wire.Taken(answer.Status):
		return outbox.Lost
	}
	return outbox.TryOn
}
