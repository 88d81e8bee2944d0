package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
)

// largeInterchange has as many messages as fill bytes.
func largeInterchange(sender, ref, amount string, bytes int) string {
	ms := make([]message, bytes/len(interchange("", message{number: "N", amount: amount})))
	for i := range ms {
		ms[i] = message{number: fmt.Sprintf("%s-%d", ref, i), amount: amount}
	}
	text := interchangeFrom(sender+":14", "261129:1015", ref, ms...)
	return strings.ReplaceAll(text, "NAD+SU+9520001000010", "NAD+SU+"+sender)
}

func TestMemoryOfOnePartner(t *testing.T) {
	const acme, bolt, mib = "9520001000010", "9520001000027", 1 << 20
	t.Run("many large deliveries at once keep its share, and another partner passes", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		r.Memory, r.Wait = 32*mib, 300*time.Millisecond
		gate := stopAt(t, r, "begin", 1)
		first := r.storm(largeInterchange(acme, "FIRST", "", mib*3/2))
		gate.reached(t, 1)
		var many []string
		for i := range 24 {
			many = append(many, largeInterchange(acme, fmt.Sprintf("M%d", i), "", mib*3/2))
		}
		storm := r.storm(many...)
		until(t, "others wait for memory", func() bool { return r.has("edigw_partner_waiting", "acme", "memory") > 0 })
		rec, err := r.deliver("bolt", "", largeInterchange(bolt, "B", "", mib))
		if err != nil || rec.Answer != gateway.ToldAccepted {
			t.Errorf("the other partner: %+v, %v", rec, err)
		}
		if n := r.has("edigw_partner_memory_bytes", "acme", ""); n == 0 || n > 16*mib {
			t.Errorf("it fills %d bytes of a share of %d", n, 16*mib)
		}
		storm.wg.Wait()
		if n := storm.crowded.Load(); n != 24 {
			t.Errorf("%d of 24 were told to come again", n)
		}
		gate.release()
		if first.wg.Wait(); first.accepted.Load() != 1 {
			t.Error("the first is not accepted")
		}
		if n := r.has("edigw_partner_memory_bytes", "acme", ""); n != 0 {
			t.Errorf("%d bytes are still taken", n)
		}
	})
	t.Run("a drift larger than the share is compared when it is alone", func(t *testing.T) {
		r := newRig(t)
		r.Memory = 8 * mib
		r.must("", largeInterchange(acme, "D", "100.00", mib), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", largeInterchange(acme, "D", "700.00", mib), gateway.Drift, gateway.ToldDrift, "I13")
		if n := r.count(`select count(*) from drift_alert where class = 'business' and severity = 'critical'`); n != 1 {
			t.Errorf("%d alerts say that money changed", n)
		}
	})
}

func TestProcessorsOfOnePartner(t *testing.T) {
	t.Run("deliveries that wait for their control numbers hold no processor", func(t *testing.T) {
		r := newRig(t)
		r.Numbers.Block = 1
		of := func(i int) string { return interchange(fmt.Sprintf("P%d", i), message{number: fmt.Sprintf("P%d", i)}) }
		r.must("", of(0), gateway.First, gateway.ToldAccepted, "I1b")
		ctx := context.Background()
		tx, err := r.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctx, `select from control_number where partner_id = 'acme' for update`); err != nil {
			t.Fatal(err)
		}
		var many []string
		for i := range 40 {
			many = append(many, of(i+1))
		}
		held := r.storm(many[:1]...)
		until(t, "it waits for its number", func() bool {
			return r.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) > 0
		})
		others := r.storm(many[1:]...)
		r.boltSends("B", 5, nil)
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		held.wg.Wait()
		others.wg.Wait()
	})
}
