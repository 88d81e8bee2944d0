package as2

import (
	"errors"
	"slices"
	"strings"

	"github.com/edigw/edigw/outbox"
)

// shut are the modifiers that are of who sends, of the keys, or of what was agreed on: they
// say the same of all that comes. A message that was changed on its way is signed anew when
// it comes again.
var shut = []string{authenticationFailed, integrityFailed, decryptionFailed, insufficientSecurity, unknownPartner, senderIsReceiver}

// refusal is what a negative MDN says of a message: ErrRefused of this very content,
// ErrShut, or ErrUnexplained. RFC 4130 §7.4.3 and §7.5.3.
func (d Disposition) refusal() error {
	kind, word, _ := strings.Cut(d.Modifier, ": ")
	switch {
	case word == decompressionFailed:
		return ErrRefused
	case kind == "failure", slices.Contains(shut, word):
		return ErrShut
	}
	return ErrUnexplained
}

// ending says what a try tells of an acknowledgement that ended by err.
func ending(err error) outbox.Ending {
	switch {
	case errors.Is(err, ErrRefused):
		return outbox.Refused
	case errors.Is(err, ErrUnexplained):
		return outbox.Unexplained
	case errors.Is(err, ErrUnproven), errors.Is(err, ErrLost):
		return outbox.Lost
	}
	return outbox.TryOn
}
