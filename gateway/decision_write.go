package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
)

// maxRuled bounds the documents that a ruling names one by one.
const maxRuled = 100

// write queues everything a decision leaves behind; the last of it goes with
// COMMIT.
func (x *deciding) write(ctx context.Context, s *session) error {
	acks, err := x.answers()
	if err != nil {
		return err
	}
	if err := x.g.writeUnder(ctx, s, x.pl, x.key, acks); err != nil {
		return err
	}
	x.cancelLacking(s)
	return x.close(ctx, s, append(x.g.events(x.pl), x.cancelEvents()...))
}

// writeUnder writes what was done under one key without a delivery: its variants,
// documents and the new answers. The guard has queued its keys.
func (g *Gateway) writeUnder(ctx context.Context, s *session, pl *plan, k *dedup.Key, acks []*journal.Acknowledgement) error {
	dedup.QueueChanges(s.batch, []*dedup.Key{k})
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	if err := dedup.WriteMessages(ctx, s.conn, map[dedup.Ref]*dedup.Key{k.Ref: k}); err != nil {
		return err
	}
	if err := g.writeDocuments(ctx, s, pl); err != nil {
		return err
	}
	journal.QueueAcknowledgements(s.batch, acks)
	return pl.queueAnswers(s.batch)
}

// close writes the alert's end, what is told of it and the audit line.
func (x *deciding) close(ctx context.Context, s *session, events []outbox.Event) error {
	x.count()
	x.settle(s)
	advices, err := x.advices()
	if err != nil {
		return err
	}
	notices := x.notices(advices)
	x.did.Notices = len(notices)
	events = append(append(append(events, advices...), notices...), x.alertNotices()...)
	if !x.alert.Test {
		events = append(events, x.event(outbox.KindEvent, outbox.DriftDecided, x.decidedData()))
	}
	if err := outbox.QueueEvents(s.batch, events); err != nil {
		return err
	}
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("write the decision: %w", err)
	}
	action, by := "drift.decided", x.d.By
	if x.approver != (Person{}) {
		action, by = "drift.approved", x.approver
	}
	detail := x.decidedData()
	detail["posted"], detail["superseded"], detail["cancelled"] = x.did.Posted, x.did.Replaced, x.did.Cancelled
	return x.g.audit(ctx, s, Act{By: by, Action: action, Subject: x.alert.ID.String(), Partner: x.alert.Partner, Detail: detail})
}

func (g *Gateway) audit(ctx context.Context, s *session, a Act) error {
	if g.Audit == nil {
		return errors.New("decisions need an audit log: Gateway.Audit is not set")
	}
	return g.Audit(ctx, s.conn, a)
}

// settle writes where the alert stands now.
func (x *deciding) settle(s *session) {
	x.did.Alert, x.did.State = x.alert.ID, "resolved"
	if x.nextOpen {
		x.did.State, x.did.Needs = standsIn(x.alert), "another payload of the alert is still to be decided"
	}
	dedup.QueueDecided(s.batch, x.alert.Partner, x.alert.ID, x.did.State, string(x.d.Choice)+": "+x.d.Reason,
		&dedup.Decided{Decision: string(x.d.Choice), By: x.d.By.Name, ApprovedBy: x.approver.Name, Reason: x.d.Reason, Note: x.d.Note})
	for _, a := range x.settled {
		dedup.QueueAlertClose(s.batch, a.Partner, a.ID, "resolved", "its interchange was replaced by a decision on drift "+x.alert.ID.String())
	}
}

// standsIn is the state of an undecided alert that nothing is proposed for.
func standsIn(a *dedup.Alert) string {
	if a.Assignee != "" {
		return "in_review"
	}
	return "open"
}

// cancelLacking voids the documents that stood under the key and have no place in
// the payload that replaces it.
func (x *deciding) cancelLacking(s *session) {
	if x.pl.ruling == nil {
		return
	}
	var ids []uuid.UUID
	for _, d := range x.pl.ruling.lacking() {
		ids = append(ids, d.ID)
	}
	if len(ids) > 0 {
		documents.QueueCancel(s.batch, x.alert.Partner, ids, x.alert.ID, documents.StampOfDecision, documents.Stamp(x.in.parts[0].ic, 0))
	}
	x.did.Cancelled = len(ids)
}

func (x *deciding) count() {
	if x.pl == nil {
		return
	}
	for _, r := range x.pl.results {
		x.did.Posted += len(r.posts)
		for _, i := range r.posts[:min(len(r.posts), maxRuled-len(x.did.Documents))] {
			x.did.Documents = append(x.did.Documents, documentID(r.p.base, int(i)))
		}
	}
	x.did.Replaced = len(x.pl.supersede)
}

