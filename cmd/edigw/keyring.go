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
// that named it.
func (k keyring) as4Decrypters(_ context.Context, organisation string) (usable []wssec.DecryptionKey, err error) {
	for _, o := range k.Decrypters(organisation, keys.AS4Decrypt, k.now()) {
		for _, c := range o.Certificates {
			usable = append(usable, wssec.DecryptionKey{Certificate: c.Leaf(), Key: o.Signer})
		}
	}
	return usable, k.closed(organisation, keys.AS4Decrypt)
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
	for _, o := range k.Decrypters(organisation, string(purpose), k.now()) {
		for _, c := range o.Certificates {
			list = append(list, as2.Key{Label: o.Label, Private: o.Signer, Certificates: c.Chain})
		}
	}
	return list, k.closed(organisation, string(purpose))
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
