package partners

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Revision is one configuration that was applied: who, when, and what differed
// from the one before.
type Revision struct {
	Number  int32         `json:"revision"`
	Cause   string        `json:"cause"`
	By      string        `json:"applied_by,omitempty"` // "" where it was not written down
	Applied time.Time     `json:"applied_at"`
	Fields  []FieldChange `json:"fields,omitempty"`
}

// History gives revisions of a partner, the latest first: limit of them, those
// before the revision before; 0 is all. The error wraps ErrUnknown if there is no
// such partner.
func (s *Store) History(ctx context.Context, partner string, before int32, limit int) ([]Revision, error) {
	return s.history(ctx, partner, `
		select revision, cause, applied_by, applied_at, spec
		from partner_revision where partner_id = $1 and ($2 = 0 or revision < $2)
		order by revision desc limit nullif($3, 0)`, before, limit, func(spec []byte) (any, error) { return partnerSpec(spec) })
}

// OrganisationHistory gives revisions of an organisation as History does. One that
// has not changed since before there were revisions has none.
func (s *Store) OrganisationHistory(ctx context.Context, organisation string, before int32, limit int) ([]Revision, error) {
	return s.history(ctx, organisation, `
		select revision, cause, applied_by, applied_at, spec
		from organisation_revision where organisation_id = $1 and ($2 = 0 or revision < $2)
		order by revision desc limit nullif($3, 0)`, before, limit, func(spec []byte) (any, error) {
		var o OrganisationSpec
		err := json.Unmarshal(spec, &o)
		o.normalise()
		return o, err
	})
}

// RevisionOf gives a partner's configuration as it was under a revision. The
// error wraps ErrUnknown if it never had that.
func (s *Store) RevisionOf(ctx context.Context, partner string, number int32) (*PartnerSpec, error) {
	return revisionOf(ctx, s.Pool, partner, number)
}

// revisionOf asks who is given: in a transaction that one, since waiting there for
// another connection is waiting for oneself where all are taken.
func revisionOf(ctx context.Context, q rowQuerier, partner string, number int32) (*PartnerSpec, error) {
	var stored []byte
	err := q.QueryRow(ctx, `select spec from partner_revision where partner_id = $1 and revision = $2`, partner, number).Scan(&stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("revision %d of partner %s: %w", number, partner, ErrUnknown)
	}
	if err != nil {
		return nil, fmt.Errorf("revision %d of partner %s: %w", number, partner, err)
	}
	spec, err := partnerSpec(stored)
	if err != nil {
		return nil, fmt.Errorf("revision %d of partner %s: %w", number, partner, err)
	}
	return &spec, nil
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// history reads revisions, the latest first, one more than are asked for: what a
// revision changed is told by the one before it.
func (s *Store) history(ctx context.Context, id, query string, before int32, limit int, decode func([]byte) (any, error)) ([]Revision, error) {
	most := limit
	if limit > 0 {
		most++
	}
	rows, err := s.Pool.Query(ctx, query, id, before, most)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", id, err)
	}
	var list []Revision
	var specs []any
	var r Revision
	var stored []byte
	_, err = pgx.ForEachRow(rows, []any{&r.Number, &r.Cause, &r.By, &r.Applied, &stored}, func() error {
		spec, err := decode(stored)
		if err != nil {
			return err
		}
		r.Applied = r.Applied.UTC()
		list, specs = append(list, r), append(specs, spec)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", id, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", id, ErrUnknown)
	}
	for i := range list {
		var former any
		if i+1 < len(specs) {
			former = specs[i+1]
		}
		list[i].Fields = fieldsBetween(former, specs[i])
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// Left is what a restore did not bring back: labels of tokens and certificates
// that the partner had under the revision, and has not now.
type Left struct {
	Tokens       []string `json:"tokens_left_out,omitempty"`
	Certificates []string `json:"certificates_left_out,omitempty"`
}

// RestoreTx makes a partner's configuration what it was under a revision, as a
// revision of its own. Its tokens and certificates stay as they are now: one that
// was taken out may be in somebody else's hands. withCredentials makes them too
// what they were; tokens that were revoked since, or are another's now, stay away
// even then.
func (s *Store) RestoreTx(ctx context.Context, tx pgx.Tx, partner string, number int32, withCredentials bool) (changes Changes, left Left, err error) {
	spec, err := revisionOf(ctx, tx, partner, number)
	if err != nil {
		return nil, left, err
	}
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return nil, left, fmt.Errorf("lock configuration: %w", err)
	}
	now, err := read(ctx, tx)
	if err != nil {
		return nil, left, fmt.Errorf("restore %s: %w", partner, err)
	}
	present := now.partners[partner].spec
	tokens := present.HTTP.Tokens
	if withCredentials {
		tokens = slices.DeleteFunc(slices.Clone(spec.HTTP.Tokens), func(t TokenSpec) bool {
			return slices.ContainsFunc(now.tokens, func(o Token) bool {
				return o.hex() == t.SHA256 && (o.Revoked != nil || o.Partner != partner)
			})
		})
	}
	for _, t := range spec.HTTP.Tokens {
		if !slices.ContainsFunc(tokens, func(o TokenSpec) bool { return o.SHA256 == t.SHA256 }) {
			left.Tokens = append(left.Tokens, t.Label)
		}
	}
	spec.HTTP.Tokens = tokens
	if !withCredentials {
		for _, c := range spec.Certificates {
			if !slices.ContainsFunc(present.Certificates, func(o CertificateSpec) bool { return o.Certificate == c.Certificate }) {
				left.Certificates = append(left.Certificates, c.Label)
			}
		}
		spec.Certificates = present.Certificates
	}
	spec.normalise()
	changes, err = s.Apply(ctx, tx, []Spec{{Partner: spec}})
	return changes, left, err
}
