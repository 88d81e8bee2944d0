package as2

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// theirs is the partner's own system, which is one of ours: it gets what we send.
func theirs(t *testing.T) *ingress {
	in := newIngress(t)
	in.partner = &partners.Partner{ID: "nordhafen", Active: true, Organisation: "talquist", Certificates: []*partners.Certificate{certificate("us", known().us)},
		AS2: partners.AS2{OldAlgorithms: []string{"3des", "sha1"}}}
	in.ByName = func(from, to string) *partners.Partner {
		if from == `Nordhafen "Port" AS2` && to == "TALQUIST-AS2" {
			return in.partner
		}
		return nil
	}
	in.Keys = func(context.Context, string, Purpose) ([]Key, error) {
		return []Key{{Label: "theirs", Private: known().partner.key, Certificates: []*x509.Certificate{known().partner.x509}}}, nil
	}
	return in
}

// sendsTo is the partner as we have him.
func sendsTo(url string, change ...func(*partners.AS2Send)) *partners.Partner {
	p := rules()
	p.Certificates = append(p.Certificates, &partners.Certificate{Label: "encrypt", Purposes: []string{partners.AS2Encrypt}, X509: known().partner.x509})
	p.AS2.Send = partners.AS2Send{URL: url, From: `Nordhafen "Port" AS2`, To: "TALQUIST-AS2", Signature: "sha256", Encryption: "aes128-cbc", KeyEncryption: "rsa-pkcs1", MDN: "signed"}
	for _, c := range change {
		c(&p.AS2.Send)
	}
	return p
}

func sender() *Sender {
	return &Sender{Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Now: func() time.Time { return noon },
		Keys: func(context.Context, string, Purpose) ([]Key, error) {
			return []Key{{Label: "ours", Private: known().us.key, Certificates: []*x509.Certificate{known().us.x509}}}, nil
		}}
}

var contrl = Outgoing{MessageID: "1@edigw", Type: "application/EDIFACT", Filename: `a "b".edi`, Subject: "CONTRL", Content: []byte("UNB+UNOC:3+B+A+261129:1015+7'UNZ+0+7'")}

