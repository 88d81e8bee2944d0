package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
)

// deferredRow is the row under which a worker works: no delivery, so not one of
// the table.
var deferredRow = Row{Name: "deferred", Verdict: First, Effect: Redo}

// process settles, guards, writes and commits what is pending, as Receive does.
func (x *deferredJob) process(ctx context.Context, s *session) error {
	p := x.in.parts[0]
	if len(p.judged) != len(x.v.Messages) {
		return fmt.Errorf("the interchange is read as %d messages now, as %d before", len(p.judged), len(x.v.Messages))
	}
	pl := &plan{in: x.in}
	r := &result{p: p, row: &deferredRow, verdict: First, key: x.key, variant: x.v, answer: Answer(x.v.Answer)}
	pl.results = []*result{r}
	r.settle()
	x.ended = x.v.State != dedup.Received
	x.in.copies = nil
	for partner, contents := range pl.copyContents() {
		dedup.QueueCopies(s.batch, partner, contents, func(c dedup.Copy) { x.in.copies = append(x.in.copies, foundCopy{Copy: c, partner: partner}) })
	}
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("look for copies: %w", err)
	}
	if err := x.g.guard(ctx, s, pl); err != nil {
		return err
	}
	listFindings(&InterchangeReceipt{}, pl, r) // which copies are told on their alerts
	acks, err := x.acknowledge(pl, r)
	if err != nil {
		return err
	}
	if err = x.g.writeUnder(ctx, s, pl, x.key, acks); err == nil {
		err = pl.writeAlerts(ctx, s)
	}
	if err == nil {
		err = x.close(ctx, s, pl, x.failure())
	}
	if err == nil {
		err = s.commit(ctx)
	}
	if err != nil {
		return x.g.blame(ctx, x.in, pl, s.failed(err))
	}
	return nil
}

// acknowledge adds to the stored answer the functional acknowledgement that what
// came of the work calls for; the answer itself stays what was told at receipt.
func (x *deferredJob) acknowledge(pl *plan, r *result) ([]*journal.Acknowledgement, error) {
	told := Tell(&r.p.arrival, x.v, r.p.onlyUnsupported())
	if !x.ended {
		return nil, nil
	}
	now := *r
	now.answer = told
	functional, err := x.g.acknowledge(pl, &now)
	r.functional = functional
	if functional == nil || err != nil {
		return nil, err
	}
	var answer InterchangeReceipt
	if stored := x.in.acks[x.v.Ack.ID]; stored == nil || json.Unmarshal(stored.Answer, &answer) != nil { // purged
		answer = InterchangeReceipt{Syntax: r.p.ic.Syntax, MessageID: x.key.ID, Verdict: First, Outcome: dedup.Received.String(), PayloadSHA256: hexOf(x.v.SHA256)}
	}
	if r.p.owner.Policy.AnswersInResponse() {
		answer.Acknowledgement = functional
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("stored answer of %s: %w", x.key.ID, err)
	}
	x.v.Ack = dedup.Stored{ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Acknowledgements)}
	x.key.Touch(x.v)
	return []*journal.Acknowledgement{{Partner: x.key.Partner, ID: x.v.Ack.ID, Month: x.v.Ack.Month, Answer: text, Functional: functional.bytes()}}, nil
}

// failure says in words what keeps messages pending.
func (x *deferredJob) failure() string {
	n := 0
	for i := range x.v.Messages {
		if m := &x.v.Messages[i]; m.Attempts > 0 && (m.Fate == dedup.Pending || m.Fate.IsDead()) {
			n++
		}
	}
	return fmt.Sprintf("processing failed on %d of %d messages; the log says why", n, len(x.v.Messages))
}

