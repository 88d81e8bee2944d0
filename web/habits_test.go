package web

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/habits"
)

// openGap makes a gap of acme, and gives its id.
func openGap(t *testing.T, r *rig) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	if _, err := r.pool.Exec(t.Context(), `
		insert into sequence_gap (partner_id, gap_id, series, test, numbers, missing, width, before, after, since, opened_at)
		values ('acme', $1, 'unb:9520001000010:14:9520002000019:14:INV#', false, '{7,8}', '{8}', 4, 'INV0006', 'INV0009', now(), now())`, id); err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// learned gives a partner of whom much is known.
func learned(t *testing.T, r *rig) string {
	t.Helper()
	for _, sql := range []string{
		`insert into habit (partner_id, delivery_id, seq, evidence, silence, heard_at, counted_from, expected_at, expected_by, silent_since)
		values ('acme', gen_random_uuid(), 0, '{"deliveries": 412, "days": 231, "first": "2026-01-05T06:00:00Z", "last": "2026-11-27T06:00:00Z",
			"transport": {"count": 11, "longest": 3600, "at": "2026-04-01T07:00:00Z"}, "interchange": {"count": 4, "longest": 3024000, "at": "2026-08-06T06:00:00Z"},
			"reused": {"soon": 1, "count": 2, "shortest": 15552000, "at": "2026-10-01T06:00:00Z"}, "rhythm": [496080, 496104]}',
			'auto', '2026-11-27T06:00:00Z', '2026-01-05T06:00:00Z', '2026-11-28T07:00:00Z', '2026-11-29T07:00:00Z', '2026-11-29T07:01:00Z')`,
		`insert into habit_series (partner_id, series, test, state, last_at)
		values ('acme', 'unb:9520001000010:14:9520002000019:14:#', false, '{"numbers": 412, "width": 5, "late": [60, 90],
			"wraps": [{"at": "2026-10-01T06:00:00Z", "numbers": 99999, "days": 180.5}],
			"strands": [{"low": 1, "head": 412, "step": 1, "since": "2026-10-01T06:00:00Z", "last": "2026-11-27T06:00:00Z"}]}', '2026-11-27T06:00:00Z')`,
	} {
		if _, err := r.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return "acme"
}

func TestGaps(t *testing.T) {
	r := newRig(t)
	first, second := openGap(t, r), openGap(t, r)
	var page struct {
		Items []habits.Gap
		Next  string
	}
	r.get(accounts.Viewer, "/gaps?state=open&partner=acme&limit=1", &page)
	if len(page.Items) != 1 || page.Items[0].ID.String() != second || page.Items[0].Missing[0] != "INV0008" || len(page.Items[0].References) != 2 {
		t.Fatalf("%+v", page)
	}
	r.get(accounts.Viewer, "/gaps?state=open&partner=acme&limit=1&cursor="+page.Next, &page)
	if len(page.Items) != 1 || page.Items[0].ID.String() != first {
		t.Fatalf("the page after: %+v", page)
	}
	dismiss := func(role accounts.Role, reason string) answer {
		return r.ask(r.tokens[role], "POST", "/gaps/acme/"+first+"/dismiss", `{"reason":"`+reason+`"}`, "Content-Type", "application/json")
	}
	if a := dismiss(accounts.Viewer, "a test of theirs"); a.status != http.StatusForbidden {
		t.Errorf("a viewer: %d %s", a.status, a.body)
	}
	if a := dismiss(accounts.Operator, " "); a.status != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d %s", a.status, a.body)
	}
	if a := dismiss(accounts.Operator, "a test of theirs"); a.status != http.StatusNoContent {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := dismiss(accounts.Operator, "a test of theirs"); a.status != http.StatusNotFound {
		t.Errorf("again: %d %s", a.status, a.body)
	}
	page.Next = ""
	r.get(accounts.Viewer, "/gaps?state=closed", &page)
	if len(page.Items) != 1 || page.Items[0].Reason != "a test of theirs" || page.Items[0].Cause != habits.Dismissed || page.Items[0].Closed == nil {
		t.Errorf("%+v", page)
	}
	if a := r.ask(r.tokens[accounts.Viewer], "GET", "/gaps?cursor=AAAA", ""); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a cursor of nobody: %d %s", a.status, a.body)
	}
}

func TestHabits(t *testing.T) {
	r := newRig(t)
	var report habits.Report
	r.get(accounts.Viewer, "/partners/acme/habits", &report)
	if report.Rests != "nothing was received yet" || report.Silence.Setting != "auto" || len(report.Advice) != 0 {
		t.Errorf("%+v", report)
	}
	report = habits.Report{}
	r.get(accounts.Viewer, "/partners/"+learned(t, r)+"/habits", &report)
	if len(report.Warnings) < 2 || len(report.Advice) < 2 || len(report.Series) != 1 || report.Series[0].Last != "00412" || report.Silence.SilentSince == nil {
		t.Errorf("%+v", report)
	}
	if a := r.ask(r.tokens[accounts.Viewer], "GET", "/partners/nobody/habits", ""); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}
