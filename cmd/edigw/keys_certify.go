package main

import (
	"bytes"
	"context"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

type keysRequest struct {
	keyRef
	Name string `required:"" placeholder:"NAME" help:"Common name that the certificate is to have."`
	keyFlags
}

func (c *keysRequest) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		text, err := s.Request(a.ctx, c.Organisation, c.Label, pkix.Name{CommonName: c.Name})
		if err != nil {
			return err
		}
		_, err = a.stdout.Write(text)
		return err
	})
}

type keysCertify struct {
	keyRef
	File     string `arg:"" help:"The certificate and its issuers, PEM."`
	UseFrom  string `placeholder:"DATE" help:"From when it is shown: a day (in UTC), an instant, or now; at once, or when it begins to hold, if left out."`
	KeyUsage string `enum:"enforce,ignore" default:"enforce" help:"enforce, or ignore what the certificate is allowed."`
	Output   string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysCertify) Run(a *app) error {
	from, err := dateOf("--use-from", c.UseFrom)
	if err != nil {
		return err
	}
	chain, err := readChain(c.File)
	if err != nil {
		return err
	}
	var k *keys.Key
	err = c.act(a, "key.certified", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.CertifyTx(ctx, tx, keys.Certification{Organisation: c.Organisation, Label: c.Label, Chain: chain, UseFrom: from, AnyUsage: c.KeyUsage == "ignore", By: by})
		if err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	return made(a, c.Output, k)
}

type keysShow struct {
	keyRef
	keyFlags
}

// Run writes the certificate that the key shows, or will; of one that is to take
// its place, that one: partners need it before.

func (c *keysShow) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		list, err := s.List(a.ctx)
		if err != nil {
			return err
		}
		for _, k := range list {
			if k.Organisation != c.Organisation || k.Label != c.Label || k.Retired != nil {
				continue
			}
			var b bytes.Buffer
			now := time.Now()
			told := k.Present(now)
			if next := k.Next(now); next != nil {
				told = next
			}
			for _, cert := range told.Chain {
				if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}); err != nil {
					return err
				}
			}
			_, err := a.stdout.Write(b.Bytes())
			return err
		}
		return fmt.Errorf("%w: %s has no key %q that is not retired", keys.ErrUnknown, c.Organisation, c.Label)
	})
}
