package gateway_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/edigw/edigw/gateway"
)

// actions are what may happen next; an action named twice happens twice as often.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"deliver":        m.deliverNew,
		"deliver 2":      m.deliverNew,
		"change":         m.deliverChanged,
		"change 2":       m.deliverChanged,
		"change 3":       m.deliverChanged,
		"mend":           m.mend,
		"mend 2":         m.mend,
		"envelope":       m.changeEnvelope,
		"re-use":         m.reuseNumber,
		"repeat":         m.deliverAgain,
		"repeat 2":       m.deliverAgain,
		"repeat 3":       m.deliverAgain,
		"repeat 4":       m.deliverAgain,
		"handler":        m.turnHandler,
		"handler 2":      m.turnHandler,
		"configure":      m.reconfigure,
		"configure 2":    m.reconfigure,
		"restart":        m.restart,
		"forge":          func(t *rapid.T) { m.forge(t, m.parts(t)) },
		"import":         m.importNumber,
		"import id":      m.importID,
		"work":           m.work,
		"work 2":         m.work,
		"work 3":         m.work,
		"decide":         m.decide,
		"decide 2":       m.decide,
		"discard":        m.discard,
		"discard work":   m.discardPending,
		"close held":     m.closeHeld,
		"void":           m.void,
		"issue again":    m.issueAgain,
		"reject payload": m.rejectPayload,
		"purge":          m.purge,
		"age":            m.age,
	}
}

func chance(t *rapid.T, in int, label string) bool { return rapid.IntRange(1, in).Draw(t, label) == in }

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func (m *machine) draft(t *rapid.T, ref string) draft {
	d := draft{kind: "INVOIC", number: pick(t, "number", "R-1", "R-2", "R-3"), amount: pick(t, "amount", "100.00", "200.00"),
		function: pick(t, "function", "9", "9", "9", "9", "9", "5", "1", "1", "7"), ref: ref, bad: chance(t, 6, "bad")}
	if chance(t, 4, "desadv") {
		d.kind, d.number = "DESADV", pick(t, "number", "D-1", "D-2")
	}
	return d
}

func (m *machine) messages(t *rapid.T) []draft {
	var ms []draft
	for i := range rapid.IntRange(1, 3).Draw(t, "messages") {
		ref := string(rune('1' + i))
		if chance(t, 10, "same reference") {
			ref = "1"
		}
		ms = append(ms, m.draft(t, ref))
	}
	return ms
}

func (m *machine) date(t *rapid.T) string {
	days := pick(t, "days", 1, 1, 1, 1, 2, 2, 500, 2000)
	return m.world.now.AddDate(0, 0, -days).Format("060102")
}

func (m *machine) interchangeOf(t *rapid.T) *sending {
	return &sending{ref: pick(t, "reference", "1", "2", "3", "4", "5"), date: m.date(t), clock: pick(t, "clock", "0900", "1000"),
		stranger: chance(t, 15, "stranger"), miscounted: chance(t, 20, "miscounted"), messages: m.messages(t)}
}

func (m *machine) parts(t *rapid.T) []*sending {
	if chance(t, 20, "junk") {
		return []*sending{{junk: true, ref: pick(t, "reference", "1", "2")}}
	}
	ps := []*sending{m.interchangeOf(t)}
	if chance(t, 5, "two") {
		ps = append(ps, m.interchangeOf(t))
	}
	return ps
}

func (m *machine) id(t *rapid.T) string { return pick(t, "id", "", "", "T1", "T2", "T3") }

func (m *machine) deliverNew(t *rapid.T) { m.receive(t, m.id(t), m.parts(t)) }

// noSubject ends an action that has nothing to act on as things stand: rapid draws
// another in its place. No test is left out by it.
func noSubject(t *rapid.T) { t.SkipNow() }

func (m *machine) before(t *rapid.T) deliveredBefore {
	if len(m.sent) == 0 {
		noSubject(t)
	}
	from := 0
	if chance(t, 2, "lately") {
		from = max(0, len(m.sent)-3)
	}
	return m.sent[rapid.IntRange(from, len(m.sent)-1).Draw(t, "sent before")]
}

// deliverAgain repeats a delivery, sometimes under another transport id.
func (m *machine) deliverAgain(t *rapid.T) {
	d := m.before(t)
	id := d.id
	if chance(t, 3, "other id") {
		id = m.id(t)
	}
	m.receive(t, id, d.parts)
}

