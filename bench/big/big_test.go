package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestSmallForm is what `make big` does, on a file of 8 MiB.
func TestSmallForm(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	var out strings.Builder
	b := &big{size: 8 << 20, out: &out}
	if err := b.run(ctx); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Log("\n" + out.String())
	if len(b.broken) > 0 {
		t.Errorf("broken: %v", b.broken)
	}
}
