package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// Letter names a payload under a key: what is replayed, judged again or given up.
type Letter struct {
	Partner   string
	MessageID string
	Digest    []byte // nil: the current one
}

// Replayed is what came of a letter, or with Dry would.
type Replayed struct {
	Partner   string `json:"partner"`
	MessageID string `json:"message_id"`
	SHA256    string `json:"payload_sha256"`
	Verdict   string `json:"verdict,omitempty"` // retry or re-evaluation
	State     string `json:"state"`
	Posted    int    `json:"posted"` // this time
	Held      int    `json:"held"`   // as it stands then
	Refused   int    `json:"refused"`
	Dead      int    `json:"dead"`
	Discarded int    `json:"discarded"`
	Notices   int    `json:"notices"`
	Dry       bool   `json:"dry_run,omitempty"`
}

// Replay runs the dead messages of a payload again, and with them the refused
// ones that were judged under older settings: row I4 without the limit of
// attempts, which it does not count. A *Refusal says why it was not; dry tells
// what would come of it and changes nothing.
func (g *Gateway) Replay(ctx context.Context, l Letter, by Person, dry bool) (*Replayed, error) {
	x := &letter{g: g, l: l, by: by, dry: dry}
	return x.run(ctx, true, x.replay)
}

// Judged tells how a payload's refused messages stand to the settings that hold
// now: how many are refused, and whether Replay would judge them again.
func (g *Gateway) Judged(k *dedup.Key, v *dedup.Variant) (refused int, again bool) {
	owner := g.Partner(k.Partner)
	for i := range v.Messages {
		if f := v.Messages[i].Fate; f == dedup.RefusedMsg || f == dedup.WithOthers {
			refused++
		}
	}
	if owner == nil || refused == 0 || !unfinished(v) || v.Epoch != k.Epoch {
		return refused, false
	}
	a := &Arrival{Revision: dedup.Revision{Partner: owner.Revision, Rules: g.rules()}}
	return refused, staleRefused(a, v) && fitsStanding(k, len(v.Messages), digestsOf(v))
}

// letter is a payload on its way through a replay.
type letter struct {
	g            *Gateway
	l            Letter
	by           Person
	dry          bool
	discards     bool
	reason, note string

	owner    *partners.Partner
	in       *intake
	envelope *part // of what is given up, as far as the partner is advised on it
	named    []int // messages, in the order of the envelope's
	key      *dedup.Key
	v        *dedup.Variant
	out      Replayed
}

func (x *letter) ref() dedup.Ref { return dedup.Ref{Partner: x.l.Partner, ID: x.l.MessageID} }

// run does the work, from the start where the key was not left alone.
func (x *letter) run(ctx context.Context, judged bool, work func(context.Context, *session) error) (*Replayed, error) {
	ctx = context.WithoutCancel(ctx)
	defer func() { x.in.close() }()
	if x.owner = x.g.Partner(x.l.Partner); x.owner == nil {
		return nil, refusal(NoLongerKept, "partner %s is not configured", x.l.Partner)
	}
	for range startsAgain {
		err := x.g.afterPending(ctx, x.ref(), func() error { return x.once(ctx, judged, work) })
		if errors.Is(err, errStartAgain) {
			continue
		}
		if err != nil {
			return nil, x.g.wrote(err)
		}
		if !x.dry {
			x.g.released(ctx, x.key)
		}
		return &x.out, nil
	}
	return nil, errUnsettled
}

func (x *letter) once(ctx context.Context, judged bool, work func(context.Context, *session) error) error {
	look, looked := context.WithTimeout(ctx, defaultPatience)
	defer looked()
	keys, err := dedup.Load(look, x.g.Pool, []dedup.Ref{x.ref()})
	if err != nil {
		return err
	}
	if err := x.find(keys[x.ref()]); err != nil {
		return err
	}
	ctx, timely, cancel := inTime(ctx, x.v.Length)
	defer cancel()
	return timely(x.under(ctx, judged, work))
}

// under does the work under the key's lock.
func (x *letter) under(ctx context.Context, judged bool, work func(context.Context, *session) error) (err error) {
	if x.in == nil || x.in.SHA256 != x.v.SHA256 {
		x.in.close()
		if x.in, err = x.g.intakeOf(ctx, x.key, x.v, x.owner, judged); err != nil {
			return err
		}
		x.in.parts[0].arrival.Replay = true
		x.envelope, x.named = nil, nil
	}
	if err := x.readGivenUp(ctx); err != nil {
		return err
	}
	s, err := x.g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if err := x.g.lock(ctx, s, x.in, []dedup.Ref{x.ref()}); err != nil {
		return err
	}
	if err := x.find(x.in.keys[x.ref()]); err != nil {
		return err
	}
	if x.in.SHA256 != x.v.SHA256 {
		return errStartAgain
	}
	if pending(x.key) && !(x.discards && x.v.State == dedup.Received) {
		return refusal(StillPending, "a message under the key is still being processed")
	}
	x.key.Quietly()
	return work(ctx, s)
}

