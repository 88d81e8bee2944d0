package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/documents"
)

// stock puts n invoices into the tables, as they are posted, and gives their ids.
func (r *rig) stock(partner string, n int, change func(i int, d *documents.Document)) (ids []string) {
	r.t.Helper()
	var euro documents.Number
	if err := euro.UnmarshalJSON([]byte("1.00")); err != nil {
		r.t.Fatal(err)
	}
	rows := make([]documents.Row, n)
	for i := range rows {
		d := &documents.Document{ID: uuid.Must(uuid.NewV7()), Class: documents.ClassInvoice, TypeCode: "380", Number: fmt.Sprintf("S-%d", i), IssueDate: "2026-11-27",
			MessageType: "INVOIC D.96A", Currency: "EUR", Lines: []documents.Line{{No: "1", Description: "Coffee", NetAmount: euro}}, LineCount: 1}
		if change != nil {
			change(i, d)
		}
		rows[i] = documents.Row{Document: d, State: documents.StateLive, MessageID: "unb:stock", Revision: 1}
		ids = append(ids, d.ID.String())
	}
	var b pgx.Batch
	if err := documents.Queue(&b, partner, rows); err != nil {
		r.t.Fatal(err)
	}
	if err := r.pool.SendBatch(r.t.Context(), &b).Close(); err != nil {
		r.t.Fatal(err)
	}
	return ids
}

// exported asks for an export as a consumer, over a real connection, and gives the
// answer and why reading it ended early.
func (r *rig) exported(query string) (resp *http.Response, body string, broke error) {
	r.t.Helper()
	s := httptest.NewServer(r.handler)
	defer s.Close()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, s.URL+Prefix+"/documents/export?"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.tokens[accounts.Consumer])
	if resp, err = http.DefaultClient.Do(req); err != nil {
		r.t.Fatal(err)
	}
	text, broke := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		r.t.Fatal(err)
	}
	return resp, string(text), broke
}

