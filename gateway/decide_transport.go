package gateway

import (
	"slices"

	"github.com/google/uuid"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
)

// decideTransport notes the delivery under its transport id: a new id has its
// own row before it is answered, and a known one keeps every digest it carried.
func (g *Gateway) decideTransport(pl *plan) {
	in := pl.in
	if in.key.ID == "" {
		return
	}
	answer := pl.overall()
	if pl.tvariant != nil { // T3
		if pl.fromStore = pl.allStored() && pl.sameAnswers(); pl.fromStore {
			return
		}
		pl.tvariant.Messages = in.partRecords()
		pl.tkey.Touch(pl.tvariant)
	} else if pl.transport.Then == AdoptTransport {
		v := pl.tkey.Imported()
		v.SHA256, v.NoDigest, v.State, v.DeliveryID = in.SHA256, false, dedup.Accepted, in.id
		v.Messages, v.Length = in.partRecords(), in.Payload.Size()
		pl.tkey.Touch(v)
		pl.tvariant = v
	} else {
		if pl.tkey == nil {
			pl.tkey = dedup.NewKey(in.key, dedup.Transport, in.now, purgeOn(in.now, in.Partner.Retention.DedupWindow))
			in.keys[in.key] = pl.tkey
		}
		pl.tvariant = pl.tkey.Add(&dedup.Variant{SHA256: in.SHA256, State: dedup.Accepted, DeliveryID: in.id,
			Messages: in.partRecords(), Length: in.Payload.Size()})
	}
	for _, r := range pl.results {
		if r.key != nil {
			pl.tkey.Carry(dedup.Carried{Ref: r.key.Ref, SHA256: r.p.ic.PayloadSHA256})
			if pl.tkey.PurgeOn.After(r.key.PurgeOn) { // never outlives what it carried
				pl.tkey.PurgeOn = r.key.PurgeOn
			}
		}
	}
	if in.decided != nil { // the next copy is answered afresh, from what its interchanges were told
		pl.tvariant.State, pl.tvariant.Answer, pl.tvariant.Ack = dedup.Accepted, int16(answer), dedup.Stored{}
		return
	}
	pl.answerTransport(g, answer)
	if pl.noted {
		pl.drift = &driftChange{opened: true, alert: &dedup.Alert{Partner: in.Partner.ID, ID: g.NewID(), Kind: dedup.KindTransport, MessageID: in.key.ID,
			State: "auto_resolved", Class: string(compare.DifferentDocument), Severity: string(compare.Info),
			Headline: "the transport id came again with another payload", Reason: "row " + pl.transport.Name + ": decided at interchange level",
			Original: pl.tkey.Variants[0].SHA256[:], Digests: [][]byte{slices.Clone(in.SHA256[:])}}}
	}
}

// answerTransport gives the transport id a new stored answer. 503 is no
// acknowledgement: the one before it stays.
func (pl *plan) answerTransport(g *Gateway, answer Answer) {
	if answer == ToldTryAgain {
		if pl.tvariant.Answer == 0 {
			pl.tvariant.Answer = int16(answer)
		}
		return
	}
	pl.answered = true
	pl.tvariant.Answer = int16(answer)
	pl.tvariant.Ack = dedup.Stored{ID: g.NewID(), Month: month(pl.in.now, pl.in.Partner, pl.in.Partner.Retention.Acknowledgements)}
}

// partRecords keep, for a transport id, which interchanges it carried, and which
// of them were refused without a key and under which revision.
func (in *intake) partRecords() []dedup.MessageState {
	ms := make([]dedup.MessageState, len(in.parts))
	for i, p := range in.parts {
		ms[i] = dedup.MessageState{SHA256: p.ic.PayloadSHA256, Fate: dedup.Posted}
		if p.key.ID == "" {
			ms[i].Fate, ms[i].Revision = dedup.RefusedMsg, in.unkeyed
		}
	}
	return ms
}

// decideStored answers rows T2 and T2b.
func (g *Gateway) decideStored(pl *plan) error {
	r := &result{verdict: Duplicate, answer: Answer(pl.tvariant.Answer), stored: true}
	if pl.transport.Then == JoinTransport {
		r.verdict = Drift
		r.drift = &driftChange{alert: &dedup.Alert{Partner: pl.in.Partner.ID, ID: pl.tvariant.AlertID}, joined: true}
	}
	pl.results = []*result{r}
	pl.fromStore = true
	pl.collect()
	return nil
}