// answers gives the new stored answers: of a payload that posts made from what
// came of it, of a refused one as it was told, with what was decided.
func (x *deciding) answers() ([]*journal.Acknowledgement, error) {
	var acks []*journal.Acknowledgement
	for i, r := range x.pl.results {
		if err := x.g.item(x.pl, i, r); err != nil {
			return nil, err
		}
		acks = append(acks, &journal.Acknowledgement{Partner: r.key.Partner, ID: r.ack.ID, Month: r.ack.Month, Answer: r.item.JSON})
	}
	for _, v := range x.refused {
		if v.Ack.ID == uuid.Nil {
			continue
		}
		var stored []byte
		if ack := x.in.acks[v.Ack.ID]; ack != nil {
			stored = ack.Answer
		}
		answer, err := refusedAnswer(stored, x.key.Ref, v, x.alert.ID)
		if err != nil {
			return nil, err
		}
		v.Ack = dedup.Stored{ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Acknowledgements)}
		acks = append(acks, &journal.Acknowledgement{Partner: x.key.Partner, ID: v.Ack.ID, Month: v.Ack.Month, Answer: answer})
	}
	return acks, nil
}

func (x *deciding) event(kind, typ string, data map[string]any) outbox.Event {
	return outbox.Event{Partner: x.alert.Partner, ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Payloads), Kind: kind, Type: typ,
		Subject: x.alert.Partner + "/" + x.alert.MessageID, Data: data}
}

// decidedData says what was decided: references, never payloads.
func (x *deciding) decidedData() map[string]any {
	data := map[string]any{"alert_id": x.alert.ID, "kind": x.alert.Kind, "message_id": x.alert.MessageID, "decision": x.d.Choice,
		"reason": x.d.Reason, "by": x.d.By.Name, "payload_sha256": x.digests()}
	if x.d.Note != "" {
		data["note"] = x.d.Note
	}
	if x.approver.Name != "" {
		data["approved_by"] = x.approver.Name
	}
	return data
}

// digests names the payloads the decision was about.
func (x *deciding) digests() []string {
	var list []string
	for _, v := range x.refused {
		list = append(list, hexOf(v.SHA256))
	}
	if len(list) == 0 {
		list = append(list, hexOf(x.in.SHA256))
	}
	return list
}

// notices tells the partner what no answer told him. After a held drift, and for
// a held document, he was told positively and is told otherwise now. Where an advice
// tells him the same, it is named.
func (x *deciding) notices(advices []outbox.Event) []outbox.Event {
	add := func(digest [32]byte, positively bool) outbox.Event {
		data := map[string]any{"alert_id": x.alert.ID, "message_id": x.alert.MessageID, "payload_sha256": hexOf(digest), "decision": x.d.Choice,
			"reason": x.d.Reason, "told_positively": positively}
		if x.d.Note != "" {
			data["note"] = x.d.Note
		}
		if len(x.alert.Documents) > 0 {
			data["documents"] = x.alert.Documents
		}
		if x.alert.Test {
			data["test"] = true
		}
		for i := range advices {
			if x.row.Kind == dedup.KindTransport || advices[i].Acknowledges.SHA256 == digest {
				data["advice"] = adviceIn(&advices[i])
			}
		}
		return x.event(outbox.KindNotice, outbox.NoticeRefused, data)
	}
	var list []outbox.Event
	for i, v := range x.refused {
		if x.row.Notifies || x.told[i] {
			list = append(list, add(v.SHA256, x.told[i]))
		}
	}
	if x.row.Kind == dedup.KindDocument && x.row.Notifies {
		list = append(list, add(x.in.SHA256, true))
	}
	return list
}

// alertNotices tells the operators of the decision, and of the alerts that it
// settled with its own.
func (x *deciding) alertNotices() []outbox.Event {
	data := x.decidedData()
	data["state"] = x.did.State
	list := []outbox.Event{x.g.alertNotice(outbox.AlertDecided, x.in.now, x.owner, x.alert, x.alert.MessageID, data)}
	for _, a := range x.settled {
		list = append(list, x.g.alertNotice(outbox.AlertClosed, x.in.now, x.owner, a, a.MessageID, map[string]any{"kind": a.Kind, "by_alert_id": x.alert.ID}))
	}
	return list
}

// cancelEvents adds what a decision causes beside its posts: documents that were
// cancelled since the new payload lacks them.
func (x *deciding) cancelEvents() []outbox.Event {
	var list []outbox.Event
	if x.pl.ruling == nil || x.alert.Test {
		return nil
	}
	for _, d := range x.pl.ruling.lacking() {
		list = append(list, outbox.Event{Partner: x.alert.Partner, ID: x.g.NewID(), Month: month(x.in.now, x.owner, x.owner.Retention.Payloads), Kind: outbox.KindEvent,
			Type: outbox.DocumentSuperseded, Subject: x.alert.Partner + "/" + d.ID.String(), Data: map[string]any{"document_id": d.ID, "by": x.alert.ID, "cancelled": true}})
	}
	return list
}

// refusedAnswer is the stored answer of a payload that was decided against: what
// was told, with the outcome it has now.
func refusedAnswer(stored []byte, ref dedup.Ref, v *dedup.Variant, alert uuid.UUID) ([]byte, error) {
	told := Answer(v.Answer).Told()
	out := InterchangeReceipt{MessageID: ref.ID, Verdict: Drift, Problem: told.Problem, PayloadSHA256: hexOf(v.SHA256), Alert: alert.String()}
	if stored != nil {
		if err := json.Unmarshal(stored, &out); err != nil {
			return nil, fmt.Errorf("stored answer of %s: %w", ref.ID, err)
		}
	}
	out.Outcome = dedup.Refused.String()
	return json.Marshal(out)
}
