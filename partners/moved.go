package partners

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// Moved is a revision that somebody made since a moment.
type Moved struct {
	Kind     string // Organisation or Partner
	ID       string
	Revision int32
	By       string // "" where it was not written down
	Applied  time.Time
	Fields   []FieldChange
}

// String gives "revision 8 by bert, 2026-11-30T11:00:00Z: on_drift: reject → hold".
func (m Moved) String() string {
	by := m.By
	if by == "" {
		by = "somebody"
	}
	text := fmt.Sprintf("revision %d by %s, %s", m.Revision, by, m.Applied.UTC().Format(time.RFC3339))
	for i, f := range m.Fields {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += sep + f.String()
	}
	return text
}

// MovedError says that the configuration is not what a change was made on. It
// wraps ErrMoved.
type MovedError struct {
	On, Now int64   // of Number
	Since   []Moved // the latest first, at most mostMoved
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("the configuration is at %d, not %d: %v", e.Now, e.On, ErrMoved)
}

func (e *MovedError) Unwrap() error { return ErrMoved }

// mostMoved revisions are told of those that came between.
const mostMoved = 20

// Number counts the revisions of all partners and organisations: it moves with
// every change of what stands in an export, and with nothing else.
func (s *Store) Number(ctx context.Context) (int64, error) { return number(ctx, s.Pool) }

func number(ctx context.Context, q rowQuerier) (n int64, err error) {
	err = q.QueryRow(ctx, `select (select coalesce(sum(revision), 0) from partner) + (select coalesce(sum(revision), 0) from organisation)`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the revisions: %w", err)
	}
	return n, nil
}

// ApplyOn is Apply if the configuration is still at a number; else the error is a
// *MovedError, which says what changed meanwhile, and nothing is written.
func (s *Store) ApplyOn(ctx context.Context, tx pgx.Tx, on int64, specs []Spec) (Changes, error) {
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return nil, fmt.Errorf("lock configuration: %w", err)
	}
	now, err := number(ctx, tx)
	if err != nil {
		return nil, err
	}
	if now != on {
		since, err := movedSince(ctx, tx, now-on)
		if err != nil {
			return nil, err
		}
		return nil, &MovedError{On: on, Now: now, Since: since}
	}
	return s.Apply(ctx, tx, specs)
}

// movedSince gives the last n revisions, at most mostMoved.
func movedSince(ctx context.Context, tx pgx.Tx, n int64) ([]Moved, error) {
	rows, err := tx.Query(ctx, `
		select 'Partner', r.partner_id, r.revision, r.applied_by, r.applied_at, r.spec, b.spec
		from partner_revision r left join partner_revision b on b.partner_id = r.partner_id and b.revision = r.revision - 1
		union all
		select 'Organisation', r.organisation_id, r.revision, r.applied_by, r.applied_at, r.spec, b.spec
		from organisation_revision r left join organisation_revision b on b.organisation_id = r.organisation_id and b.revision = r.revision - 1
		order by 5 desc, 1, 2, 3 desc limit $1`, max(0, min(n, mostMoved)))
	if err != nil {
		return nil, fmt.Errorf("read what has changed: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Moved, err error) {
		var spec, before []byte
		if err := row.Scan(&m.Kind, &m.ID, &m.Revision, &m.By, &m.Applied, &spec, &before); err != nil {
			return m, err
		}
		m.Fields, err = fieldsOf(m.Kind, before, spec)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read what has changed: %w", err)
	}
	return list, nil
}

// fieldsOf compares two stored configurations; of one that is new it tells nothing.
func fieldsOf(kind string, before, after []byte) ([]FieldChange, error) {
	if before == nil {
		return nil, nil
	}
	decode := func(text []byte) (any, error) {
		if kind == "Partner" {
			return partnerSpec(text)
		}
		var o OrganisationSpec
		err := json.Unmarshal(text, &o)
		o.normalise()
		return o, err
	}
	old, err := decode(before)
	if err != nil {
		return nil, err
	}
	now, err := decode(after)
	if err != nil {
		return nil, err
	}
	return fieldsBetween(old, now), nil
}

// heading is the comment that an export writes above a document, so that who
// applies an edited one can be told what others changed since. The instant tells the
// revision from one of the same number on another gateway.
func heading(kind, id string, revision int32, applied time.Time) string {
	return fmt.Sprintf("# %s %s, revision %d of %s\n", kind, id, revision, applied.UTC().Format(time.RFC3339Nano))
}

var headingText = regexp.MustCompile(`(?m)^# (Partner|Organisation) (\S+), revision ([0-9]{1,9}) of (\S+)[ \t\r]*$`)

// headed takes from a document's own heading what it is an export of; nothing where
// there is none, or it is another's.
func headed(text []byte, s *Spec) {
	kind, id := s.name()
	for _, found := range headingText.FindAllSubmatch(text, -1) {
		n, err := strconv.ParseInt(string(found[3]), 10, 32)
		at, other := time.Parse(time.RFC3339Nano, string(found[4]))
		if err == nil && other == nil && string(found[1]) == kind && string(found[2]) == id {
			s.Revision, s.Applied = int32(n), at
			return
		}
	}
}
