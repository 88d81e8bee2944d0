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
	Signer      string     `json:"signer,omitempty"` // label of the partner's certificate that signed it
}

// QueueDeliveries writes journal rows in one statement. Texts are cleaned and cut
// here, whoever they came from.
func QueueDeliveries(b *pgx.Batch, ds []*Delivery) {
	if len(ds) == 0 {
		return
	}
	var partner, id, seq, month, received, transport, transportID, messageID, sha, verdict, outcome, rule, status columns.Column
	var bytes, took, payload, payloadIn, ack, ackIn, alert, remote, filename, detail, signer columns.Column
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
		textOrNull(&signer, d.Signer)
	}
	columns.Queue(b, `
		insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256,
			verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail, signer)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::int4[]), unnest($4::date[]), unnest($5::timestamptz[]), unnest($6::text[]),
			unnest($7::text[]), unnest($8::text[]), unnest($9::bytea[]), unnest($10::text[]), unnest($11::text[]), unnest($12::text[]),
			unnest($13::int2[]), unnest($14::int8[]), unnest($15::int4[]), unnest($16::uuid[]), unnest($17::date[]), unnest($18::uuid[]),
			unnest($19::date[]), unnest($20::uuid[]), unnest($21::text[]), unnest($22::text[]), unnest($23::text[]), unnest($24::text[])`,
		&partner, &id, &seq, &month, &received, &transport, &transportID, &messageID, &sha, &verdict, &outcome, &rule, &status,
		&bytes, &took, &payload, &payloadIn, &ack, &ackIn, &alert, &remote, &filename, &detail, &signer)
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

// Refused is what was kept of a partner's deliveries of a day that made no key: those
// that failed verification, and those whose sender was not allowed.
type Refused struct {
	Day   time.Time // of the database, UTC
	Rows  int       // up to as many as were asked about
	Bytes int64     // of the payloads that were kept with these
}

// refusedToday are those of today (UTC), in the order of the index delivery_refused. The
// partner's other deliveries of the day are not looked at: anybody can have this asked.
const refusedToday = `
		from delivery
		where partner_id = $1 and (verdict = 'refused' or message_id is null and transport_id is null) and received_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'
			and delivery_id >= (lpad(to_hex((extract(epoch from date_trunc('day', now() at time zone 'utc')) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
		order by delivery_id`

const countRefusedToday = `
		select (now() at time zone 'utc')::date, count(*), coalesce(sum(r.bytes) filter (where r.payload_id is not null), 0)
		from (select bytes, payload_id` + refusedToday + ` limit $2) r`

// RefusedToday counts up to most of what was kept today of a partner's deliveries that
// made no key.
func RefusedToday(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, partner string, most int) (Refused, error) {
	return scanRefused(q.QueryRow(ctx, countRefusedToday, partner, most))
}

// QueueRefusedToday is RefusedToday for a transaction that adds one, and waits for others
// that do. They meet at the first of the day; who finds none is among the first.
func QueueRefusedToday(b *pgx.Batch, partner string, most int, found func(Refused)) {
	b.Queue(`
		select delivery_id`+refusedToday+` limit 1
		for no key update`, partner)
	b.Queue(countRefusedToday, partner, most).QueryRow(func(row pgx.Row) error { // a following statement: the lock's own would see what was before the wait
		r, err := scanRefused(row)
		if err != nil {
			return err
		}
		found(r)
		return nil
	})
}

func scanRefused(row pgx.Row) (r Refused, err error) {
	if err := row.Scan(&r.Day, &r.Rows, &r.Bytes); err != nil {
		return r, fmt.Errorf("count refused deliveries: %w", err)
	}
	return r, nil
}
