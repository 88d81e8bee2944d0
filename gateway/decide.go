package gateway

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// plan is what a delivery will do, decided from the keys as they were read. It
// is made twice where keys were known: before the claim, and under the locks.
type plan struct {
	in        *intake
	transport *TransportRow
	tkey      *dedup.Key     // the transport key's state
	tvariant  *dedup.Variant // of the delivery's digest
	drift     *driftChange   // of kind transport
	noted     bool           // row T5, or T6 under transport_id: unreliable
	results   []*result
	payloads  []storedPayload
	claims    []*dedup.Key   // new keys, sorted
	guarding  *guarding      // nil until the messages to be posted are sorted
	created   []outbox.Event // of documents, not queued yet
	advices   []outbox.Event // application advices on what the guard holds
	supersede []supersession
	stale     []supersession // revisions that came after a newer one
	again     []supersession // posted where nothing stands any more: they end nothing
	alerts    []*dedup.Alert // of kind document
	closed    []dedup.Copy   // transport drifts whose interchange came under another id
	kept      []storedPart   // of its stored receipt
	fromStore bool           // the whole answer is the transport id's stored one
	answered  bool           // the transport id has a new stored answer
	ruling    *ruling        // of a decision that posts, nil otherwise

	unitsAsked bool // the SSCCs of the messages to be posted were looked for elsewhere
}

// result is what becomes of one part.
type result struct {
	p       *part
	row     *Row // nil: refused before its key
	verdict Verdict
	key     *dedup.Key
	variant *dedup.Variant
	answer  Answer
	stored  bool // the answer is the variant's stored one
	ack     dedup.Stored
	drift   *driftChange
	before  []dedup.Fate      // of the messages, before they were settled
	posts   []int32           // messages to be posted, in order
	gone    []bool            // beside posts: those the guard takes away
	held    []int             // by the guard
	links   map[int]uuid.UUID // documents of absorbed messages, and what a further document is beside
	further []int             // posted beside a known document of other content
	void    []int             // absorbed, though what they say was replaced or cancelled
	item    Item

	functional *FunctionalAcknowledgement // to be sent by another way than the response
}

// driftChange is what happens to an alert.
type driftChange struct {
	alert  *dedup.Alert
	opened bool // new
	joined bool // one more reception of a known digest
	added  bool // a further digest
}

// errUnprepared: the verdict needs work that was not prepared.
var errUnprepared = fmt.Errorf("the verdict needs work that was not prepared: %w", errStartAgain)

// decide runs the table for every part, in payload order, each on what the ones
// before it left. It touches in.keys, which are read anew before it runs again.
func (g *Gateway) decide(in *intake) (*plan, error) {
	pl := &plan{in: in}
	if in.key != (dedup.Ref{}) {
		pl.tkey = in.keys[in.key]
		if err := in.allCarried(pl.tkey); err != nil {
			return nil, err
		}
		pl.transport = JudgeTransport(in.transportArrival(pl.tkey), pl.tkey)
		if pl.tkey != nil {
			pl.tvariant = pl.tkey.Find(in.SHA256)
			pl.kept = in.keptParts(pl.tvariant)
		}
		if in.decided != nil { // as if the id were unknown
			pl.transport, pl.kept = &Transports[0], nil
		}
		switch pl.transport.Then {
		case JoinTransport, StoredAnswer:
			return pl, g.decideStored(pl)
		case TransportDrift:
			return pl, g.decideTransportDrift(pl)
		case Noted:
			pl.noted = true
		case AdoptTransport:
			in.importUnknown()
		}
	}
	for _, p := range in.parts {
		r, err := g.decidePart(pl, p)
		if err != nil {
			return nil, err
		}
		pl.results = append(pl.results, r)
	}
	g.decideTransport(pl)
	pl.collect()
	return pl, nil
}

