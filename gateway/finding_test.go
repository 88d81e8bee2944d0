package gateway_test

import (
	"encoding/json"
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
