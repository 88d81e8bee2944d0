package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/outbox"
)

func TestWhatLeavesIsHeldAndConfirmed(t *testing.T) {
	r := newRig(t)
	stuck := stuckEffect(t, r)
	if _, err := r.pool.Exec(t.Context(), `update effect set state = 1 where event_id = $1`, stuck); err != nil {
		t.Fatal(err)
	}
	ask := func(as accounts.Role, path, body string) answer {
		t.Helper()
		return r.ask(r.tokens[as], "POST", path, body, "Content-Type", "application/json")
	}
	if a := r.ask(r.tokens[accounts.Admin], "PUT", "/subscriptions/erp", `{"webhook":{"url":"https://erp.example/","secrets":["erp"]}}`, "Content-Type", "application/json"); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var now outgoing
	t.Run("there is nothing to confirm where nothing is held", func(t *testing.T) {
		if a := ask(accounts.Admin, "/outgoing/confirm", `{"note":"x"}`); a.status != http.StatusConflict {
			t.Errorf("%d %s", a.status, a.body)
		}
		if r.get(accounts.Viewer, "/outgoing", &now); now.Held {
			t.Errorf("%+v", now)
		}
	})
	t.Run("an operator holds it, and it says what waits", func(t *testing.T) {
		if a := ask(accounts.Operator, "/outgoing/hold", `{"reason":"the ERP moves"}`); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a := ask(accounts.Operator, "/subscriptions/erp/resume", `{}`); !strings.Contains(a.body, `"state": "held"`) {
			t.Errorf("a subscription that nothing is sent to says nothing of it: %s", a.body)
		}
		r.get(accounts.Viewer, "/outgoing", &now)
		if !now.Held || now.Reason != "the ERP moves" || now.By == "" {
			t.Errorf("%+v", now)
		}
		if len(now.Waiting) != 1 || now.Waiting[0].Target != "folder" || now.Waiting[0].Count != 1 {
			t.Errorf("waiting: %+v", now.Waiting)
		}
	})
	t.Run("only an administrator confirms, and the audit log has what waited", func(t *testing.T) {
		if a := ask(accounts.Operator, "/outgoing/confirm", `{"note":"it has moved"}`); a.status != http.StatusForbidden {
			t.Errorf("an operator: %d %s", a.status, a.body)
		}
		if a := ask(accounts.Admin, "/outgoing/confirm", `{"note":"it has moved"}`); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		now = outgoing{}
		r.get(accounts.Viewer, "/outgoing", &now)
		if diff := cmp.Diff(outbox.Hold{ConfirmedBy: now.ConfirmedBy, ConfirmedAt: now.ConfirmedAt}, now.Hold); diff != "" || now.ConfirmedBy == "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		var audit struct {
			Items []struct {
				Detail struct{ Waiting []outbox.Waiting }
			}
		}
		r.get(accounts.Admin, "/audit?action=outgoing.confirmed", &audit)
		if len(audit.Items) != 1 || len(audit.Items[0].Detail.Waiting) != 1 || audit.Items[0].Detail.Waiting[0].Target != "folder" {
			t.Errorf("audited: %+v", audit)
		}
	})
}
