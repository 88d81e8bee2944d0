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

// Apply brings the configuration to what specs say, in tx, which must be READ
// COMMITTED; concurrent applies wait for each other. What specs do not name
// stays as it is: a partner is never deleted, it is paused. What is said
// already makes no revision. Faults name the other partner where two claim the
// same; nothing is written then.
//
// After COMMIT call Directory.Reload; other processes notice within a second.
func (s *Store) Apply(ctx context.Context, tx pgx.Tx, specs []Spec) (Changes, error) {
	// The one row is the lock: revisions and uniqueness are judged on what
	// nobody else is changing.
	if _, err := tx.Exec(ctx, `select counter from configuration for update`); err != nil {
		return nil, fmt.Errorf("lock configuration: %w", err)
	}
	before, err := read(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("apply partners: %w", err)
	}
	after, faults := before.with(specs)
	faults = append(faults, s.refused(before, specs)...)
	if len(faults) > 0 {
		return nil, faults
	}
	changes := changesBetween(before, after)
	if len(changes) == 0 {
		return nil, nil
	}
	for i := range changes {
		if err := s.write(ctx, tx, before, after, &changes[i]); err != nil {
			return nil, fmt.Errorf("apply %s %s: %w", changes[i].Kind, changes[i].ID, err)
		}
	}
	if err := s.writeIdentifiers(ctx, tx, after, changes); err != nil {
		return nil, fmt.Errorf("apply identifiers: %w", err)
	}
	if err := s.writeDeclaredTokens(ctx, tx, before, after, changes); err != nil {
		return nil, fmt.Errorf("apply tokens: %w", err)
	}
	if err := s.count(ctx, tx); err != nil {
		return nil, err
	}
	return changes, nil
}

// Diff says what Apply would change, and changes nothing.
func (s *Store) Diff(ctx context.Context, specs []Spec) (Changes, error) {
	before, err := s.snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("diff partners: %w", err)
	}
	after, faults := before.with(specs)
	faults = append(faults, s.refused(before, specs)...)
	if len(faults) > 0 {
		return nil, faults
	}
	return changesBetween(before, after), nil
}

// count tells every process that what it holds is old.
func (s *Store) count(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `update configuration set counter = counter + 1, changed_at = $1`, s.now()); err != nil {
		return fmt.Errorf("count the change: %w", err)
	}
	return nil
}

// write writes one organisation, or one partner with its new revision.
func (s *Store) write(ctx context.Context, tx pgx.Tx, before, after *configuration, ch *Change) error {
	now := s.now()
	if ch.Kind == "Organisation" {
		return s.writeOrganisation(ctx, tx, before, after, ch)
	}
	p := after.partners[ch.ID]
	old := before.partners[ch.ID]
	p.connected = now.Truncate(24 * time.Hour)
	if old != nil {
		p.connected = old.connected
		p.earlier = earlierKeys(old, p.spec, now)
	}
	p.revision = ch.Revision
	spec, err := json.Marshal(p.spec)
	if err != nil {
		return err
	}
	earlier, err := json.Marshal(append([]KeySettings{}, p.earlier...))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into partner (partner_id, organisation_id, revision, connected_on, spec, earlier_keys, applied_at)
		values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (partner_id) do update set organisation_id = excluded.organisation_id,
			revision = excluded.revision, spec = excluded.spec, earlier_keys = excluded.earlier_keys,
			applied_at = excluded.applied_at`,
		ch.ID, p.spec.Organisation, p.revision, p.connected, spec, earlier, now)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into partner_revision (partner_id, revision, cause, spec, applied_by, applied_at)
		values ($1, $2, $3, $4, $5, $6)`,
		ch.ID, p.revision, ch.Cause, spec, s.By, now)
	return err
}

