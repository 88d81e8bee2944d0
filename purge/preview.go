package purge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/months"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// Foreseen is what a purge would do now.
type Foreseen struct {
	At    time.Time `json:"at"`
	Steps []Step    `json:"steps"`
}

// PreviewEnds is how long a preview may take: one over a hundred million keys is asked
// for when there is time for it.
const PreviewEnds = 5 * time.Minute

// Preview counts what Run would remove at this moment, and what would stay and why: by the
// windows in force, or, for partners in set, by those that are set there, without their
// grace. Everything is read as of one moment.
func (p *Purger) Preview(ctx context.Context, set map[string]partners.Retention) (*Foreseen, error) {
	ctx, cancel := context.WithTimeout(ctx, PreviewEnds)
	defer cancel()
	w := &run{Purger: p, dry: true, tally: tally{}}
	if err := w.fresh(ctx, p.Pool); err != nil {
		return nil, err
	}
	for id, r := range set {
		was := w.windows.Partners[id]
		if was == nil {
			return nil, fmt.Errorf("partner %s: %w", id, partners.ErrUnknown)
		}
		w.windows.Partners[id] = was.With(r)
	}
	again, err := w.unsettled(ctx)
	if err != nil {
		return nil, err
	}
	for id := range set {
		if !slices.Contains(again, id) {
			again = append(again, id)
		}
	}
	err = pgx.BeginTxFunc(ctx, p.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`set local statement_timeout = %d`, PreviewEnds.Milliseconds())); err != nil {
			return err
		}
		return w.foresee(ctx, tx, again)
	})
	if err != nil {
		return nil, fmt.Errorf("preview a purge: %w", err)
	}
	return &Foreseen{At: w.windows.Now, Steps: w.tally.steps()}, nil
}

// foresee counts; moved are partners whose rows are settled first.
func (w *run) foresee(ctx context.Context, tx pgx.Tx, moved []string) error {
	if err := w.foreseeKeys(ctx, tx, moved); err != nil {
		return err
	}
	if err := w.foreseeGuards(ctx, tx, moved); err != nil {
		return err
	}
	if err := w.foreseeDocuments(ctx, tx, moved); err != nil {
		return err
	}
	has, err := dedup.ForgetCopies(ctx, tx, true)
	if err != nil {
		return err
	}
	w.tally.goes(has)
	return w.foreseeMonths(ctx, tx, moved)
}

// previewPage is how many rows are judged at a time.
const previewPage = 20_000

