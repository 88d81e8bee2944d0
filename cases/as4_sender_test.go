package cases_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
)

// accessPoint is somebody's key over AS4, of the kind that eDelivery AS4 1.15 has.
type accessPoint struct {
	key         *rsa.PrivateKey
	certificate *x509.Certificate
}

func newAccessPoint(name string) func() *accessPoint {
	return sync.OnceValue(func() *accessPoint {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		c, err := selfSigned(name, key)
		if err != nil {
			panic(err)
		}
		return &accessPoint{key, c}
	})
}

// The access points of the tests: the partner's, ours and somebody else's.
var (
	talquistAP = newAccessPoint("talquist-ap")
	oursAP     = newAccessPoint("nordhafen-ap")
	otherAP    = newAccessPoint("somebody else")
)

func (p *accessPoint) signing() *wssec.Signing {
	return &wssec.Signing{Key: p.key, Certificate: p.certificate}
}

// signedAS4 is talquist as one who signs and encrypts over AS4.
func signedAS4() string {
	return fmt.Sprintf(`as4:
  profile: edelivery-1.15
  from: {id: talquist-ap, type: %[1]q}
  to: {id: nordhafen-ap, type: %[1]q}
  services: [{service: "urn:example:edi", action: SubmitInterchange}]
certificates: [{label: now, certificate: %[2]q, purposes: [as4_sign, as4_encrypt]}]
`, unregistered, partners.EncodeCertificate(talquistAP().certificate))
}

// unregistered is the type of the party ids.
const unregistered = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"

// composeAS4 builds talquist's message of an id, signed by one and encrypted to another,
// where they are not nil.
func composeAS4(t testing.TB, id string, payload as4.Payload, by, to *accessPoint) *as4.Composed {
	t.Helper()
	u := &as4.UserMessage{
		MessageInfo:   as4.MessageInfo{Timestamp: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), MessageID: id + "@talquist.example"},
		From:          as4.Party{ID: "talquist-ap", Type: unregistered, Role: as4.InitiatorRole},
		To:            as4.Party{ID: "nordhafen-ap", Type: unregistered, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:example:edi", Action: "SubmitInterchange", ConversationID: "c1"},
	}
	var signing *wssec.Signing
	var encrypting *wssec.Encrypting
	if by != nil {
		signing = by.signing()
	}
	if to != nil {
		encrypting = &wssec.Encrypting{Recipient: to.certificate}
	}
	c, err := as4.Compose(u, []as4.Payload{payload}, signing, encrypting)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// zipped is a payload as eDelivery sends it.
func zipped(text string) as4.Payload {
	p := as4.Bytes([]byte(text), "application/edifact")
	p.Compress = true
	return p
}

// pushed sends a message as our own sender does, which holds a receipt against what was
// sent and our signature against our certificate.
func (r *rig) pushed(c *as4.Composed) reply {
	r.t.Helper()
	k := &kept{}
	told, err := as4.Sender{HTTP: &http.Client{Transport: k}}.Send(r.t.Context(), r.url+"/as4", c, []*x509.Certificate{oursAP().certificate})
	var refused *as4.Refused
	if err != nil && !errors.As(err, &refused) {
		r.t.Fatalf("its sender does not take the answer: %v\n%s", err, k.answer.Body)
	}
	if refused == nil && !told.Receipt {
		r.t.Fatalf("neither a receipt nor an error:\n%s", k.answer.Body)
	}
	return reply{k.answer.String(), []byte(k.answer.Body), k.retryAfter}
}

// kept keeps the answer as it came.
type kept struct {
	answer     rawAnswer
	retryAfter string
}

func (k *kept) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(w.Body)
	if err = errors.Join(err, w.Body.Close()); err != nil {
		return nil, err
	}
	k.answer = rawAnswer{w.StatusCode, w.Header.Get("Content-Type"), string(body)}
	k.retryAfter = w.Header.Get("Retry-After")
	w.Body = io.NopCloser(bytes.NewReader(body))
	return w, nil
}

// wire gives a message as it is posted, changed by pairs of old and new, each of which
// has to stand in it.
func wire(t testing.TB, c *as4.Composed, edit ...string) []byte {
	t.Helper()
	from := c.Body()
	body, err := io.ReadAll(from)
	if err = errors.Join(err, from.Close()); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edit); i += 2 {
		if !bytes.Contains(body, []byte(edit[i])) {
			t.Fatalf("the message holds no %q", edit[i])
		}
		body = bytes.Replace(body, []byte(edit[i]), []byte(edit[i+1]), 1)
	}
	return append(fmt.Appendf(nil, "POST /as4 HTTP/1.1\r\nHost: gw\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", c.ContentType, len(body)), body...)
}

// spoilt changes a byte of the last part of a message as it is posted: what is
// encrypted, where it is.
func spoilt(request []byte) []byte {
	text := string(request)
	end := strings.LastIndex(strings.TrimSuffix(text, "--\r\n"), "\r\n--")
	changed := []byte(text)
	changed[end-20] ^= 1
	return changed
}
