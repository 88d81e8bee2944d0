package as2

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestTry(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*partners.Partner)
		keys   bool
		answer gateway.Answer
		want   Tried
		steps  string
	}{
		"as it should be": {nil, true, gateway.ToldAccepted, Tried{Disposition: "processed", Signed: true, Sound: true},
			`signed as it would be, with SHA-256|encrypted with AES to our certificate|answered with an MDN that is signed by our key "ours"|its check is that of what was sent`},
		"without CBC":    {func(p *partners.Partner) { p.AS2.EncryptionNeeded, p.AS2.CBCRefused = true, true }, true, gateway.ToldAccepted, Tried{Disposition: "processed", Signed: true, Sound: true}, "signed|encrypted|answered|its check is that"},
		"refused":        {nil, true, gateway.ToldRejected, Tried{Disposition: "processed/error: unexpected-processing-error", Signed: true, Errors: []string{"It is not as it should be.", "BGM is missing."}}, "signed|encrypted|answered|its check is that"},
		"we have no key": {func(p *partners.Partner) { p.AS2.EncryptionNeeded = true }, false, gateway.ToldAccepted, Tried{Disposition: "processed/error: insufficient-message-security", Errors: []string{"The message is not encrypted, and has to be."}}, "signed|not encrypted: we have no key for as2_decrypt|answered with an MDN that is not signed|its check is that"},
		"try again":      {nil, true, gateway.ToldTryAgain, Tried{}, "signed|encrypted|told 503"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newIngress(t)
			in.answer = c.answer
			if !c.keys {
				in.Keys = func(context.Context, string, Purpose) ([]Key, error) { return nil, nil }
			}
			p := rules()
			if c.change != nil {
				c.change(p)
			}
			got, err := in.Try(t.Context(), p, "NORDHAFEN-AS2", edifact.Body, in.receive)
			if err != nil {
				t.Fatal(err)
			}
			steps := strings.Split(c.steps, "|")
			if len(steps) != len(got.Steps) {
				t.Fatalf("got %q", got.Steps)
			}
			for i, s := range steps {
				if !strings.HasPrefix(got.Steps[i], s) {
					t.Errorf("step %d is %q, want %q", i+1, got.Steps[i], s)
				}
			}
			got.Steps = nil
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Error(diff)
			}
			if len(in.got) > 0 && (in.payloads[0] != string(edifact.Body) || in.got[0].Partner != p) {
				t.Errorf("received was %q for %+v", in.payloads[0], in.got[0].Partner)
			}
		})
	}
	t.Run("without names there is nothing to try", func(t *testing.T) {
		if _, err := newIngress(t).Try(t.Context(), rules(), "", edifact.Body, nil); err == nil {
			t.Error("it was tried")
		}
	})
}
