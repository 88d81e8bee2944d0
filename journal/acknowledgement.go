package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Acknowledgement is an answer kept: for a transport key the rendered receipt
// as it left, for an interchange key its part of the receipt.
type Acknowledgement struct {
	Partner     string
	ID          uuid.UUID
	Month       time.Time
	Status      int16 // HTTP status of the rendered receipt
	ContentType string
	Receipt     []byte
	Answer      []byte // JSON: an interchange's gateway.InterchangeReceipt, or a list of them by position
	Functional  []byte // CONTRL, TA1, 997 where it does not travel in the receipt
}

// QueueAcknowledgements writes them in one statement.
func QueueAcknowledgements(b *pgx.Batch, acks []*Acknowledgement) {
	n := len(acks)
	if n == 0 {
		return
	}
	partner, id, month := make([]string, n), make(uuids, n), make(dates, n)
	status, contentType := make([]int16, n), make(texts, n)
	receipt, answer, functional := make(values, n), make(values, n), make(values, n)
	for i, a := range acks {
		partner[i], id[i], month[i], status[i] = a.Partner, uuidOf(&a.ID), dateOf(&a.Month), a.Status
		receipt[i], answer[i], functional[i] = a.Receipt, a.Answer, a.Functional
		contentType[i] = text(a.ContentType)
	}
	b.Queue(`
		insert into acknowledgement (partner_id, ack_id, purge_month, status, content_type, receipt, answer, functional)
		select partner_id, ack_id, purge_month, status, content_type, receipt, answer, functional
		from unnest($1::text[], $2::uuid[], $3::date[], $4::int2[], $5::text[], $6::bytea[], $7::bytea[], $8::bytea[])
			as a (partner_id, ack_id, purge_month, status, content_type, receipt, answer, functional)`,
		partner, id, month, status, contentType, receipt, answer, functional)
}

// AckRef names a stored acknowledgement.
type AckRef struct {
	Partner string
	ID      uuid.UUID
	Month   time.Time
}

// QueueReadAcknowledgements reads what is still kept of refs into acks.
func QueueReadAcknowledgements(b *pgx.Batch, refs []AckRef, acks map[uuid.UUID]*Acknowledgement) {
	for _, r := range refs {
		b.Queue(`
			select partner_id, ack_id, purge_month, status, coalesce(content_type, ''), receipt, answer, functional
			from acknowledgement where partner_id = $1 and ack_id = $2 and purge_month = $3`, r.Partner, r.ID, r.Month,
		).Query(func(rows pgx.Rows) error {
			var a Acknowledgement
			_, err := pgx.ForEachRow(rows, []any{&a.Partner, &a.ID, &a.Month, &a.Status, &a.ContentType, &a.Receipt, &a.Answer, &a.Functional}, func() error {
				kept := a
				acks[a.ID] = &kept
				return nil
			})
			return err
		})
	}
}

// Batcher sends a batch: a pool, a connection or a transaction.
type Batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// ReadAcknowledgements reads what is still kept of refs.
func ReadAcknowledgements(ctx context.Context, q Batcher, refs []AckRef) (map[uuid.UUID]*Acknowledgement, error) {
	acks := make(map[uuid.UUID]*Acknowledgement, len(refs))
	if len(refs) == 0 {
		return acks, nil
	}
	var b pgx.Batch
	QueueReadAcknowledgements(&b, refs, acks)
	if err := q.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	return acks, nil
}