// find picks the payload under its key.
func (x *letter) find(k *dedup.Key) error {
	if k == nil || k.Kind != dedup.Interchange {
		return refusal(NoLongerKept, "there is no message %s of %s", x.l.MessageID, x.l.Partner)
	}
	x.key, x.v = k, k.Current()
	if x.l.Digest != nil {
		if len(x.l.Digest) != 32 {
			return refusal(WhichPayload, "a digest has 32 bytes")
		}
		if x.v = k.Find([32]byte(x.l.Digest)); x.v == nil {
			return refusal(WhichPayload, "there is no payload %x under the key", x.l.Digest)
		}
	}
	return nil
}

func (x *letter) replay(ctx context.Context, s *session) error {
	p := x.in.parts[0]
	pl := &plan{in: x.in}
	r := &result{p: p, key: x.key, variant: x.v, row: Judge(&p.arrival, x.key)}
	if r.row.Effect != Redo {
		return x.notAgain()
	}
	if len(p.judged) != len(x.v.Messages) {
		return refusal(NoLongerFits, "the interchange is read as %d messages now, as %d before", len(p.judged), len(x.v.Messages))
	}
	r.verdict = r.row.VerdictOf(&p.arrival, x.key)
	pl.results = []*result{r}
	x.g.decideWork(pl, r)
	if err := x.g.guard(ctx, s, pl); err != nil {
		return err
	}
	x.tell(r)
	if x.dry {
		return nil
	}
	if err := x.keepPayload(ctx, s, p); err != nil {
		return err
	}
	if err := x.g.item(pl, 0, r); err != nil {
		return err
	}
	var acks []*journal.Acknowledgement
	if r.ack.ID != uuid.Nil {
		acks = append(acks, &journal.Acknowledgement{Partner: x.key.Partner, ID: r.ack.ID, Month: r.ack.Month, Answer: r.item.JSON})
	}
	err := x.g.writeUnder(ctx, s, pl, x.key, acks)
	if err == nil {
		err = pl.writeAlerts(ctx, s)
	}
	if err == nil {
		action := "message.replayed"
		if r.verdict == Reevaluation {
			action = "message.re-evaluated"
		}
		err = x.close(ctx, s, x.g.events(pl), action)
	}
	if err == nil {
		err = s.commit(ctx)
	}
	if err != nil {
		return x.g.blame(ctx, x.in, pl, s.failed(err))
	}
	return nil
}

// notAgain says why there is nothing to run again.
func (x *letter) notAgain() error {
	switch {
	case !unfinished(x.v):
		return refusal(NothingToDo, "the payload is %s: nothing of it is dead or refused under older settings", x.v.State)
	case x.v.Epoch != x.key.Epoch || !fitsStanding(x.key, len(x.v.Messages), digestsOf(x.v)):
		return refusal(NoLongerFits, "other content stands under the key since; what stands is not in this payload byte for byte")
	}
	return refusal(NothingToDo, "nothing is dead, and what was refused was judged under the settings that hold now")
}

// keepPayload keeps the bytes of what is held or dead from being purged: a copy of
// their own, since others may be told of the first by the month it goes in.
func (x *letter) keepPayload(ctx context.Context, s *session, p *part) error {
	if !retained(&result{variant: x.v}) || x.v.Payload.Month.Equal(journal.Held) {
		return nil
	}
	at := dedup.Stored{ID: x.g.NewID(), Month: journal.Held}
	if err := x.g.queuePayload(ctx, s, p.payload, storedPayload{partner: x.key.Partner, ref: at, length: p.payload.Size()}); err != nil {
		return err
	}
	x.v.Offset = 0
	place(x.key, x.v, at)
	return nil
}

// tell counts how the payload stands.
func (x *letter) tell(r *result) {
	x.out = Replayed{Partner: x.key.Partner, MessageID: x.key.ID, SHA256: hexOf(x.v.SHA256), Verdict: string(r.verdict), State: x.v.State.String(),
		Posted: len(r.posts), Dry: x.dry}
	for i := range x.v.Messages {
		switch f := x.v.Messages[i].Fate; {
		case f == dedup.Held:
			x.out.Held++
		case f.IsDead():
			x.out.Dead++
		case f == dedup.RefusedMsg || f == dedup.WithOthers:
			x.out.Refused++
		case f == dedup.Discarded:
			x.out.Discarded++
		}
	}
}

// close writes what is told of it and the audit line.
func (x *letter) close(ctx context.Context, s *session, events []outbox.Event, action string) error {
	if err := outbox.QueueEvents(s.batch, events); err != nil {
		return err
	}
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("write %s: %w", action, err)
	}
	detail := map[string]any{"payload_sha256": x.out.SHA256, "state": x.out.State, "posted": x.out.Posted, "dead": x.out.Dead, "at": x.in.now.UTC().Format(time.RFC3339)}
	if x.reason != "" {
		detail["reason"], detail["note"], detail["discarded"] = x.reason, x.note, x.out.Discarded
	}
	return x.g.audit(ctx, s, Act{By: x.by, Action: action, Subject: x.key.ID, Partner: x.key.Partner, Detail: detail})
}
