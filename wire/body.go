// Package wire reads the bodies of requests at a pace, and writes answers to senders
// that may be slow or gone: what every transport over HTTP has to do alike.
//
// It knows nothing of what is sent.
package wire

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"net/http"
	"os"
	"time"
)

// DefaultPace is within which each 32 KiB of a body have to arrive.
const DefaultPace = 30 * time.Second

const paceBytes = 32 << 10

// What is wrong with a body, as errors.Is finds it.
var (
	ErrSlow       = errors.New("the body does not come at its pace")
	ErrIncomplete = errors.New("the body ended before its announced end")
	ErrLarge      = errors.New("the body is larger than its limit")
)

// Body reads a body as it comes from the network. A sender has to keep the pace: a
// deadline stands over every 32 KiB, not over the whole, which may be large, nor over
// each read, which may bring one byte.
type Body struct {
	From   io.Reader
	Limit  int64         // bytes; more are ErrLarge
	Pace   time.Duration // 0 is DefaultPace
	Hashes []hash.Hash   // of the bytes as they come
	// Whole has one deadline stand over all that is read, until Paced: of who is not
	// known yet.
	Whole bool

	control *http.ResponseController
	read    int64
	due     int64 // byte at which the next deadline is set
}

// NewBody is the body of a request.
func NewBody(w http.ResponseWriter, r *http.Request, limit int64, pace time.Duration) *Body {
	if pace == 0 {
		pace = DefaultPace
	}
	return &Body{From: r.Body, Limit: limit, Pace: pace, control: http.NewResponseController(w)}
}

// Size is how many bytes were read so far.
func (b *Body) Size() int64 { return b.read }

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.read >= b.due {
		if err := b.control.SetReadDeadline(time.Now().Add(b.Pace)); err != nil {
			return 0, fmt.Errorf("set read deadline: %w", err)
		}
		b.due = b.read + paceBytes
		if b.Whole {
			b.due = math.MaxInt64
		}
	}
	n, err := b.From.Read(p[:min(int64(len(p)), b.due-b.read)])
	b.read += int64(n)
	for _, h := range b.Hashes {
		h.Write(p[:n])
	}
	switch {
	case b.read > b.Limit:
		return n, ErrLarge
	case err == nil || err == io.EOF:
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("%w: %w", ErrSlow, err)
	}
	// Whatever else net/http says of a body is the sender's or the network's.
	return n, fmt.Errorf("%w, after %d bytes: %w", ErrIncomplete, b.read, err)
}

// Paced gives what comes from now on a pace of its own.
func (b *Body) Paced() { b.Whole, b.due = false, b.read }

// Release takes the deadline away, which would else end the request's context while
// the delivery is being received.
func (b *Body) Release() {
	_ = b.control.SetReadDeadline(time.Time{}) // the connection is gone, which the answer will find
}
