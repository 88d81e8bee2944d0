package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Rotation is how a key hands over to its successor.
type Rotation struct {
	Organisation string
	Label        string    // of the old key
	Successor    string    // label of the new one
	SignFrom     time.Time // first instant the successor signs, and the old one does not; has to be said where the old one signs
	Overlap      time.Duration
	By           string
}

// RotateTx makes the successor of a key: of the same purposes and algorithm, with
// a certificate of its own issue of the same name and length. It opens at once, and
// signs from SignFrom on, when partners have its certificate; what is encrypted to
// the old one is opened for Overlap after that.
func (s *Store) RotateTx(ctx context.Context, tx pgx.Tx, r Rotation) (*Key, error) {
	if err := alone(ctx, tx); err != nil {
		return nil, err
	}
	old, _, err := one(ctx, tx, r.Organisation, r.Label, `for update`)
	if err != nil {
		return nil, err
	}
	if r.Overlap < 0 {
		return nil, unfit("the overlap cannot be negative")
	}
	list, _, err := query(ctx, tx, `where organisation_id = $1 and retired_at is null order by key_id`, r.Organisation)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if o.SuccessorOf != nil && *o.SuccessorOf == old.ID {
			return nil, unfit("%q has a successor, %q, made by %s on %s: rotate that one, or retire it first if it is not the right one", r.Label, o.Label, o.By, told(o.Created))
		}
	}
	if !slices.Contains(Algorithms, old.Algorithm) { // imported
		return nil, unfit("keys of %s are imported, not made; import the successor, and retire this one", old.Algorithm)
	}
	now := s.now()
	for _, p := range old.Purposes {
		if r.SignFrom.After(now) && old.Signs(p, now) && !old.Signs(p, r.SignFrom.Add(-time.Second)) {
			return nil, unfit("nobody would sign for %s before %s: key %q does so until %s; take an earlier day, or certify it anew first",
				p, told(r.SignFrom), r.Label, told(old.End()))
		}
	}
	c := old.Present(now).Leaf()
	k, err := s.CreateTx(ctx, tx, New{Organisation: r.Organisation, Label: r.Successor, Purposes: old.Purposes, Algorithm: old.Algorithm,
		CommonName: c.Subject.CommonName, Valid: c.NotAfter.Sub(c.NotBefore), SignFrom: r.SignFrom, By: r.By, successorOf: &old.ID})
	if err != nil {
		return nil, err
	}
	from := k.From
	if r.SignFrom.After(from) { // of a key that only opens the day is that of the change all the same
		from = r.SignFrom
	}
	until := from.Add(r.Overlap)
	if old.Until == nil || until.Before(*old.Until) {
		if err := endKey(ctx, tx, old, until); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func endKey(ctx context.Context, tx pgx.Tx, k *Key, until time.Time) error {
	if _, err := tx.Exec(ctx, `update private_key set use_until = $3 where organisation_id = $1 and key_id = $2`, k.Organisation, k.ID, until); err != nil {
		return fmt.Errorf("end key %q: %w", k.Label, err)
	}
	return nil
}

// SignFromTx moves the day from which a key signs, sooner or later; a zero at is
// now. What it takes over from is used as much longer or shorter. A day may be put
// off even when it has passed, as long as another key signs until then.
func (s *Store) SignFromTx(ctx context.Context, tx pgx.Tx, organisation, label string, at time.Time) (*Key, error) {
	if err := alone(ctx, tx); err != nil {
		return nil, err
	}
	k, _, err := one(ctx, tx, organisation, label, `for update`)
	if err != nil {
		return nil, err
	}
	now := s.now()
	if at.Before(now) {
		at = now
	}
	if !slices.ContainsFunc(k.Purposes, signs) {
		return nil, unfit("%s does not sign: it opens what is encrypted to it, from the start", k)
	}
	if k.Shown(at) == nil {
		return nil, unfit("its certificate does not hold at %s, from when on it is to sign", told(at))
	}
	list, _, err := query(ctx, tx, `where organisation_id = $1 and retired_at is null order by key_id for update`, organisation)
	if err != nil {
		return nil, err
	}
	shift := at.Sub(k.From)
	for _, o := range list {
		if k.SuccessorOf != nil && o.ID == *k.SuccessorOf && o.Until != nil {
			until := o.Until.Add(shift)
			if until.Before(now) {
				until = now
			}
			o.Until = &until
			if err := endKey(ctx, tx, o, until); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range k.Purposes {
		if at.After(now) && k.Signs(p, now) && !slices.ContainsFunc(list, func(o *Key) bool {
			return o.ID != k.ID && o.Signs(p, now) && o.Signs(p, at.Add(-time.Second))
		}) {
			return nil, unfit("nobody else signs for %s until %s; make or import a key that does first", p, told(at))
		}
	}
	k.From = at
	if _, err := tx.Exec(ctx, `update private_key set use_from = $3 where organisation_id = $1 and key_id = $2`, organisation, k.ID, at); err != nil {
		return nil, fmt.Errorf("key %q: %w", label, err)
	}
	return k, nil
}

// RetireTx ends a key for good; its certificates are kept, for evidence. It needs
// no master key, so that one whose master key is lost can be ended. The end of the
// key that it was to take over from is lifted, which has no successor any more.
func (s *Store) RetireTx(ctx context.Context, tx pgx.Tx, organisation, label string) (*Key, error) {
	if err := alone(ctx, tx); err != nil {
		return nil, err
	}
	k, _, err := one(ctx, tx, organisation, label, `for update`)
	if err != nil {
		return nil, err
	}
	now := s.now()
	if _, err := tx.Exec(ctx, `update private_key set retired_at = $3 where organisation_id = $1 and key_id = $2`, organisation, k.ID, now); err != nil {
		return nil, fmt.Errorf("retire key %q: %w", label, err)
	}
	if k.SuccessorOf != nil {
		if _, err := tx.Exec(ctx, `update private_key set use_until = null where organisation_id = $1 and key_id = $2 and retired_at is null and use_until > $3`, organisation, *k.SuccessorOf, now); err != nil {
			return nil, fmt.Errorf("retire key %q: %w", label, err)
		}
	}
	k.Retired = &now
	return k, nil
}

// ResealTx seals every key under the present master key that is sealed under
// another, and says how many there were. All of it happens, or nothing: then the
// master key before is still needed. Retired keys whose master key is lost are left
// as they are; lost says how many.
func (s *Store) ResealTx(ctx context.Context, tx pgx.Tx) (n, lost int, err error) {
	if err := alone(ctx, tx); err != nil {
		return 0, 0, err
	}
	list, sealed, err := query(ctx, tx, `order by organisation_id, key_id for update`)
	if err != nil {
		return 0, 0, err
	}
	for i, k := range list {
		if s.Master.present(k.Under) {
			continue
		}
		plain, err := s.Master.open(sealed[i], k.Under, k.bound())
		if errors.Is(err, ErrNoMaster) && k.Retired != nil {
			lost++
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("key %q of %s: %w", k.Label, k.Organisation, err)
		}
		again, under, err := s.Master.seal(plain, k.bound())
		clear(plain)
		if err != nil {
			return 0, 0, err
		}
		if _, err := tx.Exec(ctx, `update private_key set sealed = $3, sealed_under = $4 where organisation_id = $1 and key_id = $2`, k.Organisation, k.ID, again, under); err != nil {
			return 0, 0, fmt.Errorf("seal key %q of %s: %w", k.Label, k.Organisation, err)
		}
		n++
	}
	return n, lost, nil
}
