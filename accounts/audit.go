package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Entry is one line of the audit log: who did what to what.
type Entry struct {
	ID      uuid.UUID       `json:"id"`                // set by Audit
	At      time.Time       `json:"at"`                // set by the database, UTC
	Who     string          `json:"who"`               // the person; "command line" where nobody is known
	Role    Role            `json:"role"`              // that the person acted in
	Action  string          `json:"action"`            // noun.verb: partner.applied, drift.decided, token.created
	Subject string          `json:"subject"`           // what it was done to: its id or name
	Partner string          `json:"partner,omitempty"` // whose data it touched; empty if no one partner's
	Detail  json.RawMessage `json:"detail"`            // an object; nil is {}
}

// Execer is what Audit needs of a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Audit adds a line in tx, so that the act and its line are committed together
// or not at all. Lines are never changed: the database refuses it.
func (s *Store) Audit(ctx context.Context, tx Execer, e Entry) error {
	if e.Who == "" || e.Action == "" {
		return fmt.Errorf("audit %q of %q: who and action must be said", e.Action, e.Subject)
	}
	id, err := s.newID()
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	detail := e.Detail
	if detail == nil {
		detail = json.RawMessage("{}")
	}
	_, err = tx.Exec(ctx, `
		insert into audit_entry (entry_id, who, role, action, subject, partner_id, detail)
		values ($1, $2, $3, $4, $5, nullif($6, ''), $7)`,
		id, e.Who, string(e.Role), e.Action, e.Subject, e.Partner, detail)
	if err != nil {
		return fmt.Errorf("audit %s of %s: %w", e.Action, e.Subject, err)
	}
	return nil
}

// AuditFilter narrows ListAudit. Zero fields take everything.
type AuditFilter struct {
	Who, Action, Subject, Partner string
	Since, Until                  time.Time // Until is not in it
	Before                        *Entry    // the last entry of the page before
	Limit                         int       // 0 is 100; at most 1000
}

// ListAudit gives entries, the latest first.
func (s *Store) ListAudit(ctx context.Context, f AuditFilter) ([]Entry, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	var beforeAt *time.Time
	var beforeID uuid.UUID
	if f.Before != nil {
		beforeAt, beforeID = &f.Before.At, f.Before.ID
	}
	rows, err := s.Pool.Query(ctx, `
		select entry_id, at, who, role, action, subject, coalesce(partner_id, ''), detail
		from audit_entry
		where ($1 = '' or who = $1) and ($2 = '' or action = $2) and ($3 = '' or subject = $3)
			and ($4 = '' or partner_id = $4)
			and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
			and ($7::timestamptz is null or (at, entry_id) < ($7, $8::uuid))
		order by at desc, entry_id desc
		limit $9`,
		f.Who, f.Action, f.Subject, f.Partner, orNil(f.Since), orNil(f.Until), beforeAt, beforeID, min(limit, 1000))
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Entry, err error) {
		err = row.Scan(&e.ID, &e.At, &e.Who, &e.Role, &e.Action, &e.Subject, &e.Partner, &e.Detail)
		e.At = e.At.UTC()
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	return entries, nil
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
