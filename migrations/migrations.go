// Package migrations holds the schema as numbered SQL files, embedded in the
// program, and brings a database up to date with them.
//
// Migrations only add: the program before runs on the schema after, so that a
// rolling upgrade needs no stop. There is no way down. schema.sql shows the
// result; it is made by `make schema` and checked by `make verify`.
package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed 0*.sql
var files embed.FS

// Up applies what the database lacks. Any number of gateways may start at
// once: one of them applies, the others wait for it, up to five minutes. A
// file with a lower number than the newest applied one is applied too, since
// branches are merged in any order.
func Up(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	return up(ctx, pool, files, log)
}

func up(ctx context.Context, pool *pgxpool.Pool, fsys fs.FS, log *slog.Logger) (err error) {
	p, db, err := provider(pool, fsys)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	applied, err := p.Up(ctx)
	for _, m := range applied {
		log.Info("migration applied", "version", m.Source.Version, "file", m.Source.Path, "took", m.Duration)
	}
	if partial, ok := errors.AsType[*goose.PartialError](err); ok && partial.Failed != nil {
		return fmt.Errorf("migration %s: %w", partial.Failed.Source.Path, err)
	}
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// Migration is one file and whether the database has it.
type Migration struct {
	Version   int64
	File      string
	Applied   bool
	AppliedAt time.Time // zero unless Applied
}

// Status lists the migrations of this program in the order of their numbers.
func Status(ctx context.Context, pool *pgxpool.Pool) (list []Migration, err error) {
	p, db, err := provider(pool, files)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	states, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	for _, s := range states {
		list = append(list, Migration{
			Version:   s.Source.Version,
			File:      s.Source.Path,
			Applied:   s.State == goose.StateApplied,
			AppliedAt: s.AppliedAt,
		})
	}
	return list, nil
}

// Version gives the newest version the database has, 0 for an empty one, and
// the newest this program knows. A database that is ahead belongs to a newer
// program, which is no fault.
func Version(ctx context.Context, pool *pgxpool.Pool) (database, program int64, err error) {
	p, db, err := provider(pool, files)
	if err != nil {
		return 0, 0, fmt.Errorf("migrations: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	database, program, err = p.GetVersions(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("migrations: %w", err)
	}
	return database, program, nil
}

// Digest names this set of migrations: a database made from it can be kept and
// copied until the digest changes.
func Digest() (string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// provider opens connections of its own, beside the pool's: goose wants a
// *sql.DB, holds its lock on one connection for long, and must not be cut off
// by the pool's timeouts.
func provider(pool *pgxpool.Pool, fsys fs.FS) (*goose.Provider, *sql.DB, error) {
	config := pool.Config().ConnConfig
	for _, timeout := range []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"} {
		delete(config.RuntimeParams, timeout)
	}
	// goose polls its lock every 5 s unless told otherwise: here 1 s, 300 times.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, nil, err
	}
	db := stdlib.OpenDB(*config)
	p, err := goose.NewProvider(goose.DialectPostgres, db, fsys,
		goose.WithSessionLocker(locker), goose.WithAllowOutofOrder(true))
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return p, db, nil
}
