package as2

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestRefuse(t *testing.T) {
	all := known()
	t.Run("every fault has its disposition, signed where that is asked for, and is received as a fault", func(t *testing.T) {
		bad, _ := wrap(t, Wrapping{Signature: signature(all.partner)}, edifact, 0)
		bad.Body = bytes.Replace(bad.Body, []byte("UNB"), []byte("UNX"), 1)
		foreign, _ := wrap(t, Wrapping{Signature: signature(all.stranger)}, edifact, 0)
		other, _ := wrap(t, Wrapping{Signature: signature(all.partner), Envelope: envelope(all.other)}, edifact, 0)
		squeezed, _ := wrap(t, Wrapping{Compress: true}, edifact, crypto.SHA256)
		squeezed.Body = squeezed.Body[:len(squeezed.Body)-9]
		hollow, _ := wrap(t, Wrapping{Signature: signature(all.partner)}, Composed{ContentType: "application/EDIFACT"}, 0)
		for name, c := range map[string]struct {
			c      Composed
			want   string
			answer gateway.Answer
		}{
			integrityFailed:      {bad, "error: integrity-check-failed", gateway.ToldFaulty},
			authenticationFailed: {foreign, "error: authentication-failed", gateway.ToldUnproven},
			decryptionFailed:     {other, "error: decryption-failed", gateway.ToldFaulty},
			decompressionFailed:  {squeezed, "error: decompression-failed", gateway.ToldFaulty},
			insufficientSecurity: {edifact, "error: insufficient-message-security", gateway.ToldFaulty},
			unexpected:           {Composed{ContentType: "multipart/mixed; boundary=b", Body: []byte("x")}, "error: unexpected-processing-error", gateway.ToldFaulty},
			empty:                {Composed{ContentType: "application/EDIFACT", Body: []byte("\r\n")}, "error: unexpected-processing-error", gateway.ToldEmpty},
			"empty ":             {hollow, "error: unexpected-processing-error", gateway.ToldEmpty},
		} {
			t.Run(name, func(t *testing.T) {
				in := newIngress(t)
				a := in.send(c.c, signedMDN)
				if want := "200 signed processed/" + c.want; a.says() != want {
					t.Fatalf("got %s, want %s", a.says(), want)
				}
				d := in.got[0]
				if d.Fault == nil || d.Fault.Reason != strings.TrimSpace(name) || d.Fault.Answer != c.answer || in.payloads[0] != string(c.c.Body) {
					t.Errorf("got %+v, %q", d.Fault, in.payloads[0])
				}
				if len(a.report.Errors) != 1 || a.report.Errors[0] != d.Fault.Detail {
					t.Errorf("got %v, want %s", a.report.Errors, d.Fault.Detail)
				}
				unsigned := in.send(c.c)
				if want := "200 processed/" + c.want; unsigned.says() != want {
					t.Errorf("got %s, want %s", unsigned.says(), want)
				}
				none := in.send(c.c, "Disposition-Notification-To: -")
				if none.status < 400 || none.status >= 500 || none.report != nil {
					t.Errorf("without an MDN it is told %d", none.status)
				}
				for i, told := range []int{a.status, unsigned.status, none.status} {
					if d := in.got[i]; d.Refusal(d.Fault) != told {
						t.Errorf("the journal has %d, and %d was told", d.Refusal(d.Fault), told)
					}
				}
			})
		}
	})
	t.Run("who sends to itself", func(t *testing.T) {
		in := newIngress(t)
		if a := in.send(edifact, "AS2-To: TALQUIST-AS2"); a.says() != "200 failed/failure: sender-equals-receiver" {
			t.Errorf("got %s", a.says())
		}
	})
	t.Run("strangers are told one thing, and nothing of them is received", func(t *testing.T) {
		in := newIngress(t)
		var bodies []string
		for _, fields := range [][]string{{"AS2-From: NOBODY"}, {"AS2-To: NOBODY"}, {"AS2-From: talquist-as2"}} {
			a := in.send(edifact, append(fields, signedMDN, "Receipt-Delivery-Option: https://as2.talquist.example/")...)
			if a.says() != "200 processed/error: unknown-trading-partner" {
				t.Errorf("%v: got %s", fields, a.says())
			}
			body := strings.NewReplacer("NOBODY", "X", "TALQUIST-AS2", "X", "talquist-as2", "X", "NORDHAFEN-AS2", "X", entity.ParseValue(a.header.Get("Content-Type")).Get("boundary"), "B").Replace(string(a.body))
			bodies = append(bodies, body)
			none := in.send(edifact, append(fields, "Disposition-Notification-To: -")...)
			if none.status != http.StatusForbidden {
				t.Errorf("%v: got %d", fields, none.status)
			}
		}
		in.partner.Active = false
		a := in.send(edifact)
		bodies = append(bodies, strings.NewReplacer("TALQUIST-AS2", "X", "NORDHAFEN-AS2", "X", entity.ParseValue(a.header.Get("Content-Type")).Get("boundary"), "B").Replace(string(a.body)))
		for _, b := range bodies[1:] {
			if diff := cmp.Diff(bodies[0], b); diff != "" {
				t.Error(diff)
			}
		}
		if len(in.got) != 0 {
			t.Errorf("%d were received", len(in.got))
		}
		in.UnknownBy403 = true
		if a := in.send(edifact, "AS2-From: NOBODY"); a.status != http.StatusForbidden || a.report != nil {
			t.Errorf("by setting: got %s", a.says())
		}
	})
	t.Run("no names, or none that can be one, are 400", func(t *testing.T) {
		in := newIngress(t)
		for _, fields := range [][]string{{"AS2-From: -"}, {"AS2-To: -"}, {`AS2-From: ""`}, {"AS2-To: " + strings.Repeat("x", 129)}} {
			if a := in.send(edifact, fields...); a.status != http.StatusBadRequest || !bytes.Contains(a.body, []byte("RFC 4130 §6.2")) {
				t.Errorf("%.30v: got %d %s", fields, a.status, a.body)
			}
		}
	})
	t.Run("what is ours is 503 with a time to come again, and no MDN", func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(*ingress)
		}{
			"the first copy is still running": {func(in *ingress) { in.fails = gateway.ErrBusy }},
			"the partner has its share here": {func(in *ingress) {
				in.Admit = func(*partners.Partner, string) (*gateway.Entry, bool) { return nil, false }
			}},
			"the database is away":         {func(in *ingress) { in.fails = errors.New("connection refused") }},
			"something is dead, try again": {func(in *ingress) { in.answer = gateway.ToldTryAgain }},
			"our keys cannot be read": {func(in *ingress) {
				in.Keys = func(context.Context, string, Purpose) ([]Key, error) { return nil, errors.New("no master key") }
			}},
		} {
			in := newIngress(t, unsigned)
			c.change(in)
			a := in.send(edifact, signedMDN)
			if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || len(a.body) != 0 {
				t.Errorf("%s: got %d %s", name, a.status, a.body)
			}
		}
	})
	t.Run("no key of ours to decrypt with is not the sender's to mend: he comes again", func(t *testing.T) {
		in := newIngress(t)
		of := in.Keys
		in.Keys = func(ctx context.Context, organisation string, purpose Purpose) ([]Key, error) {
			if purpose == ForDecryption {
				return nil, nil
			}
			return of(ctx, organisation, purpose)
		}
		c, _ := wrap(t, Wrapping{Signature: signature(all.partner), Envelope: envelope(all.us)}, edifact, 0)
		if a := in.send(c, signedMDN); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || len(a.body) != 0 || len(in.got) != 0 {
			t.Errorf("got %d %s, and %d were received", a.status, a.body, len(in.got))
		}
		if want := "has no key for as2_decrypt that holds now; `edigw keys create` makes one"; !strings.Contains(in.logged(), want) {
			t.Errorf("%q is not in\n%s", want, in.logged())
		}
		in.Keys = of
		if a := in.send(c, signedMDN); a.says() != "200 signed processed" {
			t.Errorf("with the key: got %s", a.says())
		}
	})
	t.Run("a large copy of a running message is refused unread", func(t *testing.T) {
		in := newIngress(t, unsigned)
		in.Reserve = func(string, string) (func(), bool) { return nil, false }
		a := in.send(Composed{ContentType: "application/EDIFACT", Body: bytes.Repeat([]byte("x"), 2<<20)})
		if a.status != http.StatusServiceUnavailable || len(in.got) != 0 {
			t.Errorf("got %d", a.status)
		}
	})
	t.Run("what is too large is 413", func(t *testing.T) {
		in := newIngress(t, unsigned)
		in.Limits = Limits{MaxBody: 1 << 20, MaxOpened: 1 << 10}
		if a := in.send(Composed{ContentType: "application/EDIFACT", Body: make([]byte, 1<<20+1)}); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d", a.status)
		}
		if a := in.send(Composed{ContentType: "application/pkcs7-mime", Body: make([]byte, 1<<10+1)}); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d", a.status)
		}
	})
	t.Run("what the table refuses says why and where", func(t *testing.T) {
		in := newIngress(t, unsigned)
		in.answer = gateway.ToldRejected
		a := in.send(edifact)
		want := []string{"It is not as it should be.", "BGM is missing."}
		if a.says() != "200 processed/error: unexpected-processing-error" {
			t.Errorf("got %s", a.says())
		}
		if diff := cmp.Diff(want, a.report.Errors); diff != "" {
			t.Error(diff)
		}
		if a.report.MIC.Digest == nil {
			t.Error("there is no check")
		}
		in.answer = gateway.ToldDrift
		if a := in.send(edifact); a.says() != "200 processed/error: unexpected-processing-error" {
			t.Errorf("got %s", a.says())
		}
		in.answer = gateway.ToldSenderNotAllowed
		if a := in.send(edifact); a.says() != "200 processed/error: authentication-failed" {
			t.Errorf("got %s", a.says())
		}
	})
	t.Run("a refusal goes later where its MDN is wanted later", func(t *testing.T) {
		in := newIngress(t, func(p *partners.Partner) { p.AS2.MDNHosts = []string{"as2.talquist.example"} })
		a := in.send(edifact, "Receipt-Delivery-Option: https://as2.talquist.example/mdn")
		if a.status != http.StatusNoContent || in.got[0].Elsewhere == nil || in.got[0].Refusal(in.got[0].Fault) != a.status {
			t.Errorf("got %s", a.says())
		}
		r, err := in.got[0].Render(&gateway.Receipt{})
		if err != nil || !bytes.Contains(r.Body, []byte("insufficient-message-security")) {
			t.Errorf("%v, %s", err, r.Body)
		}
		if a := in.send(edifact, "Receipt-Delivery-Option: https://evil.example/mdn"); a.says() != "200 processed/error: insufficient-message-security" || in.got[1].Elsewhere != nil {
			t.Errorf("got %s", a.says())
		}
		in.capped = true
		if a := in.send(edifact, "Receipt-Delivery-Option: https://as2.talquist.example/mdn"); a.says() != "200 processed/error: insufficient-message-security" {
			t.Errorf("beyond the cap: got %s", a.says())
		}
	})
}
