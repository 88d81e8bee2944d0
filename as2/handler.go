package as2

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// Transport is the name of AS2 in keys, metrics and logs.
const Transport = "as2"

// Handler is the transport. ByName, Receive, Keys and Spool have to be set.
type Handler struct {
	// ByName finds the partner that is called from and sends to us as to:
	// partners.Directory.ByAS2.
	ByName func(from, to string) *partners.Partner
	// Client says who sent a request: proxy.Rule.Of; nil believes no proxy.
	Client func(*http.Request) (proxy.Client, error)
	// Receive is gateway.Gateway.Receive.
	Receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)
	// Keys gives the keys of an organisation for a purpose, of which the first is the one
	// to sign with. An error is ours, and passing.
	Keys func(ctx context.Context, organisation string, purpose Purpose) ([]Key, error)
	// Leads reports whether text begins an interchange; nil takes all for one.
	Leads func(text []byte) bool
	// Notify takes an MDN that came for a message of ours: whether it was waited for, and
	// why it does not acknowledge that; nil waits for none. An error is ours.
	Notify func(context.Context, *partners.Partner, *Notification, *Opened) (awaited bool, why, err error)
	// Admit and Reserve are gateway.Gateway's AdmitUnproved and ReserveUnproved; nil lets
	// in all, and reserves nothing.
	Admit   func(p *partners.Partner, address string) (*gateway.Entry, bool)
	Reserve func(partner, transportKey string) (release func(), ok bool)
	// UnknownBy403 answers strangers with 403 instead of an unsigned MDN: unknown_as2.
	UnknownBy403 bool

	Spool   *gateway.Spool
	Limits  Limits
	Metrics *gateway.Metrics // nil for none
	Now     func() time.Time // nil is time.Now
	Log     *slog.Logger     // nil is slog.Default

	memory memory
}

// DefaultMemory is Limits.Memory where it says nothing.
const DefaultMemory = 1 << 30

// opensTo is how many times its size a message needs most often: what came, and what it
// is decoded to.
const opensTo = 2

// Limits bound what one message may cost. Zero values are the defaults.
type Limits struct {
	MaxBody   int64         // bytes of a body; 0 is 2 GiB
	MaxOpened int64         // bytes of one that has to be opened in memory: encrypted, signed, compressed, of several parts; 0 is 256 MiB, or what Memory allows
	Memory    int64         // bytes of all large ones of these together; 0 is 1 GiB
	Wait      time.Duration // for Memory; 0 is 2 s
	Pace      time.Duration // within which each 32 KiB have to arrive; 0 is 30 s
}

func (l Limits) withDefaults() Limits {
	set := func(n *int64, d int64) {
		if *n == 0 {
			*n = d
		}
	}
	set(&l.MaxBody, 2<<30)
	set(&l.MaxOpened, defaultMaxBytes)
	set(&l.Memory, DefaultMemory)
	// What never fits is said to be too large, not to come again.
	l.MaxOpened = min(l.MaxOpened, mostOfOne(l.Memory)/opensTo)
	if l.Wait == 0 {
		l.Wait = memoryWait
	}
	return l
}

// Purpose is what a key of ours is for, by the names of partners/keys.
type Purpose string

// The purposes.
const (
	ForSigning    Purpose = "as2_sign"
	ForDecryption Purpose = "as2_decrypt"
)

// Key is a key of ours with its certificate and those of its issuers behind it.
type Key struct {
	Label        string
	Private      crypto.Signer
	Certificates []*x509.Certificate
}

// ServeHTTP opens the delivery, has it received, and acknowledges or refuses.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodHead, http.MethodGet:
		// Who asks whether the transfer may be resumed (draft-harding-as2-restart) learns
		// from a length of nothing that it may not; people see that something is here.
		text := []byte("This is an AS2 endpoint: POST messages here.\n")
		if r.Method == http.MethodHead {
			text = nil
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		h.told(w, http.StatusOK, text)
	default:
		w.Header().Set("Allow", "POST, HEAD, GET, OPTIONS") // RFC 9110 §15.5.6
		status := http.StatusMethodNotAllowed
		if r.Method == http.MethodOptions {
			status = http.StatusNoContent
		}
		h.told(w, status, nil)
	}
}

