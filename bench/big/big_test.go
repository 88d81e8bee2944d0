package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// TestSmallForms do what `make big`, `make big-as4` and `make big-invoices` do, on files
// of some MiB.
func TestSmallForms(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "edigw")
	if err := site.Build(ctx, program); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		big big
		run func(*big, context.Context) error
	}{
		"8 MiB over HTTP": {big{size: 8 << 20}, (*big).run},
		// With its heap held to 48 MiB the gateway takes some 70, half of it before anything
		// is sent: a payload that were in memory once would break the bound.
		"16 MiB over AS4": {big{size: 16 << 20, env: []string{"GOMEMLIMIT=48MiB"}, memory: 84 << 20, deferred: true}, (*big).receiveAS4},
		"1000 invoices":   {big{messages: 1000, env: []string{"GOMEMLIMIT=48MiB"}, memory: 96 << 20}, (*big).receiveInvoices},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			b := c.big
			b.program, b.out = program, &out
			if err := c.run(&b, ctx); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			t.Log("\n" + out.String())
			if len(b.broken) > 0 {
				t.Errorf("broken: %v", b.broken)
			}
		})
	}
}
