// Package httpin receives interchanges over plain HTTP: POST /in/{partner} with
// the interchange as the request's body. docs/reference/http.md tells a partner
// all of it.
//
// It authenticates by token or client certificate, takes the id of the message from Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header-07) or EDI-Message-Id, checks
// Content-Digest (RFC 9530), reads the body within limits, and answers with a
// receipt in JSON or with problem details (RFC 9457). A repeat gets the first
// answer with status 200 instead of 201.
//
// What a delivery is and does is decided behind Handler.Receive. This package
// reads no EDI and knows no SQL.
package httpin

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// Transport is the name of plain HTTP in keys, metrics and logs.
const Transport = "http"

// Handler is the transport. ByToken, Receive and Spool have to be set.
type Handler struct {
	// ByToken finds whose token it is: partners.Directory.ByToken.
	ByToken func(plain string) (*partners.Partner, bool)
	// ByCertificate finds the partner of an id by the certificate its sender showed:
	// partners.Directory.ByCertificate; nil takes no certificates.
	ByCertificate func(shown *x509.Certificate, id string) (*partners.Partner, *partners.Certificate, error)
	// Client says who sent a request: proxy.Rule.Of; nil believes no proxy.
	Client func(*http.Request) (proxy.Client, error)
	// Partner finds a partner by id: partners.Directory.Partner. It is asked only
	// after a refused sender has had its answer, so that the log can name the
	// partner it claimed to be; nil leaves that out.
	Partner func(id string) *partners.Partner
	// Receive is gateway.Gateway.Receive.
	Receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)
	// Admit lets a partner's delivery in before its body is read; not ok while the
	// partner has its share of deliveries here, and this one is then refused unread.
	// nil admits all.
	Admit func(*partners.Partner) (leave func(), ok bool)
	// Reserve takes a known transport id before a large body is read; not ok while
	// another copy is being read or received, and this one is then refused unread.
	// nil reserves nothing.
	Reserve func(partner, transportKey string) (release func(), ok bool)

	Spool   *gateway.Spool
	Limits  Limits
	Metrics *gateway.Metrics // nil for none
	Now     func() time.Time // nil is time.Now
	Log     *slog.Logger     // nil is slog.Default
}

// Routes is the ingress: POST /in/{partner} and, until others are added,
// nothing else. Whatever is not there has one constant answer.
func Routes(h *Handler) *chi.Mux {
	mux := chi.NewRouter()
	mux.Use(decodeUnreserved)
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		refuseUnread(w, r, &refusal{problem: "not-found"})
	})
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost) // RFC 9110 §15.5.6
		refuseUnread(w, r, &refusal{problem: "method-not-allowed"})
	})
	mux.Method(http.MethodPost, "/in/{partner}", h)
	return mux
}

// ServeHTTP opens the delivery, has it received, and acknowledges or refuses.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	defer h.Metrics.Enter(Transport)()
	client, err := h.client(r)
	line := &gateway.Line{Transport: Transport, Partner: gateway.UnknownPartner, Remote: client.Address}

	d := &opened{}
	if err == nil {
		d, err = h.open(w, r, client)
	}
	defer d.close()
	unread := d.spooled == nil && r.ContentLength != 0
	if d.partner != nil {
		line.Partner, line.MessageID = d.partner.ID, d.key
	}
	if err == nil {
		line.Bytes = d.delivery.Payload.Size()
		line.Receipt, err = h.receive(r.Context(), d)
	}
	d.close() // before the answer: who has it may send again at once
	if err == nil {
		line.Status, line.Lost = acknowledge(w, line.Receipt)
	} else {
		line.Status, line.Lost = refuse(w, r, err, unread)
		line.Reason, line.Err = reasonOf(err)
		line.Claimed = h.claimed(r, d.partner)
	}
	line.Took = time.Since(start)
	h.Metrics.Count(line, h.now())
	line.Write(r.Context(), h.log())
	if unread {
		wire.Linger(w, r)
	}
	if d.partner == nil {
		h.stranger(r, client.Address, err)
	}
}

func (h *Handler) receive(ctx context.Context, d *opened) (*gateway.Receipt, error) {
	r, err := h.Receive(ctx, d.delivery)
	if err == nil && (r == nil || r.Rendered.Status == 0) {
		return nil, errors.New("the delivery was received without an answer")
	}
	return r, err
}

// claimed is the configured partner whose name an unauthenticated sender used.
func (h *Handler) claimed(r *http.Request, authenticated *partners.Partner) string {
	if authenticated != nil || h.Partner == nil {
		return ""
	}
	if p := h.Partner(chi.URLParam(r, "partner")); p != nil {
		return p.ID
	}
	return ""
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

// client says who sent the request. Its error is a *refusal.
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
		return c, &refusal{problem: "unauthorized", reason: forged, cause: err}
	}
	return c, &refusal{problem: "unauthorized", reason: "doubtful-certificate-header", cause: err}
}
