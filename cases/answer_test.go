package cases_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/x12"
)

// request is one delivery as a partner sends it.
type request struct {
	by     string // partner; talquist if empty
	id     string // Idempotency-Key; none if empty
	body   []byte
	header http.Header // beside those
}

// answer is what the partner was told.
type answer struct {
	status  int
	header  http.Header
	body    []byte
	receipt receipt
}

// receipt is a receipt, or a problem that is one as well.
type receipt struct {
	Type         string                       `json:"type"`
	Outcome      string                       `json:"outcome"`
	Interchanges []gateway.InterchangeReceipt `json:"interchanges"`
}

// send posts a payload to url.
func send(t testing.TB, url string, q request) *answer {
	t.Helper()
	if q.by == "" {
		q.by = "talquist"
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/in/"+q.by, bytes.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.header != nil {
		req.Header = q.header.Clone()
	}
	req.Header.Set("Authorization", "Bearer "+token(q.by))
	if q.id != "" {
		req.Header.Set("Idempotency-Key", q.id)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, body: body}
	if err := json.Unmarshal(body, &a.receipt); err != nil {
		t.Fatalf("the answer is no JSON: %v: %s", err, body)
	}
	return a
}

// verdict is that of the delivery.
func (a *answer) verdict() string { return a.header.Get("Edigw-Verdict") }

// lines says what a partner reads in the answer, one thing a line:
//
//	422 first invalid-interchange
//	REF000127 rejected
//	INVOIC RG-8 refused
//	error 29 unt-count-mismatch, segment 17 UNT
//	UCI 4
//	UCM 2 INVOIC 4 29 UNT
func (a *answer) lines(t testing.TB) []string {
	t.Helper()
	head := fmt.Sprintf("%d %s", a.status, a.verdict())
	if _, problem, found := strings.Cut(a.receipt.Type, "#"); found {
		head += " " + problem
	} else if a.receipt.Type != "" {
		head += " " + a.receipt.Type[strings.LastIndex(a.receipt.Type, "/")+1:]
	}
	lines := []string{strings.Join(strings.Fields(head), " ")}
	for _, ic := range a.receipt.Interchanges {
		lines = append(lines, strings.TrimSpace(ic.MessageID[strings.LastIndex(ic.MessageID, ":")+1:]+" "+ic.Outcome))
		for _, d := range ic.Documents {
			lines = append(lines, strings.Join(strings.Fields(d.Type+" "+d.Number+" "+d.State), " "))
		}
		for _, f := range ic.Findings {
			lines = append(lines, findingLine(f))
		}
		if ic.Acknowledgement != nil {
			content := []byte(ic.Acknowledgement.Content)
			if len(content) == 0 {
				content = ic.Acknowledgement.Base64
			}
			if x12.Leads(content) {
				lines = append(lines, x12Lines(t, content)...)
			} else {
				lines = append(lines, contrlLines(t, content)...)
			}
		}
	}
	return lines
}

func findingLine(f gateway.Finding) string {
	s := strings.Join(strings.Fields(f.Severity+" "+f.Standard+" "+f.Code), " ")
	if f.Location != nil && f.Location.Segment > 0 {
		s += fmt.Sprintf(", segment %d %s", f.Location.Segment, f.Location.Tag)
	}
	return strings.TrimSpace(s)
}

