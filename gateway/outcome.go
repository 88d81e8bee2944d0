package gateway

import (
	"slices"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// Verdict is what a delivery is, judged against what is known of its keys.
type Verdict string

// The verdicts of the outcome table.
const (
	First        Verdict = "first"
	Duplicate    Verdict = "duplicate"
	Retry        Verdict = "retry"
	Reevaluation Verdict = "re-evaluation"
	Correction   Verdict = "correction"
	Completion   Verdict = "completion"
	Reuse        Verdict = "reuse"
	Drift        Verdict = "drift"
)

// Effect is what a row does.
type Effect int

// The effects of rows. All but None, Join and Adopt need the prepared
// interchange.
const (
	None       Effect = iota // nothing: it was all done before
	Process                  // every message is judged and posted
	Redo                     // the dead and refused ones among D's messages again
	Complete                 // what had its effect is absorbed, the rest is judged
	Adopt                    // D's digest becomes the imported variant's
	Absorb                   // D is kept as accepted, everything in it absorbed
	Quarantine               // kept, alerted, not processed
	Join                     // one more reception of a known drift
)

// Prepared reports whether the effect needs the parsed interchange.
func (e Effect) Prepared() bool { return e != None && e != Join && e != Adopt }

// works reports whether the effect judges messages and posts them.
func (e Effect) works() bool { return e == Process || e == Redo || e == Complete }

// Reply is where the answer comes from.
type Reply int

// The sources of an answer.
const (
	ByOutcome Reply = iota // made from what came of it
	AsStored               // D's stored answer
	Positive               // positive, made afresh
	OnDrift                // the partner's on_drift
)

// Arrival is an interchange as it stands before its key: everything the table
// asks of it.
type Arrival struct {
	SHA256         [32]byte
	Content        [32]byte
	ContentVersion int16
	Date           string        // CCYYMMDD, the interchange's own; "" unknown
	Messages       []edi.Message // in order; nil before it is prepared
	SameContentAs  string        // class of the difference to the current variant of equal content: formatting or envelope

	Policy    *partners.Policy
	Window    time.Duration // dedup_window of the key's owner
	Connected time.Time
	Now       time.Time
	Revision  dedup.Revision

	// Replay: an operator's, which neither counts attempts nor is bound by them.
	Replay bool

	// Worker: the run of a worker on what is pending, and on nothing else.
	Worker bool

	// KnownTransport: the delivery's transport id carried these bytes before, so
	// what is not known any more is no new interchange (row T3).
	KnownTransport bool
}

// Row is a row of the outcome table: the first that fits is taken.
type Row struct {
	Name    string
	Found   string
	Verdict Verdict // of I4 the stronger one; see VerdictOf
	Effect  Effect
	Then    string
	Reply   Reply
	Answer  string
	fits    func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool
}

// Interchanges is the table at interchange level: digest D arrives under key K.
// k is nil where the key is unknown, v where D is.
var Interchanges = []Row{
	{Name: "T3", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "D unknown under K, but the transport id carried it before", Then: "none", Answer: "the transport id's stored answer",
		fits: func(a *Arrival, _ *dedup.Key, v *dedup.Variant) bool { return a.KnownTransport && v == nil }},
	{Name: "I1", Verdict: Drift, Effect: Quarantine, Reply: OnDrift,
		Found: "K unknown, or holding only quarantined and refused variants that came by this row; D unknown; the interchange's own date older than the partner's dedup_window and not before the day the partner was connected",
		Then:  "quarantine, alert original_purged", Answer: "by on_drift",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && (k == nil || onlyPurgeDrifts(k)) && a.old()
		}},
	{Name: "I1b", Verdict: First, Effect: Process, Reply: ByOutcome,
		Found: "K unknown", Then: "process", Answer: "by outcome",
		fits: func(a *Arrival, k *dedup.Key, _ *dedup.Variant) bool { return k == nil }},
	{Name: "I2", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "D is accepted or superseded, in any epoch", Then: "none", Answer: "D's stored answer; if it only ever got 503, as I6",
		fits: func(_ *Arrival, _ *dedup.Key, v *dedup.Variant) bool {
			return v != nil && (v.State == dedup.Accepted || v.State == dedup.Superseded)
		}},
	{Name: "I3", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "D is received", Then: "none, no second job", Answer: "D's stored acknowledgement",
		fits: func(_ *Arrival, _ *dedup.Key, v *dedup.Variant) bool { return v != nil && v.State == dedup.Received }},
	{Name: "I4", Verdict: Retry, Effect: Redo, Reply: ByOutcome,
		Found: "D is partly, rejected or dead in the current epoch, fits, and has dead messages with attempts left or refused ones judged under an older revision",
		Then:  "all of these together; D becomes current", Answer: "by the new outcome, afresh",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return unfinished(v) && v.Epoch == k.Epoch && fitsStanding(k, len(v.Messages), digestsOf(v)) && (deadLeft(a, v) || staleRefused(a, v))
		}},
	{Name: "I5", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "as I4, but D has dead messages, all attempts used up, and no refused one judged under an older revision",
		Then:  "none; the alert stands", Answer: "D's stored answer: under on_dead hold the positive one, under refuse the negative one of the last attempt",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return unfinished(v) && v.Epoch == k.Epoch && fitsStanding(k, len(v.Messages), digestsOf(v)) && hasDead(v)
		}},
	{Name: "I6", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "D is partly, rejected or dead, else", Then: "none", Answer: "D's stored answer; if it only ever got 503: replaced",
		fits: func(_ *Arrival, _ *dedup.Key, v *dedup.Variant) bool { return unfinished(v) }},
	{Name: "I7", Verdict: Drift, Effect: Join, Reply: AsStored,
		Found: "D is quarantined", Then: "none; joins the alert", Answer: "D's stored answer",
		fits: func(_ *Arrival, _ *dedup.Key, v *dedup.Variant) bool {
			return v != nil && v.State == dedup.Quarantined
		}},
	{Name: "I8", Verdict: Duplicate, Effect: None, Reply: AsStored,
		Found: "D is refused", Then: "none", Answer: "D's stored answer",
		fits: func(_ *Arrival, _ *dedup.Key, v *dedup.Variant) bool { return v != nil && v.State == dedup.Refused }},
	{Name: "I8b", Verdict: Duplicate, Effect: Adopt, Reply: Positive,
		Found: "K holds an imported variant without digest", Then: "D's digest becomes that variant's", Answer: "positive, afresh",
		fits: func(_ *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && k != nil && k.Imported() != nil
		}},
	{Name: "I9", Verdict: Correction, Effect: Process, Reply: ByOutcome,
		Found: "D unknown, nothing standing under K", Then: "process; D becomes current, history kept", Answer: "by outcome",
		fits: func(_ *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && k != nil && len(standing(k)) == 0
		}},
	{Name: "I10", Verdict: Completion, Effect: Complete, Reply: ByOutcome,
		Found: "D unknown, current variant partly, nothing pending under K, D fits and has as many messages",
		Then:  "posted, absorbed and held ones are absorbed, dead ones tried again, the others processed; D becomes current", Answer: "by outcome",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && k != nil && k.Current().State == dedup.Partly && !pending(k) &&
				fitsStanding(k, len(a.Messages), a.digest) && len(a.Messages) == len(k.Current().Messages)
		}},
	{Name: "I11", Verdict: Drift, Effect: Absorb, Reply: Positive,
		Found: "D unknown, content digest equal to the current variant's, that one accepted, class named in the partner's absorb (default: none)",
		Then:  "D kept as accepted, all absorbed; auto-resolved by that policy", Answer: "positive, afresh, bound to what was sent now",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && k != nil && k.Current().State == dedup.Accepted && sameContent(a, k.Current()) && slices.Contains(a.Policy.Absorb, a.SameContentAs)
		}},
	{Name: "I12", Verdict: Reuse, Effect: Process, Reply: ByOutcome,
		Found: "D unknown, content digest equal to none of K's, K's last delivery older than reuse_after (default: off), no drift open, nothing dead, pending or held",
		Then:  "new epoch, process", Answer: "by outcome",
		fits: func(a *Arrival, k *dedup.Key, v *dedup.Variant) bool {
			return v == nil && k != nil && a.Policy.ReuseAfter > 0 && a.Now.Sub(k.LastAt) > a.Policy.ReuseAfter &&
				k.Hold() == 0 && !slices.ContainsFunc(k.Variants, func(w *dedup.Variant) bool { return sameContent(a, w) })
		}},
	{Name: "I13", Verdict: Drift, Effect: Quarantine, Reply: OnDrift,
		Found: "D unknown, else", Then: "quarantine, alert", Answer: "by on_drift",
		fits: func(_ *Arrival, k *dedup.Key, v *dedup.Variant) bool { return v == nil && k != nil }},
}

