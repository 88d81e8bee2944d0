package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// Decide takes an operator's decision on a drift: it is applied, or, where it
// posts an invoice and the partner's four_eyes ask for it, kept until another
// person approves it. One transaction under the key's lock, checked against what
// stands there then.
//
// A *Refusal says why it was not taken, ErrBusy that the key is being worked on;
// with any other error nothing was changed either, unless the answer to COMMIT
// was lost: then the alert tells.
func (g *Gateway) Decide(ctx context.Context, d Decision) (*Ruling, error) {
	if err := checkReason(d.Reason, d.Note); err != nil {
		return nil, err
	}
	a, err := dedup.Alerts{Pool: g.Pool}.Get(ctx, "", d.Alert)
	if err != nil {
		return nil, err
	}
	if err := decidable(a); err != nil {
		return nil, err
	}
	return g.rule(ctx, a, d, Person{})
}

// Approve applies the decision that waits, if what it was made on still stands.
// The proposer never approves, whatever his role.
func (g *Gateway) Approve(ctx context.Context, alert uuid.UUID, by Person) (*Ruling, error) {
	a, err := dedup.Alerts{Pool: g.Pool}.Get(ctx, "", alert)
	if err != nil {
		return nil, err
	}
	if err := approvable(a, by); err != nil {
		return nil, err
	}
	p := a.Proposed
	return g.rule(ctx, a, Decision{Alert: alert, Choice: Choice(p.Decision), Digest: p.Digest, Reason: p.Reason, Note: p.Note, By: Person{Name: p.By}}, by)
}

func decidable(a *dedup.Alert) error {
	switch {
	case a.State == "awaiting_approval":
		return refusal(AwaitsApproval, "%s has proposed %s; it is to be approved or withdrawn first", a.Proposed.By, a.Proposed.Decision)
	case !a.Undecided():
		return decidedBefore(a)
	}
	return nil
}

func decidedBefore(a *dedup.Alert) *Refusal {
	if a.Decided != nil {
		return refusal(AlreadyDecided, "%s has decided %s already", a.Decided.By, a.Decided.Decision)
	}
	return refusal(AlreadyDecided, "the alert is closed: %s", a.Reason)
}

func approvable(a *dedup.Alert, by Person) error {
	switch {
	case !a.Undecided():
		return decidedBefore(a)
	case a.Proposed == nil:
		return refusal(NothingToTake, "no decision is proposed")
	case a.State != "awaiting_approval":
		return refusal(FactsChanged, "a further payload arrived under the key since %s was proposed: withdraw it and decide anew", a.Proposed.Decision)
	case strings.EqualFold(strings.TrimSpace(a.Proposed.By), strings.TrimSpace(by.Name)):
		return refusal(SamePerson, "%s has proposed it: another person has to approve", by.Name)
	}
	return nil
}

// deciding is a decision on its way.
type deciding struct {
	g        *Gateway
	row      *DecisionRow
	d        Decision
	approver Person // zero: nobody yet
	alert    *dedup.Alert
	owner    *partners.Partner // of the key
	in       *intake
	key      *dedup.Key
	pl       *plan
	brought  []*documents.Brought // by the key, in every epoch
	facts    *decisionFacts
	did      Ruling
	length   int64 // of the payload, in bytes

	refused  []*dedup.Variant   // decided against
	told     []bool             // beside refused: positively
	settled  []*dedup.Alert     // of kind document, whose held messages a replacement closes
	stood    []int              // messages that were held, of kind document
	refusing map[[32]byte]*part // what would be refused, as far as the partner is advised on it; nil: it cannot be read
	abroad   []*part            // likewise, the interchanges of a payload that drifted under its transport id
	nextOpen bool               // another payload of the alert is still undecided
}

