package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Reader reads the journal for people: the API, the console, the command line.
type Reader struct {
	Pool *pgxpool.Pool
}

// Position is where a page of the journal ends: the delivery and the interchange
// in it that stood last.
type Position struct {
	ID  uuid.UUID
	Seq int32
}

// Filter narrows List. Zero fields take everything, but Partners: only theirs
// is read, so that each partner's rows are found by their key.
type Filter struct {
	Partners   []string
	MessageIDs []string  // interchange keys; nil: any
	Under      string    // transport key: with MessageIDs, also what came under it without an interchange
	Unkeyed    [][]byte  // with MessageIDs, also payloads of these digests that came without any key
	Transport  string    // http, as2, as4
	Verdict    string    // of gateway.Verdict
	Outcome    string    // word of gateway.Told
	After      time.Time // received then or later
	Before     time.Time // received earlier than that
	From       *Position // the last one of the page before
	Limit      int
}

const deliveryColumns = `partner_id, delivery_id, seq, received_at, transport, transport_id, message_id, payload_sha256,
	verdict, outcome, rule, status, bytes, took_us, payload_id, payload_month, ack_id, ack_month, alert_id, remote, filename, detail, signer`

// List gives deliveries, the latest first; of one with several interchanges
// each, the last first.
func (r Reader) List(ctx context.Context, f Filter) ([]*Delivery, error) {
	var fromID *uuid.UUID
	var fromSeq int32
	if f.From != nil {
		fromID, fromSeq = &f.From.ID, f.From.Seq
	}
	rows, err := r.Pool.Query(ctx, `
		select `+deliveryColumns+`
		from unnest($1::text[]) as p (id) cross join lateral (
			select `+deliveryColumns+`
			from delivery
			where partner_id = p.id collate "C"
				and ($2::text[] is null or message_id = any($2)
					or message_id is null and (transport_id = nullif($4, '') or transport_id is null and payload_sha256 = any($12)))
				and ($3 = '' or transport = $3) and ($4 = '' or transport_id = $4)
				and ($5 = '' or verdict = $5) and ($6 = '' or outcome = $6)
				and ($7::timestamptz is null or received_at >= $7) and ($8::timestamptz is null or received_at < $8)
				and ($9::uuid is null or (delivery_id, seq) < ($9, $10::int))
			order by delivery_id desc, seq desc
			limit $11) as d
		order by delivery_id desc, seq desc
		limit $11`,
		f.Partners, f.MessageIDs, f.Transport, f.Under, f.Verdict, f.Outcome, orNil(f.After), orNil(f.Before), fromID, fromSeq, f.Limit, f.Unkeyed)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	ds, err := pgx.CollectRows(rows, scanDelivery)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return ds, nil
}

// Refused gives the delivery of that id, if it is one that failed verification; nil where
// there is none.
func (r Reader) Refused(ctx context.Context, partner string, id uuid.UUID) (*Delivery, error) {
	rows, err := r.Pool.Query(ctx, `
		select `+deliveryColumns+`
		from delivery
		where partner_id = $1 and delivery_id = $2 and verdict = 'refused'
		limit 1`, partner, id)
	if err != nil {
		return nil, fmt.Errorf("look for delivery %s: %w", id, err)
	}
	d, err := pgx.CollectOneRow(rows, scanDelivery)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for delivery %s: %w", id, err)
	}
	return d, nil
}

func scanDelivery(row pgx.CollectableRow) (*Delivery, error) {
	var d Delivery
	var transportID, messageID, signer *string
	err := row.Scan(&d.Partner, &d.ID, &d.Seq, &d.Received, &d.Transport, &transportID, &messageID, &d.SHA256,
		&d.Verdict, &d.Outcome, &d.Rule, &d.Status, &d.Bytes, &d.Took, &d.Payload, &d.PayloadIn, &d.Ack, &d.AckIn,
		&d.Alert, &d.Remote, &d.Filename, &d.Detail, &signer)
	if transportID != nil {
		d.TransportID = *transportID
	}
	if messageID != nil {
		d.MessageID = *messageID
	}
	if signer != nil {
		d.Signer = *signer
	}
	d.Received = d.Received.UTC()
	return &d, err
}

// Payload gives length bytes from offset of a stored payload, as ReadPayload.
func (r Reader) Payload(ctx context.Context, partner string, payload uuid.UUID, month time.Time, offset, length int64) ([]byte, error) {
	return ReadPayload(ctx, r.Pool, partner, payload, month, offset, length)
}

// Evidence gives what proves who sent a stored payload.
func (r Reader) Evidence(ctx context.Context, partner string, payload uuid.UUID, month time.Time) ([]ExhibitReader, error) {
	return ReadEvidence(ctx, r.Pool, partner, payload, month)
}

// Acknowledgements gives what is still kept of refs, by id.
func (r Reader) Acknowledgements(ctx context.Context, refs []AckRef) (map[uuid.UUID]*Acknowledgement, error) {
	return ReadAcknowledgements(ctx, r.Pool, refs)
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// MissingPartitions names the partitions that EnsurePartitions would make.
func MissingPartitions(ctx context.Context, pool *pgxpool.Pool, tables ...string) ([]string, error) {
	rows, err := pool.Query(ctx, `
		select format('%s_%s', t.name, to_char(m.month, 'YYYYMM'))
		from unnest($1::text[]) as t (name)
		cross join lateral (
			select date_trunc('month', now() at time zone 'utc') + make_interval(months => i) as month
			from generate_series(0, $2 - 1) as i) as m
		where to_regclass(format('%I', t.name || to_char(m.month, '_YYYYMM'))) is null
		order by 1`, tables, Ahead)
	if err != nil {
		return nil, fmt.Errorf("look for missing partitions: %w", err)
	}
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for missing partitions: %w", err)
	}
	return missing, nil
}
