package purge

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/months"
)

// documents deletes the documents that are due, with their lines and packages.
func (w *run) documents(ctx context.Context) error {
	return w.again(ctx, func(tx pgx.Tx, t tally) (bool, error) {
		list, err := documents.TakeDue(ctx, tx, w.windows.today(), w.batch())
		if err != nil || len(list) == 0 {
			return false, err
		}
		goes, stay, err := w.judgeDocuments(ctx, tx, list, t)
		if err != nil {
			return false, err
		}
		for partner, s := range stay {
			if err := documents.PurgeOn(ctx, tx, partner, s.ids, s.days); err != nil {
				return false, err
			}
		}
		if len(goes) == 0 {
			return true, nil
		}
		has, err := documents.Goes(ctx, tx, goes, true)
		t.goes(has)
		return true, err
	})
}

// staying are documents of a partner that get another day.
type staying struct {
	ids  []uuid.UUID
	days []*time.Time
}

func (w *run) judgeDocuments(ctx context.Context, q months.Querier, list []documents.Due, t tally) (goes []documents.Due, stay map[string]*staying, err error) {
	refs := make([]dedup.Ref, len(list))
	for i, d := range list {
		refs[i] = dedup.Ref{Partner: d.Partner, ID: d.MessageID}
	}
	kept, err := dedup.KeptOf(ctx, q, refs)
	if err != nil {
		return nil, nil, err
	}
	stay = map[string]*staying{}
	for i, d := range list {
		reason, again := w.windows.document(d.Partner, d.Class, d.Received, kept[refs[i]])
		if reason == "" {
			goes = append(goes, d)
			continue
		}
		t.add(d.Partner, "documents", reason, months.Has{Rows: 1})
		s := stay[d.Partner]
		if s == nil {
			s = &staying{}
			stay[d.Partner] = s
		}
		day := &again
		if again.IsZero() {
			day = nil
		}
		s.ids, s.days = append(s.ids, d.ID), append(s.days, day)
	}
	return goes, stay, nil
}
