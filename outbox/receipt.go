package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ReceiptDue is the type of the outbox row that holds a transport's receipt on its way;
// nobody subscribes to it.
const ReceiptDue = "receipt.due"

// MDNTarget is the target that brings asynchronous MDNs over AS2.
const MDNTarget = "as2-mdn"

// ReceiptBody is the outbox row's body: an entity, and where it goes.
type ReceiptBody struct {
	Type        string      `json:"type"` // MDN
	MessageID   string      `json:"message_id"`
	Address     string      `json:"address"`
	ContentType string      `json:"content_type"`
	Fields      [][2]string `json:"fields,omitempty"`
	Content     []byte      `json:"content"` // base64 in JSON
}

// Transaction is what SendReceiptAgain works in.
type Transaction interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// SendReceiptAgain has a receipt sent again that was sent under the same binding, to the
// address that is asked for now, or sends e where there was none, or it is forgotten. One
// on its way under another binding, which the sender no longer waits for, is given up. Who
// asks again is there again: what failed for his address before is put off no longer.
func SendReceiptAgain(ctx context.Context, tx Transaction, e Event) error {
	a := e.Acknowledges
	body, ok := e.Data.(ReceiptBody)
	if !ok {
		return fmt.Errorf("a receipt of %s without its body", a.MessageID)
	}
	var event uuid.UUID
	var month time.Time
	err := tx.QueryRow(ctx, `
		select a.event_id, a.event_month
		from functional_acknowledgement a
			join effect x on x.partner_id = a.partner_id and x.event_id = a.event_id
			join outbox o on o.partner_id = a.partner_id and o.event_id = a.event_id and o.purge_month = a.event_month -- both outlived by it
		where a.partner_id = $1 and a.message_id = $2 and a.payload_sha256 = $3 and a.type = $4 and a.binding is not distinct from $5
		order by a.created_at desc, a.event_id desc limit 1`, e.Partner, a.MessageID, a.SHA256[:], a.Type, a.Binding).Scan(&event, &month)
	if err != nil && err != pgx.ErrNoRows {
		return fmt.Errorf("look for a receipt of %s: %w", a.MessageID, err)
	}
	var b pgx.Batch
	if err == nil {
		b.Queue(`
			update outbox set body = jsonb_set(body, '{address}', to_jsonb($4::text))
			where partner_id = $1 and event_id = $2 and purge_month = $3 and body->>'address' <> $4`, e.Partner, event, month, body.Address)
		// What waits for its next try is due now: whoever asks again is there again. One that
		// is being brought may have come and been lost, or goes to the address of before: it is
		// taken from who brings it, after whom another does.
		b.Queue(`
			with again as materialized (
				select partner_id, event_id, target from effect
				where partner_id = $1 and event_id = $2 and (state in (2, 3, 4, 5) or state = 1 and due_at > now())
				for update)
			update effect e set state = 1, attempts = 0, due_at = now(), lease_id = null, place = '', ended_at = null
			from again
			where e.partner_id = again.partner_id and e.event_id = again.event_id and e.target = again.target`, e.Partner, event)
	} else {
		b.Queue(`
			with late as materialized (
				select x.partner_id, x.event_id, x.target
				from functional_acknowledgement a join effect x on x.partner_id = a.partner_id and x.event_id = a.event_id
				where a.partner_id = $1 and a.message_id = $2 and a.payload_sha256 = $3 and a.type = $4 and x.state = 1
				order by x.event_id
				for update of x skip locked)
			update effect x set state = 4, failure = 'a retry of the message is answered instead', ended_at = now()
			from late
			where x.partner_id = late.partner_id and x.event_id = late.event_id and x.target = late.target`, e.Partner, a.MessageID, a.SHA256[:], a.Type)
		if err := QueueEvents(&b, []Event{e}); err != nil {
			return err
		}
	}
	b.Queue(`delete from effect_pause where partner_id = $1 and target = any($2)`, e.Partner, e.Targets) // last: a relay locks it behind its effect
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("send a receipt of %s again: %w", a.MessageID, err)
	}
	return nil
}
