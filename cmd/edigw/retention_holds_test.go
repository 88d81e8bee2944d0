package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/edigw/edigw/pgtest"
	"github.com/edigw/edigw/purge"
)

func TestLegalHoldsOnTheCommandLine(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	g.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	pool := pgtest.Pool(t, g.url)
	var key string
	if err := pool.QueryRow(t.Context(), `
		update inbox set last_at = last_at - interval '500 days', purge_on = (now() - interval '100 days')::date
		where kind = 2 returning message_id`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	if r := g.must(nil, "retention", "hold", "acme", key, "--reason", "the tax audit"); !strings.Contains(r.out, key) || !strings.Contains(r.out, "the tax audit") {
		t.Errorf("%s", r.out)
	}
	if r := g.do("retention", "hold", "acme", key, "--reason", "again"); r.code != exitFailed || !strings.Contains(r.stderr, "held already") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if r := g.do("retention", "hold", "acme", "unb:nobody", "--reason", "x"); r.code != exitFailed || !strings.Contains(r.stderr, "no such message") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	g.must(nil, "retention", "purge")
	there := func() (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), `select count(*) from inbox where message_id = $1`, key).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if there() != 1 {
		t.Fatal("a message went that a person holds")
	}
	var list []struct{ Reason string }
	g.must(&list, "retention", "holds", "--partner", "acme", "-o", "json")
	if len(list) != 1 || list[0].Reason != "the tax audit" {
		t.Errorf("%+v", list)
	}
	g.must(nil, "retention", "release", "acme", key, "--reason", "it is over")
	if r := g.do("retention", "release", "acme", key, "--reason", "twice"); r.code != exitFailed || !strings.Contains(r.stderr, "not held") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	for _, action := range []string{"legal_hold.added", "legal_hold.ended"} {
		if r := g.must(nil, "audit", "list", "--action", action); !strings.Contains(r.out, key) {
			t.Errorf("%s is not audited: %s", action, r.out)
		}
	}
	if r := g.must(nil, "retention", "show", "acme"); !strings.Contains(r.out, "dedup_window") || !strings.Contains(r.out, "400d") {
		t.Errorf("%s", r.out)
	}
	var p struct{ Now, Then []purge.Step }
	g.must(&p, "retention", "show", "acme", "--with", `{"dedup_window": "600d"}`, "-o", "json")
	goes := func(steps []purge.Step) (n int64) {
		for _, s := range steps {
			if s.Kind == "keys" && s.Reason == "" {
				n += s.Rows
			}
		}
		return n
	}
	// It was looked at while it was held, and is looked at again in thirty days; a change of
	// windows looks at all.
	if goes(p.Then) != 0 {
		text, _ := json.Marshal(p)
		t.Errorf("a key of 500 days would go of 600: %s", text)
	}
	g.must(&p, "retention", "show", "acme", "--with", `{"dedup_window": "450d"}`, "-o", "json")
	if goes(p.Then) != 1 {
		text, _ := json.Marshal(p)
		t.Errorf("a key of 500 days would not go of 450: %s", text)
	}
	if r := g.do("retention", "show", "acme", "--with", `{"dedup_window": "5d"}`); r.code != exitFailed || !strings.Contains(r.stderr, "retry_window") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if r := g.do("retention", "show", "acme", "--with", `5d`); r.code != exitUsage {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}
