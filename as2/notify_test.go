package as2

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// TestNotifications are MDNs that come by themselves, over a connection of the partner's.
func TestNotifications(t *testing.T) {
	id := uuid.MustParse("01980000-0000-7000-8000-000000000001")
	// awaiting is an acknowledgement that the partner took, whose MDN is to come.
	awaiting := func(t *testing.T, change ...func(*partners.AS2Send)) (a *Acknowledgements, p *partners.Partner, settled *[]error, sentMIC MIC) {
		t.Helper()
		in := theirs(t)
		settled = &[]error{}
		in.partner.AS2.MDNHosts = []string{"edi.nordhafen.example"}
		p = sendsTo(in.url, append([]func(*partners.AS2Send){func(s *partners.AS2Send) { s.MDNTo = "https://edi.nordhafen.example/as2" }}, change...)...)
		body := outbox.AcknowledgementBody{Type: "CONTRL", Syntax: "edifact", Reference: "7", Content: string(contrl.Content)}
		step := func() *outbox.Step {
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			return outbox.NewStep(outbox.Effect{Partner: p.ID, Event: id, Target: outbox.AcknowledgementAS2, State: outbox.Started}, outbox.Caused{Body: text}, nil)
		}
		a = &Acknowledgements{Sender: sender(), Type: func(string) string { return "application/EDIFACT" }, Partner: func(string) *partners.Partner { return p },
			Expect: func(_ context.Context, _ *outbox.Step, checks []string) error {
				if len(in.got) > 0 {
					t.Error("it was sent before it was noted what its MDN has to say")
				}
				body.Checks = checks
				return nil
			},
			Find: func(_ context.Context, r outbox.EffectRef) (*outbox.Step, error) {
				if r != (outbox.EffectRef{Partner: p.ID, Event: id, Target: outbox.AcknowledgementAS2}) {
					return nil, nil
				}
				return step(), nil
			},
			Settle: func(_ context.Context, _ *outbox.Step, said error) error {
				*settled = append(*settled, said)
				return nil
			}}
		err := a.Target().Send(context.Background(), step())
		if later, ok := errors.AsType[*outbox.Later](err); !ok || later.In != mdnWait || !errors.Is(err, ErrAwaited) {
			t.Fatalf("got %v", err)
		}
		if e := in.got[0].Elsewhere; e == nil || e.Address != p.AS2.Send.MDNTo {
			t.Fatalf("the partner was asked for an MDN to %+v", e)
		}
		mic, err := ParseMIC(body.Checks[0])
		if err != nil {
			t.Fatal(err)
		}
		return a, p, settled, mic
	}
	// comes posts an MDN of the partner's to us, signed by of, nil for not.
	comes := func(t *testing.T, a *Acknowledgements, p *partners.Partner, m MDN, of *cms.Signature) (string, *ingress) {
		t.Helper()
		in := newIngress(t)
		p.Active = true
		in.ByName, in.Notify = func(string, string) *partners.Partner { return p }, a.Notify
		r, err := m.Render(of)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.send(Composed{ContentType: r.ContentType, Body: r.Body}, "Disposition-Notification-To: -"); of == nil || of.Key == known().partner.key {
			if got.status != http.StatusOK || len(in.got) != 0 {
				t.Errorf("it is told %d %s", got.status, got.body)
			}
		}
		return in.logged(), in
	}
	ours := "<" + id.String() + "@edigw>"
	for name, c := range map[string]struct {
		of    func(MIC) MDN
		want  error // that the step ends by; errNone: it does not end
		says  string
		plain bool // not signed
	}{
		"the right one ends it": {func(c MIC) MDN { return MDN{Original: ours, Disposition: processed, MIC: c} }, nil, "an MDN came", false},
		"without brackets, and in another spelling": {func(c MIC) MDN {
			return MDN{Original: ours[1 : len(ours)-1], Disposition: processed, MIC: MIC{c.Digest, "SHA256"}}
		}, nil, "an MDN came", false},
		"a negative one of the content is final": {func(c MIC) MDN {
			return MDN{Original: ours, Disposition: Disposition{"processed", "error: decompression-failed"}}
		}, outbox.ErrFinal, "decompression-failed", false},
		"one without a reason is told so": {func(c MIC) MDN {
			return MDN{Original: ours, Disposition: Disposition{"processed", "error: unexpected-processing-error"}}
		}, outbox.ErrUnexplained, "unexpected-processing-error", false},
		"a door is noted, and it is sent again": {func(c MIC) MDN {
			return MDN{Original: ours, Disposition: Disposition{"processed", "error: decryption-failed"}}
		}, ErrShut, "decryption-failed", false},
		"the check of another content is final": {func(MIC) MDN {
			return MDN{Original: ours, Disposition: processed, MIC: MIC{make([]byte, 32), "sha256"}}
		}, outbox.ErrFinal, "it arrived as something else", false},
		"a right one that is not signed proves nothing": {func(c MIC) MDN { return MDN{Original: ours, Disposition: processed, MIC: c} }, ErrUnproven, "it is not signed", true},
		"a negative one that is not signed ends nothing": {func(MIC) MDN {
			return MDN{Original: ours, Disposition: Disposition{"processed", "error: authentication-failed"}}
		}, ErrUnproven, "it is not signed", true},
		"one without a check proves nothing":              {func(MIC) MDN { return MDN{Original: ours, Disposition: processed} }, ErrUnproven, "no Received-content-MIC", false},
		"one of a message that is not ours is waited for": {func(c MIC) MDN { return MDN{Original: "<x@edigw>", Disposition: processed, MIC: c} }, errNone, "nobody waits for", false},
		"nor is one of another message of ours": {func(c MIC) MDN {
			return MDN{Original: "<01980000-0000-7000-8000-000000000002@edigw>", Disposition: processed, MIC: c}
		}, errNone, "nobody waits for", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, p, settled, mic := awaiting(t)
			of := signature(known().partner)
			if c.plain {
				of = nil
			}
			log, _ := comes(t, a, p, c.of(mic), of)
			if !strings.Contains(log, c.says) {
				t.Errorf("the log says %s", log)
			}
			switch {
			case c.want == errNone:
				if len(*settled) != 0 {
					t.Errorf("it ended by %v", *settled)
				}
			case len(*settled) != 1 || !errors.Is((*settled)[0], c.want) || (c.want == ErrUnproven || c.want == ErrShut) && (errors.Is((*settled)[0], outbox.ErrFinal) || errors.Is((*settled)[0], outbox.ErrUnexplained)):
				t.Errorf("it ended by %v, want %v", *settled, c.want)
			}
		})
	}
	t.Run("those that end nothing are counted, and little of what they say is logged", func(t *testing.T) {
		a, p, _, mic := awaiting(t)
		in := newIngress(t)
		registry := prometheus.NewRegistry()
		metrics, err := gateway.NewMetrics(registry, "test")
		if err != nil {
			t.Fatal(err)
		}
		p.Active = true
		in.ByName, in.Notify, in.Metrics = func(string, string) *partners.Partner { return p }, a.Notify, metrics
		long := strings.Repeat("x", 5000)
		for _, m := range []MDN{{Original: "<" + long + "@edigw>", Disposition: Disposition{"processed", "error: " + long}}, {Original: "<2@edigw>", Disposition: processed}, {Original: ours, Disposition: processed, MIC: mic}, {Original: ours, Disposition: Disposition{"failed", long}}} {
			r, err := m.Render(nil)
			if err != nil {
				t.Fatal(err)
			}
			in.send(Composed{ContentType: r.ContentType, Body: r.Body}, "Disposition-Notification-To: -")
		}
		for _, line := range strings.Split(strings.TrimSpace(in.logged()), "\n") {
			if len(line) > 1200 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
		if diff := cmp.Diff(map[string]float64{"unawaited-mdn": 2, "unproven-mdn": 2}, rejections(t, registry)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("one that somebody else signed is a fault, and ends nothing", func(t *testing.T) {
		a, p, settled, mic := awaiting(t)
		_, in := comes(t, a, p, MDN{Original: ours, Disposition: processed, MIC: mic}, signature(known().stranger))
		if len(*settled) != 0 || len(in.got) != 1 || in.got[0].Fault == nil || in.got[0].Fault.Reason != authenticationFailed {
			t.Errorf("%v, %+v", *settled, in.got)
		}
	})
	t.Run("where unsigned ones were asked for, they count", func(t *testing.T) {
		a, p, settled, mic := awaiting(t, func(s *partners.AS2Send) { s.MDN = "unsigned" })
		comes(t, a, p, MDN{Original: ours, Disposition: processed, MIC: mic}, nil)
		if diff := cmp.Diff([]error{nil}, *settled); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an MDN that comes in the response all the same is taken", func(t *testing.T) {
		var mic MIC
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				t.Error(err)
			}
			rendered, err := MDN{Original: ours, Disposition: processed, MIC: mic}.Render(signature(known().partner))
			if err != nil {
				t.Error(err)
			}
			if err := write(w, rendered); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		o := contrl
		o.MessageID, o.Expect = ours, func(checks []MIC) error { mic = checks[0]; return nil }
		if _, err := sender().Send(context.Background(), sendsTo(server.URL, func(s *partners.AS2Send) { s.MDNTo = "https://edi.nordhafen.example/as2" }), o); err != nil {
			t.Error(err)
		}
	})
	t.Run("what cannot be noted is not sent", func(t *testing.T) {
		in := theirs(t)
		o := contrl
		o.Expect = func([]MIC) error { return errors.New("the database is away") }
		if _, err := sender().Send(context.Background(), sendsTo(in.url, func(s *partners.AS2Send) { s.MDNTo = "https://edi.nordhafen.example/as2" }), o); err == nil || len(in.got) != 0 {
			t.Errorf("%v, %d were sent", err, len(in.got))
		}
	})
}

// rejections are those that were counted of talquist, by reason.
func rejections(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if f.GetName() == "edigw_rejections_total" && labels["partner"] == "talquist" && labels["transport"] == Transport {
				got[labels["reason"]] = m.GetCounter().GetValue()
			}
		}
	}
	return got
}