func TestSend(t *testing.T) {
	for _, signature := range []string{"sha256", "sha512", "sha1", "none"} {
		for _, encryption := range []string{"aes128-cbc", "aes256-gcm", "3des", "none"} {
			for _, compression := range []bool{true, false} {
				for _, mdn := range []string{"signed", "unsigned", "none"} {
					name := fmt.Sprintf("signed %s, encrypted %s, compressed %v, MDN %s", signature, encryption, compression, mdn)
					t.Run("what is sent arrives, and its MDN is right: "+name, func(t *testing.T) {
						in := theirs(t)
						sent, err := sender().Send(context.Background(), sendsTo(in.url, func(s *partners.AS2Send) {
							s.Signature, s.Encryption, s.Compression, s.MDN = signature, encryption, compression, mdn
							if encryption == "aes256-gcm" {
								s.KeyEncryption = "rsa-oaep"
							}
						}), contrl)
						if err != nil {
							t.Fatal(err)
						}
						if in.payloads[0] != string(contrl.Content) || in.got[0].TransportID != "as2:TALQUIST-AS2:1@edigw" || in.got[0].Filename != "a _b_.edi" {
							t.Errorf("got %q, %+v", in.payloads, in.got[0])
						}
						if (sent.Notification == nil) != (mdn == "none") || sent.Signed != (mdn == "signed") {
							t.Errorf("got %+v", sent)
						}
						if sent.Notification != nil && !sent.Notification.MIC.Equal(sent.MIC) {
							t.Errorf("the check is %s, want %s", sent.Notification.MIC, sent.MIC)
						}
					})
				}
			}
		}
	}
	for name, c := range map[string]struct {
		in   func(*ingress)
		p    func(*partners.Partner)
		want error // nil: it may be tried again
		text string
	}{
		"a negative MDN may give no reason": {func(in *ingress) { in.answer = gateway.ToldRejected }, nil, ErrUnexplained, "unexpected-processing-error It is not as it should be. BGM is missing."},
		"403 is a door that may open":       {func(in *ingress) { in.UnknownBy403 = true }, func(p *partners.Partner) { p.AS2.Send.From = "X" }, nil, "answered 403"},
		"503 is not":                        {func(in *ingress) { in.fails = gateway.ErrBusy }, nil, nil, "answered 503"},
		"an MDN signed by somebody else":    {nil, func(p *partners.Partner) { p.Certificates = p.Certificates[1:] }, ErrUnproven, "authentication-failed"},
		"an unsigned MDN where a signed one was asked for": {func(in *ingress) {
			in.Keys = func(_ context.Context, _ string, purpose Purpose) ([]Key, error) {
				if purpose == ForSigning {
					return nil, nil
				}
				return []Key{{Label: "theirs", Private: known().partner.key, Certificates: []*x509.Certificate{known().partner.x509}}}, nil
			}
		}, nil, ErrUnproven, "not signed"},
		"no address":                   {nil, func(p *partners.Partner) { p.AS2.Send.URL = "" }, ErrNotConfigured, "as2.send.url"},
		"no certificate to encrypt to": {nil, func(p *partners.Partner) { p.Certificates = p.Certificates[:1] }, ErrNotConfigured, "as2_encrypt"},
	} {
		t.Run(name, func(t *testing.T) {
			in := theirs(t)
			if c.in != nil {
				c.in(in)
			}
			p := sendsTo(in.url)
			if c.p != nil {
				c.p(p)
			}
			_, err := sender().Send(context.Background(), p, contrl)
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %v", err)
			}
			for _, of := range []error{ErrRefused, ErrUnexplained, ErrShut, ErrLost, ErrUnproven, ErrNotConfigured} {
				if errors.Is(err, of) != (of == c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
		})
	}
	answering := func(t *testing.T, m MDN) (*Sent, error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			r, err := m.Render(signature(known().partner))
			if err != nil {
				t.Error(err)
			}
			if err := write(w, r); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		return sender().Send(context.Background(), sendsTo(server.URL), contrl)
	}
	negative := func(modifier string) MDN {
		return MDN{Original: "<1@edigw>", Disposition: Disposition{"processed", modifier}}
	}
	for name, c := range map[string]struct {
		m    MDN
		want error
	}{
		"a negative MDN of the content is for good":   {negative("error: decompression-failed"), ErrRefused},
		"one of a name is a door":                     {negative("error: unknown-trading-partner"), ErrShut},
		"so is one of a signature":                    {negative("error: authentication-failed"), ErrShut},
		"so is one of a signature's digest":           {negative("error: integrity-check-failed"), ErrShut},
		"so is one of a key":                          {negative("error: decryption-failed"), ErrShut},
		"so is one of what was agreed on":             {negative("error: insufficient-message-security"), ErrShut},
		"so is a failure":                             {MDN{Original: "<1@edigw>", Disposition: Disposition{"failed", "failure: unsupported format"}}, ErrShut},
		"a word of the partner's own gives no reason": {negative("error: duplicate-document"), ErrUnexplained},
		"nor does none":                               {MDN{Original: "<1@edigw>", Disposition: Disposition{Kind: "failed"}}, ErrUnexplained},
		"a negative MDN of no message":                {MDN{Disposition: Disposition{"processed", "error: decompression-failed"}}, ErrUnproven},
		"the MDN of another message":                  {MDN{Original: "<2@edigw>", Disposition: processed}, ErrUnproven},
		"an MDN without a check":                      {MDN{Original: "<1@edigw>", Disposition: processed}, ErrUnproven},
		"an MDN with the check of another content":    {MDN{Original: "1@edigw", Disposition: processed, MIC: MIC{make([]byte, 32), "sha256"}}, ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			if sent, err := answering(t, c.m); !errors.Is(err, c.want) || sent.Notification == nil {
				t.Errorf("got %+v, %v", sent, err)
			}
		})
	}
	t.Run("no connection", func(t *testing.T) {
		if _, err := sender().Send(context.Background(), sendsTo("http://127.0.0.1:1/"), contrl); err == nil || errors.Is(err, ErrRefused) || errors.Is(err, ErrUnproven) || errors.Is(err, ErrLost) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a connection that ends before the answer, and a server that is lost behind a proxy, may have it", func(t *testing.T) {
		for status, want := range map[int]bool{0: true, 500: true, 502: true, 400: false, 422: false, 503: false} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(status)
			}))
			t.Cleanup(server.Close)
			if _, err := sender().Send(context.Background(), sendsTo(server.URL), contrl); err == nil || errors.Is(err, ErrLost) != want || errors.Is(err, ErrRefused) {
				t.Errorf("%d: %v", status, err)
			}
		}
	})
	t.Run("a negative MDN that is not signed proves nothing where a signed one was asked for", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			r, err := negative("error: decompression-failed").Render(nil)
			if err != nil {
				t.Error(err)
			}
			if err := write(w, r); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		for mdn, want := range map[string]error{"signed": ErrUnproven, "unsigned": ErrRefused} {
			if _, err := sender().Send(context.Background(), sendsTo(server.URL, func(s *partners.AS2Send) { s.MDN = mdn }), contrl); !errors.Is(err, want) {
				t.Errorf("%s: %v", mdn, err)
			}
		}
	})
}

