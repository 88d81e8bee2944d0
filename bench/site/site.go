// Package site sets up what the benchmarks measure: a PostgreSQL that flushes as
// in production, with the settings of the database's own limit it is compared
// with, and the built program on it, as processes of their own.
package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/partners"
)

// Partner and Token are of the one partner there is.
const (
	Partner = "brennholm"
	Token   = "edigw_p_bench"
)

// settings are those of the cluster that the database's limit is measured on.
var settings = map[string]string{
	"shared_buffers": "1GB", "max_wal_size": "8GB", "wal_compression": "lz4", "max_connections": "200",
}

// Site is a database with partners, in a folder that goes with it.
type Site struct {
	Dir  string
	Pool *pgxpool.Pool
	pg   atomic.Pointer[embeddedpg.Server] // started anew while others ask for it
	run  embeddedpg.Options

	release func() error // of the volume
}

// Options say what a site is to be beside what the benchmarks measure.
type Options struct {
	Settings map[string]string                                  // of the server; "" takes one of ours back
	Volume   func(dir string) (release func() error, err error) // mounts what the server's folder, dir/postgres, is to be on
	Partners string                                             // YAML of organisations and partners; "" is the one of the benchmarks
}

// Open makes a site with more settings of the server. Close takes everything away
// again.
func Open(ctx context.Context, more map[string]string) (*Site, error) {
	return OpenWith(ctx, Options{Settings: more})
}

// OpenWith is Open with partners of its own, and a volume.
func OpenWith(ctx context.Context, o Options) (_ *Site, err error) {
	s := &Site{}
	if s.Dir, err = os.MkdirTemp("", "edigw-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	if err := os.Chmod(s.Dir, 0o711); err != nil { // postgres may be another user
		return nil, err
	}
	if o.Volume != nil {
		if s.release, err = o.Volume(s.Dir); err != nil {
			return nil, err
		}
	}
	s.run = embeddedpg.Options{DataDir: filepath.Join(s.Dir, "postgres"), Settings: maps.Clone(settings)}
	maps.Copy(s.run.Settings, o.Settings)
	maps.DeleteFunc(s.run.Settings, func(_, value string) bool { return value == "" })
	if err := s.StartServer(ctx); err != nil {
		return nil, err
	}
	if s.Pool, err = pgxpool.New(ctx, s.pg.Load().URL()); err != nil {
		return nil, err
	}
	if err := migrations.Up(ctx, s.Pool, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	if o.Partners == "" {
		o.Partners = brennholm()
	}
	return s, s.Connect(ctx, o.Partners)
}

// StartServer starts PostgreSQL, the first time or after it has ended.
func (s *Site) StartServer(ctx context.Context) error {
	if pg := s.pg.Load(); pg != nil {
		if err := pg.Stop(ctx); err != nil {
			return err
		}
	}
	pg, err := embeddedpg.Start(ctx, s.run)
	if err != nil {
		return err
	}
	s.pg.Store(pg)
	return nil
}

// ServerExited is closed when PostgreSQL has ended, asked or not.
func (s *Site) ServerExited() <-chan struct{} { return s.pg.Load().Exited() }

// Connect applies organisations and partners. A program that runs knows of them a moment
// later.
func (s *Site) Connect(ctx context.Context, yaml string) error {
	specs, err := partners.Reader{}.Read("", []byte(yaml))
	if err != nil {
		return err
	}
	store := partners.Store{Pool: s.Pool}
	return pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		_, err := store.Apply(ctx, tx, specs)
		return err
	})
}

// brennholm is the organisation of the benchmarks with its partner.
func brennholm() string {
	digest := sha256.Sum256([]byte(Token))
	return fmt.Sprintf(`kind: Organisation
id: nordhafen
identifiers: [{qualifier: "%[1]s", id: "%[2]s"}]
---
kind: Partner
id: %[4]s
organisation: nordhafen
identifiers: [{qualifier: "%[1]s", id: "%[3]s"}]
types: [INVOIC]
http:
  tokens: [{label: bench, sha256: %[5]s}]
`, invoic.Qualifier, invoic.Recipient, invoic.Sender, Partner, hex.EncodeToString(digest[:]))
}

// URL is the database's.
func (s *Site) URL() string { return s.pg.Load().URL() }

// Database makes an empty database beside ours and gives its URL.
func (s *Site) Database(ctx context.Context, name string) (string, error) {
	if _, err := s.Pool.Exec(ctx, `create database `+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	u, err := url.Parse(s.pg.Load().URL())
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// received are the tables that deliveries fill.
const received = `inbox, variant, document_key, drift_alert, drift_copy, payload, evidence, job, message_state, acknowledgement, delivery, outbox, document, document_line, document_package`

// Empty takes away what was received, and flushes, so that every measurement
// begins alike.
//
// A gateway may be at work in them, which journals duplicates behind its answers: where
// it stands in the way of all at once, it is asked again.
func (s *Site) Empty(ctx context.Context) error {
	var err error
	for range 5 {
		_, err = s.Pool.Exec(ctx, `truncate `+received)
		var told *pgconn.PgError
		if !errors.As(err, &told) || told.Code != "40P01" { // deadlock_detected
			break
		}
	}
	if err != nil {
		return fmt.Errorf("empty the tables: %w", err)
	}
	return s.Checkpoint(ctx)
}

// Checkpoint flushes what is dirty.
func (s *Site) Checkpoint(ctx context.Context) error {
	_, err := s.Pool.Exec(ctx, `checkpoint`)
	return err
}

// Count runs a query that gives one number.
func (s *Site) Count(ctx context.Context, sql string) (n int64, err error) {
	err = s.Pool.QueryRow(ctx, sql).Scan(&n)
	return n, err
}

// Postmaster is the process id of the server.
func (s *Site) Postmaster() int { return s.pg.Load().Pid() }

// CPU gives the processor time so far of a gateway and of the database.
func (s *Site) CPU(g *Gateway) func() (gateway, database time.Duration, err error) {
	return func() (gateway, database time.Duration, err error) {
		if gateway, err = CPU(g.Pid); err != nil {
			return 0, 0, err
		}
		database, err = TreeCPU(s.Postmaster())
		return gateway, database, err
	}
}

// Close stops the server and removes the folder.
func (s *Site) Close(ctx context.Context) error {
	var errs []error
	if s.Pool != nil {
		s.Pool.Close()
	}
	if pg := s.pg.Load(); pg != nil {
		errs = append(errs, pg.Stop(ctx))
	}
	if s.release != nil {
		errs = append(errs, s.release())
	}
	return errors.Join(append(errs, os.RemoveAll(s.Dir))...)
}
