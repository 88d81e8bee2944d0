package gateway

import (
	"encoding/binary"

	"github.com/edigw/edigw/dedup"
)

// Settle gives every message of v its fate from what prepare found of it:
// outcomes.md, States. k holds v already. With again, only the messages that row
// I4 takes up are touched. What was posted, absorbed or held under the key in
// any epoch is absorbed, never posted again.
//
// A sound message whose processing is deferred comes out Pending, and so does one
// that our handler failed on while attempts are left for a worker. One that comes
// out Posted is still to pass the document guard.
func Settle(a *Arrival, k *dedup.Key, v *dedup.Variant, found []dedup.Fate, again bool) {
	taken := make([]bool, len(v.Messages))
	done := had(k, v)
	here := seen{of: v.Messages} // posted by this variant now
	var attempts map[[32]byte]uint8
	for i := range v.Messages {
		m := &v.Messages[i]
		if again && !redo(a, m) {
			continue
		}
		taken[i] = true
		m.Revision = a.Revision
		switch {
		case done[m.SHA256]:
			m.Fate, taken[i] = dedup.Absorbed, false
		case found[i] == dedup.DeadMsg && a.Replay:
			m.Fate = dedup.DeadMsg
		case found[i] == dedup.DeadMsg:
			if attempts == nil {
				attempts = k.Attempts()
			}
			m.Attempts, m.Fate = attempt(attempts[m.SHA256]), dedup.DeadMsg
			if (a.Worker || a.defers(i)) && int(m.Attempts) < a.Policy.Attempts {
				m.Fate = dedup.Pending
			}
		case found[i] == dedup.Posted && !here.add(i): // the same bytes again, where references are unreliable
			m.Fate = dedup.Absorbed
		default:
			m.Fate = found[i]
		}
	}
	waitFor(a, v, taken)
	if a.Policy.Acceptance != "message" {
		allOrNothing(v, taken)
	}
}

// defers reports whether message i waits for a worker. What an operator does is
// done at once.
func (a *Arrival) defers(i int) bool {
	return !a.Replay && !a.Worker && a.Policy.Processing.Defers(a.Messages[i].Type.Type)
}

// waitFor makes pending what is sound and deferred. Under acceptance: interchange
// the others wait with it, since what a worker finds decides about them too.
func waitFor(a *Arrival, v *dedup.Variant, taken []bool) {
	all := false
	for i := range v.Messages {
		f := v.Messages[i].Fate
		all = all || taken[i] && (f == dedup.Pending || f.Effective() && a.defers(i))
	}
	all = all && a.Policy.Acceptance != "message"
	for i := range v.Messages {
		if m := &v.Messages[i]; taken[i] && m.Fate.Effective() && (all || a.defers(i)) {
			m.Fate = dedup.Pending
		}
	}
}

// seen finds messages whose bytes came before, at four to eight bytes a message:
// an open hash table of indexes, the digests themselves being the hash.
type seen struct {
	of    []dedup.MessageState
	slots []int32 // index + 1, 0 free
	used  int
}

// add notes message i, or reports false if another one has its digest.
func (x *seen) add(i int) bool {
	if x.used*4 >= len(x.slots)*3 {
		old := x.slots
		x.slots = make([]int32, max(16, 2*len(old)))
		for _, s := range old {
			if s > 0 {
				x.slots[x.slot(int(s-1))] = s
			}
		}
	}
	at := x.slot(i)
	if x.slots[at] > 0 {
		return false
	}
	x.slots[at] = int32(i + 1)
	x.used++
	return true
}

// slot is where message i stands or would stand.
func (x *seen) slot(i int) int {
	digest := &x.of[i].SHA256
	at := int(binary.LittleEndian.Uint64(digest[:])) & (len(x.slots) - 1)
	for {
		s := x.slots[at]
		if s == 0 || x.of[s-1].SHA256 == *digest {
			return at
		}
		at = (at + 1) & (len(x.slots) - 1)
	}
}

// had collects what had its effect under k: a map for the many messages of a
// large interchange.
func had(k *dedup.Key, v *dedup.Variant) map[[32]byte]bool {
	done := map[[32]byte]bool{}
	for _, w := range k.Variants {
		if w == v && len(k.Variants) == 1 && w.State == 0 {
			break // new key, new variant: nothing had an effect yet
		}
		for i := range w.Messages {
			if w.Messages[i].Fate.Effective() {
				done[w.Messages[i].SHA256] = true
			}
		}
	}
	return done
}

// allOrNothing is acceptance: interchange. If one message is refused or dead,
// nothing is posted: the sound ones become refused, or dead, with it.
func allOrNothing(v *dedup.Variant, taken []bool) {
	refused, dead := false, false
	for i := range v.Messages {
		refused = refused || v.Messages[i].Fate.IsRefused()
		dead = dead || v.Messages[i].Fate.IsDead()
	}
	if !refused && !dead {
		return
	}
	with := dedup.WithOthers
	if dead {
		with = dedup.DeadWithOne
	}
	for i := range v.Messages {
		if f := v.Messages[i].Fate; taken[i] && (f.Effective() || f == dedup.Pending) {
			v.Messages[i].Fate = with
		}
	}
}

func attempt(n uint8) uint8 {
	if n == 255 {
		return n
	}
	return n + 1
}

// Tell gives the answer for what came of a variant: outcomes.md, What the
// partner is told. unsupported: every refusal is of a type the partner may not
// send.
func Tell(a *Arrival, v *dedup.Variant, unsupported bool) Answer {
	switch v.State {
	case dedup.Accepted, dedup.Superseded, dedup.Imported:
		return ToldAccepted
	case dedup.Received:
		return ToldDeferred
	}
	dead, left := false, false
	for i := range v.Messages {
		m := &v.Messages[i]
		dead = dead || m.Fate.IsDead()
		left = left || m.Fate == dedup.DeadMsg && int(m.Attempts) < a.Policy.Attempts
	}
	switch {
	case dead && a.Policy.HoldsDead():
		return ToldDead
	case dead && left:
		return ToldTryAgain
	case dead:
		return ToldDeadRefused
	case v.State == dedup.Partly:
		return ToldPartly
	case unsupported:
		return ToldUnsupported
	}
	return ToldRejected
}

// tellDrift is the partner's on_drift.
func tellDrift(onDrift string) Answer {
	if onDrift == "hold" {
		return ToldDriftHeld
	}
	return ToldDrift
}
