package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
)

func TestLine(t *testing.T) {
	written := func(t *testing.T, l *Line) map[string]any {
		t.Helper()
		var b bytes.Buffer
		l.Write(context.Background(), slog.New(slog.NewJSONHandler(&b, nil)))
		line := map[string]any{}
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		return line
	}

	t.Run("outcome, level and reason follow from what happened", func(t *testing.T) {
		told := func(a Answer) *Receipt { return &Receipt{Answer: a} }
		for _, c := range []struct {
			line                   Line
			outcome, level, reason string
		}{
			{Line{Receipt: told(ToldAccepted)}, "accepted", "INFO", ""},
			{Line{Receipt: told(ToldDriftHeld)}, "quarantined", "INFO", ""},
			{Line{Receipt: told(ToldDrift)}, "quarantined", "WARN", "payload-drift"},
			{Line{Receipt: told(ToldTryAgain)}, "dead", "WARN", "try-again"},
			{Line{Err: fmt.Errorf("claim: %w", ErrBusy)}, "busy", "INFO", ""},
			{Line{Err: fmt.Errorf("split: %w", &Rejection{Reason: "sender-not-allowed"})}, "refused", "WARN", "sender-not-allowed"},
			{Line{Reason: "unknown-token"}, "refused", "WARN", "unknown-token"},
			{Line{Err: errors.New("disk full")}, "failed", "ERROR", ""},
		} {
			got := written(t, &c.line)
			if got["outcome"] != c.outcome || got["level"] != c.level {
				t.Errorf("%v: %v", c.line, got)
			}
			if reason, _ := got["reason"].(string); reason != c.reason {
				t.Errorf("%v: reason %q", c.line, reason)
			}
		}
	})

	t.Run("a delivery of many interchanges stays one line", func(t *testing.T) {
		r := &Receipt{Answer: ToldAccepted}
		for i := range 1000 {
			r.Keys, r.Rules = append(r.Keys, fmt.Sprint(i)), append(r.Rules, "I1b")
		}
		got := written(t, &Line{Receipt: r})
		if len(got["keys"].([]any)) != 8 || got["keys_omitted"] != 992.0 || len(got["rules"].([]any)) != 8 {
			t.Errorf("got %v", got)
		}
	})
}
