package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/purge"
)

// due makes a key of acme whose window has passed, one that a person holds, and a run of
// before; it gives the run's id.
func due(t *testing.T, r *rig) uuid.UUID {
	t.Helper()
	run := uuid.New()
	for _, sql := range []string{
		`insert into inbox (partner_id, message_id, kind, first_at, last_at, purge_on, state, answer, messages, delivery_id)
			select 'acme', k, 2, now() - interval '500 days', now() - interval '500 days', (now() - interval '100 days')::date, 2, 1, '', gen_random_uuid()
			from unnest(array['unb:old', 'unb:older', 'unb:held']) k`,
		`insert into legal_hold (partner_id, message_id, reason, held_by) values ('acme', 'unb:held', 'a lawsuit', 'olga')`,
		`insert into purge_run (run_id, started_at, ended_at, state, node, reason) values ($1, now() - interval '3 days', now() - interval '3 days', 'failed', 'there', 'the disk was full')`,
		`insert into purge_step (run_id, partner_id, kind, rows, bytes) values ($1, 'acme', 'keys', 3, 400), ($1, 'bolt', 'keys', 4, 500)`,
	} {
		var args []any
		if strings.Contains(sql, "$1") {
			args = append(args, run)
		}
		if _, err := r.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

func stepOf(t *testing.T, steps []purge.Step, partner, kind, reason string) int64 {
	t.Helper()
	for _, s := range steps {
		if s.Partner == partner && s.Kind == kind && s.Reason == reason {
			return s.Rows
		}
	}
	return 0
}

func TestThePurgeOverTheAPI(t *testing.T) {
	r := newRig(t)
	before := due(t, r)
	ask := func(as accounts.Role, path, body string) answer {
		t.Helper()
		return r.ask(r.tokens[as], "POST", path, body, "Content-Type", "application/json")
	}
	var foreseen purge.Foreseen
	t.Run("an operator foresees what goes and what stays, and nothing goes", func(t *testing.T) {
		r.get(accounts.Operator, "/retention/preview", &foreseen)
		if stepOf(t, foreseen.Steps, "acme", "keys", "") != 2 || stepOf(t, foreseen.Steps, "acme", "keys", purge.LegalHold) != 1 {
			t.Errorf("%+v", foreseen)
		}
		if a := r.ask(r.tokens[accounts.Viewer], "GET", "/retention/preview", ""); a.status != http.StatusForbidden {
			t.Errorf("a viewer: %d", a.status)
		}
	})
	t.Run("paused, it begins for nobody, and says by whom and why", func(t *testing.T) {
		if a := ask(accounts.Operator, "/retention/pause", `{"reason":"month end"}`); a.status != http.StatusOK || !strings.Contains(a.body, "month end") || !strings.Contains(a.body, "p. operator") {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a := ask(accounts.Admin, "/retention/purge", ""); a.status != http.StatusConflict || !strings.Contains(a.body, "paused") {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := ask(accounts.Operator, "/retention/resume", ""); a.status != http.StatusForbidden {
			t.Errorf("an operator resumes: %d %s", a.status, a.body)
		}
		if a := ask(accounts.Admin, "/retention/resume", ""); a.status != http.StatusOK || strings.Contains(a.body, "month end") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	jumped := func(t *testing.T) {
		t.Helper()
		if _, err := r.pool.Exec(t.Context(), `update purge set seen_at = now() - interval '30 days'`); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("after a jump of the clock it refuses, until an administrator says that it is right", func(t *testing.T) {
		jumped(t)
		if a := ask(accounts.Admin, "/retention/purge", ""); a.status != http.StatusConflict || !strings.Contains(a.body, "jumped") {
			t.Fatalf("%d %s", a.status, a.body)
		}
		var now purgeStanding
		r.get(accounts.Viewer, "/retention/status", &now)
		if !now.Refuses || now.JumpedFrom == nil || now.Last == nil || now.Last.State != purge.Refused {
			t.Errorf("%+v", now)
		}
		if a := ask(accounts.Operator, "/retention/confirm-clock", `{"note":"x"}`); a.status != http.StatusForbidden {
			t.Errorf("an operator: %d", a.status)
		}
		if a := ask(accounts.Admin, "/retention/confirm-clock", `{"note":"we were switched off"}`); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		var audit struct {
			Items []struct{ Detail map[string]any }
		}
		r.get(accounts.Admin, "/audit?action=retention.clock_confirmed", &audit)
		if len(audit.Items) != 1 || audit.Items[0].Detail["note"] != "we were switched off" || audit.Items[0].Detail["jumped_from"] == nil {
			t.Errorf("audited: %+v", audit)
		}
	})
	t.Run("while what leaves is held after a restore nothing is purged or foreseen", func(t *testing.T) {
		if a := ask(accounts.Operator, "/outgoing/hold", `{"reason":"it was restored"}`); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if a := r.ask(r.tokens[accounts.Operator], "GET", "/retention/preview", ""); a.status != http.StatusConflict || !strings.Contains(a.body, "it was restored") {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := ask(accounts.Admin, "/outgoing/confirm", `{"note":"it is right"}`); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	})
	t.Run("an administrator purges, and what went is what was foreseen", func(t *testing.T) {
		a := ask(accounts.Admin, "/retention/purge", "")
		if a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.body)
		}
		var begun, done purge.Report
		if err := json.Unmarshal([]byte(a.body), &begun); err != nil {
			t.Fatal(err)
		}
		r.get(accounts.Viewer, "/retention/runs/"+begun.ID.String(), &done)
		if done.State != purge.Done || done.By != "p. admin" {
			t.Errorf("%+v", done)
		}
		for _, s := range foreseen.Steps {
			if n := stepOf(t, done.Steps, s.Partner, s.Kind, s.Reason); n != s.Rows {
				t.Errorf("%s %s %s: %d rows, %d were foreseen", s.Partner, s.Kind, s.Reason, n, s.Rows)
			}
		}
		if a := r.ask(r.tokens[accounts.Viewer], "GET", "/messages/acme/unb:held", ""); a.status != http.StatusOK {
			t.Errorf("what a person holds is gone: %d", a.status)
		}
	})
	t.Run("the list adds up partners, and goes on where a page ended", func(t *testing.T) {
		var list page[purge.Report]
		r.get(accounts.Viewer, "/retention/runs?limit=1", &list)
		if len(list.Items) != 1 || list.Items[0].State != purge.Done || list.Next == "" {
			t.Fatalf("%+v", list)
		}
		seen := map[uuid.UUID]purge.Report{}
		for next := list.Next; next != ""; next = list.Next {
			list = page[purge.Report]{}
			r.get(accounts.Viewer, "/retention/runs?limit=1&cursor="+next, &list)
			seen[list.Items[0].ID] = list.Items[0]
		}
		old := seen[before]
		if len(old.Steps) != 1 || old.Steps[0].Rows != 7 || old.Steps[0].Partner != "" || old.State != purge.Failed {
			t.Errorf("%+v", old)
		}
	})
}

func TestARunIsDue(t *testing.T) {
	now := time.Date(2026, 5, 5, 3, 0, 0, 0, time.UTC)
	at := func(last string, ago time.Duration, set func(*purge.Standing)) *purge.Standing {
		s := &purge.Standing{Last: last, LastWas: now.Add(-ago), Now: now}
		if set != nil {
			set(s)
		}
		return s
	}
	id := uuid.New()
	for _, c := range []struct {
		says string
		s    *purge.Standing
		due  bool
	}{
		{"the first", at("", 0, nil), true},
		{"a day after one that did all", at(purge.Done, 24*time.Hour, nil), true},
		{"but not before", at(purge.Done, 23*time.Hour, nil), false},
		{"an hour after one that failed", at(purge.Failed, time.Hour, nil), true},
		{"but not before", at(purge.Failed, 59*time.Minute, nil), false},
		{"at once after one that ended without a word", at(purge.Running, time.Minute, nil), true},
		{"where one is at work", at(purge.Running, time.Minute, func(s *purge.Standing) { s.Run = &id }), false},
		{"where it is paused", at(purge.Done, 99*time.Hour, func(s *purge.Standing) { s.PausedAt = &now }), false},
		{"after the clock was set back", at(purge.Done, -48*time.Hour, nil), true},
	} {
		if got := c.s.Due(24 * time.Hour); got != c.due {
			t.Errorf("%s: due %v", c.says, got)
		}
	}
}
