package as4_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// theirSide is an access point of the partner's: another gateway, whose partner we are.
type theirSide struct {
	handler  *as4.Handler
	url      string
	got      []string // payloads, each time
	keys     []string // transport keys
	bindings []string
	envelope string // of the last
	fail     error
}

// agreement is talquist as we have it, and as it has us.
func agreement(url string) (talquistOfOurs, oursOfTalquist *partners.Partner) {
	spec := partners.AS4DefaultsOf("edelivery-1.15")
	spec.From.ID, spec.From.Type, spec.To.ID, spec.To.Type = "talquist-ap", partyType, "nordhafen-ap", partyType
	spec.Agreement, spec.AgreementType, spec.URL = "", "", url
	spec.MPC = ""
	spec.Reply = partners.AS4Service{Service: "urn:answers", Action: "Acknowledge"}
	mirrored := spec
	mirrored.From, mirrored.To = spec.To, spec.From
	mirrored.From.Role, mirrored.To.Role = as4.InitiatorRole, as4.ResponderRole
	mirrored.Services = []partners.AS4Service{spec.Reply}
	pinned := func(c *x509.Certificate) []*partners.Certificate {
		return []*partners.Certificate{{Label: "x", Purposes: []string{partners.AS4Sign, partners.AS4Encrypt}, X509: c}}
	}
	return &partners.Partner{ID: "talquist", Active: true, Organisation: "nordhafen", AS4: &partners.AS4{AS4Spec: spec}, Certificates: pinned(talquist().cert)},
		&partners.Partner{ID: "nordhafen", Active: true, Organisation: "talquist", AS4: &partners.AS4{AS4Spec: mirrored}, Certificates: pinned(nordhafen().cert)}
}

func newTheirSide(t *testing.T) (*theirSide, *as4.Acknowledgements, *partners.Partner) {
	s := &theirSide{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	theirs, us := agreement(server.URL)
	s.url = server.URL
	s.handler = &as4.Handler{
		ByParties: func(from, fromType, to, toType string) *partners.Partner {
			if from != "nordhafen-ap" || to != "talquist-ap" || fromType != partyType || toType != partyType {
				return nil
			}
			return us
		},
		Signers: func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{signedBy(talquist())}, nil
		},
		Decrypters: func(context.Context, string) ([]wssec.DecryptionKey, error) {
			return []wssec.DecryptionKey{{Certificate: talquist().cert, Key: talquist().key}}, nil
		},
		Receive: func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
			if d.Fault != nil {
				return nil, d.Fault
			}
			b, err := d.Payload.Slice(0, d.Payload.Size())
			if err != nil {
				return nil, err
			}
			envelope := d.Evidence[0].Body
			text, err := envelope.Slice(0, envelope.Size())
			if err != nil {
				return nil, err
			}
			s.envelope = string(text)
			s.got, s.keys, s.bindings = append(s.got, string(b)), append(s.keys, d.TransportID), append(s.bindings, string(d.Binding))
			if s.fail != nil {
				return nil, s.fail
			}
			r := &gateway.Receipt{Items: []gateway.Item{{Answer: gateway.ToldAccepted}}}
			r.Rendered, err = d.Render(r)
			return r, err
		},
		Spool: &gateway.Spool{Dir: t.TempDir()}, Log: slog.New(slog.DiscardHandler),
	}
	return s, &as4.Acknowledgements{
		Partner: func(id string) *partners.Partner {
			if id == theirs.ID {
				return theirs
			}
			return nil
		},
		Signers: func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{signedBy(nordhafen())}, nil
		},
		Private: func(string) error { return nil }, Now: time.Now, Type: func(syntax string) string { return "application/test-" + syntax },
	}, theirs
}