// rule runs a decision until the keys hold still under it.
func (g *Gateway) rule(ctx context.Context, a *dedup.Alert, d Decision, approver Person) (*Ruling, error) {
	row, err := decisionRow(a.Kind, d.Choice)
	if err != nil {
		return nil, err
	}
	x := &deciding{g: g, row: row, d: d, approver: approver, alert: a, owner: g.Partner(a.Partner)}
	if x.owner == nil {
		return nil, refusal(NoLongerKept, "partner %s is no longer configured", a.Partner)
	}
	ctx = context.WithoutCancel(ctx)
	defer func() { x.in.close() }()
	for range startsAgain {
		err := x.prepare(ctx)
		if err == nil {
			err = g.afterPending(ctx, dedup.Ref{Partner: a.Partner, ID: a.MessageID}, func() error { return x.commitInTime(ctx) })
		}
		if errors.Is(err, errStartAgain) {
			continue
		}
		if err != nil {
			return nil, g.wrote(err)
		}
		if x.did.State != "awaiting_approval" {
			g.released(ctx, x.key)
		}
		return &x.did, nil
	}
	return nil, errUnsettled
}

// prepare reads and judges the payload that the decision would post, with no lock
// held.
func (x *deciding) prepare(ctx context.Context) error {
	if x.row.Kind == dedup.KindTransport {
		return x.prepareTransport(ctx)
	}
	k, v, err := x.load(ctx, "the key %s is no longer kept")
	if err != nil {
		return err
	}
	if err := x.readRefused(ctx, k, v); err != nil {
		return err
	}
	if x.in != nil && x.in.parts[0].ic.PayloadSHA256 == v.SHA256 { // judged before it started again
		return nil
	}
	x.in.close()
	ctx, timely, cancel := inTime(ctx, v.Length)
	defer cancel()
	x.in, err = x.g.intakeOf(ctx, k, v, x.owner, x.row.Posts || x.row.Kind == dedup.KindDocument)
	return timely(err)
}

// load reads the alert's key, and finds the payload that the decision is about.
// gone says that the key is not there.
func (x *deciding) load(ctx context.Context, gone string) (*dedup.Key, *dedup.Variant, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultPatience)
	defer cancel()
	ref := dedup.Ref{Partner: x.alert.Partner, ID: x.alert.MessageID}
	keys, err := dedup.Load(ctx, x.g.Pool, []dedup.Ref{ref})
	if err != nil {
		return nil, nil, err
	}
	k := keys[ref]
	if k == nil {
		return nil, nil, refusal(NoLongerKept, gone, ref.ID)
	}
	v, err := x.payloadOf(k)
	if err != nil {
		return nil, nil, err
	}
	x.length = v.Length
	return k, v, nil
}

// payloadOf finds the variant that the decision is about.
func (x *deciding) payloadOf(k *dedup.Key) (*dedup.Variant, error) {
	if x.row.Kind == dedup.KindDocument {
		if len(x.alert.Digests) == 1 && len(x.alert.Digests[0]) == 32 {
			if v := k.Find([32]byte(x.alert.Digests[0])); v != nil {
				return v, nil
			}
		}
		return nil, refusal(NoLongerKept, "the interchange that holds the document is no longer kept")
	}
	open := x.undecided(k)
	if len(open) == 0 {
		return nil, decidedBefore(x.alert)
	}
	if x.d.Digest == nil {
		switch {
		case len(open) == 1:
		case x.row.Kind == dedup.KindTransport || x.row.Posts:
			return nil, refusal(WhichPayload, "the alert holds %d undecided payloads: name the digest of the one to take", len(open))
		case x.d.Payloads != len(open): // nobody decides about what was not seen
			return nil, refusal(WhichPayload, "the alert holds %d undecided payloads: name the digest of one, or say that it is about %d payloads", len(open), len(open))
		}
		return open[0], nil
	}
	for _, v := range open {
		if slices.Equal(v.SHA256[:], x.d.Digest) {
			return v, nil
		}
	}
	return nil, refusal(WhichPayload, "the alert holds no undecided payload %x", x.d.Digest)
}

