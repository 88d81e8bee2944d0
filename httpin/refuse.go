package httpin

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/edigw/edigw/gateway"
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
		leaveUnread(w, r, answer.problem)
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
		linger(w, r)
	}
}

const (
	unreadPatience = 2 * time.Second
	lingerTime     = 500 * time.Millisecond
	lingerBytes    = 1 << 20
	smallBody      = 64 << 10
)

// leaveUnread bounds what net/http does with a body that nobody read: what is
// small it reads, so that the connection can be used again.
func leaveUnread(w http.ResponseWriter, r *http.Request, problem string) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadPatience)) // the connection is gone, which the answer will find
	broken := problem == "incomplete-body" || problem == "request-timeout"
	if broken || r.ContentLength < 0 || r.ContentLength > smallBody {
		w.Header().Set("Connection", "close")
	}
}

// linger waits, when a refusal was sent, for a sender that is still sending.
// Closed at once, with its bytes unread, the connection would be reset, and the
// answer lost before it was read: net/http sees to that only for those who meant
// to keep the connection.
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

const (
	receiptJSON    = "application/json"
	problemJSON    = "application/problem+json"
	answerPatience = 30 * time.Second
)

// send writes an answer. Its error says that it did not reach the network.
func send(w http.ResponseWriter, a gateway.Rendered) error {
	header := w.Header()
	header.Set("Content-Type", a.ContentType)
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	switch a.Status {
	case http.StatusConflict:
		header.Set("Retry-After", strconv.Itoa(1+rand.IntN(4)))
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", strconv.Itoa(5+rand.IntN(26)))
	}
	control := http.NewResponseController(w)
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
