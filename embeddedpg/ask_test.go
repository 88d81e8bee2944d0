package embeddedpg_test

import (
	"context"
	"testing"
	"time"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/jackc/pgx/v5"
)

func start(t *testing.T, opts embeddedpg.Options) *embeddedpg.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pg, err := embeddedpg.Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, pg) })
	return pg
}

func stop(t *testing.T, pg *embeddedpg.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := pg.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func ask(t *testing.T, pg *embeddedpg.Server, sql string, args ...any) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&answer); err != nil {
		t.Error(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return answer
}

func execute(t *testing.T, pg *embeddedpg.Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Error(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
