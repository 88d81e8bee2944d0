package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// importing begins an import and gives what imports rows into it.
func (r *rig) importing() func(rows ...gateway.ImportRow) (dedup.Import, []gateway.ImportFault) {
	r.t.Helper()
	id := uuid.Must(uuid.NewV7())
	do := func(f func(tx pgx.Tx) error) {
		r.t.Helper()
		if err := pgx.BeginFunc(r.t.Context(), r.Pool, f); err != nil {
			r.t.Fatal(err)
		}
	}
	do(func(tx pgx.Tx) error {
		_, _, err := dedup.BeginImportTx(r.t.Context(), tx, dedup.Import{ID: id, FileSHA256: sha(id.String()), Name: "former.csv", Person: "anna", Started: r.now}, false)
		return err
	})
	next := int64(1)
	return func(rows ...gateway.ImportRow) (im dedup.Import, faults []gateway.ImportFault) {
		r.t.Helper()
		do(func(tx pgx.Tx) (err error) {
			im, faults, err = gateway.Importer{Partner: r.Partner, Now: r.Now}.ImportTx(r.t.Context(), tx, id, gateway.ImportRows{First: next, Rows: rows})
			return err
		})
		next += int64(len(rows))
		return im, faults
	}
}

// envelope is a row of an interchange of acme.
func envelope(change func(*gateway.ImportRow)) gateway.ImportRow {
	row := gateway.ImportRow{Partner: "acme", Kind: "interchange", Syntax: "edifact", Sender: "9520001000010", SenderQualifier: "14",
		Recipient: "9520002000019", RecipientQualifier: "14", Reference: "REF1"}
	if change != nil {
		change(&row)
	}
	return row
}

func TestImportRowKeys(t *testing.T) {
	sum := fmt.Sprintf("%x", sha("payload"))
	for _, c := range []struct {
		name   string
		policy func(p *partners.Partner)
		row    gateway.ImportRow
		want   string
	}{
		{"an envelope", nil, envelope(nil), "unb:9520001000010:14:9520002000019:14:REF1"},
		{"the key itself", nil, gateway.ImportRow{Partner: "acme", Kind: "interchange", MessageID: "unb:9520001000010:14:9520002000019:14:REF1"}, "unb:9520001000010:14:9520002000019:14:REF1"},
		{"a test's key itself", nil, gateway.ImportRow{Partner: "acme", Kind: "interchange", MessageID: "unb:test:9520001000010:14:9520002000019:14:REF1"}, "unb:test:9520001000010:14:9520002000019:14:REF1"},
		{"a test", nil, envelope(func(r *gateway.ImportRow) { r.Test = "1" }), "unb:test:9520001000010:14:9520002000019:14:REF1"},
		{"a separator in a reference", nil, envelope(func(r *gateway.ImportRow) { r.Reference = `A:B\C` }), `unb:9520001000010:14:9520002000019:14:A\:B\\C`},
		{"X12, whose zeros a spreadsheet took", func(p *partners.Partner) {
			p.Identifiers = []partners.Identifier{{Qualifier: "01", ID: "123456789"}}
		}, gateway.ImportRow{Partner: "acme", Kind: "interchange", Syntax: "x12", Sender: "123456789", SenderQualifier: "1", Recipient: "NORTH", RecipientQualifier: "ZZ", Reference: "116"},
			"isa:01:123456789:ZZ:NORTH:000000116"},
		{"the day is in the key", func(p *partners.Partner) { p.Policy.ControlReference = "unique_per_day" },
			envelope(func(r *gateway.ImportRow) { r.Date = "2026-11-20" }), "unb:9520001000010:14:9520002000019:14:REF1:20261120"},
		{"as UNB writes it", func(p *partners.Partner) { p.Policy.ControlReference = "unique_per_day" },
			envelope(func(r *gateway.ImportRow) { r.Date = "261120" }), "unb:9520001000010:14:9520002000019:14:REF1:20261120"},
		{"the application too", func(p *partners.Partner) { p.Policy.KeyIncludesApplication = true },
			envelope(func(r *gateway.ImportRow) { r.Application = "INVOIC" }), "unb:9520001000010:14:9520002000019:14:REF1:INVOIC"},
		{"the digest is the key", func(p *partners.Partner) { p.Policy.ControlReference = "unreliable" },
			envelope(func(r *gateway.ImportRow) { r.PayloadSHA256 = sum }), "sha256:" + sum},
		{"an AS2 Message-ID in its brackets", nil, gateway.ImportRow{Partner: "acme", Kind: "transport", Transport: "as2", To: "NORTH", ID: "<1@acme.example>"}, "as2:NORTH:1@acme.example"},
		{"an Idempotency-Key", func(p *partners.Partner) { p.Organisation = "north" }, gateway.ImportRow{Partner: "acme", Kind: "transport", Transport: "http", ID: "k:1"}, `http:north:k\:1`},
		{"blanks around values", nil, envelope(func(r *gateway.ImportRow) { r.Reference = " REF1 " }), "unb:9520001000010:14:9520002000019:14:REF1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if c.policy != nil {
				r.set("acme", edi.Party{}, c.policy)
			}
			if im, faults := r.importing()(c.row); im.Counts.Added != 1 {
				t.Fatalf("%+v", faults)
			}
			if n := r.count(`select count(*) from inbox where message_id = '` + strings.ReplaceAll(c.want, "'", "''") + `'`); n != 1 {
				t.Errorf("%s is not there", c.want)
			}
		})
	}
}