func (s *Store) writeOrganisation(ctx context.Context, tx pgx.Tx, before, after *configuration, ch *Change) error {
	now := s.now()
	spec, err := json.Marshal(after.organisations[ch.ID])
	if err != nil {
		return err
	}
	if before.organisations[ch.ID] != nil {
		// What it was first stands in its row alone, where it is from before there were
		// revisions.
		if _, err := tx.Exec(ctx, `
			insert into organisation_revision (organisation_id, revision, cause, spec, applied_at)
			select organisation_id, revision, 'created', spec, applied_at from organisation where organisation_id = $1
			on conflict (organisation_id, revision) do nothing`, ch.ID); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `
		insert into organisation (organisation_id, spec, revision, applied_at)
		values ($1, $2, $3, $4)
		on conflict (organisation_id) do update set spec = excluded.spec, revision = excluded.revision, applied_at = excluded.applied_at`,
		ch.ID, spec, ch.Revision, now)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into organisation_revision (organisation_id, revision, cause, spec, applied_by, applied_at)
		values ($1, $2, $3, $4, $5, $6)`,
		ch.ID, ch.Revision, ch.Cause, spec, s.By, now)
	return err
}

// earlierKeys adds what the key settings were, if they change, and leaves out
// what has run out or is what they are now. The keys made under a setting live
// for dedup_window after their last delivery, so the setting is remembered as
// long: the longer of the two windows, if that changes as well.
func earlierKeys(old *stored, spec PartnerSpec, now time.Time) []KeySettings {
	earlier := old.earlier
	if old.spec.ControlReference != spec.ControlReference || old.spec.KeyIncludesApplication != spec.KeyIncludesApplication {
		window := max(old.spec.Retention.DedupWindow, spec.Retention.DedupWindow)
		earlier = append([]KeySettings{{
			ControlReference:       old.spec.ControlReference,
			KeyIncludesApplication: old.spec.KeyIncludesApplication,
			Until:                  now.Add(window.Duration()),
		}}, earlier...)
	}
	seen := map[KeySettings]bool{{ControlReference: spec.ControlReference, KeyIncludesApplication: spec.KeyIncludesApplication}: true}
	return slices.DeleteFunc(earlier, func(k KeySettings) bool {
		which := KeySettings{ControlReference: k.ControlReference, KeyIncludesApplication: k.KeyIncludesApplication}
		drop := seen[which] || !k.Until.After(now)
		seen[which] = true
		return drop
	})
}

// writeIdentifiers replaces the identifiers of all changed partners: first all
// go, then all come, so that one may move from a partner to another.
func (s *Store) writeIdentifiers(ctx context.Context, tx pgx.Tx, after *configuration, changes Changes) error {
	var changed, owners, qualifiers, ids []string
	for _, ch := range changes {
		if ch.Kind != "Partner" {
			continue
		}
		changed = append(changed, ch.ID)
		for _, id := range after.partners[ch.ID].spec.Identifiers {
			owners, qualifiers, ids = append(owners, ch.ID), append(qualifiers, id.Qualifier), append(ids, id.ID)
		}
	}
	if _, err := tx.Exec(ctx, `delete from partner_identifier where partner_id = any($1)`, changed); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		insert into partner_identifier (partner_id, qualifier, identifier)
		select partner_id, qualifier, identifier from unnest($1::text[], $2::text[], $3::text[]) as i (partner_id, qualifier, identifier)`,
		owners, qualifiers, ids)
	return err
}

// with gives the configuration as specs would make it, or what is wrong with
// that.
func (c *configuration) with(specs []Spec) (*configuration, Faults) {
	after := &configuration{revisions: c.revisions, organisations: map[string]*OrganisationSpec{}, partners: map[string]*stored{}, tokens: c.tokens}
	for id, o := range c.organisations {
		after.organisations[id] = o
	}
	for id, p := range c.partners {
		kept := *p
		after.partners[id] = &kept
	}
	var faults Faults
	places := map[string]Spec{}
	for _, spec := range specs {
		kind, id := spec.name()
		if other, ok := places[kind+" "+id]; ok {
			faults = append(faults, spec.fault("id", "%s %s is given twice; the other is in %s", kind, id, other.place()))
			continue
		}
		places[kind+" "+id] = spec
		switch {
		case spec.Organisation != nil:
			after.organisations[id] = spec.Organisation
		case spec.Partner != nil:
			p := &stored{}
			if old := c.partners[id]; old != nil {
				*p = *old
			}
			p.spec = *spec.Partner
			after.partners[id] = p
		}
	}
	for _, spec := range specs {
		if spec.Partner != nil {
			faults = append(faults, after.check(spec)...)
			faults = append(faults, after.checkAS2(spec)...)
		} else if spec.Organisation != nil {
			faults = append(faults, after.checkOrganisationAS2(spec)...)
		}
	}
	return after, faults
}

