package as2

import (
	"strings"
	"testing"

	"github.com/edigw/edigw/partners"
)

// TestSigner has a partner sign with both of its certificates, as during a roll-over.
func TestSigner(t *testing.T) {
	all := known()
	in := newIngress(t, func(p *partners.Partner) { p.Certificates = append(p.Certificates, certificate("next", all.renewed)) })
	for label, by := range map[string]*pair{"now": all.partner, "next": all.renewed, "curve": all.curve} {
		t.Run("the delivery and the log have which certificate it was: "+label, func(t *testing.T) {
			c, _ := wrap(t, Wrapping{Signature: signature(by)}, edifact, 0)
			if a := in.send(c); a.says() != "200 processed" {
				t.Fatalf("got %s", a.says())
			}
			if got := in.got[len(in.got)-1].Signer; got != label {
				t.Errorf("the delivery has %q", got)
			}
			if log := in.logged(); !strings.Contains(log, "signer="+label+" ") {
				t.Errorf("it is not in\n%s", log)
			}
		})
	}
	t.Run("what nobody of the partner's signed has none", func(t *testing.T) {
		c, _ := wrap(t, Wrapping{Signature: signature(all.stranger)}, edifact, 0)
		if a := in.send(c); a.says() != "200 processed/error: authentication-failed" || in.got[len(in.got)-1].Signer != "" {
			t.Errorf("got %s, signed by %q", a.says(), in.got[len(in.got)-1].Signer)
		}
	})
}