func (w *run) foreseeKeys(ctx context.Context, tx pgx.Tx, moved []string) error {
	judge := func(list []dedup.Due) error {
		var open []dedup.Due
		for _, d := range list {
			if d.Hold != 0 {
				if w.windows.passed(d.PurgeOn) || slices.Contains(moved, d.Partner) && w.windows.passed(w.windows.keyDay(&d)) {
					w.tally.add(d.Partner, "keys", dedup.HeldFor(d.Hold), months.Has{Rows: 1})
				}
				continue
			}
			open = append(open, d)
		}
		goes, _, _, err := w.judgeKeys(ctx, tx, open, w.tally)
		if err != nil || len(goes) == 0 {
			return err
		}
		var keys []outbox.Key
		for _, r := range goes {
			keys = append(keys, outbox.Key(r))
		}
		if err := w.forgetSent(ctx, tx, keys, w.tally); err != nil {
			return err
		}
		has, err := dedup.CountKeys(ctx, tx, goes)
		w.tally.goes(has)
		return err
	}
	if err := dedup.PagesDue(ctx, tx, w.windows.today(), previewPage, func(list []dedup.Due) error {
		return judge(slices.DeleteFunc(list, func(d dedup.Due) bool { return slices.Contains(moved, d.Partner) }))
	}); err != nil {
		return err
	}
	for _, partner := range moved {
		if err := dedup.PagesOf(ctx, tx, partner, previewPage, func(list []dedup.Due) error {
			// Of these only those that are due by the new days are looked at in a run.
			return judge(slices.DeleteFunc(list, func(d dedup.Due) bool { return !w.windows.passed(w.windows.keyDay(&d)) }))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (w *run) foreseeGuards(ctx context.Context, tx pgx.Tx, moved []string) error {
	return dedup.PagesOfGuards(ctx, tx, w.windows.today(), previewPage, func(list []dedup.DueGuard) error {
		var keys []outbox.Key
		for _, g := range list {
			if g.Key != nil {
				keys = append(keys, outbox.Key(g.Key.Ref))
			}
		}
		undelivered, err := outbox.Undelivered(ctx, tx, keys)
		if err != nil {
			return err
		}
		for i := range list {
			g := &list[i]
			reason, _ := w.windows.guard(g, func(d *dedup.Due) bool {
				if !w.windows.passed(d.PurgeOn) && !slices.Contains(moved, d.Partner) {
					return false // it is looked at on its day
				}
				why, _ := w.windows.key(d)
				return why == "" && !undelivered[outbox.Key(d.Ref)]
			})
			h := months.Has{Rows: 1}
			if reason == "" {
				h.Bytes = g.Bytes
			}
			w.tally.add(g.Partner, "guards", reason, h)
		}
		return nil
	})
}

func (w *run) foreseeDocuments(ctx context.Context, tx pgx.Tx, moved []string) error {
	judge := func(list []documents.Due) error {
		goes, _, err := w.judgeDocuments(ctx, tx, list, w.tally)
		if err != nil || len(goes) == 0 {
			return err
		}
		has, err := documents.Goes(ctx, tx, goes, false)
		w.tally.goes(has)
		return err
	}
	if err := documents.PagesDue(ctx, tx, w.windows.today(), previewPage, func(list []documents.Due) error {
		return judge(slices.DeleteFunc(list, func(d documents.Due) bool { return slices.Contains(moved, d.Partner) }))
	}); err != nil {
		return err
	}
	for _, partner := range moved {
		if err := documents.PagesOf(ctx, tx, partner, previewPage, func(list []documents.Due) error {
			return judge(slices.DeleteFunc(list, func(d documents.Due) bool {
				keep := w.windows.Partners[partner].InForce.Document(d.Class)
				return keep == 0 || !day(d.Received.Add(keep)).Before(w.windows.today())
			}))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (w *run) foreseeMonths(ctx context.Context, tx pgx.Tx, moved []string) error {
	this := months.Of(w.windows.Now, 0)
	for _, t := range wide {
		type place struct {
			partner string
			month   time.Time
		}
		out := map[place]months.Has{} // of months that have passed, since they are kept longer
		for _, partner := range moved {
			for after := uuid.Nil; ; {
				rows, err := t.table.Page(ctx, tx, partner, time.Time{}, after, previewPage)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					break
				}
				after = rows[len(rows)-1].ID
				moves, goes, err := w.place(ctx, tx, partner, t.kind, rows)
				if err != nil {
					return err
				}
				for _, g := range goes {
					w.tally.add(partner, t.kind, "", g.has)
				}
				for _, m := range moves {
					if m.from.Before(this) {
						out[place{partner, m.from}] = out[place{partner, m.from}].Plus(m.has)
					}
				}
			}
		}
		passed, err := months.Passed(ctx, tx, t.table, w.windows.Now)
		if err != nil {
			return err
		}
		for _, p := range passed {
			has, err := p.Count(ctx, tx)
			if err != nil {
				return err
			}
			for partner := range has {
				has[partner] = has[partner].Minus(out[place{partner, p.Month}])
			}
			if err := w.eachKeptIn(ctx, tx, t.kind, p, func(k kept) error {
				w.tally.add(k.partner, t.kind, k.reason, k.has)
				has[k.partner] = has[k.partner].Minus(k.has)
				return nil
			}); err != nil {
				return err
			}
			for partner, h := range has {
				w.tally.add(partner, t.kind, "", h)
			}
		}
	}
	return nil
}