// deliverChanged sends a changed copy of an earlier delivery.
func (m *machine) deliverChanged(t *rapid.T) {
	d := m.before(t)
	if d.parts[0].junk {
		m.receive(t, m.id(t), d.parts)
		return
	}
	parts := slices.Clone(d.parts)
	n := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
	switch pick(t, "payload", "change", "change", "change", "change", "alone", "with another", "with a changed copy") {
	case "change":
		parts[n] = m.changed(t, parts[n])
	case "alone":
		parts = parts[n : n+1]
	case "with another":
		parts = append(parts[:1:1], m.interchangeOf(t))
	case "with a changed copy":
		parts = append(parts[:1:1], m.changed(t, parts[0]))
	}
	id := d.id
	if chance(t, 2, "other id") {
		id = m.id(t)
	}
	m.receive(t, id, parts)
}

func (m *machine) changed(t *rapid.T, s *sending) *sending {
	c := *s
	c.messages = slices.Clone(s.messages)
	n := rapid.IntRange(0, len(c.messages)-1).Draw(t, "message")
	switch pick(t, "what", "mended", "mended", "mended", "clock", "date", "fold", "spoilt", "message", "message", "amount", "more", "less", "reference") {
	case "mended":
		c.miscounted = false
		for i := range c.messages {
			c.messages[i].bad, c.messages[i].ref = false, string(rune('1'+i))
		}
	case "clock":
		c.clock = pick(t, "clock", "0901", "1001")
	case "date":
		c.date = m.date(t)
	case "fold":
		c.fold = !c.fold
	case "spoilt":
		c.messages[n].bad = true
	case "message":
		c.messages[n] = m.draft(t, c.messages[n].ref)
	case "amount":
		c.messages[n].amount = pick(t, "amount", "100.00", "200.00", "300.00")
	case "more":
		if len(c.messages) < 3 {
			c.messages = append(c.messages, m.draft(t, string(rune('1'+len(c.messages)))))
		}
	case "less":
		if len(c.messages) > 1 {
			c.messages = slices.Delete(c.messages, n, n+1)
		}
	case "reference":
		c.ref = pick(t, "reference", "1", "2", "3")
	}
	return &c
}

// mend sends anew what is unfinished, with what was refused or dead in it
// mended: corrections and completions.
func (m *machine) mend(t *rapid.T) {
	k, n := m.some(t, "unfinished", func(k *modelKey, v *modelVariant) bool {
		return v == k.current && v.sent != nil && (v.state == "partly" || v.state == "rejected" || v.state == "dead")
	})
	v := k.variants[n]
	c := *v.sent
	c.messages, c.miscounted = slices.Clone(c.messages), false
	for i := range c.messages {
		switch {
		case c.messages[i].bad:
			c.messages[i].bad = false
		case isDead(v.messages[i].fate) && chance(t, 2, "another"):
			c.messages[i] = m.draft(t, c.messages[i].ref)
		}
	}
	m.receive(t, m.id(t), []*sending{&c})
}

// changeEnvelope sends anew what is accepted, written down another way.
func (m *machine) changeEnvelope(t *rapid.T) {
	k, _ := m.some(t, "accepted", func(k *modelKey, v *modelVariant) bool {
		return v == k.current && v.sent != nil && v.state == "accepted"
	})
	c := *k.current.sent
	if chance(t, 2, "fold") {
		c.fold = !c.fold
	} else {
		c.clock = pick(t, "clock", "0902", "1002")
	}
	m.receive(t, m.id(t), []*sending{&c})
}

// issueAgain sends what a document said under another reference, later or earlier
// than what ended it.
func (m *machine) issueAgain(t *rapid.T) {
	var over []deliveredBefore
	for _, d := range m.sent {
		if s := d.parts[0]; !s.junk && slices.ContainsFunc(s.messages, func(x draft) bool { return m.guards[x.document()] != nil && m.guards[x.document()].standing() == nil }) {
			over = append(over, d)
		}
	}
	if len(over) == 0 {
		noSubject(t)
	}
	c := *rapid.SampledFrom(over).Draw(t, "void").parts[0]
	c.ref, c.date, c.clock = pick(t, "reference", "6", "7", "8"), m.date(t), pick(t, "clock", "0900", "1100", "1200")
	m.receive(t, m.id(t), []*sending{&c})
}

// reuseNumber sends something else under a number that was last used long ago.
func (m *machine) reuseNumber(t *rapid.T) {
	k, _ := m.some(t, "aged", func(k *modelKey, v *modelVariant) bool { return v == k.current && v.sent != nil && k.aged })
	c := *k.current.sent
	c.messages = m.messages(t)
	m.receive(t, m.id(t), []*sending{&c})
}

// turnHandler makes the handlers fail on a document number, or no more.
func (m *machine) turnHandler(t *rapid.T) {
	n := pick(t, "number", "R-1", "R-2", "R-3", "D-1")
	m.fails[n] = !m.fails[n]
	t.Logf("handlers fail on %s: %v", n, m.fails[n])
}

