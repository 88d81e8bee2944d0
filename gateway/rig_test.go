package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// edifactFormat is the format as the program wires it.
func edifactFormat() gateway.Format {
	reader := func(o gateway.Reading) edifact.Reader {
		return edifact.Reader{Tolerance: o.Tolerance, UnreliableMessageReferences: o.UnreliableMessageReferences}
	}
	return gateway.Format{
		Name:  "edifact",
		Leads: edifact.Leads,
		Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
			return reader(o).Split(p, from)
		},
		Scan: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(int, *edi.Body) error) error {
			return reader(o).Scan(p, ic, visit)
		},
		Again: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading) func(int) (*edi.Body, error) {
			return reader(o).Again(p, ic)
		},
		Answers: func(p *edi.Payload, ic *edi.Interchange, o gateway.Reading, visit func(edi.Answer) error) error {
			return reader(o).Answers(p, ic, visit)
		},
		Acknowledge: edifact.Acknowledge, Advise: edifact.Advise, NeverAcknowledged: []string{"CONTRL"},
	}
}

// rig is a gateway on a database of its own, with partners that a test changes.
type rig struct {
	*gateway.Gateway
	t    *testing.T
	mu   sync.Mutex
	by   map[string]*partners.Partner
	now  time.Time
	conf int32
	fail func(number string) bool // which documents the handler fails on
	sees bool                     // each delivery is foreseen first: see foreseen
	x12  bool                     // what is written as EDIFACT is sent as X12: see inX12
}

func newRig(t *testing.T) *rig {
	t.Helper()
	pool := pgtest.New(t)
	return newRigOn(t, pool)
}

func newRigOn(t *testing.T, pool *pgxpool.Pool) *rig {
	t.Helper()
	if err := journal.EnsurePartitions(context.Background(), pool, "payload", "evidence", "acknowledgement", "delivery", "outbox"); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, by: map[string]*partners.Partner{}, now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), conf: 1}
	later := &journal.Batch{Pool: pool, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Also: gateway.LastDeliveries}
	people := &accounts.Store{Pool: pool}
	r.Gateway = &gateway.Gateway{
		Pool: pool, Formats: []gateway.Format{edifactFormat(), x12Format()}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Sender: r.sender,
		MaySpeakFor: func(by, owner *partners.Partner) bool {
			return by.ID == owner.ID || slices.Contains(by.SpeaksFor, owner.ID)
		},
		IsOurs:         func(_ string, p edi.Party) bool { return strings.HasPrefix(p.ID, "95200020000") },
		ConfigRevision: func() int32 { return r.conf },
		Numbers:        &journal.Numbers{Pool: pool}, Later: later,
		Partner: func(id string) *partners.Partner { r.mu.Lock(); defer r.mu.Unlock(); return r.by[id] },
		Audit: func(ctx context.Context, tx gateway.Execer, a gateway.Act) error {
			detail, err := json.Marshal(a.Detail)
			if err != nil {
				return err
			}
			return people.Audit(ctx, tx, accounts.Entry{Who: a.By.Name, Role: accounts.Role(a.By.Role), Action: a.Action, Subject: a.Subject, Partner: a.Partner, Detail: detail})
		},
		Now:   func() time.Time { return r.now },
		Wait:  20 * time.Second, // the machine may be busy with other tests
		NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	for _, h := range documents.Handlers() {
		inner := h.Map
		h.Map = func(ic *edi.Interchange, i int, b *edi.Body, by *documents.Reading) (*documents.Document, []*edi.Error) {
			d, errs := inner(ic, i, b, by)
			if d != nil && r.fail != nil && r.fail(d.Number) {
				panic("this handler fails on " + d.Number)
			}
			return d, errs
		}
		r.Handlers = append(r.Handlers, h)
	}
	r.set("acme", edi.Party{ID: "9520001000010", Qualifier: "14"}, nil)
	r.set("bolt", edi.Party{ID: "9520001000027", Qualifier: "14"}, nil)
	return r
}

func (r *rig) sender(p edi.Party) *partners.Partner {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, by := range r.by {
		for _, id := range by.Identifiers {
			if id.ID == p.ID && id.Qualifier == p.Qualifier {
				return by
			}
		}
	}
	return nil
}

