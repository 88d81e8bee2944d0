package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/dedup"
)

// world is a ledger and a database that agree: one interchange of one invoice,
// sent under an id, and its repeat.
type world struct {
	findings
	ledger *ledger
	rows   *rows
	a      *content
	key    ref
}

var begun = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	p := company()[0]
	w := &world{ledger: newLedger(), a: newContent(p, p.address(), "R1", invoice{number: "RG-1", amount: 100})}
	w.key = w.a.key()
	w.rows = &rows{keys: map[ref]*keyRow{}, documents: map[string]*documentRow{}, receipts: map[string]bool{}, answers: map[string]bool{}, acks: map[string]bool{},
		alerts: map[string]*alertRow{}, audit: map[string]int{}, payloads: map[string]string{}, strays: map[string]int{}, purged: map[ref]bool{}}
	w.send(t, w.a, "id-1", 201, "first", "accepted", "")
	w.send(t, w.a, "id-1", 200, "duplicate", "accepted", "")
	w.keep(w.a, dedup.Accepted, dedup.Posted)
	w.post(w.a, "document-1")
	return w
}

// send notes an answered delivery and keeps its answer, and its journal row.
func (w *world) send(t *testing.T, c *content, id string, status int, verdict, outcome, alert string) *delivery {
	t.Helper()
	d := &delivery{shipment: shipment{sender: c.owner, contents: []*content{c}, id: id}, status: status, verdict: verdict}
	w.ledger.begin(d)
	d.sent = begun.Add(time.Duration(d.n) * time.Second)
	d.answered = d.sent.Add(time.Millisecond)
	d.deliveryID = fmt.Sprint("delivery-", d.n)
	part := fmt.Sprintf(`{"message_id":%q,"outcome":%q,"payload_sha256":%q,"alert_id":%q}`, c.key().id, outcome, hexOf(c.digest), alert)
	d.body = fmt.Sprintf(`{"message_id":%q,"outcome":%q,"interchanges":[%s]}`, id, outcome, part)
	if err := json.Unmarshal([]byte(d.body), &d.receipt); err != nil {
		t.Fatal(err)
	}
	var it item
	if err := json.Unmarshal([]byte(part), &it); err != nil {
		t.Fatal(err)
	}
	d.receipt.items = []item{it}
	w.rows.receipts[c.owner.id()+" "+d.body] = true
	w.rows.answers[c.owner.id()+" "+part] = true
	if verdict != "duplicate" {
		w.rows.journal = append(w.rows.journal, journalRow{partner: c.owner.id(), delivery: d.deliveryID, transportID: d.transportKey().id, key: c.key().id, verdict: verdict, digest: hexOf(c.digest)})
	}
	if verdict == "first" {
		w.rows.events = append(w.rows.events, eventRow{partner: c.owner.id(), kind: "event", typ: "message.received", key: c.key().id, delivery: d.deliveryID, digest: hexOf(c.digest)})
	}
	return d
}

// keep stores a variant with one message.
func (w *world) keep(c *content, state dedup.State, fate dedup.Fate) *variantRow {
	k := c.key()
	if w.rows.keys[k] == nil {
		w.rows.keys[k] = &keyRow{ref: k, kind: 2}
	}
	name := "payload-" + short(c.digest)
	v := &variantRow{digest: c.digest, state: state, answer: 1, messages: []dedup.MessageState{{SHA256: c.messages[0].sha256, Fate: fate}},
		ack: "ack-" + short(c.digest), payload: name, length: int64(len(c.text))}
	w.rows.keys[k].variants = append(w.rows.keys[k].variants, v)
	w.rows.payloads[k.partner+" "+name] = c.text
	w.rows.acks[k.partner+" "+v.ack] = true
	return v
}

