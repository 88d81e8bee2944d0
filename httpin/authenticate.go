package httpin

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/edigw/edigw/partners"
)

// authenticate finds the partner whose token the request bears, and holds it
// against the path. The name in the path is never looked up: whether there is
// such a partner makes no difference to the answer, nor to the work done for it.
func (h *Handler) authenticate(r *http.Request) (*partners.Partner, error) {
	token, given := bearer(r)
	p, ok := h.ByToken(token)
	switch {
	case !given:
		return nil, &refusal{problem: "unauthorized", reason: "no-credentials"}
	case !ok || p == nil:
		return nil, &refusal{problem: "unauthorized", reason: "unknown-token"}
	case p.ID != chi.URLParam(r, "partner"):
		return nil, &refusal{problem: "unauthorized", reason: "other-partner"}
	case !p.Active:
		return nil, &refusal{problem: "unauthorized", reason: "paused"}
	}
	return p, nil
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