func (r *rig) audited(action string) []accounts.Entry {
	r.t.Helper()
	list, err := r.api.Accounts.ListAudit(r.t.Context(), accounts.AuditFilter{Action: action})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func TestExport(t *testing.T) {
	r := filled(t)
	r.stock("bolt", 250, nil)
	t.Run("JSON Lines has each document once, as the API gives it alone", func(t *testing.T) {
		resp, body, broke := r.exported("")
		if broke != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/jsonl" || resp.Trailer.Get("Edigw-Documents") != "252" || resp.Trailer.Get("Edigw-Left-Out") != "0" {
			t.Fatalf("%v %d %v %v", broke, resp.StatusCode, resp.Header, resp.Trailer)
		}
		if d := resp.Header.Get("Content-Disposition"); !strings.HasPrefix(d, `attachment; filename="documents-`) || !strings.HasSuffix(d, `.jsonl"`) {
			t.Error(d)
		}
		seen := map[string]bool{}
		for i, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			var one struct {
				ID string `json:"document_id"`
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil || seen[one.ID] {
				t.Fatalf("line %d: %v, %s was there before: %v", i, err, one.ID, seen[one.ID])
			}
			seen[one.ID] = true
			if i%50 == 0 {
				var alone, together any
				r.get(accounts.Viewer, "/documents/"+one.ID, &alone)
				if err := json.Unmarshal([]byte(line), &together); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(alone, together); diff != "" {
					t.Errorf("alone (-) and exported (+):\n%s", diff)
				}
			}
		}
		if len(seen) != 252 {
			t.Errorf("%d documents", len(seen))
		}
	})
	t.Run("the audit log has it who took what, and how much", func(t *testing.T) {
		read, done := r.audited("documents.read"), r.audited("documents.exported")
		if len(read) != 1 || len(done) != 1 || done[0].Who != "p. consumer" || !strings.Contains(string(done[0].Detail), `"documents": 252`) {
			t.Errorf("%+v\n%+v", read, done)
		}
		r.exported("partner=acme&live=true")
		if list := r.audited("documents.exported"); list[0].Partner != "acme" || !strings.Contains(string(list[0].Detail), `"live": "true"`) {
			t.Errorf("%+v", list[0])
		}
	})
	t.Run("it is searched as the list is", func(t *testing.T) {
		for query, want := range map[string]string{"partner=acme&live=true": "1", "number=B-1": "1", "number_prefix=S-1": "111", "partner=nobody": "0"} {
			if resp, body, broke := r.exported(query); broke != nil || resp.Trailer.Get("Edigw-Documents") != want {
				t.Errorf("%s: %v %s, want %s\n%.300s", query, broke, resp.Trailer.Get("Edigw-Documents"), want, body)
			}
		}
	})
	t.Run("a viewer may not take away what he may look at", func(t *testing.T) {
		before := len(r.audited("documents.read"))
		if a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/documents/export", ""); a.status != http.StatusForbidden || len(r.audited("documents.read")) != before {
			t.Errorf("%d", a.status)
		}
	})
	t.Run("HEAD tells the header and takes nothing", func(t *testing.T) {
		before := len(r.audited("documents.read"))
		a := r.ask(r.tokens[accounts.Consumer], http.MethodHead, "/documents/export?format=csv", "")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || a.body != "" || len(r.audited("documents.read")) != before {
			t.Errorf("%d %v %q", a.status, a.header, a.body)
		}
	})
	t.Run("what would do nothing, or read years, is refused", func(t *testing.T) {
		for query, want := range map[string]string{
			"rows=lines": `"rows" is for format=csv`, "format=ubl&cells=guarded": `"cells" is for format=csv`, "format=ubl&class=despatch": "format=ubl is for invoices",
			"currency=EUR": "no index serves currency",
		} {
			if a := r.ask(r.tokens[accounts.Consumer], http.MethodGet, "/documents/export?"+query, ""); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.problem(t).Detail, want) {
				t.Errorf("%s: %d %s", query, a.status, a.body)
			}
		}
		if a := r.ask(r.tokens[accounts.Consumer], http.MethodGet, "/documents/export?format=csv", "", "Accept", "application/jsonl"); a.status != http.StatusNotAcceptable {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("over HTTP/1.0, where nothing shows that an answer broke off, there is none", func(t *testing.T) {
		req := httptest.NewRequest(http.MethodGet, Prefix+"/documents/export", nil)
		req.Header.Set("Authorization", "Bearer "+r.tokens[accounts.Consumer])
		req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.0", 1, 0
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, req)
		if w.Code != http.StatusHTTPVersionNotSupported || !strings.Contains(w.Body.String(), "proxy_http_version") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("without the audit line there is no byte; without the last one no end", func(t *testing.T) {
		record := r.api.Record
		defer func() { r.api.Record = record }()
		r.api.Record = func(context.Context, accounts.Entry) error { return errors.New("the disk is full") }
		if resp, body, _ := r.exported(""); resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, "S-1") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
		r.api.Record = func(ctx context.Context, e accounts.Entry) error {
			if e.Action == "documents.exported" {
				return errors.New("the disk is full")
			}
			return record(ctx, e)
		}
		for _, format := range []string{"jsonl", "csv", "ubl"} {
			if _, body, broke := r.exported("format=" + format); broke == nil || body == "" {
				t.Errorf("%s: %d bytes look like the whole", format, len(body))
			}
		}
	})
}

func ago(d time.Duration) string {
	return url.QueryEscape(time.Now().Add(-d).Format(time.RFC3339))
}

// A document that cannot be read stands for a database that fails: nothing that is sent is NaN.
func TestAnExportThatBreaksOffShowsIt(t *testing.T) {
	r := newRig(t)
	ids := r.stock("acme", 250, nil)
	spoil := func(id string) {
		t.Helper()
		if _, err := r.pool.Exec(t.Context(), `update document set payable = 'NaN' where document_id = $1`, id); err != nil {
			t.Fatal(err)
		}
	}
	spoil(ids[240])
	for _, format := range []string{"jsonl", "csv", "csv&rows=lines", "ubl"} {
		t.Run("in the middle of "+format, func(t *testing.T) {
			resp, body, broke := r.exported("format=" + format)
			if resp.StatusCode != http.StatusOK || broke == nil || resp.Trailer.Get("Edigw-Documents") != "" || body == "" {
				t.Errorf("%d, %v, %v, %d bytes", resp.StatusCode, broke, resp.Trailer, len(body))
			}
			if !strings.Contains(r.log.String(), "an export broke off") || len(r.audited("documents.exported")) != 0 {
				t.Error("the log does not say so, or the audit log says that it is whole")
			}
		})
	}
	t.Run("before the first byte it is a problem like any other", func(t *testing.T) {
		spoil(ids[0])
		for _, format := range []string{"jsonl", "csv", "ubl"} {
			a := r.ask(r.tokens[accounts.Consumer], http.MethodGet, "/documents/export?format="+format, "")
			if p := a.problem(t); a.status != http.StatusInternalServerError || p.Type != "failed" || a.header.Get("Content-Disposition") != "" {
				t.Errorf("%d %v %s", a.status, a.header, a.body)
			}
		}
	})
}

// pipes is a listener whose connections hold nothing back.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestAnExportIsNotHeldUp(t *testing.T) {
	r := newRig(t)
	r.stock("acme", 300, func(_ int, d *documents.Document) {
		d.Detail.Texts = []documents.Text{{Text: strings.Repeat("x", 500)}}
	})
	r.api.pace = 20 * time.Millisecond
	for name, leave := range map[string]func(net.Conn) error{
		"by a reader that stops":           func(net.Conn) error { return nil },
		"by a reader that hangs up on it ": net.Conn.Close,
	} {
		t.Run(name, func(t *testing.T) {
			r.log.Reset()
			ours, theirs := net.Pipe()
			listener := pipes{make(chan net.Conn, 1)}
			ended := make(chan struct{})
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				defer close(ended)
				r.handler.ServeHTTP(w, q)
			})}
			served := make(chan error, 1)
			go func() { served <- server.Serve(listener) }()
			listener.conns <- ours
			if _, err := fmt.Fprintf(theirs, "GET %s/documents/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", Prefix, r.tokens[accounts.Consumer]); err != nil {
				t.Fatal(err)
			}
			_, _ = bufio.NewReaderSize(theirs, 16).ReadString('\n') // where this is slow it is cut off before
			if err := leave(theirs); err != nil {
				t.Fatal(err)
			}
			<-ended
			if !strings.Contains(r.log.String(), "does not take it any more") || strings.Contains(r.log.String(), "an export broke off") {
				t.Errorf("%s", r.log.String())
			}
			if len(r.audited("documents.exported")) != 0 {
				t.Error("the audit log says that it was taken")
			}
			close(listener.conns)
			if err := errors.Join(server.Close(), <-served); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
}

