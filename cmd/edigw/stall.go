package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// mostStill is how long an upload, or the answer to it, may stand without a byte
// moving. It is no limit of the whole: a large file on a slow line takes its time.
const mostStill = 2 * time.Minute

// unstalled breaks off a request of which no byte has moved for some time. A peer
// that is gone without a word, or takes no more, would hold it for ever.
type unstalled struct {
	inner http.RoundTripper
	still time.Duration
}

// stalledError is why it was broken off.
type stalledError struct{ still time.Duration }

func (e *stalledError) Error() string {
	return fmt.Sprintf("broken off: for %s no byte has moved", e.still)
}

// RoundTrip sends. What it reads of the one body, and is read of the other, counts.
func (t unstalled) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	clock := time.AfterFunc(t.still, func() { cancel(&stalledError{t.still}) })
	m := moving{ctx: ctx, moved: func() { clock.Reset(t.still) }, end: func() { clock.Stop(); cancel(nil) }}
	r = r.Clone(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = m.outgoing(r.Body)
	}
	resp, err := t.inner.RoundTrip(r)
	if err != nil {
		err = m.why(err)
		m.end()
		return nil, err
	}
	resp.Body = m.incoming(resp.Body)
	return resp, nil
}

// moving resets the clock of one request.
type moving struct {
	ctx        context.Context
	moved, end func()
}

// why says that the request was broken off here, where err comes of that.
func (m moving) why(err error) error {
	if stalled := (*stalledError)(nil); errors.As(context.Cause(m.ctx), &stalled) {
		return stalled
	}
	return err
}

func (m moving) outgoing(body io.ReadCloser) io.ReadCloser {
	return &movingBody{body, m, func() {}}
}

func (m moving) incoming(body io.ReadCloser) io.ReadCloser { return &movingBody{body, m, m.end} }

// movingBody tells what is read.
type movingBody struct {
	io.ReadCloser
	moving moving
	closed func()
}

func (b *movingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.moving.moved()
	}
	if err != nil && err != io.EOF { // io.Reader's contract: EOF itself, not wrapped
		err = b.moving.why(err)
	}
	return n, err
}

func (b *movingBody) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}
