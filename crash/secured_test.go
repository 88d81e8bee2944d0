//go:build linux

package crash_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
	ourkeys "github.com/edigw/edigw/partners/keys"
)

// secured is a site whose partners sign what they send, all with one key, and whose
// gateways have a key of their own.
type secured struct {
	*site
	master string // environment of every gateway
	key    *rsa.PrivateKey
	cert   *x509.Certificate // of key
	ours   *x509.Certificate
}

// agreement is what the organisation and each partner have beside the usual: lines of
// their YAML.
type agreement struct {
	organisation string
	partner      func(p partner, certificate string) string
	purposes     []string // of our key
}

// newSecured connects that many partners who agreed.
func newSecured(t *testing.T, count int, agreed agreement) *secured {
	t.Helper()
	s := &secured{site: newSite(t, count)}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	s.master = base64.StdEncoding.EncodeToString(secret)
	var err error
	if s.key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partner"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0)} // nobody is told that it ends soon
	der, err := x509.CreateCertificate(rand.Reader, of, of, s.key.Public(), s.key)
	if err != nil {
		t.Fatal(err)
	}
	if s.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	s.agree(t, count, agreed)
	return s
}

// agree gives every partner what it needs, and us a key.
func (s *secured) agree(t *testing.T, count int, agreed agreement) {
	t.Helper()
	yaml := strings.Replace(partnersYAML(count), "id: north\n", "id: north\n"+agreed.organisation, 1)
	for n := range count {
		p := partner{n: n + 1}
		yaml = strings.Replace(yaml, "id: "+p.id()+"\n", "id: "+p.id()+"\n"+agreed.partner(p, partners.EncodeCertificate(s.cert)), 1)
	}
	specs, err := partners.Reader{}.Read("", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	master, err := ourkeys.ParseMaster(s.master)
	if err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(context.Background(), s.pool, func(tx pgx.Tx) error {
		store := partners.Store{Pool: s.pool}
		if _, err := store.Apply(context.Background(), tx, specs); err != nil {
			return err
		}
		ours := ourkeys.Store{Pool: s.pool, Master: master}
		k, err := ours.CreateTx(context.Background(), tx, ourkeys.New{Organisation: "north", Label: "ours", Purposes: agreed.purposes, Algorithm: "rsa-2048", Valid: 365 * 24 * time.Hour, By: "test"})
		if err == nil {
			s.ours = k.Certificates[0].Leaf()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *secured) start(t *testing.T, env ...string) *program {
	t.Helper()
	return s.startOn(t, s.url, env...)
}

// startOn starts a gateway that reaches the database at another address.
func (s *secured) startOn(t *testing.T, database string, env ...string) *program {
	t.Helper()
	return start(t, database, append(env, "EDIGW_MASTER_KEY="+s.master)...)
}