// undecided gives the alert's payloads that still wait.
func (x *deciding) undecided(k *dedup.Key) []*dedup.Variant {
	var open []*dedup.Variant
	for _, v := range k.Variants {
		if v.State == dedup.Quarantined && v.AlertID == x.alert.ID {
			open = append(open, v)
		}
	}
	return open
}

// intakeOf makes an intake of a variant as it was received, judged anew where it
// may be posted.
func (g *Gateway) intakeOf(ctx context.Context, k *dedup.Key, v *dedup.Variant, owner *partners.Partner, judged bool) (*intake, error) {
	in := &intake{id: g.NewID(), payloadID: g.NewID(), started: time.Now(), now: g.Now(), wholly: true}
	p := &part{owner: owner, read: readingOf(owner), key: k.Ref, ic: &edi.Interchange{PayloadSHA256: v.SHA256}}
	in.parts = []*part{p}
	in.Delivery = &Delivery{Transport: "decision", Partner: owner, SHA256: v.SHA256}
	if !judged {
		return in, nil
	}
	var err error
	if in.spooled, err = g.readStored(ctx, k.Partner, v); err != nil {
		return nil, err
	}
	if err = g.reread(ctx, in, k, v); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// reread splits and judges the variant's interchange, which was read into in.
func (g *Gateway) reread(ctx context.Context, in *intake, k *dedup.Key, v *dedup.Variant) (err error) {
	p, owner := in.parts[0], in.Partner
	in.Payload = in.spooled.Payload
	p.payload = in.Payload
	if p.format, err = formatAt(in.Payload, g.Formats, 0); err != nil {
		return err
	}
	ic, err := p.format.Split(in.Payload, 0, p.read)
	if fault := (*edi.Error)(nil); errors.As(err, &fault) {
		return refusal(DoesNotPost, "the interchange cannot be read: %s", fault.Text)
	}
	if err != nil {
		return fmt.Errorf("split a stored payload: %w", err)
	}
	p.ic = ic
	if ic.PayloadSHA256 != v.SHA256 {
		return fmt.Errorf("the stored payload of %s has the digest %x, not %x", k.ID, ic.PayloadSHA256, v.SHA256)
	}
	p.arrival = Arrival{SHA256: v.SHA256, Date: ic.Date, Policy: &owner.Policy, Window: owner.Retention.DedupWindow, Connected: owner.Connected,
		Now: in.now, Revision: dedup.Revision{Partner: owner.Revision, Rules: g.rules()}}
	if err := g.judge(in, p); err != nil {
		return err
	}
	if err := g.yield(ctx, in, p); err != nil {
		return err
	}
	if err := g.matchAnswers(ctx, in, p); err != nil {
		return err
	}
	n, err := g.Numbers.Next(ctx, owner.ID, "interchange")
	if err != nil {
		return err
	}
	p.number = strconv.FormatInt(n, 10)
	return g.numberAdvice(ctx, p)
}

func (x *deciding) commitInTime(ctx context.Context) error {
	ctx, timely, cancel := inTime(ctx, x.length)
	defer cancel()
	return timely(x.commit(ctx))
}

// commit is the one transaction: lock, check again, decide, guard, write. What
// needs a second person is rolled back and kept as a proposal.
func (x *deciding) commit(ctx context.Context) error {
	if x.row.Kind == dedup.KindTransport {
		return x.commitTransport(ctx)
	}
	s, err := x.g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if err := x.lock(ctx, s); err != nil {
		return err
	}
	x.facts = factsOf(x.key, x.alert, x.brought)
	if x.row.Kind == dedup.KindDocument {
		err = x.decideHeld()
	} else {
		err = x.decideInterchange()
	}
	if err != nil {
		return err
	}
	if err := x.g.guard(ctx, s, x.pl); err != nil {
		return err
	}
	if u := x.pl.ruling; u != nil {
		if why := u.inTheWay(); len(why) > 0 {
			return &Refusal{DoesNotPost, why}
		}
		if err := x.askBooks(ctx, s); err != nil {
			return err
		}
		x.facts.touch(u.touched)
		x.restate()
	}
	if propose, err := x.secondPerson(); propose || err != nil {
		s.end() // the proposal has a transaction of its own
		if err != nil {
			return err
		}
		return x.g.propose(ctx, x)
	}
	if err := x.write(ctx, s); err != nil {
		return x.g.blame(ctx, x.in, x.pl, s.failed(err))
	}
	return x.done(s.commit(ctx))
}

// done says what came of COMMIT.
func (x *deciding) done(err error) error {
	if errors.Is(err, errUnknownCommit) {
		return fmt.Errorf("whether the decision was taken is not known, the alert tells: %w", err)
	}
	return err
}

// lock takes the key's row and reads in following statements what stands under
// it: variants, the alert, stored answers and the documents it brought.
func (x *deciding) lock(ctx context.Context, s *session) error {
	ref := dedup.Ref{Partner: x.alert.Partner, ID: x.alert.MessageID}
	if err := x.g.lock(ctx, s, x.in, []dedup.Ref{ref}); err != nil {
		return err
	}
	x.key = x.in.keys[ref]
	x.key.Quietly()
	if x.key.Partly() {
		return fmt.Errorf("the key %s was read in part: a decision needs each of its drifts", ref.ID)
	}
	if err := x.checkAlert(ref); err != nil {
		return err
	}
	if pending(x.key) {
		return refusal(StillPending, "a message under the key is still being processed; decide when that has ended")
	}
	x.brought = x.brought[:0]
	documents.QueueBroughtBy(s.batch, ref.Partner, ref.ID, func(d documents.Brought) { x.brought = append(x.brought, &d) })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("read the documents of %s: %w", ref.ID, err)
	}
	return nil
}

