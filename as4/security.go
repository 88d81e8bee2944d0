package as4

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// proved is what is known of a message once its security was looked at: each
// element and part is the very one that the signature covers.
type proved struct {
	messaging  *etree.Element
	parts      []wssec.Part      // decrypted, in the order in which they came
	references []wssec.Reference // of the signature; none of a message that is not signed
	signer     string            // label of the certificate that made it
}

// authenticate settles who sent a message, before anything of it is taken in: a
// signature of the partner's over its header and Body, or none where that is agreed.
// Whether it covers the parts is not looked at yet.
func (h *Handler) authenticate(p *partners.Partner, env *wssec.Envelope, parts int, shown *x509.Certificate) error {
	now := h.now()
	if env.Security != nil {
		if err := expired(env.Security, now); err != nil {
			return err
		}
	}
	if !isSigned(env) {
		return unsigned(p, env, parts, shown, now)
	}
	if err := env.Authenticate(verification(p, now)); err != nil {
		return securityFault(err)
	}
	return nil
}

// secure decrypts and verifies a message whose sender is authenticated. What is not as
// agreed is an *Error.
func (h *Handler) secure(ctx context.Context, p *partners.Partner, env *wssec.Envelope, attachments []*attachment) (*proved, error) {
	parts := make([]wssec.Part, len(attachments))
	for i, a := range attachments {
		parts[i] = wssec.Part{ContentID: a.id, MimeType: a.name, SignedType: a.signed, Open: opener(a.spooled.Payload)}
	}
	if env.Security == nil {
		return &proved{messaging: env.Messaging, parts: parts}, nil
	}
	d := wssec.Decryption{Required: p.AS4.Unencrypted != partners.AS4Accept && len(parts) > 0, CBC: p.AS4.CBC == partners.AS4Accept}
	if encrypted(env.Security) {
		var err error
		if d.Keys, err = h.Decrypters(ctx, p.Organisation); err != nil {
			return nil, fmt.Errorf("keys to decrypt with: %w", err)
		}
		if len(d.Keys) == 0 { // the sender has a certificate of ours, and cannot know
			return nil, fmt.Errorf("a message is encrypted, and organisation %s has no key for as4_decrypt that holds now; `edigw keys create` makes one", p.Organisation)
		}
	}
	decrypted, err := env.Decrypt(parts, d)
	if err != nil {
		return nil, securityFault(err)
	}
	if !isSigned(env) {
		return &proved{messaging: env.Messaging, parts: decrypted}, nil
	}
	s, err := env.Verify(decrypted, verification(p, h.now()))
	if err != nil {
		return nil, securityFault(err)
	}
	if err := mayBeSignedBy(p.AS4, s.Method); err != nil {
		return nil, err
	}
	signer, err := p.Recognises(s.Certificate, partners.AS4Sign, h.now())
	if err != nil { // it was taken a moment ago
		return nil, &Error{Code: FailedAuthentication, Detail: "the certificate of the signature does not hold any more: " + partners.WhyNot(err), Cause: err}
	}
	return &proved{messaging: s.Messaging, parts: s.Parts, references: s.References, signer: signer.Label}, nil
}

func isSigned(env *wssec.Envelope) bool {
	return env.Security != nil && len(infoset.Children(env.Security, infoset.Name{Space: nsDSIG, Local: "Signature"})) > 0
}

func verification(p *partners.Partner, now time.Time) wssec.Verification {
	return wssec.Verification{Signer: signerOf(p, now), MinRSA: p.FewestRSA(partners.AS4Sign), SHA1: p.AS4.SHA1 == partners.AS4Accept, UnsignedBody: p.AS4.UnsignedBody == partners.AS4Accept}
}

// opener reads a part from its beginning.
func opener(p *edi.Payload) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(p.Reader(0, p.Size())), nil }
}

