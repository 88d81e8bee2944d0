package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Arrival is what of a row of the journal shows a partner's habits.
type Arrival struct {
	ID          uuid.UUID
	Seq         int32
	Received    time.Time
	TransportID string // transport key; "" where there is none
	MessageID   string // interchange key; "" where there is none
	SHA256      []byte
	Verdict     string
}

// Mark is a place in a partner's journal.
type Mark struct {
	Partner string
	ID      uuid.UUID
	Seq     int32
}

// Fresh gives the partners of whom something stands behind their mark that was received
// before then. What failed verification is nobody's: it may be forged.
func Fresh(ctx context.Context, q rowsQueryer, marks []Mark, before time.Time) ([]string, error) {
	partners, ids, seqs := make([]string, len(marks)), make([]uuid.UUID, len(marks)), make([]int32, len(marks))
	for i, m := range marks {
		partners[i], ids[i], seqs[i] = m.Partner, m.ID, m.Seq
	}
	rows, err := q.Query(ctx, `
		select m.partner
		from unnest($1::text[], $2::uuid[], $3::int[]) as m (partner, id, seq)
		where exists (
			select 1 from delivery d
			where d.partner_id = m.partner collate "C" and (d.delivery_id, d.seq) > (m.id, m.seq) and d.delivery_id < $4 and d.verdict <> 'refused')`,
		partners, ids, seqs, firstID(before))
	if err != nil {
		return nil, fmt.Errorf("look for what is new: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for what is new: %w", err)
	}
	return list, nil
}

// Behind gives up to most rows behind a mark that were received before then, in the order
// of arrival, without what failed verification.
func Behind(ctx context.Context, q rowsQueryer, m Mark, before time.Time, most int) ([]Arrival, error) {
	rows, err := q.Query(ctx, `
		select delivery_id, seq, received_at, coalesce(transport_id, ''), coalesce(message_id, ''), payload_sha256, verdict
		from delivery
		where partner_id = $1 and (delivery_id, seq) > ($2, $3::int) and delivery_id < $4 and verdict <> 'refused'
		order by delivery_id, seq
		limit $5`, m.Partner, m.ID, m.Seq, firstID(before), most)
	if err != nil {
		return nil, fmt.Errorf("read what arrived: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Arrival, err error) {
		err = row.Scan(&a.ID, &a.Seq, &a.Received, &a.TransportID, &a.MessageID, &a.SHA256, &a.Verdict)
		a.Received = a.Received.UTC()
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("read what arrived: %w", err)
	}
	return list, nil
}

// Earlier says when an interchange key was received before an arrival: this digest first,
// and anything under the key last. Zero where nothing is kept of it.
func Earlier(ctx context.Context, q rowsQueryer, partner string, a Arrival) (first, last time.Time, err error) {
	rows, err := q.Query(ctx, `
		select min(received_at) filter (where payload_sha256 = $4), max(received_at)
		from delivery
		where partner_id = $1 and message_id = $2 and delivery_id < $3`, partner, a.MessageID, a.ID, a.SHA256)
	if err != nil {
		return first, last, fmt.Errorf("look when %s came before: %w", a.MessageID, err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (t [2]*time.Time, err error) {
		err = row.Scan(&t[0], &t[1])
		return t, err
	})
	if err != nil {
		return first, last, fmt.Errorf("look when %s came before: %w", a.MessageID, err)
	}
	if found[0] != nil {
		first = found[0].UTC()
	}
	if found[1] != nil {
		last = found[1].UTC()
	}
	return first, last, nil
}

// firstID is the lowest id of a delivery that was received then: ids begin with the
// milliseconds since 1970.
func firstID(t time.Time) (id uuid.UUID) {
	ms := t.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}

// rowsQueryer is a pool or a transaction.
type rowsQueryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}
