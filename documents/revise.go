package documents

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// StampOfDecision stands for the stamp of a person's decision, which holds
// whatever order the documents came in: no stamp of an interchange is greater.
const StampOfDecision = "~"

// Brought is a document as a decision about its interchange has to know it.
type Brought struct {
	ID            uuid.UUID
	Class, Number string
	Epoch         int32
	MessageSHA256 [32]byte
	Over          bool // replaced or cancelled
}

// QueueBroughtBy reads the documents that an interchange key brought, in order.
func QueueBroughtBy(b *pgx.Batch, partnerID, messageID string, each func(Brought)) {
	b.Queue(`
select document_id, class, number, epoch, message_sha256, superseded_by is not null or cancelled_by is not null
from document
where partner_id = $1 and message_id = $2
order by document_id`, partnerID, messageID).Query(func(rows pgx.Rows) error {
		var d Brought
		var sum []byte
		_, err := pgx.ForEachRow(rows, []any{&d.ID, &d.Class, &d.Number, &d.Epoch, &sum, &d.Over}, func() error {
			d.MessageSHA256 = [32]byte(sum)
			each(d)
			return nil
		})
		return err
	})
}

// QueueSupersede marks documents as replaced by newID, whose stamp is given: those
// that are older, and not replaced yet. Exec on what it returns tells how many
// rows it changed; fewer than ids means that the others are newer, and the caller
// then queues the new document as superseded itself.
func QueueSupersede(b *pgx.Batch, partnerID string, oldIDs []uuid.UUID, newID uuid.UUID, stamp string) *pgx.QueuedQuery {
	return b.Queue(`
update document set superseded_by = $3
where partner_id = $1 and document_id = any($2) and document_id <> $3 and superseded_by is null and stamp <= $4 collate "C"`,
		partnerID, oldIDs, newID, stamp)
}

// QueueCancel marks documents as cancelled by the document byID, or by the drift
// alert whose decision left them out, on the terms of QueueSupersede. sent is the
// stamp of the interchange that cancels them, or that the decision put in the place
// of theirs: what is not newer does not bring them back.
func QueueCancel(b *pgx.Batch, partnerID string, ids []uuid.UUID, byID uuid.UUID, stamp, sent string) *pgx.QueuedQuery {
	return b.Queue(`
update document set cancelled_by = $3, cancelled_stamp = $5
where partner_id = $1 and document_id = any($2) and document_id <> $3 and cancelled_by is null and stamp <= $4 collate "C"`,
		partnerID, ids, byID, stamp, sent)
}

// Ended is a document that does not stand: it was replaced or cancelled, or is the
// cancellation of another.
type Ended struct {
	ID           uuid.UUID
	Superseded   bool
	CancelledBy  *uuid.UUID // a document, or the drift alert of a decision
	Stamp        string     // of the interchange that cancelled it; "" if none did, or before that was kept
	Cancellation bool
}

// QueueEnded reads those of the documents that do not stand. partners stands beside
// ids.
func QueueEnded(b *pgx.Batch, partners []string, ids []uuid.UUID, each func(Ended)) {
	b.Queue(`
select d.document_id, d.superseded_by is not null, d.cancelled_by, coalesce(d.cancelled_stamp, ''), d.function_code in ('1', '17')
from unnest($1::text[], $2::uuid[]) as k (partner_id, document_id)
join document d on d.partner_id = k.partner_id collate "C" and d.document_id = k.document_id
where d.superseded_by is not null or d.cancelled_by is not null or d.function_code in ('1', '17')`,
		partners, ids).Query(func(rows pgx.Rows) error {
		var d Ended
		_, err := pgx.ForEachRow(rows, []any{&d.ID, &d.Superseded, &d.CancelledBy, &d.Stamp, &d.Cancellation}, func() error {
			each(d)
			return nil
		})
		return err
	})
}
