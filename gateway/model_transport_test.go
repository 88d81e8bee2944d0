package gateway_test

import (
	"encoding/hex"
	"slices"

	"github.com/edigw/edigw/gateway"
)

// expectation is what the model expects of a delivery.
type expectation struct {
	id     string // transport key; "" if there is none
	rule   string // row at transport level
	items  []*wanted
	answer gateway.Answer
	body   []byte // the stored receipt; nil where it is made now
	into   *modelPayload
}

// owns reports whether the partner may speak for the sender of s.
func (w *world) owns(s *sending) bool { return !s.junk && (!s.stranger || w.strangers) }

// deliver is the life of a delivery in the model.
func (w *world) deliver(id string, parts []*sending) *expectation {
	d := sha(payload(parts))
	e := &expectation{}
	switch {
	case id != "":
		e.id = "http:nordhafen:" + id
	case !slices.ContainsFunc(parts, func(s *sending) bool { return !s.junk }):
		e.id = "payload:sha256:" + hex.EncodeToString(d[:])
	}
	t := w.ids[e.id]
	before := t.find(d)
	if e.id != "" {
		e.rule = w.transportRow(t, d, parts)
	}
	noted := e.rule == "T5" || e.rule == "T6"
	switch {
	case e.rule == "T2":
		w.join(before.alert)
		return w.storedPayload(e, before, gateway.Drift)
	case e.rule == "T2b":
		return w.storedPayload(e, before, gateway.Duplicate)
	case e.rule == "T6" && w.transportID != "unreliable":
		return w.transportDrift(e, t, d, parts)
	}
	if e.rule == "T3b" {
		w.importUnknown(parts)
	}
	drifted := slices.Clone(w.drifted)
	for n, s := range parts {
		e.items = append(e.items, w.part(s, before, n))
	}
	w.possibleCopies(e.items, drifted)
	w.journal += len(parts)
	e.answer = overall(e.items)
	w.closeDrifts(e.items)
	if e.id != "" {
		w.keep(e, d, parts, before)
	}
	if noted {
		w.open(&modelAlert{kind: "transport", key: e.id, state: "auto_resolved", digests: [][32]byte{d}})
	}
	return e
}

// importUnknown: what comes under an id that a former gateway processed was
// processed by it.
func (w *world) importUnknown(parts []*sending) {
	for _, s := range parts {
		if id := w.keyOf(s); w.owns(s) && w.keys[id] == nil {
			v := &modelVariant{noDigest: true, state: "imported", answer: gateway.ToldAccepted}
			w.keys[id] = &modelKey{id: id, current: v, variants: []*modelVariant{v}}
		}
	}
}

// transportRow is the table at transport level.
func (w *world) transportRow(t *modelID, d [32]byte, parts []*sending) string {
	before := t.find(d)
	switch {
	case t == nil:
		return "T1"
	case before != nil && before.state == "quarantined":
		return "T2"
	case before != nil && before.state == "refused":
		return "T2b"
	case before != nil:
		return "T3"
	case t.imported() != nil:
		return "T3b"
	case !w.hadEffect(t):
		return "T4"
	}
	keyed, first := 0, false
	for _, s := range parts {
		if w.owns(s) {
			keyed++
			first = first || w.rowOf(w.keys[w.keyOf(s)], s, false) == "I1b"
		}
	}
	if keyed > 0 && !first {
		return "T5"
	}
	return "T6"
}

// hadEffect reports whether anything that came under t was posted, absorbed,
// held, is pending, or was acknowledged positively.
func (w *world) hadEffect(t *modelID) bool {
	for _, p := range t.payloads {
		if p.state == "accepted" && positive(p.answer) {
			return true
		}
	}
	for _, c := range t.carried {
		if v := w.keys[c.key].find(c.sha); v != nil {
			for _, m := range v.messages {
				if effective(m.fate) || m.fate == pending {
					return true
				}
			}
		}
	}
	return false
}

// part is one interchange of a delivery. before is what its transport id keeps
// of this payload, nil if it did not carry it.
func (w *world) part(s *sending, before *modelPayload, n int) *wanted {
	carriedBefore := false
	if before != nil {
		p := before.parts[n]
		carriedBefore = !p.again && !(p.keyless && (p.revision[0] < w.all[0] || p.revision[1] < w.all[1]))
	}
	if w.owns(s) {
		r := w.interchange(s, carriedBefore)
		if r.row == "T3" {
			r.answer, r.item = before.parts[n].answer, before.parts[n].item
			if before.answer == 0 { // it only ever got 503
				r.stored, r.answer, r.item = false, gateway.ToldReplaced, nil
			}
		}
		return r
	}
	r := &wanted{sent: s, verdict: gateway.First, answer: gateway.ToldSenderNotAllowed}
	if s.junk {
		r.answer = gateway.ToldUnreadable
	}
	if carriedBefore {
		r.verdict, r.stored, r.answer, r.item = gateway.Duplicate, true, before.parts[n].answer, before.parts[n].item
	}
	return r
}

