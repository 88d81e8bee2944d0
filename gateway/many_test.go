package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// TestManyMessages sends an interchange of more messages than their states fit
// into its row, and than are kept in memory between prepare and write.
func TestManyMessages(t *testing.T) {
	const n = 10_500
	r := newRig(t)
	r.Retained = 64 << 10
	ms := make([]message, n)
	for i := range ms {
		ms[i].number = fmt.Sprintf("RE-%05d", i)
	}
	ms[7].bad, ms[n-1].bad = "count", "count"
	r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
	first := interchange("MANY", ms...)

	r.must("", first, gateway.First, gateway.ToldPartly, "I1b")
	if got := r.posted(); got != n-2 {
		t.Fatalf("%d documents, want %d", got, n-2)
	}
	if got := r.count(`select count(*) from outbox where type = 'document.created'`); got != n-2 {
		t.Errorf("%d events, want %d", got, n-2)
	}
	if got := r.count(`select count(distinct document_id) from document_line`); got != n-2 {
		t.Errorf("lines of %d documents, want %d", got, n-2)
	}

	t.Run("their states are read back whole", func(t *testing.T) {
		ref := dedup.Ref{Partner: "acme", ID: r.key("MANY")}
		keys, err := dedup.Load(context.Background(), r.Pool, []dedup.Ref{ref})
		if err != nil {
			t.Fatal(err)
		}
		v := keys[ref].Current()
		if len(v.Messages) != n {
			t.Fatalf("%d message states, want %d", len(v.Messages), n)
		}
		for i, m := range v.Messages {
			want := dedup.Posted
			if ms[i].bad != "" {
				want = dedup.RefusedMsg
			}
			if m.Fate != want {
				t.Fatalf("message %d is %s, want %s", i, m.Fate, want)
			}
		}
	})
	t.Run("a repeat gets the same answer", func(t *testing.T) {
		r.must("", first, gateway.Duplicate, gateway.ToldPartly, "I6")
	})
	t.Run("the mended file completes it", func(t *testing.T) {
		ms[7].bad, ms[n-1].bad = "", ""
		r.must("", interchange("MANY", ms...), gateway.Completion, gateway.ToldAccepted, "I10")
		if got := r.posted(); got != n {
			t.Errorf("%d documents, want %d", got, n)
		}
		if got := r.count(`select sum(length(records)) / 44 from message_state`); got != 2*n {
			t.Errorf("%d message states, want %d of each variant", got, n)
		}
	})
	t.Run("under a new reference the guard absorbs all but one", func(t *testing.T) {
		ms[3].number = "RE-NEW"
		rec := r.must("", interchange("MANY2", ms...), gateway.First, gateway.ToldAccepted, "I1b")
		if got := r.posted(); got != n+1 || rec.Posted != 1 {
			t.Errorf("%d documents, %d posted now; want %d, 1", got, rec.Posted, n+1)
		}
	})
	t.Run("a changed amount in one is held, whatever the number of the others", func(t *testing.T) {
		ms[5].amount = "999.00"
		rec := r.must("", interchange("MANY3", ms...), gateway.First, gateway.ToldAccepted, "I1b")
		if got := r.count(`select count(*) from drift_alert where kind = 'document' and documents = array['RE-00005']`); got != 1 || rec.Posted != 0 {
			t.Errorf("%d alerts, %d posted\n%s", got, rec.Posted, strings.TrimSpace(string(rec.Rendered.Body[:500])))
		}
	})
}
