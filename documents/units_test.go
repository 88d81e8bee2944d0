package documents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TestCarriedIsBounded: a number that a sender fills in for want of an SSCC stands in every
// package that ever was.
func TestCarriedIsBounded(t *testing.T) {
	pool := testPool(t)
	const few, many, aged, other = "095200000004410014", "095200000004410021", "095200000004410038", "095200000004410045"
	// packed stores a despatch advice in force for each time, with a package of the SSCC.
	packed := func(sscc string, times ...time.Time) {
		t.Helper()
		ids := make([]uuid.UUID, len(times))
		for i, at := range times {
			ids[i] = idAt(at)
			copy(ids[i][8:], sscc[10:])
		}
		if _, err := pool.Exec(t.Context(), `
			with d as (
				insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256, received_at)
				select 'acme', k.id, 'despatch_advice', '351', 'LS-' || k.at, 'live', 'unb:1', '\x00', k.received
				from unnest($2::uuid[], $3::timestamptz[]) with ordinality k (id, received, at))
			insert into document_package (partner_id, document_id, package, sscc) select 'acme', id, 1, $1 from unnest($2::uuid[]) id`, sscc, ids, times); err != nil {
			t.Fatal(err)
		}
	}
	since := func(from time.Time, n int) (times []time.Time) {
		for i := range n {
			times = append(times, from.Add(time.Duration(i)*time.Minute))
		}
		return times
	}
	week, years := time.Now().AddDate(0, 0, -7), time.Now().AddDate(-2, 0, 0)
	packed(few, since(week, maxCarried)...)
	packed(many, since(week, maxCarried+1)...)
	packed(aged, append(since(years, maxCarried+1), time.Now().Add(-time.Hour))...)
	packed(other, since(years, 5_000)...)
	if _, err := pool.Exec(t.Context(), `update document set cancelled_by = document_id where number <> 'LS-1' and received_at >= $1 and received_at < $2`, week, week.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "vacuum (analyze) document, document_package"); err != nil {
		t.Fatal(err)
	}
	var found []string
	var b pgx.Batch
	QueueCarried(&b, "acme", false, []string{few, many, aged, other}, []string{"LS-X", "LS-X", "LS-X", "LS-X"}, func(c Carried) { found = append(found, fmt.Sprint(c.At, " ", c.Number)) })
	asked := b.QueuedQueries[0]
	send(t, pool, &b)
	// The first of few alone is in force, and so is that of many, behind too many others;
	// of what is older than a year none is looked at.
	if diff := cmp.Diff([]string{"0 LS-1", fmt.Sprint("2 LS-", maxCarried+2)}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if plan := explained(t, pool, asked.SQL, asked.Arguments); !strings.Contains(plan, "Index Only Scan Backward using document_package_unit") || strings.Contains(plan, "Scan on document_package ") {
		t.Errorf("more than the index is read of packages:\n%s", plan)
	}
}

func TestComparable(t *testing.T) {
	for sscc, want := range map[string]bool{
		"095200000004410014": true,
		"095200000004410015": false, // the check digit
		"09520000000441001":  false,
		"000000000000000000": false,
		"":                   false,
	} {
		if got := (Unit{SSCC: sscc}).Comparable(); got != want {
			t.Errorf("%q: %v", sscc, got)
		}
	}
}