func (h *Handler) told(w http.ResponseWriter, status int, body []byte) {
	_ = wire.Send(w, status, body) // nobody waits for it
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	defer h.Metrics.Enter(Transport)()
	line := &gateway.Line{Transport: Transport, Partner: gateway.UnknownPartner}
	client, err := h.client(r)
	line.Remote = client.Address
	d := &opened{wanted: wantedOf(r.Header)}
	if err == nil {
		err = h.open(w, r, client, d)
	}
	defer d.close()
	unread := d.spooled == nil && r.ContentLength != 0
	if d.partner != nil {
		line.MessageID = d.key
		if d.unproved() {
			line.Claimed = d.partner.ID
		} else {
			line.Partner = d.partner.ID
		}
	}
	switch {
	case err != nil:
	case d.report != nil:
		err = h.notified(r.Context(), d)
	default:
		line.Bytes = d.delivery.Payload.Size()
		line.Receipt, err = h.receive(r.Context(), d)
	}
	if d.m != nil {
		line.Notes = d.m.Notes
		if d.m.Signer != nil {
			line.Signer = d.m.Signer.Label
		}
	}
	d.close() // before the answer: who has it may send again at once
	if err == nil {
		line.Status, line.Lost = h.acknowledge(w, d, line.Receipt)
	} else {
		line.Status, line.Lost = h.refuse(w, r, d, err, unread)
		line.Reason, line.Err = reasonOf(err)
	}
	line.Took = time.Since(start)
	if d.notified != nil && err == nil { // no delivery, and logged
		return
	}
	h.Metrics.Count(line, h.now())
	line.Write(r.Context(), h.log())
	if unread {
		wire.Linger(w, r)
	}
}

func (h *Handler) receive(ctx context.Context, d *opened) (*gateway.Receipt, error) {
	r, err := h.Receive(ctx, d.delivery)
	if theirs, ok := errors.AsType[*gateway.Rejection](err); ok {
		if d.fault != nil {
			return nil, d.fault // journalled: told as we have it
		}
		d.fault = &Fault{Reason: reasonOfAnswer(theirs.Answer), Detail: theirs.Detail, Cause: theirs}
		return nil, d.fault
	}
	if err == nil && (r == nil || r.Rendered.Status == 0) {
		return nil, errors.New("the delivery was received without an answer")
	}
	return r, err
}

// notified hands an MDN on. There is no MDN for an MDN: RFC 4130 §7.
func (h *Handler) notified(ctx context.Context, d *opened) error {
	n, err := ParseReport(d.report)
	if err != nil {
		return &refusal{status: http.StatusBadRequest, reason: "unreadable-mdn", text: "The MDN cannot be read.", cause: err}
	}
	awaited, why := false, error(nil)
	if h.Notify != nil {
		if awaited, why, err = h.Notify(ctx, d.partner, n, d.m); err != nil {
			return err
		}
	}
	d.notified = n
	about := []any{"partner", d.partner.ID, "original_message_id", short(n.Original), "disposition", short(n.Disposition.String()), "signed", d.m.Signed}
	switch {
	case !awaited:
		h.Metrics.Reject(Transport, d.partner.ID, unawaited.reason)
		h.log().WarnContext(ctx, unawaited.says, about...)
	case errors.Is(why, ErrUnproven):
		h.Metrics.Reject(Transport, d.partner.ID, unproven.reason)
		h.log().WarnContext(ctx, unproven.says, append(about, "because", why)...)
	case why != nil:
		h.log().WarnContext(ctx, "an MDN came that does not acknowledge what was sent", append(about, "because", why)...)
	default:
		h.log().InfoContext(ctx, "an MDN came", about...)
	}
	return nil
}

// unheeded is an MDN that ends nothing, as metrics and the log have it: anybody may post
// one.
type unheeded struct{ reason, says string }

var (
	unawaited = unheeded{reason: "unawaited-mdn", says: "an MDN came that nobody waits for"}
	unproven  = unheeded{reason: "unproven-mdn", says: "an MDN came that proves nothing of what was sent"}
)

// short is text of others as the log has it: 200 bytes at most.
func short(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 200)], "?")
}

func (h *Handler) client(r *http.Request) (proxy.Client, error) {
	of := h.Client
	if of == nil {
		of = proxy.Rule{}.Of
	}
	c, err := of(r)
	if errors.Is(err, proxy.ErrForged) {
		// AS2 authenticates by its signatures; a header of a proxy's that is not believed
		// says nothing, and is not looked at.
		err = nil
	}
	if err != nil {
		return c, &refusal{status: http.StatusBadRequest, reason: "doubtful-certificate-header", text: "The request's certificate header cannot be read.", cause: err}
	}
	return c, nil
}

func (h *Handler) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

func (h *Handler) log() *slog.Logger {
	if h.Log != nil {
		return h.Log
	}
	return slog.Default()
}
