package main

import (
	"context"
	"errors"
	"time"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners/keys"
)

// keyring is what transports ask for our private keys.
type keyring struct {
	*keys.Ring
	now func() time.Time
}

// fresh looks once more where a key is missing: it may have been made a moment ago, and
// nobody who was just told so is to be told that we have none.
func fresh[T any](ctx context.Context, k keyring, look func() (T, error)) (T, error) {
	found, err := look()
	if !errors.Is(err, keys.ErrUnknown) {
		return found, err
	}
	if err := k.Refresh(ctx); err != nil {
		return found, err
	}
	return look()
}

// as4Signers give what an organisation signs AS4 messages with, the one that began last
// first; none where it has no key.
func (k keyring) as4Signers(ctx context.Context, organisation string) (usable []*wssec.Signing, err error) {
	list, err := fresh(ctx, k, func() ([]*keys.Signing, error) { return k.Signers(organisation, keys.AS4Sign, k.now()) })
	if errors.Is(err, keys.ErrUnknown) {
		return nil, nil
	}
	for _, s := range list {
		usable = append(usable, &wssec.Signing{Key: s.Signer, Certificate: s.Chain[0], Chain: s.Chain[1:]})
	}
	return usable, err
}

// as4Decrypters gives what AS4 messages may be encrypted to, under every certificate
// that named it; none where there is no key.
func (k keyring) as4Decrypters(ctx context.Context, organisation string) (usable []wssec.DecryptionKey, err error) {
	list, err := k.opening(ctx, organisation, keys.AS4Decrypt)
	for _, o := range list {
		for _, c := range o.Certificates {
			usable = append(usable, wssec.DecryptionKey{Certificate: c.Leaf(), Key: o.Signer})
		}
	}
	return usable, err
}

// as2Keys gives an organisation's keys for a purpose of AS2: the one that signs, or all
// that messages may be encrypted to, under every certificate that named them; none where
// it has none.
func (k keyring) as2Keys(ctx context.Context, organisation string, purpose as2.Purpose) (list []as2.Key, err error) {
	if purpose == as2.ForSigning {
		s, err := fresh(ctx, k, func() (*keys.Signing, error) { return k.Signer(organisation, string(purpose), k.now()) })
		if errors.Is(err, keys.ErrUnknown) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []as2.Key{{Label: s.Label, Private: s.Signer, Certificates: s.Chain}}, nil
	}
	opening, err := k.opening(ctx, organisation, string(purpose))
	for _, o := range opening {
		for _, c := range o.Certificates {
			list = append(list, as2.Key{Label: o.Label, Private: o.Signer, Certificates: c.Chain})
		}
	}
	return list, err
}

// opening gives every key that messages to an organisation may be encrypted to; none
// where it has none.
func (k keyring) opening(ctx context.Context, organisation, purpose string) ([]*keys.Opening, error) {
	list, err := fresh(ctx, k, func() ([]*keys.Opening, error) {
		if list := k.Decrypters(organisation, purpose, k.now()); len(list) > 0 {
			return list, nil
		}
		return nil, keys.ErrUnknown
	})
	if err != nil && !errors.Is(err, keys.ErrUnknown) {
		return nil, err
	}
	return list, k.closed(organisation, purpose)
}

// closed is the error of a key that cannot be opened here: a message to it is worth
// sending again, and not refused as encrypted to nobody.
func (k keyring) closed(organisation, purpose string) error {
	for _, c := range k.Closed() {
		if !c.StillOpen && c.Organisation == organisation && c.Opens(purpose, k.now()) {
			return c.Err
		}
	}
	return nil
}
