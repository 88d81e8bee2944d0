package httpin

import (
	"errors"
	"net/http"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/wire"
)

// refusal is an answer that this package gives itself.
type refusal struct {
	problem string // of Problems
	reason  string // for metrics and log, where it says more than the partner may know
	detail  string // for the partner; "" is the problem's own
	limit   int64
	cause   error // for the log
}

// Error is for the log: the cause, if there is one.
func (r *refusal) Error() string {
	if r.cause != nil {
		return r.problem + ": " + r.cause.Error()
	}
	return r.problem
}

// Unwrap gives the cause.
func (r *refusal) Unwrap() error { return r.cause }

func (r *refusal) text() string {
	if r.detail != "" {
		return r.detail
	}
	p, _ := problemNamed(r.problem)
	return p.Detail
}

// reasonOf splits an error into what the log line says of it: a reason of a
// fixed list for what was refused, the error itself for the rest.
func reasonOf(err error) (string, error) {
	var r *refusal
	if !errors.As(err, &r) {
		return "", err
	}
	if r.reason != "" {
		return r.reason, r.cause
	}
	return r.problem, r.cause
}

// refuse answers an error of open or Receive. unread tells that the body was
// not read to its end. What is ours is told without saying why.
func refuse(w http.ResponseWriter, r *http.Request, err error, unread bool) (status int, lost error) {
	answer := answerTo(err)
	if unread {
		wire.LeaveUnread(w, r, answer.problem == "incomplete-body" || answer.problem == "request-timeout")
	}
	switch p, _ := problemNamed(answer.problem); p.Name {
	case "unauthorized":
		// RFC 9110 §11.6.1: a challenge for each scheme.
		w.Header().Add("WWW-Authenticate", `Bearer realm="edigw"`)
		w.Header().Add("WWW-Authenticate", `Basic realm="edigw", charset="UTF-8"`)
	case "unsupported-content-encoding":
		w.Header().Set("Accept-Encoding", "gzip") // RFC 9110 §15.5.16
	}
	rendered, err := answer.render()
	if err != nil {
		return 0, err
	}
	return rendered.Status, send(w, rendered)
}

// answer is a problem without a receipt.
type answer struct {
	problem, detail string
	status          int
	title           string
	limit           int64
}

func answerTo(err error) answer {
	var ours *refusal
	var theirs *gateway.Rejection
	name, detail, limit := "unavailable", "", int64(0)
	switch {
	case errors.Is(err, gateway.ErrBusy):
		name = "in-progress"
	case errors.As(err, &ours):
		name, detail, limit = ours.problem, ours.detail, ours.limit
	case errors.Is(err, gateway.ErrCrowded):
		name = "too-many-at-once"
	case errors.As(err, &theirs):
		// The reason of a fault is a problem of ours: digest-mismatch.
		if _, known := problemNamed(theirs.Reason); known {
			name, detail = theirs.Reason, theirs.Detail
			break
		}
		told := theirs.Answer.Told()
		if told.Title == "" {
			break // no negative answer of the table: ours, then
		}
		return answer{told.Problem, join(theirs.Detail, advice[told.Problem]), told.HTTP, told.Title, 0}
	}
	p, _ := problemNamed(name)
	if detail == "" {
		detail = p.Detail
	}
	return answer{p.Name, detail, p.Status, p.Title, limit}
}

func (a answer) render() (gateway.Rendered, error) {
	body, err := encode(details{ProblemBase + a.problem, a.title, a.status, a.detail, a.limit})
	if err != nil {
		return gateway.Rendered{}, err
	}
	return gateway.Rendered{Status: a.status, ContentType: problemJSON, Body: append(body, '\n')}, nil
}

// refuseUnread is the answer to a request that is not for this handler.
func refuseUnread(w http.ResponseWriter, r *http.Request, err error) {
	unread := r.ContentLength != 0
	_, _ = refuse(w, r, err, unread) // nobody waits for what this sender did not read
	if unread {
		wire.Linger(w, r)
	}
}

const (
	receiptJSON = "application/json"
	problemJSON = "application/problem+json"
)

// send writes an answer. Its error says that it did not reach the network.
func send(w http.ResponseWriter, a gateway.Rendered) error {
	w.Header().Set("Content-Type", a.ContentType)
	return wire.Send(w, a.Status, a.Body)
}
