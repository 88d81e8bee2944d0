package as4

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
)

// unknownSender is what whoever is not known is told, whatever it is that is not
// known: no stranger learns which names there are.
func unknownSender() *Error {
	return &Error{Code: ValueInconsistent, Reason: "unknown-sender",
		Detail: "no agreement is known for the eb:From and eb:To of this message; compare their ids and types with what was agreed"}
}

// sender finds the partner that the message claims to come from. Nothing is proved
// yet.
func (h *Handler) sender(from, to Party) (*partners.Partner, error) {
	p := h.ByParties(from.ID, from.Type, to.ID, to.Type)
	if p == nil || p.AS4 == nil || !p.Active {
		return nil, unknownSender()
	}
	return p, nil
}

// agreed holds a message whose sender is proved against what was agreed: everything
// that a P-Mode sets (eDelivery AS4 1.15 §1.4.2.2).
func agreed(a *partners.AS4, u *UserMessage) error {
	c := &u.Collaboration
	mpc := a.MPC
	if mpc == "" {
		mpc = DefaultMPC
	}
	switch {
	case u.MPC != mpc:
		return faulty(ValueNotRecognized, "the channel %.80q (mpc) is not agreed; it is %q", u.MPC, mpc)
	case a.From.Role != "" && u.From.Role != a.From.Role:
		return faulty(ProcessingModeMismatch, "the eb:Role in eb:From is %.120q; agreed is %q", u.From.Role, a.From.Role)
	case a.To.Role != "" && u.To.Role != a.To.Role:
		return faulty(ProcessingModeMismatch, "the eb:Role in eb:To is %.120q; agreed is %q", u.To.Role, a.To.Role)
	case a.Agreement != "" && (c.Agreement.Value != a.Agreement || a.AgreementType != "" && c.Agreement.Type != a.AgreementType):
		return faulty(ProcessingModeMismatch, "eb:AgreementRef is %.120q; agreed is %q", c.Agreement.Value, a.Agreement)
	case u.IsTest():
		return nil
	case c.Service == TestService: // core §5.2.2.8: for the test alone
		return faulty(ProcessingModeMismatch, "eb:Service is that of tests, and eb:Action %.120q is not %s", c.Action, TestAction)
	case len(a.Services) > 0 && !slices.ContainsFunc(a.Services, func(s partners.AS4Service) bool {
		return s.Service == c.Service && s.Type == c.ServiceType && (s.Action == "" || s.Action == c.Action)
	}):
		return faulty(ProcessingModeMismatch, "eb:Service %.120q (type %.80q) with eb:Action %.120q is not agreed", c.Service, c.ServiceType, c.Action)
	case len(u.Parts) == 0:
		return faulty(ProcessingModeMismatch, "the message has no payload; without one only the test service is answered")
	}
	return nil
}

// signatures are algorithm URIs by the names that partners are configured with:
// RFC 9231 §2.3, for RSASSA-PSS §2.3.10, and for Ed25519 §2.3.12.
var signatures = map[string]string{
	"rsa-sha256":     wssec.RSASHA256,
	"rsa-sha384":     wssec.RSASHA384,
	"rsa-sha512":     wssec.RSASHA512,
	"rsa-pss-sha256": wssec.PSSSHA256,
	"rsa-pss-sha384": wssec.PSSSHA384,
	"rsa-pss-sha512": wssec.PSSSHA512,
	"ecdsa-sha256":   wssec.ECDSASHA256,
	"ecdsa-sha384":   wssec.ECDSASHA384,
	"ecdsa-sha512":   wssec.ECDSASHA512,
	"ed25519":        wssec.EdDSAEd25519,
}

// mayBeSignedBy holds a signature's algorithm against those agreed.
func mayBeSignedBy(a *partners.AS4, method string) error {
	if a.SHA1 == partners.AS4Accept && strings.HasSuffix(method, "sha1") {
		return nil
	}
	for _, name := range a.Signatures {
		if signatures[name] == method {
			return nil
		}
	}
	return faulty(PolicyNoncompliance, "the signature is by %.120q; agreed are %s", method, strings.Join(a.Signatures, ", "))
}
