package gateway_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// TestModel sends random deliveries, with failures of handlers, changes of the
// configuration, restarts and decisions between them, through Receive and
// through the model of outcomes.md in the model_*_test.go files, and compares
// what the partner is told, every key, document, alert, event and journal row.
// EDIGW_MODEL_RUNS sets the number of runs, of 30 actions on average, drawn anew
// each time and shared by the processors; without it there are 300 of 20, the same
// ones for everybody. One that failed is repeated by EDIGW_MODEL_RUNS=1 with its
// -rapid.seed.
func TestModel(t *testing.T) {
	setFlag(t, "rapid.nofailfile", "true")
	runs := os.Getenv("EDIGW_MODEL_RUNS")
	if runs == "" {
		setFlag(t, "rapid.seed", "20261129")
		setFlag(t, "rapid.checks", "300")
		setFlag(t, "rapid.steps", "20")
		checkModel(t)
		return
	}
	n, err := strconv.Atoi(runs)
	if err != nil {
		t.Fatalf("EDIGW_MODEL_RUNS: %v", err)
	}
	shares := min(n, runtime.GOMAXPROCS(0))
	setFlag(t, "rapid.checks", strconv.Itoa((n+shares-1)/shares))
	setFlag(t, "rapid.steps", "30")
	for i := range shares {
		t.Run(fmt.Sprintf("share %d", i+1), func(t *testing.T) {
			t.Parallel()
			checkModel(t)
		})
	}
}

// checkModel draws runs. Their rows are thrown away now and then: what each of them
// reads is a partner's own, but the database has to find it among all.
func checkModel(t *testing.T) {
	t.Helper()
	r := newRig(t)
	r.now = time.Now().UTC().Truncate(time.Hour)
	n := 0
	rapid.Check(t, func(run *rapid.T) {
		n++
		m := newMachine(run, r, fmt.Sprintf("p%d", n))
		run.Repeat(m.actions())
		m.end(run)
		if n%100 == 0 {
			r.forget()
		}
		if n%500 == 0 {
			t.Logf("%d runs without a difference", n)
		}
	})
}

// forget empties what deliveries write.
func (r *rig) forget() {
	r.t.Helper()
	if _, err := r.Pool.Exec(context.Background(), `
		truncate inbox, variant, message_state, job, delivery, payload, acknowledgement, document, document_line, document_package,
			document_key, drift_alert, drift_copy, outbox, effect`); err != nil {
		r.t.Fatal(err)
	}
}

// setFlag sets a flag of package rapid for one test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	if f == nil {
		t.Fatalf("no flag %s", name)
	}
	old := f.Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set(name, old); err != nil {
			t.Error(err)
		}
	})
}

// machine does every action on both sides.
type machine struct {
	*rig
	*world
	partner string // each run has a partner of its own, so that no table has to be emptied
	sent    []deliveredBefore
	told    map[acknowledged]gateway.Answer

	unreliable bool     // message_reference was unreliable for a time
	purged     []string // keys that were
}

type deliveredBefore struct {
	id    string
	parts []*sending
}

func newMachine(t *rapid.T, r *rig, partner string) *machine {
	m := &machine{rig: r, partner: partner, told: map[acknowledged]gateway.Answer{}, purged: []string{}, world: &world{
		now: r.now, fails: map[string]bool{}, keys: map[string]*modelKey{}, ids: map[string]*modelID{}, guards: map[string]*modelGuard{},
		events: map[string]int{}, names: map[[32]byte]string{},
		settings: anySettings(t)}}
	r.by = map[string]*partners.Partner{}
	r.fail = func(number string) bool { return m.fails[number] }
	m.world.revision[1] = gateway.RulesVersion
	m.unreliable = m.messageReference == "unreliable"
	m.configure()
	t.Logf("%+v", m.settings)
	return m
}

