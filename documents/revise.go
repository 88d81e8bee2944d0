package documents

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

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

// QueueCancel marks documents as cancelled by the document byID, on the terms of
// QueueSupersede.
func QueueCancel(b *pgx.Batch, partnerID string, ids []uuid.UUID, byID uuid.UUID, stamp string) *pgx.QueuedQuery {
	return b.Queue(`
update document set cancelled_by = $3
where partner_id = $1 and document_id = any($2) and document_id <> $3 and cancelled_by is null and stamp <= $4 collate "C"`,
		partnerID, ids, byID, stamp)
}
