package migrations_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"testing"
	"testing/fstest"

	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/pgtest"
)

func TestOrdersOfAReleaseBefore(t *testing.T) {
	const last = "00029_order_references.sql"
	files := os.DirFS(".")
	names, err := fs.Glob(files, "0*.sql")
	if err != nil {
		t.Fatal(err)
	}
	until := func(end string) fs.FS {
		t.Helper()
		set := fstest.MapFS{}
		for _, name := range names {
			if name > end {
				break
			}
			text, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			set[name] = &fstest.MapFile{Data: text}
		}
		return set
	}
	pool := pgtest.Pool(t, pgtest.EmptyURL(t))
	log := slog.New(slog.DiscardHandler)
	if err := migrations.UpFrom(t.Context(), pool, until("00028_signers.sql"), log); err != nil {
		t.Fatal(err)
	}
	for i, sql := range []string{
		// 8 kB that do not get shorter, and the longest that is found by the index.
		`select string_agg(md5(n::text), '') from generate_series(1, 256) n`,
		`select repeat('7', 140)`,
		`select repeat('8', 141)`,
	} {
		if _, err := pool.Exec(t.Context(), `
			insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256, order_reference)
			values ('acme', $1, 'invoice', '380', 'RE-1', 'live', 'unb:1', '\x00', (`+sql+`))`, fmt.Sprintf("01980000-0000-7000-8000-%012d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		`create index document_order on document (partner_id, number)`,
		`update pg_index set indisvalid = false where indexrelid = 'document_order'::regclass`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("a reference too long for an index does not keep the gateway from starting", func(t *testing.T) {
		if err := migrations.UpFrom(t.Context(), pool, until(last), log); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("what a start that was broken off has left does not stand in the index's place", func(t *testing.T) {
		var valid bool
		var of string
		if err := pool.QueryRow(t.Context(), `
			select indisvalid, substring(pg_get_indexdef(indexrelid) from '\(.*$') from pg_index where indexrelid = 'document_order'::regclass`).Scan(&valid, &of); err != nil {
			t.Fatal(err)
		}
		if want := "(partner_id, order_reference) WHERE (octet_length(order_reference) <= 140)"; !valid || of != want {
			t.Errorf("valid %v, %s", valid, of)
		}
	})
	t.Run("it has those that it is for", func(t *testing.T) {
		var n int
		if err := pool.QueryRow(t.Context(), `select reltuples::int from pg_class where oid = 'document_order'::regclass`).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
	})
}
