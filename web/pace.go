package web

import (
	"io"
	"net/http"
	"time"
)

// What a body may take, whoever sends it. net/http has no deadline of its own
// for one, and waits for up to 256 KiB of what nobody read before it lets an
// answer go: a stranger would hold a connection for ever with a length alone.
const (
	defaultUnread = 2 * time.Second  // for what no route read
	defaultPace   = 30 * time.Second // for each paceBytes of what one reads
	paceBytes     = 32 << 10
)

// paced holds every request with a body to the deadlines, before anything else
// looks at it.
func (a *API) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			b := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), unread: a.unread, pace: a.pace}
			if b.unread == 0 {
				b.unread = defaultUnread
			}
			if b.pace == 0 {
				b.pace = defaultPace
			}
			// HTTP/2 waits for no body before it answers, and a deadline that passes
			// while the database is slow would end one for good (RFC 9113 §5.1).
			if r.ProtoMajor < 2 {
				b.until(b.unread)
			}
			with := *r // net/http keeps its own, which it recognises by its type
			with.Body = b
			r = &with
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody is a body of which every 32 KiB have to arrive within the pace.
type pacedBody struct {
	io.ReadCloser
	control      *http.ResponseController
	unread, pace time.Duration
	left         int // bytes to come before the deadline; 0 sets the next one
}

func (b *pacedBody) Read(into []byte) (int, error) {
	if b.left <= 0 {
		b.until(b.pace)
		b.left = paceBytes
	}
	n, err := b.ReadCloser.Read(into[:min(len(into), b.left)])
	b.left -= n
	if err == io.EOF {
		// net/http reads on, to notice a client that goes: a deadline would look like
		// that, and end the work in the middle.
		b.until(0)
	}
	return n, err
}

// leave gives the rest of a body that is not read to its end little time.
func (b *pacedBody) leave() { b.until(b.unread) }

// until sets the deadline; 0 is none.
func (b *pacedBody) until(d time.Duration) {
	at := time.Time{}
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = b.control.SetReadDeadline(at) // the connection is gone, which the answer will find
}
