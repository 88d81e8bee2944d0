package targets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

func record() *outbox.Record {
	return &outbox.Record{Partner: "acme", ID: uuid.MustParse("0190a5f2-7b1c-7000-8000-000000000001"), Type: outbox.DocumentCreated, Subject: "acme/1",
		At: time.Date(2026, 11, 28, 9, 14, 0, 0, time.UTC), Body: json.RawMessage(`{"n": 1}`)}
}

// webhookAt opens a webhook at a receiver on this machine, which is allowed.
func webhookAt(t *testing.T, address string, secrets map[string]string) outbox.Sink {
	t.Helper()
	guard, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range secrets {
		names = append(names, name)
	}
	slices.Sort(names)
	w := &Webhook{URL: address, Names: names, Timeout: 5 * time.Second, Guard: guard, Now: time.Now,
		Secret: func(name string) (string, error) { return secrets[name], nil }}
	sink, err := w.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

func TestWebhook(t *testing.T) {
	t.Run("is signed with each secret, under the event's id", func(t *testing.T) {
		old, next := NewWebhookSecret(), NewWebhookSecret()
		var header http.Header
		var body []byte
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header = r.Header
			body, _ = io.ReadAll(r.Body) // of a request that was sent whole
			w.WriteHeader(http.StatusNoContent)
		}))
		defer s.Close()
		sent, log, err := webhookAt(t, s.URL, map[string]string{"a-old": old, "b-next": next}).Send(t.Context(), []*outbox.Record{record()})
		if sent != 1 || err != nil || len(log) != 1 || log[0].Status != 204 || log[0].Failure != "" {
			t.Fatalf("%d, %+v, %v", sent, log, err)
		}
		if header.Get("webhook-id") != record().ID.String() || header.Get("Content-Type") != "application/cloudevents+json; charset=utf-8" {
			t.Errorf("%v", header)
		}
		signatures := strings.Fields(header.Get("webhook-signature"))
		for i, secret := range []string{old, next} {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
			if err != nil {
				t.Fatal(err)
			}
			mac := hmac.New(sha256.New, key)
			fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
			if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); len(signatures) != 2 || signatures[i] != want {
				t.Errorf("signatures %v, want %s in place %d", signatures, want, i)
			}
		}
	})
	t.Run("the signature is that of the specification's own example", func(t *testing.T) {
		// Standard Webhooks 1.0.0, its libraries' test vector.
		key, err := webhookKey("x", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), [][]byte{key})
		if got, want := h.Get("webhook-signature"), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	for _, c := range []struct {
		status int
		is     error
		text   string
	}{
		{400, outbox.ErrRefused, "400"}, {413, outbox.ErrRefused, "413"}, {422, outbox.ErrRefused, "422"},
		{410, outbox.ErrGone, "410"},
		{301, nil, "redirects are not followed"}, {307, nil, "elsewhere.example"},
		{401, nil, "401"}, {404, nil, "404"}, {500, nil, "500"}, {503, nil, "503"},
	} {
		t.Run(fmt.Sprintf("%d is told", c.status), func(t *testing.T) {
			followed := false
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				followed = followed || r.URL.Path != "/"
				w.Header().Set("Location", "https://elsewhere.example/")
				if c.status == 301 {
					w.Header().Set("Location", "/elsewhere")
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, "what \x00 it said", strings.Repeat("x", 2000))
			}))
			defer s.Close()
			sent, log, err := webhookAt(t, s.URL, map[string]string{"erp": NewWebhookSecret()}).Send(t.Context(), []*outbox.Record{record(), record()})
			if sent != 0 || len(log) != 1 || err == nil || followed {
				t.Fatalf("%d, %+v, %v, followed %v", sent, log, err, followed)
			}
			for _, other := range []error{outbox.ErrRefused, outbox.ErrGone} {
				if errors.Is(err, other) != (c.is == other) {
					t.Errorf("it is %v", err)
				}
			}
			if !strings.Contains(err.Error(), c.text) || log[0].Status != c.status || len(log[0].Answer) != answerKept || strings.Contains(log[0].Answer, "\x00") {
				t.Errorf("%v, %+v", err, log[0])
			}
		})
	}
	t.Run("it comes back when the receiver says so", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer s.Close()
		_, _, err := webhookAt(t, s.URL, map[string]string{"erp": NewWebhookSecret()}).Send(t.Context(), []*outbox.Record{record()})
		if later, ok := errors.AsType[*outbox.RetryError](err); !ok || later.After != 2*time.Minute {
			t.Error(err)
		}
	})
	t.Run("a receiver that hangs is left, and its address stays out of the log", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // until it is read, nobody notices that the client has left
			<-r.Context().Done()
		}))
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, log, err := webhookAt(t, s.URL+"/?key=hidden", map[string]string{"erp": NewWebhookSecret()}).Send(ctx, []*outbox.Record{record()})
		if err == nil || strings.Contains(log[0].Failure, "hidden") {
			t.Error(err, log)
		}
	})
	t.Run("secrets that are none, and addresses anybody can read, are not opened", func(t *testing.T) {
		guard, err := NewGuard(nil)
		if err != nil {
			t.Fatal(err)
		}
		for text, w := range map[string]*Webhook{
			"whsec_":                 {URL: "https://erp.example", Secret: func(string) (string, error) { return "secret", nil }},
			"Base64 of 24 to 64":     {URL: "https://erp.example", Secret: func(string) (string, error) { return "whsec_AAAA", nil }},
			ErrNoSecret.Error():      {URL: "https://erp.example", Secret: func(string) (string, error) { return "", ErrNoSecret }},
			"not https":              {URL: "http://erp.example", Secret: func(string) (string, error) { return NewWebhookSecret(), nil }},
			"name the host in --all": {URL: "http://127.0.0.1:1", Secret: func(string) (string, error) { return NewWebhookSecret(), nil }},
		} {
			w.Names, w.Guard, w.Now = []string{"erp"}, guard, time.Now
			if _, err := w.Open(); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v, want %s", err, text)
			}
		}
	})
}