func TestAcknowledgements(t *testing.T) {
	step := func(partner string) *outbox.Step {
		body, err := json.Marshal(outbox.AcknowledgementBody{Type: "CONTRL", Syntax: "edifact", Reference: "1", Content: "UNB+the CONTRL'"})
		if err != nil {
			t.Fatal(err)
		}
		return outbox.NewStep(outbox.Effect{Partner: partner, Event: uuid.MustParse("01a22c32-24d7-7726-a9df-2253aeb00000")}, outbox.Caused{Body: body, At: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, nil)
	}
	t.Run("a CONTRL is sent signed, encrypted and compressed, and its receipt is held against it", func(t *testing.T) {
		s, a, _ := newTheirSide(t)
		if err := a.Target().Send(t.Context(), step("talquist")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"UNB+the CONTRL'"}, s.got); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(s.envelope, ">application/test-edifact<") {
			t.Errorf("its media type is not in %s", s.envelope)
		}
	})
	t.Run("again it has the same MessageId and the same references, so that the stored receipt fits", func(t *testing.T) {
		s, a, _ := newTheirSide(t)
		for range 2 {
			if err := a.Target().Send(t.Context(), step("talquist")); err != nil {
				t.Fatal(err)
			}
		}
		if s.keys[0] != s.keys[1] || s.bindings[0] != s.bindings[1] || s.keys[0] != "as4:talquist-ap:01a22c32-24d7-7726-a9df-2253aeb00000@edigw" {
			t.Errorf("%v", s.keys)
		}
	})
	t.Run("without a receipt that fits it is not done, and comes again", func(t *testing.T) {
		for name, spoil := range map[string]func(*theirSide, *as4.Acknowledgements, *partners.Partner){
			"the partner asks to come again": func(s *theirSide, _ *as4.Acknowledgements, _ *partners.Partner) { s.fail = errors.New("down") },
			"we have no key": func(_ *theirSide, a *as4.Acknowledgements, _ *partners.Partner) {
				a.Signers = func(context.Context, string) ([]*wssec.Signing, error) { return nil, nil }
			},
			"it may not be sent there": func(_ *theirSide, a *as4.Acknowledgements, _ *partners.Partner) {
				a.Private = func(string) error { return errors.New("guarded") }
			},
			"the partner left AS4":       func(_ *theirSide, _ *as4.Acknowledgements, p *partners.Partner) { p.AS4 = nil },
			"its certificate is not one": func(_ *theirSide, _ *as4.Acknowledgements, p *partners.Partner) { p.Certificates = nil },
		} {
			s, a, p := newTheirSide(t)
			spoil(s, a, p)
			if err := a.Target().Send(t.Context(), step("talquist")); !errors.Is(err, outbox.ErrNotDone) {
				t.Errorf("%s: %v", name, err)
			}
		}
		s, a, _ := newTheirSide(t)
		s.handler.Signers = func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{signedBy(mallory())}, nil
		}
		if err := a.Target().Send(t.Context(), step("talquist")); !errors.Is(err, as4.ErrInvalidReceipt) || errors.Is(err, outbox.ErrNotDone) || errors.Is(err, outbox.ErrFinal) {
			t.Errorf("its receipt is signed by somebody else, and it may have arrived: %v", err)
		}
		if err := a.Target().Send(t.Context(), step("nobody")); !errors.Is(err, outbox.ErrNotDone) {
			t.Errorf("an unknown partner: %v", err)
		}
	})
}

// errorSignal is an answer with these eb:Error elements, which names no message.
func errorSignal(errs string) string {
	return `<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope"><S12:Header><eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-29T10:15:00Z</eb:Timestamp><eb:MessageId>s1</eb:MessageId></eb:MessageInfo>` + errs + `</eb:SignalMessage></eb:Messaging></S12:Header><S12:Body/></S12:Envelope>`
}

