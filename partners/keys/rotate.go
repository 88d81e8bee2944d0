package keys

import (
	"context"
	"crypto"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// RotateTx makes the successor of a key: of the same purposes and algorithm, with
// a certificate of its own issue of the same name and length. We use the
// successor from now on; what is encrypted to the old one is still opened for
// overlap, in which partners change.
func (s *Store) RotateTx(ctx context.Context, tx pgx.Tx, organisation, label, successor, by string, overlap time.Duration) (*Key, error) {
	old, _, err := one(ctx, tx, organisation, label)
	if err != nil {
		return nil, err
	}
	if overlap < 0 {
		return nil, unfit("the overlap cannot be negative")
	}
	algorithm := old.Algorithm
	if !slices.Contains(Algorithms, algorithm) { // imported
		return nil, unfit("keys of %s are imported, not made; import the successor, and retire this one", algorithm)
	}
	c := old.Certificates[0]
	k, err := s.CreateTx(ctx, tx, New{Organisation: organisation, Label: successor, Purposes: old.Purposes, Algorithm: algorithm,
		CommonName: c.Subject.CommonName, Valid: c.NotAfter.Sub(c.NotBefore), By: by})
	if err != nil {
		return nil, err
	}
	until := s.now().Add(overlap)
	if until.Before(old.End()) {
		if _, err := tx.Exec(ctx, `update private_key set use_until = $3 where organisation_id = $1 and key_id = $2`, organisation, old.ID, until); err != nil {
			return nil, fmt.Errorf("end key %q: %w", label, err)
		}
	}
	return k, nil
}

// RetireTx ends a key for good; its certificate is kept, for evidence.
func (s *Store) RetireTx(ctx context.Context, tx pgx.Tx, organisation, label string) error {
	k, _, err := one(ctx, tx, organisation, label)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update private_key set retired_at = $3 where organisation_id = $1 and key_id = $2`, organisation, k.ID, s.now()); err != nil {
		return fmt.Errorf("retire key %q: %w", label, err)
	}
	return nil
}

// ResealTx seals every key under the present master key that is sealed under
// another, and says how many there were. All of it happens, or nothing: then the
// master key before is still needed.
func (s *Store) ResealTx(ctx context.Context, tx pgx.Tx) (n int, err error) {
	list, sealed, err := query(ctx, tx, `order by organisation_id, key_id for update`)
	if err != nil {
		return 0, err
	}
	for i, k := range list {
		if s.Master.present(k.Under) {
			continue
		}
		plain, err := s.Master.open(sealed[i], k.Under, k.bound())
		if err != nil {
			return 0, fmt.Errorf("key %q of %s: %w", k.Label, k.Organisation, err)
		}
		again, under, err := s.Master.seal(plain, k.bound())
		clear(plain)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `update private_key set sealed = $3, sealed_under = $4 where organisation_id = $1 and key_id = $2`, k.Organisation, k.ID, again, under); err != nil {
			return 0, fmt.Errorf("seal key %q of %s: %w", k.Label, k.Organisation, err)
		}
		n++
	}
	return n, nil
}

// Private is a key of ours that can be used.
type Private struct {
	*Key
	crypto.Signer
}

// Signer gives the key an organisation signs with, or connects with, for purpose
// at an instant: of those that hold the one whose use began last. The error wraps
// ErrUnknown where there is none.
func (s *Store) Signer(ctx context.Context, organisation, purpose string, at time.Time) (*Private, error) {
	list, err := s.holding(ctx, organisation, purpose, at)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Decrypters gives every key that partners may have encrypted to for purpose at
// an instant, the one whose use began last first: which of them it was, the
// message says by the certificate's issuer and number.
func (s *Store) Decrypters(ctx context.Context, organisation, purpose string, at time.Time) ([]*Private, error) {
	return s.holding(ctx, organisation, purpose, at)
}

func (s *Store) holding(ctx context.Context, organisation, purpose string, at time.Time) ([]*Private, error) {
	list, sealed, err := query(ctx, s.Pool, `where organisation_id = $1 and $2 = any(purposes) and retired_at is null order by use_from desc, key_id desc`, organisation, purpose)
	if err != nil {
		return nil, err
	}
	var usable []*Private
	for i, k := range list {
		if !k.Holds(purpose, at) {
			continue
		}
		key, err := s.unseal(k, sealed[i])
		if err != nil {
			return nil, err
		}
		usable = append(usable, &Private{k, key})
	}
	if len(usable) == 0 {
		return nil, fmt.Errorf("%w: %s has no key for %s that holds at %s; `edigw keys create` makes one", ErrUnknown, organisation, purpose, at.UTC().Format(time.RFC3339))
	}
	return usable, nil
}
