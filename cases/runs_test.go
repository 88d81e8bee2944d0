package cases_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/journal"
)

// postsOnceWeAreAddressedWithoutQualifier gives us, too, an address without one.
func postsOnceWeAreAddressedWithoutQualifier(t *testing.T, r *rig) {
	r.apply("kind: Organisation\nid: nordhafen\nidentifiers: [{id: \"9520002000019\"}]\n")
	r.step(step{send: "05-unb-trailing-b.edi", stored: invoice("RG-26-10871", ""),
		want: append([]string{"201 re-evaluation"}, accepted("REF000107", "RG-26-10871")[1:]...)})
}

// alerts gives the drift alerts.
func (r *rig) alerts() []*dedup.Alert {
	r.t.Helper()
	list, err := dedup.Alerts{Pool: r.pool}.List(r.t.Context(), dedup.AlertFilter{Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// showsDrift expects one open alert of a class.
func showsDrift(class string) func(*testing.T, *rig) {
	return func(t *testing.T, r *rig) {
		t.Helper()
		list := r.alerts()
		if len(list) != 1 || list[0].Class != class || !list[0].Undecided() || list[0].Headline == "" {
			t.Fatalf("want one open alert of class %s, got %+v", class, list)
		}
	}
}

// showsOnlyTheTime compares what is kept, as an operator would.
func showsOnlyTheTime(t *testing.T, r *rig) {
	showsDrift("envelope")(t, r)
	k := r.key("unb:9520001000010:14:9520002000019:14:REF000407")
	if k == nil || len(k.Variants) != 2 {
		t.Fatalf("two variants expected under the key: %+v", k)
	}
	var sides [2]*compare.Interchange
	for i, v := range k.Variants {
		text, err := journal.Reader{Pool: r.pool}.Payload(t.Context(), k.Partner, v.Payload.ID, v.Payload.Month, v.Offset, v.Length)
		if err != nil {
			t.Fatal(err)
		}
		p := edi.Bytes(text)
		ic, err := edifact.Reader{}.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := compare.Builder{Envelope: ic, Payload: p}
		if i > 0 {
			b.Other = sides[0].Envelope
		}
		if err := (edifact.Reader{}).Scan(p, ic, b.Visit); err != nil {
			t.Fatal(err)
		}
		sides[i] = b.Interchange()
	}
	var got []string
	d := compare.Diff(sides[0], sides[1], compare.Names{})
	for _, c := range d.Envelope {
		got = append(got, fmt.Sprintf("%s %d.%d: %s, then %s", c.Tag, c.Element, c.Component, c.Before, c.After))
	}
	if diff := gocmp.Diff([]string{"UNB 4.2: 1015, then 1345"}, got); diff != "" || len(d.Messages) != 0 {
		t.Fatalf("the difference shown (-want +got), beside %d messages:\n%s", len(d.Messages), diff)
	}
}

// otherWrapping sends one payload as it is, then in other codings.
func otherWrapping(t *testing.T, r *rig) {
	a, b := input(t, "48-resigned-resend-a.http"), input(t, "48-resigned-resend-b.http")
	first := send(t, r.url, request{id: "resigned-1", body: a})
	if d := gocmp.Diff(accepted("REF000416", "RG-34"), first.lines(t)); d != "" {
		t.Fatal(d)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	again := send(t, r.url, request{id: "resigned-1", body: zipped.Bytes(), header: http.Header{"Content-Encoding": {"gzip"}}})
	if again.status != 200 || again.verdict() != "duplicate" || !bytes.Equal(again.body, first.body) {
		t.Fatalf("in another wrapping it was answered %v", again.lines(t))
	}
	if len(r.alerts()) != 0 {
		t.Fatal("it was taken for a drift")
	}
	r.postedOnce("RG-34")
}

func emptyIsRefused(t *testing.T, r *rig) {
	for _, file := range []string{"59-as2-empty-a.http", "59-as2-empty-b.http"} {
		q := request{id: file, body: input(t, file)}
		first, again := send(t, r.url, q), send(t, r.url, q)
		never(t, first)
		if first.status != 400 || !strings.HasSuffix(first.receipt.Type, "empty") || again.status != 400 || !bytes.Equal(first.body, again.body) {
			t.Fatalf("answered %d, then %d: %s", first.status, again.status, again.body)
		}
		for _, table := range []string{"inbox", "document", "outbox"} {
			if n := r.count(`select count(*) from ` + table); n != 0 {
				t.Fatalf("%d rows in %s", n, table)
			}
		}
		q.body = input(t, "01-una-odd.edi", "REF000101", "REF0001"+file[len(file)-6:len(file)-5])
		if a := send(t, r.url, q); a.status != 201 {
			t.Fatalf("the payload itself, under the id of the empty one, was answered %v", a.lines(t))
		}
		if _, err := r.pool.Exec(t.Context(), `truncate inbox, variant, document, outbox`); err != nil {
			t.Fatal(err)
		}
	}
}

// pathsAreText uses the names of three requests where plain HTTP has a place for
// them.
func pathsAreText(t *testing.T, r *rig) {
	before := r.files()
	for i, c := range []struct {
		file, id, disposition, kept string
	}{
		{"63-as2-path-names-a.http", "path-1", `attachment; filename="../../etc/cron.d/x"`, "x"},
		{"63-as2-path-names-b.http", "../../tmp/x@talquist.example", "", ""},
		{"63-as2-path-names-c.http", "path-3", `attachment; filename="..\..\S` + "\u00fc" + `d` + strings.Repeat("x", 300) + `.edi"`, "S\u00fcd" + strings.Repeat("x", 197)},
	} {
		number := fmt.Sprint("RG-63-", i)
		q := request{id: c.id, body: bytes.ReplaceAll(input(t, c.file), []byte("RG-26-10871"), []byte(number)), header: http.Header{}}
		if c.disposition != "" {
			q.header.Set("Content-Disposition", c.disposition)
		}
		a := send(t, r.url, q)
		if a.status != 201 {
			t.Fatalf("%s was answered %v", c.file, a.lines(t))
		}
		rows, err := journal.Reader{Pool: r.pool}.List(t.Context(), journal.Filter{Partners: []string{"talquist"}, Limit: 1})
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		if rows[0].Filename != c.kept || rows[0].TransportID != "http:nordhafen:"+c.id {
			t.Errorf("the journal has file name %q and id %q", rows[0].Filename, rows[0].TransportID)
		}
		r.postedOnce(number)
	}
	if d := gocmp.Diff(before, r.files()); d != "" {
		t.Errorf("files came (-before +after):\n%s", d)
	}
}

// files are those here and in the spool, and where such names would lead.
func (r *rig) files() (names []string) {
	r.t.Helper()
	for _, dir := range []string{".", r.spool, filepath.Join(r.spool, "..", "..", "etc")} {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			r.t.Fatal(err)
		}
		for _, f := range list {
			names = append(names, filepath.Join(dir, f.Name()))
		}
	}
	if list, err := filepath.Glob(filepath.Join(os.TempDir(), "x@talquist*")); err != nil || len(list) > 0 {
		r.t.Fatal(list, err)
	}
	return names
}

// bothNoticesNameThePallet looks the shared logistic unit up.
func bothNoticesNameThePallet(t *testing.T, r *rig) {
	page, err := documents.Store{Pool: r.pool}.List(t.Context(), documents.Filter{Partner: "talquist", SSCC: "095200000004410014"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range page.Documents {
		got = append(got, d.Number)
	}
	if d := gocmp.Diff([]string{"LS-2", "LS-1"}, got); d != "" {
		t.Fatal(d)
	}
}

// keepsTheTime reads the document date of 203, with its time and no zone.
func keepsTheTime(t *testing.T, r *rig) {
	store := documents.Store{Pool: r.pool}
	got := map[string]string{}
	page, err := store.List(t.Context(), documents.Filter{Partner: "talquist"})
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range page.Documents {
		d, err := store.Get(t.Context(), "talquist", listed.ID)
		if err != nil {
			t.Fatal(err)
		}
		got[d.Number] = d.Detail.Dates[0].Value
	}
	if d := gocmp.Diff(map[string]string{"RG-60": "2026-11-27", "RG-61": "2026-11-27", "RG-62": "2026-11-27T14:30"}, got); d != "" {
		t.Fatal(d)
	}
}

func onlyTheLiveOneIsAnEvent(t *testing.T, r *rig) {
	if n := r.count(`select count(*) from outbox where type = 'document.created'`); n != 1 {
		t.Errorf("%d events of new documents, want that of the live one", n)
	}
	page, err := documents.Store{Pool: r.pool}.List(t.Context(), documents.Filter{Partner: "talquist", Live: true})
	if err != nil || len(page.Documents) != 1 || page.Documents[0].Test {
		t.Errorf("live documents: %+v %v", page.Documents, err)
	}
	for _, id := range []string{"unb:test:9520001000010:14:9520002000019:14:REF000805", "unb:9520001000010:14:9520002000019:14:REF000805"} {
		if r.key(id) == nil {
			t.Errorf("no key %s", id)
		}
	}
}

// lines sends one invoice of n lines, as 85-many-lines-gen.py writes it.
func lines(n int) func(*testing.T, *rig) {
	return func(t *testing.T, r *rig) {
		var b bytes.Buffer
		ref := fmt.Sprintf("LIN%08d", n)
		fmt.Fprintf(&b, "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+%s'UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+L-%d+9'DTM+137:20261127:102'", ref, n)
		b.WriteString("NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'")
		for i := range n {
			fmt.Fprintf(&b, "LIN+%d++9520000001018:EN'QTY+47:1'MOA+203:1.00'PRI+AAA:1.00'", i+1)
		}
		fmt.Fprintf(&b, "UNS+S'MOA+77:%d.00'MOA+79:%d.00'MOA+124:0'UNT+%d+1'UNZ+1+%s'", n, n, 4*n+11, ref)
		q := request{id: ref, body: b.Bytes()}
		a := send(t, r.url, q)
		if d := gocmp.Diff(accepted(ref, fmt.Sprint("L-", n), "note line-repeated, segment 11 LIN"), a.lines(t)); d != "" {
			t.Fatalf("%d lines were answered (-want +got):\n%s", n, d)
		}
		if got := r.count(`select count(*) from document_line`); got != n {
			t.Errorf("%d lines are stored, %d were sent", got, n)
		}
		if got := r.count(`select count(distinct line_no) from document_line where net_amount = 1.00`); got != n {
			t.Errorf("%d different lines are stored, %d were sent", got, n)
		}
		if got := r.count(`select count(distinct xmin::text) from (select xmin from document_line union all select xmin from inbox) x`); got != 1 {
			t.Errorf("they were written in %d transactions", got)
		}
		r.kept(q, a)
		if again := send(t, r.url, q); again.status != 200 || !bytes.Equal(again.body, a.body) {
			t.Errorf("a repeat was answered %v", again.lines(t))
		}
	}
}

// itemIs looks at the item number and description of the one line that was posted.
func itemIs(number, description string) func(*testing.T, *rig) {
	return func(t *testing.T, r *rig) {
		var got [2]string
		if err := r.pool.QueryRow(t.Context(), `select supplier_item, description from document_line`).Scan(&got[0], &got[1]); err != nil {
			t.Fatal(err)
		}
		if want := [2]string{number, description}; got != want {
			t.Errorf("the line is of %q, want %q", got, want)
		}
	}
}

// chargeIs looks at the amount of the invoice's one charge.
func chargeIs(amount string) func(*testing.T, *rig) {
	return func(t *testing.T, r *rig) {
		var got string
		if err := r.pool.QueryRow(t.Context(), `select detail->'invoice'->'allowance_charges'->0->>'amount' from document`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != amount {
			t.Errorf("the charge is %s, want %s", got, amount)
		}
	}
}
