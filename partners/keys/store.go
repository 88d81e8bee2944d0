package keys

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store keeps keys in PostgreSQL.
type Store struct {
	Pool   *pgxpool.Pool
	Master *Master
	Now    func() time.Time // nil is time.Now
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC()
	}
	return time.Now().UTC()
}

// New is a key to be made.
type New struct {
	Organisation string
	Label        string // tells the organisation's keys apart
	Purposes     []string
	Algorithm    string
	CommonName   string        // of the certificate of its own issue; "" is the label
	Valid        time.Duration // of that certificate
	SignFrom     time.Time     // first instant it signs; zero is now, where no other key signs for its purposes
	AnyUsage     bool          // what its certificate is allowed is not looked at
	By           string        // who makes it

	successorOf *uuid.UUID
}

// alone lets one change of keys happen at a time: each is judged on all keys that there are, and of
// two that are judged at once neither would see the other. Who reads waits for
// nothing. It comes before any row is locked, so that nobody waits in a ring.
func alone(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `lock table private_key in share row exclusive mode`); err != nil {
		return fmt.Errorf("wait for another change of keys: %w", err)
	}
	return nil
}

// CreateTx makes a key with a certificate of its own issue; that of an X25519 key has an
// issuer that issues nothing else. The error wraps
// ErrUnfit or ErrNoMaster where it cannot be.
func (s *Store) CreateTx(ctx context.Context, tx pgx.Tx, n New) (*Key, error) {
	key, err := generate(n.Algorithm)
	if err != nil {
		return nil, err
	}
	if err := checkPurposes(n.Purposes, key.Public()); err != nil {
		return nil, err
	}
	if n.Valid < time.Hour {
		return nil, unfit("a certificate has to be valid for an hour at least")
	}
	name := n.CommonName
	if name == "" {
		name = n.Label
	}
	now := s.now()
	chain, err := issue(key, name, n.Purposes, now, now.Add(n.Valid))
	if err != nil {
		return nil, fmt.Errorf("certificate of key %q: %w", n.Label, err)
	}
	return s.keep(ctx, tx, n, key, chain)
}

// ImportTx keeps a key that was made elsewhere, with its certificate and those of
// its issuers behind it. One whose certificate has ended is taken only if it just
// opens what partners still encrypt to it.
func (s *Store) ImportTx(ctx context.Context, tx pgx.Tx, n New, key crypto.Signer, chain []*x509.Certificate) (*Key, error) {
	if err := checkPurposes(n.Purposes, key.Public()); err != nil {
		return nil, err
	}
	if err := belongs(key.Public(), chain); err != nil {
		return nil, err
	}
	if err := fits(chain[0], n.Purposes, n.AnyUsage); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(n.Purposes, signs) {
		if err := lasts(chain[0], s.now()); err != nil {
			return nil, err
		}
	}
	return s.keep(ctx, tx, n, key, chain)
}

// belongs holds a chain against a key: each certificate has issued the one before.
func belongs(key crypto.PublicKey, chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return unfit("a key needs its certificate")
	}
	spki, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return err
	}
	if !bytes.Equal(spki, chain[0].RawSubjectPublicKeyInfo) {
		return unfit("the certificate of %s is of another key", chain[0].Subject)
	}
	for i := range chain[1:] {
		if err := chain[i].CheckSignatureFrom(chain[i+1]); err != nil {
			return unfit("certificate %d of the chain, of %s, has not issued the one before it: %w", i+2, chain[i+1].Subject, err)
		}
	}
	return nil
}

