//go:build linux

package crash_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
	ourkeys "github.com/edigw/edigw/partners/keys"
)

// as4Site is a site whose partners send over AS4, signed and encrypted.
type as4Site struct {
	*site
	master string // environment of every gateway
	key    *rsa.PrivateKey
	cert   *x509.Certificate // all partners sign with it
	ours   *x509.Certificate
}

const as4Type = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"

func newAS4Site(t *testing.T, count int) *as4Site {
	t.Helper()
	s := &as4Site{site: newSite(t, count)}
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
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, s.key.Public(), s.key)
	if err != nil {
		t.Fatal(err)
	}
	if s.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	s.agree(t, count)
	return s
}

// agree gives every partner what it needs for AS4, and us a key.
func (s *as4Site) agree(t *testing.T, count int) {
	t.Helper()
	yaml := partnersYAML(count)
	for n := range count {
		id := partner{n: n + 1}.id()
		yaml = strings.Replace(yaml, "id: "+id+"\n", fmt.Sprintf("id: %s\nas4: {profile: edelivery-1.15, from: {id: %[1]s-ap, type: %q}, to: {id: north-ap, type: %[2]q}}\ncertificates: [{label: as4, purposes: [as4_sign], certificate: %q}]\n",
			id, as4Type, partners.EncodeCertificate(s.cert)), 1)
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
		k, err := ours.CreateTx(context.Background(), tx, ourkeys.New{Organisation: "north", Label: "as4", Purposes: []string{ourkeys.AS4Sign, ourkeys.AS4Decrypt}, Algorithm: "rsa-2048", Valid: 24 * time.Hour, By: "test"})
		if err == nil {
			s.ours = k.Certificates[0].Leaf()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *as4Site) start(t *testing.T, env ...string) *program {
	t.Helper()
	return start(t, s.url, append(env, "EDIGW_MASTER_KEY="+s.master)...)
}

// compose makes a message; at is its eb:Timestamp, so that two of them are signed
// over different headers.
func (s *as4Site) compose(t *testing.T, p partner, id, payload string, at time.Time) *as4.Composed {
	t.Helper()
	u := &as4.UserMessage{
		MessageInfo:   as4.MessageInfo{Timestamp: at, MessageID: id},
		From:          as4.Party{ID: p.id() + "-ap", Type: as4Type, Role: as4.InitiatorRole},
		To:            as4.Party{ID: "north-ap", Type: as4Type, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:edi", Action: "Deliver", ConversationID: "1"},
	}
	content := as4.Bytes([]byte(payload), "application/edifact")
	content.Compress = true
	c, err := as4.Compose(u, []as4.Payload{content}, &wssec.Signing{Key: s.key, Certificate: s.cert}, &wssec.Encrypting{Recipient: s.ours})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// push sends a message on a connection of its own. Without an error there is a
// receipt that names every reference of this very message, signed by us.
func (s *as4Site) push(to *program, c *as4.Composed) error {
	sender := as4.Sender{HTTP: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}}
	_, err := sender.Send(context.Background(), to.ingress+"/as4", c, []*x509.Certificate{s.ours})
	return err
}

// until pushes until there is a receipt. Every answer on the way must be one that
// says "try again".
func (s *as4Site) until(t *testing.T, to *program, c *as4.Composed) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		err := s.push(to, c)
		if err == nil {
			return
		}
		if refused := (*as4.Refused)(nil); !errors.As(err, &refused) || !refused.Again {
			t.Fatalf("neither a receipt nor \"try again\": %v", err)
		}
		if time.Now().After(end) {
			t.Fatalf("no receipt after %v: %v", patience, err)
		}
	}
}

func (s *as4Site) posted(t *testing.T, p partner, invoices int) {
	t.Helper()
	if rows := p.rows(t, s.pool); rows["document"] != invoices || rows["document_key"] != invoices {
		t.Errorf("posted %d documents with %d guards, want %d", rows["document"], rows["document_key"], invoices)
	}
	p.eachOnce(t, s.pool)
}

// TestKillAS4 kills a gateway at each point of a message. The sender has no receipt,
// and sends again: the same bytes, or signed anew under the same MessageId.
func TestKillAS4(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := append(append(append([]string{}, beforeCommit...), commitSent), afterCommit...)
	s := newAS4Site(t, len(points)**runs)
	second := s.start(t)
	for i, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				at := time.Now()
				c := s.compose(t, p, "m1", payload, at)
				first := s.start(t, "EDIGW_FAULT="+point+"=kill")
				err := s.push(first, c)
				first.killed(t)
				if err == nil {
					t.Fatal("a whole receipt came out of a killed process")
				}
				to := second
				if (i+n/2)%2 == 0 {
					to = s.start(t)
				}
				anew := s.compose(t, p, "m1", payload, at.Add(time.Minute))
				for _, again := range []*as4.Composed{[]*as4.Composed{c, anew}[(i+n)%2], c, anew} {
					s.until(t, to, again)
					s.posted(t, p, invoices)
				}
			})
		}
	}
	second.noPanic(t)
}

// TestCopiesAS4 sends one message many times at once, to two processes.
func TestCopiesAS4(t *testing.T) {
	t.Parallel()
	const invoices, copies = 3, 32
	s := newAS4Site(t, *runs)
	to := []*program{s.start(t), s.start(t)}
	for n := range *runs {
		run(t, fmt.Sprintf("32 copies over two processes have one effect, and a receipt each/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			at := time.Now()
			payload := p.interchange("REF1", numbers(invoices)...)
			same := s.compose(t, p, "m1", payload, at)
			var wg sync.WaitGroup
			for i := range copies {
				c := same
				if i%2 == 1 {
					c = s.compose(t, p, "m1", payload, at.Add(time.Duration(i)*time.Second))
				}
				wg.Go(func() {
					err := s.push(to[i/2%2], c)
					if refused := (*as4.Refused)(nil); err != nil && (!errors.As(err, &refused) || !refused.Again) {
						t.Errorf("copy %d: %v", i, err)
					}
				})
			}
			wg.Wait()
			s.until(t, to[0], same)
			s.until(t, to[1], same)
			s.posted(t, p, invoices)
		})
	}
	for _, p := range to {
		p.noPanic(t)
	}
}
