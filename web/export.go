package web

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/documents"
)

// exportFilters are the conditions of the list, and how the documents are written.
var exportFilters = slices.Concat(documentConditions, []Parameter{
	{"format", Text, []string{"jsonl", "csv", "ubl"}},
	{"rows", Text, []string{"documents", "lines"}},
	{"cells", Text, []string{"guarded", "as-sent"}},
	{"after", ID, nil},
})

// exportFormat is a form in which documents leave together.
type exportFormat struct {
	contentType, ending string
	whole               bool // lines and packages are read
	begin               func(*export) exportWriter
}

// exportWriter writes documents one by one. What it holds back is told by last; the file
// has no end before close. errFull from write says that it takes no more.
type exportWriter interface {
	write(*documents.Stored) error
	last() error
	close() error
}

var errFull = errors.New("the format takes no more documents")

// exportFormat gives the one asked for. A parameter that would do nothing is refused.
func (c *call) exportFormat() (f exportFormat, err error) {
	name := cmp.Or(c.text["format"], "jsonl")
	for _, p := range []string{"rows", "cells"} {
		if c.text[p] != "" && name != "csv" {
			return f, unfitParameter("parameter %q is for format=csv", p)
		}
	}
	switch name {
	case "csv":
		lines := c.text["rows"] == "lines"
		return exportFormat{"text/csv; charset=utf-8", ".csv", lines, func(e *export) exportWriter { return newCSVExport(e, lines) }}, nil
	case "ubl":
		if class := c.text["class"]; class != "" && class != documents.ClassInvoice {
			return f, unfitParameter("format=ubl is for invoices, not for class=%s", class)
		}
		return exportFormat{"application/zip", ".zip", true, newUBLExport}, nil
	}
	return exportFormat{"application/jsonl", ".jsonl", true, func(e *export) exportWriter { return newJSONLines(e) }}, nil
}

// export is one on its way.
type export struct {
	*call
	out     *bufio.Writer
	at      time.Time
	count   int    // documents in it
	leftOut int    // that the format has no form for
	next    string // id of the last document that was looked at, where it takes no more
}

// Trailers tell how much there should be, to whoever reads them (RFC 9110 §6.5).
const (
	exportedTrailer = "Edigw-Documents"
	leftOutTrailer  = "Edigw-Left-Out"
	nextTrailer     = "Edigw-Next" // only where there is more: what to give as after
)

// exportDocuments sends all documents that the parameters select, partner by partner,
// the oldest first, as they are read: any number of them. That documents left is in the
// audit log before the first one does, and how many before the answer has its end.
func (c *call) exportDocuments() error {
	f, err := c.documentFilter()
	if err != nil {
		return err
	}
	format, err := c.exportFormat()
	if err != nil {
		return err
	}
	if format.ending == ".zip" {
		f.Class = documents.ClassInvoice
	}
	mediaType, _, _ := strings.Cut(format.contentType, ";")
	if taken := c.r.Header.Values("Accept"); len(taken) > 0 && !accepts(strings.Join(taken, ","), mediaType) {
		return &problem{Status: http.StatusNotAcceptable, Type: "not-acceptable", Detail: "the answer is " + mediaType + ", which the request's Accept does not take; format= asks for another"}
	}
	if !c.r.ProtoAtLeast(1, 1) {
		// Whoever reads until the connection ends cannot know that it broke (RFC 9112 §8).
		return &problem{Status: http.StatusHTTPVersionNotSupported, Type: "not-as-asked", Detail: "an answer over " + c.r.Proto + " cannot show that it broke off: ask over HTTP/1.1 or later; behind nginx, `proxy_http_version 1.1`"}
	}
	partners, err := c.partners()
	if err != nil {
		return err
	}
	slices.Sort(partners)
	if partners, f.After, err = c.behind(partners); err != nil {
		return err
	}
	e := &export{call: c, at: time.Now().UTC()}
	flow := &outflow{w: c.w, pace: cmp.Or(c.api.pace, defaultPace), begin: func() { e.header(format) }}
	if c.r.Method == http.MethodHead {
		e.header(format)
		return nil
	}
	if err := e.record("documents.read"); err != nil {
		return err
	}
	e.out = bufio.NewWriterSize(flow, paceBytes)
	err = e.run(format, f, partners, flow)
	if err == nil || !flow.begun {
		return err
	}
	switch { // The status has left: only a broken connection tells that documents are missing.
	case flow.err != nil || c.ctx().Err() != nil:
		c.api.Log.InfoContext(c.ctx(), "who asked for an export does not take it any more", "by", c.who.Person, "documents", e.count, "bytes", flow.bytes, "err", err)
	default:
		c.api.Log.ErrorContext(c.ctx(), "an export broke off", "request_id", requestID(c.r), "by", c.who.Person, "documents", e.count, "bytes", flow.bytes, "err", err)
	}
	panic(http.ErrAbortHandler)
}