func (s *Store) keep(ctx context.Context, tx pgx.Tx, n New, key crypto.Signer, chain []*x509.Certificate) (*Key, error) {
	if n.Label == "" || utf8.RuneCountInString(n.Label) > 60 || !utf8.ValidString(n.Label) || bytes.ContainsFunc([]byte(n.Label), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, unfit("a label has 1 to 60 printable characters")
	}
	algorithm, err := algorithmOf(key.Public())
	if err != nil {
		return nil, err
	}
	if err := alone(ctx, tx); err != nil {
		return nil, err
	}
	others, err := s.beside(ctx, tx, n)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	now := s.now()
	k := &Key{Organisation: n.Organisation, ID: id, Label: n.Label, Purposes: n.Purposes, Algorithm: algorithm, From: now, SuccessorOf: n.successorOf, By: n.By, Created: now}
	k.Certificates = []Certificate{{Chain: chain, From: now, By: n.By, Added: now}}
	if from, _ := k.Certificates[0].Window(); from.After(k.From) {
		k.From = from
	}
	if k.From, err = begins(k, n.SignFrom, others, now); err != nil {
		return nil, err
	}
	if k.SPKI, err = spkiOf(key.Public()); err != nil {
		return nil, err
	}
	plain, err := kept(key)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", n.Label, err)
	}
	defer clear(plain)
	sealed, under, err := s.Master.seal(plain, k.bound())
	if err != nil {
		return nil, err
	}
	k.Under = under
	_, err = tx.Exec(ctx, `
		insert into private_key (organisation_id, key_id, label, purposes, algorithm, spki_sha256, sealed, sealed_under, certificates, use_from, successor_of, created_by, created_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		k.Organisation, k.ID, k.Label, k.Purposes, k.Algorithm, k.SPKI[:], sealed, under, raw(chain), k.From, k.SuccessorOf, k.By, k.Created)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		switch pg.ConstraintName {
		case "private_key_label":
			return nil, unfit("%s has a key %q already; take another label, or rotate that one", k.Organisation, k.Label)
		case "private_key_organisation_id_fkey":
			return nil, unfit("there is no organisation %s: apply it first", k.Organisation)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keep key %q: %w", k.Label, err)
	}
	return k, writeCertificates(ctx, tx, k)
}

// beside gives the organisation's keys that are not retired. It refuses a master
// key under which a new one would stand alone: a gateway with the master key of the
// others could not open it.
func (s *Store) beside(ctx context.Context, tx pgx.Tx, n New) ([]*Key, error) {
	all, _, err := query(ctx, tx, `where retired_at is null order by organisation_id, key_id`)
	if err != nil {
		return nil, err
	}
	var own []*Key
	for _, k := range all {
		if len(s.Master.keys) > 0 && !s.Master.has(k.Under) {
			return nil, fmt.Errorf("%w: key %q of %s is sealed under master key %x, and given are %s: give that one, or, if it is lost, retire the key first with `edigw keys retire`",
				ErrNoMaster, k.Label, k.Organisation, k.Under, s.Master.ids())
		}
		if k.Organisation == n.Organisation {
			own = append(own, k)
		}
	}
	return own, nil
}

// begins says from when a key signs. Where another one does, that has to be said:
// partners who do not have the new certificate yet would refuse what it signs.
func begins(k *Key, said time.Time, others []*Key, now time.Time) (time.Time, error) {
	from := k.From
	for _, o := range others {
		for _, p := range k.Purposes {
			if said.IsZero() && o.ID != k.ID && o.Signs(p, now) {
				return from, unfit("%s signs for %s: say from when on %q does, a day by which partners have its certificate, like --sign-from %s, or --sign-from now",
					o, p, k.Label, now.AddDate(0, 1, 0).Format(time.DateOnly))
			}
		}
	}
	if said.IsZero() || !slices.ContainsFunc(k.Purposes, signs) {
		return from, nil
	}
	if said.After(from) {
		from = said
	}
	if k.Shown(from) == nil {
		return from, unfit("its certificate does not hold at %s, from when on it is to sign", from.UTC().Format(time.RFC3339))
	}
	return from, nil
}

// bound is what a sealed key belongs to.
func (k *Key) bound() []byte {
	return []byte("edigw private key 1\x00" + k.Organisation + "\x00" + k.ID.String())
}

func raw(chain []*x509.Certificate) [][]byte {
	var list [][]byte
	for _, c := range chain {
		list = append(list, c.Raw)
	}
	return list
}

// List gives every key, retired ones too, by organisation and age.
func (s *Store) List(ctx context.Context) ([]*Key, error) {
	list, _, err := query(ctx, s.Pool, `order by organisation_id, created_at, key_id`)
	return list, err
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// query reads keys with what is sealed, then the certificates of all of them.
func query(ctx context.Context, q querier, which string, args ...any) (list []*Key, sealed [][]byte, err error) {
	rows, err := q.Query(ctx, `
		select organisation_id, key_id, label, purposes, algorithm, spki_sha256, sealed, sealed_under, certificates, use_from, use_until, successor_of, created_by, created_at, retired_at
		from private_key `+which, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("read keys: %w", err)
	}
	byID := map[uuid.UUID]*Key{}
	list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Key, error) {
		k := &Key{}
		var spki, text []byte
		var chain [][]byte
		err := row.Scan(&k.Organisation, &k.ID, &k.Label, &k.Purposes, &k.Algorithm, &spki, &text, &k.Under, &chain, &k.From, &k.Until, &k.SuccessorOf, &k.By, &k.Created, &k.Retired)
		if err != nil {
			return nil, err
		}
		k.SPKI = [32]byte(spki)
		// What it had when it was made, or was given by the program before this one.
		c, err := certificateOf(chain)
		if err != nil {
			return nil, fmt.Errorf("certificate of key %q: %w", k.Label, err)
		}
		c.From, c.Added = k.Created, k.Created
		k.Certificates = []Certificate{c}
		sealed, byID[k.ID] = append(sealed, text), k
		return k, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read keys: %w", err)
	}
	if len(list) == 0 {
		return nil, nil, nil
	}
	return list, sealed, readCertificates(ctx, q, byID)
}

// one finds the key of a label that is not retired; lock is `for update` or nothing.
func one(ctx context.Context, q querier, organisation, label, lock string) (*Key, []byte, error) {
	list, sealed, err := query(ctx, q, `where organisation_id = $1 and label = $2 and retired_at is null `+lock, organisation, label)
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%w: %s has no key %q that is not retired", ErrUnknown, organisation, label)
	}
	return list[0], sealed[0], nil
}

// unseal gives the private key.
func (s *Store) unseal(k *Key, sealed []byte) (crypto.Signer, error) {
	plain, err := s.Master.open(sealed, k.Under, k.bound())
	if err != nil {
		return nil, fmt.Errorf("key %q of %s: %w", k.Label, k.Organisation, err)
	}
	defer clear(plain)
	parsed, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		return nil, fmt.Errorf("key %q of %s: %w", k.Label, k.Organisation, err)
	}
	key, err := usable(parsed)
	if err != nil {
		return nil, fmt.Errorf("key %q of %s: %w", k.Label, k.Organisation, err)
	}
	if spki, err := spkiOf(key.Public()); err != nil || spki != k.SPKI {
		return nil, fmt.Errorf("key %q of %s: what is sealed is not the key that stands beside it", k.Label, k.Organisation)
	}
	return key, nil
}

// Request gives a certificate signing request for a key, PEM (RFC 2986, RFC 7468
// §7), for whoever issues its certificate.
func (s *Store) Request(ctx context.Context, organisation, label string, subject pkix.Name) ([]byte, error) {
	k, sealed, err := one(ctx, s.Pool, organisation, label, "")
	if err != nil {
		return nil, err
	}
	key, err := s.unseal(k, sealed)
	if err != nil {
		return nil, err
	}
	if _, agrees := key.(Agreement); agrees {
		return nil, unfit("key %q is an X25519 key, which cannot sign a request: send partners the certificate that it has, or import a key with the one that was issued for it", label)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		return nil, fmt.Errorf("request for key %q: %w", label, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}
