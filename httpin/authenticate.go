package httpin

import (
	"crypto/x509"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
)

// authenticate finds the partner that the request proves to come from: by its
// token, by the certificate its sender showed, or by both, as the partner's
// settings want it, and holds it against the path. Whether there is a partner of
// that name makes no difference to the answer.
func (h *Handler) authenticate(r *http.Request, client proxy.Client) (*partners.Partner, error) {
	id := chi.URLParam(r, "partner")
	byToken, noToken := h.byToken(r, id)
	byCertificate, noCertificate := h.byCertificate(client.Certificate, id)
	p := byToken
	if p == nil {
		p = byCertificate
	}
	refused := func(reason string) error { return &refusal{problem: "unauthorized", reason: reason} }
	switch {
	case p == nil && noCertificate != "" && (noToken == "no-credentials" || noCertificate != "unknown-certificate"):
		return nil, refused(noCertificate)
	case p == nil:
		return nil, refused(noToken)
	case !p.Active:
		return nil, refused("paused")
	}
	switch p.Credentials {
	case partners.TokenAlone:
		if byToken == nil {
			return nil, refused("token-needed")
		}
	case partners.CertificateAlone, partners.BothCredentials:
		switch {
		case byCertificate == nil && noCertificate != "":
			return nil, refused(noCertificate)
		case byCertificate == nil:
			return nil, refused("certificate-needed")
		case byToken == nil && p.Credentials == partners.BothCredentials:
			return nil, refused("token-needed")
		}
	}
	return p, nil
}

// byToken finds whose token the request bears, by the token alone; else it says
// why it is nobody's of that id.
func (h *Handler) byToken(r *http.Request, id string) (*partners.Partner, string) {
	token, given := bearer(r)
	p, ok := h.ByToken(token)
	switch {
	case !given:
		return nil, "no-credentials"
	case !ok || p == nil:
		return nil, "unknown-token"
	case p.ID != id:
		return nil, "other-partner"
	}
	return p, ""
}

// byCertificate finds the partner of the id by the certificate; else it says why
// it is not its, or nothing where none was shown.
func (h *Handler) byCertificate(shown *x509.Certificate, id string) (*partners.Partner, string) {
	if shown == nil || h.ByCertificate == nil {
		return nil, ""
	}
	p, _, err := h.ByCertificate(shown, id)
	if err != nil {
		return nil, partners.WhyNot(err)
	}
	return p, ""
}

// bearer is the token of the request: RFC 6750 §2.1, or the password of RFC 7617.
//
// QUIRK: many EDI clients can only do Basic, with a user name that their own
// configuration makes mandatory; the token alone says who it is.
func bearer(r *http.Request) (token string, given bool) {
	fields := r.Header.Values("Authorization")
	if len(fields) != 1 {
		return "", false
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password, password != ""
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(fields[0]), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	return token, true
}