// contrlLines reads a CONTRL as the partner would, and gives UCI, UCF, UCM and
// UCS with action, 0085 and 0013.
func contrlLines(t testing.TB, text []byte) (lines []string) {
	t.Helper()
	p := edi.Bytes(text)
	ic, err := edifact.Reader{}.Split(p, 0)
	if err != nil {
		t.Fatalf("the CONTRL cannot be read: %v: %s", err, text)
	}
	add := func(parts ...string) {
		lines = append(lines, strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
	}
	err = edifact.Reader{}.Scan(p, ic, func(_ int, b *edi.Body) error {
		for _, s := range b.Segments {
			switch {
			case s.Is("UCI"):
				add("UCI", s.Get(4, 1), s.Get(5, 1), s.Get(6, 1))
			case s.Is("UCF"):
				add("UCF", s.Get(1, 1), s.Get(4, 1), s.Get(5, 1), s.Get(6, 1))
			case s.Is("UCM"):
				add("UCM", s.Get(1, 1), s.Get(2, 1), s.Get(3, 1), s.Get(4, 1), s.Get(5, 1))
			case s.Is("UCS"):
				add("UCS", s.Get(1, 1), s.Get(2, 1))
			case s.Is("UCD"):
				add("UCD", s.Get(1, 1), s.Get(2, 1), s.Get(2, 2))
			}
		}
		return nil
	})
	if err != nil || edi.Worst(ic.Errors) >= edi.SeverityError || len(ic.Messages) != 1 || edi.Worst(ic.MessageErrors[0]) >= edi.SeverityError {
		t.Fatalf("the CONTRL is not sound: %v %v: %s", err, ic.Errors, text)
	}
	return lines
}

// x12Lines reads TA1, 997 and 999 as the partner would, and gives their segments.
func x12Lines(t testing.TB, text []byte) (lines []string) {
	t.Helper()
	p := edi.Bytes(text)
	ic, err := x12.Reader{}.Split(p, 0)
	if err != nil {
		t.Fatalf("the acknowledgement cannot be read: %v: %s", err, text)
	}
	for _, s := range edi.NewBody(text, 0, 1, ic.Delimiters, nil).Segments {
		if tag := s.Tag(); tag == "TA1" || strings.HasPrefix(tag, "AK") || strings.HasPrefix(tag, "IK") {
			lines = append(lines, strings.ReplaceAll(string(s.Raw()), string(rune(ic.Delimiters.Element)), "*"))
		}
	}
	if err := (x12.Reader{}).Scan(p, ic, nil); err != nil || edi.Worst(ic.Errors) >= edi.SeverityError || len(ic.MessageErrors) > 0 {
		t.Fatalf("the acknowledgement is not sound: %v %v: %s", err, ic.Errors, text)
	}
	return lines
}

// stored says what the tables hold of every document of every partner, in order
// of arrival, with its lines and packages.
func (r *rig) stored() []string {
	r.t.Helper()
	store := documents.Store{Pool: r.pool}
	lines := []string{}
	for _, partner := range []string{"talquist", "second"} {
		page, err := store.List(r.t.Context(), documents.Filter{Partner: partner, Limit: 500})
		if err != nil {
			r.t.Fatal(err)
		}
		slices.Reverse(page.Documents) // a list begins with the newest
		for _, listed := range page.Documents {
			d, err := store.Get(r.t.Context(), partner, listed.ID)
			if err != nil {
				r.t.Fatal(err)
			}
			lines = append(lines, documentLines(d)...)
		}
	}
	return lines
}

// documentLines says what a document is, then its lines and packages.
func documentLines(d *documents.Stored) []string {
	head := fmt.Sprintf("%s %s of %s", d.Class, d.Number, d.IssueDate)
	if d.Supplier.Name != "" {
		head += " from " + d.Supplier.Name
	}
	if t := d.Totals; t.TaxInclusive.Valid() {
		head += fmt.Sprintf(": %s + %s = %s %s", t.Lines, t.Tax, t.TaxInclusive, d.Currency)
	}
	if !d.Live {
		head += ", not live"
	}
	if d.Test {
		head += ", test"
	}
	lines := []string{head}
	for i, p := range d.Packages {
		s := fmt.Sprintf("  package %d in %d: %s %s", i+1, p.Parent, p.Type, p.SSCC)
		if p.SSCC != "" && !p.SSCCValid {
			s += ", check digit wrong"
		}
		lines = append(lines, strings.TrimRight(s, " "))
	}
	for _, l := range d.Lines {
		s := fmt.Sprintf("  line %s: %s %s", l.No, l.GTIN, l.Quantity)
		if l.Price.Valid() {
			s += fmt.Sprintf(" × %s = %s", l.Price, l.NetAmount)
		}
		if l.Package > 0 {
			s += fmt.Sprintf(" in package %d", l.Package)
		}
		lines = append(lines, s)
	}
	return lines
}
