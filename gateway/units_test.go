package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// Two logistic units of a supplier's.
const (
	pallet  = "095200000004410014"
	another = "095200000004410021"
)

// notice is a despatch advice with a package for each of its units.
type notice struct {
	number, function string
	units            []string
}

// notices writes a DESADV interchange of acme.
func notices(ref string, list ...notice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+%s'", ref)
	for i, n := range list {
		if n.function == "" {
			n.function = "9"
		}
		var m strings.Builder
		fmt.Fprintf(&m, "UNH+%d+DESADV:D:96A:UN:EAN005'BGM+351+%s+%s'DTM+137:20261127:102'NAD+SU+9520001000010::9'NAD+DP+9520002000774::9'CPS+1'", i+1, n.number, n.function)
		for j, unit := range n.units {
			fmt.Fprintf(&m, "CPS+%d+1'PAC+1++201::9'PCI+33E'GIN+BJ+%s'LIN+%d++9520000001018:EN'QTY+12:%d'", j+2, unit, j+1, 10+j)
		}
		text := m.String()
		fmt.Fprintf(&b, "%sUNT+%d+%d'", text, strings.Count(text, "'")+1, i+1)
	}
	fmt.Fprintf(&b, "UNZ+%d+%s'", len(list), ref)
	return b.String()
}

// foundBy gives the findings of a receipt's interchanges, but for those of structure.
func foundBy(t *testing.T, rec *gateway.Receipt) (list []string) {
	t.Helper()
	for _, item := range rec.Items {
		var ic gateway.InterchangeReceipt
		if err := json.Unmarshal(item.JSON, &ic); err != nil {
			t.Fatal(err)
		}
		for _, f := range ic.Findings {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Standard))+fmt.Sprintf(" in %d: %s", f.MessageIndex, f.Message))
		}
	}
	return list
}

// kept gives the codes of the findings that are kept with a despatch advice.
func (r *rig) kept(number string) (list []string) {
	r.t.Helper()
	page, err := documents.Store{Pool: r.Pool}.List(r.t.Context(), documents.Filter{Partner: "acme", Number: number})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range page.Documents {
		full, err := documents.Store{Pool: r.Pool}.Get(r.t.Context(), "acme", d.ID)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, f := range full.Detail.Findings {
			list = append(list, f.Code)
		}
	}
	return list
}

