package main

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/web"
)

// signEvidence signs a manifest with the organisation's key for it.
func (s *administration) signEvidence(ctx context.Context, organisation string, manifest []byte) (*web.Signature, error) {
	if err := s.ring.Refresh(ctx); err != nil {
		return nil, err
	}
	key, err := s.ring.Signer(organisation, keys.EvidenceSign, s.clock.Now())
	if errors.Is(err, keys.ErrUnknown) {
		return nil, fmt.Errorf("%w: %s has no key for it; `edigw keys create %s evidence --for %s` makes one", web.ErrUnsigned, organisation, organisation, keys.EvidenceSign)
	}
	if errors.Is(err, keys.ErrNoMaster) {
		return nil, fmt.Errorf("%w: the gateway cannot open the key of %s; start it with --master-key", web.ErrUnsigned, organisation)
	}
	if err != nil {
		return nil, err
	}
	text, hash := manifest, crypto.Hash(0)
	if _, is := key.Public().(ed25519.PublicKey); !is {
		sum := sha256.Sum256(manifest)
		text, hash = sum[:], crypto.SHA256
	}
	value, err := key.Sign(rand.Reader, text, hash)
	if err != nil {
		return nil, fmt.Errorf("sign evidence with key %q of %s: %w", key.Label, organisation, err)
	}
	return &web.Signature{Value: value, Certificates: key.Chain}, nil
}
