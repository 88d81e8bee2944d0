// Package pgtest gives tests a real PostgreSQL: every test a migrated database
// of its own, within some tens of milliseconds.
//
// Each test process runs one server that flushes nothing to disk. Its cluster
// is a copy of one that is made once for a set of migrations and kept in the
// temporary folder, so that packages tested at the same time share no state
// and none of them waits for initdb. EDIGW_TEST_DATABASE_URL names a server to
// use instead. Without PostgreSQL a test fails, with the command that installs
// it; it never skips.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	pgxdecimal "github.com/jackc/pgx-shopspring-decimal"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// New gives a pool on a migrated database that belongs to t alone and goes
// with it. Decimals are registered on its connections.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return Pool(t, URL(t))
}

// URL makes a migrated database for t alone and gives its connection URL, for
// tests that hand it to another process.
func URL(t testing.TB) string {
	t.Helper()
	srv, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return createDatabase(t, srv, srv.template)
}

// EmptyURL makes a database without any table, for tests of migrations.
func EmptyURL(t testing.TB) string {
	t.Helper()
	srv, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return createDatabase(t, srv, "template0")
}

// Pool opens a pool on any database, as New does, and closes it with t.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		pgxdecimal.Register(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func createDatabase(t testing.TB, srv server, template string) string {
	t.Helper()
	name := databaseName(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	create := fmt.Sprintf(`create database %s template %s strategy %s`, quote(name), quote(template), srv.strategy)
	if err := execute(ctx, srv.url, create); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		// force: a connection that the test left open is its own affair.
		if err := execute(ctx, srv.url, `drop database `+quote(name)+` with (force)`); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	u, err := withDatabase(srv.url, name)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return u
}

// databaseName shows in pg_stat_activity which test it is. PostgreSQL cuts
// names at 63 bytes.
func databaseName(t testing.TB) string {
	short := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, t.Name())
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return "t_" + hex.EncodeToString(b) + "_" + short[:min(len(short), 40)]
}

// execute runs one statement on a connection of its own: create and drop database
// allow no transaction and no pool that lingers.
func execute(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	if err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	if closeErr := conn.Close(ctx); err == nil {
		err = closeErr
	}
	return err
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
