package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
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
	n := len(ds)
	if n == 0 {
		return
	}
	partner, id, seq, month, received := make([]string, n), make([]uuid.UUID, n), make([]int32, n), make([]time.Time, n), make([]time.Time, n)
	transport, transportID, messageID, sha := make([]string, n), make([]*string, n), make([]*string, n), make([][]byte, n)
	verdict, outcome, rule, status := make([]string, n), make([]string, n), make([]string, n), make([]int16, n)
	bytes, took := make([]int64, n), make([]int32, n)
	payload, payloadIn, ack, ackIn, alert := make([]*uuid.UUID, n), make([]*time.Time, n), make([]*uuid.UUID, n), make([]*time.Time, n), make([]*uuid.UUID, n)
	remote, filename, detail := make([]string, n), make([]string, n), make([]string, n)
	for i, d := range ds {
		partner[i], id[i], seq[i], month[i], received[i] = d.Partner, d.ID, d.Seq, d.Month, d.Received
		transport[i], transportID[i], messageID[i], sha[i] = clean(d.Transport, maxText), text(d.TransportID), text(d.MessageID), d.SHA256
		verdict[i], outcome[i], rule[i], status[i] = clean(d.Verdict, maxText), clean(d.Outcome, maxText), clean(d.Rule, maxText), d.Status
		bytes[i], took[i] = d.Bytes, d.Took
		payload[i], payloadIn[i], ack[i], ackIn[i], alert[i] = d.Payload, d.PayloadIn, d.Ack, d.AckIn, d.Alert
		remote[i], filename[i], detail[i] = clean(d.Remote, maxText), clean(d.Filename, maxText), clean(d.Detail, maxDetail)
	}
	b.Queue(`
		insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256,
			verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail)
		select partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256,
			verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail
		from unnest($1::text[], $2::uuid[], $3::int4[], $4::date[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::bytea[],
			$10::text[], $11::text[], $12::text[], $13::int2[], $14::int8[], $15::int4[], $16::uuid[], $17::date[], $18::uuid[], $19::date[],
			$20::uuid[], $21::text[], $22::text[], $23::text[])
			as d (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256,
			verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail)`,
		partner, id, seq, month, received, transport, transportID, messageID, sha, verdict, outcome, rule, status,
		bytes, took, payload, payloadIn, ack, ackIn, alert, remote, filename, detail)
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	s = clean(s, maxText)
	return &s
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

// RefusedToday counts what was kept today (UTC) of a partner's deliveries that
// made no key: those that failed verification, and those whose sender was not
// allowed.
func RefusedToday(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, partner string) (rows int, bytes int64, err error) {
	err = q.QueryRow(ctx, `
		select count(*), coalesce(sum(bytes) filter (where payload_id is not null), 0)
		from delivery
		where partner_id = $1 and (verdict = 'refused' or message_id is null and transport_id is null) and received_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'
			and delivery_id >= (lpad(to_hex((extract(epoch from date_trunc('day', now() at time zone 'utc')) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid`,
		partner).Scan(&rows, &bytes)
	if err != nil {
		return 0, 0, fmt.Errorf("count refused deliveries: %w", err)
	}
	return rows, bytes, nil
}
