// Package outbox holds all that leaves after COMMIT: events, acknowledgements
// and notices are rows written in the transaction that causes them. It owns the
// table outbox and knows no network.
package outbox

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
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

	AcknowledgementFailed = "acknowledgement.failed" // a functional acknowledgement did not reach the partner
	CertificateExpiring   = "certificate.expiring"   // a partner's certificate or one of our keys ends, and none follows

	PartnerSilent     = "partner.silent"      // nothing came for longer than is usual
	PartnerHeard      = "partner.heard"       // a silence that was told has ended
	SequenceGap       = "sequence.gap"        // control references of a partner who counts did not come
	SequenceGapClosed = "sequence.gap_closed" // they came, or a person knows what became of them
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

// Types are all of which a subscription may be told: events, and notices.
var Types = []string{
	AcknowledgementFailed, AlertClosed, AlertDecided, AlertJoined, AlertOpened, AlertProposed, CertificateExpiring,
	DocumentCreated, DocumentSuperseded, DriftDecided, DriftOpened, MessageProcessed, MessageReceived,
	NoticeDiscarded, NoticeRefused, PartnerHeard, PartnerSilent, SequenceGap, SequenceGapClosed,
}

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

	Acknowledges *Acknowledgement // what it says of an interchange, where it is a functional acknowledgement
}

// QueueEvents writes events in one statement, and what they cause in another. All of
// them are a log that is read by cursor: what is to be delivered stands in effect.
func QueueEvents(b *pgx.Batch, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	var partner, id, month, kind, typ, subject, body columns.Column
	for _, e := range events {
		partner.Text(e.Partner)
		id.UUID(e.ID)
		month.Date(e.Month)
		kind.Text(e.Kind)
		typ.Text(e.Type)
		subject.Text(e.Subject)
		body.Marshal(e.Data)
	}
	if err := columns.Err(&subject, &body); err != nil {
		return fmt.Errorf("queue events: %w", err)
	}
	columns.Queue(b, `
		insert into outbox (partner_id, event_id, purge_month, kind, type, subject, body)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::date[]), unnest($4::text[]), unnest($5::text[]), unnest($6::text[]),
			unnest($7::jsonb[])`,
		&partner, &id, &month, &kind, &typ, &subject, &body)
	queueEffects(b, events)
	var acks []Acknowledgement
	for _, e := range events {
		if e.Acknowledges != nil {
			a := *e.Acknowledges
			a.Partner, a.Event, a.Month = e.Partner, e.ID, e.Month
			acks = append(acks, a)
		}
	}
	QueueAcknowledgements(b, acks)
	return nil
}
