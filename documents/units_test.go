package documents

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// TestCarriedIsBounded: a number that a sender fills in for want of an SSCC stands in every
// package that ever was.
func TestCarriedIsBounded(t *testing.T) {
	pool := testPool(t)
	const few, many = "095200000004410014", "095200000004410021"
	// Of each SSCC the last package alone is of a despatch advice that is in force.
	for sscc, n := range map[string]int{few: maxCarried, many: maxCarried + 1} {
		if _, err := pool.Exec(t.Context(), `
			with d as (
				insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256, cancelled_by)
				select 'acme', gen_random_uuid(), 'despatch_advice', '351', 'LS-' || n, 'live', 'unb:1', '\x00', case when n < $2::int then gen_random_uuid() end
				from generate_series(1, $2::int) n
				returning document_id, number)
			insert into document_package (partner_id, document_id, package, sscc)
			select 'acme', document_id, 1, $1 from d order by length(number), number`, sscc, n); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	var b pgx.Batch
	QueueCarried(&b, "acme", false, []string{few, many}, []string{"LS-X", "LS-X"}, func(c Carried) { found = append(found, fmt.Sprint(c.At, " ", c.Number)) })
	send(t, pool, &b)
	if diff := cmp.Diff([]string{fmt.Sprint("0 LS-", maxCarried)}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
