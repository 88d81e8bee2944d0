package dedup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Kinds of drift.
const (
	KindTransport   = "transport"
	KindInterchange = "interchange"
	KindDocument    = "document"
)

// Alert is a drift put before an operator (design §8).
type Alert struct {
	Partner    string          `json:"partner"`
	ID         uuid.UUID       `json:"alert_id"`
	Kind       string          `json:"kind"`
	MessageID  string          `json:"message_id"`
	Epoch      int32           `json:"-"`
	State      string          `json:"state"` // open, in_review, awaiting_approval, resolved, auto_resolved
	Class      string          `json:"class"`
	Severity   string          `json:"severity"`
	Headline   string          `json:"headline"`
	Original   []byte          `json:"-"`
	Digests    [][]byte        `json:"-"`
	Documents  []string        `json:"documents,omitempty"` // kind document: the numbers held
	Proposal   string          `json:"proposal,omitempty"`  // a setting the evidence speaks for
	Reason     string          `json:"reason,omitempty"`    // why it was closed
	Receptions int             `json:"receptions"`
	Opened     time.Time       `json:"opened_at"`
	Updated    time.Time       `json:"updated_at"`
	Test       bool            `json:"test,omitempty"`
	Detail     json.RawMessage `json:"-"`
	Assignee   string          `json:"assignee,omitempty"` // the person who looks at it
	Proposed   *Proposed       `json:"proposed,omitempty"` // waits for a second person
	Decided    *Decided        `json:"decided,omitempty"`  // the last decision applied
}

