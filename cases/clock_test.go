package cases_test

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/journal"
)

// clockSetBack sends again after the gateway's clock went back two hours.
func clockSetBack(t *testing.T, r *rig) {
	q := request{body: input(t, "46-failed-then-resent.edi")}
	if a := send(t, r.url, q); a.status != 201 {
		t.Fatal(a.lines(t))
	}
	r.shift(-2 * time.Hour)
	if a := send(t, r.url, q); a.status != 200 || a.verdict() != "duplicate" {
		t.Fatal(a.lines(t))
	}
	r.postedOnce("RG-32")
	r.newestIs("duplicate", "first")
}

// newestIs expects these verdicts in the journal, the latest first.
func (r *rig) newestIs(want ...string) {
	r.t.Helper()
	r.later.Flush(r.t.Context())
	rows, err := journal.Reader{Pool: r.pool}.List(r.t.Context(), journal.Filter{Partners: []string{"talquist"}, Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	var got []string
	for _, d := range rows {
		got = append(got, d.Verdict)
	}
	if d := gocmp.Diff(want, got); d != "" {
		r.t.Fatalf("the journal, the latest first (-want +got):\n%s", d)
	}
}

// clocksDisagree sends to one gateway, then to another that is ten minutes
// behind, then to one that is ten minutes ahead.
func clocksDisagree(t *testing.T, r *rig) {
	q := request{id: "98c", body: input(t, "46-failed-then-resent.edi")}
	if a := send(t, r.url, q); a.status != 201 {
		t.Fatal(a.lines(t))
	}
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		log := slog.New(slog.NewTextHandler(io.Discard, nil))
		other := r.newGateway(log, func() time.Time { return r.clock().Add(off) })
		if a := send(t, r.serve(other, log), q); a.status != 200 || a.verdict() != "duplicate" {
			t.Fatalf("a node %s off answered %v", off, a.lines(t))
		}
	}
	r.postedOnce("RG-32")
	r.newestIs("duplicate", "duplicate", "first")
}

// repeatedHour sends what was prepared at 02:30 on the day when summer time ends:
// once before and once after the clock went back.
func repeatedHour(t *testing.T, r *rig) {
	at := func(reference, number string) request {
		return request{body: input(t, "46-failed-then-resent.edi", "261129:1015", "261025:0230", "REF000412", reference, "RG-32", number)}
	}
	for i, reference := range []string{"REF0098D1", "REF0098D2"} {
		q := at(reference, fmt.Sprint("RG-98-", i))
		if a := send(t, r.url, q); a.status != 201 || a.verdict() != "first" {
			t.Fatal(a.lines(t))
		}
		if a := send(t, r.url, q); a.status != 200 || a.verdict() != "duplicate" {
			t.Fatal(a.lines(t))
		}
	}
	if n := r.count(`select count(*) from document`); n != 2 {
		t.Fatalf("%d documents, want 2", n)
	}
}
