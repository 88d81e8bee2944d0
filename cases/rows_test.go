package cases_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// imported makes a key that a former gateway had, of which nobody knows the bytes.
func (r *rig) imported(kind int, id string) {
	r.t.Helper()
	if _, err := r.pool.Exec(r.t.Context(), `
		insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
		values ('talquist', $1, $2, '2099-01-01', $3, $4, '', gen_random_uuid())`, id, kind, int16(dedup.Imported), int16(gateway.ToldAccepted)); err != nil {
		r.t.Fatal(err)
	}
}

// two is an interchange of two messages, of which the second is sound or not.
func two(sound bool) string {
	if sound {
		return strings.Replace(twoMessages(), "UNT+99+2", "UNT+17+2", 1)
	}
	return twoMessages()
}

// TestRows has a sender over each transport meet every row of the outcome table, at the
// level of interchanges and of transport ids.
func TestRows(t *testing.T) {
	for _, over := range transports {
		t.Run(over.name, func(t *testing.T) {
			t.Parallel()
			meetsEveryRow(t, over)
		})
	}
}

func meetsEveryRow(t *testing.T, over *transport) {
	good, changed, dead := invoic("1", "R-1", "100.00"), invoic("1", "R-1", "200.00"), invoic("1", "BAD-1", "100.00")
	broken := strings.Replace(good, "UNT+17+1", "UNT+18+1", 1)
	interchangeKey := "unb:9520001000010:14:9520002000019:14:1"
	today := strings.Replace(invoic("OLD", "R-7", "100.00"), "261129:1015", time.Now().UTC().Format("060102")+":1015", 1)
	met := map[string]bool{}
	for _, c := range []struct {
		row, settings string
		run           func(t *testing.T, s *sending)
	}{
		{"I1", "", func(_ *testing.T, s *sending) {
			s.shift(500 * 24 * time.Hour)
			first := s.brings("a", today, "T1 I1", s.negative)
			s.same(first, s.brings("a", today, "T3 I7", s.negative))
			s.brings("b", strings.Replace(today, "R-7", "R-8", 1), "T1 I1", s.negative)
			s.brings("c", good, "T1 I1b", s.positive) // dated before the partner was connected
		}},
		{"I1b", "", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.positive)
			s.same(first, s.brings("a", good, "T3 I2", s.positive))
			s.postedOnce("R-1")
		}},
		{"I2", "", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.positive)
			s.same(first, s.brings("a", good, "T3 I2", s.positive))
			s.brings("b", good, "T1 I2", s.positive)
			s.postedOnce("R-1")
		}},
		{"I2", "four_eyes: \"off\"\n", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.positive)
			s.brings("b", changed, "T1 I13", s.negative)
			s.decides(gateway.Replace)
			s.same(first, s.brings("a", good, "T3 I2", s.positive))
			s.brings("c", good, "T1 I2", s.positive)
			s.brings("b", changed, "T3 I2", s.positive)
			s.live("R-1")
		}},
		{"I3", "processing: deferred\n", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.positive)
			s.same(first, s.brings("a", good, "T3 I3", s.positive))
			s.brings("b", good, "T1 I3", s.positive)
			s.work(s.t)
			afresh := s.brings("a", good, "T3 I2", s.positive)
			s.alike(first, afresh)
			s.same(afresh, s.brings("a", good, "T3 I2", s.positive))
			s.postedOnce("R-1")
		}},
		{"I4", "on_dead: refuse\n", func(_ *testing.T, s *sending) {
			mend := s.breaks("BAD")
			s.brings("a", dead, "T1 I1b", s.again)
			s.brings("a", dead, "T3 I4", s.again)
			mend()
			first := s.brings("a", dead, "T3 I4", s.positive)
			s.same(first, s.brings("a", dead, "T3 I2", s.positive))
			s.postedOnce("BAD-1")
		}},
		{"I4", "types: [DESADV]\n", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.negative)
			s.same(first, s.brings("a", good, "T3 I6", s.negative))
			s.settings(s.yaml() + "types: [INVOIC]\n")
			s.brings("a", good, "T3 I4", s.positive)
			s.postedOnce("R-1")
		}},
		{"I5", "attempts: 1\n", func(t *testing.T, s *sending) {
			mend := s.breaks("BAD")
			first := s.brings("a", dead, "T1 I1b", s.positive)
			mend()
			s.same(first, s.brings("a", dead, "T3 I5", s.positive))
			s.brings("b", dead, "T1 I5", s.positive)
			if n := s.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents came of an attempt that was not left", n)
			}
		}},
		{"I6", "", func(_ *testing.T, s *sending) {
			first := s.brings("a", broken, "T1 I1b", s.negative)
			s.same(first, s.brings("a", broken, "T3 I6", s.negative))
			s.brings("b", broken, "T1 I6", s.negative)
		}},
		{"I6", "on_dead: refuse\n", func(_ *testing.T, s *sending) {
			s.breaks("BAD")
			s.brings("a", dead, "T1 I1b", s.again)
			s.brings("b", good, "T1 I9", s.positive)
			first := s.brings("a", dead, "T3 I6", s.negative)
			s.alike(first, s.brings("a", dead, "T3 I6", s.negative))
		}},
		{"I7", "on_drift: hold\n", func(t *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			first := s.brings("b", changed, "T1 I13", s.positive)
			s.same(first, s.brings("b", changed, "T3 I7", s.positive))
			s.brings("c", changed, "T1 I7", s.positive)
			if n := s.count(`select receptions from drift_alert`); n != 3 {
				t.Errorf("%d receptions of the drift", n)
			}
		}},
		{"I8", "", func(_ *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			first := s.brings("b", changed, "T1 I13", s.negative)
			s.decides(gateway.KeepOriginal)
			afresh := s.brings("b", changed, "T3 I8", s.negative)
			s.alike(first, afresh)
			s.same(afresh, s.brings("b", changed, "T3 I8", s.negative))
			s.brings("c", changed, "T1 I8", s.negative)
		}},
		{"I8b", "", func(t *testing.T, s *sending) {
			s.imported(2, interchangeKey)
			first := s.brings("a", good, "T1 I8b", s.positive)
			s.same(first, s.brings("a", good, "T3 I2", s.positive))
			s.brings("b", changed, "T1 I13", s.negative)
			if n := s.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents of what the former gateway processed", n)
			}
		}},
		{"I9", "", func(_ *testing.T, s *sending) {
			s.brings("a", broken, "T1 I1b", s.negative)
			first := s.brings("b", good, "T1 I9", s.positive)
			s.same(first, s.brings("b", good, "T3 I2", s.positive))
			s.brings("a", broken, "T3 I6", s.negative)
			s.postedOnce("R-1")
		}},
		{"I10", "acceptance: message\n", func(_ *testing.T, s *sending) {
			s.brings("a", two(false), "T1 I1b", s.negative)
			first := s.brings("b", two(true), "T1 I10", s.positive)
			s.same(first, s.brings("b", two(true), "T3 I2", s.positive))
			s.postedOnce("R-1")
			s.postedOnce("R-2")
		}},
		{"I11", "absorb: [envelope]\n", func(_ *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			later := strings.Replace(good, "261129:1015", "261130:0900", 1)
			first := s.brings("b", later, "T1 I11", s.positive)
			s.same(first, s.brings("b", later, "T3 I2", s.positive))
			s.brings("c", strings.ReplaceAll(good, "'", "'\n"), "T1 I13", s.negative)
			s.postedOnce("R-1")
		}},
		{"I12", "reuse_after: 300d\n", func(_ *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			s.age(310 * 24 * time.Hour)
			other := strings.Replace(good, "R-1", "R-2", 1)
			first := s.brings("b", other, "T1 I12", s.positive)
			s.same(first, s.brings("b", other, "T3 I2", s.positive))
			s.brings("a", good, "T3 I2", s.positive)
			s.postedOnce("R-1")
			s.postedOnce("R-2")
		}},
		{"I13", "", func(_ *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			first := s.brings("b", changed, "T1 I13", s.negative)
			s.same(first, s.brings("b", changed, "T3 I7", s.negative))
			s.brings("a", good, "T3 I2", s.positive)
			s.postedOnce("R-1")
		}},
		{"T2", "", func(t *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			other := invoic("2", "R-2", "100.00")
			first := s.brings("a", other, "T6", s.negative)
			s.same(first, s.brings("a", other, "T2", s.negative))
			s.decides(gateway.RejectPayload)
			s.same(first, s.brings("a", other, "T2b", s.negative))
			if n := s.count(`select count(*) from inbox where kind = 2`); n != 1 {
				t.Errorf("%d interchange keys", n)
			}
		}},
		{"T3", "", func(_ *testing.T, s *sending) {
			first := s.brings("a", good, "T1 I1b", s.positive)
			if _, err := s.pool.Exec(s.t.Context(), `delete from inbox where kind = 2`); err != nil {
				s.t.Fatal(err)
			}
			s.same(first, s.brings("a", good, "T3", s.positive))
			s.postedOnce("R-1")
		}},
		{"T3b", "", func(t *testing.T, s *sending) {
			s.imported(1, s.transportKey("a"))
			first := s.brings("a", good, "T3b I8b", s.positive)
			s.same(first, s.brings("a", good, "T3 I2", s.positive))
			s.brings("a", invoic("2", "R-2", "100.00"), "T6", s.negative)
			if n := s.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents of what the former gateway processed", n)
			}
		}},
		{"T4", "", func(_ *testing.T, s *sending) {
			s.brings("a", broken, "T1 I1b", s.negative)
			first := s.brings("a", invoic("2", "R-2", "100.00"), "T4 I1b", s.positive)
			s.same(first, s.brings("a", invoic("2", "R-2", "100.00"), "T3 I2", s.positive))
			s.postedOnce("R-2")
		}},
		{"T5", "", func(t *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			other := invoic("2", "R-2", "100.00")
			s.brings("b", other, "T1 I1b", s.positive)
			first := s.brings("a", other, "T5 I2", s.positive)
			s.same(first, s.brings("a", other, "T3 I2", s.positive))
			if n := s.count(`select count(*) from drift_alert where kind = 'transport' and state = 'auto_resolved'`); n != 1 {
				t.Errorf("the difference was noted %d times", n)
			}
		}},
		{"T6", "", func(t *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			other := invoic("2", "R-2", "100.00")
			s.brings("a", other, "T6", s.negative)
			s.brings("b", other, "T1 I1b", s.positive)
			if n := s.count(`select count(*) from drift_alert where kind = 'transport' and state = 'resolved'`); n != 1 {
				t.Error("the alert is still open")
			}
			s.brings("a", other, "T3 I2", s.positive)
			s.brings("a", "This is no EDI at all.", "T6", s.negative)
		}},
		{"T6", "transport_id: unreliable\n", func(_ *testing.T, s *sending) {
			s.brings("a", good, "T1 I1b", s.positive)
			s.brings("a", invoic("2", "R-2", "100.00"), "T6 I1b", s.positive)
			s.postedOnce("R-2")
		}},
	} {
		t.Run(strings.TrimSpace(c.row+" "+c.settings), func(t *testing.T) {
			s := newSending(t, over, c.settings)
			c.run(t, s)
			own := s.met()
			if !own[c.row] {
				t.Errorf("row %s was not met", c.row)
			}
			maps.Copy(met, own)
		})
	}
	var names []string
	for _, row := range gateway.Interchanges {
		names = append(names, row.Name)
	}
	for _, row := range gateway.Transports {
		names = append(names, row.Name)
	}
	for _, name := range slices.Compact(names) {
		if !met[name] {
			t.Errorf("no message met row %s", name)
		}
	}
}

// met are the rows by which deliveries were judged so far.
func (r *rig) met() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	met := map[string]bool{}
	for _, g := range r.given {
		if g.receipt == nil {
			continue
		}
		for _, names := range g.receipt.Rules {
			for name := range strings.FieldsSeq(names) {
				met[name] = true
			}
		}
	}
	return met
}