// QueueAlert opens an alert.
func QueueAlert(b *pgx.Batch, a *Alert) {
	detail := a.Detail
	if detail == nil {
		detail = json.RawMessage(`{"classes": ["` + a.Class + `"]}`)
	}
	docs := a.Documents
	if docs == nil {
		docs = []string{}
	}
	b.Queue(`
		insert into drift_alert (partner_id, alert_id, kind, message_id, epoch, state, class, severity, headline,
			original_sha256, digests, documents, proposal, reason, test, detail)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		a.Partner, a.ID, a.Kind, a.MessageID, a.Epoch, a.State, a.Class, a.Severity, a.Headline,
		a.Original, a.Digests, docs, a.Proposal, a.Reason, a.Test, detail)
}

// QueueAlertReception counts a further reception of a known drift. The key's row
// must be locked. Exec on what it returns tells how many rows it changed: none if
// the alert is not there, and the caller starts again.
func QueueAlertReception(b *pgx.Batch, partner string, alert uuid.UUID) *pgx.QueuedQuery {
	return b.Queue(`update drift_alert set receptions = receptions + 1, updated_at = now() where partner_id = $1 and alert_id = $2`, partner, alert)
}

// QueueAlertDigest adds a third digest to an alert that is not closed: it is
// open again, with the worse severity of the two. Of digests, and of classes
// beside them, the first 50 and the last 50 are kept, and their number: a
// constant control reference adds one with every file. Exec tells what it tells
// for QueueAlertReception.
func QueueAlertDigest(b *pgx.Batch, partner string, alert uuid.UUID, digest []byte, class, severity, headline, proposal string) *pgx.QueuedQuery {
	return b.Queue(`
		update drift_alert set receptions = receptions + 1, updated_at = now(), state = 'open',
			digests = case when cardinality(digests) < 100 then digests else digests[:50] || digests[52:] end || $3::bytea,
			class = $4, headline = $6, proposal = case when $7 = '' then proposal else $7 end,
			detail = detail || jsonb_build_object(
				'classes', case when jsonb_array_length(detail->'classes') >= 100 then (detail->'classes') - 50 else coalesce(detail->'classes', '[]') end || to_jsonb($4::text),
				'digests_seen', coalesce((detail->>'digests_seen')::int, cardinality(digests)) + 1),
			severity = case when array_position(array['info','low','medium','high','critical'], $5) > array_position(array['info','low','medium','high','critical'], severity)
				then $5 else severity end
		where partner_id = $1 and alert_id = $2`, partner, alert, digest, class, severity, headline, proposal)
}

// QueueAlertClose resolves an alert with a reason.
func QueueAlertClose(b *pgx.Batch, partner string, alert uuid.UUID, state, reason string) {
	b.Queue(`update drift_alert set state = $3, reason = $4, updated_at = now() where partner_id = $1 and alert_id = $2`, partner, alert, state, reason)
}

// QueueCopy keeps the content without number and date of a drifted document, for
// the finding possible_copy.
func QueueCopy(b *pgx.Batch, partner string, alert uuid.UUID, contents [][]byte) {
	b.Queue(`
		insert into drift_copy (partner_id, content, alert_id)
		select $1, c, $2 from unnest($3::bytea[]) as c on conflict do nothing`, partner, alert, contents)
}

// ErrNoAlert: no such alert.
var ErrNoAlert = errors.New("no such drift alert")

// Alerts reads drift alerts.
type Alerts struct {
	Pool *pgxpool.Pool
}

const alertColumns = `a.partner_id, a.alert_id, a.kind, a.message_id, a.epoch, a.state, a.class, a.severity, a.headline,
	a.original_sha256, a.digests, a.documents, a.proposal, a.reason, a.receptions, a.opened_at, a.updated_at, a.test, a.detail,
	a.assignee, a.proposed, a.proposed_digest, a.proposed_by, a.proposed_at, a.proposed_reason, a.proposed_note, a.proposed_facts,
	a.decision, a.decided_by, a.approved_by, a.decided_at, a.decided_reason, a.decided_note`

func scanAlert(row pgx.CollectableRow) (*Alert, error) {
	var a Alert
	var p Proposed
	var d Decided
	var proposedAt, decidedAt *time.Time
	err := row.Scan(&a.Partner, &a.ID, &a.Kind, &a.MessageID, &a.Epoch, &a.State, &a.Class, &a.Severity, &a.Headline,
		&a.Original, &a.Digests, &a.Documents, &a.Proposal, &a.Reason, &a.Receptions, &a.Opened, &a.Updated, &a.Test, &a.Detail,
		&a.Assignee, &p.Decision, &p.Digest, &p.By, &proposedAt, &p.Reason, &p.Note, &p.Facts,
		&d.Decision, &d.By, &d.ApprovedBy, &decidedAt, &d.Reason, &d.Note)
	if p.Decision != "" && proposedAt != nil {
		p.At = proposedAt.UTC()
		a.Proposed = &p
	}
	if d.Decision != "" && decidedAt != nil {
		d.At = decidedAt.UTC()
		a.Decided = &d
	}
	return &a, err
}

// AlertFilter narrows List; empty fields do not.
type AlertFilter struct {
	Partner, State, Kind, Class, Severity, MessageID string
	Before                                           uuid.UUID // cursor: alerts opened before this one
	Limit                                            int
}

// List gives alerts, newest first.
func (s Alerts) List(ctx context.Context, f AlertFilter) ([]*Alert, error) {
	rows, err := s.Pool.Query(ctx, `
		select `+alertColumns+`
		from drift_alert a
		where ($1 = '' or partner_id = $1) and ($2 = '' or state = $2) and ($3 = '' or kind = $3) and ($4 = '' or class = $4)
			and ($5 = '' or severity = $5) and ($6 = '' or message_id = $6) and ($7::uuid is null or alert_id < $7)
		order by alert_id desc limit $8`,
		f.Partner, f.State, f.Kind, f.Class, f.Severity, f.MessageID, id(f.Before), f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list drift alerts: %w", err)
	}
	alerts, err := pgx.CollectRows(rows, scanAlert)
	if err != nil {
		return nil, fmt.Errorf("list drift alerts: %w", err)
	}
	return alerts, nil
}

// Get gives one alert by its id. partner may be empty.
func (s Alerts) Get(ctx context.Context, partner string, alert uuid.UUID) (*Alert, error) {
	rows, err := s.Pool.Query(ctx, `select `+alertColumns+` from drift_alert a where ($1 = '' or partner_id = $1) and alert_id = $2`, partner, alert)
	if err != nil {
		return nil, fmt.Errorf("get drift alert: %w", err)
	}
	a, err := pgx.CollectExactlyOneRow(rows, scanAlert)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoAlert
	}
	if err != nil {
		return nil, fmt.Errorf("get drift alert: %w", err)
	}
	return a, nil
}

// QueueOpenDrifts reads, for keys under lock, the alerts that wait for a
// decision. Those that are closed are not read: a key may have any number.
func QueueOpenDrifts(b *pgx.Batch, refs []Ref, open func(r Ref, a *Alert)) {
	partners, ids := split(refs)
	b.Queue(`
		select `+alertColumns+`
		from drift_alert a join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			on a.partner_id = k.partner_id collate "C" and a.message_id = k.message_id collate "C"
		where a.state in ('open', 'in_review', 'awaiting_approval')
		order by a.opened_at, a.alert_id`, partners, ids,
	).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			a, err := scanAlert(rows)
			if err != nil {
				return err
			}
			open(Ref{a.Partner, a.MessageID}, a)
		}
		return rows.Err()
	})
}

// Copy is a drift that holds the same content as a document that arrived under
// another number, or the same interchange as one that arrived under another
// transport id.
type Copy struct {
	Content   [32]byte
	Alert     uuid.UUID
	Kind      string
	MessageID string
	State     string
}

// QueueCopies finds drifts of the last 90 days whose content is among contents.
func QueueCopies(b *pgx.Batch, partner string, contents [][]byte, found func(Copy)) {
	b.Queue(`
		select c.content, c.alert_id, a.kind, a.message_id, a.state
		from drift_copy c join drift_alert a on a.partner_id = c.partner_id and a.alert_id = c.alert_id
		where c.partner_id = $1 and c.content = any($2) and c.opened_at > now() - interval '90 days'
		order by c.alert_id`, partner, contents,
	).Query(func(rows pgx.Rows) error {
		var c Copy
		var content []byte
		_, err := pgx.ForEachRow(rows, []any{&content, &c.Alert, &c.Kind, &c.MessageID, &c.State}, func() error {
			c.Content = [32]byte(content)
			found(c)
			return nil
		})
		return err
	})
}

// QueueCopySeen notes on a drift that its content arrived again under another
// number: the finding possible_copy, on its side. As for digests, the first 50 and
// the last 50 are kept, and their number.
func QueueCopySeen(b *pgx.Batch, partner string, alert uuid.UUID, key string) {
	b.Queue(`
		update drift_alert set updated_at = now(), detail = detail || jsonb_build_object(
			'possible_copies', case when jsonb_array_length(detail->'possible_copies') >= 100 then (detail->'possible_copies') - 50
				else coalesce(detail->'possible_copies', '[]') end || to_jsonb($3::text),
			'possible_copies_seen', coalesce((detail->>'possible_copies_seen')::int, 0) + 1)
		where partner_id = $1 and alert_id = $2`, partner, alert, key)
}

// DigestsSeen is how many digests drifted. Digests holds the first 50 and the
// last 50 of them.
func (a *Alert) DigestsSeen() int {
	var d struct {
		Seen int `json:"digests_seen"`
	}
	if json.Unmarshal(a.Detail, &d) != nil || d.Seen == 0 {
		return len(a.Digests)
	}
	return d.Seen
}

// Classes gives the class of each digest in Digests, in order of arrival.
func (a *Alert) Classes() []string {
	var d struct {
		Classes []string `json:"classes"`
	}
	if json.Unmarshal(a.Detail, &d) != nil {
		return nil
	}
	return d.Classes
}

// SetClasses notes the class of each digest.
func (a *Alert) SetClasses(classes []string) {
	b, err := json.Marshal(struct {
		Classes []string `json:"classes"`
	}{classes})
	if err == nil { // strings always marshal
		a.Detail = b
	}
}

// Undecided reports whether the alert still waits for a decision.
func (a *Alert) Undecided() bool {
	return a.State == "open" || a.State == "in_review" || a.State == "awaiting_approval"
}
