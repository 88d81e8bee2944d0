package habits_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// rig is a journal that tests write, and the watcher that reads it.
type rig struct {
	t      *testing.T
	pool   *pgxpool.Pool
	now    time.Time
	list   []*partners.Partner
	w      *habits.Watcher
	number uint32
	told   map[uuid.UUID]bool
}

// monday is the first day of the tests' time.
var monday = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)

func newRig(t *testing.T, ids ...string) *rig {
	t.Helper()
	r := &rig{t: t, pool: pgtest.New(t), now: monday, told: map[uuid.UUID]bool{}}
	for _, id := range ids {
		r.list = append(r.list, partner(id))
	}
	r.w = r.watcher()
	return r
}

func partner(id string) *partners.Partner {
	day := 24 * time.Hour
	return &partners.Partner{ID: id, Active: true, Policy: partners.Policy{ControlReference: "unique"},
		Retention: partners.Retention{DedupWindow: 400 * day, RetryWindow: 30 * day, Payloads: 90 * day}}
}

func (r *rig) watcher() *habits.Watcher {
	return &habits.Watcher{Pool: r.pool, Partners: func() []*partners.Partner { return r.list }, Now: func() time.Time { return r.now },
		NewID: r.id, Log: slog.New(slog.DiscardHandler)}
}

// id is a UUIDv7 of the rig's time; those of one millisecond ascend.
func (r *rig) id() uuid.UUID {
	r.number++
	id := uuid.New()
	ms := r.now.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[7] = 0x70|byte(r.number>>24)&0x0f, byte(r.number>>16)
	id[8], id[9] = 0x80|byte(r.number>>8)&0x3f, byte(r.number)
	return id
}

// arrival is a delivery as a test writes it.
type arrival struct {
	at      time.Time
	partner string
	key     string // interchange
	id      string // transport
	verdict string // first if left out
	content string // the key if left out
}

// arrive journals deliveries, and keys that are new.
func (r *rig) arrive(list ...arrival) {
	r.t.Helper()
	var b pgx.Batch
	var rows []*journal.Delivery
	now := r.now
	for _, a := range list {
		if a.partner == "" {
			a.partner = r.list[0].ID
		}
		if a.verdict == "" {
			a.verdict = "first"
		}
		if a.content == "" {
			a.content = a.key
		}
		r.now = a.at
		sha := [32]byte{}
		copy(sha[:], a.content)
		rows = append(rows, &journal.Delivery{Partner: a.partner, ID: r.id(), Month: journal.Held, Received: a.at, Transport: "http", TransportID: a.id, MessageID: a.key,
			SHA256: sha[:], Verdict: a.verdict, Outcome: "accepted"})
		for _, key := range []string{a.key, a.id} {
			if key == "" || a.verdict == "refused" {
				continue
			}
			b.Queue(`
				insert into inbox (partner_id, message_id, kind, first_at, last_at, purge_on, state, answer, messages, delivery_id)
				values ($1, $2, 0, $3, $3, '2099-01-01', 1, 1, '', $4)
				on conflict (partner_id, message_id) do update set last_at = excluded.last_at`, a.partner, key, a.at, r.id())
		}
	}
	r.now = latest(now, r.now)
	journal.QueueDeliveries(&b, rows)
	if err := r.pool.SendBatch(r.t.Context(), &b).Close(); err != nil {
		r.t.Fatal(err)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pass lets the watcher look at that time.
func (r *rig) pass(at time.Time) {
	r.t.Helper()
	r.now = at
	if err := r.w.Pass(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// through lets it look every hour until then, as it does when nothing stops.
func (r *rig) through(until time.Time) {
	r.t.Helper()
	for at := r.now; at.Before(until); at = at.Add(time.Hour) {
		r.pass(at)
		r.exec(`update habit_pass set up_at = $1`, at.Add(time.Hour)) // it looked each minute
	}
	r.pass(until)
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.pool.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatal(err)
	}
}

// events gives what was told since the last call, as "type partner: words".
func (r *rig) events() (list []string) {
	r.t.Helper()
	rows, err := r.pool.Query(r.t.Context(), `select event_id, type || ' ' || partner_id || ': ' || (body->>'words') from outbox order by event_id`)
	if err != nil {
		r.t.Fatal(err)
	}
	var id uuid.UUID
	var words string
	if _, err := pgx.ForEachRow(rows, []any{&id, &words}, func() error {
		if !r.told[id] {
			r.told[id] = true
			list = append(list, words)
		}
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) habits(id string) *habits.Report {
	r.t.Helper()
	for _, p := range r.list {
		if p.ID == id {
			report, err := habits.Store{Pool: r.pool}.Of(r.t.Context(), p)
			if err != nil {
				r.t.Fatal(err)
			}
			return report
		}
	}
	r.t.Fatalf("no partner %s", id)
	return nil
}

// gaps lists gaps as "before [missing] after cause", the earliest first.
func (r *rig) gaps(state string) (list []string) {
	r.t.Helper()
	found, err := habits.Store{Pool: r.pool}.Gaps(r.t.Context(), habits.GapFilter{State: state, Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	for i := len(found) - 1; i >= 0; i-- {
		g := found[i]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %v %s %s", g.Before, g.Missing, g.After, g.Cause)))
	}
	return list
}

// unb is the key of an interchange to north.
func unb(reference string) string { return "unb:9520001000010:14:9520002000019:14:" + reference }
