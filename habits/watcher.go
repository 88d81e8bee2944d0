package habits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// Watcher takes evidence from the journal and says what it sees in it. Any number of
// processes may have one: one of them at a time looks, as long as it renews its lease.
type Watcher struct {
	Pool     *pgxpool.Pool
	Partners func() []*partners.Partner
	Now      func() time.Time // the database's
	NewID    func() uuid.UUID
	Log      *slog.Logger
	Batch    int // deliveries of a transaction; 0 is 500

	lease   uuid.UUID
	renewed time.Time
}

const (
	every        = time.Minute
	leaseTerm    = 2 * time.Minute
	defaultBatch = 500
	// lag is how long a delivery is left alone: one that is committed later than another with a
	// later id would be passed over. Its number would be missed, which is why the inbox is asked
	// before a gap is told; its copies would teach nothing.
	lag = 2 * time.Minute
	// outageFrom is how long nobody was seen to run before we were down.
	outageFrom = 10 * time.Minute
	// oldestGap is how long ago a number may be missing to be told: who begins to look at a
	// journal of years is not told of all that was missing in them.
	oldestGap = 31 * 24 * time.Hour
)

// Run looks every minute until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if err := w.Pass(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errNotOurs) {
			w.Log.Error("what partners usually do is not looked at", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// errNotOurs: another process has the lease.
var errNotOurs = errors.New("another process looks")

// Pass takes what is new, and says what is missing and who is silent.
func (w *Watcher) Pass(ctx context.Context) error {
	if w.lease == uuid.Nil {
		w.lease = w.NewID()
	}
	down, grown, err := w.begin(ctx)
	if errors.Is(err, errNotOurs) {
		return nil
	}
	if err != nil {
		return err
	}
	now := w.Now()
	of := map[string]*partners.Partner{}
	for _, p := range w.Partners() {
		of[p.ID] = p
	}
	known, err := w.standing(ctx)
	if err != nil {
		return err
	}
	var marks []journal.Mark
	for id, p := range of {
		k, ok := known[id]
		if !ok {
			k = standing{Mark: journal.Mark{Partner: id}}
		}
		marks = append(marks, k.Mark)
		if !ok || k.silence != wordOf(p) || grown && k.expects {
			if err := w.settled(ctx, p, down); err != nil {
				return err
			}
		}
	}
	fresh, err := journal.Fresh(ctx, w.Pool, marks, now.Add(-lag))
	if err != nil {
		return err
	}
	for _, id := range fresh {
		for more := true; more; {
			if err := w.keep(ctx); err != nil {
				return err
			}
			if more, err = w.take(ctx, of[id], now, down); err != nil {
				return fmt.Errorf("habits of %s: %w", id, err)
			}
		}
	}
	if err := w.each(ctx, of, `select distinct partner_id from habit_series where due_at <= $1`, now, w.miss); err != nil {
		return err
	}
	return w.each(ctx, of, `select partner_id from habit where expected_by <= $1 and silent_since is null`, now, w.silence)
}

// each does something for the partners that a statement finds.
func (w *Watcher) each(ctx context.Context, of map[string]*partners.Partner, find string, now time.Time, do func(context.Context, *partners.Partner, time.Time) error) error {
	rows, err := w.Pool.Query(ctx, find, now)
	if err != nil {
		return fmt.Errorf("look at habits: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look at habits: %w", err)
	}
	for _, id := range ids {
		if of[id] == nil {
			continue // no longer configured
		}
		if err := w.keep(ctx); err != nil {
			return err
		}
		if err := do(ctx, of[id], now); err != nil {
			return fmt.Errorf("habits of %s: %w", id, err)
		}
	}
	return nil
}

// begin takes the lease and notes that we run; it gives when we did not, and whether that
// has just been found. errNotOurs.
func (w *Watcher) begin(ctx context.Context) (down []Span, grown bool, err error) {
	now := w.Now()
	err = pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into habit_pass (up_at) values ($1) on conflict do nothing`, now); err != nil {
			return err
		}
		var up time.Time
		err := tx.QueryRow(ctx, `
			select up_at from habit_pass
			where lease_id is null or lease_id = $1 or leased_until < now()
			for update`, w.lease).Scan(&up)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNotOurs
		}
		if err != nil {
			return err
		}
		if now.Sub(up) > outageFrom {
			grown = true
			if _, err := tx.Exec(ctx, `insert into habit_outage (began_at, ended_at) values ($1, $2) on conflict do nothing`, up, now); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `delete from habit_outage where ended_at < $1`, now.AddDate(-2, 0, 0)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `
			update habit_pass set lease_id = $1, leased_until = now() + make_interval(secs => $2), up_at = greatest(up_at, $3)`,
			w.lease, leaseTerm.Seconds(), now); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `select began_at, ended_at from habit_outage order by began_at`)
		if err != nil {
			return err
		}
		down, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Span])
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("begin to look at habits: %w", err)
	}
	w.renewed = now
	return down, grown, nil
}

// keep renews the lease where it is time to. errNotOurs.
func (w *Watcher) keep(ctx context.Context) error {
	now := w.Now()
	if now.Sub(w.renewed) < leaseTerm/8 {
		return nil
	}
	tag, err := w.Pool.Exec(ctx, `
		update habit_pass set leased_until = now() + make_interval(secs => $2), up_at = greatest(up_at, $3) where lease_id = $1`,
		w.lease, leaseTerm.Seconds(), now)
	if err != nil {
		return fmt.Errorf("go on looking at habits: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errNotOurs
	}
	w.renewed = now
	return nil
}

// standing is a partner's mark, and what his expectation goes by.
type standing struct {
	journal.Mark
	silence string
	expects bool
}

func (w *Watcher) standing(ctx context.Context) (map[string]standing, error) {
	rows, err := w.Pool.Query(ctx, `select partner_id, delivery_id, seq, silence, expected_by is not null from habit`)
	if err != nil {
		return nil, fmt.Errorf("how far habits are known: %w", err)
	}
	known := map[string]standing{}
	var s standing
	if _, err := pgx.ForEachRow(rows, []any{&s.Partner, &s.ID, &s.Seq, &s.silence, &s.expects}, func() error {
		known[s.Partner] = s
		return nil
	}); err != nil {
		return nil, fmt.Errorf("how far habits are known: %w", err)
	}
	return known, nil
}
