package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
)

// TestFindingsNameTheirMessage: places are counted from a message's first segment,
// so that a finding says which message it is.
func TestFindingsNameTheirMessage(t *testing.T) {
	r := newRig(t)
	rec := r.must("", interchange("REF1", message{ref: "A7", number: "R-1"}, message{ref: "A8", number: "R-2", bad: "count"}, message{ref: "A8", number: "R-3"}), gateway.First, gateway.ToldRejected, "I1b")
	var told gateway.InterchangeReceipt
	if err := json.Unmarshal(rec.Items[0].JSON, &told); err != nil {
		t.Fatal(err)
	}
	type named struct {
		Code, Reference string
		Index           int
	}
	var got []named
	for _, f := range told.Findings {
		got = append(got, named{f.Code, f.MessageReference, f.MessageIndex})
	}
	want := []named{{"unt-count-mismatch", "A8", 2}, {"message-reference-duplicate", "A8", 3}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

// TestWarningsHideNoErrorInAReceipt has a message that is refused behind more
// messages with warnings than a receipt names.
func TestWarningsHideNoErrorInAReceipt(t *testing.T) {
	r := newRig(t)
	ms := make([]message, 130)
	for i := range ms {
		ms[i] = message{number: fmt.Sprintf("R-%d", i), amount: "90.00"} // ten at 10.00
	}
	ms[len(ms)-1].bad = "count"
	rec := r.must("", interchange("REF1", ms...), gateway.First, gateway.ToldRejected, "I1b")
	var told gateway.InterchangeReceipt
	if err := json.Unmarshal(rec.Items[0].JSON, &told); err != nil {
		t.Fatal(err)
	}
	var errors []string
	for _, f := range told.Findings {
		if f.Refuses() {
			errors = append(errors, fmt.Sprint(f.Code, " ", f.MessageIndex))
		}
	}
	if d := cmp.Diff([]string{"unt-count-mismatch 130"}, errors); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
	if len(told.Findings) != 100 || told.FindingsOmitted == 0 {
		t.Errorf("%d findings, %d omitted", len(told.Findings), told.FindingsOmitted)
	}
}
