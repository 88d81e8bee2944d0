package gateway

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
)

// FuzzImportRow reads rows as strangers' exports hold them: it never panics, a fault
// names its column, and a key that is taken is one printable line of the bounded
// length, and is taken again as it is written.
func FuzzImportRow(f *testing.F) {
	f.Add("interchange", "unb:9520001000010:14:9520002000019:14:REF1", "", "", "unique", false)
	f.Add("interchange", `unb:test:9520001000010:14:A\:B:14:\\x:20261120`, "", "2026-11-20", "unique_per_day", false)
	f.Add("interchange", "", "REF:1", "261120", "unique_per_day", true)
	f.Add("interchange", `unb:\x0a`, "", "", "unique", true)
	f.Add("transport", `as2:N\:ORTH:<a@b>`, "", "", "unique", false)
	f.Add("transport", "", strings.Repeat("k", 300), "", "unique", false)
	f.Add("document", "", "R-1", "2026", "unreliable", false)
	f.Fuzz(func(t *testing.T, kind, id, reference, date, shape string, application bool) {
		p := &partners.Partner{ID: "acme", Organisation: "north", Identifiers: []partners.Identifier{{Qualifier: "14", ID: "9520001000010"}},
			Policy:    partners.Policy{ControlReference: shape, KeyIncludesApplication: application},
			Retention: partners.Retention{DedupWindow: 400 * 24 * time.Hour}}
		x := rowReader{partner: func(string) *partners.Partner { return p }, now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
		row := ImportRow{Partner: "acme", Kind: kind, MessageID: id}
		if id == "" {
			switch row.Date = date; kind {
			case importInterchange:
				row.Syntax, row.Sender, row.SenderQualifier, row.Recipient, row.Reference = "edifact", "9520001000010", "14", "N", reference
			case importTransport:
				row.Date, row.Transport, row.ID = "", "http", reference
			default:
				row.Class, row.Type, row.Number = "invoice", "380", reference
			}
		}
		k, err := x.read(&row)
		var fault *errRow
		if err != nil {
			if !errors.As(err, &fault) || fault.column == "" || fault.text == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if k.kind == 0 {
			if len(k.guards) == 0 {
				t.Fatal("a document without a guard")
			}
			return
		}
		if k.key.ID == "" || len(k.key.ID) > dedup.MaxKey || strings.ContainsFunc(k.key.ID, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			t.Fatalf("the key is %q", k.key.ID)
		}
		again := ImportRow{Partner: "acme", Kind: kind, MessageID: k.key.ID}
		if same, err := x.read(&again); err != nil || same.key != k.key {
			t.Fatalf("%q is taken as %q, %v", k.key.ID, same.key.ID, err)
		}
	})
}
