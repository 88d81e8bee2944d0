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
	"sync"
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
	// Steady has what comes behind the first two deadlines come at four times the pace on
	// average, and so all of it end: of who is not proved yet.
	Steady bool

	control *http.ResponseController
	read    int64
	due     int64     // byte at which the next deadline is set
	began   time.Time // when the pace began, with the byte
	from    int64

	mu    sync.Mutex
	cut   error // why it is not read on
	ended bool  // the connection's deadline is not this body's any more
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

// steadily is how many times the pace a steady body comes at.
const steadily = 4

// deadline is when what comes from now on has to have come.
func (b *Body) deadline(now time.Time) time.Time {
	if b.began.IsZero() {
		b.began, b.from = now, b.read
	}
	next := now.Add(b.Pace)
	if !b.Steady || b.Whole {
		return next
	}
	blocks := (b.read-b.from)/paceBytes + 1
	if last := b.began.Add(2*b.Pace + b.Pace*time.Duration(blocks)/steadily); last.Before(next) {
		return last
	}
	return next
}

// Cut ends the reading with err: at once where it is waited for more.
func (b *Body) Cut(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut != nil || b.ended {
		return
	}
	b.cut = err
	_ = b.control.SetReadDeadline(time.Unix(1, 0)) // the connection is gone, and with it who is waited for
}

// extend sets the next deadline, unless the reading was cut.
func (b *Body) extend() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut != nil {
		return b.cut
	}
	if err := b.control.SetReadDeadline(b.deadline(time.Now())); err != nil {
		return fmt.Errorf("set read deadline: %w", err)
	}
	return nil
}

func (b *Body) wasCut() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cut
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.read >= b.due {
		if err := b.extend(); err != nil {
			return 0, err
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
	if err == io.EOF {
		b.end()
	}
	switch {
	case b.read > b.Limit:
		return n, ErrLarge
	case err == nil || err == io.EOF:
		return n, err
	case b.wasCut() != nil:
		return n, b.wasCut()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("%w: %w", ErrSlow, err)
	}
	// Whatever else net/http says of a body is the sender's or the network's.
	return n, fmt.Errorf("%w, after %d bytes: %w", ErrIncomplete, b.read, err)
}

// Paced gives what comes from now on a pace of its own.
func (b *Body) Paced() { b.Whole, b.due, b.began = false, b.read, time.Time{} }

// Release takes the deadline away, which would else end the request's context while
// the delivery is being received.
func (b *Body) Release() {
	b.end()
	_ = b.control.SetReadDeadline(time.Time{}) // the connection is gone, which the answer will find
}

// end tells that nothing is waited for any more: a late Cut finds nothing to end.
func (b *Body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}
