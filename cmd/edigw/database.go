package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/migrations"
)

// databaseFlags say which database is used.
type databaseFlags struct {
	DatabaseURL         string `name:"database-url" setting:"" secret:"" placeholder:"URL" help:"PostgreSQL 15 to 18, like postgres://edigw@db.example/edigw. Without it the gateway runs the PostgreSQL that is installed here, in --data-dir."`
	DatabaseConnections int32  `setting:"" default:"20" help:"Connections to the database at most."`
}

// The major versions of PostgreSQL that the gateway is tested on.
const oldestServer, newestServer = embeddedpg.Oldest, 18

// poolPatience is how long a stop waits for connections that are in use.
const poolPatience = 2 * time.Second

// monthly are the tables partitioned by the month of purge.
var monthly = []string{"payload", "evidence", "acknowledgement", "delivery", "outbox"}

// database is the one in use: a server of ours, or one that was there.
type database struct {
	pool    *pgxpool.Pool
	notices *gateway.Notices   // of pool's connections
	server  *embeddedpg.Server // nil: it runs elsewhere, or in another process
	joined  error              // of a server that another process runs in the data folder: whose it is
}

// ownDatabase is openDatabase for who stays: a gateway does not join a server that ends
// with another process.
func (a *app) ownDatabase(ctx context.Context, f databaseFlags, log *slog.Logger) (*database, error) {
	db, err := a.openDatabase(ctx, f, log)
	if err != nil || db.joined == nil {
		return db, err
	}
	return nil, errors.Join(fmt.Errorf("the PostgreSQL in %s is %w; it would end with that one. Several gateways work on a PostgreSQL of its own, with --database-url",
		embeddedDir(a.grammar.DataDir), db.joined), db.close(ctx))
}

func embeddedDir(dataDir string) string { return filepath.Join(dataDir, "postgres") }

// openDatabase connects, and starts PostgreSQL first where no URL is given. A
// server that another gateway runs in the same folder is joined.
func (a *app) openDatabase(ctx context.Context, f databaseFlags, log *slog.Logger) (*database, error) {
	db, url := &database{notices: &gateway.Notices{}}, f.DatabaseURL
	if url == "" {
		dir := embeddedDir(a.grammar.DataDir)
		server, err := embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir, Log: log})
		var inUse *embeddedpg.InUseError
		switch {
		case errors.As(err, &inUse):
			if url, err = embeddedpg.URL(dir); err != nil {
				return nil, err
			}
			db.joined = inUse
		case err != nil:
			return nil, err
		default:
			db.server, url = server, server.URL()
		}
	}
	pool, err := connect(ctx, url, f.DatabaseConnections, db.notices.Note)
	if err != nil {
		return nil, errors.Join(err, db.close(ctx))
	}
	db.pool = pool
	return db, nil
}

// connect opens a pool whose sessions are set up as the gateway needs them, and
// tries it.
func connect(ctx context.Context, url string, connections int32, onNotice pgconn.NoticeHandler) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, usage("--database-url: %w; write it like postgres://user@host:5432/edigw", err)
	}
	config.MaxConns = max(connections, 4)
	config.MinConns = 2
	config.ConnConfig.OnNotice = onNotice
	p := config.ConnConfig.RuntimeParams
	p["application_name"] = "edigw"
	p["timezone"] = "UTC"
	// No acknowledgement leaves before its row is durable, whatever the server's
	// default is.
	p["synchronous_commit"] = "on"
	// A statement's plan is kept, and must not be one for the few rows that a table
	// held when it was made: a look-up of two keys that reads all of the inbox.
	p["enable_seqscan"] = "off"
	p["lock_timeout"] = "2s"
	p["statement_timeout"] = "60s"
	p["idle_in_transaction_session_timeout"] = "120s"
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { return documents.Register(conn) }
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	if err := tryDatabase(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

func tryDatabase(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	major, err := serverVersion(ctx, pool)
	if err != nil {
		return fmt.Errorf("connect to the database: %w; check --database-url, or that the server runs", err)
	}
	if major < oldestServer || major > newestServer {
		return fmt.Errorf("the database server is PostgreSQL %d; edigw is tested on %d to %d: use one of these", major, oldestServer, newestServer)
	}
	return nil
}

func serverVersion(ctx context.Context, pool *pgxpool.Pool) (major int, err error) {
	err = pool.QueryRow(ctx, `select current_setting('server_version_num')::int / 10000`).Scan(&major)
	return major, err
}

// migrate brings the schema up to date and makes the partitions of the coming
// months.
func (db *database) migrate(ctx context.Context, log *slog.Logger) error {
	if err := migrations.Up(ctx, db.pool, log); err != nil {
		return err
	}
	return journal.EnsurePartitions(ctx, db.pool, monthly...)
}

// migrated says what to do if the schema is not there yet.
func (db *database) migrated(ctx context.Context) error {
	have, want, err := migrations.Version(ctx, db.pool)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("the database has schema version %d, this program needs %d: run `edigw migrate`", have, want)
	}
	return nil
}

// close ends the pool, and the server if it is ours. It is given some seconds
// even if ctx has ended: a stop is what ends it. Who still works on a connection
// then, or waits on a server that hangs, loses it when the process ends.
func (db *database) close(ctx context.Context) error {
	if db.pool != nil {
		closed := make(chan struct{})
		go func() {
			db.pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(poolPatience):
		}
	}
	if db.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return db.server.Stop(ctx)
}

// durable says which settings of the server would lose acknowledged messages.
// synchronous_commit is set by each of our sessions, so that its default does
// not matter.
func durable(ctx context.Context, pool *pgxpool.Pool) error {
	rows, err := pool.Query(ctx, `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name`)
	if err != nil {
		return err
	}
	off, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if len(off) > 0 {
		return fmt.Errorf("%s off: a power cut would lose acknowledged messages; set it on in postgresql.conf and reload", strings.Join(off, " and "))
	}
	return nil
}
