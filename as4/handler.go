package as4

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// Transport is the name of AS4 in keys, metrics and logs.
const Transport = "as4"

// Handler is the transport. ByParties, Signers, Decrypters, Receive and Spool have to
// be set.
type Handler struct {
	// ByParties finds whose messages have these eb:From and eb:To:
	// partners.Directory.ByAS4.
	ByParties func(from, fromType, to, toType string) *partners.Partner
	// Signers give what an organisation of ours signs with, the key whose use began last
	// first; none where it has none.
	Signers func(ctx context.Context, organisation string) ([]*wssec.Signing, error)
	// Decrypters gives the keys that partners may have encrypted to. Where there is none,
	// what is encrypted is told to come again.
	Decrypters func(ctx context.Context, organisation string) ([]wssec.DecryptionKey, error)
	// Client says who sent a request: proxy.Rule.Of; nil believes no proxy.
	Client func(*http.Request) (proxy.Client, error)
	// Receive is gateway.Gateway.Receive.
	Receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)
	// Admit lets a delivery in before its parts are read, by its envelope, which may be a
	// copy that somebody else sends: gateway.Gateway.AdmitUnproved. nil admits all.
	Admit func(p *partners.Partner, address string) (*gateway.Entry, bool)
	// Reserve takes a known transport id before large parts are read; not ok while
	// another copy is being received, or a few are being read:
	// gateway.Gateway.ReserveUnproved. nil reserves nothing.
	Reserve func(partner, transportKey string) (release func(), ok bool)

	Spool   *gateway.Spool
	Limits  Limits
	Metrics *gateway.Metrics // nil for none
	Now     func() time.Time // nil is time.Now
	NewID   func() uuid.UUID // nil makes UUIDv4
	Log     *slog.Logger     // nil is slog.Default

	unproved gateway.Crowd // of requests whose sender is not authenticated, by their bytes
	turns    sync.Once     // makes reading
	reading  chan struct{}
}

// ServeHTTP opens the delivery, has it received, and acknowledges or refuses.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	defer h.Metrics.Enter(Transport)()
	client, err := h.client(r)
	line := &gateway.Line{Transport: Transport, Partner: gateway.UnknownPartner, Remote: client.Address}

	o := &opened{answering: answering{h: h}}
	if err == nil {
		o, err = h.open(w, r, client)
	}
	defer o.close()
	if o.request != nil {
		line.Bytes = o.request.Size()
	}
	unread := (o.request == nil || !o.request.ended) && r.ContentLength != 0
	switch {
	case err != nil && o.partner != nil && o.proved == nil:
		line.Claimed = o.partner.ID // it is not proved to be it
	case o.partner != nil:
		line.Partner, line.MessageID = o.partner.ID, o.key
	}
	line.Signer = o.signer
	var answer gateway.Rendered
	switch {
	case err == nil && o.ping != nil:
		answer, line.Word = *o.ping, "tested"
	case err == nil:
		if line.Receipt, err = h.receive(r.Context(), o.delivery); err == nil {
			answer = line.Receipt.Rendered
		}
	}
	if err != nil {
		err = h.quarantine(r.Context(), o, client, err)
		line.Reason, line.Err = reasonOf(err)
		answer, err = o.refusal(r.Context(), err)
	}
	o.close() // before the answer: who has it may send again at once
	if err == nil {
		line.Status, line.Lost = answer.Status, send(w, r, answer, unread)
	} else { // the answer could not be made: the log says why, and the sender comes again
		line.Err = errors.Join(line.Err, err)
		line.Status, line.Lost = statusAgain, send(w, r, gateway.Rendered{Status: statusAgain, ContentType: answerType}, unread)
	}
	line.Took = time.Since(start)
	h.Metrics.Count(line, h.now())
	line.Write(r.Context(), h.log())
	if unread {
		wire.Linger(w, r)
	}
}

func (h *Handler) receive(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
	r, err := h.Receive(ctx, d)
	if err == nil && (r == nil || r.Rendered.Status == 0) {
		return nil, errors.New("the delivery was received without an answer")
	}
	return r, err
}

func (h *Handler) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

// messageID makes the MessageId of a signal: RFC 2822 §3.6.4.
func (h *Handler) messageID() string {
	id := uuid.New
	if h.NewID != nil {
		id = h.NewID
	}
	return id().String() + "@edigw"
}

func (h *Handler) log() *slog.Logger {
	if h.Log != nil {
		return h.Log
	}
	return slog.Default()
}

// client says who sent the request.
func (h *Handler) client(r *http.Request) (proxy.Client, error) {
	of := h.Client
	if of == nil {
		of = proxy.Rule{}.Of
	}
	c, err := of(r)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, proxy.ErrForged):
		return c, &Error{Code: FailedAuthentication, Reason: "forged-certificate-header", Detail: "the request cannot be authenticated", Cause: err}
	}
	return c, &Error{Code: FailedAuthentication, Reason: "doubtful-certificate-header", Detail: "the request cannot be authenticated", Cause: err}
}
