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

// QueueState sets the state of documents: a held one that a decision posts is live.
func QueueState(b *pgx.Batch, partnerID string, ids []uuid.UUID, state State) *pgx.QueuedQuery {
	return b.Queue(`
update document set state = $3
where partner_id = $1 and document_id = any($2) and state <> $3`,
		partnerID, ids, string(state))
}

// Standing is what a revision is compared with.
type Standing struct {
	ID           uuid.UUID
	State        State
	Revision     int
	Stamp        string
	SupersededBy *uuid.UUID
	CancelledBy  *uuid.UUID
}

// Live reports whether the document counts: posted, not replaced, not cancelled.
func (s *Standing) Live() bool {
	return s.State == StateLive && s.SupersededBy == nil && s.CancelledBy == nil
}

// QueueStanding reads documents by id; found is called for each that there is. The
// caller holds their guard rows.
func QueueStanding(b *pgx.Batch, partnerID string, ids []uuid.UUID, found func(Standing)) {
	b.Queue(`
select document_id, state, revision, stamp, superseded_by, cancelled_by
from document
where partner_id = $1 and document_id = any($2)
order by document_id`,
		partnerID, ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var s Standing
			if err := rows.Scan(&s.ID, &s.State, &s.Revision, &s.Stamp, &s.SupersededBy, &s.CancelledBy); err != nil {
				return err
			}
			found(s)
		}
		return rows.Err()
	})
}
