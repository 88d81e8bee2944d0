package httpin_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
)

func TestAnswer(t *testing.T) {
	t.Run("a repeat of a 201 is a 200 with the same body", func(t *testing.T) {
		repeat := false
		in := serve(t, func(in *ingress) {
			in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
				r, err := accept(d)
				if repeat {
					r.Repeat, r.Verdict = true, gateway.Duplicate
				}
				return r, err
			}
		})
		first := in.post(t, "acme", strings.NewReader(interchange), "Idempotency-Key", "m1")
		repeat = true
		again := in.post(t, "acme", strings.NewReader(interchange), "Idempotency-Key", "m1")
		if diff := cmp.Diff(first.Body, again.Body); diff != "" {
			t.Error(diff)
		}
		if first.Status != 201 || again.Status != 200 {
			t.Errorf("got %d, then %d", first.Status, again.Status)
		}
		for name, want := range map[string][2]string{
			"Edigw-Verdict":       {"first", "duplicate"},
			"Idempotent-Replayed": {"", "true"},
			"Edigw-Delivery":      {"01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000001"},
			"Content-Type":        {"application/json", "application/json"},
			"Content-Length":      {strconv.Itoa(len(first.Body)), strconv.Itoa(len(first.Body))},
			"Retry-After":         {"", ""},
		} {
			if got := [2]string{first.Header.Get(name), again.Header.Get(name)}; got != want {
				t.Errorf("%s is %q, not %q", name, got, want)
			}
		}
	})

	t.Run("a repeat of anything else keeps its status", func(t *testing.T) {
		for _, told := range gateway.Answers {
			in := serve(t, func(in *ingress) {
				in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
					r, err := receipt(d, told.Answer)
					r.Repeat = true
					return r, err
				}
			})
			want := told.HTTP
			if want == 201 {
				want = 200
			}
			a := in.post(t, "acme", strings.NewReader(interchange))
			if a.Status != want || (a.Header.Get("Retry-After") != "") != (want == 503) {
				t.Errorf("%s: got %d, Retry-After %q", told.Word, a.Status, a.Header.Get("Retry-After"))
			}
			in.counted(t, 1, "edigw_deliveries_total", "transport", "http", "partner", "acme", "outcome", told.Word)
		}
	})

	t.Run("verdicts of two words have a hyphen", func(t *testing.T) {
		in := serve(t, func(in *ingress) {
			in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
				r, err := accept(d)
				r.Verdict = gateway.Reevaluation
				return r, err
			}
		})
		if a := in.post(t, "acme", strings.NewReader(interchange)); a.Header.Get("Edigw-Verdict") != "re-evaluation" {
			t.Errorf("got %q", a.Header.Get("Edigw-Verdict"))
		}
	})
}

func TestReceiveFails(t *testing.T) {
	secret := errors.New("password authentication failed for user edigw")
	for _, c := range []struct {
		name    string
		receipt *gateway.Receipt
		err     error
		status  int
		problem string
		says    string
		outcome string
	}{
		{"the first copy is still running", nil, fmt.Errorf("receive: %w", gateway.ErrBusy), 409, "in-progress", "Retry-After", "busy"},
		{"the sender is not allowed", nil, &gateway.Rejection{Answer: gateway.ToldSenderNotAllowed, Reason: "sender-not-allowed", Detail: "4012345000009 is nobody's"}, 403, "sender-not-allowed", "4012345000009 is nobody's. The sender", "refused"},
		{"a rejection that is wrapped", nil, fmt.Errorf("split: %w", &gateway.Rejection{Answer: gateway.ToldUnsupported, Reason: "type"}), 422, "unsupported", "Ask us", "refused"},
		{"a rejection without an answer", nil, &gateway.Rejection{Reason: "odd", Detail: "password"}, 503, "unavailable", "Nothing was kept", "refused"},
		{"the database is away", nil, secret, 503, "unavailable", "Nothing was kept", "failed"},
		{"no receipt", nil, nil, 503, "unavailable", "Nothing was kept", "failed"},
		{"a receipt without an answer", &gateway.Receipt{}, nil, 503, "unavailable", "Nothing was kept", "failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := serve(t, func(in *ingress) {
				in.Handler.Receive = func(ctx, *gateway.Delivery) (*gateway.Receipt, error) { return c.receipt, c.err }
			})
			a := in.post(t, "acme", strings.NewReader(interchange), "Idempotency-Key", "m1")
			if got := a.problem(t); a.Status != c.status || got != c.problem || !strings.Contains(a.Body, c.says) {
				t.Errorf("got %d %s: %s", a.Status, got, a.Body)
			}
			if strings.Contains(a.Body, "password") {
				t.Error("the partner is told what is wrong on our side")
			}
			if again := a.Header.Get("Retry-After"); (again != "") != (c.status == 409 || c.status == 503) {
				t.Errorf("Retry-After is %q", again)
			}
			line := in.line(t)
			if line["outcome"] != c.outcome || line["message_id"] != "http:north:m1" || line["status"] != float64(c.status) {
				t.Errorf("the log says %v", line)
			}
			if c.err == secret && (line["level"] != "ERROR" || line["error"] != secret.Error()) {
				t.Errorf("the log says %v", line)
			}
		})
	}
}

func TestLogLine(t *testing.T) {
	in := serve(t, func(in *ingress) {
		in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
			r, err := accept(d)
			r.Keys, r.Posted = []string{"http:north:m1", "unb:ACME:14:NORTH:14:R1"}, 2
			return r, err
		}
	})
	in.post(t, "acme", strings.NewReader(interchange), "Idempotency-Key", "m1", "Content-Disposition", "attachment; filename=x.edi")
	line := in.line(t)
	if took, ok := line["took"].(float64); !ok || took <= 0 {
		t.Errorf("took is %v", line["took"])
	}
	delete(line, "took")
	delete(line, "time")
	want := map[string]any{
		"level": "INFO", "msg": "delivery", "partner": "acme", "transport": "http", "outcome": "accepted", "verdict": "first",
		"delivery": "01900000-0000-7000-8000-000000000001", "message_id": "http:north:m1",
		"keys": []any{"http:north:m1", "unb:ACME:14:NORTH:14:R1"}, "rules": []any{"I1b"}, "documents": 2.0,
		"status": 201.0, "bytes": float64(len(interchange)), "remote": "127.0.0.1",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Error(diff)
	}
}