// post stores the document of a content's message, its guard and its event.
func (w *world) post(c *content, id string) *documentRow {
	m := c.messages[0]
	d := &documentRow{id: id, partner: c.owner.id(), key: c.key().id, number: m.number, reference: m.reference, sha256: m.sha256}
	w.rows.documents[id] = d
	w.rows.guards = append(w.rows.guards, guardRow{partner: d.partner, key: id, contents: 1, documents: []string{id}})
	w.rows.events = append(w.rows.events, eventRow{partner: d.partner, kind: "event", typ: "document.created", document: id, key: d.key})
	return d
}

// drift adds another content that was quarantined.
func (w *world) drift(t *testing.T) *content {
	t.Helper()
	b := newContent(w.a.owner, w.a.owner.address(), w.a.reference, invoice{number: "RG-1", amount: 200})
	w.send(t, b, "id-2", 422, "drift", "quarantined", "alert-1")
	w.keep(b, dedup.Quarantined, dedup.RefusedMsg)
	w.rows.alerts["alert-1"] = &alertRow{partner: w.key.partner, kind: "interchange", key: w.key.id, state: "open", digests: []string{hexOf(b.digest)}}
	w.rows.events = append(w.rows.events, eventRow{partner: w.key.partner, kind: "event", typ: "drift.opened", alert: "alert-1"})
	return b
}