func TestAcknowledgements(t *testing.T) {
	in := theirs(t)
	a := &Acknowledgements{Sender: sender(), Type: func(string) string { return "application/EDIFACT" }, Partner: func(id string) *partners.Partner {
		if id == "talquist" {
			return sendsTo(in.url)
		}
		return nil
	}}
	id := uuid.MustParse("01980000-0000-7000-8000-000000000001")
	body, err := json.Marshal(outbox.AcknowledgementBody{Type: "CONTRL", Syntax: "edifact", Reference: "7", Content: string(contrl.Content)})
	if err != nil {
		t.Fatal(err)
	}
	send := func(partner string) error {
		return a.Target().Send(context.Background(), outbox.NewStep(outbox.Effect{Partner: partner, Event: id}, outbox.Caused{Body: body}, nil))
	}
	t.Run("each try has the same Message-ID", func(t *testing.T) {
		for range 2 {
			if err := send("talquist"); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range in.got {
			if d.TransportID != "as2:TALQUIST-AS2:01980000-0000-7000-8000-000000000001@edigw" || d.Filename != "CONTRL-7.edi" {
				t.Errorf("got %s, %s", d.TransportID, d.Filename)
			}
		}
	})
	t.Run("what is refused without a reason is told so, and what did not arrive is not done", func(t *testing.T) {
		in.answer = gateway.ToldRejected
		if err := send("talquist"); !errors.Is(err, outbox.ErrUnexplained) || errors.Is(err, outbox.ErrFinal) {
			t.Errorf("got %v", err)
		}
		in.fails = gateway.ErrBusy
		if err := send("talquist"); !errors.Is(err, outbox.ErrNotDone) {
			t.Errorf("got %v", err)
		}
		if err := send("nobody"); !errors.Is(err, outbox.ErrNotDone) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what each answer tells of an acknowledgement", func(t *testing.T) {
		for err, want := range map[error]outbox.Ending{ErrRefused: outbox.Refused, ErrUnexplained: outbox.Unexplained, ErrShut: outbox.TryOn,
			ErrUnproven: outbox.Lost, ErrLost: outbox.Lost, ErrNotConfigured: outbox.TryOn, errors.New("answered 400"): outbox.TryOn} {
			if got := ending(fmt.Errorf("%w: as it was", err)); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	})
}
