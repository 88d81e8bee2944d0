package httpin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
)

func TestAuthentication(t *testing.T) {
	basic := func(user, password string) string {
		r, err := http.NewRequest("POST", "http://gw/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}

	t.Run("the token goes in as Bearer or as the password of Basic", func(t *testing.T) {
		in := serve(t, nil)
		for _, credentials := range []string{
			"Bearer " + acmeToken, "bearer   " + acmeToken + " ", basic("acme", acmeToken), basic("whatever", acmeToken), basic("", acmeToken),
		} {
			if a := in.post(t, "acme", strings.NewReader(interchange), "Authorization", credentials); a.Status != 201 {
				t.Errorf("%q: %d %s", credentials, a.Status, a.Body)
			}
		}
	})

	t.Run("whoever does not belong gets one constant answer", func(t *testing.T) {
		in := serve(t, nil)
		attempts := []struct{ name, partner, credentials, reason string }{
			{"no credentials", "acme", "", "no-credentials"},
			{"no credentials, unknown partner", "nobody", "", "no-credentials"},
			{"unknown scheme", "acme", "Digest x", "no-credentials"},
			{"an empty token", "acme", "Bearer ", "no-credentials"},
			{"an empty password", "acme", basic("acme", ""), "no-credentials"},
			{"wrong token", "acme", "Bearer edigw_p_wrong", "unknown-token"},
			{"wrong token, unknown partner", "nobody", "Bearer edigw_p_wrong", "unknown-token"},
			{"token of another partner", "acme", "Bearer " + brackToken, "other-partner"},
			{"good token, unknown partner", "nobody", "Bearer " + acmeToken, "other-partner"},
			{"token in the user name", "acme", basic(acmeToken, "x"), "unknown-token"},
			{"paused partner", "paused", "Bearer " + pausedToken, "paused"},
		}
		var first answer
		reasons := map[[2]string]float64{} // and whose path was used, of those that there are
		for i, try := range attempts {
			a := in.post(t, try.partner, strings.NewReader(interchange), "Authorization", try.credentials, "Idempotency-Key", "x")
			a.Header.Del("Date")
			if i == 0 {
				first = a
			}
			if diff := cmp.Diff(first, a); diff != "" {
				t.Errorf("%s is answered differently:\n%s", try.name, diff)
			}
			named := gateway.UnknownPartner
			if in.Partner(try.partner) != nil {
				named = try.partner
			}
			reasons[[2]string{named, try.reason}]++
		}
		if first.Status != 401 || first.problem(t) != "unauthorized" {
			t.Errorf("got %d %s", first.Status, first.Body)
		}
		want := []string{`Bearer realm="edigw"`, `Basic realm="edigw", charset="UTF-8"`}
		if diff := cmp.Diff(want, first.Header.Values("WWW-Authenticate")); diff != "" {
			t.Error(diff)
		}
		if n := len(in.deliveries()); n != 0 {
			t.Errorf("%d deliveries were received from strangers", n)
		}
		for of, n := range reasons {
			in.counted(t, n, "edigw_rejections_total", "transport", "http", "partner", of[0], "reason", of[1])
		}
		in.counted(t, float64(len(attempts)), "edigw_deliveries_total", "transport", "http", "partner", "unknown", "outcome", "refused")
		if n := len(in.series(t, "edigw_receive_seconds")) + len(in.series(t, "edigw_partner_last_delivery_timestamp_seconds")); n != 0 {
			t.Errorf("strangers made %d other series", n)
		}
	})

	t.Run("two Authorization fields are none", func(t *testing.T) {
		w := serve(t, nil).dial(t)
		w.head("Authorization: Bearer "+acmeToken, "Content-Length: 0")
		if a := w.answer(); a.Status != 401 {
			t.Errorf("got %d", a.Status)
		}
	})

	t.Run("the log names the partner a stranger claimed to be, and no token", func(t *testing.T) {
		in := serve(t, nil)
		in.post(t, "acme", strings.NewReader(interchange), "Authorization", "Bearer edigw_p_wrong")
		line := in.line(t)
		for name, want := range map[string]any{"partner": "unknown", "claimed": "acme", "reason": "unknown-token", "outcome": "refused", "level": "WARN", "status": 401.0, "remote": "127.0.0.1"} {
			if line[name] != want {
				t.Errorf("%s is %v, not %v", name, line[name], want)
			}
		}
		if strings.Contains(in.log.String(), "edigw_p_") {
			t.Error("a token stands in the log")
		}
	})

	t.Run("a name that is not configured does not reach the log", func(t *testing.T) {
		in := serve(t, nil)
		in.post(t, "edigw_p_pasted", strings.NewReader(interchange), "Authorization", "")
		if line := in.line(t); line["claimed"] != nil || strings.Contains(in.log.String(), "pasted") {
			t.Errorf("got %v", line)
		}
	})
}