// Judge gives the row for a under k, which is nil for an unknown key.
func Judge(a *Arrival, k *dedup.Key) *Row {
	var v *dedup.Variant
	if k != nil {
		v = k.Find(a.SHA256)
	}
	for i := range Interchanges {
		if Interchanges[i].fits(a, k, v) {
			return &Interchanges[i]
		}
	}
	panic("the outcome table has a hole") // unreachable: I13 takes what is left
}

// VerdictOf is the row's verdict: I4 is a Retry with a dead message among those
// taken up again, else a Re-evaluation.
func (r *Row) VerdictOf(a *Arrival, k *dedup.Key) Verdict {
	if r.Effect != Redo {
		return r.Verdict
	}
	for _, m := range k.Find(a.SHA256).Messages {
		if m.Fate.IsDead() && redo(a, &m) {
			return Retry
		}
	}
	return Reevaluation
}

func (a *Arrival) old() bool {
	d, err := time.Parse("20060102", a.Date)
	return err == nil && d.Before(a.Now.Add(-a.Window)) && !d.Before(day(a.Connected))
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func onlyPurgeDrifts(k *dedup.Key) bool {
	for _, v := range k.Variants {
		if !v.ViaPurge || v.State != dedup.Quarantined && v.State != dedup.Refused {
			return false
		}
	}
	return true
}

func unfinished(v *dedup.Variant) bool {
	return v != nil && (v.State == dedup.Partly || v.State == dedup.Rejected || v.State == dedup.Dead)
}

func hasDead(v *dedup.Variant) bool {
	return slices.ContainsFunc(v.Messages, func(m dedup.MessageState) bool { return m.Fate.IsDead() })
}

func deadLeft(a *Arrival, v *dedup.Variant) bool {
	return slices.ContainsFunc(v.Messages, func(m dedup.MessageState) bool {
		return m.Fate == dedup.DeadMsg && (a.Replay || int(m.Attempts) < a.Policy.Attempts)
	})
}

func staleRefused(a *Arrival, v *dedup.Variant) bool {
	return slices.ContainsFunc(v.Messages, func(m dedup.MessageState) bool {
		return (m.Fate == dedup.RefusedMsg || m.Fate == dedup.WithOthers) && m.Revision.Before(a.Revision)
	})
}

// redo reports whether I4, or a worker, takes up message m again.
func redo(a *Arrival, m *dedup.MessageState) bool {
	if a.Worker {
		return m.Fate == dedup.Pending
	}
	switch m.Fate {
	case dedup.DeadMsg:
		return a.Replay || int(m.Attempts) < a.Policy.Attempts
	case dedup.DeadWithOne:
		return true
	case dedup.RefusedMsg, dedup.WithOthers:
		return m.Revision.Before(a.Revision)
	}
	return false
}

func pending(k *dedup.Key) bool { return k.Hold()&dedup.HoldPending != 0 }

func sameContent(a *Arrival, v *dedup.Variant) bool {
	return a.ContentVersion != 0 && v.ContentVersion == a.ContentVersion && v.Content == a.Content
}

func (a *Arrival) digest(i int) [32]byte { return a.Messages[i].SHA256 }

func digestsOf(v *dedup.Variant) func(i int) [32]byte {
	return func(i int) [32]byte { return v.Messages[i].SHA256 }
}

// standing gives the messages that stand under k: of the current epoch, in any
// variant not superseded, posted, absorbed, held, pending, or dead and
// acknowledged positively. An imported variant stands without saying with what.
func standing(k *dedup.Key) map[[32]byte]bool {
	s := map[[32]byte]bool{}
	for _, v := range k.Variants {
		if v.Epoch != k.Epoch || v.State == dedup.Superseded || v.State == dedup.Quarantined || v.State == dedup.Refused {
			continue
		}
		if v.State == dedup.Imported || v.State == dedup.Accepted && len(v.Messages) == 0 {
			s[v.SHA256] = true
		}
		for i := range v.Messages {
			m := &v.Messages[i]
			if m.Fate.Effective() || m.Fate == dedup.Pending || m.Fate.IsDead() && Answer(v.Answer).positive() {
				s[m.SHA256] = true
			}
		}
	}
	return s
}

// fitsStanding reports whether every standing message stands among n digests
// byte for byte.
func fitsStanding(k *dedup.Key, n int, digest func(i int) [32]byte) bool {
	s := standing(k)
	for i := range n {
		delete(s, digest(i))
	}
	return len(s) == 0
}
