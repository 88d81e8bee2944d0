package as4

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/proxy"

	"crypto/sha256"
)

// reasonOf splits an error into what the log line says of it: a reason of a fixed
// list for what was refused, the error itself for the rest.
func reasonOf(err error) (string, error) {
	var e *Error
	var n *notSOAP
	var i *interrupted
	var s *errorSent
	switch {
	case errors.As(err, &e):
		return e.reason(), err
	case errors.As(err, &n):
		return "soap-fault", err
	case errors.As(err, &i):
		return i.reason, i.err
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
	var i *interrupted
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
	case errors.As(err, &i):
		return o.errors(statusFault, faulty(MimeInconsistency, "the request ended after %d bytes, before its announced end; nothing was processed: send it again", i.read))
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
	d := &gateway.Delivery{Transport: Transport, Partner: o.partner, TransportID: o.key, Received: h.now(), Remote: client.Address,
		Fault: &gateway.Rejection{Answer: answer, Reason: e.reason(), Detail: e.Code + ": " + e.Detail}, Refusal: o.refused}
	if o.wire.kept != nil && o.wire.ended {
		d.Payload, d.SHA256 = edi.Bytes(o.wire.kept), sha256.Sum256(o.wire.kept)
	}
	var theirs *gateway.Rejection
	if _, err := h.Receive(context.WithoutCancel(ctx), d); err != nil && !errors.As(err, &theirs) {
		return fmt.Errorf("journal the refusal %q: %w", e.Error(), err)
	}
	return refused
}

const (
	unreadPatience = 2 * time.Second
	lingerTime     = 500 * time.Millisecond
	lingerBytes    = 1 << 20
	smallBody      = 64 << 10
	answerPatience = 30 * time.Second
)

// send writes an answer. unread tells that the body was not read to its end. Its
// error says that it did not reach the network.
func send(w http.ResponseWriter, r *http.Request, a gateway.Rendered, unread bool) error {
	control := http.NewResponseController(w)
	header := w.Header()
	if unread {
		_ = control.SetReadDeadline(time.Now().Add(unreadPatience)) // the connection is gone, which the answer will find
		if r.ContentLength < 0 || r.ContentLength > smallBody {
			header.Set("Connection", "close")
		}
	}
	if a.ContentType != "" {
		header.Set("Content-Type", a.ContentType)
	}
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	for _, f := range a.Fields {
		header.Set(f.Name, f.Value)
	}
	if a.Status == statusAgain {
		header.Set("Retry-After", strconv.Itoa(5+rand.IntN(26)))
	}
	if err := control.SetWriteDeadline(time.Now().Add(answerPatience)); err != nil {
		return err
	}
	w.WriteHeader(a.Status)
	if _, err := w.Write(a.Body); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	// It would stand over the next request of the connection.
	return control.SetWriteDeadline(time.Time{})
}

// linger waits, when a refusal was sent, for a sender that is still sending. Closed
// at once, with its bytes unread, the connection would be reset, and the answer lost
// before it was read.
func linger(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return // it waits for us
	}
	until := time.Now().Add(lingerTime)
	_ = http.NewResponseController(w).SetReadDeadline(until) // the connection is gone
	if _, err := io.CopyN(io.Discard, r.Body, lingerBytes); err == nil {
		time.Sleep(time.Until(until)) // it is held up by its own window, and may look up
	}
}
