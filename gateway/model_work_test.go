package gateway_test

import (
	"context"

	"pgregory.net/rapid"

	"github.com/edigw/edigw/gateway"
)

// work is a worker's run on the pending messages of one payload, sometimes after a
// worker that slept until its lease was taken, or that was told to stop.
func (m *machine) work(t *rapid.T) {
	ctx := context.Background()
	m.execute(t, `update job set due_at = now() where partner_id = $1`, m.partner) // whatever back-off there was
	source := m.Deferred()
	p, err := source.Take(ctx, m.partner, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		noSubject(t)
	}
	slept := p
	switch pick(t, "worker", "works", "works", "works", "sleeps", "stops") {
	case "sleeps":
		m.execute(t, `update job set due_at = now() - interval '1 hour' where partner_id = $1 and lease_id is not null`, m.partner)
		if p, err = source.Take(ctx, m.partner, 1); err != nil || p == nil {
			t.Fatalf("a lease that ran out was not taken: %v", err)
		}
	case "stops":
		if err := p.Return(ctx); err != nil {
			t.Fatal(err)
		}
		t.Logf("give back %s", p)
		m.agree(t)
		return
	}
	k, v := m.leased(t)
	t.Logf("work on %s under %s", v.sent, k.id)
	m.world.work(k, v)
	_ = p.Do(ctx)     // what it leaves is compared
	_ = slept.Do(ctx) // a second time, or too late: it changes nothing
	m.agree(t)
}

// leased gives the payload whose job was taken last.
func (m *machine) leased(t *rapid.T) (*modelKey, *modelVariant) {
	var id string
	var sha []byte
	err := m.Pool.QueryRow(context.Background(), `
		select message_id, payload_sha256 from job where partner_id = $1 and lease_id is not null order by due_at desc, lease_id desc limit 1`,
		m.partner).Scan(&id, &sha)
	if err != nil {
		t.Fatal(err)
	}
	k := m.keys[id]
	v := k.find([32]byte(sha))
	if v == nil || v.state != "received" {
		t.Fatalf("a job on %x under %s, of which nothing is pending", sha, id)
	}
	return k, v
}

// discardPending gives up what is pending of a payload, whoever works on it.
func (m *machine) discardPending(t *rapid.T) {
	k, n := m.some(t, "received", func(_ *modelKey, v *modelVariant) bool { return v.state == "received" })
	v := k.variants[n]
	t.Logf("discard what is pending of %s under %s", v.sent, k.id)
	for i := range v.messages {
		if x := &v.messages[i]; x.fate == pending || isDead(x.fate) {
			x.fate, x.attempts = discarded, 0
		}
	}
	v.state = judgeState(v.messages)
	m.world.events["notice.discarded"]++ // what is pending was acknowledged positively
	got, err := m.Discard(context.Background(), gateway.Letter{Partner: m.partner, MessageID: k.id, Digest: v.sha[:]}, "wrong_content", "", anna, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != v.state || got.Notices != 1 {
		t.Fatalf("%+v, want %s with a notice", got, v.state)
	}
	m.agree(t)
}
