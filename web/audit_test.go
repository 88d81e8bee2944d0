package web

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
)

func TestAuditList(t *testing.T) {
	r := newRig(t)
	if _, err := r.pool.Exec(t.Context(), `alter table audit_entry disable trigger user; delete from audit_entry`); err != nil {
		t.Fatal(err)
	}
	record := func(who, action, subject, partner string) {
		t.Helper()
		if err := r.api.Record(t.Context(), accounts.Entry{Who: who, Role: accounts.Operator, Action: action, Subject: subject, Partner: partner}); err != nil {
			t.Fatal(err)
		}
	}
	record("anna", "drift.decided", "a1", "acme")
	record("bert", "drift.approved", "a1", "acme")
	record("anna", "payload.read", "k1", "bolt")
	record("anna", "user.added", "carl", "")
	var halfway time.Time
	if err := r.pool.QueryRow(t.Context(), `select at from audit_entry where action = 'payload.read'`).Scan(&halfway); err != nil {
		t.Fatal(err)
	}
	at := url.QueryEscape(halfway.UTC().Format(time.RFC3339Nano))
	list := func(t *testing.T, query string) (actions []string, next string) {
		t.Helper()
		var p struct {
			Items []struct{ Action string }
			Next  string
		}
		r.get(accounts.Admin, "/audit?"+query, &p)
		for _, e := range p.Items {
			actions = append(actions, e.Action)
		}
		return actions, p.Next
	}
	for query, want := range map[string][]string{
		"limit=10":                       {"user.added", "payload.read", "drift.approved", "drift.decided"},
		"person=anna":                    {"user.added", "payload.read", "drift.decided"},
		"subject=a1":                     {"drift.approved", "drift.decided"},
		"partner=bolt":                   {"payload.read"},
		"action=drift.approved":          {"drift.approved"},
		"after=" + at:                    {"user.added", "payload.read"},
		"before=" + at:                   {"drift.approved", "drift.decided"},
		"person=anna&partner=acme":       {"drift.decided"},
		"person=nobody":                  nil,
		"after=" + at + "&person=anna":   {"user.added", "payload.read"},
		"before=" + at + "&subject=carl": nil,
	} {
		t.Run(query, func(t *testing.T) {
			got, _ := list(t, query)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("pages go on where they stopped, whatever is added meanwhile", func(t *testing.T) {
		var all []string
		for i, query := 0, "limit=1"; ; i++ {
			got, next := list(t, query)
			all = append(all, got...)
			if next == "" {
				break
			}
			record("eve", fmt.Sprintf("added.%d", i), "x", "")
			query = "limit=1&cursor=" + next
		}
		if diff := cmp.Diff([]string{"user.added", "payload.read", "drift.approved", "drift.decided"}, all); diff != "" {
			t.Error(diff)
		}
	})
}
