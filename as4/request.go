package as4

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// Limits bound what one request may cost. Zero values are the defaults.
type Limits struct {
	MaxBody  int64         // bytes of the request, and of the payloads decompressed, all together; 0 is 2 GiB
	MaxRatio int64         // decompressed bytes for each compressed one, beyond the first 16 MiB; 0 is 200
	Pace     time.Duration // within which each 32 KiB of the body have to arrive, and all of what comes before its sender is authenticated; 0 is 30 s
	// MaxUnproved bounds the bytes of all requests together whose sender is not
	// authenticated yet; 0 is 64 MiB. Who has most of them by his address gets a 503.
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
	unproved *gateway.Guest // among the bytes of all requests whose sender is not proved; nil once this one's is
	header   http.Header
	kept     []byte // of the body, while it is small
	ended    bool
}

func (h *Handler) request(w http.ResponseWriter, r *http.Request, client proxy.Client, limits Limits) *request {
	q := &request{Body: wire.NewBody(w, r, limits.MaxBody, limits.Pace), unproved: h.unproved.Enter(nil, client.Address, 0, limits.MaxUnproved), header: r.Header}
	q.Whole, q.Steady = true, true
	q.unproved.MayGo(q.cut)
	return q
}

// cut ends the reading, since others need the room.
func (q *request) cut() { q.Cut(gateway.ErrCrowded) }

// proved tells that the sender is authenticated, or that nothing of the request is
// held any more.
func (q *request) proved() {
	if q.unproved != nil {
		q.unproved.Leave()
		q.unproved = nil
		q.Paced()
	}
}

// Read implements io.Reader.
func (q *request) Read(b []byte) (int, error) {
	n, err := q.Body.Read(b)
	if q.unproved != nil && n > 0 && !q.unproved.Take(int64(n)) {
		return 0, gateway.ErrCrowded
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
