package as4

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/wire"
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
	DefaultPace        = wire.DefaultPace
	DefaultMaxUnproved = 64 << 20

	keptBytes = 1 << 20 // of a request are kept as they came, for the quarantine
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

// request is the body of a request as it comes, its sender not proved at first: one
// deadline stands over what such a one sends, and all of them together hold so much.
type request struct {
	*wire.Body
	unproved *atomic.Int64 // bytes of all requests whose sender is not proved; nil once this one's is
	most     int64         // of them
	kept     []byte        // of the body, while it is small
	ended    bool
}

func (h *Handler) request(w http.ResponseWriter, r *http.Request, limits Limits) *request {
	q := &request{Body: wire.NewBody(w, r, limits.MaxBody, limits.Pace), unproved: &h.unproved, most: limits.MaxUnproved}
	q.Whole = true
	return q
}

// proved tells that the sender is authenticated, or that nothing of the request is
// held any more.
func (q *request) proved() {
	if q.unproved != nil {
		q.unproved.Add(-q.Size())
		q.unproved = nil
		q.Paced()
	}
}

// Read implements io.Reader.
func (q *request) Read(b []byte) (int, error) {
	// Asked before it reads: whoever buffers what it reads tells an error late.
	if q.unproved != nil && q.unproved.Load() >= q.most {
		return 0, gateway.ErrCrowded
	}
	n, err := q.Body.Read(b)
	if q.unproved != nil {
		q.unproved.Add(int64(n))
	}
	if q.Size() <= keptBytes {
		q.kept = append(q.kept, b[:n]...)
	} else {
		q.kept = nil
	}
	q.ended = q.ended || err == io.EOF
	return n, err
}

// spoolFault says of an error of taking bytes in what the sender has to know.
func (l Limits) spoolFault(err error) error {
	switch {
	case errors.Is(err, wire.ErrLarge), errors.Is(err, gateway.ErrTooLarge):
		return faulty(ProcessingModeMismatch, "the message, or its payloads decompressed, is larger than %d bytes; send its interchanges in several messages", l.MaxBody)
	case errors.Is(err, gateway.ErrSpoolShare):
		return fmt.Errorf("%w: %w", gateway.ErrCrowded, err)
	}
	return err
}