// anySettings are what a run begins with.
func anySettings(t *rapid.T) settings {
	return settings{
		acceptance: pick(t, "acceptance", "interchange", "message"), onDrift: pick(t, "on_drift", "reject", "reject", "hold"),
		onDead: pick(t, "on_dead", "hold", "refuse"), attempts: rapid.IntRange(1, 3).Draw(t, "attempts"),
		absorb:           pick(t, "absorb", nil, []string{"envelope"}, []string{"formatting", "envelope"}),
		controlReference: pick(t, "control_reference", "unique", "unique", "unique", "unique", "unique_per_day", "unreliable"),
		messageReference: pick(t, "message_reference", "unique", "unique", "unique", "unreliable"),
		transportID:      pick(t, "transport_id", "unique", "unique", "unique", "unreliable"),
		onInvoice:        pick(t, "on_known_document", "hold", "note"), onDespatch: pick(t, "on_known_document", "note", "hold"),
		deferred: pick(t, "processing", nil, nil, nil, []string{"INVOIC", "DESADV"}, []string{"INVOIC", "DESADV"}, []string{"DESADV"}),
		driftAck: "none", types: []string{"INVOIC", "DESADV"}, reuse: chance(t, 2, "reuse_after"), receiptAction: 7,
	}
}

// reconfigure changes one setting.
func (m *machine) reconfigure(t *rapid.T) {
	flip := func(s *string, a, b string) {
		if *s == a {
			*s = b
		} else {
			*s = a
		}
	}
	w := m.world
	what := pick(t, "setting", "acceptance", "on_drift", "on_dead", "attempts", "absorb", "control_reference", "message_reference", "transport_id",
		"on_known_document", "types", "strangers", "rules", "receipt_action", "drift_acknowledgement", "accepts_uci8",
		"reuse_after", "processing", "nothing")
	switch what {
	case "acceptance":
		flip(&w.acceptance, "interchange", "message")
	case "on_drift":
		flip(&w.onDrift, "reject", "hold")
	case "on_dead":
		flip(&w.onDead, "hold", "refuse")
	case "attempts":
		w.attempts = rapid.IntRange(1, 3).Draw(t, "attempts")
	case "absorb":
		w.absorb = pick(t, "absorb", nil, []string{"envelope"}, []string{"formatting"}, []string{"formatting", "envelope"})
	case "control_reference":
		m.changeControlReference(t)
	case "message_reference":
		flip(&w.messageReference, "unique", "unreliable")
		m.unreliable = true
	case "transport_id":
		flip(&w.transportID, "unique", "unreliable")
	case "on_known_document":
		flip(&w.onInvoice, "hold", "note")
		flip(&w.onDespatch, "note", "hold")
	case "types":
		w.types = pick(t, "types", []string{"INVOIC", "DESADV"}, []string{"INVOIC"}, []string{"DESADV"})
	case "strangers":
		w.strangers = !w.strangers
	case "rules":
		w.revision[1]++
	case "receipt_action":
		w.receiptAction = 15 - w.receiptAction
	case "drift_acknowledgement":
		flip(&w.driftAck, "none", "reject")
	case "reuse_after":
		w.reuse = !w.reuse
	case "processing":
		w.deferred = pick(t, "processing", nil, []string{"INVOIC", "DESADV"}, []string{"INVOIC"}, []string{"DESADV"})
	case "accepts_uci8":
		w.uci8 = !w.uci8
	}
	m.configure()
	t.Logf("configure %s: %+v", what, w.settings)
}

func (m *machine) changeControlReference(t *rapid.T) {
	w := m.world
	to := pick(t, "control_reference", "unique", "unique_per_day", "unreliable")
	if to != w.controlReference {
		w.earlier = append([]string{w.controlReference}, w.earlier...)
		w.controlReference = to
	}
	if chance(t, 4, "long ago") { // the window after the change has passed
		w.earlier = nil
	}
}

// restart begins anew with another process on the same database.
func (m *machine) restart(t *rapid.T) {
	g := m.Gateway
	m.Gateway = &gateway.Gateway{Pool: g.Pool, Formats: g.Formats, Handlers: g.Handlers, Log: g.Log, Sender: g.Sender, MaySpeakFor: g.MaySpeakFor, IsOurs: g.IsOurs,
		ConfigRevision: g.ConfigRevision, Partner: g.Partner, Audit: g.Audit, Numbers: g.Numbers, Later: g.Later, Now: g.Now, NewID: g.NewID, Rules: g.Rules}
	t.Logf("restart")
}
