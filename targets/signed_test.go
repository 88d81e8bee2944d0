package targets

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSigned(t *testing.T) {
	// Standard Webhooks 1.0.0, its libraries' test vector.
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", `{"test": 2432232314}`
	at := time.Unix(1614265330, 0)
	header := func(id, stamp, signature string) http.Header {
		return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}
	}
	const id, stamp, good = "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	for name, c := range map[string]struct {
		header       http.Header
		body, secret string
		now          time.Time
		fault        string
	}{
		"the specification's own example":     {header(id, stamp, good), body, secret, at, ""},
		"one of several, while keys change":   {header(id, stamp, "v1,AAAA v1a,x "+good), body, secret, at.Add(4 * time.Minute), ""},
		"another body":                        {header(id, stamp, good), body + " ", secret, at, "no signature is of this secret"},
		"another id":                          {header("msg_2", stamp, good), body, secret, at, "no signature is of this secret"},
		"one that was kept":                   {header(id, stamp, good), body, secret, at.Add(6 * time.Minute), "6m0s off"},
		"one of a clock that is ahead":        {header(id, stamp, good), body, secret, at.Add(-6 * time.Minute), "6m0s off"},
		"a moment that is no number":          {header(id, "now", good), body, secret, at, "webhook-timestamp are needed"},
		"no headers":                          {http.Header{}, body, secret, at, "is the subscription without secrets?"},
		"a secret that is none":               {header(id, stamp, good), body, "geheim", at, "`edigw subscriptions secret` makes one"},
		"a secret of somebody else's":         {header(id, stamp, good), body, NewWebhookSecret(), at, "no signature is of this secret"},
		"a signature without what it is made": {header(id, stamp, strings.TrimPrefix(good, "v1,")), body, secret, at, "no signature is of this secret"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Signed(c.header, []byte(c.body), c.secret, c.now)
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v, want %q", err, c.fault)
			}
		})
	}
}
