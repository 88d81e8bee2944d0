package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
)

// TestSpoiledGroups lets a partner send what no group takes, in one group with
// twenty new messages of another.
func TestSpoiledGroups(t *testing.T) {
	const n = 20
	ofBolt := func(ref string) string {
		return strings.ReplaceAll(interchangeFrom("9520001000027:14", "261129:1015", ref, message{number: ref}), "NAD+SU+9520001000010", "NAD+SU+9520001000027")
	}
	// together has acme send its payloads and bolt twenty new ones while every
	// committer is stopped, so that all of them are there when the next is free. It
	// gives what acme was told.
	together := func(t *testing.T, r *rig, of func(i int) string) (told [n]gateway.Answer) {
		t.Helper()
		gate := stopAt(t, r, "begin", 4)
		var stopped []*storm
		for i := range int64(4) {
			ref := fmt.Sprintf("STOP%d", i)
			stopped = append(stopped, r.storm(interchange(ref, message{number: ref})))
			gate.reached(t, i+1)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			everyone(t, 2*n, func(i int) error {
				if i < n {
					rec, err := r.deliver("acme", "", of(i))
					if err == nil {
						told[i] = rec.Answer
					}
					return err
				}
				_, err := r.deliver("bolt", "", ofBolt(fmt.Sprintf("B%d", i)))
				return err
			})
		}()
		until(t, "all of them wait for a committer", func() bool {
			return r.has("edigw_partner_waiting", "acme", "commit") == n && r.has("edigw_partner_waiting", "bolt", "commit") == n
		})
		gate.release()
		<-done
		for _, s := range stopped {
			s.wg.Wait()
		}
		if got := r.count(`select count(*) from outbox where partner_id = 'bolt' and type = 'document.created'`); got != n {
			t.Errorf("%d documents of the other partner, want %d", got, n)
		}
		if got := r.count(`select count(distinct xid::text) from outbox where partner_id = 'bolt' and type = 'document.created'`); got != 1 {
			t.Errorf("the other partner's %d messages were committed in %d transactions, want 1", n, got)
		}
		return told
	}
	all := func(t *testing.T, told [n]gateway.Answer, want func(i int) gateway.Answer) {
		t.Helper()
		for i, a := range told {
			if a != want(i) {
				t.Errorf("message %d was told %s", i, a.Told().Word)
			}
		}
	}
	accepted := func(int) gateway.Answer { return gateway.ToldAccepted }

	t.Run("known documents under new control references", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		number := func(i int) message { return message{number: fmt.Sprintf("A%d", i)} }
		for i := range n {
			r.must("", interchange(fmt.Sprintf("A%d", i), number(i)), gateway.First, gateway.ToldAccepted, "I1b")
		}
		all(t, together(t, r, func(i int) string { return interchange(fmt.Sprintf("AGAIN%d", i), number(i)) }), accepted)
		if got := r.count(`select count(*) from document where partner_id = 'acme'`); got != n+4 {
			t.Errorf("%d documents of the partner, want %d", got, n+4)
		}
	})
	t.Run("what stands in an open drift", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		r.must("", interchange("D", message{number: "D0"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("D", message{number: "D1", amount: "7.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		all(t, together(t, r, func(i int) string {
			return interchange(fmt.Sprintf("COPY%d", i), message{number: fmt.Sprintf("C%d", i), amount: "7.00"})
		}), accepted)
		if got := r.count(`select (detail->>'possible_copies_seen')::int from drift_alert`); got != n {
			t.Errorf("%d of %d were seen as copies", got, n)
		}
	})
	t.Run("a document that the database refuses", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		r.exec(`alter table document add constraint no_seven check (number <> 'R7')`)
		all(t, together(t, r, func(i int) string {
			return interchange(fmt.Sprintf("R%d", i), message{number: fmt.Sprintf("R%d", i)})
		}), func(i int) gateway.Answer {
			if i == 7 {
				return gateway.ToldRejected
			}
			return gateway.ToldAccepted
		})
	})
	t.Run("a key that another process holds", func(t *testing.T) {
		pool := poolOf20(t)
		r, other := newRigOn(t, pool), newRigOn(t, pool)
		held := interchange("HELD", message{number: "HELD"})
		gate := stopAt(t, other, "claim", 1)
		first := other.storm(held)
		gate.reached(t, 1)
		of := func(i int) string { return interchange(fmt.Sprintf("H%d", i), message{number: "HELD"}) } // its guard key
		go func() {
			for r.has("edigw_partner_connections", "acme", "") == 0 { // until a member of the group waits for it alone
				time.Sleep(time.Millisecond)
			}
			gate.release()
		}()
		all(t, together(t, r, of), accepted)
		first.wg.Wait()
	})
}
