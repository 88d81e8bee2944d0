package dedup

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// HeldPayload names a payload that is kept from being purged: it stands in the
// month 9999-01-01, which is journal.Held.
type HeldPayload struct {
	Partner string
	ID      uuid.UUID
}

// Released gives payloads of keys that hold nothing any more, in the order of
// partner and id, after the one named. Another key may still need one of them:
// QueueHeldBy tells, under their locks.
func (s Inbox) Released(ctx context.Context, after HeldPayload, limit int) ([]HeldPayload, error) {
	// Each half ends after limit rows of its index: of a partner under legal hold
	// everything stands in it.
	rows, err := s.Pool.Query(ctx, `
		(select distinct partner_id, payload_id
		from inbox i
		where payload_month = '9999-01-01' and hold = 0 and (partner_id, payload_id) > ($1 collate "C", $2::uuid)
			and not exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id)
		order by partner_id, payload_id limit $3)
		union
		(select distinct v.partner_id, v.payload_id
		from variant v join inbox i on i.partner_id = v.partner_id and i.message_id = v.message_id
		where v.payload_month = '9999-01-01' and i.hold = 0 and (v.partner_id, v.payload_id) > ($1 collate "C", $2::uuid)
			and not exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id)
		order by v.partner_id, v.payload_id limit $3)
		order by 1, 2 limit $3`, after.Partner, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list released payloads: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p HeldPayload, err error) {
		return p, row.Scan(&p.Partner, &p.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("list released payloads: %w", err)
	}
	return list, nil
}

// QueueHeldBy calls found for every variant whose payload is p: its key, the
// delivery that brought it, and whether anything under the key forbids purging. It
// is read twice: to know the keys, and again under their locks.
func QueueHeldBy(b *pgx.Batch, p HeldPayload, found func(r Ref, delivery uuid.UUID, holds bool)) {
	b.Queue(`
		select partner_id, message_id, delivery_id,
			hold <> 0 or exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id)
		from inbox i
		where partner_id = $1 and payload_id = $2 and payload_month = '9999-01-01'
		union all
		select v.partner_id, v.message_id, v.delivery_id,
			i.hold <> 0 or exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id)
		from variant v join inbox i on i.partner_id = v.partner_id and i.message_id = v.message_id
		where v.partner_id = $1 and v.payload_id = $2 and v.payload_month = '9999-01-01'`,
		p.Partner, p.ID,
	).Query(func(rows pgx.Rows) error {
		var r Ref
		var delivery uuid.UUID
		var holds bool
		_, err := pgx.ForEachRow(rows, []any{&r.Partner, &r.ID, &delivery, &holds}, func() error {
			found(r, delivery, holds)
			return nil
		})
		return err
	})
}

// QueuePayloadMonth notes that a payload moved to the month of its purge.
// The keys that QueueHeldBy finds must be locked.
func QueuePayloadMonth(b *pgx.Batch, p HeldPayload, to time.Time) {
	b.Queue(`
		update inbox set payload_month = $3
		where partner_id = $1 and payload_id = $2 and payload_month = '9999-01-01'`, p.Partner, p.ID, month(to))
	b.Queue(`
		update variant set payload_month = $3
		where partner_id = $1 and payload_id = $2 and payload_month = '9999-01-01'`, p.Partner, p.ID, month(to))
}
