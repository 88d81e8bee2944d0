package targets

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// signatureHolds is how far the clock of who signs may be off, as the specification
// proposes: an old request that somebody kept is not taken again.
const signatureHolds = 5 * time.Minute

// Signed checks what a receiver of webhooks has to: that one who knows the secret has
// signed this body, just now (Standard Webhooks 1.0.0). secret is as NewWebhookSecret
// makes it.
func Signed(h http.Header, body []byte, secret string, now time.Time) error {
	key, err := webhookKey("of the webhook", strings.TrimSpace(secret))
	if err != nil {
		return err
	}
	id, stamp := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return errors.New("webhook-id and webhook-timestamp are needed: is the subscription without secrets?")
	}
	at := time.Unix(seconds, 0)
	if off := now.Sub(at).Abs(); off > signatureHolds {
		return fmt.Errorf("the signature is %s off: are both clocks right?", off.Round(time.Second))
	}
	want := http.Header{}
	sign(want, id, at, body, [][]byte{key})
	for s := range strings.FieldsSeq(h.Get("webhook-signature")) {
		if hmac.Equal([]byte(s), []byte(want.Get("webhook-signature"))) { // in constant time
			return nil
		}
	}
	return errors.New("no signature is of this secret: does the gateway have it under the name that the subscription has?")
}
