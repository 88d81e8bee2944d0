package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// DeliveriesOf gives the deliveries of a message that stand in a month.
func DeliveriesOf(ctx context.Context, q months.Querier, partner, messageID string, month time.Time) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, `
		select distinct delivery_id from delivery where partner_id = $1 and message_id = $2 and purge_month = $3`, partner, messageID, month)
	if err != nil {
		return nil, fmt.Errorf("list deliveries of %s: %w", messageID, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("list deliveries of %s: %w", messageID, err)
	}
	return ids, nil
}

// OfMessages gives which of a partner's deliveries brought one of these messages.
func OfMessages(ctx context.Context, q months.Querier, partner string, messages []string, among []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := q.Query(ctx, `
		select distinct delivery_id from delivery where partner_id = $1 and delivery_id = any($2) and message_id = any($3)`, partner, among, messages)
	if err == nil {
		var ids []uuid.UUID
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("list deliveries of %s: %w", partner, err)
}
