package gateway_test

import (
	"slices"

	"github.com/edigw/edigw/gateway"
)

// judge says of each message what is true of it alone: posted means sound.
func (w *world) judge(s *sending) (found []string, onlyTypes bool) {
	refs := map[string]bool{}
	onlyTypes = !s.miscounted
	types := 0
	for _, m := range s.messages {
		twice := refs[m.ref] && w.messageReference != "unreliable"
		refs[m.ref] = true
		switch {
		case s.miscounted || m.bad || twice:
			found, onlyTypes = append(found, refused), false
		case !slices.Contains(w.types, m.kind):
			found = append(found, refused)
			types++
		case w.fails[m.number]:
			found = append(found, dead)
		default:
			found = append(found, posted)
		}
	}
	return found, onlyTypes && types > 0
}

func (w *world) takes(m modelMessage) bool {
	return w.tryAgain(m) || m.fate == deadWith || w.stale(m)
}

// process judges messages, all of them or those that row I4 takes up again, and
// makes D current.
func (w *world) process(r *wanted, again bool) {
	r.key.current = r.variant
	onlyTypes := w.settle(r, func(m modelMessage) bool { return !again || w.takes(m) }, w.defers)
	w.events["message.received"]++
	w.openHeld(r)
	w.acknowledge(r, w.tell(r.variant, onlyTypes))
}

// defers reports whether a message waits for a worker.
func (w *world) defers(m draft) bool { return slices.Contains(w.deferred, m.kind) }

// settle gives the messages that are taken up their fates, and posts.
func (w *world) settle(r *wanted, takes func(modelMessage) bool, defers func(draft) bool) (onlyTypes bool) {
	k, v := r.key, r.variant
	done, attempts := map[[32]byte]bool{}, map[[32]byte]int{}
	for _, x := range k.variants {
		for _, m := range x.messages {
			done[m.sha] = done[m.sha] || effective(m.fate)
			if x.epoch == k.epoch {
				attempts[m.sha] = max(attempts[m.sha], m.attempts)
			}
		}
	}
	r.found, onlyTypes = w.judge(r.sent)
	whose := map[string]bool{} // references of what had its effect
	for i, m := range v.messages {
		if done[m.sha] && w.messageReference != "unreliable" {
			whose[r.sent.messages[i].ref] = true
		}
	}
	for i, m := range v.messages {
		if whose[r.sent.messages[i].ref] && !done[m.sha] && (r.found[i] == posted || r.found[i] == dead) {
			r.found[i], onlyTypes = refused, false
		}
	}
	var sound, waiting []int
	waits := false // something of the interchange does
	here := map[[32]byte]bool{}
	for i := range v.messages {
		m := &v.messages[i]
		if !takes(*m) {
			continue
		}
		m.revision = w.revision
		switch {
		case done[m.sha]:
			m.fate = absorbed
		case r.found[i] == dead:
			tried := m.fate == pending
			m.fate, m.attempts = dead, attempts[m.sha]+1
			if (tried || defers(r.sent.messages[i])) && m.attempts < w.attempts {
				m.fate, waits = pending, true
				waiting = append(waiting, i)
			}
		case r.found[i] == posted:
			m.fate = posted
			if here[m.sha] {
				m.fate = absorbed
			}
			here[m.sha] = true
			sound = append(sound, i)
		default:
			m.fate = r.found[i]
		}
	}
	for _, i := range sound {
		waits = waits || defers(r.sent.messages[i])
	}
	for _, i := range sound {
		if defers(r.sent.messages[i]) || waits && w.acceptance == "interchange" {
			v.messages[i].fate = pending
		}
	}
	if w.acceptance == "interchange" {
		no := slices.ContainsFunc(v.messages, func(m modelMessage) bool { return isRefused(m.fate) })
		died := slices.ContainsFunc(v.messages, func(m modelMessage) bool { return isDead(m.fate) })
		for _, i := range append(waiting, sound...) {
			switch {
			case died:
				v.messages[i].fate = deadWith
			case no:
				v.messages[i].fate = refusedWith
			}
		}
	}
	v.state = judgeState(v.messages)
	for _, i := range sound {
		if v.messages[i].fate == posted {
			w.post(r, i)
		}
	}
	return onlyTypes
}

// work is the run of a worker on what is pending of v. The answer stays; once
// nothing is pending a functional acknowledgement is added, where something is dead
// UCI 8 for who takes it, and what is refused by then is told by a notice too.
func (w *world) work(k *modelKey, v *modelVariant) {
	r := &wanted{sent: v.sent, row: "deferred", key: k, variant: v}
	before := slices.Clone(v.messages)
	drifted := slices.Clone(w.drifted)
	onlyTypes := w.settle(r, func(m modelMessage) bool { return m.fate == pending }, func(draft) bool { return false })
	w.openHeld(r)
	w.possibleCopies([]*wanted{r}, drifted)
	w.journal++
	if v.state == "received" {
		return
	}
	w.events["message.processed"]++
	if w.tell(v, onlyTypes) != gateway.ToldDead || w.uci8 {
		v.item = nil
		v.version++
	}
	for i, m := range v.messages {
		if before[i].fate == pending && isRefused(m.fate) {
			w.events["notice.refused"]++
			return
		}
	}
}

// tell is the answer for what came of v.
func (w *world) tell(v *modelVariant, onlyTypes bool) gateway.Answer {
	died, left := false, false
	for _, m := range v.messages {
		died = died || isDead(m.fate)
		left = left || w.tryAgain(m)
	}
	switch {
	case v.state == "accepted":
		return gateway.ToldAccepted
	case v.state == "received":
		return gateway.ToldDeferred
	case died && (w.onDead == "hold" || len(w.deferred) > 0):
		return gateway.ToldDead
	case died && left:
		return gateway.ToldTryAgain
	case died:
		return gateway.ToldDeadRefused
	case v.state == "partly":
		return gateway.ToldPartly
	case onlyTypes:
		return gateway.ToldUnsupported
	}
	return gateway.ToldRejected
}

// acknowledge gives an answer made now. 503 is no acknowledgement: what was
// acknowledged before stays so.
func (w *world) acknowledge(r *wanted, a gateway.Answer) {
	r.answer = a
	if a == gateway.ToldTryAgain {
		return
	}
	v := r.variant
	v.answer, v.item = a, nil
	v.version++
}
