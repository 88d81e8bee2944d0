package as4

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// reasonOf splits an error into what the log line says of it: a reason of a fixed
// list for what was refused, the error itself for the rest.
func reasonOf(err error) (string, error) {
	var e *Error
	var n *notSOAP
	var s *errorSent
	switch {
	case errors.As(err, &e):
		return e.reason(), err
	case errors.As(err, &n):
		return "soap-fault", err
	case errors.Is(err, wire.ErrSlow):
		return "request-timeout", err
	case errors.Is(err, wire.ErrIncomplete):
		return "incomplete-body", err
	case errors.As(err, &s):
		return "error-signal", err
	}
	return "", err
}

// refusal renders what the sender is told of an error of open or Receive. What is
// ours is told without saying why.
func (o *opened) refusal(ctx context.Context, err error) (gateway.Rendered, error) {
	var e *Error
	var n *notSOAP
	var s *errorSent
	var theirs *gateway.Rejection
	if errors.As(err, &e) || errors.As(err, &theirs) {
		if err := o.withKey(ctx); err != nil {
			// An unsigned error says what is wrong, where a signed one cannot be made.
			o.h.log().WarnContext(ctx, "an AS4 error leaves unsigned", "error", err)
		}
	}
	switch {
	case errors.As(err, &e):
		return o.errors(statusError, e)
	case errors.As(err, &n):
		return o.notSOAP(n)
	case errors.Is(err, wire.ErrSlow), errors.Is(err, wire.ErrIncomplete):
		return o.errors(statusFault, faulty(MimeInconsistency, "the request ended after %d bytes, before its announced end; nothing was processed: send it again", o.request.Size()))
	case errors.As(err, &s):
		return gateway.Rendered{Status: http.StatusAccepted}, nil
	case errors.As(err, &theirs) && theirs.Answer.Told().AS4 != "":
		code, text := theirs.Answer.Told().AS4, theirs.Detail
		if text == "" {
			text = theirs.Answer.Told().Title
		}
		return o.errors(statusError, &Error{Code: code, Detail: text})
	case errors.Is(err, gateway.ErrBusy):
		return o.errors(statusAgain, faulty(DeliveryFailure, "the first copy of this message is still being processed; send it again later"))
	case errors.Is(err, gateway.ErrCrowded):
		return o.errors(statusAgain, faulty(DeliveryFailure, "more of your messages are on their way than are taken at once; send it again later"))
	}
	// eDelivery AS4 1.15 §1.4.3.2: who cannot complete processing says so by 0202.
	return o.errors(statusAgain, faulty(DeliveryFailure, "the message could not be processed now; send it again later"))
}

// journalled are the codes of faults under a known name that are worth a line in the
// partner's journal: what fails verification, and what is not as agreed.
var journalled = map[string]gateway.Answer{
	FailedAuthentication: gateway.ToldFaulty, FailedDecryption: gateway.ToldFaulty, PolicyNoncompliance: gateway.ToldFaulty,
	DecompressionFailure: gateway.ToldFaulty, ProcessingModeMismatch: gateway.ToldFaulty, ExternalPayloadError: gateway.ToldFaulty,
	ValueNotRecognized: gateway.ToldFaulty, ValueInconsistent: gateway.ToldFaulty, InvalidHeader: gateway.ToldFaulty, MimeInconsistency: gateway.ToldFaulty,
}

// quarantine has what was refused under a known name journalled, within the partner's
// cap of the day, with the request as it came where it is small. No key is made: the
// genuine message is still First. It gives what is to be told: what cannot be written
// down is not refused, and its sender comes again.
func (h *Handler) quarantine(ctx context.Context, o *opened, client proxy.Client, refused error) error {
	var e *Error
	if o.partner == nil || !errors.As(refused, &e) {
		return refused
	}
	answer, ok := journalled[e.Code]
	if !ok {
		return refused
	}
	d := &gateway.Delivery{Transport: Transport, Partner: o.partner, TransportID: o.key, Received: h.now(), Remote: client.Address, Signer: o.signer,
		Fault: &gateway.Rejection{Answer: answer, Reason: e.reason(), Detail: e.Code + ": " + e.Detail}, Refusal: o.refused}
	if o.request.kept != nil && o.request.ended {
		d.Payload, d.SHA256 = edi.Bytes(o.request.kept), sha256.Sum256(o.request.kept)
		d.Evidence = []gateway.Exhibit{gateway.AsRequest(wire.ReadingHeader(o.request.header), d.Payload)}
	}
	var theirs *gateway.Rejection
	if _, err := h.Receive(context.WithoutCancel(ctx), d); err != nil && !errors.As(err, &theirs) {
		return fmt.Errorf("journal the refusal %q: %w", e.Error(), err)
	}
	return refused
}

// send writes an answer. unread tells that the body was not read to its end. Its
// error says that it did not reach the network.
func send(w http.ResponseWriter, r *http.Request, a gateway.Rendered, unread bool) error {
	if unread {
		wire.LeaveUnread(w, r, false)
	}
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	for _, f := range a.Fields {
		w.Header().Set(f.Name, f.Value)
	}
	return wire.Send(w, a.Status, a.Body)
}
