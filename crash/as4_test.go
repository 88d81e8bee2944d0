//go:build linux

package crash_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/journal"
	ourkeys "github.com/edigw/edigw/partners/keys"
)

// as4Site is a site whose partners send over AS4, signed and encrypted.
type as4Site struct{ *secured }

const as4Type = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"

func newAS4Site(t *testing.T, count int) *as4Site {
	t.Helper()
	return &as4Site{newSecured(t, count, agreement{purposes: []string{ourkeys.AS4Sign, ourkeys.AS4Decrypt}, partner: func(p partner, certificate string) string {
		return fmt.Sprintf("as4: {profile: edelivery-1.15, from: {id: %s-ap, type: %q}, to: {id: north-ap, type: %[2]q}}\ncertificates: [{label: as4, purposes: [as4_sign], certificate: %[3]q}]\n",
			p.id(), as4Type, certificate)
	}})}
}

// push sends a message on a connection of its own, which ends with ctx. Without an
// error there is a receipt that names every reference of this very message, signed by
// us; its bytes are given.
func (s *as4Site) push(ctx context.Context, to *program, c *as4.Composed) ([]byte, error) {
	sender := as4.Sender{HTTP: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}}
	a, err := sender.Send(ctx, to.ingress+"/as4", c, []*x509.Certificate{s.ours})
	if err != nil {
		return nil, err
	}
	return a.SOAP, nil
}

// saysAgain tells whether the answer is one that says "try again": signed or not, an
// EBMS:0202 that is no acknowledgement.
func saysAgain(err error) bool {
	refused := (*as4.Refused)(nil)
	return errors.As(err, &refused) && refused.Again
}

// tryAgain pushes and expects to be told to come again.
func (s *as4Site) tryAgain(t *testing.T, to *program, c *as4.Composed) {
	t.Helper()
	if _, err := s.push(t.Context(), to, c); !saysAgain(err) {
		t.Errorf("not \"try again\": %v", err)
	}
}

// until pushes until there is a receipt, and gives it. Every answer on the way must be
// one that says "try again".
func (s *as4Site) until(t *testing.T, to *program, c *as4.Composed) []byte {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		receipt, err := s.push(t.Context(), to, c)
		if err == nil {
			return receipt
		}
		if !saysAgain(err) {
			t.Fatalf("neither a receipt nor \"try again\": %v", err)
		}
		if time.Now().After(end) {
			t.Fatalf("no receipt after %v: %v", patience, err)
		}
	}
}

// again retries as partners do: the same bytes, and signed anew under the same
// MessageId, anewFirst or after. Each has a receipt, and all have one effect. The same
// bytes have the receipt that is stored, if one was when the retries began.
func (s *as4Site) again(t *testing.T, to *program, m *as4Message, anewFirst bool) {
	t.Helper()
	stored := m.from.receipt(t, s.pool, m.id)
	retries := []*as4.Composed{m.composed, m.anew(t), m.composed}
	if anewFirst {
		retries[0], retries[1] = retries[1], retries[0]
	}
	var same []byte
	for _, c := range retries {
		receipt := s.until(t, to, c)
		s.once(t, m)
		if c != m.composed {
			continue
		}
		if stored != "" && string(receipt) != stored {
			t.Errorf("not the stored receipt (-stored +answer):\n%s", cmp.Diff(stored, string(receipt)))
		}
		if anewFirst && stored == "" {
			continue // what is stored is bound to another signature: rendered afresh
		}
		if same != nil && string(receipt) != string(same) {
			t.Errorf("the same bytes have two receipts:\n%s", cmp.Diff(string(same), string(receipt)))
		}
		same = receipt
	}
}

// once checks that a message had its effect once, in every table: beside what any
// delivery leaves there is its proof, the envelope and the part as it was signed.
func (s *as4Site) once(t *testing.T, m *as4Message) {
	t.Helper()
	want := effect(m.invoices, true)
	want["evidence"], want["payload"] = 2, 1+len(m.payload)/journal.ChunkSize
	if diff := cmp.Diff(want, m.from.rows(t, s.pool)); diff != "" {
		t.Errorf("not one effect (-want +got):\n%s", diff)
	}
	m.from.eachOnce(t, s.pool)
}

// as4Message is a message of an interchange that can be signed anew.
type as4Message struct {
	site     *as4Site
	from     partner
	id       string
	invoices int
	payload  string
	plain    bool // not compressed
	times    int  // it was signed
	composed *as4.Composed
}

// message makes the message m1 of an interchange with so many invoices.
func (s *as4Site) message(t *testing.T, p partner, invoices int) *as4Message {
	t.Helper()
	m := &as4Message{site: s, from: p, id: "m1", invoices: invoices, payload: p.interchange("REF1", numbers(invoices)...)}
	m.composed = m.anew(t)
	return m
}

// anew composes it another time, with another eb:Timestamp, so that no two are signed
// over the same header.
func (m *as4Message) anew(t *testing.T) *as4.Composed {
	t.Helper()
	m.times++
	u := &as4.UserMessage{
		MessageInfo:   as4.MessageInfo{Timestamp: time.Now().Add(time.Duration(m.times) * time.Second), MessageID: m.id},
		From:          as4.Party{ID: m.from.id() + "-ap", Type: as4Type, Role: as4.InitiatorRole},
		To:            as4.Party{ID: "north-ap", Type: as4Type, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:edi", Action: "Deliver", ConversationID: "1"},
	}
	content := as4.Bytes([]byte(m.payload), "application/edifact")
	content.Compress = !m.plain
	c, err := as4.Compose(u, []as4.Payload{content}, &wssec.Signing{Key: m.site.key, Certificate: m.site.cert}, &wssec.Encrypting{Recipient: m.site.ours})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