// keep notes the delivery under its transport id.
func (w *world) keep(e *expectation, d [32]byte, parts []*sending, before *modelPayload) {
	p := before
	if e.rule == "T3b" {
		p = w.ids[e.id].imported()
		p.sha, p.noDigest, p.state, p.parts = d, false, "accepted", make([]modelPart, len(parts))
		for n := range p.parts {
			p.parts[n].answer = e.items[n].answer
		}
	} else if p == nil {
		t := w.ids[e.id]
		if t == nil {
			t = &modelID{id: e.id}
			w.ids[e.id] = t
		}
		p = &modelPayload{sha: d, state: "accepted", parts: make([]modelPart, len(parts))}
		for n := range p.parts {
			p.parts[n].answer = e.items[n].answer
		}
		t.payloads = append(t.payloads, p)
	} else if e.rule == "T3" && p.body != nil && p.sameAnswers(e.items) {
		e.body, e.answer = p.body, p.answer
		return
	}
	t := w.ids[e.id]
	for n, r := range e.items {
		x := &p.parts[n]
		x.sha, x.again, x.keyless, x.revision = r.sent.digest(), false, !w.owns(r.sent), w.all
		if c := (carried{"", r.sent.digest()}); r.key != nil {
			c.key = r.key.id
			if !slices.Contains(t.carried, c) {
				t.carried = append(t.carried, c)
			}
		}
	}
	if e.answer == gateway.ToldTryAgain {
		return // no acknowledgement: the one before it stays
	}
	p.answer, p.body, e.into = e.answer, nil, p
	for n, r := range e.items {
		x := &p.parts[n]
		x.answer, x.variant, x.item = r.answer, r.variant, nil
		if r.variant != nil {
			x.version = r.variant.version
		}
	}
}

// sameAnswers reports whether every interchange repeats the answer that the
// stored receipt was made of.
func (p *modelPayload) sameAnswers(items []*wanted) bool {
	for n, r := range items {
		if !r.stored || r.variant != nil && (p.parts[n].variant != r.variant || p.parts[n].version != r.variant.version) {
			return false
		}
	}
	return true
}

// storedPayload answers rows T2 and T2b.
func (w *world) storedPayload(e *expectation, p *modelPayload, v gateway.Verdict) *expectation {
	w.journal++
	e.items = []*wanted{{row: e.rule, verdict: v, answer: p.answer, stored: true, alert: p.alert}}
	e.answer, e.body = p.answer, p.body
	return e
}

// transportDrift quarantines a payload under an id that was used for another.
func (w *world) transportDrift(e *expectation, t *modelID, d [32]byte, parts []*sending) *expectation {
	w.journal++
	p := &modelPayload{sha: d, state: "quarantined", answer: w.toldDrift()}
	for _, s := range parts {
		p.parts = append(p.parts, modelPart{sha: s.digest(), keyless: !w.owns(s), revision: w.all, answer: p.answer})
	}
	t.payloads = append(t.payloads, p)
	p.alert = w.drift("transport", e.id, d, false)
	e.items = []*wanted{{row: e.rule, verdict: gateway.Drift, answer: p.answer, alert: p.alert}}
	e.answer, e.into = p.answer, p
	return e
}

// closeDrifts: an interchange of an open transport drift was processed under
// another id. What else the drift holds was never judged, and is judged when it
// comes again.
func (w *world) closeDrifts(items []*wanted) {
	for _, r := range items {
		switch r.row {
		case "I1b", "I4", "I9", "I10", "I12":
		default:
			continue
		}
		for _, t := range w.ids {
			for _, p := range t.payloads {
				if p.state != "quarantined" || !slices.ContainsFunc(p.parts, func(x modelPart) bool { return x.sha == r.sent.digest() }) {
					continue
				}
				p.state, p.body = "accepted", nil
				for n := range p.parts {
					p.parts[n].again = true
				}
				if !t.open(p.alert) {
					p.alert.state = "resolved"
					w.events["alert.closed"]++
				}
			}
		}
	}
}

// open reports whether a drift of t waits for a decision under a.
func (t *modelID) open(a *modelAlert) bool {
	return slices.ContainsFunc(t.payloads, func(p *modelPayload) bool { return p.alert == a && p.state == "quarantined" })
}

// overall is the one answer of several interchanges over plain HTTP.
func overall(items []*wanted) gateway.Answer {
	for _, status := range []int{503, 422, 403, 202, 201} {
		for _, r := range items {
			if r.answer.Told().HTTP == status {
				return r.answer
			}
		}
	}
	return 0
}
