package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/months"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// settledAs is under which windows the rows of a partner stand where they stand: what is in
// force but for a legal hold, which moves nothing before its month has passed.
func settledAs(r *partners.Retained) partners.Retention {
	w := r.InForce
	w.LegalHold = false
	return w
}

// unsettled gives partners whose windows are others than those by which their rows were
// settled last. One that was never settled is as it was first configured.
func (w *run) unsettled(ctx context.Context) ([]string, error) {
	rows, err := w.Pool.Query(ctx, `select partner_id, windows from purge_settled`)
	if err != nil {
		return nil, fmt.Errorf("read whose windows changed: %w", err)
	}
	settled := map[string]partners.Retention{}
	var partner string
	var stored []byte
	if _, err := pgx.ForEachRow(rows, []any{&partner, &stored}, func() error {
		var as partners.Retention
		if err := json.Unmarshal(stored, &as); err != nil {
			return err
		}
		settled[partner] = as
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read whose windows changed: %w", err)
	}
	var list []string
	for _, id := range w.configured() {
		p := w.windows.Partners[id]
		was, known := settled[id]
		if !known {
			was = p.First()
			was.LegalHold = false
		}
		if was != settledAs(p) {
			list = append(list, id)
		}
	}
	return list, nil
}

// settle brings the rows of partners whose windows changed to where the new ones have them:
// keys and documents get their days, and rows of wide tables go to their months, or away
// where those have passed. It begins anew where it was cut off.
func (w *run) settle(ctx context.Context) error {
	list, err := w.unsettled(ctx)
	if err != nil {
		return err
	}
	for _, partner := range list {
		as := settledAs(w.windows.Partners[partner])
		if err := w.settleKeys(ctx, partner); err != nil {
			return err
		}
		if err := w.settleDocuments(ctx, partner); err != nil {
			return err
		}
		for _, t := range wide {
			if err := w.settleRows(ctx, partner, t.kind, t.table); err != nil {
				return err
			}
		}
		stored, err := json.Marshal(as)
		if err != nil {
			return err
		}
		if err := w.batched(ctx, func(tx pgx.Tx, _ tally) error {
			_, err := tx.Exec(ctx, `
				insert into purge_settled (partner_id, windows) values ($1, $2)
				on conflict (partner_id) do update set windows = excluded.windows, settled_at = now()`, partner, stored)
			return err
		}); err != nil && !errors.Is(err, errChanged) { // next time
			return err
		}
	}
	return nil
}

func (w *run) settleKeys(ctx context.Context, partner string) error {
	after := ""
	return w.again(ctx, func(tx pgx.Tx, _ tally) (bool, error) {
		list, err := dedup.PageOf(ctx, tx, partner, after, w.batch())
		if err != nil || len(list) == 0 {
			return false, err
		}
		var refs []dedup.Ref
		var days []time.Time
		for i := range list {
			on := w.windows.keyDay(&list[i])
			if on.IsZero() { // goes with what it carried, which is gone
				on = w.windows.today().AddDate(0, 0, -2)
			}
			refs, days = append(refs, list[i].Ref), append(days, on)
		}
		if err := dedup.PurgeOn(ctx, tx, refs, days); err != nil {
			return false, err
		}
		w.passed = func() { after = list[len(list)-1].ID }
		return true, nil
	})
}

func (w *run) settleDocuments(ctx context.Context, partner string) error {
	after := uuid.Nil
	return w.again(ctx, func(tx pgx.Tx, _ tally) (bool, error) {
		list, err := documents.PageOf(ctx, tx, partner, after, w.batch())
		if err != nil || len(list) == 0 {
			return false, err
		}
		var ids []uuid.UUID
		var days []*time.Time
		for _, d := range list {
			ids = append(ids, d.ID)
			if keep := w.windows.Partners[partner].InForce.Document(d.Class); keep == 0 {
				days = append(days, nil)
			} else {
				on := day(d.Received.Add(keep))
				days = append(days, &on)
			}
		}
		if err := documents.PurgeOn(ctx, tx, partner, ids, days); err != nil {
			return false, err
		}
		w.passed = func() { after = list[len(list)-1].ID }
		return true, nil
	})
}

// monthOf is the month in which a row of a partner may go, by the windows in force. What
// the row's own month was made of is told by the windows that the partner ever had: it may
// have been settled under any. Where several explain it, the latest month that one gives
// is taken, so that nothing goes early; one that none explains, as that of a payload that
// was held, stays where it is.
func (w *run) monthOf(partner, kind string, r months.Row) time.Time {
	p := w.windows.Partners[partner]
	if p == nil || r.Month.Equal(months.Held) {
		return r.Month
	}
	at := idTime(r.ID)
	var to time.Time
	for _, then := range p.Ever() {
		for _, c := range windowsOf(kind, then, p.InForce) {
			if m := months.Of(at, c.now); months.Of(at, c.then).Equal(r.Month) && m.After(to) {
				to = m
			}
		}
	}
	if to.IsZero() {
		return r.Month
	}
	return to
}

type windowThen struct{ then, now time.Duration }

// windowsOf gives by which windows rows of a kind are kept, the usual one first.
func windowsOf(kind string, then, now partners.Retention) []windowThen {
	payloads, quarantine := windowThen{then.Payloads, now.Payloads}, windowThen{then.Quarantine, now.Quarantine}
	acknowledgements, deliveries := windowThen{then.Acknowledgements, now.Acknowledgements}, windowThen{then.Deliveries, now.Deliveries}
	switch kind {
	case "acknowledgements":
		return []windowThen{acknowledgements}
	case "deliveries":
		return []windowThen{deliveries, quarantine}
	case "events":
		return []windowThen{payloads, acknowledgements}
	}
	return []windowThen{payloads, quarantine}
}

// idTime is the time in a UUIDv7: ids are made when what they name is.
func idTime(id uuid.UUID) time.Time {
	ms := int64(0)
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}

// stayers says which of a partner's rows must not be deleted though their month has passed.
func (w *run) stayers(ctx context.Context, q months.Querier, partner, kind string, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	switch kind {
	case "events":
		return outbox.NeededOf(ctx, q, partner, true, ids)
	case "deliveries":
		return w.legalDeliveries(ctx, q, partner, ids)
	}
	return dedup.HeldOf(ctx, q, partner, ids)
}

func (w *run) legalDeliveries(ctx context.Context, q months.Querier, partner string, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	kept := map[uuid.UUID]bool{}
	messages, err := dedup.LegallyHeld(ctx, q, partner)
	if err != nil || len(messages) == 0 {
		return kept, err
	}
	list, err := journal.OfMessages(ctx, q, partner, messages, ids)
	for _, id := range list {
		kept[id] = true
	}
	return kept, err
}

// placing is where the rows of a page are to go.
type placing struct {
	from, to time.Time
	ids      []uuid.UUID
	has      months.Has
}

// place sorts a page by where its rows go; those that stay where they are are left out.
// What would go away and must not is left where it is: with its month it is looked at again.
func (w *run) place(ctx context.Context, q months.Querier, partner, kind string, rows []months.Row) (moves, goes []*placing, err error) {
	this := months.Of(w.windows.Now, 0)
	var away []uuid.UUID
	to := make([]time.Time, len(rows))
	for i, r := range rows {
		if to[i] = w.monthOf(partner, kind, r); to[i].Before(this) {
			away = append(away, r.ID)
		}
	}
	var stay map[uuid.UUID]bool
	if len(away) > 0 {
		if stay, err = w.stayers(ctx, q, partner, kind, away); err != nil {
			return nil, nil, err
		}
	}
	into := func(list *[]*placing, r months.Row, to time.Time) {
		for _, p := range *list {
			if p.from.Equal(r.Month) && p.to.Equal(to) {
				p.ids, p.has = append(p.ids, r.ID), months.Has{Rows: p.has.Rows + r.Rows, Bytes: p.has.Bytes + r.Bytes}
				return
			}
		}
		*list = append(*list, &placing{r.Month, to, []uuid.UUID{r.ID}, r.Has})
	}
	for i, r := range rows {
		switch {
		case r.Month.Equal(months.Held):
		case to[i].Before(this):
			// Where its month has passed it goes with that.
			if !r.Month.Before(this) && !stay[r.ID] && !w.windows.held(partner) {
				into(&goes, r, to[i])
			}
		case !to[i].Equal(r.Month):
			into(&moves, r, to[i])
		}
	}
	return moves, goes, nil
}

func (w *run) settleRows(ctx context.Context, partner, kind string, table months.Table) error {
	after := uuid.Nil
	return w.again(ctx, func(tx pgx.Tx, t tally) (bool, error) {
		rows, err := table.Page(ctx, tx, partner, time.Time{}, after, rescuePage)
		if err != nil || len(rows) == 0 {
			return false, err
		}
		moves, goes, err := w.place(ctx, tx, partner, kind, rows)
		if err != nil {
			return false, err
		}
		for _, m := range moves {
			if kind == "events" {
				_, err = outbox.MoveEvents(ctx, tx, partner, m.ids, m.from, m.to)
			} else {
				_, err = table.Move(ctx, tx, partner, m.ids, m.from, m.to)
			}
			if err != nil {
				return false, err
			}
		}
		for _, g := range goes {
			if _, err := table.Delete(ctx, tx, partner, g.ids, g.from); err != nil {
				return false, err
			}
			t.add(partner, kind, "", g.has)
		}
		w.passed = func() { after = rows[len(rows)-1].ID }
		return true, nil
	})
}

// sweep brings back from the partition held what nobody holds any more, to the month that
// its windows give it, or to this one where that has passed. What a row of a key points at
// there is the gateway's to release.
func (w *run) sweep(ctx context.Context) error {
	this := months.Of(w.windows.Now, 0)
	for _, wt := range wide {
		held, err := wt.table.PartnersHeld(ctx, w.Pool)
		if err != nil {
			return err
		}
		for _, partner := range held {
			p := w.windows.Partners[partner]
			if p == nil || p.InForce.LegalHold {
				continue
			}
			after := uuid.Nil
			if err := w.again(ctx, func(tx pgx.Tx, _ tally) (bool, error) {
				rows, err := wt.table.Page(ctx, tx, partner, months.Held, after, rescuePage)
				if err != nil || len(rows) == 0 || w.windows.held(partner) {
					return false, err
				}
				w.passed = func() { after = rows[len(rows)-1].ID }
				var ids []uuid.UUID
				for _, r := range rows {
					ids = append(ids, r.ID)
				}
				stay, err := w.stayers(ctx, tx, partner, wt.kind, ids)
				if err != nil {
					return false, err
				}
				pointed, err := dedup.PointedAt(ctx, tx, partner, ids)
				if err != nil {
					return false, err
				}
				byMonth := map[time.Time][]uuid.UUID{}
				for _, id := range ids {
					if pointed[id] || stay[id] && wt.kind != "events" {
						continue
					}
					to := months.Of(idTime(id), windowsOf(wt.kind, p.InForce, p.InForce)[0].now)
					if to.Before(this) {
						to = this
					}
					byMonth[to] = append(byMonth[to], id)
				}
				for to, ids := range byMonth {
					if wt.kind == "events" {
						_, err = outbox.MoveEvents(ctx, tx, partner, ids, months.Held, to)
					} else {
						_, err = wt.table.Move(ctx, tx, partner, ids, months.Held, to)
					}
					if err != nil {
						return false, err
					}
				}
				return true, nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
