package outbox_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

// restore has a database's dump restored by PostgreSQL's own programs, in place of all
// that is there.
func restore(t *testing.T, from, into *pgxpool.Pool) {
	t.Helper()
	bin, err := embeddedpg.Bin()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dump")
	for _, c := range [][]string{
		{"pg_dump", "-Fc", "-f", file, "-d", from.Config().ConnString()},
		{"psql", "-q", "-c", "set client_min_messages = error; drop schema public cascade; create schema public", "-d", into.Config().ConnString()},
		{"pg_restore", "--no-owner", "-d", into.Config().ConnString(), file},
	} {
		if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, c[0]), c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c[0], err, out)
		}
	}
}

// with is the post on another database.
func (p *post) with(pool *pgxpool.Pool) *post {
	q := *p
	q.pool = pool
	q.streams = q.open(p.streams.Spec)
	return &q
}

func (p *post) held() bool {
	p.t.Helper()
	h, err := outbox.Outgoing{Pool: p.pool}.Standing(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return h.Held
}

// looks has a gateway look, and says whether it found a restored database.
func (p *post) looks() bool {
	p.t.Helper()
	was, err := outbox.Outgoing{Pool: p.pool}.Look(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	return was
}

func TestNothingLeavesARestoredDatabaseUntilItIsConfirmed(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	if p.looks() || p.held() {
		t.Fatal("a new database is held")
	}
	p.write("acme", "1")
	p.run()
	p.arrived("acme 1")
	if p.looks() || p.held() {
		t.Fatal("a database that was only written to is held")
	}
	p.write("acme", "2") // in the backup, and not sent before it

	for _, c := range []struct {
		name string
		into func() *pgxpool.Pool
	}{
		{"another database of the cluster", func() *pgxpool.Pool { return pgtest.Pool(t, pgtest.EmptyURL(t)) }},
		{"the very database", func() *pgxpool.Pool { return p.pool }},
	} {
		t.Run("a dump restored into "+c.name, func(t *testing.T) {
			into := c.into()
			restore(t, p.pool, into)
			q := p.with(into)
			q.receiver = &receiver{fails: map[string]error{}, loses: map[string]int{}}
			q.streams = q.open(p.streams.Spec)
			if !q.held() {
				t.Fatal("it is not held, before any gateway has looked")
			}
			q.run()
			q.arrived()
			if !q.looks() {
				t.Error("the look does not find it")
			}
			if q.looks() {
				t.Error("it is found twice")
			}
			q.run()
			q.arrived()
			waiting, err := outbox.Outgoing{Pool: into}.Waiting(ctx, []string{"acme", "bolt"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range waiting {
				waiting[i].Oldest = 0
			}
			if diff := cmp.Diff([]outbox.Waiting{{Subscription: "erp", Count: 1}}, waiting); diff != "" {
				t.Errorf("what would leave (-want +got)\n%s", diff)
			}
			q.must(func(tx pgx.Tx) error { return outbox.ConfirmTx(ctx, tx, "p. admin") })
			q.run()
			q.arrived("acme 2")
			if q.looks() || q.held() {
				t.Error("it is held again after it was confirmed")
			}
		})
	}
}

func TestACopyOfADatabaseIsHeld(t *testing.T) {
	p := newPost(t, hook())
	p.looks()
	// create database … template copies files: the row has the xmin that it was written with.
	if _, err := p.pool.Exec(t.Context(), `update outgoing set database_oid = database_oid::int8 + 1, row_xid = pg_current_xact_id()::xid`); err != nil {
		t.Fatal(err)
	}
	p.write("acme", "1")
	p.run()
	p.arrived()
	if !p.looks() || !p.held() {
		t.Error("it is not held")
	}
}

func TestADatabaseInAnotherClusterIsHeld(t *testing.T) {
	p := newPost(t, hook())
	p.looks()
	// pg_upgrade copies files and keeps oids: only the cluster is another.
	if _, err := p.pool.Exec(t.Context(), `update outgoing set system_identifier = system_identifier + 1, row_xid = pg_current_xact_id()::xid`); err != nil {
		t.Fatal(err)
	}
	p.write("acme", "1")
	if !p.looks() || !p.held() {
		t.Error("it is not held")
	}
	p.run()
	p.arrived()
}

func TestARoleThatMayNotReadTheClusterSeesADumpAllTheSame(t *testing.T) {
	ctx := context.Background()
	server, _ := pgtest.Server(t) // of its own: roles and rights are changed
	p := newPost(t, hook()).with(pgtest.Pool(t, server.URL()))
	for _, sql := range []string{
		`revoke execute on function pg_control_system() from public`,
		`create role outgoing_test`,
		`grant all on all tables in schema public to outgoing_test`,
	} {
		if _, err := p.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	config := p.pool.Config()
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `set role outgoing_test`)
		return err
	}
	lesser, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer lesser.Close()
	if sees, err := (outbox.Outgoing{Pool: lesser}).SeesCluster(ctx); sees || err != nil {
		t.Fatalf("it sees the cluster: %v", err)
	}
	q := p.with(lesser)
	if q.looks() || q.held() {
		t.Fatal("a new database is held")
	}
	if _, err := p.pool.Exec(ctx, `update outgoing set held_since = null`); err != nil { // written anew, as a restore does
		t.Fatal(err)
	}
	if !q.looks() {
		t.Error("the look does not find it")
	}
	q.must(func(tx pgx.Tx) error { return outbox.ConfirmTx(ctx, tx, "p. admin") })
	// A role that may read it notes it later, and holds nothing for that.
	if p.looks() || p.held() {
		t.Error("it is held since another role may read more")
	}
}

func TestWhatLeavesIsHeldByHand(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	o := outbox.Outgoing{Pool: p.pool}
	if err := o.Hold(ctx, "serve --hold-outgoing"); err != nil {
		t.Fatal(err)
	}
	p.must(func(tx pgx.Tx) error { return outbox.HoldTx(ctx, tx, "p. operator", "the ERP moves") })
	h, err := o.Standing(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Held || h.Reason != "serve --hold-outgoing" || h.By != "" {
		t.Errorf("the first reason is not kept: %+v", h)
	}
	p.write("acme", "1")
	p.run()
	p.arrived()
	if p.looks() {
		t.Error("it is taken for restored")
	}
	p.must(func(tx pgx.Tx) error { return outbox.ConfirmTx(ctx, tx, "p. admin") })
	p.run()
	p.arrived("acme 1")
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return outbox.ConfirmTx(ctx, tx, "p. admin") })
	if !errors.Is(err, outbox.ErrNotHeld) {
		t.Errorf("confirmed twice: %v", err)
	}
}