// set makes or changes a partner; every change is a new revision.
func (r *rig) set(id string, address edi.Party, change func(*partners.Partner)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const day = 24 * time.Hour
	p := partners.Partner{ID: id, Name: id, Active: true, Organisation: "nordhafen", Connected: r.now.AddDate(-3, 0, 0),
		Identifiers: []partners.Identifier{{Qualifier: address.Qualifier, ID: address.ID}}, Types: []string{"INVOIC", "DESADV"},
		Policy: partners.Policy{Acceptance: "interchange", OnDrift: "reject", OnDead: "hold", DriftAcknowledgement: "none", FourEyes: "invoices", ReceiptAction: 7, Attempts: 5,
			ControlReference: "unique", MessageReference: "unique", TransportID: "unique", Acknowledge: "response",
			OnKnownDocument: map[string]string{"invoice": "hold", "despatch": "note"}},
		Retention: partners.Retention{DedupWindow: 400 * day, RetryWindow: 30 * day, Payloads: 90 * day, Acknowledgements: 90 * day, Quarantine: 180 * day, Deliveries: 400 * day}}
	if old := r.by[id]; old != nil {
		p = *old
		p.Policy.OnKnownDocument = map[string]string{"invoice": old.Policy.OnKnownDocument["invoice"], "despatch": old.Policy.OnKnownDocument["despatch"]}
	}
	p.Revision++
	r.conf++
	if change != nil {
		change(&p)
	}
	if i := slices.Index(p.Types, "INVOIC"); r.x12 && i >= 0 {
		p.Types = slices.Replace(slices.Clone(p.Types), i, i+1, "810")
	}
	r.by[id] = &p
}

func (r *rig) policy(change func(*partners.Policy)) {
	r.set("acme", edi.Party{}, func(p *partners.Partner) { change(&p.Policy) })
}

// invoice is a message's text without its UNH and UNT.
type message struct {
	ref, number, amount, bad string
}

// interchange writes an INVOIC interchange of acme.
func interchange(ref string, ms ...message) string {
	return interchangeFrom("9520001000010:14", "261129:1015", ref, ms...)
}

func interchangeFrom(sender, when, ref string, ms ...message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "UNB+UNOC:3+%s+9520002000019:14+%s+%s'", sender, when, ref)
	for i, m := range ms {
		if m.ref == "" {
			m.ref = fmt.Sprint(i + 1)
		}
		if m.amount == "" {
			m.amount = "100.00"
		}
		count := 15
		if m.bad != "" {
			count = 99
		}
		fmt.Fprintf(&b, "UNH+%s+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'"+
			"LIN+1++9520000001018:EN'QTY+47:10'MOA+203:%s'PRI+AAA:10.00'UNS+S'MOA+77:%s'MOA+79:%s'CNT+2:1'UNT+%d+%s'", m.ref, m.number, m.amount, m.amount, m.amount, count, m.ref)
	}
	fmt.Fprintf(&b, "UNZ+%d+%s'", len(ms), ref)
	return b.String()
}

// deliver sends a payload as plain HTTP does.
func (r *rig) deliver(partner, transportID, payload string) (*gateway.Receipt, error) {
	r.t.Helper()
	r.mu.Lock()
	p := r.by[partner]
	r.mu.Unlock()
	payload = r.text(payload)
	pl := edi.Bytes([]byte(payload))
	d := &gateway.Delivery{Transport: "http", Partner: p, Payload: pl, SHA256: sha(payload), Received: time.Now(), Render: render, WithAcknowledgement: true}
	if transportID != "" {
		d.TransportID = dedup.TransportKey("http", p.Organisation, transportID)
	}
	if r.sees {
		return r.foreseen(d)
	}
	return r.Receive(context.Background(), d)
}

// render is the smallest rendering that is a function of the receipt's content.
func render(r *gateway.Receipt) (gateway.Rendered, error) {
	items := make([]json.RawMessage, len(r.Items))
	for i := range r.Items {
		items[i] = r.Items[i].JSON
	}
	body, err := json.Marshal(map[string]any{"message_id": r.MessageID, "interchanges": items})
	return gateway.Rendered{Status: r.Answer.Told().HTTP, ContentType: "application/json", Body: body}, err
}

// must delivers and expects a verdict, an answer and a row.
func (r *rig) must(transportID, payload string, verdict gateway.Verdict, answer gateway.Answer, rule string) *gateway.Receipt {
	r.t.Helper()
	rec, err := r.deliver("acme", transportID, payload)
	if err != nil {
		r.t.Fatalf("deliver: %v", err)
	}
	if rec.Verdict != verdict || rec.Answer != answer || strings.Join(rec.Rules, ",") != rule {
		r.t.Fatalf("got %s, %s (%d), rows %v; want %s, %s, %s\n%s", rec.Verdict, rec.Answer.Told().Word, rec.Answer, rec.Rules, verdict, answer.Told().Word, rule, rec.Rendered.Body)
	}
	return rec
}

// count runs a query that gives one number.
func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	var n int
	if err := r.Pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// posted is the number of live documents.
func (r *rig) posted() int {
	return r.count(`select count(*) from document where state = 'live' and superseded_by is null and cancelled_by is null`)
}

// noAddress leaves a known partner's address as it is.
var noAddress edi.Party

// onlyKey is the only interchange key there is.
func (r *rig) onlyKey() string {
	r.t.Helper()
	var id string
	if err := r.Pool.QueryRow(context.Background(), `select message_id from inbox where kind = 2`).Scan(&id); err != nil {
		r.t.Fatal(err)
	}
	return id
}
