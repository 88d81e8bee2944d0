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
	k, v := r.key, r.variant
	k.current = v
	done, attempts := map[[32]byte]bool{}, map[[32]byte]int{}
	for _, x := range k.variants {
		for _, m := range x.messages {
			done[m.sha] = done[m.sha] || effective(m.fate)
			if x.epoch == k.epoch {
				attempts[m.sha] = max(attempts[m.sha], m.attempts)
			}
		}
	}
	var onlyTypes bool
	r.found, onlyTypes = w.judge(r.sent)
	var sound []int
	here := map[[32]byte]bool{}
	for i := range v.messages {
		m := &v.messages[i]
		if again && !w.takes(*m) {
			continue
		}
		m.revision = w.revision
		switch {
		case done[m.sha]:
			m.fate = absorbed
		case r.found[i] == dead:
			m.fate, m.attempts = dead, attempts[m.sha]+1
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
	if w.acceptance == "interchange" {
		no := slices.ContainsFunc(v.messages, func(m modelMessage) bool { return isRefused(m.fate) })
		died := slices.ContainsFunc(v.messages, func(m modelMessage) bool { return isDead(m.fate) })
		for _, i := range sound {
			switch {
			case died:
				v.messages[i].fate = deadWith
			case no:
				v.messages[i].fate = refusedWith
			}
		}
	}
	v.state = judgeState(v.messages)
	w.events["message.received"]++
	for _, i := range sound {
		if v.messages[i].fate == posted {
			w.post(r, i)
		}
	}
	w.openHeld(r)
	w.acknowledge(r, w.tell(v, onlyTypes))
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
	case died && w.onDead == "hold":
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