func TestImportRowFaults(t *testing.T) {
	r := newRig(t)
	r.set("daily", edi.Party{ID: "9520001000034", Qualifier: "14"}, func(p *partners.Partner) {
		p.Policy.ControlReference = "unique_per_day"
	})
	r.set("constant", edi.Party{ID: "9520001000041", Qualifier: "14"}, func(p *partners.Partner) {
		p.Policy.ControlReference = "unreliable"
	})
	key := func(id string) gateway.ImportRow {
		return gateway.ImportRow{Partner: "acme", Kind: "interchange", MessageID: id}
	}
	document := gateway.ImportRow{Partner: "acme", Kind: "document", Class: "invoice", Type: "380", Number: "R-1", Date: "2026-11-20"}
	in := func(row gateway.ImportRow, change func(*gateway.ImportRow)) gateway.ImportRow {
		change(&row)
		return row
	}
	take := r.importing()
	for _, c := range []struct {
		row          gateway.ImportRow
		column, want string
	}{
		{envelope(func(r *gateway.ImportRow) { r.Kind = "" }), "kind", "is missing: interchange, transport or document"},
		{envelope(func(r *gateway.ImportRow) { r.Kind = "message" }), "kind", `not "message"`},
		{envelope(func(r *gateway.ImportRow) { r.Partner = "nobody" }), "partner", `there is no partner "nobody"`},
		{envelope(func(r *gateway.ImportRow) { r.Number = "R-1" }), "number", "says nothing of kind interchange"},
		{envelope(func(r *gateway.ImportRow) { r.Sender = "9520001000027" }), "sender", "9520001000027:14 is none of the identifiers of acme"},
		{envelope(func(r *gateway.ImportRow) { r.Reference = "" }), "reference", "is missing: UNB 0020 or ISA13; or give message_id"},
		{envelope(func(r *gateway.ImportRow) { r.Reference = "A\x00" }), "reference", "holds a control character"},
		{envelope(func(r *gateway.ImportRow) { r.Reference = strings.Repeat("A", 2000) }), "reference", "has 2000 bytes"},
		{envelope(func(r *gateway.ImportRow) { r.MessageID = "unb:x" }), "syntax", "stands beside message_id"},
		{envelope(func(r *gateway.ImportRow) { r.Syntax = "tradacoms" }), "syntax", "must be edifact or x12"},
		{envelope(func(r *gateway.ImportRow) { r.PayloadSHA256 = "abc" }), "payload_sha256", "64 hex digits"},
		{envelope(func(r *gateway.ImportRow) { r.Test = "maybe" }), "test", "must be true or false"},
		{envelope(func(r *gateway.ImportRow) { r.ReceivedAt = "20.11.2026" }), "received_at", "must be a time like"},
		{envelope(func(r *gateway.ImportRow) { r.ReceivedAt = "2027-11-20" }), "received_at", "is in the future"},
		{envelope(func(r *gateway.ImportRow) { r.Partner, r.Sender = "daily", "9520001000034" }), "date", "the interchange's date is in its key"},
		{envelope(func(r *gateway.ImportRow) { r.Partner, r.Sender, r.Date = "daily", "9520001000034", "20.11." }), "date", "must be a day like"},
		{envelope(func(r *gateway.ImportRow) { r.Partner, r.Sender = "constant", "9520001000041" }), "payload_sha256", "the digest is the key"},
		{in(key("unb:9520001000034:14:9520002000019:14:REF1"), func(r *gateway.ImportRow) { r.Partner = "daily" }), "message_id", "has 6 parts where keys of daily have 7: unb:[test:]sender:qualifier:recipient:qualifier:reference:date as CCYYMMDD"},
		{in(key("unb:9520001000041:14:9520002000019:14:REF1"), func(r *gateway.ImportRow) { r.Partner = "constant" }), "message_id", "keys of constant are sha256:"},
		{in(key("unb:9520001000034:14:9520002000019:14:REF1:today"), func(r *gateway.ImportRow) { r.Partner = "daily" }), "message_id", `ends in "today"`},
		{key("isa:14:9520001000010:ZZ:NORTH:116"), "message_id", "ISA13 has nine digits"},
		{key("edifact:1"), "message_id", "begins with unb:, isa: or sha256:"},
		{key("unb:9520001000010:14:9520002000019:14:A:B"), "message_id", "has 7 parts where keys of acme have 6"},
		{key(`unb:9520001000010:14:9520002000019:14:A\B`), "message_id", "is not written as edigw writes it, which is unb:9520001000010:14:9520002000019:14:AB"},
		{key(`unb:9520001000010:14:9520002000019:14:A\`), "message_id", "ends in the middle of an escape"},
		{key("sha256:12"), "message_id", "64 hex digits"},
		{key("unb:" + strings.Repeat("9", 300)), "message_id", "has 304 bytes"},
		{gateway.ImportRow{Partner: "acme", Kind: "transport", Transport: "smtp", To: "x", ID: "y"}, "transport", "must be as2, as4 or http"},
		{gateway.ImportRow{Partner: "acme", Kind: "transport", Transport: "as2", ID: "y"}, "to", "is missing"},
		{gateway.ImportRow{Partner: "acme", Kind: "transport", Transport: "as2", To: "NORTH", ID: "<>"}, "id", "is missing"},
		{gateway.ImportRow{Partner: "acme", Kind: "transport", MessageID: "as2:NORTH"}, "message_id", "as2:TO:ID"},
		{in(document, func(r *gateway.ImportRow) { r.Class = "order" }), "class", "must be invoice, despatch or generic"},
		{in(document, func(r *gateway.ImportRow) { r.Type = "" }), "type", "380 for an invoice"},
		{in(document, func(r *gateway.ImportRow) { r.Number = "" }), "number", "is missing"},
		{in(document, func(r *gateway.ImportRow) { r.Date = "" }), "date", "numbers are told apart by year"},
		{in(document, func(r *gateway.ImportRow) { r.IssuerScheme = "0088" }), "issuer", "is missing beside issuer_scheme"},
		{in(document, func(r *gateway.ImportRow) { r.PayloadSHA256 = "00" }), "payload_sha256", "says nothing of kind document"},
		{gateway.ImportRow{Unread: "has 3 values, the header 2 columns"}, "", "has 3 values"},
	} {
		t.Run(c.column+" "+c.want, func(t *testing.T) {
			_, faults := take(c.row)
			if len(faults) != 1 || faults[0].Column != c.column || !strings.Contains(faults[0].Detail, c.want) {
				t.Errorf("%+v", faults)
			}
		})
	}
	if n := r.count(`select (select count(*) from inbox) + (select count(*) from document_key)`); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

func TestImportAndDeliveries(t *testing.T) {
	t.Run("an absorbed copy moves the purge date of an imported number", func(t *testing.T) {
		r := newRig(t)
		im, faults := r.importing()(gateway.ImportRow{Partner: "acme", Kind: "document", Class: "invoice", Type: "380", Number: "R-1", Date: "2026", ReceivedAt: "2026-01-01"})
		if im.Counts.Added != 1 {
			t.Fatalf("%+v", faults)
		}
		before := r.count(`select count(distinct purge_on) from document_key where imported`)
		r.must("", interchange("REF9", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF10", message{number: "R-1", amount: "9.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		if after := r.count(`select count(distinct purge_on) from document_key where imported and contents = '' and document_ids = '{}'`); before != 1 || after != 2 || r.posted() != 0 {
			t.Errorf("%d dates, then %d; posted %d", before, after, r.posted())
		}
	})
	t.Run("an imported transport id with the digest of its payload is a repeat", func(t *testing.T) {
		r := newRig(t)
		text := interchange("REF1", message{number: "R-1"})
		im, faults := r.importing()(gateway.ImportRow{Partner: "acme", Kind: "transport", MessageID: dedup.TransportKey("http", "nordhafen", "m-1"), PayloadSHA256: fmt.Sprintf("%x", sha(text))})
		if im.Counts.Added != 1 {
			t.Fatalf("%+v", faults)
		}
		r.must("m-1", text, gateway.Duplicate, gateway.ToldAccepted, "T3")
		if r.posted() != 0 {
			t.Error("what the former gateway has processed was posted again")
		}
	})
	t.Run("a key that a delivery holds makes the import wait, and then come back", func(t *testing.T) {
		r := newRig(t)
		tx, err := r.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := tx.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := tx.Exec(t.Context(), `insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 2, '2099-01-01', 2, 1, '', gen_random_uuid())`, r.key("REF1")); err != nil {
			t.Fatal(err)
		}
		id := uuid.Must(uuid.NewV7())
		err = pgx.BeginFunc(t.Context(), r.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "set local lock_timeout = '50ms'"); err != nil {
				return err
			}
			if _, _, err := dedup.BeginImportTx(t.Context(), tx, dedup.Import{ID: id, Name: "f", Person: "p", Started: time.Now()}, false); err != nil {
				return err
			}
			_, _, err := gateway.Importer{Partner: r.Partner, Now: r.Now}.ImportTx(t.Context(), tx, id, gateway.ImportRows{First: 1, Rows: []gateway.ImportRow{envelope(nil)}})
			return err
		})
		if !errors.Is(err, gateway.ErrBusy) {
			t.Errorf("%v", err)
		}
	})
}
