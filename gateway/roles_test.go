package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// TestDocumentsAreReadByTheirPartnersGuide posts an invoice twice, of which the second
// comes when the partner's guide says that MOA 79 is what is due.
func TestDocumentsAreReadByTheirPartnersGuide(t *testing.T) {
	r := newRig(t)
	r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	set, ok := roles.New(roles.Automatic, roles.Settings{roles.Totals: {"79": "payable"}})
	if !ok {
		t.Fatal("no set")
	}
	r.policy(func(p *partners.Policy) { p.Roles = set })
	r.must("", interchange("REF2", message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "I1b")
	rows, err := r.Pool.Query(t.Context(), `select number || ' ' || coalesce(line_total::text, 'none') || ' ' || coalesce(payable::text, 'none') from document order by number`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff([]string{"R-1 100.00 none", "R-2 none 100.00"}, got); diff != "" {
		t.Error(diff)
	}
}
