package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/months"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// wide are the tables by month of purge: what their rows are called in reports. A payload
// stands before its evidence, which is moved with it.
var wide = []struct {
	kind  string
	table months.Table
}{
	{"payloads", journal.PayloadTable},
	{"evidence", journal.EvidenceTable},
	{"acknowledgements", journal.AcknowledgementTable},
	{"deliveries", journal.DeliveryTable},
	{"events", outbox.Table},
}

// rescuePage is how many keys, or rows, are looked at for one transaction.
const rescuePage = 200

// errStays: something came to be held in a month while it was made ready to be dropped.
var errStays = errors.New("something in the month came to be held")

// months drops each month that has passed, after what must stay was moved out of it.
func (w *run) months(ctx context.Context) error {
	for _, t := range wide {
		passed, err := months.Passed(ctx, w.Pool, t.table, w.windows.Now)
		if err != nil {
			return err
		}
		for _, p := range passed {
			err := w.month(ctx, t.kind, p)
			if (months.Busy(err) || errors.Is(err, errStays)) && ctx.Err() == nil {
				w.busy = append(w.busy, p.Name)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countEnds is how long a month may be counted: it reads all of its rows, and locks none.
const countEnds = time.Hour

// count gives what a month has. It may take much longer than other statements.
func (w *run) count(ctx context.Context, p months.Partition) (has map[string]months.Has, err error) {
	err = pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`set local statement_timeout = %d; set local enable_seqscan = on`, countEnds.Milliseconds())); err != nil {
			return err
		}
		has, err = p.Count(ctx, tx)
		return err
	})
	return has, err
}

// month drops one. Where something comes to be held between looking and dropping, it looks
// again.
func (w *run) month(ctx context.Context, kind string, p months.Partition) error {
	for try := 0; ; try++ {
		mark, err := w.mark(ctx, w.Pool)
		if err != nil {
			return err
		}
		if err := w.rescue(ctx, kind, p); err != nil {
			return err
		}
		has, err := w.count(ctx, p)
		if err != nil {
			return err
		}
		w.reached("drop")
		if p.Default() {
			return w.deleteMonth(ctx, kind, p, slices.Sorted(maps.Keys(has)))
		}
		t := tally{}
		for partner, h := range has {
			t.add(partner, kind, "", h)
		}
		err = p.Drop(ctx, w.Pool, w.tries(), func(tx pgx.Tx) error {
			if err := w.keep(ctx, tx, w.id); err != nil {
				return err
			}
			if now, err := w.mark(ctx, tx); err != nil {
				return err
			} else if now != mark {
				return errStays
			}
			if stays, err := w.stillNeeded(ctx, tx, kind, p); err != nil || stays {
				return errors.Join(err, errIf(stays))
			}
			return t.note(ctx, tx, w.id)
		})
		if errors.Is(err, errStays) && try < 5 {
			if err := w.fresh(ctx, w.Pool); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			w.gone(t)
			w.reached("dropped")
		}
		return err
	}
}

// stillNeeded reports whether something came to be needed in a month that was emptied of
// what was: it is asked when nobody can write there any more. What a person holds, and
// settings, the mark tells.
func (w *run) stillNeeded(ctx context.Context, tx pgx.Tx, kind string, p months.Partition) (bool, error) {
	switch kind {
	case "events":
		needed, err := outbox.NeededIn(ctx, tx, p.Month, w.configured(), "", uuid.Nil, 1)
		return len(needed) > 0, err
	case "payloads", "evidence":
		held, err := dedup.HeldElsewhere(ctx, tx)
		if err != nil {
			return false, err
		}
		for partner, ids := range held {
			has, err := p.Table.CountOf(ctx, tx, partner, ids, p.Month)
			if err != nil || has.Rows > 0 {
				return has.Rows > 0, err
			}
		}
	}
	return false, nil
}

func errIf(stays bool) error {
	if stays {
		return errStays
	}
	return nil
}

// mark is what must be as it was between looking at a month and dropping it: the settings,
// and the legal holds.
type mark struct {
	counter int64
	holds   dedup.HoldsMark
}

func (w *run) mark(ctx context.Context, q months.Querier) (m mark, err error) {
	if m.counter, err = partners.Counter(ctx, q); err == nil {
		m.holds, err = dedup.MarkHolds(ctx, q)
	}
	return m, err
}

// configured gives the partners that there are, or were.
func (w *run) configured() []string {
	return slices.Sorted(maps.Keys(w.windows.Partners))
}

// rescue moves out of a month what must stay.
func (w *run) rescue(ctx context.Context, kind string, p months.Partition) error {
	if err := w.eachKept(ctx, kind, p, func(k kept) error { return w.move(ctx, kind, p, k) }); err != nil {
		return err
	}
	return nil
}

// kept are rows of a partner in a month that stay, and why.
type kept struct {
	partner string
	reason  string
	key     *dedup.Placed // whose row is to say so
	ids     []uuid.UUID
	to      time.Time
	has     months.Has // of a dry run
}

// eachKept calls each for what must stay of a month, in pages. Of a dry run the rows stay
// where they are, of another they are gone from it when the next page is read.
func (w *run) eachKept(ctx context.Context, kind string, p months.Partition, each func(kept) error) error {
	if err := w.fresh(ctx, w.Pool); err != nil {
		return err
	}
	return w.eachKeptIn(ctx, w.Pool, kind, p, each)
}

