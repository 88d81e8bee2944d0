package habits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// take adds the next deliveries of a partner to the evidence, and moves the mark behind
// them in the same transaction: whatever dies, none counts twice and none is left out.
func (w *Watcher) take(ctx context.Context, p *partners.Partner, now time.Time, down []Span) (more bool, err error) {
	most := w.Batch
	if most == 0 {
		most = defaultBatch
	}
	err = pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		h, err := lockHabit(ctx, tx, p.ID, now)
		if err != nil {
			return err
		}
		rows, err := journal.Behind(ctx, tx, h.Mark, now.Add(-lag), most)
		if err != nil || len(rows) == 0 {
			return err
		}
		more = len(rows) == most
		if err := w.repeats(ctx, tx, p.ID, &h.Evidence, rows); err != nil {
			return err
		}
		if err := w.numbers(ctx, tx, p, rows); err != nil {
			return err
		}
		for _, a := range rows {
			if a.ID != h.Mark.ID {
				h.Evidence.delivered(a.Received)
			}
			h.Mark.ID, h.Mark.Seq = a.ID, a.Seq
		}
		last := rows[len(rows)-1].Received
		if h.Heard != nil {
			last = latest(last, *h.Heard)
		}
		h.Heard = &last
		if h.SilentSince != nil {
			if err := w.heard(ctx, tx, p, &h, last, ""); err != nil {
				return err
			}
		}
		h.expect(p, down)
		return h.write(ctx, tx)
	})
	return more, err
}

// repeats notes how late copies came, and what came again with another content.
func (w *Watcher) repeats(ctx context.Context, tx pgx.Tx, partner string, e *Evidence, rows []journal.Arrival) error {
	ids := map[string]bool{}
	for _, a := range rows {
		if isCopy(a.Verdict) && a.TransportID != "" {
			ids[a.TransportID] = true
		}
	}
	first, err := dedup.FirstSeen(ctx, tx, partner, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return err
	}
	type copyOf struct{ id, sha string }
	came, last := map[copyOf]time.Time{}, map[string]time.Time{} // of this batch: a storm of copies asks once
	for i, a := range rows {
		if at := first[a.TransportID]; isCopy(a.Verdict) && at.Before(a.Received.Add(-time.Second)) && !at.IsZero() && (i == 0 || rows[i-1].ID != a.ID) {
			e.Transport.add(a.Received.Sub(at), a.Received)
		}
		if a.MessageID == "" {
			continue
		}
		x := copyOf{a.MessageID, string(a.SHA256)}
		before, asked := last[a.MessageID]
		if isCopy(a.Verdict) && came[x].IsZero() || isOther(a.Verdict) && !asked {
			at, latest, err := journal.Earlier(ctx, tx, partner, a)
			if err != nil {
				return err
			}
			came[x], before = at, latest
		}
		if at := came[x]; isCopy(a.Verdict) && !at.IsZero() {
			e.Interchange.add(a.Received.Sub(at), a.Received)
		}
		if isOther(a.Verdict) && !before.IsZero() {
			e.Reused.add(a.Received.Sub(before), a.Received)
		}
		last[a.MessageID] = a.Received
		if came[x].IsZero() {
			came[x] = a.Received
		}
	}
	return nil
}

// numbers notes the references that came, and closes gaps with those that come late.
func (w *Watcher) numbers(ctx context.Context, tx pgx.Tx, p *partners.Partner, rows []journal.Arrival) error {
	refs := make([]Reference, len(rows))
	names := map[string]bool{}
	for i, a := range rows {
		if r, ok := ReferenceOf(a.MessageID); ok {
			refs[i] = r
			names[r.Series] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	sorted := slices.Sorted(maps.Keys(names))
	series, err := readSeries(ctx, tx, p.ID, sorted)
	if err != nil {
		return err
	}
	open, err := openGaps(ctx, tx, p.ID, sorted)
	if err != nil {
		return err
	}
	last := map[string]time.Time{}
	for i, a := range rows {
		r := refs[i]
		if r.Series == "" {
			continue
		}
		s := series[r.Series]
		if s == nil {
			s = &Series{}
			series[r.Series] = s
		}
		last[r.Series] = a.Received
		if g := open.of(r); g != nil {
			s.late(a.Received.Sub(g.Since))
			s.Numbers++
			g.came(r.Number, a.Received)
			continue
		}
		s.add(r.Number, r.Width, a.Received)
	}
	for _, g := range open {
		if !g.touched {
			continue
		}
		if err := w.write(ctx, tx, p, g); err != nil {
			return err
		}
	}
	for name, s := range series {
		if err := writeSeries(ctx, tx, p.ID, name, s, last[name]); err != nil {
			return err
		}
	}
	return forgetSeries(ctx, tx, p.ID)
}

// readSeries gives the series of those names that are known.
func readSeries(ctx context.Context, tx pgx.Tx, partner string, names []string) (map[string]*Series, error) {
	rows, err := tx.Query(ctx, `select series, state from habit_series where partner_id = $1 and series = any($2)`, partner, names)
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	return collectSeries(rows)
}

func collectSeries(rows pgx.Rows) (map[string]*Series, error) {
	found := map[string]*Series{}
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var name string
		var s Series
		err := row.Scan(&name, &s)
		found[name] = &s
		return struct{}{}, err
	})
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	return found, nil
}

func writeSeries(ctx context.Context, tx pgx.Tx, partner, name string, s *Series, at time.Time) error {
	var due *time.Time
	if next := s.next(); !next.IsZero() {
		due = &next
	}
	_, err := tx.Exec(ctx, `
		insert into habit_series as h (partner_id, series, test, state, last_at, due_at) values ($1, $2, $3, $4, $5, $6)
		on conflict (partner_id, series) do update set state = excluded.state, last_at = greatest(h.last_at, excluded.last_at), due_at = excluded.due_at`,
		partner, name, isTest(name), s, at, due)
	if err != nil {
		return fmt.Errorf("write series %s: %w", name, err)
	}
	return nil
}

// mostSeries of a partner are kept: references at random with letters in them make a new
// series each time.
const mostSeries = 500

func forgetSeries(ctx context.Context, tx pgx.Tx, partner string) error {
	_, err := tx.Exec(ctx, `
		delete from habit_series
		where partner_id = $1 and series in (
			select series from habit_series where partner_id = $1
			order by state ? 'strands' desc, last_at desc offset $2)`, partner, mostSeries)
	if err != nil {
		return fmt.Errorf("forget series: %w", err)
	}
	return nil
}

// isTest reports whether a series is of test interchanges.
func isTest(series string) bool {
	fields := splitKey(series)
	return len(fields) > 6 && fields[1] == "test"
}
