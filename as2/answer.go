package as2

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/wire"
)

// MDNTarget is the outbox target that brings asynchronous MDNs.
const MDNTarget = "as2-mdn"

// maxErrors are the Error fields of an MDN at most.
const maxErrors = 10

// refusal is an answer without an MDN: the request is not one that can have one, or its
// sender is nobody.
type refusal struct {
	status   int
	reason   string // of a fixed list, for metrics and log
	text     string // for who sent it
	stranger bool   // nobody we know: one constant answer
	broken   bool   // the body did not come
	cause    error
}

// Error is for the log.
func (r *refusal) Error() string {
	if r.cause != nil {
		return r.reason + ": " + r.cause.Error()
	}
	return r.reason
}

// Unwrap gives the cause.
func (r *refusal) Unwrap() error { return r.cause }

// reasonOf splits an error into what the log line says of it.
func reasonOf(err error) (string, error) {
	var r *refusal
	var f *Fault
	switch {
	case errors.As(err, &r):
		return r.reason, r.cause
	case errors.As(err, &f):
		return f.Reason, f
	}
	return "", err
}

// render makes the MDN of a receipt, once for each thing that it may say; where none is
// asked for, an empty body and a status that says it.
func (o *opened) render(r *gateway.Receipt) (gateway.Rendered, error) {
	if o.fault != nil {
		return o.told(o.fault)
	}
	signal, told := r.Signal()
	switch {
	case signal == gateway.SignalTryAgain:
		return gateway.Rendered{Status: http.StatusServiceUnavailable}, nil
	case !o.wanted.MDN && signal == gateway.SignalPositive:
		return gateway.Rendered{Status: http.StatusOK}, nil
	case !o.wanted.MDN:
		return gateway.Rendered{Status: told.HTTP, ContentType: "text/plain; charset=us-ascii", Body: []byte(strings.Join(complaints(r), "\r\n") + "\r\n")}, nil
	}
	m := o.mdn(processed)
	if signal == gateway.SignalNegative {
		m.Disposition.Modifier, m.Errors = told.AS2, complaints(r)
		m.Text = "The message was received as you sent it, and was not accepted:"
	}
	key := fmt.Sprint(m.Disposition, m.Errors)
	if known, ok := o.answers[key]; ok {
		return known, nil
	}
	made, err := o.notice(m)
	if err != nil {
		return gateway.Rendered{}, err
	}
	if o.answers == nil {
		o.answers = map[string]gateway.Rendered{}
	}
	o.answers[key] = made
	return made, nil
}

// mdn is what every MDN for this message says.
func (o *opened) mdn(d Disposition) MDN {
	m := MDN{From: o.from, To: o.to, Original: o.id.Raw, Disposition: d,
		Text: "The message was received as you sent it. Whether what it says is accepted is told by a functional acknowledgement, where we agreed on one."}
	if o.m != nil {
		m.MIC = o.m.MIC
	}
	if o.notFor != "" {
		m.Text += " This notification is in the response to it. " + o.notFor
	}
	return m
}

// notice signs an MDN, where that is asked for.
func (o *opened) notice(m MDN) (gateway.Rendered, error) {
	s, err := o.signature()
	if err != nil {
		return gateway.Rendered{}, err
	}
	return m.Render(s)
}

// complaints say what is wrong with a message: of each interchange that is refused, and
// of its first errors where they stand.
func complaints(r *gateway.Receipt) (list []string) {
	for i, it := range r.Items {
		told := it.Answer.Told()
		if told.AS2 == "" && it.Answer != gateway.ToldPartly || it.Acknowledged {
			continue
		}
		var ic gateway.InterchangeReceipt
		if json.Unmarshal(it.JSON, &ic) != nil {
			continue // what is told without it suffices
		}
		head := told.Title
		if ic.Detail != "" {
			head = ic.Detail
		}
		if head == "" {
			head = "Some of its messages were not accepted"
		}
		if len(r.Items) > 1 {
			head = fmt.Sprintf("Interchange %d of %d: %s", i+1, len(r.Items), head)
		}
		list = append(list, sentence(head))
		for _, f := range ic.Findings {
			if f.Refuses() {
				list = append(list, placed(f))
			}
		}
	}
	if len(list) == 0 {
		list = []string{sentence(r.Answer.Told().Title)}
	}
	if len(list) > maxErrors {
		list = append(list[:maxErrors-1], fmt.Sprintf("There are %d more.", len(list)-maxErrors+1))
	}
	if r.AlertID != uuid.Nil {
		list = append(list, "If you ask us, name alert "+r.AlertID.String()+".")
	}
	return list
}

