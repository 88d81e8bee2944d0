package partners

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Silence is after how long without a delivery a partner is taken for silent: auto, as his
// rhythm says, off, or so many hours.
type Silence int

// The words of silence.
const (
	SilenceAuto Silence = 0
	SilenceOff  Silence = -1
)

const mostSilence = 9600 // hours, 400 days

// Every is the time that is set; 0 where none is.
func (s Silence) Every() time.Duration { return max(0, time.Duration(s)) * time.Hour }

// String gives "auto", "off" or "72h".
func (s Silence) String() string {
	switch s {
	case SilenceAuto:
		return "auto"
	case SilenceOff:
		return "off"
	}
	return strconv.Itoa(int(s)) + "h"
}

// MarshalText gives what String gives.
func (s Silence) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText gives; 1h to 9600h.
func (s *Silence) UnmarshalText(text []byte) error {
	switch word := string(text); word {
	case "auto":
		*s = SilenceAuto
	case "off":
		*s = SilenceOff
	default:
		digits, found := strings.CutSuffix(word, "h")
		n, err := strconv.Atoi(digits)
		if !found || err != nil || n < 1 || n > mostSilence || strconv.Itoa(n) != digits {
			return fmt.Errorf("%q is not auto, off or hours like 72h", word)
		}
		*s = Silence(n)
	}
	return nil
}

func (d *document) silence(into *Silence) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if ok && into.UnmarshalText([]byte(s)) != nil {
			d.fault(n.GetToken(), path, "must be auto, off, or hours like 72h, 1h to %dh, not %q", mostSilence, s)
		}
	}
}
