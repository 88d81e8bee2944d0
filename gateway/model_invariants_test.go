package gateway_test

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/gateway"
)

// end holds a whole history against the invariants of outcomes.md. 3, 4, 6 and 7
// are held by the comparison after every action.
func (m *machine) end(t *rapid.T) {
	m.compare(t, true)
	m.postedOnce(t)
	m.acknowledgedKept(t)
	m.nothingLost(t)
}

// postedOnce is invariant 1: no message is posted twice under a key, and in one
// epoch no two contents of one message reference have an effect, except by a
// decision.
func (m *machine) postedOnce(t *rapid.T) {
	// What was void when its key was purged may be issued again under that key.
	m.none(t, "messages posted twice under their key", `select count(*) from (select 1 from document where partner_id = $1 and message_id <> all($2)
		group by message_id, message_sha256 having count(*) > 1) as twice`, m.partner, m.purged)
	// Invariant 8, beyond the counts: one event for each document.
	m.none(t, "documents without exactly one event", `select count(*) from document d where partner_id = $1 and (select count(*) from outbox o
		where o.partner_id = d.partner_id and o.type = 'document.created' and o.body->>'document_id' = d.document_id::text) <> 1`, m.partner)
	// Invariant 9.
	m.none(t, "keys without an outcome", `select count(*) from inbox where partner_id = $1 and (state = 0 or answer = 0)`, m.partner)
	if m.unreliable {
		return // two messages of an interchange may have one reference
	}
	for _, k := range m.keys {
		if k.touched() {
			continue
		}
		type ref struct {
			epoch int
			ref   string
		}
		effects := map[ref][32]byte{}
		for _, v := range k.variants {
			for i, x := range v.messages {
				if !effective(x.fate) || v.decided {
					continue
				}
				r := ref{v.epoch, v.sent.messages[i].ref}
				if other, ok := effects[r]; ok && other != x.sha {
					t.Fatalf("under %s message %s had its effect with two contents: %s and %s", k.id, r.ref, m.name(other), m.name(x.sha))
				}
				effects[r] = x.sha
			}
		}
	}
}

// none fails if a query counts anything.
func (m *machine) none(t *rapid.T, words, sql string, args ...any) {
	var n int
	if err := m.Pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		t.Fatalf("%d %s", n, words)
	}
}

// touched reports whether a fixture put anything under the key: a decision, an
// import.
func (k *modelKey) touched() bool {
	return slices.ContainsFunc(k.variants, func(v *modelVariant) bool { return v.byHand || v.content == "" })
}

// acknowledgedKept is invariant 2: every acknowledgement that a key says it gave
// has its row.
func (m *machine) acknowledgedKept(t *rapid.T) {
	var n int
	err := m.Pool.QueryRow(context.Background(), `
		select count(*) from (
			select ack_id from inbox where partner_id = $1 and ack_id is not null
			union all select ack_id from variant where partner_id = $1 and ack_id is not null) as told
		where not exists (select from acknowledgement a where a.partner_id = $1 and a.ack_id = told.ack_id)`, m.partner).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		t.Fatalf("%d acknowledgements were given and not kept", n)
	}
}

// acknowledged is an interchange of which the partner was last told that he need
// do no more.
type acknowledged struct {
	key string
	sha [32]byte
}

// note keeps what was acknowledged positively.
func (m *machine) note(e *expectation) {
	for _, r := range e.items {
		switch {
		case r.key == nil || r.variant == nil || r.answer == gateway.ToldTryAgain:
		case positive(r.answer):
			m.told[acknowledged{r.key.id, r.variant.sha}] = r.answer
		default:
			delete(m.told, acknowledged{r.key.id, r.variant.sha})
		}
	}
}

// nothingLost is invariant 5: whatever was acknowledged positively is posted,
// absorbed, held, pending, dead and kept, quarantined under on_drift: hold,
// superseded or refused by a decision, or refused with a functional
// acknowledgement that says so. What has its effect has a document.
func (m *machine) nothingLost(t *rapid.T) {
	for a, answer := range m.told {
		v := m.keys[a.key].find(a.sha)
		if v == nil {
			t.Fatalf("%s under %s was acknowledged and is not known", m.name(a.sha), a.key)
		}
		if v.decided || slices.ContainsFunc(v.messages, func(x modelMessage) bool { return x.fate == discarded }) {
			continue // with a notice
		}
		for _, x := range v.messages {
			ok := effective(x.fate) || x.fate == pending || isDead(x.fate) || v.state == "quarantined" && answer == gateway.ToldDriftHeld ||
				v.state == "superseded" || isRefused(x.fate) && (v.state == "partly" || v.state == "dead" || answer == gateway.ToldDeferred)
			if !ok {
				t.Fatalf("%s of %s was acknowledged as %s and is %q in a variant that is %s", m.name(x.sha), m.name(a.sha), answer.Told().Word, x.fate, v.state)
			}
		}
	}
	var posted []string
	rows, err := m.Pool.Query(context.Background(), `select distinct class || ' ' || number from document where partner_id = $1`, m.partner)
	if err != nil {
		t.Fatal(err)
	}
	if posted, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, d := range posted {
		there[d] = true
	}
	for _, k := range m.keys {
		if k.touched() {
			continue
		}
		for _, v := range k.variants {
			for i, x := range v.messages {
				if effective(x.fate) && !there[v.sent.messages[i].document()] {
					t.Fatalf("%s under %s is %s, and no document of its number was ever posted", m.name(x.sha), k.id, x.fate)
				}
			}
		}
	}
}
