package purge

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/months"
	"github.com/edigw/edigw/outbox"
)

// keys deletes the keys that are due, a batch in each transaction. One that stays gets
// another day, so that the index does not give it again.
func (w *run) keys(ctx context.Context) error {
	held, err := dedup.HeldDue(ctx, w.Pool, w.windows.today())
	if err != nil {
		return err
	}
	if err := w.batched(ctx, func(tx pgx.Tx, t tally) error {
		for _, h := range held {
			t.add(h.Partner, "keys", dedup.HeldFor(h.Hold), months.Has{Rows: h.Rows})
		}
		return nil
	}); err != nil && err != errChanged {
		return err
	}
	return w.again(ctx, func(tx pgx.Tx, t tally) (bool, error) {
		list, err := dedup.TakeDue(ctx, tx, w.windows.today(), w.batch())
		if err != nil || len(list) == 0 {
			return false, err
		}
		goes, stay, days, err := w.judgeKeys(ctx, tx, list, t)
		if err != nil {
			return false, err
		}
		if err := dedup.PurgeOn(ctx, tx, stay, days); err != nil {
			return false, err
		}
		return true, w.deleteKeys(ctx, tx, goes, t)
	})
}

// judgeKeys says which keys go, and which stay until when; t has why.
func (w *run) judgeKeys(ctx context.Context, q months.Querier, list []dedup.Due, t tally) (goes, stay []dedup.Ref, days []time.Time, err error) {
	var asked []outbox.Key
	for i := range list {
		reason, again := w.windows.key(&list[i])
		if reason == "" {
			asked = append(asked, outbox.Key(list[i].Ref))
			continue
		}
		t.add(list[i].Partner, "keys", reason, months.Has{Rows: 1})
		stay, days = append(stay, list[i].Ref), append(days, again)
	}
	if len(asked) == 0 {
		return nil, stay, days, nil
	}
	undelivered, err := outbox.Undelivered(ctx, q, asked)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, k := range asked {
		if undelivered[k] {
			t.add(k.Partner, "keys", Undelivered, months.Has{Rows: 1})
			stay, days = append(stay, dedup.Ref(k)), append(days, w.windows.today().AddDate(0, 0, againSoon))
			continue
		}
		goes = append(goes, dedup.Ref(k))
	}
	return goes, stay, days, nil
}

func (w *run) deleteKeys(ctx context.Context, tx pgx.Tx, refs []dedup.Ref, t tally) error {
	if len(refs) == 0 {
		return nil
	}
	var keys []outbox.Key
	for _, r := range refs {
		keys = append(keys, outbox.Key(r))
	}
	if err := w.forgetSent(ctx, tx, keys, t); err != nil {
		return err
	}
	has, err := dedup.DeleteKeys(ctx, tx, refs)
	if err != nil {
		return err
	}
	t.goes(has)
	return nil
}

func (w *run) forgetSent(ctx context.Context, q months.Querier, keys []outbox.Key, t tally) error {
	acks, answers, err := outbox.ForgetAcknowledgements(ctx, q, keys, w.dry)
	if err != nil {
		return err
	}
	for partner, h := range acks {
		t.add(partner, "sent_acknowledgements", "", h)
	}
	for partner, h := range answers {
		t.add(partner, "answers", "", h)
	}
	return nil
}

// guards deletes the guards that are due.
func (w *run) guards(ctx context.Context) error {
	return w.again(ctx, func(tx pgx.Tx, t tally) (bool, error) {
		list, err := dedup.TakeGuards(ctx, tx, w.windows.today(), w.batch())
		if err != nil || len(list) == 0 {
			return false, err
		}
		var goes, stay []dedup.GuardRef
		var days []time.Time
		for i := range list {
			g := &list[i]
			// Its key stood here when keys were purged: it stays.
			reason, again := w.windows.guard(g, func(*dedup.Due) bool { return false })
			if reason == "" {
				goes = append(goes, g.GuardRef)
				t.add(g.Partner, "guards", "", months.Has{Rows: 1, Bytes: g.Bytes})
				continue
			}
			t.add(g.Partner, "guards", reason, months.Has{Rows: 1})
			stay, days = append(stay, g.GuardRef), append(days, again)
		}
		if err := dedup.GuardsOn(ctx, tx, stay, days); err != nil {
			return false, err
		}
		return true, dedup.DeleteGuards(ctx, tx, goes)
	})
}

// copies forgets what nothing is compared with any more.
func (w *run) copies(ctx context.Context) error {
	err := w.batched(ctx, func(tx pgx.Tx, t tally) error {
		has, err := dedup.ForgetCopies(ctx, tx, false)
		t.goes(has)
		return err
	})
	if err == errChanged {
		return nil // tomorrow
	}
	return err
}
