package keys

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
)

// Certification is a certificate that was issued for a key.
type Certification struct {
	Organisation string
	Label        string
	Chain        []*x509.Certificate // its own, then the issuers
	UseFrom      time.Time           // first instant to show it; zero is now, or when it begins to hold
	AnyUsage     bool                // what it is allowed is not looked at
	By           string
}

// CertifyTx gives a key a certificate that was issued for it. Those it had are
// kept: what was encrypted to one of them is opened, and what was signed under one
// can be verified. One that the key had before is shown again from UseFrom on.
func (s *Store) CertifyTx(ctx context.Context, tx pgx.Tx, c Certification) (*Key, error) {
	if err := alone(ctx, tx); err != nil {
		return nil, err
	}
	k, _, err := one(ctx, tx, c.Organisation, c.Label, `for update`)
	if err != nil {
		return nil, err
	}
	public, err := publicOf(k.Certificates[0].Leaf())
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", c.Label, err)
	}
	if err := belongs(public, c.Chain); err != nil {
		return nil, err
	}
	leaf, now := c.Chain[0], s.now()
	if err := lasts(leaf, now); err != nil {
		return nil, err
	}
	if err := fits(leaf, k.Purposes, c.AnyUsage); err != nil {
		return nil, err
	}
	given := Certificate{Chain: c.Chain, From: now, By: c.By, Added: now}
	if !c.UseFrom.IsZero() {
		if c.UseFrom.Before(leaf.NotBefore) {
			return nil, unfit("the certificate is not valid before %s; it cannot be used from %s", told(leaf.NotBefore), told(c.UseFrom))
		}
		if c.UseFrom.After(now) {
			given.From = c.UseFrom
		}
	}
	from, until := given.Window()
	if !from.Before(until) {
		return nil, unfit("the certificate has ended by %s, from when on it is to be used: it is valid until %s", told(from), told(leaf.NotAfter))
	}
	if i := k.has(leaf); i >= 0 {
		k.Certificates = slices.Delete(k.Certificates, i, i+1)
	}
	given.From = from
	for _, c := range k.Certificates { // of two from the same instant on the one that was given last is shown
		if !given.Added.After(c.Added) {
			given.Added = c.Added.Add(time.Microsecond)
		}
	}
	k.Certificates = append(k.Certificates, given)
	k.sortCertificates()
	if err := writeCertificates(ctx, tx, k); err != nil {
		return nil, err
	}
	if from.After(now) {
		return k, nil
	}
	// The program before this one knows this column alone.
	if _, err := tx.Exec(ctx, `update private_key set certificates = $3 where organisation_id = $1 and key_id = $2`, k.Organisation, k.ID, raw(c.Chain)); err != nil {
		return nil, fmt.Errorf("certify key %q: %w", c.Label, err)
	}
	return k, nil
}

// lasts refuses a certificate that has ended.
func lasts(c *x509.Certificate, now time.Time) error {
	if !now.Before(c.NotAfter.Add(time.Second)) {
		return unfit("the certificate of %s ended %s; have a new one issued", c.Subject, told(c.NotAfter))
	}
	return nil
}

// fits holds a certificate against what its key is for, as a partner's is.
func fits(c *x509.Certificate, purposes []string, anyUsage bool) error {
	for _, p := range purposes {
		if err := partners.CheckUsage(c, useOf(p), p); err != nil && !anyUsage {
			return unfit("the certificate of %s: %w; partners may refuse it. Have another one issued, or say --key-usage ignore", c.Subject, err)
		}
	}
	return nil
}

func told(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// writeCertificates writes all that the key has; of one that stands there it moves
// the instant from which it is shown.
func writeCertificates(ctx context.Context, tx pgx.Tx, k *Key) error {
	for _, c := range k.Certificates {
		sum := sha256.Sum256(c.Leaf().Raw)
		if _, err := tx.Exec(ctx, `
			insert into private_key_certificate (organisation_id, key_id, sha256, chain, use_from, added_by, added_at)
			values ($1, $2, $3, $4, $5, $6, $7)
			on conflict (organisation_id, key_id, sha256) do update set chain = excluded.chain, use_from = excluded.use_from, added_by = excluded.added_by, added_at = excluded.added_at`,
			k.Organisation, k.ID, sum[:], raw(c.Chain), c.From, c.By, c.Added); err != nil {
			return fmt.Errorf("certificate of key %q: %w", k.Label, err)
		}
	}
	return nil
}

// readCertificates puts to each key those it has, in the order of their use.
func readCertificates(ctx context.Context, q querier, keys map[uuid.UUID]*Key) error {
	rows, err := q.Query(ctx, `
		select key_id, chain, use_from, added_by, added_at
		from private_key_certificate where key_id = any($1) order by organisation_id, key_id, added_at, sha256`, slices.Collect(maps.Keys(keys)))
	if err != nil {
		return fmt.Errorf("read certificates of keys: %w", err)
	}
	var id uuid.UUID
	var chain [][]byte
	var from, added time.Time
	var by string
	if _, err := pgx.ForEachRow(rows, []any{&id, &chain, &from, &by, &added}, func() error {
		k := keys[id]
		c, err := certificateOf(chain)
		if err != nil {
			return fmt.Errorf("certificate of key %q: %w", k.Label, err)
		}
		c.From, c.By, c.Added = from, by, added
		if i := k.has(c.Leaf()); i >= 0 {
			k.Certificates[i] = c
		} else {
			k.Certificates = append(k.Certificates, c)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read certificates of keys: %w", err)
	}
	for _, k := range keys {
		k.sortCertificates()
	}
	return nil
}

// certificateOf reads a chain in DER.
func certificateOf(chain [][]byte) (c Certificate, err error) {
	for _, der := range chain {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return c, err
		}
		c.Chain = append(c.Chain, cert)
	}
	return c, nil
}
