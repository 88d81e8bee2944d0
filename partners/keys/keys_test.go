package keys_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/pgtest"
)

var (
	first  = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	second = hex.EncodeToString(bytes.Repeat([]byte{2}, 32))
)

func master(t *testing.T, current string, former ...string) *keys.Master {
	t.Helper()
	m, err := keys.ParseMaster(current, former...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

type clock struct{ time.Time }

func newStore(t *testing.T) (*keys.Store, *clock) {
	c := &clock{time.Now().UTC().Truncate(time.Second)}
	s := &keys.Store{Pool: pgtest.New(t), Master: master(t, first), Now: func() time.Time { return c.Time }}
	for _, o := range []string{"north", "south"} {
		if _, err := s.Pool.Exec(t.Context(), `insert into organisation (organisation_id, spec, applied_at) values ($1, '{}', now())`, o); err != nil {
			t.Fatal(err)
		}
	}
	return s, c
}

func inTx(t *testing.T, s *keys.Store, do func(tx pgx.Tx) error) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), s.Pool, do)
}

// ring is what a gateway of the store's master key holds now.
func ring(t *testing.T, s *keys.Store) *keys.Ring {
	t.Helper()
	r := &keys.Ring{Store: s, Log: slog.New(slog.DiscardHandler)}
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func create(t *testing.T, s *keys.Store, label, algorithm string, purposes ...string) *keys.Key {
	t.Helper()
	k, err := tryCreate(t, s, label, algorithm, purposes...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func tryCreate(t *testing.T, s *keys.Store, label, algorithm string, purposes ...string) (k *keys.Key, err error) {
	t.Helper()
	err = inTx(t, s, func(tx pgx.Tx) (err error) {
		k, err = s.CreateTx(t.Context(), tx, keys.New{Organisation: "north", Label: label, Purposes: purposes, Algorithm: algorithm, Valid: 365 * 24 * time.Hour, SignFrom: s.Now(), By: "anna"})
		return err
	})
	return k, err
}

func TestCreate(t *testing.T) {
	s, clock := newStore(t)
	for _, algorithm := range keys.Algorithms {
		if algorithm == "x25519" { // it signs nothing
			continue
		}
		t.Run("a key that is made signs what its certificate verifies: "+algorithm, func(t *testing.T) {
			made := create(t, s, algorithm, algorithm, keys.AS2Sign)
			clock.Time = clock.Add(time.Second)
			k, err := ring(t, s).Signer("north", keys.AS2Sign, clock.Time)
			if err != nil {
				t.Fatal(err)
			}
			if k.ID != made.ID {
				t.Fatalf("%s signs", k.Key)
			}
			text := []byte("what we say")
			digest, hash := text, crypto.Hash(0)
			if algorithm != "ed25519" {
				sum := sha256.Sum256(text)
				digest, hash = sum[:], crypto.SHA256
			}
			sig, err := k.Sign(rand.Reader, digest, hash)
			if err != nil {
				t.Fatal(err)
			}
			kind := map[string]x509.SignatureAlgorithm{"rsa": x509.SHA256WithRSA, "ec": x509.ECDSAWithSHA256, "ed25519": x509.PureEd25519}[strings.SplitN(algorithm, "-", 2)[0]]
			if err := k.Chain[0].CheckSignature(kind, text, sig); err != nil {
				t.Error(err)
			}
		})
	}
	for name, c := range map[string]struct {
		algorithm string
		purposes  []string
		usage     x509.KeyUsage
	}{
		"who signs":         {"rsa-2048", []string{keys.AS2Sign}, x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment},
		"who decrypts, RSA": {"rsa-2048", []string{keys.AS4Decrypt}, x509.KeyUsageKeyEncipherment},
		"who decrypts, EC":  {"ec-p256", []string{keys.AS4Decrypt}, x509.KeyUsageKeyAgreement},
		"who agrees":        {"x25519", []string{keys.AS4Decrypt}, x509.KeyUsageKeyAgreement},
		"both":              {"rsa-2048", []string{keys.AS2Sign, keys.AS2Decrypt}, x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment},
		"who connects":      {"ec-p256", []string{keys.TLSClient}, x509.KeyUsageDigitalSignature},
	} {
		t.Run("the certificate's usage is that of the purposes: "+name, func(t *testing.T) {
			k := create(t, s, name, c.algorithm, c.purposes...)
			if got := k.Certificates[0].Leaf().KeyUsage; got != c.usage {
				t.Errorf("got %b, want %b", got, c.usage)
			}
		})
	}
	for want, c := range map[string][]string{
		"there is no algorithm":          {"x", "rsa-1024", keys.AS2Sign},
		"there is no purpose":            {"x", "ec-p256", "as2"},
		"at least one of":                {"x", "ec-p256"},
		"stands twice":                   {"x", "ec-p256", keys.AS2Sign, keys.AS2Sign},
		"nobody can encrypt":             {"x", "ed25519", keys.AS2Decrypt},
		"is for as4_decrypt alone":       {"x", "x25519", keys.AS4Decrypt, keys.AS4Sign},
		"has a key \"rsa-2048\" already": {"rsa-2048", "ec-p256", keys.AS2Sign},
		"1 to 60 printable":              {"a\nb", "ec-p256", keys.AS2Sign},
	} {
		t.Run("what cannot be is told: "+want, func(t *testing.T) {
			_, err := tryCreate(t, s, c[0], c[1], c[2:]...)
			if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("openssl reads the certificate of each kind of key, and names the key by its identifier", func(t *testing.T) {
		dir := t.TempDir()
		for algorithm, name := range map[string]string{"rsa-3072": "rsaEncryption", "ec-p256": "prime256v1", "ec-p384": "secp384r1", "ec-p521": "secp521r1", "ed25519": "ED25519", "x25519": "X25519"} {
			purpose := keys.AS4Decrypt
			if algorithm == "ed25519" {
				purpose = keys.AS4Sign
			}
			k := create(t, s, "shown "+algorithm, algorithm, purpose)
			var text []byte
			for _, c := range k.Certificates[0].Chain {
				text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
			}
			if err := os.WriteFile(filepath.Join(dir, algorithm), text, 0o600); err != nil {
				t.Fatal(err)
			}
			told := openssl(t, dir, "x509", "-in", algorithm, "-noout", "-text")
			if !strings.Contains(told, name) || !strings.Contains(told, "X509v3 Subject Key Identifier") {
				t.Errorf("%s: %s", algorithm, told)
			}
		}
	})
	t.Run("the certificate of an X25519 key holds to the issuer behind it, which issues nothing else", func(t *testing.T) {
		k := create(t, s, "agrees", "x25519", keys.AS4Decrypt)
		chain := k.Certificates[0].Chain
		if len(chain) != 2 || chain[0].IsCA || !chain[1].IsCA || chain[0].Subject.CommonName != "agrees" {
			t.Fatalf("%+v", k)
		}
		dir := t.TempDir()
		for name, c := range map[string]*x509.Certificate{"own.pem": chain[0], "issuer.pem": chain[1]} {
			if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if told := openssl(t, dir, "verify", "-attime", strconv.FormatInt(clock.Unix(), 10), "-CAfile", "issuer.pem", "own.pem"); !strings.Contains(told, "own.pem: OK") {
			t.Error(told)
		}
		clock.Time = clock.Add(time.Second)
		opens := ring(t, s).Decrypters("north", keys.AS4Decrypt, clock.Time)
		if i := slices.IndexFunc(opens, func(o *keys.Opening) bool { return o.Label == "agrees" }); i < 0 {
			t.Errorf("it opens nothing: %v", opens)
		}
	})
	t.Run("an X25519 key has a successor as others have", func(t *testing.T) {
		create(t, s, "x-2026", "x25519", keys.AS4Decrypt)
		if err := inTx(t, s, func(tx pgx.Tx) error {
			k, err := s.RotateTx(t.Context(), tx, keys.Rotation{Organisation: "north", Label: "x-2026", Successor: "x-2027", Overlap: day, By: "anna"})
			if err == nil && (k.Algorithm != "x25519" || k.Certificates[0].Leaf().Subject.CommonName != "x-2026") {
				t.Errorf("%s", k)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	t.Run("for nobody's organisation none is made", func(t *testing.T) {
		err := inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.CreateTx(t.Context(), tx, keys.New{Organisation: "west", Label: "a", Purposes: []string{keys.AS2Sign}, Algorithm: "ec-p256", Valid: time.Hour})
			return err
		})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "there is no organisation west") {
			t.Errorf("got %v", err)
		}
	})
}

func TestSealing(t *testing.T) {
	t.Run("what stands in the database is no key, and a key shows nothing of itself", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "a", "ed25519", keys.AS2Sign)
		p, err := ring(t, s).Signer("north", keys.AS2Sign, clock.Time)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := x509.MarshalPKCS8PrivateKey(p.Signer)
		if err != nil {
			t.Fatal(err)
		}
		secret := plain[len(plain)-32:] // the seed
		var row []byte
		if err := s.Pool.QueryRow(t.Context(), `select convert_to(k::text, 'UTF8') from private_key k`).Scan(&row); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(row), fmt.Sprintf("%v %+v", p, p), p.String()} {
			for _, form := range []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), fmt.Sprint([]byte(secret))} {
				if strings.Contains(text, form) {
					t.Errorf("the key stands in %.60q", text)
				}
			}
		}
	})
	t.Run("without its master key, under another, changed or swapped, it does not open", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "a", "ec-p256", keys.AS2Sign)
		create(t, s, "b", "ec-p256", keys.AS4Sign)
		open := func(m *keys.Master) error {
			with := *s
			with.Master = m
			_, err := ring(t, &with).Signer("north", keys.AS2Sign, clock.Time)
			return err
		}
		if err := open(master(t, "")); !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("without: %v", err)
		}
		if err := open(master(t, second)); !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("under another: %v", err)
		}
		if err := open(master(t, second, first)); err != nil {
			t.Errorf("under a former one: %v", err)
		}
		if _, err := s.Pool.Exec(t.Context(), `update private_key k set sealed = o.sealed from private_key o where k.label = 'a' and o.label = 'b'`); err != nil {
			t.Fatal(err)
		}
		if err := open(s.Master); err == nil || !strings.Contains(err.Error(), "another row's") {
			t.Errorf("swapped: %v", err)
		}
		for _, change := range []string{`set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)`, `substr(sealed, 1, 5)`, `''`} {
			if _, err := s.Pool.Exec(t.Context(), `update private_key set sealed = `+change+` where label = 'b'`); err != nil {
				t.Fatal(err)
			}
			if _, err := ring(t, s).Signer("north", keys.AS4Sign, clock.Time); err == nil {
				t.Errorf("changed by %s: it opens", change)
			}
		}
	})
	t.Run("sealed anew, the former master key is not needed any more", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "a", "ec-p256", keys.AS2Sign)
		with := *s
		with.Master = master(t, second, first)
		for _, want := range []int{1, 0} {
			if err := inTx(t, s, func(tx pgx.Tx) error {
				n, lost, err := with.ResealTx(t.Context(), tx)
				if n != want || lost != 0 {
					t.Errorf("%d were sealed, want %d; %d are lost", n, want, lost)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		with.Master = master(t, second)
		if _, err := ring(t, &with).Signer("north", keys.AS2Sign, clock.Time); err != nil {
			t.Error(err)
		}
		if err := inTx(t, s, func(tx pgx.Tx) error { _, _, err := s.ResealTx(t.Context(), tx); return err }); !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("without the one it is sealed under: %v", err)
		}
	})
	t.Run("without a master key none is made", func(t *testing.T) {
		s, _ := newStore(t)
		s.Master = master(t, "")
		if _, err := tryCreate(t, s, "a", "ec-p256", keys.AS2Sign); !errors.Is(err, keys.ErrNoMaster) || !strings.Contains(err.Error(), "openssl rand") {
			t.Errorf("got %v", err)
		}
	})
}

func TestParseMaster(t *testing.T) {
	for text, want := range map[string]string{
		"short": "the master key must be 32 bytes", strings.Repeat("a", 63): "the master key must be 32 bytes", base64.StdEncoding.EncodeToString(make([]byte, 31)): "the master key must be 32 bytes",
	} {
		_, err := keys.ParseMaster(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := keys.ParseMaster(first, "bad"); err == nil || !strings.HasPrefix(err.Error(), "former master key 1 ") {
		t.Errorf("got %v", err)
	}
	if _, err := keys.ParseMaster(first, first); err == nil {
		t.Error("one key twice is taken")
	}
	if _, err := keys.ParseMaster("", first); err == nil {
		t.Error("a former one alone is taken")
	}
}