// dead adds an interchange on which the handler failed.
func (w *world) dead(t *testing.T) *content {
	t.Helper()
	x := newContent(w.a.owner, w.a.owner.address(), "R4", invoice{number: deadly + "4", amount: 100})
	w.send(t, x, "id-4", 202, "first", "dead", "")
	w.keep(x, dedup.Dead, dedup.DeadMsg)
	return x
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		want string // invariants that are found violated
		do   func(*testing.T, *world)
	}{
		{"nothing is found where all agree", "", func(*testing.T, *world) {}},
		{"nor beside a drift", "", func(t *testing.T, w *world) { w.drift(t) }},
		{"nor where a drift was decided and posted", "", func(t *testing.T, w *world) {
			b := w.drift(t)
			w.rows.documents["document-1"].over = true
			w.rows.events = append(w.rows.events, eventRow{typ: "document.superseded", document: "document-1"}, eventRow{typ: "drift.decided", alert: "alert-1"})
			w.rows.keys[w.key].variants[0].state, w.rows.keys[w.key].variants[1].state = dedup.Superseded, dedup.Accepted
			w.rows.keys[w.key].variants[1].messages[0].Fate = dedup.Posted
			w.post(b, "document-2")
			w.rows.audit["alert-1"] = 1
			w.ledger.ask(&act{alert: "alert-1", key: w.key, decision: "replace", posts: true, status: 200, state: "resolved", asked: begun, answered: begun.Add(time.Hour)})
		}},

		{"a message posted twice", "1", func(_ *testing.T, w *world) { w.post(w.a, "document-2") }},
		{"a document of nobody's message", "1", func(_ *testing.T, w *world) { w.rows.documents["document-1"].number = "RG-9" }},
		{"two contents posted under a reference", "1 4", func(t *testing.T, w *world) { w.post(w.drift(t), "document-2") }},
		{"two deliveries that were first", "1 3", func(t *testing.T, w *world) {
			d := w.send(t, w.a, "id-1", 201, "first", "accepted", "")
			d.body += " "
			w.rows.receipts[d.sender.id()+" "+d.body] = true
		}},
		{"an answer whose bytes are not stored", "2", func(_ *testing.T, w *world) { clear(w.rows.receipts) }},
		{"a part whose bytes are not stored", "2", func(_ *testing.T, w *world) { clear(w.rows.answers) }},
		{"an answered delivery that is not in the journal", "2 6", func(_ *testing.T, w *world) { w.rows.journal = nil }},
		{"another answer to the same", "3", func(_ *testing.T, w *world) {
			d := w.ledger.deliveries[1]
			d.body += " "
			w.rows.receipts[d.sender.id()+" "+d.body] = true
		}},
		{"a drift that was posted", "1 4", func(t *testing.T, w *world) {
			b := w.drift(t)
			w.rows.documents["document-1"].over = true
			w.rows.events = append(w.rows.events, eventRow{typ: "document.superseded", document: "document-1"})
			w.post(b, "document-2")
		}},
		{"a decision that nobody took", "4", func(t *testing.T, w *world) {
			w.drift(t)
			w.rows.audit["alert-1"] = 1
			w.rows.events = append(w.rows.events, eventRow{typ: "drift.decided", alert: "alert-1"})
		}},
		{"a decision that was told and not applied", "4", func(t *testing.T, w *world) {
			w.drift(t)
			w.ledger.ask(&act{alert: "alert-1", key: w.key, decision: "keep_original", status: 200, state: "resolved", asked: begun, answered: begun.Add(time.Hour)})
		}},
		{"two payloads that were first under an id", "4", func(t *testing.T, w *world) {
			b := newContent(w.a.owner, w.a.owner.address(), "R2", invoice{number: "RG-2", amount: 200})
			w.send(t, b, "id-1", 201, "first", "accepted", "")
			w.keep(b, dedup.Accepted, dedup.Posted)
			w.post(b, "document-2")
		}},
		{"an acknowledged interchange that is not known", "1 5", func(_ *testing.T, w *world) {
			clear(w.rows.keys)
			w.rows.documents["document-1"].sha256[0]++
		}},
		{"an acknowledged message that is refused", "5", func(_ *testing.T, w *world) {
			w.rows.keys[w.key].variants[0].messages[0].Fate = dedup.RefusedMsg
		}},
		{"an acknowledged message whose document is gone", "5 6 9", func(_ *testing.T, w *world) { delete(w.rows.documents, "document-1") }},
		{"nor where what was accepted is purged and sent again", "", func(t *testing.T, w *world) {
			w.rows.purged[w.key] = true
			w.ledger.ask(&act{key: w.key, decision: "purge", asked: begun})
			w.send(t, w.a, "id-2", 201, "first", "accepted", "")
			w.rows.keys[w.key].variants[0].messages[0].Fate = dedup.Absorbed
		}},
		{"nor where it is purged and its document stands", "", func(_ *testing.T, w *world) {
			w.rows.purged[w.key] = true
			clear(w.rows.keys)
		}},
		{"nothing is left of what was accepted and purged", "5 6", func(_ *testing.T, w *world) {
			w.rows.purged[w.key] = true
			clear(w.rows.keys)
			clear(w.rows.documents)
			w.rows.guards = nil
		}},
		{"a dead message is told as a duplicate", "3", func(t *testing.T, w *world) {
			x := w.dead(t)
			w.send(t, x, "id-9", 202, "duplicate", "dead", "")
		}},
		{"nor where all its attempts are used up", "", func(t *testing.T, w *world) {
			x := w.dead(t)
			for range x.owner.attempts {
				d := &delivery{shipment: shipment{sender: x.owner, contents: []*content{x}, id: "id-9"}, status: 503, sent: begun.Add(5 * time.Second)}
				w.ledger.begin(d)
				d.answered = d.sent
			}
			w.send(t, x, "id-4", 202, "duplicate", "dead", "").body = w.ledger.deliveries[2].body
		}},
		{"what is absorbed into a document that was over", "5", func(t *testing.T, w *world) {
			w.rows.documents["document-1"].over = true
			w.rows.events = append(w.rows.events, eventRow{typ: "document.superseded", document: "document-1"})
			x := newContent(w.a.owner, w.a.owner.address(), "R5", invoice{number: "RG-1", amount: 100})
			w.send(t, x, "id-5", 201, "first", "accepted", "")
			w.keep(x, dedup.Accepted, dedup.Absorbed)
		}},
		{"a worker's work without its event", "8", func(_ *testing.T, w *world) {
			w.rows.journal = append(w.rows.journal, journalRow{partner: w.key.partner, delivery: "work-1", transport: worker, key: w.key.id, verdict: "first", outcome: "accepted", digest: hexOf(w.a.digest)})
		}},
		{"what nobody has processed", "5", func(t *testing.T, w *world) {
			x := newContent(company()[16], company()[16].address(), "R6", invoice{number: "RG-6", amount: 100})
			w.send(t, x, "id-6", 202, "first", "received", "")
			w.keep(x, dedup.Received, dedup.Pending)
		}},
		{"a payload that is not as it came", "5", func(_ *testing.T, w *world) {
			for id := range w.rows.payloads {
				w.rows.payloads[id] = strings.ToLower(w.rows.payloads[id])
			}
		}},
		{"a stray row", "6", func(_ *testing.T, w *world) { w.rows.strays["documents without their key"] = 1 }},
		{"an event of a document that does not exist", "6", func(_ *testing.T, w *world) {
			w.rows.events = append(w.rows.events, eventRow{typ: "document.created", document: "document-9"})
		}},
		{"a key of what failed verification", "7", func(_ *testing.T, w *world) {
			x := newContent(w.a.owner, w.a.owner.address(), "R3", invoice{number: "RG-3", amount: 1})
			w.ledger.begin(&delivery{shipment: shipment{sender: x.owner, contents: []*content{x}, faulty: badToken}, status: 401})
			w.keep(x, dedup.Accepted, dedup.Posted)
		}},
		{"a document without its event", "8", func(_ *testing.T, w *world) {
			w.rows.events = slices.DeleteFunc(w.rows.events, func(e eventRow) bool { return e.typ == "document.created" })
		}},
		{"a document with two events", "8", func(_ *testing.T, w *world) {
			w.rows.events = append(w.rows.events, eventRow{typ: "document.created", document: "document-1"})
		}},
		{"a reception without its event", "8", func(_ *testing.T, w *world) {
			w.rows.events = slices.DeleteFunc(w.rows.events, func(e eventRow) bool { return e.typ == "message.received" })
		}},
		{"a key without outcome", "9", func(_ *testing.T, w *world) { w.rows.keys[w.key].variants[0].answer = 0 }},
		{"a document without its guard", "9", func(_ *testing.T, w *world) { w.rows.guards = nil }},
		{"a guard without its document", "9", func(_ *testing.T, w *world) {
			w.rows.guards = append(w.rows.guards, guardRow{partner: w.key.partner, key: "x", contents: 1, documents: []string{"document-9"}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.do(t, w)
			check(&w.findings, w.ledger, w.rows)
			var found []string
			for _, v := range w.list {
				if !slices.Contains(found, v.invariant) {
					found = append(found, v.invariant)
				}
			}
			slices.Sort(found)
			if diff := cmp.Diff(c.want, strings.Join(found, " ")); diff != "" {
				t.Errorf("invariants (-want +found):\n%s\n%v", diff, w.list)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	hold, reject := company()[2], company()[0]
	if hold.onDrift != "hold" || reject.onDrift != "reject" {
		t.Fatal("the company is another one than this test takes it for")
	}
	for _, c := range []struct {
		name   string
		owner  *partner
		status int
		body   string
		allow  bool
	}{
		{"an accepted interchange is told with 201", reject, 201, "first accepted", true},
		{"500 is no answer", reject, 500, "", false},
		{"a drift under reject is not told with 202", reject, 202, "drift quarantined", false},
		{"a drift under hold is", hold, 202, "drift quarantined", true},
		{"a repeat is no 201", reject, 201, "duplicate accepted", false},
		{"nothing is partly taken under acceptance: interchange", reject, 201, "first partly", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, outcome, _ := strings.Cut(c.body, " ")
			x := newContent(c.owner, c.owner.address(), "R1", invoice{number: "RG-1", amount: 1})
			r := &run{findings: &findings{}}
			d := &delivery{shipment: shipment{sender: c.owner, contents: []*content{x}}, n: 2, status: c.status, verdict: verdict, receipt: receipt{Outcome: outcome}}
			(&online{r}).see(d)
			if n := r.findings.count(); (n == 0) != c.allow {
				t.Errorf("%d findings: %v", n, r.findings.list)
			}
		})
	}
}