// answering is a receiver that says what a test wants it to.
func answering(t *testing.T, status int, contentType, body string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		if _, err := w.Write([]byte(body)); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestSenderHoldsReceiptsAgainstWhatWasSent(t *testing.T) {
	r := newRig(t, "")
	c := r.compose(message("m1"), gzipped(interchange("REF1", "R-1", "1.00")))
	good := string(r.received(c).body)
	other := r.compose(message("m2"), gzipped(interchange("REF2", "R-2", "1.00")))
	errs := func(severity, code string) string {
		return errorSignal(`<eb:Error errorCode="` + code + `" severity="` + severity + `"/>`)
	}
	for _, k := range []struct {
		name, kind, body string
		status           int
		c                *as4.Composed
		is               error  // nil: a receipt
		says             string // of the error
	}{
		{"the receipt", "application/soap+xml", good, 200, c, nil, ""},
		{"the receipt in one part of multipart/related, its id without brackets", `multipart/related; type="application/soap+xml"; start=root; boundary=b`, "--b\r\nContent-Type: application/soap+xml\r\nContent-ID: root\r\n\r\n" + good + "\r\n--b--", 200, c, nil, ""},
		{"the receipt of another message", "application/soap+xml", good, 200, other, as4.ErrInvalidReceipt, "another message"},
		{"a receipt whose digests were changed", "application/soap+xml", strings.Replace(good, "<ds:DigestValue>", "<ds:DigestValue>A", 1), 200, c, as4.ErrInvalidReceipt, ""},
		{"a receipt that was changed elsewhere", "application/soap+xml", strings.Replace(good, "<eb:MessageId>", "<eb:MessageId>x", 1), 200, c, as4.ErrInvalidReceipt, "signature"},
		{"an unsigned receipt", "application/soap+xml", unsecured(good), 200, c, as4.ErrInvalidReceipt, "signature"},
		{"a warning", "application/soap+xml", errs("warning", "EBMS:0006"), 200, c, as4.ErrMissingReceipt, "warnings"},
		{"an empty response", "", "", 202, c, as4.ErrMissingReceipt, "202"},
		{"a page of a proxy", "text/html", "<html>", 502, c, as4.ErrMissingReceipt, "502"},
	} {
		t.Run(k.name, func(t *testing.T) {
			_, err := as4.Sender{}.Send(t.Context(), answering(t, k.status, k.kind, k.body), k.c, []*x509.Certificate{nordhafen().cert})
			if !errors.Is(err, k.is) || err != nil && !strings.Contains(err.Error(), k.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a receipt signed with SHA-1 is taken of whom that is agreed with, and of nobody else", func(t *testing.T) {
		old := bySHA1(t, good, nordhafen())
		for sha1, want := range map[bool]error{true: nil, false: as4.ErrInvalidReceipt} {
			_, err := as4.Sender{SHA1: sha1}.Send(t.Context(), answering(t, 200, "application/soap+xml", old), c, []*x509.Certificate{nordhafen().cert})
			if !errors.Is(err, want) {
				t.Errorf("SHA-1 agreed: %v: %v", sha1, err)
			}
		}
	})
	t.Run("errors refuse the message; those of the moment ask to come again", func(t *testing.T) {
		for code, again := range map[string]bool{"EBMS:0004": false, "EBMS:0101": false, "EBMS:0005": true, "EBMS:0201": true, "EBMS:0202": true} {
			_, err := as4.Sender{}.Send(t.Context(), answering(t, 200, "application/soap+xml", errs("failure", code)), c, nil)
			if refused := (*as4.Refused)(nil); !errors.As(err, &refused) || refused.Again != again || refused.Errors[0].Code != code {
				t.Errorf("%s: %v", code, err)
			}
		}
	})
}

// unsecured takes the Security header out.
func unsecured(soap string) string {
	from, to := strings.Index(soap, "<wsse:Security"), strings.Index(soap, "</wsse:Security>")
	return soap[:from] + soap[to+len("</wsse:Security>"):]
}

// bySHA1 signs an envelope anew by rsa-sha1.
func bySHA1(t *testing.T, soap string, by identity) string {
	t.Helper()
	soap = strings.Replace(soap, wssec.RSASHA256, "http://www.w3.org/2000/09/xmldsig#rsa-sha1", 1)
	doc, err := infoset.Parse([]byte(soap), infoset.Header)
	if err != nil {
		t.Fatal(err)
	}
	method, err := c14n.New(c14n.Exclusive, "")
	if err != nil {
		t.Fatal(err)
	}
	h := crypto.SHA1.New()
	if err := method.Element(h, doc.FindElement("//SignedInfo")); err != nil {
		t.Fatal(err)
	}
	value, err := by.key.Sign(nil, h.Sum(nil), crypto.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(soap, "<ds:SignatureValue>")
	_, after, _ := strings.Cut(rest, "</ds:SignatureValue>")
	return before + "<ds:SignatureValue>" + base64.StdEncoding.EncodeToString(value) + "</ds:SignatureValue>" + after
}
