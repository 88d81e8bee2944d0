package partners

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrUnknown is wrapped where a partner, or its token, is named that does not
// exist.
var ErrUnknown = errors.New("unknown")

// Store keeps the configuration in PostgreSQL.
type Store struct {
	Pool *pgxpool.Pool
	By   string           // who applies, for the revisions; "" is nobody that is known
	Now  func() time.Time // nil is time.Now
	// Refuses says why nothing may be sent to an address, when it is configured; nil: no
	// address is refused.
	Refuses func(address string) error
	NewID   func() uuid.UUID // nil makes UUIDv7
}

// As gives a store by which a person applies.
func (s *Store) As(person string) *Store {
	as := *s
	as.By = person
	return &as
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC()
	}
	return time.Now().UTC()
}

func (s *Store) newID() (uuid.UUID, error) {
	if s.NewID != nil {
		return s.NewID(), nil
	}
	return uuid.NewV7()
}

// List gives every partner, by id.
func (s *Store) List(ctx context.Context) ([]*Partner, error) {
	c, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("list partners: %w", err)
	}
	now := s.now()
	var list []*Partner
	for _, id := range slices.Sorted(maps.Keys(c.partners)) {
		list = append(list, c.partners[id].value(now))
	}
	return list, nil
}

// Get gives one partner; the error wraps ErrUnknown if there is none.
func (s *Store) Get(ctx context.Context, id string) (*Partner, error) {
	c, err := s.snapshotOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.partners[id].value(s.now()), nil
}

// Organisations gives every organisation, by id.
func (s *Store) Organisations(ctx context.Context) ([]OrganisationSpec, error) {
	c, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("list organisations: %w", err)
	}
	var list []OrganisationSpec
	for _, id := range slices.Sorted(maps.Keys(c.organisations)) {
		list = append(list, *c.organisations[id])
	}
	return list, nil
}

// Export gives all organisations and partners as YAML that changes nothing when
// it is applied, or, if ids are given, those partners with their organisations.
// Tokens that were issued are not in it: they are no part of the configuration.
func (s *Store) Export(ctx context.Context, ids ...string) ([]byte, error) {
	if len(ids) > 0 {
		c, err := s.snapshotOf(ctx, ids...)
		if err != nil {
			return nil, err
		}
		return c.export(ids)
	}
	c, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("export partners: %w", err)
	}
	return c.export(slices.Sorted(maps.Keys(c.partners)))
}

// export writes these partners behind all organisations that were read, each with
// its revision above it.
func (c *configuration) export(ids []string) ([]byte, error) {
	var out bytes.Buffer
	write := func(s Spec, revision int32, applied time.Time) error {
		text, err := Write([]Spec{s})
		if err != nil {
			return err
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		kind, id := s.name()
		out.WriteString(heading(kind, id, revision, applied))
		out.Write(text)
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(c.organisations)) {
		if err := write(Spec{Organisation: c.organisations[id]}, c.revisions[id], c.applied[id]); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if err := write(Spec{Partner: &c.partners[id].spec}, c.partners[id].revision, c.partners[id].applied); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// configuration is all that stands in the tables at one moment.
type configuration struct {
	counter       int64
	organisations map[string]*OrganisationSpec
	revisions     map[string]int32     // of organisations
	applied       map[string]time.Time // of organisations
	partners      map[string]*stored
	tokens        []Token
}

// stored is one row of partner.
type stored struct {
	spec      PartnerSpec
	revision  int32
	applied   time.Time
	connected time.Time
	earlier   []KeySettings // newest first, Before unused
}

func (p *stored) value(now time.Time) *Partner {
	return p.spec.partner(p.revision, p.connected, p.earlier, now)
}

// snapshot reads everything as of one moment.
func (s *Store) snapshot(ctx context.Context) (*configuration, error) {
	var c *configuration
	err := s.atOnce(ctx, func(tx pgx.Tx) (err error) {
		c, err = read(ctx, tx)
		return err
	})
	return c, err
}

// snapshotOf reads these partners and their organisations as of one moment, and
// neither the counter nor tokens. The error wraps ErrUnknown if one does not exist.
func (s *Store) snapshotOf(ctx context.Context, ids ...string) (*configuration, error) {
	c := &configuration{organisations: map[string]*OrganisationSpec{}, revisions: map[string]int32{}, applied: map[string]time.Time{}, partners: map[string]*stored{}}
	err := s.atOnce(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select spec, revision, applied_at, connected_on, earlier_keys from partner where partner_id = any($1)`, ids)
		if err := c.takePartners(rows, err); err != nil {
			return fmt.Errorf("read partners: %w", err)
		}
		var organisations []string
		for _, id := range ids {
			p := c.partners[id]
			if p == nil {
				return fmt.Errorf("partner %s: %w", id, ErrUnknown)
			}
			organisations = append(organisations, p.spec.Organisation)
		}
		rows, err = tx.Query(ctx, `select spec, revision, applied_at from organisation where organisation_id = any($1)`, organisations)
		if err := c.takeOrganisations(rows, err); err != nil {
			return fmt.Errorf("read organisations: %w", err)
		}
		return nil
	})
	return c, err
}

// atOnce runs do in a transaction that sees one moment.
func (s *Store) atOnce(ctx context.Context, do func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, do)
}

// read gives what tx sees.
func read(ctx context.Context, tx pgx.Tx) (*configuration, error) {
	c := &configuration{organisations: map[string]*OrganisationSpec{}, revisions: map[string]int32{}, applied: map[string]time.Time{}, partners: map[string]*stored{}}
	if err := tx.QueryRow(ctx, `select counter from configuration`).Scan(&c.counter); err != nil {
		return nil, fmt.Errorf("read configuration counter: %w", err)
	}
	rows, err := tx.Query(ctx, `select spec, revision, applied_at from organisation`)
	if err := c.takeOrganisations(rows, err); err != nil {
		return nil, fmt.Errorf("read organisations: %w", err)
	}
	rows, err = tx.Query(ctx, `select spec, revision, applied_at, connected_on, earlier_keys from partner`)
	if err := c.takePartners(rows, err); err != nil {
		return nil, fmt.Errorf("read partners: %w", err)
	}
	rows, err = tx.Query(ctx, `
		select partner_id, token_id, label, sha256, declared, created_at, expires_at, revoked_at
		from partner_token order by partner_id, created_at, token_id`)
	c.tokens, err = takeTokens(rows, err)
	return c, err
}

// takeOrganisations reads the rows of a query that may have failed.
func (c *configuration) takeOrganisations(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	var spec []byte
	var revision int32
	var applied time.Time
	_, err = pgx.ForEachRow(rows, []any{&spec, &revision, &applied}, func() error {
		o := &OrganisationSpec{}
		if err := json.Unmarshal(spec, o); err != nil {
			return err
		}
		o.normalise()
		c.organisations[o.ID], c.revisions[o.ID], c.applied[o.ID] = o, revision, applied
		return nil
	})
	return err
}

// takePartners reads the rows of a query that may have failed.
func (c *configuration) takePartners(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	var spec, earlier []byte
	var row stored
	_, err = pgx.ForEachRow(rows, []any{&spec, &row.revision, &row.applied, &row.connected, &earlier}, func() (err error) {
		p := &stored{revision: row.revision, applied: row.applied, connected: row.connected.UTC()}
		if p.spec, err = partnerSpec(spec); err != nil {
			return err
		}
		c.partners[p.spec.ID] = p
		return json.Unmarshal(earlier, &p.earlier)
	})
	return err
}