// importUnknown: what came under an id that a former gateway processed was
// processed by it, whatever number it had.
func (in *intake) importUnknown() {
	for _, p := range in.parts {
		if p.key == (dedup.Ref{}) || in.keys[p.key] != nil {
			continue
		}
		k := dedup.NewKey(p.key, dedup.Interchange, in.now, purgeOn(in.now, p.owner.Retention.DedupWindow))
		k.Add(&dedup.Variant{NoDigest: true, State: dedup.Imported, Answer: int16(ToldAccepted)})
		in.keys[p.key] = k
	}
}

// allCarried: of an id that carried another payload, every interchange it carried
// must have been looked for; one that it carried meanwhile sends the delivery
// back to its look-up.
func (in *intake) allCarried(t *dedup.Key) error {
	if t == nil || t.Find(in.SHA256) != nil {
		return nil
	}
	for _, c := range t.Carried {
		if !in.looked[c.Ref] {
			return errStartAgain
		}
	}
	return nil
}

func (in *intake) transportArrival(k *dedup.Key) *TransportArrival {
	a := &TransportArrival{SHA256: in.SHA256, Unreliable: in.Partner.Policy.TransportID == "unreliable"}
	if k != nil {
		a.Effect = effective(k, in.keys)
	}
	for _, p := range in.parts {
		if p.key == (dedup.Ref{}) {
			continue
		}
		a.Interchanges++
		if Judge(&p.arrival, in.keys[p.key]).Name == "I1b" {
			a.First = true
		}
	}
	return a
}

// decidePart runs the interchange table for one part.
func (g *Gateway) decidePart(pl *plan, p *part) (*result, error) {
	in, r := pl.in, &result{p: p}
	again, known := in.carriedBefore(pl, p)
	if p.key == (dedup.Ref{}) {
		return r, g.decideUnkeyed(pl, r, known && !again)
	}
	k := in.keys[p.key]
	a := &p.arrival
	a.KnownTransport = known && !again
	if err := g.compareWithin(in, p, k); err != nil {
		return nil, err
	}
	a.SameContentAs = p.compared.sameContent(k)
	r.row = Judge(a, k)
	if r.row.Effect.Prepared() && !p.prepared {
		return nil, errUnprepared
	}
	r.key = k
	if k != nil {
		r.variant = k.Find(a.SHA256)
		r.verdict = r.row.VerdictOf(a, k)
	} else {
		r.verdict = r.row.Verdict
	}
	switch r.row.Effect {
	case None:
		r.stored = true
		if r.variant == nil { // T3
			if r.answer = pl.keptAnswer(Answer(pl.tvariant.Answer)); r.answer == ToldTryAgain { // as row I6: else it would come for ever
				r.stored, r.answer = false, ToldReplaced
			}
			break
		}
		r.answer = Answer(r.variant.Answer)
		if r.answer == ToldTryAgain { // it only ever got 503
			r.stored = false
			if r.row.Name == "I5" { // and no attempt is left to send it again for
				g.answerAfresh(pl, r, Tell(a, r.variant, false))
			} else {
				r.answer = ToldReplaced
			}
		}
	case Join:
		r.stored, r.answer = true, Answer(r.variant.Answer)
		r.drift = &driftChange{alert: &dedup.Alert{Partner: p.owner.ID, ID: r.variant.AlertID}, joined: true}
	case Adopt:
		r.variant = k.Imported()
		r.variant.SHA256, r.variant.NoDigest, r.variant.State = a.SHA256, false, dedup.Accepted
		r.variant.DeliveryID = in.id
		k.Touch(r.variant)
		g.answerAfresh(pl, r, ToldAccepted)
	case Process, Complete, Redo:
		g.decideWork(pl, r)
	case Absorb:
		v := g.newVariant(pl, r)
		v.State = dedup.Accepted
		for i := range v.Messages {
			v.Messages[i].Fate = dedup.Absorbed
		}
		r.drift = g.openDrift(pl, r, p.compared, "auto_resolved", "absorb: "+a.SameContentAs)
		v.AlertID = r.drift.alert.ID
		g.answerAfresh(pl, r, ToldAccepted)
	case Quarantine:
		if err := g.decideDrift(pl, r); err != nil {
			return nil, err
		}
	}
	if r.key != nil {
		r.key.Delivered(in.now, purgeOn(in.now, p.owner.Retention.DedupWindow))
	}
	return r, nil
}