// unsigned takes a message without a signature where that is agreed.
func unsigned(p *partners.Partner, env *wssec.Envelope, parts int, shown *x509.Certificate, now time.Time) error {
	switch p.AS4.Unsigned {
	case partners.AS4Accept:
	case partners.AS4ByTLS:
		if shown == nil {
			return faulty(PolicyNoncompliance, "the message is not signed, and the connection showed no client certificate")
		}
		if _, err := p.Recognises(shown, partners.TLSClient, now); err != nil {
			return &Error{Code: FailedAuthentication, Reason: partners.WhyNot(err), Detail: "the message is not signed, and the client certificate of the connection is not one of the partner's", Cause: err}
		}
	default:
		return faulty(PolicyNoncompliance, "the message is not signed")
	}
	if p.AS4.Unencrypted != partners.AS4Accept && env.Security == nil && parts > 0 {
		return faulty(PolicyNoncompliance, "the parts of the message are not encrypted")
	}
	return nil
}

// encrypted reports whether anything is encrypted to somebody.
func encrypted(security *etree.Element) bool {
	const xenc = "http://www.w3.org/2001/04/xmlenc#"
	return len(infoset.Children(security, infoset.Name{Space: xenc, Local: "EncryptedKey"})) > 0 || len(infoset.Children(security, infoset.Name{Space: xenc, Local: "EncryptedData"})) > 0
}

// signerOf finds which of the partner's certificates a token names. It has to be one
// that is configured and that holds now; its issuer does not matter.
func signerOf(p *partners.Partner, now time.Time) func(wssec.Token) (*x509.Certificate, error) {
	return func(t wssec.Token) (*x509.Certificate, error) {
		if t.Certificate != nil {
			if _, err := p.Recognises(t.Certificate, partners.AS4Sign, now); err != nil {
				return nil, fmt.Errorf("the certificate %s, %.120q, is not taken for this partner: %s", partners.Fingerprint(t.Certificate), t.Certificate.Subject.String(), partners.WhyNot(err))
			}
			return t.Certificate, nil
		}
		// A name is no proof that a certificate is meant: all that may have signed are
		// asked, and the signature is verified with the one that has the name.
		var usable []*x509.Certificate
		for _, c := range p.CertificatesFor(partners.AS4Sign, now) {
			usable = append(usable, c.X509)
		}
		return wssec.Pinned(usable...)(t)
	}
}

// skew is how far the clocks of the two sides may be apart.
const skew = 5 * time.Minute

// expired looks at a wsu:Timestamp, which AS4 does not ask for: WSS 1.1 §10.
func expired(security *etree.Element, now time.Time) error {
	for _, stamp := range infoset.Children(security, infoset.Name{Space: nsWSU, Local: "Timestamp"}) {
		for _, e := range infoset.Children(stamp, infoset.Name{Space: nsWSU, Local: "Expires"}) {
			text, err := infoset.Text(e)
			if err != nil {
				return faulty(InvalidHeader, "wsu:Expires holds elements")
			}
			t, err := time.Parse(time.RFC3339, strings.Trim(text, linearSpace))
			if err != nil {
				return faulty(InvalidHeader, "wsu:Expires is not a time: %.40q", text)
			}
			if now.After(t.Add(skew)) {
				return faulty(PolicyNoncompliance, "the message expired at %s, and it is %s; compare the clocks", t.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

// securityFault gives a fault of the message's security its code: AS4 profile §5,
// core §6.7.2.
func securityFault(err error) error {
	var f *wssec.Fault
	if !errors.As(err, &f) {
		return err // a part could not be read again: ours
	}
	e := &Error{Detail: f.Detail, Cause: f.Err}
	switch f.Reason {
	case wssec.Unauthenticated:
		e.Code = FailedAuthentication
	case wssec.Undecryptable:
		e.Code = FailedDecryption
	case wssec.NonCompliant:
		e.Code = PolicyNoncompliance
	default:
		e.Code = InvalidHeader
	}
	return e
}
