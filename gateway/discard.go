package gateway

import (
	"context"
	"slices"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// Discard gives the dead and the pending messages of a payload up: refused by us,
// never posted from it again. What a worker has on its way is taken from it, by the
// key's lock and the job's. Where the partner was told positively a notice says so; copies
// go on getting the stored answer.
func (g *Gateway) Discard(ctx context.Context, l Letter, reason, note string, by Person, dry bool) (*Replayed, error) {
	if err := checkReason(reason, note); err != nil {
		return nil, err
	}
	x := &letter{g: g, l: l, by: by, dry: dry, discards: true, reason: reason, note: note}
	return x.run(ctx, false, x.discard)
}

// givesUp lists the messages of a payload that Discard gives up: the dead and the pending.
func givesUp(v *dedup.Variant) (gone []int) {
	for i := range v.Messages {
		if f := v.Messages[i].Fate; f.IsDead() || f == dedup.Pending {
			gone = append(gone, i)
		}
	}
	return gone
}

// advises reports whether the partner is advised on what Discard gives up.
func (x *letter) advises() bool {
	return x.discards && !x.dry && adviseTarget(x.owner) != "" && Answer(x.v.Answer).positive()
}

// readGivenUp reads of the payload what an advice says of the messages that are given up,
// with nothing locked.
func (x *letter) readGivenUp(ctx context.Context) error {
	named := nameable(givesUp(x.v))
	if !x.advises() || len(named) == 0 || slices.Equal(named, x.named) {
		return nil
	}
	envelope, err := x.g.storedEnvelope(ctx, x.ref(), x.v, x.owner, named)
	if err != nil {
		return err
	}
	x.envelope, x.named = envelope, named
	return nil
}

func (x *letter) discard(ctx context.Context, s *session) error {
	gone := givesUp(x.v)
	for _, i := range gone {
		x.v.Messages[i] = dedup.MessageState{SHA256: x.v.Messages[i].SHA256, Fate: dedup.Discarded}
	}
	if len(gone) == 0 || x.v.State == dedup.Superseded {
		return refusal(NothingToDo, "nothing of the payload is dead or pending")
	}
	if x.v.State == dedup.Received {
		dedup.QueueJobLock(s.batch, x.key.Ref, x.v.SHA256, func(*dedup.Job) {})
		dedup.QueueJobEnd(s.batch, x.key.Ref, x.v.SHA256)
	}
	x.v.State = dedup.StateOf(x.v.Messages, dedup.Rejected)
	x.key.Touch(x.v)
	x.tell(&result{variant: x.v})
	x.out.Discarded = len(gone)
	var events []outbox.Event
	if Answer(x.v.Answer).positive() {
		x.out.Notices = 1
		data := map[string]any{"message_id": x.key.ID, "payload_sha256": hexOf(x.v.SHA256), "messages": len(gone), "reason": x.reason, "told_positively": true}
		if x.note != "" {
			data["note"] = x.note
		}
		advice, err := x.adviseGivenUp(gone)
		if err != nil {
			return err
		}
		events = append(withAdvice(events, advice, data), outbox.Event{Partner: x.key.Partner, ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Payloads),
			Kind: outbox.KindNotice, Type: outbox.NoticeDiscarded, Subject: x.key.Partner + "/" + x.key.ID, Data: data})
	}
	if x.dry {
		return nil
	}
	pl := &plan{in: x.in}
	if err := x.g.writeUnder(ctx, s, pl, x.key, nil); err != nil {
		return err
	}
	if err := x.close(ctx, s, events, "message.discarded"); err != nil {
		return err
	}
	return s.commit(ctx)
}

// adviseGivenUp advises on the messages that are given up, of which nothing is known but
// where they stand: our handler has failed on them.
func (x *letter) adviseGivenUp(gone []int) (*outbox.Event, error) {
	if !x.advises() {
		return nil, nil
	}
	named := nameable(gone)
	if !slices.Equal(named, x.named) { // a worker or a replay came before the lock
		return nil, errStartAgain
	}
	if x.envelope == nil { // the payload can no longer be read
		return nil, nil
	}
	a := edi.Advice{Acceptance: edi.Rejected, Reason: edi.AdviceGivenUp, Text: adviseGivenUp + reasonsAdvised[x.reason], Omitted: len(gone) - len(named)}
	for n := range named {
		a.Messages = append(a.Messages, edi.AdvisedMessage{Index: n})
	}
	return x.g.advise(x.envelope, x.in.now, a)
}
