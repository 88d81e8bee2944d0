package gateway_test

import (
	"slices"

	"github.com/edigw/edigw/gateway"
)

// wanted is what the model expects of one interchange of a delivery.
type wanted struct {
	sent    *sending
	row     string
	verdict gateway.Verdict
	answer  gateway.Answer
	stored  bool
	item    []byte // the stored bytes; nil where it is made afresh or not kept
	id      string // of its key, "" where it has none
	key     *modelKey
	variant *modelVariant
	alert   *modelAlert
	found   []string // what the judgement says of each message
	posts   []int
	held    []int
	further []int // posted beside a known document of other content
	copies  int   // findings possible_copy
	void    int   // absorbed, though a newer message replaced or cancelled what they say
}

// keyOf gives the key of s: the one of an earlier setting, if it stands there.
func (w *world) keyOf(s *sending) string {
	for _, e := range w.earlier {
		if k := s.key(e); w.keys[k].find(s.digest()) != nil {
			return k
		}
	}
	return s.key(w.controlReference)
}

// rowOf is the table at interchange level: s arrives, and its transport id
// carried it before or not.
func (w *world) rowOf(k *modelKey, s *sending, carriedBefore bool) string {
	d := s.digests()
	v := k.find(s.digest())
	switch {
	case v == nil && carriedBefore:
		return "T3" // not known any more
	case v == nil && w.old(s) && (k == nil || k.onlyI1()):
		return "I1"
	case k == nil:
		return "I1b"
	case v != nil && (v.state == "accepted" || v.state == "superseded"):
		return "I2"
	case v != nil && v.state == "received":
		return "I3"
	case v != nil && (v.state == "partly" || v.state == "rejected" || v.state == "dead"):
		if v.epoch != k.epoch || !k.fits(d) {
			return "I6"
		}
		if slices.ContainsFunc(v.messages, func(m modelMessage) bool { return w.tryAgain(m) || w.stale(m) }) {
			return "I4"
		}
		if slices.ContainsFunc(v.messages, func(m modelMessage) bool { return isDead(m.fate) }) {
			return "I5"
		}
		return "I6"
	case v != nil && v.state == "quarantined":
		return "I7"
	case v != nil && v.state == "refused":
		return "I8"
	}
	current := k.current
	switch {
	case slices.ContainsFunc(k.variants, func(v *modelVariant) bool { return v.noDigest }):
		return "I8b"
	case len(k.standing()) == 0:
		return "I9"
	case current.state == "partly" && k.holds()&4 == 0 && k.fits(d) && len(d) == len(current.messages):
		return "I10"
	case current.content == s.content() && current.state == "accepted" && slices.Contains(w.absorb, difference(current.sent, s)):
		return "I11"
	case w.reuse && k.aged && k.holds() == 0 && !slices.ContainsFunc(k.variants, func(v *modelVariant) bool { return v.content == s.content() }):
		return "I12"
	}
	return "I13"
}

// difference is the class of two interchanges of one content.
func difference(a, b *sending) string {
	if a.date != b.date || a.clock != b.clock {
		return "envelope"
	}
	return "formatting"
}

// window and connection of the partner, in days before now.
const (
	dedupWindow = 400
	connected   = 3 * 365
)

func (w *world) old(s *sending) bool {
	day := func(n int) string { return w.now.AddDate(0, 0, -n).Format("060102") }
	return s.date < day(dedupWindow) && s.date >= day(connected)
}

func (k *modelKey) onlyI1() bool {
	return !slices.ContainsFunc(k.variants, func(v *modelVariant) bool {
		return !v.byI1 || v.state != "quarantined" && v.state != "refused"
	})
}

// tryAgain: a dead message with attempts left. stale: a refused one judged under
// an older revision.
func (w *world) tryAgain(m modelMessage) bool { return m.fate == dead && m.attempts < w.attempts }