// errNone marks that nothing ends.
var errNone = errors.New("none")

// TestCompressedMIC is what is compressed and not signed: products disagree about over what
// its check is.
func TestCompressedMIC(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		w := Wrapping{Compress: true}
		if encrypted {
			w.Envelope = envelope(known().us)
		}
		c, checks, err := w.wrap(edifact, crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]MIC{partners.AS2MICOfEntity: checks[0], partners.AS2MICOfBody: checks[1], partners.AS2MICOfCompressed: checks[3]}
		if encrypted { // its header is known
			want[partners.AS2MICOfCompressed] = checks[2]
		}
		for _, setting := range append([]string{""}, partners.AS2CompressedMICs...) {
			t.Run("it is over what the partner's settings say: "+setting, func(t *testing.T) {
				in := newIngress(t, unsigned, func(p *partners.Partner) { p.AS2.CompressedMIC = setting })
				sent := c
				sent.Body = bytes.Clone(c.Body)
				a := in.send(sent, "Disposition-Notification-Options: signed-receipt-micalg=optional, sha-256")
				expected, ok := want[setting]
				if !ok {
					expected = checks[0]
				}
				if a.says() != "200 processed" || !a.report.MIC.Equal(expected) {
					t.Errorf("got %s %s, want %s", a.says(), a.report.MIC, expected)
				}
			})
		}
		t.Run("of what we send, each of them is taken", func(t *testing.T) {
			for _, setting := range partners.AS2CompressedMICs {
				in := theirs(t)
				in.partner.AS2.CompressedMIC = setting
				sent, err := sender().Send(context.Background(), sendsTo(in.url, func(s *partners.AS2Send) {
					s.Signature, s.Compression = "none", true
					if !encrypted {
						s.Encryption = "none"
					}
				}), contrl)
				if err != nil {
					t.Errorf("%s: %+v, %v", setting, sent, err)
				}
			}
		})
	}
	t.Run("a signed one has one check, whatever the settings say", func(t *testing.T) {
		in := newIngress(t, func(p *partners.Partner) { p.AS2.CompressedMIC = partners.AS2MICOfBody })
		c, mic := wrap(t, Wrapping{Compress: true, Signature: signature(known().partner)}, edifact, 0)
		if a := in.send(c); !a.report.MIC.Equal(mic) {
			t.Errorf("got %s, want %s", a.report.MIC, mic)
		}
	})
}

