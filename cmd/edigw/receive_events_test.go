package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/targets"
)

func TestReceiverOfWebhooks(t *testing.T) {
	secret := targets.NewWebhookSecret()
	send := func(t *testing.T, c subscriptionsReceive, signedBy string) (log []outbox.Attempt, shown, said string) {
		t.Helper()
		var out, stderr buffer
		s := httptest.NewServer(c.handler(&app{ctx: t.Context(), stdout: &out, stderr: &stderr}, secret))
		defer s.Close()
		guard, err := targets.NewGuard([]string{"127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		w := &targets.Webhook{URL: s.URL, Names: []string{"try"}, Timeout: time.Minute, Now: time.Now, Guard: guard,
			Secret: func(string) (string, error) { return signedBy, nil }}
		sink, err := w.Open()
		if err != nil {
			t.Fatal(err)
		}
		_, log, _ = sink.Send(t.Context(), []*outbox.Record{{Partner: "acme", ID: uuid.MustParse("01a22968-fe85-702b-8e06-951bb0900e72"), Type: "document.created", Subject: "acme/1", Body: []byte(`{}`)}}) // judged by the log
		return log, out.String(), stderr.String()
	}
	t.Run("an event that is signed is shown, and answered", func(t *testing.T) {
		log, shown, said := send(t, subscriptionsReceive{Answer: 204}, secret)
		if len(log) != 1 || log[0].Status != 204 || !strings.Contains(shown, "document.created  acme/1  01a22968-fe85-702b-8e06-951bb0900e72\n") || said != "" {
			t.Errorf("%+v %q %q", log, shown, said)
		}
	})
	t.Run("as JSON it is one line as it came", func(t *testing.T) {
		_, shown, _ := send(t, subscriptionsReceive{Answer: 204, Output: "json"}, secret)
		if strings.Count(shown, "\n") != 1 || !strings.HasPrefix(shown, `{"specversion":"1.0"`) {
			t.Errorf("%q", shown)
		}
	})
	t.Run("it can be told to refuse", func(t *testing.T) {
		if log, _, _ := send(t, subscriptionsReceive{Answer: 422}, secret); len(log) != 1 || log[0].Status != 422 {
			t.Errorf("%+v", log)
		}
	})
	t.Run("what another secret signed is not shown, and why is said", func(t *testing.T) {
		log, shown, said := send(t, subscriptionsReceive{Answer: 204}, targets.NewWebhookSecret())
		if len(log) != 1 || log[0].Status != http.StatusUnauthorized || shown != "" || !strings.Contains(said, "no signature is of this secret") {
			t.Errorf("%+v %q %q", log, shown, said)
		}
	})
	t.Run("without a secret it says how to make one", func(t *testing.T) {
		r := edigw(t, "", nil, "subscriptions", "receive", filepath.Join(t.TempDir(), "none"))
		if r.code != exitFailed || !strings.Contains(r.stderr, "edigw subscriptions secret > ") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("an answer that is no status is refused", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := edigw(t, "", nil, "subscriptions", "receive", file, "--answer", "7"); r.code != exitUsage || !strings.Contains(r.stderr, "200 to 599") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}