// decideWork judges the messages of a First, Correction, Completion, Reuse,
// Retry or Re-evaluation.
func (g *Gateway) decideWork(pl *plan, r *result) {
	k := r.key
	if r.row.Effect != Redo {
		g.newVariant(pl, r)
		k = r.key
	}
	v := r.variant
	if r.row.Name == "I12" {
		k.NextEpoch(v)
	} else if len(k.Variants) > 1 {
		k.SetCurrent(v)
	}
	r.settle()
	g.answerAfresh(pl, r, Tell(&r.p.arrival, v, r.p.onlyUnsupported()))
}

// settle gives the messages of the variant their fates, and finds those to be
// posted now.
func (r *result) settle() {
	k, v := r.key, r.variant
	found := make([]dedup.Fate, len(r.p.judged))
	for i := range r.p.judged {
		found[i] = r.p.judged[i].fate
	}
	for _, i := range r.referenceTaken() {
		found[i] = dedup.RefusedMsg
	}
	r.before = fates(v)
	Settle(&r.p.arrival, k, v, found, r.row.Effect == Redo)
	v.State = dedup.StateOf(v.Messages, r.empty())
	k.Touch(v)
	for i := range v.Messages {
		if v.Messages[i].Fate == dedup.Posted && r.before[i] != dedup.Posted {
			r.posts = append(r.posts, int32(i))
		}
	}
}

// empty is the state of an interchange without messages: accepted where it may have
// none, as one that carries acknowledgements alone (TA1).
func (r *result) empty() dedup.State {
	if r.p != nil && edi.Worst(r.p.ic.Errors) < edi.SeverityError {
		return dedup.Accepted
	}
	return dedup.Rejected
}

// referenceTaken gives the sound messages whose reference belongs to another of the
// interchange that had its effect before: in one epoch a reference has one content.
func (r *result) referenceTaken() []int {
	p, v := r.p, r.variant
	for _, i := range p.taken { // as it was decided before the keys were locked
		p.errs[i] = slices.DeleteFunc(p.errs[i], func(e *edi.Error) bool { return e.Code == referenceTaken })
	}
	p.taken = p.taken[:0]
	if p.owner.Policy.MessageReference == "unreliable" || len(r.key.Variants) < 2 {
		return nil
	}
	done := had(r.key, v)
	whose := map[string]int{}
	for i := range v.Messages {
		if done[v.Messages[i].SHA256] {
			whose[p.ic.MessageReference(i)] = i
		}
	}
	for i := range v.Messages {
		first, taken := whose[p.ic.MessageReference(i)]
		if !taken || done[v.Messages[i].SHA256] || p.judged[i].fate != dedup.Posted && p.judged[i].fate != dedup.DeadMsg {
			continue
		}
		p.taken = append(p.taken, i)
		p.remember(i, append(p.errs[i], &edi.Error{Code: referenceTaken, Standard: byX12(p.ic, "26", "23"), Severity: edi.SeverityError,
			Location: edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1, Tag: byX12(p.ic, "", "ST")},
			Text:     fmt.Sprintf("The message reference belongs to message %d of the interchange, which was processed before.", first+1)}))
	}
	return p.taken
}

const referenceTaken = "message-reference-taken"

func fates(v *dedup.Variant) []dedup.Fate {
	f := make([]dedup.Fate, len(v.Messages))
	for i := range v.Messages {
		f[i] = v.Messages[i].Fate
	}
	return f
}

