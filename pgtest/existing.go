package pgtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/edigw/edigw/migrations"
	"github.com/jackc/pgx/v5"
)

// onExisting prepares a migrated template on a server that somebody runs.
func onExisting(ctx context.Context, given string) (server, error) {
	digest, err := migrations.Digest()
	if err != nil {
		return server{}, err
	}
	name := "edigw_template_" + digest
	conn, err := pgx.Connect(ctx, given)
	if err != nil {
		return server{}, fmt.Errorf("pgtest: EDIGW_TEST_DATABASE_URL: %w", err)
	}
	err = makeTemplate(ctx, conn, given, name)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return server{}, fmt.Errorf("pgtest: template on EDIGW_TEST_DATABASE_URL: %w", err)
	}
	return server{url: given, template: name, strategy: "wal_log"}, nil
}

// makeTemplate migrates under another name and renames when complete.
func makeTemplate(ctx context.Context, conn *pgx.Conn, given, name string) error {
	// Packages are tested in several processes at once: one of them makes it.
	// The lock goes with the connection.
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext('edigw pgtest'))`); err != nil {
		return err
	}
	var exists bool
	err := conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	draft := name + "_draft"
	for _, sql := range []string{
		`drop database if exists ` + quote(draft) + ` with (force)`,
		`create database ` + quote(draft) + ` template template0`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	url, err := withDatabase(given, draft)
	if err != nil {
		return err
	}
	if err := migrate(ctx, url); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `alter database `+quote(draft)+` rename to `+quote(name))
	return err
}
