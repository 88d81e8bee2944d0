package migrations_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/pgtest"
)

func TestPartitionsThatWereThereGetTheOrder(t *testing.T) {
	pool := pgtest.New(t)
	for _, sql := range []string{
		`drop index outbox_order`,
		`create table outbox_202701 partition of outbox for values from ('2027-01-01') to ('2027-02-01')`,
		`create index outbox_order on only outbox (partner_id, xid, event_id)`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ordered := func() (n int) {
		if err := pool.QueryRow(t.Context(), `select count(*) from pg_inherits where inhparent = 'outbox_order'::regclass`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2 {
		if err := migrations.IndexPartitions(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		if n := ordered(); n != 3 {
			t.Errorf("%d partitions have the order, want 3", n)
		}
	}
	t.Run("an index of some rows, with what it includes, is made the same", func(t *testing.T) {
		for _, sql := range []string{
			`drop index delivery_refused`,
			`create table delivery_202701 partition of delivery for values from ('2027-01-01') to ('2027-02-01')`,
			`create index delivery_refused on only delivery (partner_id, delivery_id) include (received_at, bytes, payload_id)
				where verdict = 'refused' or message_id is null and transport_id is null`,
		} {
			if _, err := pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		if err := migrations.IndexPartitions(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := pool.QueryRow(t.Context(), `
			select count(*) from pg_inherits
			where inhparent = 'delivery_refused'::regclass and inhrelid::regclass::text in ('delivery_202701_refused', 'delivery_default_refused', 'delivery_held_refused')`).Scan(&n); err != nil || n != 3 {
			t.Errorf("%d partitions have it, %v", n, err)
		}
	})
	t.Run("the time limits of other statements do not break it off, and hold again behind it", func(t *testing.T) {
		for _, sql := range []string{
			`drop index outbox_order`,
			`create table outbox_202702 partition of outbox for values from ('2027-02-01') to ('2027-03-01')`,
			`create index outbox_order on only outbox (partner_id, xid, event_id)`,
			`create index outbox_default_order on outbox_default (partner_id, xid, event_id)`,
			`create index outbox_held_order on outbox_held (partner_id, xid, event_id)`,
			`create index outbox_202701_order on outbox_202701 (partner_id, xid, event_id)`,
			`alter index outbox_order attach partition outbox_default_order`,
			`alter index outbox_order attach partition outbox_held_order`,
			`alter index outbox_order attach partition outbox_202701_order`,
		} {
			if _, err := pool.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		hasty := pool.Config()
		hasty.ConnConfig.RuntimeParams["lock_timeout"], hasty.MaxConns = "50ms", 1
		narrow, err := pgxpool.NewWithConfig(t.Context(), hasty)
		if err != nil {
			t.Fatal(err)
		}
		defer narrow.Close()
		delivery, err := pool.Begin(t.Context()) // which the index has to wait for
		if err != nil {
			t.Fatal(err)
		}
		if _, err := delivery.Exec(t.Context(), `lock table outbox_202702 in row exclusive mode`); err != nil { // as one that writes there
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- migrations.IndexPartitions(t.Context(), narrow) }()
		for waits := false; !waits; {
			select {
			case err := <-ended:
				t.Fatalf("it ended before the delivery that it has to wait for: %v", err)
			default:
			}
			if err := pool.QueryRow(t.Context(), `select exists (select from pg_stat_progress_create_index where phase like 'waiting%'), pg_sleep(0.2)::text`).Scan(&waits, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := migrations.IndexPartitions(t.Context(), pool); err != nil { // another process leaves it alone
			t.Error(err)
		}
		if err := delivery.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || ordered() != 4 {
			t.Errorf("%d partitions have the order, %v", ordered(), err)
		}
		var limit string
		if err := narrow.QueryRow(t.Context(), `select current_setting('lock_timeout')`).Scan(&limit); err != nil || limit != "50ms" {
			t.Errorf("the limit is %q, %v", limit, err)
		}
	})
	t.Run("one that a migration which was broken off has left is made anew", func(t *testing.T) {
		valid := func() (n int) {
			if err := pool.QueryRow(t.Context(), `select count(*) from pg_index where indisvalid and indexrelid = 'outbox_held_order'::regclass`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if _, err := pool.Exec(t.Context(), `update pg_index set indisvalid = false where indexrelid = 'outbox_held_order'::regclass`); err != nil {
			t.Fatal(err)
		}
		if err := migrations.IndexPartitions(t.Context(), pool); err != nil || valid() != 1 {
			t.Errorf("valid: %d, %v", valid(), err)
		}
	})
}

// TestIndexesThatWereBrokenOff: a start that ended while an index was made leaves one that
// is written and not read, which the next one takes for the index.
func TestIndexesThatWereBrokenOff(t *testing.T) {
	pool := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	invalid := func() (names []string) {
		t.Helper()
		rows, err := pool.Query(t.Context(), `select indexrelid::regclass::text from pg_index where not indisvalid order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return names
	}
	whole := invalid() // of partitioned tables, which lack those of their partitions
	exec(`create index document_number_ccnew on document (partner_id, number)`)
	exec(`update pg_index set indisvalid = false
		where indexrelid in ('document_number'::regclass, 'document_number_ccnew'::regclass, 'effect_done'::regclass, 'outbox_held_order'::regclass)`)
	if n := len(invalid()); n != len(whole)+4 {
		t.Fatalf("%d indexes are not valid", n)
	}
	if err := migrations.IndexPartitions(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, invalid()); diff != "" {
		t.Errorf("not valid (-want +got):\n%s", diff)
	}
	var left int
	if err := pool.QueryRow(t.Context(), `select count(*) from pg_class where relname ~ '_cc(new|old)'`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d are left of making them anew, %v", left, err)
	}
}

// TestAnIndexThatCannotBeMade: one that a person tried to make keeps none of ours from
// being made anew, and is told of.
func TestAnIndexThatCannotBeMade(t *testing.T) {
	pool := pgtest.New(t)
	for _, sql := range []string{`create table a_list (n int)`, `insert into a_list values (1), (1)`} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `create unique index concurrently a_list_once on a_list (n)`); err == nil {
		t.Fatal("it was made")
	}
	if _, err := pool.Exec(t.Context(), `update pg_index set indisvalid = false where indexrelid = 'effect_done'::regclass`); err != nil {
		t.Fatal(err)
	}
	if err := migrations.IndexPartitions(t.Context(), pool); err == nil || !strings.Contains(err.Error(), "a_list_once") {
		t.Errorf("told: %v", err)
	}
	var valid bool
	if err := pool.QueryRow(t.Context(), `select indisvalid from pg_index where indexrelid = 'effect_done'::regclass`).Scan(&valid); err != nil || !valid {
		t.Errorf("the index of ours is valid: %t, %v", valid, err)
	}
}

// TestMigrationsThatWereBrokenOff: the files that make indexes of tables that were there run
// again after they ended within one.
func TestMigrationsThatWereBrokenOff(t *testing.T) {
	pool := pgtest.New(t)
	indexes := []string{"inbox_payload_held", "variant_payload_held", "inbox_unfinished", "effect_done"}
	for _, name := range indexes {
		if _, err := pool.Exec(t.Context(), `update pg_index set indisvalid = false where indexrelid = $1::text::regclass`, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `delete from goose_db_version where version_id in (9, 13)`); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Up(t.Context(), pool, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := pool.QueryRow(t.Context(), `select count(*) from pg_index where indisvalid and indexrelid::regclass::text = any($1)`, indexes).Scan(&n); err != nil || n != len(indexes) {
		t.Errorf("%d of %d are valid, %v", n, len(indexes), err)
	}
}
