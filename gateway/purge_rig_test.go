package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/purge"
)

// aged is a gateway whose time a test sets, with its purge.
type aged struct {
	*rig
	clock     *pgtest.Clock
	store     *partners.Store
	directory *partners.Directory
	purger    *purge.Purger
	sent      int
}

var wideTables = []string{"payload", "evidence", "acknowledgement", "delivery", "outbox"}

// newAged begins on a day with partner acme, whose retention is what is given in YAML.
func newAged(t *testing.T, at time.Time, retention string) *aged {
	t.Helper()
	clock := pgtest.NewClock(t, at)
	a := &aged{rig: newRigOn(t, clock.Pool), clock: clock}
	a.now = at
	a.Now, a.NewID = clock.Now, clock.NewID
	a.store = &partners.Store{Pool: clock.Pool, Now: clock.Now, NewID: clock.NewID}
	a.directory = &partners.Directory{Store: a.store}
	a.purger = &purge.Purger{Pool: clock.Pool, Partners: a.store, NewID: clock.NewID, Node: "one", Log: a.Log}
	a.by = map[string]*partners.Partner{}
	if _, err := a.Pool.Exec(t.Context(), `update purge set seen_at = now()`); err != nil { // it was migrated in our time
		t.Fatal(err)
	}
	a.configure("acme", "9520001000010", retention)
	return a
}

// configure applies a partner as its file says.
func (a *aged) configure(id, gln, settings string) {
	a.t.Helper()
	specs, err := partners.Reader{}.Read("year.yaml", []byte(fmt.Sprintf(`kind: Organisation
id: nordhafen
name: Nordhafen
identifiers: [{qualifier: "14", id: "9520002000019"}]
---
kind: Partner
id: %s
name: %s
organisation: nordhafen
identifiers: [{qualifier: "14", id: "%s"}]
types: [INVOIC, DESADV]
%s
`, id, id, gln, settings)))
	if err != nil {
		a.t.Fatalf("configure %s: %v", id, err)
	}
	ctx := context.Background()
	if err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) error {
		_, err := a.store.Apply(ctx, tx, specs)
		return err
	}); err != nil {
		a.t.Fatalf("configure %s: %v", id, err)
	}
	if err := a.directory.Load(ctx); err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[id] = a.directory.Partner(id)
	a.conf++
}

// at moves the clock, and makes the months that begin to be needed.
func (a *aged) at(t time.Time) {
	a.t.Helper()
	for day := a.clock.Now(); ; { // nobody is away for so long that the clock seems to jump
		if err := a.purger.Look(context.Background()); err != nil {
			a.t.Fatal(err)
		}
		if day = day.AddDate(0, 0, 2); !day.Before(t) {
			break
		}
		a.clock.Set(day)
	}
	a.clock.Set(t)
	a.now = t
	if err := journal.EnsurePartitions(context.Background(), a.Pool, wideTables...); err != nil {
		a.t.Fatal(err)
	}
}

func (a *aged) days(n int) { a.t.Helper(); a.at(a.clock.Now().AddDate(0, 0, n)) }

// invoice sends a new one and gives its text and key.
func (a *aged) invoice(transportID string) (text, key string) {
	a.t.Helper()
	a.sent++
	ref := fmt.Sprintf("R%05d", a.sent)
	when := a.clock.Now().Format("060102:1504")
	text = interchangeFrom("9520001000010:14", when, ref, message{number: "N" + ref})
	if _, err := a.deliver("acme", transportID, text); err != nil {
		a.t.Fatal(err)
	}
	return text, "unb:9520001000010:14:9520002000019:14:" + ref
}

// foresees previews, purges, and expects that what went is what was foreseen, to the row.
func (a *aged) purge() *purge.Report {
	a.t.Helper()
	ctx := context.Background()
	foreseen, err := a.purger.Preview(ctx, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := a.purger.Run(ctx, "")
	if err != nil || r.State != purge.Done {
		a.t.Fatalf("purge: %+v, %v", r, err)
	}
	if diff := cmp.Diff(foreseen.Steps, r.Steps, cmpopts.IgnoreFields(purge.Step{}, "Bytes")); diff != "" {
		a.t.Fatalf("%s: what was foreseen, and what went (-foreseen +went):\n%s", a.clock, diff)
	}
	return r
}

// went is how many rows of a kind went, or stayed for a reason.
func went(r *purge.Report, kind, reason string) (n int64) {
	for _, s := range r.Steps {
		if s.Kind == kind && s.Reason == reason {
			n += s.Rows
		}
	}
	return n
}

func (a *aged) has(key string) bool {
	a.t.Helper()
	return a.count(`select count(*) from inbox where message_id = $1`, key) == 1
}

// legally holds a message, or releases it.
func (a *aged) legally(key string, held bool) {
	a.t.Helper()
	ctx := context.Background()
	if err := pgx.BeginFunc(ctx, a.Pool, func(tx pgx.Tx) (err error) {
		done := false
		if held {
			done, err = dedup.HoldTx(ctx, tx, dedup.LegalHold{Partner: "acme", MessageID: key, Reason: "audit of 2026", By: "olga"})
		} else {
			done, err = dedup.ReleaseTx(ctx, tx, dedup.Ref{Partner: "acme", ID: key})
		}
		if err == nil && !done {
			err = fmt.Errorf("nothing was done")
		}
		return err
	}); err != nil {
		a.t.Fatal(err)
	}
}

// keeps reports how much of a message is there: its row, its payload read as a message page
// does, and rows of its deliveries.
func (a *aged) keeps(key string) (row, payload bool, deliveries int) {
	a.t.Helper()
	deliveries = a.count(`select count(*) from delivery where message_id = $1`, key)
	var id uuid.UUID
	var partner string
	var month time.Time
	var offset, length int64
	err := a.Pool.QueryRow(context.Background(), `select partner_id, payload_id, payload_month, payload_offset, payload_length from inbox where message_id = $1`, key).Scan(&partner, &id, &month, &offset, &length)
	if err != nil {
		return false, false, deliveries
	}
	_, err = journal.ReadPayload(context.Background(), a.Pool, partner, id, month, offset, length)
	if err != nil && !errors.Is(err, journal.ErrPurged) {
		a.t.Fatal(err)
	}
	return true, err == nil, deliveries
}