func (w *run) eachKeptIn(ctx context.Context, q months.Querier, kind string, p months.Partition, each func(kept) error) error {
	// All of a partner under legal hold.
	legal := map[string]bool{}
	for _, partner := range w.configured() {
		if !w.windows.held(partner) {
			continue
		}
		legal[partner] = true
		for after := uuid.Nil; ; {
			rows, err := p.Table.Page(ctx, q, partner, p.Month, after, rescuePage)
			if err != nil {
				return err
			}
			k := kept{partner: partner, reason: LegalHold, to: months.Held}
			for _, r := range rows {
				k.ids, after = append(k.ids, r.ID), r.ID
				k.has.Rows, k.has.Bytes = k.has.Rows+r.Rows, k.has.Bytes+r.Bytes
			}
			if len(rows) > 0 {
				if err := each(k); err != nil {
					return err
				}
			}
			if len(rows) < rescuePage {
				break
			}
		}
	}
	if p.Table == outbox.Table {
		return w.eachNeeded(ctx, q, p, legal, each)
	}
	return w.eachKeeper(ctx, q, kind, p, legal, each)
}

// eachNeeded: events that have not arrived stay until next month.
func (w *run) eachNeeded(ctx context.Context, q months.Querier, p months.Partition, legal map[string]bool, each func(kept) error) error {
	var partner string
	var after uuid.UUID
	for {
		needed, err := outbox.NeededIn(ctx, q, p.Month, w.configured(), partner, after, rescuePage)
		if err != nil {
			return err
		}
		for _, n := range needed {
			partner, after = n.Partner, n.ID
			if legal[n.Partner] {
				continue
			}
			if err := each(kept{partner: n.Partner, reason: n.Reason, ids: []uuid.UUID{n.ID}, to: months.Of(w.windows.Now, 0), has: months.Has{Rows: 1, Bytes: n.Bytes}}); err != nil {
				return err
			}
		}
		if len(needed) < rescuePage {
			return nil
		}
	}
}

// eachKeeper: what belongs to keys that hold something, or that a person holds. Of the
// first payloads alone: a key that outlives its acknowledgement is acknowledged afresh.
func (w *run) eachKeeper(ctx context.Context, q months.Querier, kind string, p months.Partition, legal map[string]bool, each func(kept) error) error {
	for after := (dedup.Ref{}); ; {
		keepers, err := dedup.Keepers(ctx, q, after, rescuePage)
		if err != nil {
			return err
		}
		for _, k := range keepers {
			after = k.Ref
			if legal[k.Partner] {
				continue
			}
			var ids []uuid.UUID
			switch {
			case kind == "payloads" || kind == "evidence":
				ids = k.Payloads
			case kind == "acknowledgements" && k.Legal:
				ids = k.Acks
			case kind == "deliveries" && k.Legal:
				if ids, err = journal.DeliveriesOf(ctx, q, k.Partner, k.ID, p.Month); err != nil {
					return err
				}
			}
			if len(ids) == 0 {
				continue
			}
			reason := LegalHold
			if !k.Legal {
				reason = dedup.HeldFor(k.Hold)
			}
			rows, err := p.Table.In(ctx, q, k.Partner, ids, p.Month)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				continue
			}
			of := kept{partner: k.Partner, reason: reason, key: &k, to: months.Held}
			for _, r := range rows {
				of.ids, of.has = append(of.ids, r.ID), of.has.Plus(r.Has)
			}
			if err := each(of); err != nil {
				return err
			}
		}
		if len(keepers) < rescuePage {
			return nil
		}
	}
}

// move moves what stays out of a month, with what points at it. Evidence goes with its
// payload.
func (w *run) move(ctx context.Context, kind string, p months.Partition, k kept) error {
	for {
		err := w.batched(ctx, func(tx pgx.Tx, t tally) error {
			if k.key != nil {
				if there, err := dedup.LockKey(ctx, tx, k.key.Ref); err != nil || !there {
					return err
				}
			}
			t.add(k.partner, kind, k.reason, k.has)
			switch kind {
			case "events":
				_, err := outbox.MoveEvents(ctx, tx, k.partner, k.ids, p.Month, k.to)
				return err
			case "payloads":
				has, err := journal.EvidenceTable.CountOf(ctx, tx, k.partner, k.ids, p.Month)
				if err != nil {
					return err
				}
				t.add(k.partner, "evidence", k.reason, has)
				if _, err := journal.EvidenceTable.Move(ctx, tx, k.partner, k.ids, p.Month, k.to); err != nil {
					return err
				}
			}
			if _, err := p.Table.Move(ctx, tx, k.partner, k.ids, p.Month, k.to); err != nil {
				return err
			}
			if k.key == nil {
				return nil
			}
			moved := dedup.Placed{Ref: k.key.Ref}
			switch kind {
			case "payloads":
				moved.Payloads = k.ids
			case "acknowledgements":
				moved.Acks = k.ids
			default: // nothing points at it
				return nil
			}
			return dedup.Keeps(ctx, tx, &moved)
		})
		if !errors.Is(err, errChanged) {
			w.reached("moved")
			return err
		}
	}
}

// deleteMonth deletes rows of a month that has no partition of its own, page by page.
func (w *run) deleteMonth(ctx context.Context, kind string, p months.Partition, of []string) error {
	for _, partner := range of {
		if err := w.again(ctx, func(tx pgx.Tx, t tally) (bool, error) {
			if w.windows.held(partner) {
				return false, nil
			}
			rows, err := p.Table.Page(ctx, tx, partner, p.Month, uuid.Nil, rescuePage)
			if err != nil || len(rows) == 0 {
				return false, err
			}
			var ids []uuid.UUID
			for _, r := range rows {
				ids = append(ids, r.ID)
				t.add(partner, kind, "", r.Has)
			}
			n, err := p.Table.Delete(ctx, tx, partner, ids, p.Month)
			if err == nil && n == 0 {
				err = fmt.Errorf("%s of %s in %s were not deleted", kind, partner, p.Month.Format("2006-01"))
			}
			return true, err
		}); err != nil {
			return err
		}
	}
	return nil
}
