package outbox

// ForGood reports whether an HTTP status names what was sent as the fault, so that it is
// refused however often it comes (RFC 9110 §15.5). Any other that is no success is of a
// door that is shut or has moved, which may open for this and all that comes behind it, or
// of the moment. A server in front of the partner's system says 400 of what that never saw:
// where five stand aside the subscription is paused (decision 25).
func ForGood(status int) bool {
	switch status {
	case 400, 413, 422:
		return true
	}
	return false
}
