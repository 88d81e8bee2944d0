package main

import (
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/purge"
)

func TestRetentionOnTheCommandLine(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	g.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	pool := pgtest.Pool(t, g.url)
	if _, err := pool.Exec(t.Context(), `
		update inbox set last_at = last_at - interval '500 days', purge_on = (now() - interval '100 days')::date`); err != nil {
		t.Fatal(err)
	}
	keys := 0
	if err := pool.QueryRow(t.Context(), `select count(*) from inbox`).Scan(&keys); err != nil || keys == 0 {
		t.Fatalf("%d keys, %v", keys, err)
	}
	if r := g.must(nil, "retention", "status"); !strings.Contains(r.out, "No run is at work") || !strings.Contains(r.out, "Due longest") {
		t.Errorf("%s", r.out)
	}
	if _, text := g.get("/metrics"); !strings.Contains(text, "\nedigw_purge_last_success_timestamp_seconds 0\n") || strings.Contains(text, "\nedigw_purge_oldest_due_seconds 0\n") {
		t.Error("the metrics do not say that a key is due")
	}
	var f purge.Foreseen
	g.must(&f, "retention", "preview", "-o", "json")
	foreseen := int64(0)
	for _, s := range f.Steps {
		if s.Kind == "keys" && s.Reason == "" {
			foreseen += s.Rows
		}
	}
	if foreseen != int64(keys) {
		t.Errorf("%d of %d keys are foreseen: %+v", foreseen, keys, f.Steps)
	}
	if r := g.must(nil, "retention", "preview"); !strings.Contains(r.out, "PARTNER") || !strings.Contains(r.out, "STAYS BECAUSE") {
		t.Errorf("%s", r.out)
	}
	if r := g.must(nil, "retention", "pause", "--reason", "month end"); !strings.Contains(r.out, "month end") {
		t.Errorf("%s", r.out)
	}
	if r := g.do("retention", "purge"); r.code != exitFailed || !strings.Contains(r.stderr, "paused") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if _, text := g.get("/metrics"); !strings.Contains(text, "\nedigw_purge_paused 1\n") {
		t.Error("the metrics do not say that it is paused")
	}
	g.must(nil, "retention", "resume")
	var done purge.Report
	g.must(&done, "retention", "purge", "-o", "json")
	if done.State != purge.Done || done.By != "local" {
		t.Errorf("%+v", done)
	}
	if err := pool.QueryRow(t.Context(), `select count(*) from inbox`).Scan(&keys); err != nil || keys != 0 {
		t.Errorf("%d keys are left, %v", keys, err)
	}
	if r := g.must(nil, "retention", "runs"); !strings.Contains(r.out, done.ID.String()) {
		t.Errorf("%s", r.out)
	}
	if r := g.must(nil, "retention", "runs", done.ID.String()); !strings.Contains(r.out, "acme") || !strings.Contains(r.out, "by local: done") {
		t.Errorf("%s", r.out)
	}
	_, text := g.get("/metrics")
	if strings.Contains(text, "\nedigw_purge_last_success_timestamp_seconds 0\n") || strings.Contains(text, "\n"+`edigw_purge_rows_total{kind="keys"} 0`+"\n") || !strings.Contains(text, "\nedigw_purge_oldest_due_seconds 0\n") {
		t.Error("the metrics do not say that it purged")
	}
	for _, action := range []string{"retention.paused", "retention.resumed", "retention.purge_asked"} {
		if r := g.must(nil, "audit", "list", "--action", action); !strings.Contains(r.out, "local") {
			t.Errorf("%s is not audited: %s", action, r.out)
		}
	}
	if _, err := pool.Exec(t.Context(), `update purge set seen_at = now() - interval '40 days'`); err != nil {
		t.Fatal(err)
	}
	if r := g.do("retention", "purge"); r.code != exitFailed || !strings.Contains(r.stderr, "jumped") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if r := g.must(nil, "retention", "status"); !strings.Contains(r.out, "the database's clock jumped") {
		t.Errorf("%s", r.out)
	}
	if _, text := g.get("/metrics"); !strings.Contains(text, "\nedigw_purge_refused 1\n") {
		t.Error("the metrics do not say that it refuses")
	}
	g.must(nil, "retention", "confirm-clock", "--note", "the gateway was switched off")
	g.must(nil, "retention", "purge", "--no-wait")
}

func TestPurgeHours(t *testing.T) {
	at := func(clock string) time.Time {
		v, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 7, 9, v.Hour(), v.Minute(), 0, 0, time.UTC)
	}
	for _, c := range []struct {
		hours, at string
		left      time.Duration
	}{
		{"", "12:00", 24 * time.Hour},
		{"22:00-05:00", "21:59", 0},
		{"22:00-05:00", "22:00", 7 * time.Hour},
		{"22:00-05:00", "04:30", 30 * time.Minute},
		{"22:00-05:00", "05:00", 0},
		{"01:00-05:00", "00:59", 0},
		{"01:00-05:00", "01:00", 4 * time.Hour},
		{"01:00-05:00", "23:00", 0},
	} {
		h, err := hoursOf(c.hours)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.left(at(c.at)); got != c.left {
			t.Errorf("of %q at %s %v is left, want %v", c.hours, c.at, got, c.left)
		}
	}
	for _, wrong := range []string{"22-5", "22:00", "24:00-05:00", "22:00-22:00", "22:00-05:60", "22:00-05:00x", "-1:00-05:00", "a", "22:00 05:00"} {
		if _, err := hoursOf(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	for _, args := range [][]string{{"--purge-hours", "9-5"}, {"--purge-every", "1s"}} {
		if r := edigw(t, "", nil, append([]string{"serve", "--data-dir", t.TempDir(), "--database-url", pgtest.URL(t), "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"}, args...)...); r.code != exitUsage {
			t.Errorf("%v: exit %d: %s", args, r.code, r.stderr)
		}
	}
}
