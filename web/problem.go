package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

// ProblemBase stands before every problem type; docs/reference/api.md lists them.
const ProblemBase = "https://edigw.dev/problems/"

// problem is an error as it is told (RFC 9457).
type problem struct {
	Status    int     `json:"-"`
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Code      int     `json:"status"`
	Detail    string  `json:"detail,omitempty"`
	Faults    []fault `json:"errors,omitempty"`
	RowsDone  *int64  `json:"rows_done,omitempty"`  // of an import
	RequestID string  `json:"request_id,omitempty"` // of the log line, where the fault is ours

	RetryAfter string `json:"-"` // in seconds

	Shown bool          `json:"-"` // a token was, of whatever kind
	Needs accounts.Role `json:"-"` // the role that would be enough
}

// challenge is WWW-Authenticate (RFC 6750 §3). Whoever showed no token is not told
// that it was wrong.
func (p *problem) challenge(code string) string {
	if !p.Shown {
		return `Bearer realm="edigw"`
	}
	return `Bearer realm="edigw", error="` + code + `"`
}

// fault is one thing wrong in a partner's YAML.
type fault struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"`
	Detail string `json:"detail"`
}

// Error gives the detail.
func (p *problem) Error() string { return p.Type + ": " + p.Detail }

// Titles names every problem the API tells, by its type.
var Titles = map[string]string{
	"not-authenticated":     "A valid token is needed",
	"too-many-tries":        "Too many tokens proved nobody",
	"not-allowed":           "The token's role may not do this",
	"not-found":             "There is no such thing",
	"method-not-allowed":    "The method is not offered here",
	"not-acceptable":        "The answer has no type that the request takes",
	"unknown-parameter":     "A parameter is not known here",
	"bad-parameter":         "A parameter cannot be understood",
	"bad-body":              "The body cannot be understood",
	"too-large":             "The body is too large",
	"invalid-configuration": "The configuration has faults",
	"not-as-asked":          "It cannot be made as asked",
	"not-decided":           "It was not done, and nothing was changed",
	"changed-meanwhile":     "It was changed by somebody else meanwhile",
	"precondition-required": "It has to be said what the change was made on",
	"busy":                  "The message is being worked on",
	"not-the-next-row":      "The import is at another row",
	"no-longer-kept":        "Its retention has passed",
	"unavailable":           "The database does not answer in time",
	"failed":                "Something went wrong on our side",
}

// asProblem says how an error is told. Whatever has no type of its own is ours.
func asProblem(err error) *problem {
	var told *problem
	var no *gateway.Refusal
	var row *gateway.NotTheNextRow
	var refuses *purge.Refusal
	var faults partners.Faults
	var tooLarge *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &told):
		return told
	case errors.As(err, &no):
		return refused(no)
	case errors.As(err, &row):
		return &problem{Status: http.StatusConflict, Type: "not-the-next-row", Detail: row.Error(), RowsDone: &row.Rows}
	case errors.Is(err, gateway.ErrBusy):
		return &problem{Status: http.StatusConflict, Type: "busy", Detail: "a copy of the message is being received, or another decision on it taken; try again"}
	case errors.As(err, &faults):
		p := &problem{Status: http.StatusUnprocessableEntity, Type: "invalid-configuration", Detail: "nothing was changed: " + faults.Error()}
		for _, f := range faults {
			p.Faults = append(p.Faults, fault{f.Line, f.Column, f.Key, f.Text})
		}
		return p
	case errors.As(err, &tooLarge):
		return &problem{Status: http.StatusRequestEntityTooLarge, Type: "too-large", Detail: "at most " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes are taken here"}
	case errors.Is(err, partners.ErrUnknown), errors.Is(err, accounts.ErrUnknown), errors.Is(err, dedup.ErrNoAlert), errors.Is(err, dedup.ErrNoImport), errors.Is(err, purge.ErrNoRun), errors.Is(err, documents.ErrNotFound):
		return &problem{Status: http.StatusNotFound, Type: "not-found", Detail: err.Error()}
	case errors.As(err, &refuses):
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing may be purged: " + err.Error()}
	case errors.Is(err, purge.ErrPausedAlready), errors.Is(err, purge.ErrNotPaused), errors.Is(err, purge.ErrNotJumped):
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + err.Error()}
	case errors.Is(err, purge.ErrElsewhere), errors.Is(err, purge.ErrPaused):
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "no run was begun: " + err.Error()}
	case errors.Is(err, accounts.ErrLastAdmin):
		return &problem{Status: http.StatusConflict, Type: "not-decided", Detail: "nothing was changed: " + err.Error()}
	case errors.Is(err, accounts.ErrUnfit):
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: err.Error()}
	case errors.Is(err, journal.ErrPurged):
		return &problem{Status: http.StatusGone, Type: "no-longer-kept", Detail: "the payload is no longer kept: the partner's retention for payloads has passed; its digest and outcome still are"}
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded), gateway.IsMomentary(err):
		return &problem{Status: http.StatusServiceUnavailable, Type: "unavailable", Detail: "the database does not answer in time; try again"}
	}
	return &problem{Status: http.StatusInternalServerError, Type: "failed", Detail: "this is no fault of the request; the log has the cause under the request's id"}
}

// render tells an error. What is ours is logged, and only its id told.
func (a *API) render(w http.ResponseWriter, r *http.Request, err error) {
	p := *asProblem(err)
	h := w.Header()
	if p.Status >= 500 {
		if r.Context().Err() != nil {
			return // the client has gone; nobody is there to be told
		}
		p.RequestID = requestID(r)
		a.Log.ErrorContext(r.Context(), "request failed", "request_id", p.RequestID, "method", r.Method, "path", r.URL.Path, "err", err)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", p.challenge("invalid_token"))
	case http.StatusForbidden:
		if p.Needs != "" {
			h.Set("WWW-Authenticate", p.challenge("insufficient_scope")+`, scope="`+string(p.Needs)+`"`)
		}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h.Set("Retry-After", cmp.Or(p.RetryAfter, "5"))
	}
	p.Title, p.Code, p.Type = Titles[p.Type], p.Status, ProblemBase+p.Type
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Disposition")
	a.write(w, r, p.Status, p)
}

// write sends v as JSON.
func (a *API) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		a.Log.ErrorContext(r.Context(), "an answer could not be written as JSON", "path", r.URL.Path, "err", err)
		status, body = http.StatusInternalServerError, []byte(`{"type":"`+ProblemBase+`failed","title":"`+Titles["failed"]+`","status":500}`)
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		a.Log.DebugContext(r.Context(), "the client went away during the answer", "path", r.URL.Path, "err", err)
	}
}

// reply sends what a route found.
func (c *call) reply(status int, v any) error {
	c.api.write(c.w, c.r, status, v)
	return nil
}
