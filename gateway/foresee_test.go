package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
)

// foreseen has a delivery foreseen, then received: what was said is what comes,
// and nothing had been done before it.
func (r *rig) foreseen(d *gateway.Delivery) (*gateway.Receipt, error) {
	r.t.Helper()
	before := r.rows()
	said, saidErr := r.Foresee(context.Background(), d)
	if diff := cmp.Diff(before, r.rows()); diff != "" {
		r.t.Errorf("foreseeing left something behind:\n%s", diff)
	}
	came, err := r.Receive(context.Background(), d)
	if diff := cmp.Diff(summary(said, saidErr), summary(came, err)); diff != "" {
		r.t.Errorf("foreseen - came +\n%s", diff)
	}
	return came, err
}

// rows tells one state of the tables from another.
func (r *rig) rows() map[string]string {
	r.t.Helper()
	state := map[string]string{}
	for _, table := range []string{"inbox", "variant", "message_state", "document_key", "drift_alert", "drift_copy", "job", "delivery", "payload", "acknowledgement", "outbox", "effect", "document", "document_line"} {
		var s string
		if err := r.Pool.QueryRow(context.Background(), `select count(*) || ' rows of ' || coalesce(sum(xmin::text::bigint), 0) from `+table).Scan(&s); err != nil {
			r.t.Fatal(err)
		}
		state[table] = s
	}
	return state
}

func summary(r *gateway.Receipt, err error) string {
	if no := (*gateway.Rejection)(nil); errors.As(err, &no) {
		return fmt.Sprintf("rejected: %s", no.Reason)
	}
	if err != nil {
		return "failed"
	}
	return fmt.Sprintf("%s, %s, rows %s", r.Verdict, r.Answer.Told().Word, strings.Join(r.Rules, ","))
}

func TestForesee(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(rowTests)) {
		t.Run("what row "+name+" does is said before, and not done", func(t *testing.T) {
			r := newRig(t)
			r.sees = true
			rowTests[name](t, r)
		})
	}
}
