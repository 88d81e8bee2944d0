package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/pgtest"
)

// testPool is a migrated database whose connections are registered as the
// gateway's are.
func testPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { return Register(conn) }
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func newID(t testing.TB) uuid.UUID {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// write queues rows and sends them.
func write(t *testing.T, pool *pgxpool.Pool, partner string, rows ...Row) {
	t.Helper()
	var b pgx.Batch
	if err := Queue(&b, partner, rows); err != nil {
		t.Fatal(err)
	}
	send(t, pool, &b)
}

func send(t *testing.T, pool *pgxpool.Pool, b *pgx.Batch) {
	t.Helper()
	if err := pool.SendBatch(context.Background(), b).Close(); err != nil {
		t.Fatal(err)
	}
}

// row makes a live row of a message in testdata.
func row(t *testing.T, file string) Row {
	t.Helper()
	ic, all := read(t, testdata(t, file))
	d := all[0].doc
	d.ID = newID(t)
	return Row{Document: d, State: StateLive, MessageID: "unb:a:14:b:14:" + ic.ControlReference, MessageSHA256: ic.Messages[0].SHA256,
		MessageReference: ic.MessageReference(0), Stamp: Stamp(ic, 0), Revision: 1}
}

func TestRoundTrip(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	for _, file := range []string{"invoic-d96a.edi", "invoic-credit-d01b.edi", "desadv-d96a.edi"} {
		t.Run("what was mapped from "+file+" is read back", func(t *testing.T) {
			r := row(t, file)
			purge := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
			r.PurgeOn, r.Epoch, r.MessageIndex = &purge, 2, 7
			write(t, pool, "brennholm", r)
			got, err := store.Get(ctx, "brennholm", r.Document.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, r.Document), asJSON(t, &got.Document)); diff != "" {
				t.Error(diff)
			}
			if !got.Live || got.Epoch != 2 || got.MessageIndex != 7 || got.PurgeOn != "2027-03-01" || got.Stamp != r.Stamp || got.MessageID != r.MessageID ||
				got.MessageSHA256 != fmt.Sprintf("%x", r.MessageSHA256) || got.ReceivedAt.IsZero() {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("a message without handler is read back segment by segment", func(t *testing.T) {
		_, all := read(t, interchange([]string{"UNH+1+ORDERS:D:96A:UN:EAN008", "BGM+220+PO-7?+1+9", "DTM+137:20261127:102", "FTX+AAI+++sagt \"Ja\"?: C?:\\temp"}))
		d := all[0].doc
		d.ID = newID(t)
		write(t, pool, "brennholm", Row{Document: d, State: StateLive, MessageID: "unb:x"})
		got, err := store.Get(ctx, "brennholm", d.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := `[["UNH", "1", ["ORDERS", "D", "96A", "UN", "EAN008"]], ["BGM", "220", "PO-7+1", "9"], ["DTM", ["137", "20261127", "102"]], ["FTX", "AAI", "", "", "sagt \"Ja\": C:\\temp"], ["UNT", "5", "1"]]`
		if diff := cmp.Diff(want, string(got.Segments)); diff != "" {
			t.Error(diff)
		}
		if got.Class != ClassGeneric || got.TypeCode != "ORDERS 220" || got.Number != "PO-7+1" || got.IssueDate != "2026-11-27" {
			t.Errorf("got %+v", got.Document)
		}
	})
	t.Run("numbers keep all their digits and their scale", func(t *testing.T) {
		_, all := read(t, invoicText("MOA+203:12345678901234567890123456789.012300", "PRI+AAA:0.0000001", "QTY+47:-0.50"))
		d := all[0].doc
		d.ID = newID(t)
		write(t, pool, "brennholm", Row{Document: d, State: StateLive, MessageID: "unb:y"})
		got, err := store.Get(ctx, "brennholm", d.ID)
		if err != nil {
			t.Fatal(err)
		}
		l := got.Lines[0]
		if diff := cmp.Diff([]string{"12345678901234567890123456789.012300", "0.0000001", "-0.50"}, []string{l.NetAmount.String(), l.Price.String(), l.Quantity.String()}); diff != "" {
			t.Error(diff)
		}
		var text string
		if err := pool.QueryRow(ctx, `select net_amount::text from document_line where partner_id = 'brennholm' and document_id = $1`, d.ID).Scan(&text); err != nil || text != "12345678901234567890123456789.012300" {
			t.Errorf("the database holds %s, %v", text, err)
		}
	})
	t.Run("a document of another partner is not found", func(t *testing.T) {
		r := row(t, "invoic-d96a.edi")
		write(t, pool, "brennholm", r)
		if _, err := store.Get(ctx, "other", r.Document.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func asJSON(t *testing.T, d *Document) string {
	t.Helper()
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestQueue(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	t.Run("many documents are one statement a table", func(t *testing.T) {
		var rows []Row
		for range 100 {
			rows = append(rows, row(t, "invoic-d96a.edi"), row(t, "desadv-d96a.edi"))
		}
		var b pgx.Batch
		if err := Queue(&b, "acme", rows); err != nil {
			t.Fatal(err)
		}
		if b.Len() != 3 {
			t.Errorf("%d statements", b.Len())
		}
		send(t, pool, &b)
		var documents, lines, packages int
		err := pool.QueryRow(ctx, `select (select count(document_id) from document where partner_id = 'acme'),
			(select count(line) from document_line where partner_id = 'acme'), (select count(package) from document_package where partner_id = 'acme')`).Scan(&documents, &lines, &packages)
		if diff := cmp.Diff([]int{200, 700, 700}, []int{documents, lines, packages}); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("an invoice costs a row for itself and one a line", func(t *testing.T) {
		r := row(t, "invoic-credit-d01b.edi")
		var b pgx.Batch
		if err := Queue(&b, "acme", []Row{r}); err != nil || b.Len() != 2 {
			t.Errorf("%d statements, %v", b.Len(), err)
		}
	})
	t.Run("a document of more lines than one statement takes is complete", func(t *testing.T) {
		_, all := read(t, manyLines(linesAtOnce+1))
		d := all[0].doc
		d.ID = newID(t)
		write(t, pool, "long", Row{Document: d, State: StateLive, MessageID: "unb:long"})
		var lines int
		if err := pool.QueryRow(ctx, `select count(distinct line) from document_line where partner_id = 'long' and document_id = $1`, d.ID).Scan(&lines); err != nil || lines != linesAtOnce+1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
	for name, spoil := range map[string]func(*Document){
		"NUL in a column":      func(d *Document) { d.Supplier.Name = "a\x00b" },
		"NUL in detail":        func(d *Document) { d.Detail.Texts = []Text{{Text: "\\\x00"}} },
		"broken UTF-8":         func(d *Document) { d.Lines[0].Description = "a\xfcb" },
		"a row without its id": func(d *Document) { d.ID = uuid.Nil },
	} {
		t.Run(name+" is an error before SQL, and nothing is queued", func(t *testing.T) {
			r := row(t, "invoic-d96a.edi")
			spoil(r.Document)
			var b pgx.Batch
			if err := Queue(&b, "acme", []Row{r}); err == nil || b.Len() != 0 {
				t.Errorf("got %v, %d statements", err, b.Len())
			}
		})
	}
	t.Run("what looks like an escaped NUL is text", func(t *testing.T) {
		r := row(t, "invoic-d96a.edi")
		r.Document.Detail.Texts = []Text{{Text: `\u0000`}}
		write(t, pool, "acme", r)
		got, err := Store{Pool: pool}.Get(ctx, "acme", r.Document.ID)
		if err != nil || got.Detail.Texts[0].Text != `\u0000` {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("quotes, braces, commas and the word NULL survive the arrays", func(t *testing.T) {
		r := row(t, "invoic-d96a.edi")
		want := []string{`a "b", {c}\`, "NULL", " x ", "{}"}
		r.Document.Supplier.Name, r.Document.Buyer.Name, r.Document.Supplier.ID, r.Document.Buyer.ID = want[0], want[1], want[2], want[3]
		write(t, pool, "acme", r)
		got, err := Store{Pool: pool}.Get(ctx, "acme", r.Document.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, []string{got.Supplier.Name, got.Buyer.Name, got.Supplier.ID, got.Buyer.ID}); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRevise(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	older, newer := row(t, "invoic-d96a.edi"), row(t, "invoic-d96a.edi")
	older.Stamp, newer.Stamp = "20261101000000/1", "20261102000000/2"
	newer.Revision, newer.Supersedes = 2, &older.Document.ID
	write(t, pool, "acme", older, newer)
	supersede := func(old, by uuid.UUID, stamp string) int64 {
		var b pgx.Batch
		changed := int64(-1)
		QueueSupersede(&b, "acme", []uuid.UUID{old}, by, stamp).Exec(func(ct pgconn.CommandTag) error {
			changed = ct.RowsAffected()
			return nil
		})
		send(t, pool, &b)
		return changed
	}
	live := func(id uuid.UUID) bool {
		d, err := store.Get(ctx, "acme", id)
		if err != nil {
			t.Fatal(err)
		}
		return d.Live
	}
	t.Run("an older revision replaces nothing newer", func(t *testing.T) {
		if n := supersede(newer.Document.ID, older.Document.ID, older.Stamp); n != 0 || !live(newer.Document.ID) {
			t.Errorf("changed %d", n)
		}
	})
	t.Run("a newer revision replaces the older, once", func(t *testing.T) {
		if n := supersede(older.Document.ID, newer.Document.ID, newer.Stamp); n != 1 || live(older.Document.ID) {
			t.Errorf("changed %d", n)
		}
		if n := supersede(older.Document.ID, newer.Document.ID, newer.Stamp); n != 0 {
			t.Errorf("changed %d again", n)
		}
	})
	t.Run("a cancelled document is live no more", func(t *testing.T) {
		var b pgx.Batch
		QueueCancel(&b, "acme", []uuid.UUID{newer.Document.ID}, newID(t), "20261103000000/3", "20261103000000/3")
		send(t, pool, &b)
		if live(newer.Document.ID) {
			t.Error("still live")
		}
	})
	t.Run("what stands no more says why, and which interchange cancelled it", func(t *testing.T) {
		stands := row(t, "invoic-d96a.edi")
		write(t, pool, "acme", stands)
		got := map[uuid.UUID]Ended{}
		var b pgx.Batch
		QueueEnded(&b, []string{"acme", "acme", "acme", "bolt"}, []uuid.UUID{older.Document.ID, newer.Document.ID, stands.Document.ID, older.Document.ID}, func(d Ended) {
			d.CancelledBy = nil
			got[d.ID] = d
		})
		send(t, pool, &b)
		want := map[uuid.UUID]Ended{older.Document.ID: {ID: older.Document.ID, Superseded: true}, newer.Document.ID: {ID: newer.Document.ID, Stamp: "20261103000000/3"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("a held document is not live", func(t *testing.T) {
		held := row(t, "invoic-d96a.edi")
		held.State = StateHeld
		write(t, pool, "acme", held)
		if live(held.Document.ID) {
			t.Error("live while held")
		}
	})
	t.Run("a cancellation is kept, and is nothing to pay", func(t *testing.T) {
		r := row(t, "invoic-d96a.edi")
		r.Document.Function = "1"
		write(t, pool, "cancelling", r)
		page, err := store.List(ctx, Filter{Partner: "cancelling", Live: true})
		d, err2 := store.Get(ctx, "cancelling", r.Document.ID)
		if err != nil || err2 != nil || d.Live || len(page.Documents) != 0 {
			t.Errorf("got %+v, %v, %v, %v", d, page, err, err2)
		}
	})
	t.Run("a test document is never live", func(t *testing.T) {
		r := row(t, "invoic-d96a.edi")
		r.Document.Test = true
		write(t, pool, "acme", r)
		if live(r.Document.ID) {
			t.Error("live")
		}
	})
}

func TestList(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	var ids []string
	for i := range 7 {
		r := row(t, []string{"invoic-d96a.edi", "desadv-d96a.edi"}[i%2])
		r.Document.Test = i == 6
		ids = append([]string{r.Document.ID.String()}, ids...)
		write(t, pool, "acme", r)
	}
	write(t, pool, "other", row(t, "invoic-d96a.edi"))
	list := func(t *testing.T, f Filter) []string {
		t.Helper()
		page, err := store.List(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range page.Documents {
			got = append(got, d.ID.String())
		}
		return append(got, "next "+page.Next)
	}
	for _, c := range []struct {
		name string
		f    Filter
		want []string
	}{
		{"all of a partner, newest first", Filter{Partner: "acme"}, append(append([]string{}, ids...), "next ")},
		{"a page and where it goes on", Filter{Partner: "acme", Limit: 3}, append(append([]string{}, ids[:3]...), "next "+ids[2])},
		{"the page after", Filter{Partner: "acme", After: ids[2], Limit: 4}, append(append([]string{}, ids[3:]...), "next ")},
		{"by class", Filter{Partner: "acme", Class: ClassDespatch}, []string{ids[1], ids[3], ids[5], "next "}},
		{"by number", Filter{Partner: "acme", Number: "LS-77120"}, []string{ids[1], ids[3], ids[5], "next "}},
		{"by interchange", Filter{Partner: "acme", MessageID: "unb:a:14:b:14:9901"}, []string{ids[1], ids[3], ids[5], "next "}},
		{"by SSCC", Filter{Partner: "acme", SSCC: "395200030000000040"}, []string{ids[1], ids[3], ids[5], "next "}},
		{"only what counts", Filter{Partner: "acme", Class: ClassInvoice, Live: true}, []string{ids[2], ids[4], ids[6], "next "}},
		{"nothing of a stranger", Filter{Partner: "nobody"}, []string{"next "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, list(t, c.f)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a cursor that is none is an error", func(t *testing.T) {
		if _, err := store.List(ctx, Filter{Partner: "acme", After: "x"}); err == nil || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("every statement finds its rows by partner", func(t *testing.T) {
		for _, f := range []Filter{{Partner: "acme"}, {Partner: "acme", Number: "x"}, {Partner: "acme", MessageID: "x"}, {Partner: "acme", SSCC: "x", Live: true}} {
			sql, args := listSQL(f.conditions(), 10, f.indexed())
			rows, err := pool.Query(ctx, "explain "+sql, args...)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, "partner_id = 'acme'") {
				t.Errorf("%s", text)
			}
		}
	})
}
