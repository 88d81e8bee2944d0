package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/purge"
)

func replaceOnce(s, old, with string) string { return strings.Replace(s, old, with, 1) }

// hold has a person hold a message of some days ago.
func (y *year) hold() {
	s := y.recent("acme")
	if s == nil || y.legal[s.key] != 0 {
		return
	}
	y.legally(s.key, true)
	y.legal[s.key] = y.day + 25*y.times/2
	y.events["message held"]++
}

// people decide what is due, replay what is dead, and release what was held.
func (y *year) people() {
	ctx := context.Background()
	y.drifts = slices.DeleteFunc(y.drifts, func(d openDrift) bool {
		if d.until > y.day {
			return false
		}
		for _, id := range y.alerts(d.key) {
			if _, err := y.Decide(ctx, gateway.Decision{Alert: id, Choice: gateway.KeepOriginal, Reason: "corrected", By: anna, Payloads: 1}); err != nil {
				y.t.Fatalf("day %d: decide a drift under %s: %v", y.day, d.key.key, err)
			}
			y.events["drift decided"]++
		}
		return true
	})
	for key, until := range y.legal {
		if until <= y.day {
			y.legally(key, false)
			delete(y.legal, key)
			y.events["message released"]++
		}
	}
	for _, s := range y.sent {
		if s.dead && y.clock.Now().Sub(s.first) > time.Duration(20*y.times)*24*time.Hour { // long after its window
			y.replayDead(s)
		}
	}
	if _, err := y.Release(ctx); err != nil {
		y.t.Fatal(err)
	}
}

func (y *year) alerts(s *sentInvoice) (ids []uuid.UUID) {
	y.t.Helper()
	rows, err := y.Pool.Query(context.Background(), `
		select alert_id from drift_alert where partner_id = $1 and message_id = $2 and state not in ('resolved', 'auto_resolved')`, s.partner, s.key)
	if err != nil {
		y.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			y.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func (y *year) replayDead(s *sentInvoice) {
	sum := sha(s.text)
	got, err := y.Replay(context.Background(), gateway.Letter{Partner: s.partner, MessageID: s.key, Digest: sum[:]}, anna, false)
	if err != nil || got.Posted != 1 {
		y.t.Fatalf("day %d: replay %s: %+v, %v", y.day, s.key, got, err)
	}
	s.dead, s.posted = false, s.posted+1 // which is no delivery: its window went on
	y.events["dead message replayed"]++
}

// night purges. Each week it is foreseen to the row; now and then it is cut off in its
// middle and another process goes on.
func (y *year) night() {
	ctx := context.Background()
	switch {
	case y.day%17 == 3:
		cut, cancel := context.WithCancel(ctx)
		defer cancel()
		p := *y.purger
		p.Batch, p.Node = 2, "killed"
		n := 0
		p.Hook = func(point string) {
			if n++; point == "committed" && n > 3 {
				cancel()
			}
		}
		if r, err := p.Run(cut, ""); err != nil && !errors.Is(err, context.Canceled) {
			y.t.Fatalf("day %d: %+v, %v", y.day, r, err)
		}
		y.events["purges that were cut off"]++
		if _, err := y.purger.Run(ctx, ""); err != nil {
			y.t.Fatal(err)
		}
	case y.day%7 == 2:
		y.purge()
	default:
		if r, err := y.purger.Run(ctx, ""); err != nil || r.State != purge.Done {
			y.t.Fatalf("day %d: %+v, %v", y.day, r, err)
		}
	}
}

// check holds what is in the database against the ledger.
func (y *year) check() {
	all, err := y.store.Retentions(context.Background())
	if err != nil {
		y.t.Fatal(err)
	}
	here := map[string]bool{}
	rows, err := y.Pool.Query(context.Background(), `select partner_id, message_id from inbox where kind = 2`)
	if err != nil {
		y.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var partner, id string
		if err := rows.Scan(&partner, &id); err != nil {
			y.t.Fatal(err)
		}
		here[id] = true
	}
	for _, s := range y.sent {
		if s.partner == "cask" && y.byKey[s.key] != s { // its number stands for another
			s.there = false
			continue
		}
		window := all.Partners[s.partner].InForce.DedupWindow
		kept := y.legal[s.key] != 0 || s.dead || all.Partners[s.partner].Set.LegalHold ||
			slices.ContainsFunc(y.drifts, func(d openDrift) bool { return d.key == s })
		switch {
		case s.there && !here[s.key] && kept:
			y.t.Fatalf("day %d: %s went, though it was held (dead: %v)", y.day, s.key, s.dead)
		case s.there && !here[s.key] && !day(s.last).Add(window).Before(day(y.clock.Now())):
			y.t.Fatalf("day %d: %s went, whose window of %v ends on %s:\n%s", y.day, s.key, window, day(s.last).Add(window).Format(time.DateOnly), y.received(s))
		}
		s.there = here[s.key]
		if s.there && (y.legal[s.key] != 0 || s.dead) {
			if _, payload, _ := y.keeps(s.key); !payload {
				y.t.Fatalf("day %d: the payload of %s is gone, though it was held (dead: %v)", y.day, s.key, s.dead)
			}
		}
	}
	for words, sql := range map[string]string{
		"keys are due and not held": `select count(*) from inbox where hold = 0 and purge_on < (now() at time zone 'utc')::date - 1`,
		"keys have no outcome":      `select count(*) from inbox where state = 0 or answer = 0`,
		"interchange keys whose documents are live have no guard": `select count(*) from document d join inbox i on i.partner_id = d.partner_id and i.message_id = d.message_id
			where d.state = 'live' and i.first_at <= d.received_at -- one that was purged and came again has none
				and not exists (select from document_key g where g.partner_id = d.partner_id and d.document_id = any(g.document_ids))`,
		"invoices are live twice": `select count(*) from (select from document where state = 'live' and superseded_by is null group by partner_id, number having count(*) > 1) d`,
		"rows hang on no key":     `select count(*) from variant v where not exists (select from inbox i where i.partner_id = v.partner_id and i.message_id = v.message_id)`,
		"months that have passed are there": `select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid
			where c.relname ~ '_[0-9]{6}$' and c.relkind = 'r' and to_date(right(c.relname, 6), 'YYYYMM') < date_trunc('month', now() at time zone 'utc')`,
	} {
		if n := y.count(sql); n != 0 {
			y.t.Fatalf("day %d: %d %s", y.day, n, words)
		}
	}
}

// sum is what was lived.
func (y *year) sum() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(y.events)) {
		fmt.Fprintf(&b, "\n%6d %s", y.events[k], k)
	}
	return b.String()
}

// received is what came under a key, for people.
func (y *year) received(s *sentInvoice) (text string) {
	y.t.Helper()
	if err := y.Pool.QueryRow(context.Background(), `
		select coalesce(string_agg(received_at || ' ' || verdict || ' ' || rule, E'\n' order by received_at), 'nothing') from delivery where partner_id = $1 and message_id = $2`,
		s.partner, s.key).Scan(&text); err != nil {
		y.t.Fatal(err)
	}
	return text
}
