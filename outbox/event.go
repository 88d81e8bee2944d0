// Package outbox holds all that leaves after COMMIT: events, acknowledgements
// and notices are rows written in the transaction that causes them. It owns the
// table outbox and knows no network.
package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// The kinds of what leaves.
const (
	KindEvent           = "event"
	KindNotice          = "notice"
	KindAcknowledgement = "acknowledgement"
)

// Event types (design §9), each prefixed io.edigw. in CloudEvents.
const (
	MessageReceived    = "message.received"
	MessageDuplicate   = "message.duplicate"
	MessageProcessed   = "message.processed" // deferred work has ended
	DriftOpened        = "drift.opened"
	DriftDecided       = "drift.decided"
	DocumentCreated    = "document.created"
	DocumentSuperseded = "document.superseded"
)

// Notices tell a partner what no acknowledgement told him: that what he was told
// positively, or asked to be told about, is not processed.
const (
	NoticeRefused   = "notice.refused"   // by a decision on a drift
	NoticeDiscarded = "notice.discarded" // a dead message that was given up
)

// Notices to the operators: what happens to a drift alert.
const (
	AlertOpened   = "alert.opened"
	AlertJoined   = "alert.joined"   // a payload came under it: a further one, or one that is known
	AlertProposed = "alert.proposed" // a decision waits for a second person
	AlertDecided  = "alert.decided"
	AlertClosed   = "alert.closed" // without a decision of its own: by a delivery or another decision
)

// Event is a row to be written. Its id is the idempotency key of whoever reads it.
type Event struct {
	Partner string
	ID      uuid.UUID
	Month   time.Time // of purge
	Kind    string
	Type    string
	Subject string
	Data    any      // marshalled as JSON: references, never payloads
	Targets []string // what it causes outside the database: one Effect each
}

// QueueEvents writes events in one statement, and what they cause in another.
func QueueEvents(b *pgx.Batch, events []Event) error {
	n := len(events)
	if n == 0 {
		return nil
	}
	partner, id, month := make([]string, n), make(pgtype.FlatArray[pgtype.UUID], n), make(pgtype.FlatArray[pgtype.Date], n) // encoded without reflection
	kind, typ, subject, body := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	state := make([]int16, n)
	for i, e := range events {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.Type, err)
		}
		partner[i], id[i], month[i] = e.Partner, pgtype.UUID{Bytes: e.ID, Valid: true}, pgtype.Date{Time: e.Month, Valid: true}
		kind[i], typ[i], subject[i], body[i] = e.Kind, e.Type, e.Subject, string(data)
		if e.Kind != KindEvent { // events are a log read by cursor, the others are to be delivered
			state[i] = 1
		}
	}
	b.Queue(`
		insert into outbox (partner_id, event_id, purge_month, kind, type, subject, body, state)
		select partner_id, event_id, purge_month, kind, type, subject, body::jsonb, state
		from unnest($1::text[], $2::uuid[], $3::date[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int2[])
			as e (partner_id, event_id, purge_month, kind, type, subject, body, state)`,
		partner, id, month, kind, typ, subject, body, state)
	queueEffects(b, events)
	return nil
}
