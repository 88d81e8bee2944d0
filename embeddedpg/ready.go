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

// ensureDatabase connects to the database that initdb made and adds ours.
func (s *Server) ensureDatabase(ctx context.Context) (err error) {
	config, err := pgx.ParseConfig(s.url)
	if err != nil {
		return err
	}
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var exists bool
	err = conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, Database).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `create database `+pgx.Identifier{Database}.Sanitize())
	return err
}
