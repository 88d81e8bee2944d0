package main

import (
	"context"
	"errors"
	"time"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners/keys"
)

// keyring is what transports ask for our private keys.
type keyring struct {
	*keys.Ring
	now func() time.Time
}

// as4Signer gives what an organisation signs AS4 messages with; nil where it has no
// key.
func (k keyring) as4Signer(_ context.Context, organisation string) (*wssec.Signing, error) {
	s, err := k.Signer(organisation, keys.AS4Sign, k.now())
	if errors.Is(err, keys.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &wssec.Signing{Key: s.Signer, Certificate: s.Chain[0], Chain: s.Chain[1:]}, nil
}

// as4Decrypters gives what AS4 messages may be encrypted to, under every certificate
// that named it.
func (k keyring) as4Decrypters(_ context.Context, organisation string) (usable []wssec.DecryptionKey, err error) {
	for _, o := range k.Decrypters(organisation, keys.AS4Decrypt, k.now()) {
		for _, c := range o.Certificates {
			usable = append(usable, wssec.DecryptionKey{Certificate: c.Leaf(), Key: o.Signer})
		}
	}
	for _, c := range k.Closed() { // a message to it is worth sending again, and not refused as encrypted to nobody
		if !c.StillOpen && c.Organisation == organisation && c.Opens(keys.AS4Decrypt, k.now()) {
			return nil, c.Err
		}
	}
	return usable, nil
}