// placed gives a finding with its place.
func placed(f gateway.Finding) string {
	l := f.Location
	if l == nil {
		return sentence(f.Message)
	}
	at := fmt.Sprintf("at byte %d", l.Offset)
	if l.Segment > 0 {
		at = strings.TrimSpace(fmt.Sprintf("segment %d %s", l.Segment, l.Tag)) + ", " + at
	}
	if f.MessageIndex > 0 {
		at = fmt.Sprintf("message %d (%s), %s", f.MessageIndex, f.MessageReference, at)
	}
	return strings.TrimRight(f.Message, ".") + " (" + at + ")."
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// acknowledge sends the answer that was committed: with the response, or, where it goes
// elsewhere, 204 and nothing in it.
func (h *Handler) acknowledge(w http.ResponseWriter, o *opened, r *gateway.Receipt) (status int, lost error) {
	if r == nil { // an MDN
		return http.StatusOK, wire.Send(w, http.StatusOK, nil)
	}
	answer := r.Rendered
	if o.delivery.Elsewhere != nil && answer.Status == http.StatusOK {
		answer = gateway.Rendered{Status: http.StatusNoContent}
	}
	if r.Delivery != uuid.Nil {
		w.Header().Set("Edigw-Delivery", r.Delivery.String())
	}
	return answer.Status, write(w, answer)
}

// write sends an entity with its fields.
func write(w http.ResponseWriter, a gateway.Rendered) error {
	if a.ContentType != "" {
		w.Header().Set("Content-Type", a.ContentType)
	}
	for _, f := range a.Fields {
		// Set would write As2-From: some look for the spelling of RFC 4130.
		w.Header()[f.Name] = []string{f.Value}
	}
	return wire.Send(w, a.Status, a.Body)
}

// refuse answers an error of open or Receive. unread tells that the body was not read to
// its end. What is ours is 503, for the sender to come again.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, o *opened, err error, unread bool) (status int, lost error) {
	var ours *refusal
	errors.As(err, &ours)
	if unread {
		wire.LeaveUnread(w, r, ours != nil && ours.broken)
	}
	answer := gateway.Rendered{Status: http.StatusServiceUnavailable}
	var failed error
	switch f := faultOf(err); {
	case ours != nil && ours.stranger:
		answer, failed = h.stranger(o)
	case ours != nil:
		answer = plainly(ours.status, ours.text)
	case f != nil:
		answer, failed = o.told(f)
		if failed == nil && o.delivery.Elsewhere != nil {
			answer = gateway.Rendered{Status: http.StatusNoContent}
		}
	}
	if failed != nil {
		h.log().ErrorContext(r.Context(), "an MDN could not be made", "error", failed)
		answer = gateway.Rendered{Status: http.StatusServiceUnavailable}
	}
	return answer.Status, errors.Join(failed, write(w, answer))
}

// told makes the answer to a message that was refused before it was received.
func (o *opened) told(f *Fault) (gateway.Rendered, error) {
	if !o.wanted.MDN {
		return plainly(f.status(), f.Detail), nil
	}
	reason, _ := reasonNamed(f.Reason)
	m := o.mdn(Disposition{reason.Kind, reason.Modifier})
	m.Text, m.Errors = "The message was not accepted:", []string{f.Detail}
	return o.notice(m)
}

// refused is the status under which a refusal is told: that of the MDN, if one is asked
// for, else its own.
func (o *opened) refused(r *gateway.Rejection) int {
	switch {
	case o.delivery.Elsewhere != nil:
		return http.StatusNoContent
	case o.wanted.MDN:
		return http.StatusOK
	case o.fault != nil:
		return o.fault.status()
	}
	return (&Fault{Reason: reasonOfAnswer(r.Answer)}).status()
}

// stranger is the answer to nobody: the same whichever name is not known, never signed,
// and never sent anywhere.
func (h *Handler) stranger(o *opened) (gateway.Rendered, error) {
	if h.UnknownBy403 || !o.wanted.MDN {
		return plainly(http.StatusForbidden, "Nobody of this AS2-From sends to this AS2-To."), nil
	}
	reason, _ := reasonNamed(unknownPartner)
	m := MDN{From: o.from, To: o.to, Original: o.id.Raw, Disposition: Disposition{reason.Kind, reason.Modifier},
		Text: "The message was not accepted:", Errors: []string{"Nobody of this AS2-From sends to this AS2-To. Names are case-sensitive."}}
	return m.Render(nil)
}

func plainly(status int, text string) gateway.Rendered {
	if text == "" {
		return gateway.Rendered{Status: status}
	}
	return gateway.Rendered{Status: status, ContentType: "text/plain; charset=utf-8", Body: []byte(text + "\n")}
}
