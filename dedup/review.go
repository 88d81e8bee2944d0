package dedup

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Proposed is a decision that waits for a second person.
type Proposed struct {
	Decision string          `json:"decision"`
	Digest   []byte          `json:"-"` // of the payload it is about; nil for all of the alert
	By       string          `json:"by"`
	At       time.Time       `json:"at"`
	Reason   string          `json:"reason"`
	Note     string          `json:"note,omitempty"`
	Facts    json.RawMessage `json:"-"` // what it was decided on, to be met again when it is approved
}

// Decided is the decision last applied to an alert.
type Decided struct {
	Decision   string    `json:"decision"`
	By         string    `json:"by"`
	ApprovedBy string    `json:"approved_by,omitempty"`
	At         time.Time `json:"at"`
	Reason     string    `json:"reason"`
	Note       string    `json:"note,omitempty"`
}

// QueueAssign gives an alert to a person, or with "" back to everybody. The
// alert's key must be locked, as for all that follow.
func QueueAssign(b *pgx.Batch, partner string, alert uuid.UUID, person, state string) {
	b.Queue(`update drift_alert set assignee = $3, state = $4, updated_at = now() where partner_id = $1 and alert_id = $2`, partner, alert, person, state)
}

// QueueProposal keeps a decision until a second person approves it.
func QueueProposal(b *pgx.Batch, partner string, alert uuid.UUID, p *Proposed) {
	b.Queue(`
		update drift_alert set state = 'awaiting_approval', updated_at = now(), proposed = $3, proposed_digest = $4, proposed_by = $5,
			proposed_at = now(), proposed_reason = $6, proposed_note = $7, proposed_facts = $8
		where partner_id = $1 and alert_id = $2`, partner, alert, p.Decision, p.Digest, p.By, p.Reason, p.Note, p.Facts)
}

// QueueWithdrawal drops a proposal; state is where the alert stands then.
func QueueWithdrawal(b *pgx.Batch, partner string, alert uuid.UUID, state string) {
	b.Queue(`
		update drift_alert set state = $3, updated_at = now(), proposed = '', proposed_digest = null, proposed_by = '',
			proposed_at = null, proposed_reason = '', proposed_note = '', proposed_facts = null
		where partner_id = $1 and alert_id = $2`, partner, alert, state)
}

// QueueDecided writes a decision that is applied in this transaction; state is
// where the alert stands then, why says how it came there.
func QueueDecided(b *pgx.Batch, partner string, alert uuid.UUID, state, why string, d *Decided) {
	b.Queue(`
		update drift_alert set state = $3, reason = $4, updated_at = now(), decision = $5, decided_by = $6, approved_by = $7,
			decided_at = now(), decided_reason = $8, decided_note = $9, proposed = '', proposed_digest = null, proposed_by = '',
			proposed_at = null, proposed_reason = '', proposed_note = '', proposed_facts = null
		where partner_id = $1 and alert_id = $2`, partner, alert, state, why, d.Decision, d.By, d.ApprovedBy, d.Reason, d.Note)
}
