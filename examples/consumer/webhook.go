package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// webhook is told of events: Standard Webhooks 1.0.0.
type webhook struct {
	consumer *consumer
	secrets  [][]byte // any of them is right
	now      func() time.Time
}

// tolerance is how far the time of a signature may be off: an old request that
// somebody kept is worth nothing.
const tolerance = 5 * time.Minute

// maxEvent is more than any event has, in bytes.
const maxEvent = 1 << 20

// readSecrets reads secrets as edigw makes them: whsec_ and Base64.
func readSecrets(text string) (secrets [][]byte, err error) {
	for s := range strings.FieldsSeq(text) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil || len(key) < 24 {
			return nil, errors.New("WEBHOOK_SECRETS must be whsec_ and Base64, as `edigw subscriptions secret` makes them")
		}
		secrets = append(secrets, key)
	}
	if len(secrets) == 0 {
		return nil, errors.New("WEBHOOK_SECRETS is not set: anybody could tell us anything")
	}
	return secrets, nil
}

// ServeHTTP takes one event. Its answer says what edigw is to do: 204 goes on, 400
// sets this event aside for a person, anything else comes again.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	if err := h.verify(r.Header, body); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	e, err := readEvent(body)
	if err == nil && e.ID != r.Header.Get("webhook-id") {
		err = errors.New("webhook-id is not the event's id")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := h.consumer.consume(r.Context(), e, nil); err != nil {
		slog.Warn("an event is to come again", "err", err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// verify checks that somebody who knows a secret has signed this body, just now.
func (h *webhook) verify(header http.Header, body []byte) error {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return errors.New("webhook-id and webhook-timestamp are needed")
	}
	if off := h.now().Sub(time.Unix(seconds, 0)).Abs(); off > tolerance {
		return fmt.Errorf("the signature is %s off: are both clocks right?", off.Round(time.Second))
	}
	for _, secret := range h.secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = io.WriteString(mac, id+"."+stamp+".") // a hash takes all
		_, _ = mac.Write(body)                       // a hash takes all
		want := mac.Sum(nil)
		for s := range strings.FieldsSeq(header.Get("webhook-signature")) {
			encoded, ok := strings.CutPrefix(s, "v1,")
			got, err := base64.StdEncoding.DecodeString(encoded)
			if ok && err == nil && hmac.Equal(got, want) { // in constant time
				return nil
			}
		}
	}
	return errors.New("no signature is of a secret that is known here")
}
