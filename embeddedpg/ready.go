package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ready waits until the server answers and has our database.
func (s *Server) ready(ctx context.Context) error {
	deadline := time.Now().Add(silence)
	var told time.Time
	for {
		err := s.ensureDatabase(ctx)
		if err == nil {
			return nil
		}
		var answer *pgconn.PgError
		switch {
		case errors.As(err, &answer) && answer.Code == "57P03": // cannot_connect_now: it recovers
			deadline = time.Now().Add(silence)
			if time.Since(told) > 5*time.Second {
				s.log.Info("PostgreSQL is starting up", "says", answer.Message)
				told = time.Now()
			}
		case errors.As(err, &answer):
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("no answer within %s: %w", silence, err)
		}
		select {
		case <-s.child.exited:
			s.child.settle()
			return s.child.failure()
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL to start: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ensureDatabase connects to our database. In a new cluster it is the one that
// initdb called postgres: a rename takes a millisecond, a further database as
// long as everything else at the first start.
func (s *Server) ensureDatabase(ctx context.Context) error {
	err := execute(ctx, s.url, Database, `select`)
	if answer, ok := errors.AsType[*pgconn.PgError](err); !ok || answer.Code != "3D000" { // invalid_catalog_name
		return err
	}
	return execute(ctx, s.url, "template1",
		`alter database postgres rename to `+pgx.Identifier{Database}.Sanitize())
}

func execute(ctx context.Context, url, database, sql string) (err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.Database = database
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}
