package cases_test

import (
	"context"
	"errors"
	"strings"

	"github.com/edigw/edigw/gateway"
)

// given is what Receive gave for a delivery over AS2 or AS4.
type given struct {
	receipt *gateway.Receipt
	err     error
}

// noted is receive, and keeps what it gives.
func (r *rig) noted(receive func(context.Context, *gateway.Delivery) (*gateway.Receipt, error)) func(context.Context, *gateway.Delivery) (*gateway.Receipt, error) {
	return func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
		receipt, err := receive(ctx, d)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.given = append(r.given, given{receipt, err})
		return receipt, err
	}
}

// answers are those that were given so far, of each interchange.
func (r *rig) answers() (list []gateway.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.given {
		if refused := (*gateway.Rejection)(nil); errors.As(g.err, &refused) {
			list = append(list, refused.Answer)
		}
		if g.receipt == nil {
			continue
		}
		for _, it := range g.receipt.Items {
			list = append(list, it.Answer)
		}
	}
	return list
}

// rows names those of the outcome table by which the last delivery was judged.
func (r *rig) rows() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.given) == 0 {
		return "nothing was received"
	}
	last := r.given[len(r.given)-1]
	if last.err != nil {
		return last.err.Error()
	}
	return strings.Join(last.receipt.Rules, ",")
}

// told503 is an answer without an MDN, after which the sender comes again.
const told503 = `503 ""`

// brings posts a payload as the message of an id, with an MDN asked for; it expects the
// rows of the outcome table that it is judged by, and what is told.
func (r *rig) brings(id, payload, rows, told string) *mdn {
	r.t.Helper()
	m := r.post(id, asksMDN, payload)
	if got := r.rows(); got != rows {
		r.t.Fatalf("it was judged by %s, want %s, and told %s\n%s", got, rows, m, m.body)
	}
	r.told(m, told, "")
	return m
}

// same expects that a repeat is told what came before, byte for byte.
func (r *rig) same(before, again *mdn) {
	r.t.Helper()
	if string(before.body) != string(again.body) {
		r.t.Errorf("a repeat is told in other bytes:\n%s\n%s", before.body, again.body)
	}
}
