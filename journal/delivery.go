package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
)

// Delivery is one row of the journal: a delivery, or for several interchanges
// each of them.
type Delivery struct {
	Partner     string     `json:"partner"`
	ID          uuid.UUID  `json:"delivery_id"`
	Seq         int32      `json:"seq"`
	Month       time.Time  `json:"-"`
	Received    time.Time  `json:"received_at"`
	Transport   string     `json:"transport"`
	TransportID string     `json:"transport_id,omitempty"`
	MessageID   string     `json:"message_id,omitempty"`
	SHA256      []byte     `json:"-"`
	Verdict     string     `json:"verdict"`
	Outcome     string     `json:"outcome"`
	Rule        string     `json:"rule"` // row of the outcome table
	Status      int16      `json:"status"`
	Bytes       int64      `json:"bytes"`
	Took        int32      `json:"took_us"`
	Payload     *uuid.UUID `json:"payload_id,omitempty"`
	PayloadIn   *time.Time `json:"-"`
	Ack         *uuid.UUID `json:"acknowledgement_id,omitempty"`
	AckIn       *time.Time `json:"-"`
	Alert       *uuid.UUID `json:"alert_id,omitempty"`
	Remote      string     `json:"remote,omitempty"`
	Filename    string     `json:"filename,omitempty"`
	Detail      string     `json:"detail,omitempty"`
}

// QueueDeliveries writes journal rows in one statement. Texts are cleaned and cut
// here, whoever they came from.
func QueueDeliveries(b *pgx.Batch, ds []*Delivery) {
	if len(ds) == 0 {
		return
	}
	var partner, id, seq, month, received, transport, transportID, messageID, sha, verdict, outcome, rule, status columns.Column
	var bytes, took, payload, payloadIn, ack, ackIn, alert, remote, filename, detail columns.Column
	for _, d := range ds {
		partner.Text(d.Partner)
		id.UUID(d.ID)
		seq.Int4(d.Seq)
		month.Date(d.Month)
		received.Time(d.Received)
		transport.Text(clean(d.Transport, maxText))
		textOrNull(&transportID, d.TransportID)
		textOrNull(&messageID, d.MessageID)
		sha.Bytes(d.SHA256)
		verdict.Text(clean(d.Verdict, maxText))
		outcome.Text(clean(d.Outcome, maxText))
		rule.Text(clean(d.Rule, maxText))
		status.Int2(d.Status)
		bytes.Int8(d.Bytes)
		took.Int4(d.Took)
		idOrNull(&payload, d.Payload)
		monthOrNull(&payloadIn, d.PayloadIn)
		idOrNull(&ack, d.Ack)
		monthOrNull(&ackIn, d.AckIn)
		idOrNull(&alert, d.Alert)
		remote.Text(clean(d.Remote, maxText))
		filename.Text(clean(d.Filename, maxText))
		detail.Text(clean(d.Detail, maxDetail))
	}
	columns.Queue(b, `
		insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256,
			verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::int4[]), unnest($4::date[]), unnest($5::timestamptz[]), unnest($6::text[]),
			unnest($7::text[]), unnest($8::text[]), unnest($9::bytea[]), unnest($10::text[]), unnest($11::text[]), unnest($12::text[]),
			unnest($13::int2[]), unnest($14::int8[]), unnest($15::int4[]), unnest($16::uuid[]), unnest($17::date[]), unnest($18::uuid[]),
			unnest($19::date[]), unnest($20::uuid[]), unnest($21::text[]), unnest($22::text[]), unnest($23::text[])`,
		&partner, &id, &seq, &month, &received, &transport, &transportID, &messageID, &sha, &verdict, &outcome, &rule, &status,
		&bytes, &took, &payload, &payloadIn, &ack, &ackIn, &alert, &remote, &filename, &detail)
}

// Committed reports whether a delivery's rows are there.
func Committed(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, partner string, delivery uuid.UUID) (bool, error) {
	var there bool
	if err := q.QueryRow(ctx, `select exists (select 1 from delivery where partner_id = $1 and delivery_id = $2)`, partner, delivery).Scan(&there); err != nil {
		return false, fmt.Errorf("look for delivery %s: %w", delivery, err)
	}
	return there, nil
}

// refusedToday are a partner's deliveries of today (UTC) that made no key: those that
// failed verification, and those whose sender was not allowed.
const refusedToday = `
		from delivery
		where partner_id = $1 and (verdict = 'refused' or message_id is null and transport_id is null) and received_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'
			and delivery_id >= (lpad(to_hex((extract(epoch from date_trunc('day', now() at time zone 'utc')) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid`

const countRefusedToday = `
		select count(*), coalesce(sum(bytes) filter (where payload_id is not null), 0)` + refusedToday

// RefusedToday counts what was kept today (UTC) of a partner's deliveries that
// made no key: those that failed verification, and those whose sender was not
// allowed.
func RefusedToday(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, partner string) (rows int, bytes int64, err error) {
	if err = q.QueryRow(ctx, countRefusedToday, partner).Scan(&rows, &bytes); err != nil {
		return 0, 0, fmt.Errorf("count refused deliveries: %w", err)
	}
	return rows, bytes, nil
}

// QueueRefusedToday is RefusedToday for a transaction that adds one, and waits for others
// that do. They meet at the first of the day; who finds none is among the first.
func QueueRefusedToday(b *pgx.Batch, partner string, found func(rows int, bytes int64)) {
	b.Queue(`
		select delivery_id`+refusedToday+`
		order by delivery_id limit 1
		for no key update`, partner)
	b.Queue(countRefusedToday, partner).QueryRow(func(row pgx.Row) error { // a following statement: the lock's own would see what was before the wait
		var rows int
		var bytes int64
		if err := row.Scan(&rows, &bytes); err != nil {
			return fmt.Errorf("count refused deliveries: %w", err)
		}
		found(rows, bytes)
		return nil
	})
}
