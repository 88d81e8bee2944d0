package httpin

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/edigw/edigw/gateway"
)

// journalled are the reasons for which a request without an authenticated partner
// gets a line in the journal of the partner whose name it used: somebody pretends
// to be it, or it is it and its certificate is not what it should be. What a
// wrong token says about its sender is in the log alone.
var journalled = []string{forged, "doubtful-certificate-header", "expired-certificate", "certificate-not-yet-valid", "certificate-not-for-this"}

const forged = "forged-certificate-header"

// stranger has a request that was refused journalled under the partner it claimed
// to be from, within that partner's cap of the day (gateway.Receive of a Fault),
// and after the answer: whether there is such a partner makes no difference to it.
func (h *Handler) stranger(r *http.Request, remote string, refused error) {
	reason, _ := reasonOf(refused)
	if !slices.Contains(journalled, reason) || h.Partner == nil {
		return
	}
	p := h.Partner(chi.URLParam(r, "partner"))
	if p == nil {
		return
	}
	var theirs *gateway.Rejection
	_, err := h.Receive(context.WithoutCancel(r.Context()), &gateway.Delivery{
		Transport: Transport, Partner: p, Received: h.now(), Remote: remote,
		Fault: &gateway.Rejection{Answer: gateway.ToldUnproven, Reason: reason, Detail: told[reason]},
	})
	if err != nil && !errors.As(err, &theirs) {
		h.log().WarnContext(r.Context(), "a refused sender could not be journalled", "claimed", p.ID, "reason", reason, "error", err)
	}
}

// told is what the journal says of each, to our own people.
var told = map[string]string{
	forged:                        "Somebody who is no trusted proxy sent a client certificate in the proxies' header. If it was a proxy, add its address to --trusted-proxies; else somebody tried to pass for this partner.",
	"doubtful-certificate-header": "The trusted proxy's header does not hold one client certificate; the log says what was wrong with it.",
	"expired-certificate":         "The sender showed a certificate of this partner that is not valid any more. Add its successor to the partner's certificates.",
	"certificate-not-yet-valid":   "The sender showed a certificate of this partner that is not valid yet.",
	"certificate-not-for-this":    "The sender showed a certificate of this partner whose key usage does not allow TLS clients.",
}