// refused gives the addresses that nothing may be sent to, of those that are new: one that
// stands as it was is no fault of who changes something else.
func (s *Store) refused(before *configuration, specs []Spec) (faults Faults) {
	if s.Refuses == nil {
		return nil
	}
	for _, spec := range specs {
		p := spec.Partner
		if p == nil || p.AcknowledgeURL == nowhere || p.AcknowledgeURL == "" {
			continue
		}
		if old := before.partners[p.ID]; old != nil && old.spec.AcknowledgeURL == p.AcknowledgeURL {
			continue
		}
		if err := s.Refuses(p.AcknowledgeURL); err != nil {
			faults = append(faults, spec.fault("acknowledge_url", "%v", err))
		}
	}
	return faults
}

// check holds one partner against all others.
func (c *configuration) check(spec Spec) (faults Faults) {
	p := spec.Partner
	if c.organisations[p.Organisation] == nil {
		faults = append(faults, spec.fault("organisation", "there is no organisation %s: apply `kind: Organisation` with that id first, or in the same file", p.Organisation))
	}
	for _, id := range p.SpeaksFor {
		if c.partners[id] == nil {
			faults = append(faults, spec.fault("speaks_for", "there is no partner %s", id))
		}
	}
	for id, other := range sorted(c.partners) {
		if id == p.ID {
			continue
		}
		for _, address := range p.Identifiers {
			if slices.Contains(other.spec.Identifiers, address) {
				faults = append(faults, spec.fault("identifiers", "%s belongs to partner %s", address, id))
			}
		}
		if p.AS4.Profile != AS4None && other.spec.AS4.Profile != AS4None && p.AS4.pair() == other.spec.AS4.pair() {
			faults = append(faults, spec.fault("as4.from", "%s to %s is how partner %s sends; each needs an eb:PartyId of its own", p.AS4.From.ID, p.AS4.To.ID, id))
		}
		for _, t := range p.HTTP.Tokens {
			if slices.ContainsFunc(other.spec.HTTP.Tokens, func(o TokenSpec) bool { return o.SHA256 == t.SHA256 }) {
				faults = append(faults, spec.fault("http.tokens", "token %q is also partner %s's; each needs its own", t.Label, id))
			}
		}
	}
	for _, t := range p.HTTP.Tokens {
		for _, o := range c.tokens {
			same := o.hex() == t.SHA256
			switch {
			case same && o.Revoked != nil:
				faults = append(faults, spec.fault("http.tokens", "token %q was revoked on %s; take it out", t.Label, o.Revoked.Format(time.DateOnly)))
			case same && o.Partner != p.ID && !o.Declared:
				faults = append(faults, spec.fault("http.tokens", "token %q is also partner %s's; each needs its own", t.Label, o.Partner))
			case !same && o.Partner == p.ID && !o.Declared && o.Revoked == nil && o.Label == t.Label:
				faults = append(faults, spec.fault("http.tokens", "label %q is that of an issued token; take another, or revoke that one", t.Label))
			}
		}
	}
	return faults
}

func (s Spec) name() (kind, id string) {
	switch {
	case s.Organisation != nil:
		return "Organisation", s.Organisation.ID
	case s.Partner != nil:
		return "Partner", s.Partner.ID
	}
	return "", ""
}

func (s Spec) fault(key, format string, args ...any) Fault {
	kind, id := s.name()
	f := Fault{File: s.File, Line: s.Line, Key: key, Text: fmt.Sprintf(format, args...)}
	if s.Line > 0 {
		f.Column = 1
	} else {
		f.Key = kind + " " + id + ": " + key
	}
	return f
}

func (s Spec) place() string {
	if s.File == "" {
		return "the same call"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// IsFault reports whether err says that the configuration is wrong, and not that
// we failed.
func IsFault(err error) bool {
	var f Faults
	return errors.As(err, &f)
}