func (w *world) stale(m modelMessage) bool {
	return (m.fate == refused || m.fate == refusedWith) && (m.revision[0] < w.revision[0] || m.revision[1] < w.revision[1])
}

// interchange is what becomes of s, whose sender the partner may speak for.
func (w *world) interchange(s *sending, carriedBefore bool) *wanted {
	id := w.keyOf(s)
	k := w.keys[id]
	r := &wanted{sent: s, row: w.rowOf(k, s, carriedBefore), id: id, key: k, variant: k.find(s.digest()), verdict: gateway.Duplicate}
	defer func() {
		if r.key != nil {
			r.key.aged = false // this was its last delivery
		}
	}()
	switch r.row {
	case "T3":
		r.stored = true
	case "I2", "I3", "I5", "I6", "I8", "I7":
		w.repeat(r)
	case "I8b":
		for _, v := range k.variants {
			if v.noDigest {
				r.variant = v
			}
		}
		r.variant.sha, r.variant.noDigest, r.variant.state, r.variant.adopted = s.digest(), false, "accepted", true
		w.acknowledge(r, gateway.ToldAccepted)
	case "I1b", "I9", "I10", "I12":
		r.verdict = map[string]gateway.Verdict{"I1b": gateway.First, "I9": gateway.Correction, "I10": gateway.Completion, "I12": gateway.Reuse}[r.row]
		v := w.variant(r, id)
		if r.row == "I12" {
			r.key.epoch++
			v.epoch = r.key.epoch
		}
		w.process(r, false)
	case "I4":
		r.verdict = gateway.Reevaluation
		for _, m := range r.variant.messages {
			if isDead(m.fate) && w.takes(m) {
				r.verdict = gateway.Retry
			}
		}
		w.process(r, true)
	case "I11":
		r.verdict = gateway.Drift
		v := w.variant(r, id)
		v.state, v.decided = "accepted", true
		for i := range v.messages {
			v.messages[i].fate = absorbed
		}
		v.alert = w.open(&modelAlert{kind: "interchange", key: id, state: "auto_resolved", digests: [][32]byte{v.sha}})
		r.alert = v.alert
		w.acknowledge(r, gateway.ToldAccepted)
	case "I1", "I13":
		r.verdict = gateway.Drift
		purged := r.row == "I1" || k.current.content == "" && !k.current.adopted
		v := w.variant(r, id)
		v.state, v.byI1 = "quarantined", r.row == "I1"
		v.alert = w.drift("interchange", id, v.sha, purged)
		w.keepDrifted(s, v.alert)
		r.alert = v.alert
		w.acknowledge(r, w.toldDrift())
	}
	return r
}

func (w *world) toldDrift() gateway.Answer {
	if w.onDrift == "hold" {
		return gateway.ToldDriftHeld
	}
	return gateway.ToldDrift
}

// repeat answers what changes nothing.
func (w *world) repeat(r *wanted) {
	v := r.variant
	r.stored, r.answer, r.item = true, v.answer, v.item
	if r.row == "I7" {
		r.verdict, r.alert = gateway.Drift, v.alert
		w.join(v.alert)
	}
	if v.answer != 0 {
		return
	}
	r.stored = false // it only ever got 503
	if r.row == "I5" {
		w.acknowledge(r, w.tell(v, false)) // no attempt is left to send it again for
	} else {
		r.answer = gateway.ToldReplaced
	}
}

// variant adds D to its key, which is made if there is none.
func (w *world) variant(r *wanted, id string) *modelVariant {
	s := r.sent
	if r.key == nil {
		r.key = &modelKey{id: id}
		w.keys[id] = r.key
	}
	v := &modelVariant{sent: s, sha: s.digest(), content: s.content(), epoch: r.key.epoch}
	for _, d := range s.digests() {
		v.messages = append(v.messages, modelMessage{sha: d})
	}
	r.key.variants = append(r.key.variants, v)
	if r.key.current == nil {
		r.key.current = v
	}
	r.variant = v
	return v
}