// checkAlert looks at the alert as it stands under the key's lock.
func (x *deciding) checkAlert(ref dedup.Ref) error {
	alerts := x.in.alerts[ref]
	i := slices.IndexFunc(alerts, func(a *dedup.Alert) bool { return a.ID == x.alert.ID })
	if i < 0 { // only those that wait are read
		return refusal(AlreadyDecided, "it was decided meanwhile")
	}
	x.alert = alerts[i]
	if x.approver == (Person{}) {
		return decidable(x.alert)
	}
	if err := approvable(x.alert, x.approver); err != nil {
		return err
	}
	if p := x.alert.Proposed; p.Decision != string(x.d.Choice) || p.By != x.d.By.Name || !slices.Equal(p.Digest, x.d.Digest) {
		return errStartAgain // withdrawn and proposed anew meanwhile
	}
	return nil
}

// secondPerson reports whether the decision has to wait for another person, and
// refuses an approval of what is no longer so.
func (x *deciding) secondPerson() (bool, error) {
	if x.approver == (Person{}) {
		return x.owner.Policy.FourEyes != "off" && x.movesInvoice(), nil
	}
	changed, err := x.facts.changedSince(x.alert.Proposed.Facts)
	if err != nil {
		return false, err
	}
	if len(changed) > 0 {
		return false, &Refusal{FactsChanged, append([]string{"since " + x.alert.Proposed.By + " proposed it: withdraw it and decide anew"}, changed...)}
	}
	return false, nil
}

// movesInvoice reports whether an invoice is posted, or one that stands is
// superseded or cancelled.
func (x *deciding) movesInvoice() bool {
	for _, r := range x.pl.results {
		for _, i := range r.posts {
			if classes[r.p.judged[i].class] == documents.ClassInvoice {
				return true
			}
		}
	}
	if u := x.pl.ruling; u != nil {
		for _, d := range u.lacking() {
			if d.Class == documents.ClassInvoice {
				return true
			}
		}
	}
	return false
}