func TestExportAsCSV(t *testing.T) {
	r := newRig(t)
	price, total := documents.Number{}, documents.Number{}
	for text, into := range map[string]*documents.Number{"-0.50": &price, "12345678901234567890123456789.012300": &total} {
		if err := into.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	r.stock("acme", 3, func(i int, d *documents.Document) {
		switch i {
		case 0:
			d.Number, d.Supplier.Name, d.Buyer.Name = "=1+1", "a \"b\", c\nd", "'quoted"
			d.Totals.Payable = total
			d.Lines = []documents.Line{{No: "1", Description: "+HYPERLINK()", Price: price, Package: 2}, {No: "2", Description: "-", Unit: "＝1"}}
			d.Packages = []documents.Package{{SSCC: "395200030000000040"}, {Parent: 1}}
			d.LineCount, d.PackageCount = 2, 2
		case 1:
			d.Lines, d.LineCount = nil, 0
		}
	})
	table := func(t *testing.T, query string) []map[string]string {
		t.Helper()
		resp, body, broke := r.exported("format=csv" + query)
		if broke != nil || resp.Header.Get("Content-Type") != "text/csv; charset=utf-8" || resp.Trailer.Get("Edigw-Documents") != "3" {
			t.Fatalf("%v %v %v", broke, resp.Header, resp.Trailer)
		}
		if bare := strings.ReplaceAll(body, "c\nd", ""); strings.Count(bare, "\r\n") != strings.Count(bare, "\n") || !strings.HasSuffix(bare, "\r\n") {
			t.Errorf("lines do not end by CRLF: %q", body)
		}
		if !strings.Contains(body, "\"a \"\"b\"\", c\nd\"") {
			t.Errorf("a name is not as it was: %q", body)
		}
		cells, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var rows []map[string]string
		for _, row := range cells[1:] {
			m := map[string]string{}
			for i, name := range cells[0] {
				if _, twice := m[name]; twice {
					t.Errorf("two columns are named %s", name)
				}
				m[name] = row[i]
			}
			rows = append(rows, m)
		}
		return rows
	}
	t.Run("a row a document, with its digits", func(t *testing.T) {
		rows := table(t, "")
		if len(rows) != 3 || rows[0]["payable"] != "12345678901234567890123456789.012300" || rows[0]["supplier_name"] != "a \"b\", c\nd" || rows[1]["number"] != "S-1" {
			t.Errorf("%v", rows)
		}
	})
	t.Run("a row a line, and one of a document without", func(t *testing.T) {
		rows := table(t, "&rows=lines")
		if len(rows) != 4 || rows[0]["price"] != "-0.50" || rows[0]["line_sscc"] != "395200030000000040" || rows[1]["line_no"] != "2" || rows[1]["line_sscc"] != "" || rows[2]["number"] != "S-1" || rows[2]["line"] != "" || rows[3]["line"] != "1" {
			t.Errorf("%v", rows)
		}
	})
	t.Run("what a spreadsheet would take for a formula is guarded, unless it is asked for as sent", func(t *testing.T) {
		for query, want := range map[string][]string{"&rows=lines": {"'=1+1", "''quoted", "'+HYPERLINK()", "'-", "'＝1", "-0.50"}, "&rows=lines&cells=as-sent": {"=1+1", "'quoted", "+HYPERLINK()", "-", "＝1", "-0.50"}} {
			rows := table(t, query)
			if diff := cmp.Diff(want, []string{rows[0]["number"], rows[0]["buyer_name"], rows[0]["description"], rows[1]["description"], rows[1]["unit"], rows[0]["price"]}); diff != "" {
				t.Errorf("%s:\n%s", query, diff)
			}
		}
	})
	t.Run("a search that finds nothing has the header line", func(t *testing.T) {
		_, body, broke := r.exported("format=csv&number=nothing")
		if broke != nil || strings.Count(body, "\r\n") != 1 || !strings.HasPrefix(body, "partner,document_id,") {
			t.Errorf("%v %q", broke, body)
		}
	})
	t.Run("packages that stand in one another end", func(t *testing.T) {
		d := &documents.Stored{Document: documents.Document{Lines: []documents.Line{{Package: 1}}, Packages: []documents.Package{{Parent: 2}, {Parent: 1}}}}
		if got := (csvRow{Stored: d, line: &d.Lines[0]}).sscc(); got != "" {
			t.Error(got)
		}
	})
}

// Where the list separator is ';', as in German, Excel splits the lines of a file at it, and
// at line breaks, whatever the quotes say that do not stand at a cell's beginning.
func TestGuardedCells(t *testing.T) {
	formula := regexp.MustCompile(`(?:^|[;\t\r\n])"*[=+\-@＝＋－＠]`)
	for text, want := range map[string]string{
		"": "", "coffee": "coffee", "a=b, c+d; e - f": "a=b, c+d; e - f", "=1+1": "'=1+1", "＝1": "'＝1", "\t=1": "'\t'=1", "'quoted": "''quoted",
		"x;=1+1": "x;'=1+1", "x\t=1+1": "x\t'=1+1", "x\n=1+1": "x\n'=1+1", "x\r\n-2": "x\r\n'-2", "x;＝1": "x;'＝1", "=a;=b;=c": "'=a;'=b;'=c",
		`x;"=1+1`: `x;'"=1+1`, `x;""=1`: `x;'""=1`, `"=1`: `'"=1`, `x;"y`: `x;"y`, "it's;'s": "it's;''s", ";;": ";;", "x;": "x;", "\n\n@": "'\n\n'@", `x;"`: `x;"`,
	} {
		got := guarded(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got != "" && formula.MatchString(got) {
			t.Errorf("%q: %q has a formula", text, got)
		}
		// As the reference tells a program to have the text back.
		if back := regexp.MustCompile(`(^|[;\t\r\n])'`).ReplaceAllString(got, "$1"); back != text {
			t.Errorf("%q: %q gives %q back", text, got, back)
		}
	}
}

func FuzzGuardedCells(f *testing.F) {
	formula := regexp.MustCompile(`(?:^|[;\t\r\n])"*[=+\-@＝＋－＠]`)
	back := regexp.MustCompile(`(^|[;\t\r\n])'`)
	f.Add("x;=1+1")
	f.Add("a\r\n'\"\"-1\t\t＠")
	f.Fuzz(func(t *testing.T, text string) {
		got := guarded(text)
		if formula.MatchString(got) {
			t.Errorf("%q: %q has a formula", text, got)
		}
		if utf8.ValidString(text) && back.ReplaceAllString(got, "$1") != text {
			t.Errorf("%q: %q gives %q back", text, got, back.ReplaceAllString(got, "$1"))
		}
	})
}

func TestExportAsUBL(t *testing.T) {
	r := filled(t)
	r.stock("acme", 1, func(_ int, d *documents.Document) { d.Number, d.Currency = "no/currency", "" })
	r.stock("acme", 1, func(_ int, d *documents.Document) { d.Class = documents.ClassDespatch })
	resp, body, broke := r.exported("format=ubl")
	if broke != nil || resp.Header.Get("Content-Type") != "application/zip" {
		t.Fatalf("%v %v", broke, resp.Header)
	}
	files := unpacked(t, body)
	lines := map[string]ublLine{}
	left := 0
	for dec := json.NewDecoder(strings.NewReader(files["manifest.jsonl"])); dec.More(); {
		var l ublLine
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines[l.Number] = l
		if l.LeftOut != "" {
			left++
		} else if !strings.Contains(files[l.File], "<cbc:ID>"+l.Number+"</cbc:ID>") {
			t.Errorf("%s is not that of %s: %.200s", l.File, l.Number, files[l.File])
		}
	}
	if l := lines["B-1"]; l.Partner != "bolt" || l.File != "bolt/B-1."+l.Document+".xml" {
		t.Errorf("%+v", l)
	}
	if l := lines["no/currency"]; l.LeftOut == "" || l.File != "" {
		t.Errorf("%+v", l)
	}
	if got := resp.Trailer.Get("Edigw-Left-Out"); got != fmt.Sprint(left) || resp.Trailer.Get("Edigw-Documents") != fmt.Sprint(len(files)-2) || left == 0 {
		t.Errorf("%v, %d left out, %d files", resp.Trailer, left, len(files))
	}
	if !strings.Contains(files["export.json"], fmt.Sprintf(`"files": %d`, len(files)-2)) || !strings.Contains(files["export.json"], `"exported_by": "p. consumer"`) {
		t.Errorf("%s", files["export.json"])
	}
}

// A zip that is full names the document behind which to go on, and nothing behind it is read.
func TestUBLGoesOnBehindAFullZip(t *testing.T) {
	r := newRig(t)
	fit := func(i int, d *documents.Document) {
		if i == 1 {
			d.Currency = "" // of which no UBL can be made
		}
	}
	all := append(r.stock("acme", 4, fit), r.stock("bolt", 5, fit)...)
	zipped := func(t *testing.T, most, room int, query string) (e *export, files map[string]string, looked []string) {
		t.Helper()
		var b bytes.Buffer
		req := httptest.NewRequest(http.MethodGet, Prefix+"/documents/export?format=ubl"+query, nil)
		w := httptest.NewRecorder()
		c := &call{api: r.api, r: req, w: w, who: accounts.Identity{Person: "p. consumer", Role: accounts.Consumer}}
		var err error
		if c.query, err = parseQuery(req.URL.Path, req.URL.RawQuery, exportFilters); err != nil {
			t.Fatal(err)
		}
		partners, after, err := c.behind([]string{"acme", "bolt"})
		if err != nil {
			t.Fatal(err)
		}
		e = &export{call: c, at: time.Now()}
		format := exportFormat{"application/zip", ".zip", true, func(e *export) exportWriter {
			u := newUBLExport(e).(*ublExport)
			u.most, u.room = most, room
			return watched{u, &looked}
		}}
		flow := &outflow{w: &bodyOf{w, &b}, pace: defaultPace, begin: func() {}}
		e.out = bufio.NewWriter(flow)
		if err := e.run(format, documents.Filter{Class: documents.ClassInvoice, After: after}, partners, flow); err != nil {
			t.Fatal(err)
		}
		return e, unpacked(t, b.String()), looked
	}
	for name, c := range map[string]struct{ most, room, zips int }{
		"by invoices, with a file or not": {4, 1 << 20, 3},
		"by the bytes of its manifest":    {1 << 20, 1, 9},
		"as many as there are":            {9, 1 << 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			after, zips := "", 0
			for {
				e, files, looked := zipped(t, c.most, c.room, after)
				zips++
				lines := strings.Split(strings.TrimSpace(files["manifest.jsonl"]), "\n")
				if e.next == "" {
					seen = append(seen, looked...)
					if strings.Contains(files["export.json"], "next") {
						t.Errorf("%s", files["export.json"])
					}
					break
				}
				if len(lines) != len(looked) || !strings.Contains(lines[len(lines)-1], "after="+e.next) || !strings.Contains(files["export.json"], `"next": "`+e.next+`"`) || e.w.Header().Get("Edigw-Next") != e.next {
					t.Fatalf("%d looked at, %s\n%s", len(looked), files["manifest.jsonl"], files["export.json"])
				}
				seen = append(seen, looked[:len(looked)-1]...) // the last one comes with the next zip
				if after = "&after=" + e.next; e.next != seen[len(seen)-1] || zips > 9 {
					t.Fatalf("next is %s behind %v", e.next, seen)
				}
			}
			if diff := cmp.Diff(all, seen); diff != "" || zips != c.zips {
				t.Errorf("%d zips, want %d\n%s", zips, c.zips, diff)
			}
		})
	}
	t.Run("JSON Lines go on behind a document too, with the partners that come then", func(t *testing.T) {
		for query, want := range map[string][]string{"after=" + all[4]: all[5:], "after=" + all[1]: all[2:], "partner=acme&after=" + all[1]: all[2:4], "after=" + all[8]: nil} {
			var got []string
			_, body, broke := r.exported(query)
			for line := range strings.Lines(body) {
				var d struct {
					ID string `json:"document_id"`
				}
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatal(err)
				}
				got = append(got, d.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" || broke != nil {
				t.Errorf("%s: %v\n%s", query, broke, diff)
			}
		}
	})
	t.Run("behind a document that is not there, or none, it does not go on", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Consumer], http.MethodGet, "/documents/export?after=x", ""); a.status != http.StatusBadRequest || !strings.Contains(a.problem(t).Detail, "must be an id") {
			t.Errorf("%d %s", a.status, a.body)
		}
		for query, want := range map[string]string{"after=" + uuid.NewString(): "there is no document", "partner=acme&after=" + all[4]: "there is no document"} {
			if a := r.ask(r.tokens[accounts.Consumer], http.MethodGet, "/documents/export?"+query, ""); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.problem(t).Detail, want) {
				t.Errorf("%s: %d %s", query, a.status, a.body)
			}
		}
	})
}