// TestPSS is RSASSA-PSS: what partners sign by it is taken, and what we sign is by it where
// their settings say so.
func TestPSS(t *testing.T) {
	t.Run("MDNs", func(t *testing.T) {
		for _, pss := range []bool{false, true} {
			in := newIngress(t, func(p *partners.Partner) { p.AS2.PSS = pss })
			s := signature(known().partner)
			s.PSS = true
			c, _ := wrap(t, Wrapping{Signature: s}, edifact, 0)
			a := in.send(c, signedMDN)
			if a.says() != "200 signed processed" {
				t.Fatalf("got %s", a.says())
			}
			if schemeOf(t, a.header.Get("Content-Type"), a.body) != map[bool]cms.Scheme{false: cms.RSAPKCS1, true: cms.RSAPSS}[pss] {
				t.Errorf("with pss %v it is by another scheme", pss)
			}
		}
	})
	t.Run("what we send", func(t *testing.T) {
		var got cms.Scheme
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got = schemeOf(t, r.Header.Get("Content-Type"), body)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		t.Cleanup(server.Close)
		for want, pss := range map[cms.Scheme]bool{cms.RSAPSS: true, cms.RSAPKCS1: false} {
			p := sendsTo(server.URL, func(s *partners.AS2Send) { s.Encryption = "none" })
			p.AS2.PSS = pss
			if _, err := sender().Send(context.Background(), p, contrl); err == nil || got != want {
				t.Errorf("%s, %v", got, err)
			}
		}
	})
	t.Run("an MDN by the other scheme is tied to something else", func(t *testing.T) {
		o := &opened{partner: rules(), m: &Opened{}}
		before := o.binding()
		o.partner.AS2.PSS = true
		if bytes.Equal(before, o.binding()) {
			t.Error("it is given as it was stored")
		}
	})
}

// schemeOf reads the signature of a multipart/signed.
func schemeOf(t *testing.T, kind string, body []byte) cms.Scheme {
	t.Helper()
	m, err := outerEntity(http.Header{"Content-Type": {kind}}, body).Multipart()
	if err != nil || len(m.Parts) != 2 {
		t.Fatalf("%v in %s", err, body)
	}
	der, err := (&opening{Opener: &Opener{}}).undress(m.Parts[1])
	if err != nil {
		t.Fatal(err)
	}
	s, err := cms.ParseSigned(der, cms.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := cms.CertificateOf(known().us.x509)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Verify(cms.InMemory(m.Parts[0].Raw), []*cms.Certificate{ours}, cms.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return v.Scheme
}
