package httpin

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/wire"
)

// Limits bound what one request may cost. Zero values are the defaults.
type Limits struct {
	MaxBody  int64         // bytes of the payload, decompressed; 0 is 2 GiB
	MaxRatio int64         // decompressed bytes for each compressed one, beyond the first 16 MiB; 0 is 200
	Pace     time.Duration // within which each 32 KiB of the body have to arrive; 0 is 30 s
}

// Defaults of Limits.
const (
	DefaultMaxBody  = 2 << 30
	DefaultMaxRatio = 200
	DefaultPace     = wire.DefaultPace
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
	return l
}

// body reads the content of a request: at a pace, within limits, hashed as sent
// and decompressed.
type body struct {
	request *http.Request
	limits  Limits
	wire    *wire.Body
	from    io.Reader // what is spooled: the wire itself, or what it decompresses to
	gzipped bool
	wants   digests
	sum256  hash.Hash // of the bytes as sent; nil where nobody asks
	sum512  hash.Hash
	spooled *gateway.Spooled
}

// body looks at the fields that describe the content. Nothing is read yet, so
// that a sender who waits for "100 Continue" is spared the sending.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, wants digests) (*body, error) {
	b := &body{request: r, limits: h.Limits.withDefaults(), wants: wants}
	if r.ContentLength > b.limits.MaxBody {
		return nil, tooLarge(b.limits.MaxBody)
	}
	b.wire = wire.NewBody(w, r, b.limits.MaxBody, b.limits.Pace)
	b.from = b.wire
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ","))); coding {
	case "", "identity":
	case "gzip", "x-gzip": // RFC 9110 §8.4.1.3: the two are one
		b.gzipped = true
	default:
		return nil, &refusal{problem: "unsupported-content-encoding", detail: "Content-Encoding names a coding other than gzip. Send the body as it is, or compressed by gzip alone."}
	}
	_, trailer := r.Trailer["Content-Digest"]
	if trailer || wants.sha512 != nil {
		b.sum512 = sha512.New()
		b.wire.Hashes = append(b.wire.Hashes, b.sum512)
	}
	if b.gzipped && (trailer || wants.sha256 != nil) {
		b.sum256 = sha256.New()
		b.wire.Hashes = append(b.wire.Hashes, b.sum256)
	}
	if b.gzipped {
		b.from = unzip{&wire.Unzip{From: b.wire, Ratio: b.limits.MaxRatio}}
	}
	return b, nil
}

// take reads the body to its end.
func (b *body) take(spool *gateway.Spool, from *partners.Partner) (*gateway.Spooled, error) {
	expect := b.request.ContentLength
	if b.gzipped {
		expect = -1
	}
	in, err := spool.Take(from, b.from, expect, b.limits.MaxBody)
	if err == nil && b.gzipped {
		err = drain(b.wire)
	}
	b.wire.Release()
	switch {
	case errors.Is(err, gateway.ErrTooLarge), errors.Is(err, wire.ErrLarge): // also compressed, and larger than it may be decompressed
		return in, tooLarge(b.limits.MaxBody)
	case errors.Is(err, wire.ErrSlow):
		return in, &refusal{problem: "request-timeout", cause: err}
	case errors.Is(err, wire.ErrIncomplete):
		return in, &refusal{problem: "incomplete-body", detail: fmt.Sprintf("The request ended after %d bytes of its body, before its announced end. Nothing was processed: send it again.", b.wire.Size()), cause: err}
	case errors.Is(err, gateway.ErrSpoolShare):
		return in, &refusal{problem: "too-many-at-once", reason: "spool-share", cause: gateway.ErrCrowded}
	case errors.Is(err, gateway.ErrSpoolFull):
		return in, &refusal{problem: "unavailable", reason: "spool-full", cause: err}
	case err != nil:
		return in, err
	}
	b.spooled = in
	if _, ok := b.request.Trailer["Content-Digest"]; ok {
		late, err := wantedDigests(b.request.Trailer.Values("Content-Digest"))
		if err != nil {
			return in, err
		}
		if late.any() {
			b.wants = late
		}
	}
	return in, nil
}

// verify holds the bytes as sent against Content-Digest; nil if they fit.
func (b *body) verify() *refusal {
	if !b.wants.any() {
		return nil
	}
	sum256, sum512 := b.spooled.SHA256[:], []byte(nil)
	if b.sum256 != nil {
		sum256 = b.sum256.Sum(nil)
	}
	if b.sum512 != nil {
		sum512 = b.sum512.Sum(nil)
	}
	name := b.wants.mismatch(sum256, sum512)
	if name == "" {
		return nil
	}
	got := sum256
	if name == "sha-512" {
		got = sum512
	}
	return &refusal{problem: "digest-mismatch", detail: fmt.Sprintf("The %d bytes that arrived have %s=:%s:, which is not what Content-Digest says. They were changed on the way, or the digest is of something else: it is taken of the body as it is sent. Nothing was processed.",
		b.wire.Size(), name, base64.StdEncoding.EncodeToString(got))}
}

// drain reads what is behind the last compressed byte: nothing, or the rest of
// the chunked coding with its trailer.
func drain(w *wire.Body) error {
	var b [1]byte
	for {
		n, err := w.Read(b[:])
		if n > 0 {
			return brokenGzip(errors.New("bytes behind the end"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unzip tells what is wrong with what was compressed.
type unzip struct{ *wire.Unzip }

// Read implements io.Reader.
func (u unzip) Read(b []byte) (int, error) {
	n, err := u.Unzip.Read(b)
	switch {
	case errors.Is(err, wire.ErrRatio):
		err = &refusal{problem: "content-too-large", reason: "compression-ratio", detail: fmt.Sprintf("The body decompresses to more than %d times its size. Send it uncompressed.", u.Ratio)}
	case errors.Is(err, wire.ErrNotGzip) && u.Size() == 0: // an empty body, and told as one
		err = io.EOF
	case errors.Is(err, wire.ErrNotGzip):
		err = brokenGzip(err)
	}
	return n, err
}

func brokenGzip(err error) error {
	return &refusal{problem: "invalid-content-encoding", cause: err}
}

func tooLarge(limit int64) *refusal {
	return &refusal{problem: "content-too-large", limit: limit, detail: fmt.Sprintf("The body is larger than %d bytes. Send its interchanges in several requests.", limit)}
}
