package partners

import (
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
	Pool  *pgxpool.Pool
	By    string           // who applies, for the revisions; "" is nobody that is known
	Now   func() time.Time // nil is time.Now
	NewID func() uuid.UUID // nil makes UUIDv7
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
	c, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("partner %s: %w", id, err)
	}
	p := c.partners[id]
	if p == nil {
		return nil, fmt.Errorf("partner %s: %w", id, ErrUnknown)
	}
	return p.value(s.now()), nil
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
	c, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("export partners: %w", err)
	}
	organisations := slices.Sorted(maps.Keys(c.organisations))
	if len(ids) == 0 {
		ids = slices.Sorted(maps.Keys(c.partners))
	} else {
		wanted := map[string]bool{}
		for _, id := range ids {
			if c.partners[id] == nil {
				return nil, fmt.Errorf("partner %s: %w", id, ErrUnknown)
			}
			wanted[c.partners[id].spec.Organisation] = true
		}
		organisations = slices.DeleteFunc(organisations, func(id string) bool { return !wanted[id] })
	}
	var specs []Spec
	for _, id := range organisations {
		specs = append(specs, Spec{Organisation: c.organisations[id]})
	}
	for _, id := range ids {
		specs = append(specs, Spec{Partner: &c.partners[id].spec})
	}
	return Write(specs)
}

// configuration is all that stands in the tables at one moment.
type configuration struct {
	counter       int64
	organisations map[string]*OrganisationSpec
	revisions     map[string]int32 // of organisations
	partners      map[string]*stored
	tokens        []Token
}

// stored is one row of partner.
type stored struct {
	spec      PartnerSpec
	revision  int32
	connected time.Time
	earlier   []KeySettings // newest first, Before unused
}

func (p *stored) value(now time.Time) *Partner {
	return p.spec.partner(p.revision, p.connected, p.earlier, now)
}

// snapshot reads everything as of one moment.
func (s *Store) snapshot(ctx context.Context) (*configuration, error) {
	var c *configuration
	err := pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) (err error) {
			c, err = read(ctx, tx)
			return err
		})
	return c, err
}

// read gives what tx sees.
func read(ctx context.Context, tx pgx.Tx) (*configuration, error) {
	c := &configuration{organisations: map[string]*OrganisationSpec{}, revisions: map[string]int32{}, partners: map[string]*stored{}}
	if err := tx.QueryRow(ctx, `select counter from configuration`).Scan(&c.counter); err != nil {
		return nil, fmt.Errorf("read configuration counter: %w", err)
	}
	rows, err := tx.Query(ctx, `select spec, revision from organisation`)
	if err != nil {
		return nil, fmt.Errorf("read organisations: %w", err)
	}
	var spec, earlier []byte
	var revision int32
	_, err = pgx.ForEachRow(rows, []any{&spec, &revision}, func() error {
		o := &OrganisationSpec{}
		if err := json.Unmarshal(spec, o); err != nil {
			return err
		}
		o.normalise()
		c.organisations[o.ID], c.revisions[o.ID] = o, revision
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read organisations: %w", err)
	}
	rows, err = tx.Query(ctx, `select spec, revision, connected_on, earlier_keys from partner`)
	if err != nil {
		return nil, fmt.Errorf("read partners: %w", err)
	}
	var row stored
	_, err = pgx.ForEachRow(rows, []any{&spec, &row.revision, &row.connected, &earlier}, func() (err error) {
		p := &stored{revision: row.revision, connected: row.connected.UTC()}
		if p.spec, err = partnerSpec(spec); err != nil {
			return err
		}
		c.partners[p.spec.ID] = p
		return json.Unmarshal(earlier, &p.earlier)
	})
	if err != nil {
		return nil, fmt.Errorf("read partners: %w", err)
	}
	c.tokens, err = readTokens(ctx, tx)
	return c, err
}