func TestUnitsElsewhere(t *testing.T) {
	elsewhere := func(number string) []string {
		return []string{"note sscc-elsewhere in 1: SSCC " + pallet + " stands in despatch advice " + number + " of 2026-11-29 as well"}
	}
	// today replaces the day of receipt, which is the database's.
	today := func(r *rig, list []string) []string {
		var day string
		if err := r.Pool.QueryRow(t.Context(), `select (now() at time zone 'utc')::date::text`).Scan(&day); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], day, "2026-11-29")
		}
		return list
	}
	send := func(r *rig, ref string, list ...notice) []string {
		t.Helper()
		return today(r, foundBy(t, r.must("", notices(ref, list...), gateway.First, gateway.ToldAccepted, "I1b")))
	}
	t.Run("a unit that another despatch advice names is noted, and both are kept", func(t *testing.T) {
		r := newRig(t)
		if got := send(r, "D1", notice{number: "LS-1", units: []string{pallet, another}}); got != nil {
			t.Fatalf("the first: %v", got)
		}
		if diff := cmp.Diff(elsewhere("LS-1"), send(r, "D2", notice{number: "LS-2", units: []string{pallet}})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, r.kept("LS-2")); diff != "" || r.kept("LS-1") != nil || r.posted() != 2 {
			t.Errorf("%d posted; kept with LS-2 (-want +got):\n%s", r.posted(), diff)
		}
	})
	t.Run("zeros, or a wrong check digit, name no unit that may be elsewhere", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
		for i := range 2 {
			got := send(r, fmt.Sprint("Z", i), notice{number: fmt.Sprint("LS-", i), units: []string{"000000000000000000", "095200000004410015", "000000000000000000"}})
			want := []string{
				"warning sscc-check-digit in 1: 000000000000000000 is no valid SSCC: it is all zeros",
				"warning sscc-check-digit in 1: 095200000004410015 is no valid SSCC: its check digit is wrong",
				"warning sscc-check-digit in 1: 000000000000000000 is no valid SSCC: it is all zeros",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
	t.Run("what a notice replaces, cancels or repeats is no other", func(t *testing.T) {
		r := newRig(t)
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		for i, n := range []notice{
			{number: "LS-1", function: "5", units: []string{pallet, another}}, // in its place
			{number: "LS-1", function: "1", units: []string{pallet, another}}, // void
			{number: "LS-2", units: []string{pallet}},                         // and the pallet is free
		} {
			text := strings.Replace(notices(fmt.Sprint("E", i), n), "261129:1015", fmt.Sprintf("261129:110%d", i), 1)
			if got := foundBy(t, r.must("", text, gateway.First, gateway.ToldAccepted, "I1b")); got != nil {
				t.Errorf("%v: %v", n, got)
			}
		}
	})
	t.Run("in one interchange too", func(t *testing.T) {
		r := newRig(t)
		got := send(r, "D1", notice{number: "LS-1", units: []string{pallet}}, notice{number: "LS-2", units: []string{another, pallet}})
		want := []string{strings.Replace(elsewhere("LS-1")[0], "in 1", "in 2", 1)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("not in tests, in those of other partners, nor after a year", func(t *testing.T) {
		r := newRig(t)
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		test := strings.Replace(notices("D2", notice{number: "LS-2", units: []string{pallet}}), "+D2'", "+D2++++++1'", 1)
		if got := foundBy(t, r.must("", test, gateway.First, gateway.ToldAccepted, "I1b")); got != nil {
			t.Errorf("a test: %v", got)
		}
		bolts := strings.ReplaceAll(notices("D3", notice{number: "LS-3", units: []string{pallet}}), "9520001000010", "9520001000027")
		rec, err := r.deliver("bolt", "", bolts)
		if err != nil || foundBy(t, rec) != nil {
			t.Errorf("another partner's: %v, %v", foundBy(t, rec), err)
		}
		r.exec(`update document set received_at = received_at - interval '366 days' where number = 'LS-1'`)
		if got := send(r, "D4", notice{number: "LS-4", units: []string{pallet}}); got != nil {
			t.Errorf("after a year: %v", got)
		}
	})
	t.Run("a policy may refuse it, and have it posted when it is taken back", func(t *testing.T) {
		r := newRig(t)
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
		text := notices("D2", notice{number: "LS-2", units: []string{pallet}})
		rec := r.must("", text, gateway.First, gateway.ToldRejected, "I1b")
		want := []string{strings.Replace(elsewhere("LS-1")[0], "note sscc-elsewhere", "error sscc-elsewhere 26", 1)}
		if diff := cmp.Diff(want, today(r, foundBy(t, rec))); diff != "" || r.posted() != 1 {
			t.Fatalf("%d posted (-want +got):\n%s", r.posted(), diff)
		}
		if !strings.Contains(string(rec.Rendered.Body), "UCM+1+DESADV:D:96A:UN:EAN005+4'UCS+10'UCD+26+3'") {
			t.Errorf("CONTRL does not say so: %s", rec.Rendered.Body)
		}
		r.policy(func(p *partners.Policy) { p.Checks = nil })
		r.must("", text, gateway.Reevaluation, gateway.ToldAccepted, "I4")
		if r.posted() != 2 {
			t.Errorf("%d posted, want 2", r.posted())
		}
	})
	t.Run("where it is off nothing is looked for", func(t *testing.T) {
		r := newRig(t)
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"default": "off"} })
		if got := send(r, "D2", notice{number: "LS-2", units: []string{pallet}}); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a worker looks for them too, and may refuse", func(t *testing.T) {
		r := newRig(t)
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		r.deferring()
		r.must("", notices("D2", notice{number: "LS-2", units: []string{pallet}}), gateway.First, gateway.ToldDeferred, "I1b")
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
		r.must("", notices("D3", notice{number: "LS-3", units: []string{pallet}}), gateway.First, gateway.ToldDeferred, "I1b")
		r.policy(func(p *partners.Policy) { p.Checks = nil })
		if p := r.take("acme"); p == nil || p.Do(t.Context()) != nil {
			t.Fatal("the first job failed")
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, append(r.kept("LS-2"), r.kept("LS-3")...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		r.isStates("D2", "accepted", "posted")
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
		r.works(1)
		r.isStates("D3", "rejected", "refused")
		if r.posted() != 2 || r.kept("LS-3") != nil {
			t.Errorf("%d posted, want 2: the second job's is refused", r.posted())
		}
		again := r.must("", notices("D3", notice{number: "LS-3", units: []string{pallet}}), gateway.Duplicate, gateway.ToldDeferred, "I6")
		if !strings.Contains(string(again.Rendered.Body), "UCM+1+DESADV:D:96A:UN:EAN005+4'UCS+10'UCD+26+3'") {
			t.Errorf("CONTRL does not say so: %s", again.Rendered.Body)
		}
	})
	t.Run("a payload that is not kept in memory is held to it as well", func(t *testing.T) {
		r := newRig(t)
		r.Retained = 1
		send(r, "D1", notice{number: "LS-1", units: []string{pallet}})
		if diff := cmp.Diff(elsewhere("LS-1"), send(r, "D2", notice{number: "LS-2", units: []string{pallet}})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, r.kept("LS-2")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("deliveries that are committed together are looked at each", func(t *testing.T) {
		r := newRig(t)
		send(r, "D0", notice{number: "LS-0", units: []string{pallet}})
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
		everyone(t, 40, func(i int) error {
			unit, want := fmt.Sprintf("39520000%010d", i), gateway.ToldAccepted
			if i%4 == 0 {
				unit, want = pallet, gateway.ToldRejected
			}
			rec, err := r.deliver("acme", "", notices(fmt.Sprint("G", i), notice{number: fmt.Sprint("LS-G", i), units: []string{unit}}))
			if err == nil && rec.Answer != want {
				err = fmt.Errorf("told %s: %s", rec.Answer.Told().Word, rec.Rendered.Body)
			}
			return err
		})
		if r.posted() != 31 {
			t.Errorf("%d posted, want 31", r.posted())
		}
	})
}

func TestChecks(t *testing.T) {
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2", amount: "90.00"}) // ten at 10.00
	t.Run("a finding is noted by default, and kept with its document", func(t *testing.T) {
		r := newRig(t)
		rec := r.must("", text, gateway.First, gateway.ToldAccepted, "I1b")
		want := []string{"warning line-amount in 2: line 1: 10 at 10.00 gives 100.00, the line says 90.00"}
		if diff := cmp.Diff(want, foundBy(t, rec)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"line-amount"}, append(r.kept("R-1"), r.kept("R-2")...)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
	t.Run("by policy it refuses its message, which CONTRL tells with its place", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) {
			p.Checks, p.Acceptance = partners.Checks{"line-amount": "refuse"}, "message"
		})
		rec := r.must("", text, gateway.First, gateway.ToldPartly, "I1b")
		if diff := cmp.Diff([]string{"error line-amount 12 in 2: line 1: 10 at 10.00 gives 100.00, the line says 90.00"}, foundBy(t, rec)); diff != "" || r.posted() != 1 {
			t.Errorf("%d posted (-want +got):\n%s", r.posted(), diff)
		}
		if !strings.Contains(string(rec.Rendered.Body), "UCM+2+INVOIC:D:96A:UN:EAN008+4'UCS+9'UCD+12+2:2'") {
			t.Errorf("CONTRL does not say so: %s", rec.Rendered.Body)
		}
	})
	t.Run("what a worker finds refuses as well", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"default": "refuse"} })
		r.works(1)
		r.isStates("REF1", "rejected", "refused", "refused")
		if r.posted() != 0 {
			t.Errorf("%d posted, want none", r.posted())
		}
		again := r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I6")
		if !strings.Contains(string(again.Rendered.Body), "UCM+2+INVOIC:D:96A:UN:EAN008+4'UCS+9'UCD+12+2:2'") {
			t.Errorf("CONTRL does not say so: %s", again.Rendered.Body)
		}
	})
}
