package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/documents"
)

// askBooks refuses a decision that would replace or cancel a document which the
// program that reads documents has reported as posted or paid: its books would
// hold what no longer stands. Once it is reversed there, and reported as refused,
// the decision is free. A partner's own replacement is not asked: the event tells
// of it.
func (x *deciding) askBooks(ctx context.Context, s *session) error {
	var ids []uuid.UUID
	for _, o := range x.pl.supersede {
		ids = append(ids, o.old)
	}
	for _, d := range x.pl.ruling.lacking() {
		ids = append(ids, d.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	var why []string
	documents.QueueInBooks(s.batch, x.alert.Partner, ids, func(_ uuid.UUID, number string, r documents.Report) {
		why = append(why, fmt.Sprintf("document %s was reported as %s by %s on %s: reverse it there, and report it as refused", number, r.Is, r.By, r.At.UTC().Format(time.DateOnly)))
	})
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("ask what is in the books: %w", err)
	}
	if len(why) > 0 {
		return &Refusal{InBooks, why}
	}
	return nil
}
