package keys_test

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

// openssl runs it in dir.
func openssl(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "openssl", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("openssl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestImport(t *testing.T) {
	dir := t.TempDir()
	openssl(t, dir, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
	openssl(t, dir, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=own", "-keyout", "own.key", "-out", "own.csr")
	openssl(t, dir, "x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-out", "own.pem")
	openssl(t, dir, "pkcs12", "-export", "-inkey", "own.key", "-in", "own.pem", "-certfile", "ca.pem", "-passout", "pass:geheim", "-out", "own.p12")
	openssl(t, dir, "pkcs12", "-export", "-legacy", "-inkey", "own.key", "-in", "own.pem", "-certfile", "ca.pem", "-passout", "pass:geheim", "-out", "old.p12")
	openssl(t, dir, "pkcs8", "-topk8", "-in", "own.key", "-passout", "pass:geheim", "-out", "locked.key")
	openssl(t, dir, "rsa", "-in", "own.key", "-traditional", "-out", "pkcs1.key")
	openssl(t, dir, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sec1.key")
	openssl(t, dir, "req", "-x509", "-key", "sec1.key", "-days", "20", "-subj", "/CN=ec", "-out", "sec1.pem")
	openssl(t, dir, "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-days", "30", "-subj", "/CN=short", "-keyout", "short.key", "-out", "short.pem")
	file := func(names ...string) []byte {
		var all []byte
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	s, clock := newStore(t)
	keep := func(label string, text []byte, password string) (k *keys.Key, err error) {
		key, chain, err := keys.Read(text, password)
		if err != nil {
			return nil, err
		}
		err = inTx(t, s, func(tx pgx.Tx) (err error) {
			k, err = s.ImportTx(t.Context(), tx, keys.New{Organisation: "north", Label: label, Purposes: []string{keys.AS2Sign}, SignFrom: s.Now(), By: "anna"}, key, chain)
			return err
		})
		return k, err
	}
	for name, c := range map[string]struct {
		text     []byte
		password string
		chain    string
	}{
		"PKCS#12":                        {file("own.p12"), "geheim", "own ca"},
		"PKCS#12 of old programs":        {file("old.p12"), "geheim", "own ca"},
		"PEM, PKCS#8, any order":         {file("ca.pem", "own.key", "own.pem"), "", "own ca"},
		"PEM, PKCS#1":                    {file("pkcs1.key", "own.pem"), "", "own"},
		"PEM, SEC 1, its parameters too": {file("sec1.key", "sec1.pem"), "", "ec"},
	} {
		t.Run("a key is read from "+name, func(t *testing.T) {
			k, err := keep(name, c.text, c.password)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, cert := range k.Certificates[0].Chain {
				names = append(names, cert.Subject.CommonName)
			}
			if diff := cmp.Diff(c.chain, strings.Join(names, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, c := range map[string]struct {
		text     []byte
		password string
		want     string
	}{
		"a wrong password":          {file("own.p12"), "offen", "the password does not open it"},
		"an encrypted PEM":          {file("locked.key", "own.pem"), "", "openssl pkcs8"},
		"no key":                    {file("own.pem"), "", "no private key"},
		"two keys":                  {file("own.key", "ca.key"), "", "more than one private key"},
		"neither":                   {[]byte("hello"), "", "neither PEM nor PKCS#12"},
		"no certificate":            {file("own.key"), "", "needs its certificate"},
		"another's certificate":     {file("own.key", "sec1.pem"), "", "needs its certificate"},
		"a key that is too short":   {file("short.key", "short.pem"), "", "too short"},
		"a label that is in use":    {file("own.p12"), "geheim", "has a key"},
		"a key that is cut short":   {[]byte("-----BEGIN PRIVATE KEY-----\nMAAA\n-----END PRIVATE KEY-----\n"), "", "cannot be read"},
		"an issuer that is cut off": {append(file("own.key", "own.pem"), file("ca.pem")[:400]...), "", "1 of the 3 PEM blocks in it are cut short or damaged"},
		"a damaged one between":     {append(append(file("own.key"), []byte("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n")...), file("own.pem")...), "", "1 of the 3 PEM blocks"},
		"a certificate of nothing":  {append(file("own.key"), []byte("-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n")...), "", "cannot be read"},
	} {
		t.Run("what cannot be read is told: "+name, func(t *testing.T) {
			_, err := keep("PKCS#12", c.text, c.password)
			if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("an X25519 key is kept to be agreed with, and for nothing else", func(t *testing.T) {
		openssl(t, dir, "genpkey", "-algorithm", "X25519", "-out", "agree.key")
		openssl(t, dir, "pkey", "-in", "agree.key", "-pubout", "-out", "agree.pub")
		openssl(t, dir, "x509", "-new", "-force_pubkey", "agree.pub", "-subj", "/CN=agree", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-out", "agree.pem")
		openssl(t, dir, "pkcs12", "-export", "-inkey", "agree.key", "-in", "agree.pem", "-passout", "pass:geheim", "-out", "agree.p12")
		if _, err := keep("agree", file("agree.key", "agree.pem"), ""); !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "an X25519 key is for as4_decrypt alone, not for as2_sign") {
			t.Errorf("to sign with: %v", err)
		}
		for label, c := range map[string]struct {
			text     []byte
			password string
		}{"agree-pem": {file("ca.pem", "agree.key", "agree.pem"), ""}, "agree-p12": {file("agree.p12"), "geheim"}} {
			key, chain, err := keys.Read(c.text, c.password)
			if err != nil {
				t.Fatal(err)
			}
			if err := inTx(t, s, func(tx pgx.Tx) error {
				k, err := s.ImportTx(t.Context(), tx, keys.New{Organisation: "north", Label: label, Purposes: []string{keys.AS4Decrypt}, By: "anna"}, key, chain)
				if err == nil && k.Algorithm != "x25519" {
					t.Errorf("its algorithm is %s", k.Algorithm)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		list := ring(t, s).Decrypters("north", keys.AS4Decrypt, clock.Add(time.Minute))
		if len(list) != 2 {
			t.Fatal(list)
		}
		for _, k := range list {
			ours, ok := k.Signer.(keys.Agreement)
			if !ok {
				t.Fatalf("%T", k.Signer)
			}
			theirs, err := ecdh.X25519().GenerateKey(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			one, err := ours.ECDH(theirs.PublicKey())
			if err != nil {
				t.Fatal(err)
			}
			public, err := x509.ParsePKIXPublicKey(k.Certificates[0].Leaf().RawSubjectPublicKeyInfo)
			if err != nil {
				t.Fatal(err)
			}
			if other, err := theirs.ECDH(public.(*ecdh.PublicKey)); err != nil || !bytes.Equal(one, other) {
				t.Errorf("its certificate is of another key: %v", err)
			}
			if _, err := k.Sign(rand.Reader, make([]byte, 32), crypto.SHA256); err == nil {
				t.Error("it signs")
			}
		}
		if _, err := s.Request(t.Context(), "north", "agree-pem", pkix.Name{CommonName: "x"}); err == nil || !errors.Is(err, keys.ErrUnfit) {
			t.Errorf("a request: %v", err)
		}
		if err := inTx(t, s, func(tx pgx.Tx) error {
			chain, err := keys.ReadChain(file("agree.pem"))
			if err != nil {
				return err
			}
			_, err = s.CertifyTx(t.Context(), tx, keys.Certification{Organisation: "north", Label: "agree-pem", Chain: chain, By: "anna"})
			return err
		}); err != nil {
			t.Errorf("its certificate anew: %v", err)
		}
	})
	t.Run("a key gets the certificate that was issued for its request", func(t *testing.T) {
		create(t, s, "made", "rsa-2048", keys.AS2Sign)
		request, err := s.Request(t.Context(), "north", "made", pkix.Name{CommonName: "gateway.example"})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "made.csr"), request, 0o600); err != nil {
			t.Fatal(err)
		}
		openssl(t, dir, "req", "-in", "made.csr", "-verify", "-noout")
		openssl(t, dir, "x509", "-req", "-in", "made.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-out", "made.pem")
		certify := func(text []byte) error {
			chain, err := keys.ReadChain(text)
			if err != nil {
				return err
			}
			return inTx(t, s, func(tx pgx.Tx) error {
				_, err := s.CertifyTx(t.Context(), tx, keys.Certification{Organisation: "north", Label: "made", Chain: chain, By: "anna"})
				return err
			})
		}
		if err := certify(file("own.pem")); !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "is of another key") {
			t.Errorf("another's: %v", err)
		}
		if err := certify([]byte("hello")); !errors.Is(err, keys.ErrUnfit) {
			t.Errorf("none: %v", err)
		}
		if err := certify(file("made.pem", "ca.pem")); err != nil {
			t.Fatal(err)
		}
		k, err := ring(t, s).Signer("north", keys.AS2Sign, clock.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if k.Label != "made" || k.Chain[0].Issuer.CommonName != "ca" || len(k.Chain) != 2 {
			t.Errorf("%s, %v", k.Key, k.Chain[0].Issuer)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, block := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "CERTIFICATE"} {
		f.Add(pem.EncodeToMemory(&pem.Block{Type: block, Bytes: []byte{0x30, 0}}), "")
	}
	f.Add([]byte{0x30, 0x82, 0, 0}, "x")
	f.Fuzz(func(t *testing.T, text []byte, password string) {
		key, chain, err := keys.Read(text, password)
		if err != nil && !errors.Is(err, keys.ErrUnfit) || err == nil && key == nil {
			t.Fatalf("%v, %v, %v", key, chain, err)
		}
	})
}
