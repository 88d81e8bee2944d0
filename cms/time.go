package cms

import (
	"fmt"
	"time"
)

// parseTime reads a UTCTime, whose years are those from 1950 to 2049, or a
// GeneralizedTime: RFC 5652 §11.3.
//
// QUIRK: minutes without seconds, fractions of seconds and offsets occur, though
// DER has none of them.
func parseTime(t tag, text []byte) (time.Time, error) {
	layouts := []string{"20060102150405Z0700", "200601021504Z0700", "20060102150405.999999999Z0700"}
	s := string(text)
	switch {
	case len(s) > 32:
		return time.Time{}, fmt.Errorf("%w: a time of %d characters", ErrMalformed, len(s))
	case t == tagUTCTime && s >= "50":
		s = "19" + s
	case t == tagUTCTime:
		s = "20" + s
	case t != tagGeneralizedTime:
		return time.Time{}, fmt.Errorf("%w: %s where a time should stand", ErrMalformed, t)
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: the time %q", ErrMalformed, text)
}
