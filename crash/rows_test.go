//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// configured are the tables that hold no delivery. Control numbers are leased in
// blocks outside of the transaction; gaps are legal.
var configured = []string{
	"account", "api_token", "configuration", "control_number", "goose_db_version", "habit", "habit_outage", "habit_pass", "habit_series", "key_import", "organisation", "organisation_revision", "outgoing",
	"partner", "partner_identifier", "partner_revision", "partner_token", "private_key", "private_key_certificate", "purge", "purge_run", "purge_step", "subscription",
}

// tables lists all others, from the catalogue, so that a new one is not missed.
func tables(t testing.TB, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(context.Background(), `
		select c.relname::text, exists (
			select from pg_attribute a where a.attrelid = c.oid and a.attname = 'partner_id' and not a.attisdropped)
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	var name string
	var ofPartner bool
	_, err = pgx.ForEachRow(rows, []any{&name, &ofPartner}, func() error {
		switch {
		case slices.Contains(configured, name):
		case !ofPartner:
			return fmt.Errorf("table %s has no partner_id: say in this test what it holds", name)
		default:
			list = append(list, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// rows counts what stands in every table for a partner; what is empty is left
// out. The journal's rows of plain duplicates come a second late and are left
// out.
func (p partner) rows(t testing.TB, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	var counts []string
	for _, table := range tables(t, pool) {
		count := fmt.Sprintf(`select '%s', count(*) from %s where partner_id = $1`, table, pgx.Identifier{table}.Sanitize())
		if table == "delivery" {
			count += ` and verdict <> 'duplicate'`
		}
		counts = append(counts, count)
	}
	found := map[string]int{}
	rows, err := pool.Query(context.Background(), strings.Join(counts, " union all "), p.id())
	if err != nil {
		t.Fatal(err)
	}
	var table string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&table, &n}, func() error {
		if n > 0 {
			found[table] = n
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// nothing checks that no table has a row of the partner.
func (p partner) nothing(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	if diff := cmp.Diff(map[string]int{}, p.rows(t, pool)); diff != "" {
		t.Fatalf("what was not committed left rows (-want +got):\n%s", diff)
	}
}

// once checks that one interchange with so many invoices of one line had its
// effect once, in every table.
func (p partner) once(t testing.TB, pool *pgxpool.Pool, invoices int, key string) {
	t.Helper()
	if diff := cmp.Diff(effect(invoices, key != ""), p.rows(t, pool)); diff != "" {
		t.Errorf("not one effect (-want +got):\n%s", diff)
	}
	p.eachOnce(t, pool)
}

// effect is what one interchange with so many invoices of one line leaves in every
// table; keyed tells that it came under a transport id.
func effect(invoices int, keyed bool) map[string]int {
	rows := map[string]int{
		"inbox": 1, "acknowledgement": 1, "delivery": 1, "payload": 1, "document_key": invoices,
		"document": invoices, "document_line": invoices,
		"outbox": 1 + invoices, // message.received, and document.created for each
	}
	if keyed { // a transport key and its receipt
		rows["inbox"], rows["acknowledgement"] = 2, 2
	}
	return rows
}

// eachOnce checks, whatever came in, that no document is posted twice, and that
// documents, their guards and their events belong together one to one.
func (p partner) eachOnce(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	for what, sql := range map[string]string{
		"numbers posted twice":          `select number from document where partner_id = $1 group by number having count(*) > 1`,
		"documents without their guard": `select number from document d where partner_id = $1 and not exists (select from document_key k where k.partner_id = $1 and d.document_id = any(k.document_ids))`,
		"guards without their document": `select message_id from document_key k where partner_id = $1 and not exists (select from document d where d.partner_id = $1 and d.document_id = any(k.document_ids))`,
		"documents without one event":   `select number from document d where partner_id = $1 and 1 <> (select count(*) from outbox o where o.partner_id = $1 and o.type = 'document.created' and o.body->>'document_id' = d.document_id::text)`,
		"documents without their key":   `select number from document d where partner_id = $1 and not exists (select from inbox i where i.partner_id = $1 and i.message_id = d.message_id)`,
		"keys without their delivery":   `select message_id from inbox i where partner_id = $1 and not exists (select from delivery d where d.partner_id = $1 and d.delivery_id = i.delivery_id)`,
		"keys without their answer":     `select message_id from inbox i where partner_id = $1 and not exists (select from acknowledgement a where a.partner_id = $1 and a.ack_id = i.ack_id)`,
		"deliveries without payload":    `select message_id from delivery d where partner_id = $1 and payload_id is not null and not exists (select from payload p where p.partner_id = $1 and p.payload_id = d.payload_id)`,
	} {
		rows, err := pool.Query(context.Background(), sql, p.id())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(list) > 0 {
			t.Errorf("%s: %v", what, list)
		}
	}
}

// receipt gives the stored answer of the partner's one delivery: the bytes that
// were rendered for a transport id, else the interchange's part. "" if nothing
// is stored.
func (p partner) receipt(t testing.TB, pool *pgxpool.Pool, key string) string {
	t.Helper()
	sql := `select answer from acknowledgement where partner_id = $1`
	if key != "" {
		sql = `select receipt from acknowledgement where partner_id = $1 and receipt is not null`
	}
	var stored []byte
	if err := pool.QueryRow(context.Background(), sql, p.id()).Scan(&stored); err == pgx.ErrNoRows {
		return ""
	} else if err != nil {
		t.Fatal(err)
	}
	return string(stored)
}

// gives checks that an answer is the stored receipt: byte for byte where one was
// rendered, else with the stored part in it.
func (a answer) gives(t testing.TB, stored, key string) {
	t.Helper()
	switch {
	case stored == "":
		t.Error("no receipt is stored")
	case key != "" && a.body != stored:
		t.Errorf("not the stored receipt (-stored +answer):\n%s", cmp.Diff(stored, a.body))
	case key == "" && !strings.Contains(a.body, stored):
		t.Errorf("the stored part is not in the answer:\n%s\n%s", stored, a.body)
	}
}
