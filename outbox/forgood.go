package outbox

import "fmt"

// ForGood reports whether an HTTP status says that a request is refused however often it
// comes: it names what was sent as the fault, or the address as given up (RFC 9110 §15.5).
// Any other that is no success is of a door that is shut or has moved, which may open for
// this and all that comes behind it, or of the moment.
func ForGood(status int) bool {
	switch status {
	case 400, 410, 413, 422:
		return true
	}
	return false
}

// Ended is the error of Send where an effect may be repeated without harm: final says that
// it is refused for good, and any other failure is tried again.
func Ended(err error, final bool) error {
	switch {
	case err == nil:
		return nil
	case final:
		return fmt.Errorf("%w: %w", ErrFinal, err)
	}
	return fmt.Errorf("%w: %w", ErrNotDone, err)
}