func TestGuard(t *testing.T) {
	t.Run("only the public network is open", func(t *testing.T) {
		for ip, want := range map[string]bool{
			"93.184.216.34": true, "2606:2800:220:1::1": true, "8.8.8.8": true,
			"127.0.0.1": false, "127.8.8.8": false, "0.0.0.0": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
			"169.254.169.254": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.2.1": false, "240.0.0.1": false,
			"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "ff02::1": false,
			"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::127.0.0.1": false, "2001:db8::1": false, "::ffff:0:7f00:1": false,
		} {
			if got := public(netip.MustParseAddr(ip)); got != want {
				t.Errorf("%s is public: %v", ip, got)
			}
		}
	})
	t.Run("the address that is dialled is looked at, whatever name led there", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
		for _, c := range []struct {
			allow []string
			host  string
			open  bool
		}{
			{nil, "127.0.0.1", false}, {nil, "localhost", false}, {[]string{"erp.example"}, "localhost", false},
			{[]string{"LOCALHOST"}, "localhost", true}, {[]string{"127.0.0.0/8"}, "localhost", true}, {[]string{"127.0.0.1"}, "127.0.0.1", true},
			{[]string{"127.0.0.1"}, "[::ffff:127.0.0.1]", true},
			{[]string{"::ffff:127.0.0.1"}, "127.0.0.1", true}, {[]string{"[::ffff:127.0.0.1]"}, "localhost", true}, {[]string{"::ffff:127.0.0.0/104"}, "127.0.0.1", true},
			{[]string{"::ffff:10.1.2.3"}, "127.0.0.1", false}, {[]string{"::ffff:10.0.0.0/104"}, "127.0.0.1", false},
		} {
			g, err := NewGuard(c.allow)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := g.DialContext(t.Context(), "tcp4", c.host+":"+port)
			if strings.HasPrefix(c.host, "[") {
				conn, err = g.DialContext(t.Context(), "tcp", c.host+":"+port)
			}
			if err == nil {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
			if (err == nil) != c.open || err != nil && !errors.Is(err, ErrGuarded) {
				t.Errorf("%s with %v allowed: %v", c.host, c.allow, err)
			}
		}
	})
	t.Run("what is no host is refused", func(t *testing.T) {
		for _, bad := range []string{"", "http://erp.example", "erp.example:443", "*.example", "a b", "::ffff:10.1.2.3/24"} {
			if _, err := NewGuard([]string{bad}); err == nil {
				t.Errorf("%q is taken", bad)
			}
		}
	})
}

func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "erp"), []byte("from the file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"EDIGW_SECRET_ERP": "from the environment", "EDIGW_SECRET_ERP_2026_A": "2026"}
	s := &Secrets{Dir: dir, Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
	for name, want := range map[string]string{"erp": "from the file", "erp-2026.a": "2026"} {
		if got, err := s.Secret(name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{"other": "put it into " + filepath.Join(dir, "other"), "empty": "is empty", "../erp": "no such secret", "..": "no such secret"} {
		if got, err := s.Secret(name); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %q, %v, want %s", name, got, err, text)
		}
	}
	if _, err := (&Secrets{Env: s.Env}).Secret("other"); err == nil || !strings.Contains(err.Error(), "--secrets-dir") {
		t.Error(err)
	}
}