// behind gives the partners from whose documents on an export goes that begins behind the
// document of the parameter after, and that document's id.
func (c *call) behind(partners []string) ([]string, string, error) {
	text := c.text["after"]
	if text == "" {
		return partners, "", nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, "", fmt.Errorf("parameter after was taken for an id: %w", err)
	}
	d, err := c.documentByID(id)
	var unknown *problem
	switch {
	case errors.As(err, &unknown):
		return nil, "", unfitParameter("parameter \"after\": there is no document %s where is looked; narrow by received_from instead", id)
	case err != nil:
		return nil, "", err
	}
	at, _ := slices.BinarySearch(partners, d.Partner)
	return partners[at:], id.String(), nil
}

// soon is how long an answer may have no beginning: who asked waits no longer for one than
// a minute, and it may take longer to find the first document.
const soon = 5 * time.Second

func (e *export) header(format exportFormat) {
	h := e.w.Header()
	h.Set("Content-Type", format.contentType)
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="documents-%s%s"`, e.at.Format("20060102T150405Z"), format.ending))
	h.Set("Trailer", exportedTrailer+", "+leftOutTrailer+", "+nextTrailer)
}

// run writes the documents, and the end of the file when the audit log knows of it.
func (e *export) run(format exportFormat, f documents.Filter, partners []string, flow *outflow) error {
	w := format.begin(e)
	for _, f.Partner = range partners {
		err := e.api.Documents.Each(e.ctx(), f, format.whole, func(list []documents.Stored) error {
			for i := range list {
				if err := w.write(&list[i]); err != nil {
					return err
				}
			}
			if e.count == 0 && time.Since(e.at) < soon { // a fault may still be told as one
				return nil
			}
			if err := e.out.Flush(); err != nil {
				return err
			}
			return flow.open()
		})
		if errors.Is(err, errFull) {
			break
		}
		if err != nil {
			return err
		}
		f.After = ""
	}
	if err := w.last(); err != nil {
		return err
	}
	if err := e.record("documents.exported"); err != nil {
		return err
	}
	if err := w.close(); err != nil {
		return err
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	if err := flow.open(); err != nil {
		return err
	}
	e.w.Header().Set(exportedTrailer, strconv.Itoa(e.count))
	e.w.Header().Set(leftOutTrailer, strconv.Itoa(e.leftOut))
	if e.next != "" {
		e.w.Header().Set(nextTrailer, e.next)
	}
	return flow.end()
}

// record has the audit log tell what is asked for, and in the end how much left.
func (e *export) record(action string) error {
	asked := map[string]string{}
	for name := range e.r.URL.Query() {
		asked[name] = e.r.URL.Query().Get(name)
	}
	detail := map[string]any{"asked": asked}
	if action == "documents.exported" {
		detail["documents"], detail["left_out"] = e.count, e.leftOut
		if e.next != "" {
			detail["next"] = e.next
		}
	}
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	return e.api.Record(e.ctx(), accounts.Entry{Who: e.who.Person, Role: e.who.Role, Action: action, Subject: "documents", Partner: e.text["partner"], Detail: text})
}

// jsonLines writes each document as the API gives it, on a line of its own.
type jsonLines struct {
	e    *export
	json *json.Encoder
}

func newJSONLines(e *export) *jsonLines {
	w := &jsonLines{e, json.NewEncoder(e.out)}
	w.json.SetEscapeHTML(false)
	return w
}

func (w *jsonLines) write(d *documents.Stored) error {
	w.e.count++
	return w.json.Encode(d)
}

func (w *jsonLines) last() error  { return nil }
func (w *jsonLines) close() error { return nil }