// decideTransportDrift quarantines a payload that came under an id used for
// another: row T6.
func (g *Gateway) decideTransportDrift(pl *plan) error {
	in := pl.in
	a := &dedup.Alert{Partner: in.Partner.ID, ID: g.NewID(), Kind: dedup.KindTransport, MessageID: in.key.ID, State: "open",
		Class: string(compare.DifferentDocument), Severity: string(compare.High),
		Headline: "the transport id was used before for another payload",
		Original: pl.tkey.Variants[0].SHA256[:], Digests: [][]byte{slices.Clone(in.SHA256[:])}}
	a.Test = len(in.parts) > 0 && !slices.ContainsFunc(in.parts, func(p *part) bool { return !p.ic.Test })
	pl.drift = &driftChange{alert: a, opened: true}
	for _, known := range in.alerts[in.key] {
		if known.Kind == dedup.KindTransport && known.Undecided() {
			a.ID = known.ID
			pl.drift = &driftChange{alert: a, added: true}
		}
	}
	answer := tellDrift(in.Partner.Policy.OnDrift)
	pl.tvariant = pl.tkey.Add(&dedup.Variant{SHA256: in.SHA256, State: dedup.Quarantined, DeliveryID: in.id,
		Messages: in.partRecords(), Length: in.Payload.Size(), AlertID: a.ID})
	pl.answerTransport(g, answer)
	pl.results = []*result{{verdict: Drift, answer: answer, drift: pl.drift}}
	pl.collect()
	return nil
}

// sameAnswers reports whether the receipt stored for the transport id was made
// of the answers that its interchanges have now. One of them may have been
// answered anew under another id since.
func (pl *plan) sameAnswers() bool {
	if len(pl.kept) != len(pl.results) {
		return false
	}
	for n, r := range pl.results {
		if r.answer != pl.kept[n].Answer || r.variant != nil && r.variant.Ack.ID != pl.kept[n].Ack {
			return false
		}
	}
	return true
}

func (pl *plan) allStored() bool {
	return !slices.ContainsFunc(pl.results, func(r *result) bool { return !r.stored })
}

func (pl *plan) overall() Answer {
	items := make([]Item, len(pl.results))
	for i, r := range pl.results {
		items[i].Answer = r.answer
	}
	return Overall(items)
}

// rule names the rows that were taken, for the journal and the log.
func (pl *plan) rule(r *result) string {
	name := ""
	if pl.transport != nil {
		name = pl.transport.Name
	}
	if r.row != nil && r.row.Name != name {
		if name != "" {
			name += " "
		}
		name += r.row.Name
	}
	return name
}

// closeTransportDrifts: an interchange of an open transport drift arrived under
// another id and was processed there. The alert closes with this delivery as the
// reason. What else that payload holds was never judged under its id, and is when
// it comes again.
func (pl *plan) closeTransportDrifts() (closed []dedup.Copy, err error) {
	in := pl.in
	var open []foundCopy
	again := false
	for _, c := range in.copies {
		if in.decided != nil && c.Alert == in.decided.ID {
			continue
		}
		if c.Kind != dedup.KindTransport || c.State != "open" && c.State != "in_review" && c.State != "awaiting_approval" {
			continue
		}
		open = append(open, c)
		ref := dedup.Ref{Partner: in.Partner.ID, ID: c.MessageID}
		if t := in.keys[ref]; t == nil || t.Partly() { // all of them at once: it may start again so often only
			in.wholly, again = true, true
			in.alsoLock = dedup.SortRefs(append(in.alsoLock, ref))
		}
	}
	if again {
		return nil, errStartAgain
	}
	for _, c := range open {
		t := in.keys[dedup.Ref{Partner: in.Partner.ID, ID: c.MessageID}]
		found, left := false, false
		for _, v := range t.Variants {
			switch {
			case v.AlertID != c.Alert || v.State != dedup.Quarantined:
			case !slices.ContainsFunc(v.Messages, func(m dedup.MessageState) bool { return m.SHA256 == c.Content }):
				left = true // another payload of the same alert
			default:
				found = true
				v.State, v.Ack = dedup.Accepted, dedup.Stored{}
				for i := range v.Messages {
					v.Messages[i] = dedup.MessageState{SHA256: v.Messages[i].SHA256, Fate: dedup.RefusedMsg} // of no revision: judged again
				}
				t.Touch(v)
			}
		}
		if found && !left {
			closed = append(closed, c.Copy)
		}
	}
	return closed, nil
}

// foundCopy is a drift with the same content, whose it is, and whether a document
// of this delivery was found to be a possible copy.
type foundCopy struct {
	dedup.Copy
	partner string
	told    bool
}

// alertOf is the alert a delivery opened or joined, for its journal row.
func alertOf(d *driftChange) *uuid.UUID {
	if d == nil {
		return nil
	}
	return &d.alert.ID
}
