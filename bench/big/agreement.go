package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	bigint "math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// agreement is what a partner and our organisation have for AS4.
type agreement struct {
	key    *rsa.PrivateKey   // the partner's
	cert   *x509.Certificate // of key
	ours   *x509.Certificate
	master string
}

const (
	organisation = "nordhafen"
	partyType    = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"
)

func newAgreement() (*agreement, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		return nil, err
	}
	of := &x509.Certificate{SerialNumber: bigint.NewInt(1), Subject: pkix.Name{CommonName: site.Partner}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &agreement{key: key, cert: cert, master: base64.StdEncoding.EncodeToString(secret)}, err
}

// partners is the YAML of the two.
func (a *agreement) partners(deferred bool) string {
	processing := "inline"
	if deferred {
		processing = "deferred"
	}
	return fmt.Sprintf(`kind: Organisation
id: %[1]s
identifiers: [{qualifier: "%[2]s", id: "%[3]s"}]
---
kind: Partner
id: %[4]s
organisation: %[1]s
identifiers: [{qualifier: "%[2]s", id: "%[5]s"}]
types: [INVOIC]
processing: %[8]s
as4:
  profile: edelivery-1.15
  from: {id: %[4]s, type: "%[6]s"}
  to: {id: %[1]s, type: "%[6]s"}
  unencrypted: accept
certificates: [{label: as4, purposes: [as4_sign], certificate: %[7]q}]
`, organisation, invoic.Qualifier, invoic.Recipient, site.Partner, invoic.Sender, partyType, partners.EncodeCertificate(a.cert), processing)
}

// makeOurs makes a key of ours that signs receipts and that is encrypted to.
func (a *agreement) makeOurs(ctx context.Context, pool *pgxpool.Pool) error {
	master, err := keys.ParseMaster(a.master)
	if err != nil {
		return err
	}
	store := keys.Store{Pool: pool, Master: master}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		k, err := store.CreateTx(ctx, tx, keys.New{Organisation: organisation, Label: "as4", Purposes: []string{keys.AS4Sign, keys.AS4Decrypt}, Algorithm: "rsa-3072", Valid: 24 * time.Hour, By: "big"})
		if err == nil {
			a.ours = k.Certificates[0].Leaf()
		}
		return err
	})
}