// newVariant adds D to the key, making the key if it is new.
func (g *Gateway) newVariant(pl *plan, r *result) *dedup.Variant {
	in, p := pl.in, r.p
	v := &dedup.Variant{SHA256: p.ic.PayloadSHA256, Content: p.ic.ContentSHA256, ContentVersion: contentVersion(p),
		DeliveryID: in.id, Messages: make([]dedup.MessageState, len(p.ic.Messages))}
	for i := range v.Messages {
		v.Messages[i].SHA256 = p.ic.Messages[i].SHA256
	}
	v.Offset, v.Length = p.ic.Offset, p.ic.Length
	if r.key == nil {
		r.key = dedup.NewKey(p.key, dedup.Interchange, in.now, purgeOn(in.now, p.owner.Retention.DedupWindow))
		in.keys[p.key] = r.key
	}
	v.Epoch = r.key.Epoch
	r.variant = r.key.Add(v)
	return v
}

func contentVersion(p *part) int16 {
	if !p.prepared {
		return 0
	}
	return edi.ContentVersion
}

// answerAfresh gives the variant a new stored answer. 503 is no acknowledgement:
// the one before it stays, and what was acknowledged positively goes on standing.
func (g *Gateway) answerAfresh(pl *plan, r *result, a Answer) {
	r.answer = a
	if a != ToldTryAgain || r.variant.Answer == 0 {
		r.variant.Answer = int16(a)
	}
	if a != ToldTryAgain {
		r.ack = dedup.Stored{ID: g.NewID(), Month: month(pl.in.now, r.p.owner, r.p.owner.Retention.Acknowledgements)}
		r.variant.Ack = r.ack
	}
	r.key.Touch(r.variant)
}

// decideUnkeyed answers a part that makes no key: text without an envelope, or a
// sender the partner may not speak for. known: T carried it before and nothing
// about it has changed since.
func (g *Gateway) decideUnkeyed(pl *plan, r *result, known bool) error {
	r.verdict, r.answer = First, ToldUnreadable
	switch {
	case r.p.reject != nil:
		r.answer = r.p.reject.Answer
	case r.p.fault.Code == "empty":
		r.answer = ToldEmpty
	}
	if known {
		r.verdict, r.stored, r.answer = Duplicate, true, pl.keptAnswer(r.answer)
	}
	return nil
}

// keptAnswer is what the transport id's stored receipt says of the part that is
// decided now; otherwise where it is not kept.
func (pl *plan) keptAnswer(otherwise Answer) Answer {
	if n := len(pl.results); n < len(pl.kept) {
		return pl.kept[n].Answer
	}
	return otherwise
}

// carriedBefore reports whether the transport id carried this part before with
// these bytes (row T3), and whether it is to be judged again since it was refused
// without a key under an older revision.
func (in *intake) carriedBefore(pl *plan, p *part) (again, known bool) {
	if pl.transport == nil || pl.transport.Then != SameTransport {
		return false, false
	}
	for i := range pl.tvariant.Messages {
		if m := &pl.tvariant.Messages[i]; m.SHA256 == p.ic.PayloadSHA256 {
			return m.Fate == dedup.RefusedMsg && m.Revision.Before(in.unkeyed), true
		}
	}
	return false, true
}

// collect gathers the new keys, sorted, and says where the payload will stand.
func (pl *plan) collect() {
	for _, k := range pl.in.keys {
		if k.New() {
			pl.claims = append(pl.claims, k)
		}
	}
	slices.SortFunc(pl.claims, func(a, b *dedup.Key) int { return a.Compare(b.Ref) })
	pl.placePayload()
}

// adopt takes over the rows that were claimed on the first decision: those of
// keys that are still new are written over, those not used after all are
// deleted, so that no key is committed without its outcome.
func (pl *plan) adopt(s *session, claimed *plan) error {
	rows := map[dedup.Ref]bool{}
	for _, k := range claimed.claims {
		rows[k.Ref] = true
	}
	for _, k := range pl.claims {
		if !rows[k.Ref] {
			return errStartAgain
		}
		delete(rows, k.Ref)
		k.Adopted()
	}
	pl.claims = nil
	var unused []dedup.Ref
	for r := range rows {
		unused = append(unused, r)
	}
	if len(unused) > 0 {
		dedup.QueueDelete(s.batch, dedup.SortRefs(unused))
	}
	return nil
}

func purgeOn(now time.Time, window time.Duration) time.Time {
	y, m, d := now.UTC().Add(window).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
