package cases_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

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

// becomes puts a payload into a state that a decision leaves it in.
func (r *rig) becomes(payload string, s dedup.State) {
	r.t.Helper()
	sum := sha256.Sum256([]byte(payload))
	for _, table := range []string{"inbox", "variant"} {
		if _, err := r.pool.Exec(r.t.Context(), `update `+table+` set state = $1 where payload_sha256 = $2`, int16(s), sum[:]); err != nil {
			r.t.Fatal(err)
		}
	}
}

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

// TestAS2Rows has a sender over AS2 meet every row of the outcome table, at the level
// of interchanges and of transport ids.
func TestAS2Rows(t *testing.T) {
	t.Parallel()
	good, changed, dead := invoic("1", "R-1", "100.00"), invoic("1", "R-1", "200.00"), invoic("1", "BAD-1", "100.00")
	broken := strings.Replace(good, "UNT+17+1", "UNT+18+1", 1)
	interchangeKey := "unb:9520001000010:14:9520002000019:14:1"
	today := strings.Replace(invoic("OLD", "R-7", "100.00"), "261129:1015", time.Now().UTC().Format("060102")+":1015", 1)
	met := map[string]bool{}
	for _, c := range []struct {
		row, settings string
		run           func(t *testing.T, r *rig)
	}{
		{"I1", "", func(_ *testing.T, r *rig) {
			r.shift(500 * 24 * time.Hour)
			first := r.brings("a", today, "T1 I1", negative)
			r.same(first, r.brings("a", today, "T3 I7", negative))
			r.brings("b", strings.Replace(today, "R-7", "R-8", 1), "T1 I1", negative)
			r.brings("c", good, "T1 I1b", positive) // dated before the partner was connected
		}},
		{"I1b", "", func(_ *testing.T, r *rig) {
			r.told(r.anonymous(good), positive, "")
			if r.rows() != "I1b" {
				r.t.Errorf("judged by %s", r.rows())
			}
			r.told(r.anonymous(good), positive, "")
			if r.rows() != "I2" {
				r.t.Errorf("again judged by %s", r.rows())
			}
			r.postedOnce("R-1")
		}},
		{"I2", "", func(_ *testing.T, r *rig) {
			first := r.brings("a", good, "T1 I1b", positive)
			r.same(first, r.brings("a", good, "T3 I2", positive))
			r.brings("b", good, "T1 I2", positive)
			r.brings("c", changed, "T1 I13", negative)
			r.becomes(good, dedup.Superseded)
			r.same(first, r.brings("a", good, "T3 I2", positive))
			r.brings("d", good, "T1 I2", positive)
			r.postedOnce("R-1")
		}},
		{"I3", "processing: deferred\n", func(_ *testing.T, r *rig) {
			first := r.brings("a", good, "T1 I1b", positive)
			r.same(first, r.brings("a", good, "T3 I3", positive))
			r.brings("b", good, "T1 I3", positive)
			r.work(r.t)
			r.same(first, r.brings("a", good, "T3 I2", positive))
			r.postedOnce("R-1")
		}},
		{"I4", "on_dead: refuse\n", func(_ *testing.T, r *rig) {
			mend := r.breaks("BAD")
			r.brings("a", dead, "T1 I1b", told503)
			r.brings("a", dead, "T3 I4", told503)
			mend()
			first := r.brings("a", dead, "T3 I4", positive)
			r.same(first, r.brings("a", dead, "T3 I2", positive))
			r.postedOnce("BAD-1")
		}},
		{"I4", "types: [DESADV]\n", func(_ *testing.T, r *rig) {
			first := r.brings("a", good, "T1 I1b", negative)
			r.same(first, r.brings("a", good, "T3 I6", negative))
			r.settings(unsignedAS2 + "types: [INVOIC]\n")
			r.brings("a", good, "T3 I4", positive)
			r.postedOnce("R-1")
		}},
		{"I5", "attempts: 1\n", func(t *testing.T, r *rig) {
			mend := r.breaks("BAD")
			first := r.brings("a", dead, "T1 I1b", positive)
			mend()
			r.same(first, r.brings("a", dead, "T3 I5", positive))
			r.brings("b", dead, "T1 I5", positive)
			if n := r.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents came of an attempt that was not left", n)
			}
		}},
		{"I6", "", func(_ *testing.T, r *rig) {
			first := r.brings("a", broken, "T1 I1b", negative)
			r.same(first, r.brings("a", broken, "T3 I6", negative))
			r.brings("b", broken, "T1 I6", negative)
		}},
		{"I6", "on_dead: refuse\n", func(_ *testing.T, r *rig) {
			r.breaks("BAD")
			r.brings("a", dead, "T1 I1b", told503)
			r.brings("b", good, "T1 I9", positive)
			first := r.brings("a", dead, "T3 I6", negative)
			r.same(first, r.brings("a", dead, "T3 I6", negative))
		}},
		{"I7", "on_drift: hold\n", func(t *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			first := r.brings("b", changed, "T1 I13", positive)
			r.same(first, r.brings("b", changed, "T3 I7", positive))
			r.brings("c", changed, "T1 I7", positive)
			if n := r.count(`select receptions from drift_alert`); n != 3 {
				t.Errorf("%d receptions of the drift", n)
			}
		}},
		{"I8", "", func(_ *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			first := r.brings("b", changed, "T1 I13", negative)
			r.becomes(changed, dedup.Refused)
			r.same(first, r.brings("b", changed, "T2b", negative))
			r.brings("c", changed, "T1 I8", negative)
		}},
		{"I8b", "", func(t *testing.T, r *rig) {
			r.imported(2, interchangeKey)
			first := r.brings("a", good, "T1 I8b", positive)
			r.same(first, r.brings("a", good, "T3 I2", positive))
			r.brings("b", changed, "T1 I13", negative)
			if n := r.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents of what the former gateway processed", n)
			}
		}},
		{"I9", "", func(_ *testing.T, r *rig) {
			r.brings("a", broken, "T1 I1b", negative)
			first := r.brings("b", good, "T1 I9", positive)
			r.same(first, r.brings("b", good, "T3 I2", positive))
			r.brings("a", broken, "T3 I6", negative)
			r.postedOnce("R-1")
		}},
		{"I10", "acceptance: message\n", func(_ *testing.T, r *rig) {
			r.brings("a", two(false), "T1 I1b", negative)
			first := r.brings("b", two(true), "T1 I10", positive)
			r.same(first, r.brings("b", two(true), "T3 I2", positive))
			r.postedOnce("R-1")
			r.postedOnce("R-2")
		}},
		{"I11", "absorb: [envelope]\n", func(_ *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			later := strings.Replace(good, "261129:1015", "261130:0900", 1)
			first := r.brings("b", later, "T1 I11", positive)
			r.same(first, r.brings("b", later, "T3 I2", positive))
			r.brings("c", strings.ReplaceAll(good, "'", "'\n"), "T1 I13", negative)
			r.postedOnce("R-1")
		}},
		{"I12", "reuse_after: 300d\n", func(_ *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			r.age(310 * 24 * time.Hour)
			other := strings.Replace(good, "R-1", "R-2", 1)
			first := r.brings("b", other, "T1 I12", positive)
			r.same(first, r.brings("b", other, "T3 I2", positive))
			r.brings("a", good, "T3 I2", positive)
			r.postedOnce("R-1")
			r.postedOnce("R-2")
		}},
		{"I13", "", func(_ *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			first := r.brings("b", changed, "T1 I13", negative)
			r.same(first, r.brings("b", changed, "T3 I7", negative))
			r.brings("a", good, "T3 I2", positive)
			r.postedOnce("R-1")
		}},
		{"T2", "", func(t *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			other := invoic("2", "R-2", "100.00")
			first := r.brings("a", other, "T6", negative)
			r.same(first, r.brings("a", other, "T2", negative))
			r.becomes(other, dedup.Refused)
			r.same(first, r.brings("a", other, "T2b", negative))
			if n := r.count(`select count(*) from inbox where kind = 2`); n != 1 {
				t.Errorf("%d interchange keys", n)
			}
		}},
		{"T3", "", func(_ *testing.T, r *rig) {
			first := r.brings("a", good, "T1 I1b", positive)
			if _, err := r.pool.Exec(r.t.Context(), `delete from inbox where kind = 2`); err != nil {
				r.t.Fatal(err)
			}
			r.same(first, r.brings("a", good, "T3", positive))
			r.postedOnce("R-1")
		}},
		{"T3b", "", func(t *testing.T, r *rig) {
			r.imported(1, "as2:NORDHAFEN-AS2:a@talquist.example")
			first := r.brings("a", good, "T3b I8b", positive)
			r.same(first, r.brings("a", good, "T3 I2", positive))
			r.brings("a", invoic("2", "R-2", "100.00"), "T6", negative)
			if n := r.count(`select count(*) from document`); n != 0 {
				t.Errorf("%d documents of what the former gateway processed", n)
			}
		}},
		{"T4", "", func(_ *testing.T, r *rig) {
			r.brings("a", broken, "T1 I1b", negative)
			first := r.brings("a", invoic("2", "R-2", "100.00"), "T4 I1b", positive)
			r.same(first, r.brings("a", invoic("2", "R-2", "100.00"), "T3 I2", positive))
			r.postedOnce("R-2")
		}},
		{"T5", "", func(t *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			other := invoic("2", "R-2", "100.00")
			r.brings("b", other, "T1 I1b", positive)
			first := r.brings("a", other, "T5 I2", positive)
			r.same(first, r.brings("a", other, "T3 I2", positive))
			if n := r.count(`select count(*) from drift_alert where kind = 'transport' and state = 'auto_resolved'`); n != 1 {
				t.Errorf("the difference was noted %d times", n)
			}
		}},
		{"T6", "", func(t *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			other := invoic("2", "R-2", "100.00")
			r.brings("a", other, "T6", negative)
			r.brings("b", other, "T1 I1b", positive)
			if n := r.count(`select count(*) from drift_alert where kind = 'transport' and state = 'resolved'`); n != 1 {
				t.Error("the alert is still open")
			}
			r.brings("a", other, "T3 I2", positive)
			r.brings("a", "This is no EDI at all.", "T6", negative)
		}},
		{"T6", "transport_id: unreliable\n", func(_ *testing.T, r *rig) {
			r.brings("a", good, "T1 I1b", positive)
			r.brings("a", invoic("2", "R-2", "100.00"), "T6 I1b", positive)
			r.postedOnce("R-2")
		}},
	} {
		t.Run(strings.TrimSpace(c.row+" "+c.settings), func(t *testing.T) {
			r := newRig(t, unsignedAS2+c.settings)
			c.run(t, r)
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
			if !met[c.row] {
				t.Errorf("row %s was not met", c.row)
			}
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

// anonymous posts a message without a Message-ID.
func (r *rig) anonymous(payload string) *mdn {
	r.t.Helper()
	return r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nContent-Type: application/EDIFACT\r\n%sContent-Length: %d\r\n\r\n%s", asksMDN, len(payload), payload))
}