// close ends the job, or puts it off, and tells of it: events, the journal's row
// and a notice, where the partner was told positively what is refused now.
func (x *deferredJob) close(ctx context.Context, s *session, pl *plan, failure string) error {
	if x.ended {
		dedup.QueueJobEnd(s.batch, x.job.Ref, x.job.SHA256)
	} else {
		dedup.QueueJobFailed(s.batch, x.job.Ref, x.job.SHA256, lease.Backoff(x.job.Failures+1, firstRetry, lastRetry), failure, x.passing())
	}
	events := x.g.events(pl)
	refused, dead := 0, 0
	for i := range x.v.Messages {
		switch f := x.v.Messages[i].Fate; {
		case f.IsDead():
			dead++
		case f == dedup.RefusedMsg || f == dedup.WithOthers:
			refused++
		}
	}
	tell := func(kind, typ string, data map[string]any) {
		events = append(events, outbox.Event{Partner: x.key.Partner, ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Payloads),
			Kind: kind, Type: typ, Subject: x.key.Partner + "/" + x.key.ID, Data: data})
	}
	if x.ended && !x.test() {
		tell(outbox.KindEvent, outbox.MessageProcessed, map[string]any{"message_id": x.key.ID, "outcome": x.v.State.String(),
			"payload_sha256": hexOf(x.v.SHA256), "refused": refused, "dead": dead})
	}
	if x.ended && x.refusedNow(pl) {
		data := map[string]any{"message_id": x.key.ID, "payload_sha256": hexOf(x.v.SHA256), "messages": refused, "told_positively": true}
		advice, err := x.adviseRefused(pl)
		if err != nil {
			return err
		}
		events = withAdvice(events, advice, data)
		tell(outbox.KindNotice, outbox.NoticeRefused, data)
	}
	if err := outbox.QueueEvents(s.batch, events); err != nil {
		return err
	}
	d := &journal.Delivery{Partner: x.key.Partner, ID: x.in.id, Month: month(x.in.now, x.owner, x.owner.Retention.Deliveries), Received: x.in.now,
		Transport: "worker", MessageID: x.key.ID, SHA256: x.v.SHA256[:], Verdict: string(First), Outcome: x.v.State.String(), Rule: deferredRow.Name,
		Bytes: x.v.Length, Took: x.in.took()}
	if x.v.Ack.ID != uuid.Nil {
		d.Ack, d.AckIn = &x.v.Ack.ID, &x.v.Ack.Month
	}
	if !x.ended || dead > 0 {
		d.Detail = failure
	}
	journal.QueueDeliveries(s.batch, []*journal.Delivery{d})
	return nil
}

// passing is how many runs in a row have failed on what should pass, if this one did.
func (x *deferredJob) passing() int {
	if x.outlasted {
		return x.job.Passing + 1
	}
	return 0
}

// test reports whether the interchange is one for tests, which cause no events.
func (x *deferredJob) test() bool {
	if len(x.in.parts) > 0 {
		return x.in.parts[0].ic.Test
	}
	return strings.HasPrefix(x.key.ID, "unb:test:") || strings.HasPrefix(x.key.ID, "isa:test:") // it could not be read
}

// adviseRefused advises on what this run refused, unless a functional acknowledgement
// that says so leaves with it.
func (x *deferredJob) adviseRefused(pl *plan) (*outbox.Event, error) {
	r := pl.results[0]
	if r.functional != nil && outbox.AcknowledgementTargets[x.owner.Policy.Acknowledge] != "" {
		return nil, nil
	}
	var refused []int
	for i := range r.before {
		if r.before[i] == dedup.Pending && r.variant.Messages[i].Fate.IsRefused() {
			refused = append(refused, i)
		}
	}
	return x.g.adviseRefused(r, x.in.now, refused)
}

// refusedNow reports whether this run refused something that was pending: what was
// refused at receipt was told there.
func (x *deferredJob) refusedNow(pl *plan) bool {
	for _, r := range pl.results {
		for i := range r.before {
			if r.before[i] == dedup.Pending && r.variant.Messages[i].Fate.IsRefused() {
				return true
			}
		}
	}
	return false
}

// fail counts a run in which no message could be blamed, since the payload cannot
// be read or our own code fails on it, with every message that is pending.
func (x *deferredJob) fail(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(ctx, defaultPatience)
	defer cancel()
	s, err := x.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if x.in == nil {
		x.in = &intake{Delivery: &Delivery{Partner: x.owner}, id: x.g.NewID(), started: time.Now(), now: x.g.Now()}
	}
	fate := dedup.Pending
	for i := range x.v.Messages {
		if m := &x.v.Messages[i]; m.Fate == dedup.Pending {
			if m.Attempts = attempt(m.Attempts); int(m.Attempts) >= x.owner.Policy.Attempts {
				fate = dedup.DeadMsg
			}
		}
	}
	for i := range x.v.Messages {
		if m := &x.v.Messages[i]; m.Fate == dedup.Pending {
			m.Fate = fate
		}
	}
	x.v.State = dedup.StateOf(x.v.Messages, dedup.Rejected)
	x.ended = x.v.State != dedup.Received
	x.key.Touch(x.v)
	pl := &plan{in: x.in}
	if err := x.g.writeUnder(ctx, s, pl, x.key, nil); err != nil {
		return err
	}
	if err := x.close(ctx, s, pl, oneLine(why)); err != nil {
		return err
	}
	return s.commit(ctx)
}

// oneLine is the first line of an error, which may hold a stack.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
