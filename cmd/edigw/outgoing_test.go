package main

import (
	"strings"
	"testing"

	"github.com/edigw/edigw/pgtest"
)

func TestHoldOutgoing(t *testing.T) {
	g := serveGateway(t, "--hold-outgoing")
	t.Run("a start with --hold-outgoing says everywhere that nothing leaves, and takes deliveries", func(t *testing.T) {
		if _, text := g.get("/readyz"); !strings.Contains(text, "[!] outgoing: nothing leaves") {
			t.Error(text)
		}
		if _, text := g.get("/metrics"); !strings.Contains(text, "\nedigw_outgoing_held 1\n") {
			t.Error("the metric does not say so")
		}
		if !strings.Contains(g.log.String(), "nothing leaves") {
			t.Errorf("the log does not say so: %s", g.log)
		}
		if r := g.do("doctor", "--database-url", g.url); !strings.Contains(r.out, "FAIL  outgoing") || strings.Contains(r.out, "subscriptions") {
			t.Errorf("the doctor does not say so: %s", r.out)
		}
		if r := g.must(nil, "outgoing", "show"); !strings.Contains(r.out, "--hold-outgoing") {
			t.Error(r.out)
		}
	})
	t.Run("a person confirms, and it leaves", func(t *testing.T) {
		if r := g.must(nil, "outgoing", "confirm", "--note", "it is the only one"); !strings.HasPrefix(r.out, "What leaves is not held.") {
			t.Error(r.out)
		}
		if _, text := g.get("/readyz?verbose"); !strings.Contains(text, "[+] outgoing") {
			t.Error(text)
		}
		if _, text := g.get("/metrics"); !strings.Contains(text, "\nedigw_outgoing_held 0\n") {
			t.Error("the metric does not say so")
		}
	})
	t.Run("it is held by hand, too", func(t *testing.T) {
		if r := g.must(nil, "outgoing", "hold", "--reason", "the ERP moves"); !strings.Contains(r.out, "the ERP moves") {
			t.Error(r.out)
		}
	})
}

func TestADatabaseReplacedBeneathAGatewayIsHeld(t *testing.T) {
	g := serveGateway(t)
	pool := pgtest.Pool(t, g.url)
	if _, err := pool.Exec(t.Context(), `update outgoing set reason = ''`); err != nil { // written anew, as a restore does
		t.Fatal(err)
	}
	var told struct {
		Held   bool   `json:"held"`
		Reason string `json:"reason"`
	}
	g.must(&told, "outgoing", "show", "-o", "json")
	if !told.Held || !strings.Contains(told.Reason, "restored") {
		t.Errorf("before any process looked: %+v", told)
	}
}
