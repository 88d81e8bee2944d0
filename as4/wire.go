package as4

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/edigw/edigw/gateway"
)

// Limits bound what one request may cost. Zero values are the defaults.
type Limits struct {
	MaxBody  int64         // bytes of the request, and of the payloads decompressed, all together; 0 is 2 GiB
	MaxRatio int64         // decompressed bytes for each compressed one, beyond the first 16 MiB; 0 is 200
	Pace     time.Duration // within which each 32 KiB of the body have to arrive, and all of what comes before its sender is authenticated; 0 is 30 s
	// MaxUnproved bounds the bytes of all requests together whose sender is not
	// authenticated yet; 0 is 64 MiB. Whoever floods us with envelopes gets a 503.
	MaxUnproved int64
}

// Defaults of Limits.
const (
	DefaultMaxBody     = 2 << 30
	DefaultMaxRatio    = 200
	DefaultPace        = 30 * time.Second
	DefaultMaxUnproved = 64 << 20

	paceBytes = 32 << 10
	freeRatio = 16 << 20 // decompressed bytes for which no ratio is asked
	keptBytes = 1 << 20  // of a request are kept as they came, for the quarantine
)

func (l Limits) withDefaults() Limits {
	if l.MaxBody == 0 {
		l.MaxBody = DefaultMaxBody
	}
	if l.MaxRatio == 0 {
		l.MaxRatio = DefaultMaxRatio
	}
	if l.Pace == 0 {
		l.Pace = DefaultPace
	}
	if l.MaxUnproved == 0 {
		l.MaxUnproved = DefaultMaxUnproved
	}
	return l
}

// wire reads the request's body as it comes from the network. A sender has to keep
// the pace: once it is proved a deadline stands over every 32 KiB, not over the whole,
// which may be large, nor over each read, which may bring one byte.
type wire struct {
	from     io.Reader
	limit    int64
	pace     time.Duration
	control  *http.ResponseController
	unproved *atomic.Int64 // bytes of all requests whose sender is not proved; nil once this one's is
	most     int64         // of them
	read     int64
	due      int64  // byte at which the next deadline is set
	kept     []byte // of the body, while it is small
	ended    bool
}

// proved tells that the sender is authenticated, or that nothing of the request is
// held any more.
func (w *wire) proved() {
	if w.unproved != nil {
		w.unproved.Add(-w.read)
		w.unproved, w.due = nil, w.read
	}
}

// errTooLarge: the request is larger than it may be.
var errTooLarge = errors.New("the request is larger than its limit")

// interrupted: the network or the sender ended the request, and waits for no answer
// that says more.
type interrupted struct {
	reason string // request-timeout, incomplete-body
	read   int64
	err    error
}

// Error is for the log.
func (i *interrupted) Error() string {
	return fmt.Sprintf("%s after %d bytes: %v", i.reason, i.read, i.err)
}

// Unwrap gives what the network said.
func (i *interrupted) Unwrap() error { return i.err }

// Read implements io.Reader.
func (w *wire) Read(b []byte) (int, error) {
	// Asked before it reads: whoever buffers what it reads tells an error late.
	if w.unproved != nil && w.unproved.Load() >= w.most {
		return 0, gateway.ErrCrowded
	}
	if w.read >= w.due {
		if err := w.control.SetReadDeadline(time.Now().Add(w.pace)); err != nil {
			return 0, fmt.Errorf("set read deadline: %w", err)
		}
		w.due = w.read + paceBytes
		if w.unproved != nil {
			w.due = math.MaxInt64
		}
	}
	n, err := w.from.Read(b[:min(int64(len(b)), w.due-w.read)])
	if w.unproved != nil {
		w.unproved.Add(int64(n))
	}
	if w.read += int64(n); w.read <= keptBytes {
		w.kept = append(w.kept, b[:n]...)
	} else {
		w.kept = nil
	}
	switch {
	case w.read > w.limit:
		return n, errTooLarge
	case err == nil:
		return n, nil
	case err == io.EOF:
		w.ended = true
		return n, io.EOF
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, &interrupted{"request-timeout", w.read, err}
	}
	// Whatever else net/http says of a body is the sender's or the network's.
	return n, &interrupted{"incomplete-body", w.read, err}
}

// release takes the deadline away, which would else end the request's context
// while the delivery is being received.
func (w *wire) release() {
	_ = w.control.SetReadDeadline(time.Time{}) // the connection is gone, which the answer will find
}

// spoolFault says of an error of taking bytes in what the sender has to know.
func (l Limits) spoolFault(err error) error {
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, gateway.ErrTooLarge):
		return faulty(ProcessingModeMismatch, "the message, or its payloads decompressed, is larger than %d bytes; send its interchanges in several messages", l.MaxBody)
	case errors.Is(err, gateway.ErrSpoolShare):
		return fmt.Errorf("%w: %w", gateway.ErrCrowded, err)
	}
	return err
}