// watched notes which documents a writer is given.
type watched struct {
	exportWriter
	looked *[]string
}

func (w watched) write(d *documents.Stored) error {
	*w.looked = append(*w.looked, d.ID.String())
	return w.exportWriter.write(d)
}

// bodyOf is a recorder whose body goes elsewhere.
type bodyOf struct {
	*httptest.ResponseRecorder
	body *bytes.Buffer
}

func (b *bodyOf) Write(p []byte) (int, error) { return b.body.Write(p) }

// SetWriteDeadline implements what http.ResponseController asks for.
func (b *bodyOf) SetWriteDeadline(time.Time) error { return nil }

func TestFileNamesOfUBL(t *testing.T) {
	id := uuid.MustParse("01a22c53-8200-7000-8000-000000000000")
	for number, want := range map[string]string{
		"RE-1": "acme/RE-1." + id.String() + ".xml", "../../etc/passwd": "acme/______etc_passwd." + id.String() + ".xml", "Ä\x01": "acme/__." + id.String() + ".xml",
		strings.Repeat("9", 60): "acme/" + strings.Repeat("9", 40) + "." + id.String() + ".xml", "": "acme/." + id.String() + ".xml",
	} {
		if got := ublName(&documents.Stored{Partner: "acme", Document: documents.Document{ID: id, Number: number}}); got != want {
			t.Errorf("%q: %s, want %s", number, got, want)
		}
	}
}
