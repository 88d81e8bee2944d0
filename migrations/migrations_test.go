package migrations_test

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/pgtest"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func TestSeveralStartAtOnce(t *testing.T) {
	url := pgtest.EmptyURL(t)
	const starters = 4
	var logs [starters]bytes.Buffer
	var wg sync.WaitGroup
	for i := range starters {
		pool := pgtest.Pool(t, url) // a gateway each
		wg.Go(func() {
			if err := migrations.Up(t.Context(), pool, slog.New(slog.NewTextHandler(&logs[i], nil))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	pool := pgtest.Pool(t, url)
	list, err := migrations.Status(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no migrations")
	}
	for _, m := range list {
		if !m.Applied || m.AppliedAt.IsZero() {
			t.Errorf("%s: applied %v at %v", m.File, m.Applied, m.AppliedAt)
		}
		times := 0
		for i := range logs {
			times += bytes.Count(logs[i].Bytes(), []byte("file="+m.File))
		}
		if times != 1 {
			t.Errorf("%s was applied %d times", m.File, times)
		}
	}
	database, program, err := migrations.Version(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if last := list[len(list)-1].Version; database != last || program != last {
		t.Errorf("versions: database %d, program %d, want %d", database, program, last)
	}
}

func TestStatusOfAnEmptyDatabase(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.EmptyURL(t))
	list, err := migrations.Status(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.Applied {
			t.Errorf("%s is told as applied", m.File)
		}
	}
	if database, program, err := migrations.Version(t.Context(), pool); err != nil || database != 0 || program == 0 {
		t.Errorf("versions: database %d, program %d, %v", database, program, err)
	}
}

func TestOrder(t *testing.T) {
	file := func(sql string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)} }
	first := fstest.MapFS{
		"00001_a.sql": file(`create table a (n int);`),
		"00003_c.sql": file(`create table c (n int);`),
	}
	merged := fstest.MapFS{
		"00001_a.sql": first["00001_a.sql"],
		"00002_b.sql": file(`create table b (n int);`),
		"00003_c.sql": first["00003_c.sql"],
	}
	pool := pgtest.Pool(t, pgtest.EmptyURL(t))
	log := slog.New(slog.DiscardHandler)
	if err := migrations.UpFrom(t.Context(), pool, first, log); err != nil {
		t.Fatal(err)
	}

	t.Run("a file merged late with a lower number is applied", func(t *testing.T) {
		if err := migrations.UpFrom(t.Context(), pool, merged, log); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, tables(t, pool)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("the program before starts on the schema after", func(t *testing.T) {
		if err := migrations.UpFrom(t.Context(), pool, first, log); err != nil {
			t.Error(err)
		}
	})

	t.Run("a file that fails leaves nothing, and names itself", func(t *testing.T) {
		broken := fstest.MapFS{"00004_d.sql": file("create table d (n int);\ninsert into d values ('x');")}
		err := migrations.UpFrom(t.Context(), pool, broken, log)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("00004_d.sql")) {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, tables(t, pool)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("the pool's timeouts do not cut a migration off", func(t *testing.T) {
		config := pool.Config()
		config.ConnConfig.RuntimeParams["statement_timeout"] = "50"
		hasty, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer hasty.Close()
		slow := fstest.MapFS{"00005_e.sql": file(`select pg_sleep(0.2);`)}
		if err := migrations.UpFrom(t.Context(), hasty, slow, log); err != nil {
			t.Error(err)
		}
	})
}

func tables(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		select relname from pg_class
		where relkind = 'r' and relnamespace = 'public'::regnamespace and relname !~ '^goose'
		order by relname`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}
