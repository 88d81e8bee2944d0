package as4_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
)

func TestProfiles(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	t.Run("edelivery-2.0: Ed25519 and key agreement, and a receipt that says the same", func(t *testing.T) {
		r := newRig(t, "profile: edelivery-2.0")
		r.ours = talquistEd() // any Ed25519 key of ours
		c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, signedBy(talquistEd()), encryptedTo(nordhafenEC()))
		if err != nil {
			t.Fatal(err)
		}
		r.received(c)
		r.received(c)
		if r.posted() != 1 {
			t.Errorf("%d documents", r.posted())
		}
		r.refused(r.compose(message("m2"), gzipped(text)), as4.PolicyNoncompliance) // by RSA, of 1.15
	})
	t.Run("edelivery-1.15 takes no Ed25519", func(t *testing.T) {
		r := newRig(t, "")
		c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, signedBy(talquistEd()), encryptedTo(nordhafen()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.PolicyNoncompliance)
	})
	t.Run("peppol: the agreement of the network, and its type of party", func(t *testing.T) {
		r := newRig(t, "profile: peppol\nfrom: {id: POP000001}\nservices: [{service: \"urn:fdc:peppol.eu:2017:poacc:billing:01:1.0\", type: cenbii-procid-ubl}]\n")
		peppol := func(agreement string) func(*as4.UserMessage) {
			return func(u *as4.UserMessage) {
				u.From.ID, u.From.Type = "POP000001", "urn:fdc:peppol.eu:2017:identifiers:ap"
				u.Collaboration = as4.CollaborationInfo{Agreement: as4.Agreement{Value: agreement}, Service: "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0", ServiceType: "cenbii-procid-ubl",
					Action: "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017::2.1", ConversationID: "1"}
				u.Properties = []as4.Property{{Name: "originalSender", Type: "iso6523-actorid-upis", Value: "0192:1"}, {Name: "finalRecipient", Type: "iso6523-actorid-upis", Value: "0192:2"}}
			}
		}
		r.received(r.compose(message("m1", peppol("urn:fdc:peppol.eu:2017:agreements:tia:ap_provider")), gzipped(text)))
		r.refused(r.compose(message("m2", peppol("")), gzipped(text)), as4.ProcessingModeMismatch)
	})
	t.Run("every form of naming our certificate is in the receipt as it is set", func(t *testing.T) {
		r := newRig(t, "")
		for i, form := range partners.AS4Tokens {
			r.settings("token: " + form)
			id := form + "@x"
			r.received(r.compose(message(id), gzipped(interchange(form[:3], "R-"+form, "1.00"))))
			if r.posted() != i+1 {
				t.Errorf("%s: %d documents", form, r.posted())
			}
		}
	})
	t.Run("every form of naming the partner's certificate is understood", func(t *testing.T) {
		r := newRig(t, "")
		for _, form := range partners.AS4Tokens {
			signing, encrypting := signedBy(talquist()), encryptedTo(nordhafen())
			signing.Token, encrypting.Token = as4.TokenForm(form), as4.TokenForm(form)
			c, err := as4.Compose(message(form), []as4.Payload{gzipped(interchange(form[:3], "R-"+form, "1.00"))}, signing, encrypting)
			if err != nil {
				t.Fatal(err)
			}
			r.received(c)
		}
	})
	t.Run("of our keys the one is used that goes with what is agreed, and by the algorithm that is", func(t *testing.T) {
		r := newRig(t, "")
		older, newer := rsaIdentity("nordhafen-rsa"), talquistEd()
		r.handler.Signers = func(context.Context, string) ([]*wssec.Signing, error) {
			return []*wssec.Signing{signedBy(newer), signedBy(older)}, nil
		}
		for i, c := range []struct {
			settings, method string
			signer           identity
			from             identity
			to               identity
		}{
			{"", wssec.RSASHA256, older, talquist(), nordhafen()},
			{"signatures: [rsa-sha512]", wssec.RSASHA512, older, talquist(), nordhafen()},
			{"signatures: [rsa-pss-sha256]", wssec.PSSSHA256, older, talquist(), nordhafen()},
			{"signatures: [rsa-pss-sha512]", wssec.PSSSHA512, older, talquist(), nordhafen()},
			{"profile: edelivery-2.0", wssec.EdDSAEd25519, newer, talquistEd(), nordhafenEC()},
		} {
			r.settings(c.settings)
			signing := signedBy(c.from)
			if signing.Signs(c.method) {
				signing.Method = c.method
			}
			composed, err := as4.Compose(message(fmt.Sprint("m", i)), []as4.Payload{gzipped(interchange(fmt.Sprint("REF", i), fmt.Sprint("R-", i), "1.00"))}, signing, encryptedTo(c.to))
			if err != nil {
				t.Fatal(err)
			}
			a, err := as4.Sender{}.Send(t.Context(), r.url, composed, []*x509.Certificate{older.cert, newer.cert})
			if err != nil || !a.Signer.Equal(c.signer.cert) || !strings.Contains(string(a.SOAP), `SignatureMethod Algorithm="`+c.method+`"`) {
				t.Errorf("%q: %v\n%s", c.settings, err, a.SOAP)
			}
		}
	})
	t.Run("RSASSA-PSS is for who agreed on it, and PKCS #1 v1.5 then is not", func(t *testing.T) {
		r := newRig(t, "")
		by := func(id, method string) *as4.Composed {
			signing := signedBy(talquist())
			signing.Method = method
			c, err := as4.Compose(message(id), []as4.Payload{gzipped(text)}, signing, encryptedTo(nordhafen()))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		r.refused(by("m1", wssec.PSSSHA256), as4.PolicyNoncompliance)
		r.settings("signatures: [rsa-pss-sha256]")
		r.refused(by("m2", wssec.RSASHA256), as4.PolicyNoncompliance)
		r.refused(by("m3", wssec.PSSSHA512), as4.PolicyNoncompliance)
		r.received(by("m4", wssec.PSSSHA256))
	})
	t.Run("a receipt is signed anew when our key changed, and is not the stored one", func(t *testing.T) {
		r := newRig(t, "")
		c := r.compose(message("m1"), gzipped(text))
		first := r.received(c)
		r.ours = rsaIdentity("nordhafen-2")
		again := r.received(c)
		if first.Signer.Equal(again.Signer) || r.posted() != 1 {
			t.Errorf("signed by %s, %d documents", again.Signer.Subject, r.posted())
		}
	})
	t.Run("without a key of ours a signed message is told to come again, and nothing is stored", func(t *testing.T) {
		r := newRig(t, "")
		r.handler.Signers = func(context.Context, string) ([]*wssec.Signing, error) { return nil, nil }
		if a := r.send(r.compose(message("m1"), gzipped(text))); a.codes() != as4.DeliveryFailure || a.Status != http.StatusServiceUnavailable || r.keys()+r.posted() != 0 {
			t.Errorf("%s, %d, %d keys", a.codes(), a.Status, r.keys())
		}
	})
	t.Run("unsigned: certificate takes a message from whoever shows one of the partner's", func(t *testing.T) {
		r := newRig(t, "unsigned: certificate\nunencrypted: accept\n---\nhttp: {credentials: any}\n")
		shown := talquist().cert
		r.handler.Client = func(*http.Request) (proxy.Client, error) {
			return proxy.Client{Address: "192.0.2.1", Certificate: shown}, nil
		}
		c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.FailedAuthentication) // it is not for tls_client
		r.handler.ByParties = func(from, fromType, to, toType string) *partners.Partner {
			p := *r.directory.ByAS4(from, fromType, to, toType)
			p.Certificates = []*partners.Certificate{{Label: "tls", Purposes: []string{partners.TLSClient}, X509: talquist().cert, AnyUsage: true}}
			return &p
		}
		if a, err := (as4.Sender{}).Send(t.Context(), r.url, c, nil); err != nil || !a.Receipt || r.posted() != 1 {
			t.Errorf("%v, %d documents", err, r.posted())
		}
		shown = mallory().cert
		r.refused(c, as4.FailedAuthentication)
	})
	t.Run("the partner's next certificate is taken beside the one before, and one that ended is not", func(t *testing.T) {
		r := newRig(t, "")
		c := r.compose(message("m1"), gzipped(text))
		by := r.handler.ByParties
		with := func(list ...*x509.Certificate) {
			r.handler.ByParties = func(from, fromType, to, toType string) *partners.Partner {
				p := *by(from, fromType, to, toType)
				p.Certificates = nil
				for _, cert := range list {
					p.Certificates = append(p.Certificates, &partners.Certificate{Label: cert.Subject.CommonName, Purposes: []string{partners.AS4Sign}, X509: cert})
				}
				return &p
			}
		}
		with(mallory().cert, talquist().cert)
		r.received(c)
		r.handler.ByParties = func(from, fromType, to, toType string) *partners.Partner {
			p := *by(from, fromType, to, toType)
			p.Certificates = []*partners.Certificate{{Label: "ended", Purposes: []string{partners.AS4Sign}, X509: talquist().cert, Until: time.Now().Add(-time.Minute)}}
			return &p
		}
		a := r.refused(c, as4.FailedAuthentication)
		if !strings.Contains(a.Signal.Errors[0].Detail, "expired-certificate") {
			t.Errorf("no word why: %s", a.Signal.Errors[0].Detail)
		}
	})
}
