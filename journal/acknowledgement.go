package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
)

// Acknowledgement is an answer kept: for a transport key the rendered receipt
// as it left, for an interchange key its part of the receipt.
type Acknowledgement struct {
	Partner     string
	ID          uuid.UUID
	Month       time.Time
	Status      int16 // HTTP status of the rendered receipt
	ContentType string
	Fields      Fields // of the rendered receipt's header, beside Content-Type
	Receipt     []byte
	Binding     []byte // what its bytes are tied to; nil: to nothing
	Answer      []byte // JSON: an interchange's gateway.InterchangeReceipt, or a list of them by position
	Functional  []byte // CONTRL, TA1, 997 where it does not travel in the receipt
}

// QueueAcknowledgements writes them in one statement.
func QueueAcknowledgements(b *pgx.Batch, acks []*Acknowledgement) {
	if len(acks) == 0 {
		return
	}
	var partner, id, month, status, contentType, receipt, answer, functional, fields, binding columns.Column
	for _, a := range acks {
		partner.Text(a.Partner)
		id.UUID(a.ID)
		month.Date(a.Month)
		status.Int2(a.Status)
		textOrNull(&contentType, a.ContentType)
		receipt.Bytes(a.Receipt)
		answer.Bytes(a.Answer)
		functional.Bytes(a.Functional)
		fields.TextOrNull(a.Fields.String())
		binding.Bytes(a.Binding)
	}
	columns.Queue(b, `
		insert into acknowledgement (partner_id, ack_id, purge_month, status, content_type, receipt, answer, functional, fields, binding)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::date[]), unnest($4::int2[]), unnest($5::text[]), unnest($6::bytea[]),
			unnest($7::bytea[]), unnest($8::bytea[]), unnest($9::text[]), unnest($10::bytea[])`,
		&partner, &id, &month, &status, &contentType, &receipt, &answer, &functional, &fields, &binding)
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
		b.Queue(readAcknowledgement+` and purge_month = $3`, r.Partner, r.ID, r.Month).Query(into(acks))
	}
}

// QueueReadMoved reads those of refs that are not in acks in whatever month they stand
// now: where a retention changed or a legal hold came, they were moved. It queues nothing
// where none is missing.
func QueueReadMoved(b *pgx.Batch, refs []AckRef, acks map[uuid.UUID]*Acknowledgement) {
	for _, r := range refs {
		if acks[r.ID] == nil {
			b.Queue(readAcknowledgement, r.Partner, r.ID).Query(into(acks))
		}
	}
}

const readAcknowledgement = `
	select partner_id, ack_id, purge_month, status, coalesce(content_type, ''), receipt, answer, functional, coalesce(fields, ''), binding
	from acknowledgement where partner_id = $1 and ack_id = $2`

func into(acks map[uuid.UUID]*Acknowledgement) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var a Acknowledgement
		var fields string
		_, err := pgx.ForEachRow(rows, []any{&a.Partner, &a.ID, &a.Month, &a.Status, &a.ContentType, &a.Receipt, &a.Answer, &a.Functional, &fields, &a.Binding}, func() error {
			kept := a
			kept.Fields = ParseFields(fields)
			acks[a.ID] = &kept
			return nil
		})
		return err
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
	var moved pgx.Batch
	if QueueReadMoved(&moved, refs, acks); moved.Len() == 0 {
		return acks, nil
	}
	if err := q.SendBatch(ctx, &moved).Close(); err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	return acks, nil
}