// configure gives the gateway the model's settings, as a new revision.
func (m *machine) configure() {
	m.rig.set(m.partner, edi.Party{}, func(p *partners.Partner) {
		p.Connected = m.rig.now.AddDate(0, 0, -connected)
		p.Types = slices.Clone(m.types)
		p.Identifiers = []partners.Identifier{{Qualifier: "14", ID: ownAddress}}
		if m.strangers {
			p.Identifiers = append(p.Identifiers, partners.Identifier{Qualifier: "14", ID: strangerAddress})
		}
		y := &p.Policy
		y.Processing = partners.Processing{}
		for _, typ := range m.deferred {
			y.Processing[typ] = partners.Deferred
		}
		y.Acceptance, y.OnDrift, y.OnDead, y.DriftAcknowledgement = m.acceptance, m.onDrift, m.onDead, m.driftAck
		y.ReceiptAction, y.AcceptsUCI8, y.Absorb, y.Attempts = edi.Action(m.receiptAction), m.uci8, slices.Clone(m.absorb), m.attempts
		y.ControlReference, y.MessageReference, y.TransportID = m.controlReference, m.messageReference, m.transportID
		y.OnKnownDocument = map[string]string{"invoice": m.onInvoice, "despatch": m.onDespatch}
		y.ReuseAfter = 0
		if m.reuse {
			y.ReuseAfter = reuseAfter
		}
		y.Previous = nil
		for _, e := range slices.Backward(m.earlier) {
			y.Previous = &partners.KeySettings{ControlReference: e, Until: m.rig.now.AddDate(0, 0, dedupWindow), Before: y.Previous}
		}
	})
	m.Rules = m.world.revision[1]
	m.world.revision[0] = m.rig.by[m.partner].Revision
	m.all = [2]int32{m.rig.conf, m.Rules}
}

const reuseAfter = 30 * 24 * time.Hour

// receive sends one delivery through both sides.
func (m *machine) receive(t *rapid.T, id string, parts []*sending) {
	if !slices.ContainsFunc(m.sent, func(d deliveredBefore) bool { return d.id == id && payload(d.parts) == payload(parts) }) {
		m.sent = append(m.sent, deliveredBefore{id, parts})
	}
	m.remember(parts)
	e := m.world.deliver(id, parts)
	t.Logf("deliver id=%q %v: %s", id, parts, e)
	rec, err := m.rig.deliver(m.partner, id, payload(parts))
	if err != nil {
		t.Fatalf("%v\n%s", err, payload(parts))
	}
	m.Later.Flush(context.Background())
	if want, got := m.tells(e, parts), heard(t, rec, e); !reflect.DeepEqual(want, got) {
		t.Fatalf("the receipt differs (-model +gateway):\n%s\n%s\n%s", cmp.Diff(want, got), payload(parts), rec.Rendered.Body)
	}
	body := e.body
	if body == nil {
		again, err := render(rec)
		if err != nil {
			t.Fatal(err)
		}
		body = again.Body
	}
	if d := cmp.Diff(string(body), string(rec.Rendered.Body)); d != "" {
		t.Fatalf("the body is not the one that was sent before (-model +gateway):\n%s", d)
	}
	if rec.Rendered.Status != e.answer.Told().HTTP {
		t.Fatalf("status %d, want %d", rec.Rendered.Status, e.answer.Told().HTTP)
	}
	e.learn(rec)
	m.note(e)
	m.agree(t)
}

// remember gives digests the names that differences show.
func (m *machine) remember(parts []*sending) {
	for _, s := range parts {
		m.names[s.digest()] = s.String()
		for i, d := range s.digests() {
			m.names[d] = s.messages[i].String()
			if s.fold {
				m.names[d] += " folded"
			}
		}
	}
	if len(parts) > 1 {
		m.names[sha(payload(parts))] = fmt.Sprint(parts)
	}
}

// String shows what the model expects of a delivery.
func (e *expectation) String() string {
	var rows []string
	for _, r := range e.items {
		rows = append(rows, fmt.Sprintf("%s %s %s", r.row, r.verdict, r.answer.Told().Word))
	}
	return strings.TrimSpace(e.rule + " [" + strings.Join(rows, ", ") + "]")
}

// forge sends what fails verification: it changes no key.
func (m *machine) forge(t *rapid.T, parts []*sending) {
	t.Logf("forged %v", parts)
	text := payload(parts)
	fault := &gateway.Rejection{Answer: gateway.ToldUnreadable, Reason: "integrity-check-failed", Detail: "The signature does not fit."}
	_, err := m.Receive(context.Background(), &gateway.Delivery{Transport: "http", Partner: m.by[m.partner], Payload: edi.Bytes([]byte(text)), SHA256: sha(text),
		Received: time.Now(), Fault: fault, Render: render})
	var got *gateway.Rejection
	if !errors.As(err, &got) || got != fault {
		t.Fatalf("a forged delivery gave %v", err)
	}
	m.journal++
	m.agree(t)
}
