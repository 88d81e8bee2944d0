package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// What a receipt names of an interchange at most; the rest is counted, with a
// link. Where a delivery holds many interchanges, each gets a share of what one
// receipt names in all, but always a few.
const (
	maxListed   = 200
	maxFindings = 100
	allListed   = 10_000
	allFindings = 5_000
	alwaysNamed = 5
)

func (in *intake) share(most, all int) int {
	return min(most, max(alwaysNamed, all/max(len(in.parts), 1)))
}

// receipt makes the answer of a delivery: each interchange's part as it was
// stored, or made from what came of it now, and the whole as its transport
// renders it. Bytes that were stored for the transport id are given again.
func (g *Gateway) receipt(pl *plan) (*Receipt, error) {
	in := pl.in
	r := &Receipt{Partner: in.Partner.ID, MessageID: in.messageID(), SHA256: in.SHA256, Delivery: in.id, Repeat: pl.allStored()}
	for i, res := range pl.results {
		if err := g.item(pl, i, res); err != nil {
			return nil, err
		}
		res.item.Acknowledged = in.acknowledged(res.item.Answer, res.item.JSON)
		r.Items = append(r.Items, res.item)
		if i == 0 || r.Verdict == res.verdict {
			r.Verdict = res.verdict
		} else {
			r.Verdict = Mixed
		}
		if res.key != nil {
			r.Keys = append(r.Keys, res.key.ID)
		}
		r.Rules = append(r.Rules, pl.rule(res))
		r.Posted += len(res.posts)
		if a := alertOf(res.drift); a != nil {
			r.AlertID = *a
		} else if res.variant != nil && res.stored {
			r.AlertID = res.variant.AlertID
		}
	}
	r.Answer = Overall(r.Items)
	if pl.fromStore {
		if ack := in.acks[pl.tvariant.Ack.ID]; ack != nil && ack.Receipt != nil {
			r.Answer = Answer(pl.tvariant.Answer)
			if bytes.Equal(ack.Binding, in.Binding) {
				r.Rendered = Rendered{Status: int(ack.Status), ContentType: ack.ContentType, Fields: ack.Fields, Body: ack.Receipt}
				return r, nil
			}
		}
	}
	rendered, err := in.Render(r)
	if err != nil {
		return nil, fmt.Errorf("render the receipt: %w", err)
	}
	r.Rendered = rendered
	return r, nil
}

// item makes one interchange's part of the receipt.
func (g *Gateway) item(pl *plan, n int, r *result) error {
	if r.stored {
		if raw := pl.storedItem(n, r); raw != nil {
			r.item = Item{Answer: r.answer, JSON: raw}
			return nil
		}
	}
	told := r.answer.Told()
	out := InterchangeReceipt{Verdict: r.verdict, Outcome: told.Word, Problem: told.Problem}
	if r.variant != nil && r.answer != ToldReplaced && told.Problem == "" {
		out.Outcome = r.variant.State.String()
	}
	switch p := r.p; {
	case p == nil: // a transport drift, or the repeat of one whose answer is purged
		out.PayloadSHA256 = hexOf(pl.in.SHA256)
		out.MessageID = pl.in.key.ID
	default:
		out.PayloadSHA256 = hexOf(p.ic.PayloadSHA256)
		if p.key.ID != "" {
			out.Syntax, out.MessageID = p.ic.Syntax, p.key.ID
		}
		if p.prepared && r.drift == nil && r.answer != ToldReplaced {
			out.ContentSHA256 = hexOf(p.ic.ContentSHA256)
		}
		if p.reject != nil {
			out.Detail = p.reject.Detail
		}
	}
	if r.drift != nil {
		out.Alert = r.drift.alert.ID.String()
	}
	adopted := r.row != nil && r.row.Effect == Adopt // its messages were not judged, whatever was prepared
	if r.p != nil && !r.stored && !adopted && r.answer != ToldReplaced {
		if r.drift == nil || r.row.Effect == Absorb { // of a drift the alert's id only
			listFindings(&out, pl, r)
		}
		if r.drift == nil || r.answer.positive() && r.row != nil && r.row.Effect == Absorb {
			listDocuments(&out, r, pl.in.share(maxListed, allListed))
		}
		ack, err := g.acknowledge(pl, r)
		if err != nil {
			return err
		}
		switch by := r.p.owner.Policy.Acknowledge; {
		case ack == nil:
		case r.p.owner.Policy.AnswersInResponse():
			out.Acknowledgement = ack
		case outbox.AcknowledgementTargets[by] != "":
			out.Acknowledgement = &FunctionalAcknowledgement{Type: ack.Type, By: by}
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("receipt of %s: %w", out.MessageID, err)
	}
	r.item = Item{Answer: r.answer, JSON: raw}
	return nil
}

// storedItem gives an interchange's stored answer, nil where it is purged: then
// it is made afresh from the outcome.
func (pl *plan) storedItem(n int, r *result) json.RawMessage {
	if r.variant != nil {
		if ack := pl.in.acks[r.variant.Ack.ID]; ack != nil && ack.Answer != nil {
			return ack.Answer
		}
		return nil
	}
	if n < len(pl.kept) {
		return pl.kept[n].Item
	}
	return nil
}

// storedPart is how a transport id keeps one part of its receipt: the answer,
// which stored answer of an interchange it was, and of a part that has none the
// bytes.
type storedPart struct {
	Answer Answer          `json:"answer"`
	Ack    uuid.UUID       `json:"ack,omitzero"`
	Item   json.RawMessage `json:"item,omitempty"`
}

// keptParts gives the parts of the receipt that is stored for a transport id's
// payload, none where it is purged or there only ever was a 503.
func (in *intake) keptParts(t *dedup.Variant) []storedPart {
	if t == nil {
		return nil
	}
	var parts []storedPart
	if ack := in.acks[t.Ack.ID]; ack == nil || json.Unmarshal(ack.Answer, &parts) != nil {
		return nil
	}
	return parts
}

func (pl *plan) storedParts() ([]byte, error) {
	parts := make([]storedPart, len(pl.results))
	for i, r := range pl.results {
		parts[i].Answer = r.answer
		if r.variant != nil {
			parts[i].Ack = r.variant.Ack.ID
		}
		if r.variant == nil {
			parts[i].Item = r.item.JSON
		}
	}
	return json.Marshal(parts)
}

// listDocuments names the interchange's documents with their state.
func listDocuments(out *InterchangeReceipt, r *result, most int) {
	p := r.p
	for i := range p.judged {
		if len(out.Documents) == most {
			out.DocumentsOmitted = len(p.judged) - i
			out.DocumentsAt = "/api/v1/documents?partner=" + url.QueryEscape(r.key.Partner) + "&message_id=" + url.QueryEscape(r.key.ID)
			return
		}
		d := DocumentReceipt{Type: p.ic.Messages[i].Type.Type, State: r.variant.Messages[i].Fate.String()}
		if i < len(p.listed) {
			d.Number = p.listed[i]
		}
		if _, posted := slices.BinarySearch(r.posts, int32(i)); posted {
			id := documentID(p.base, i)
			d.Document = &id
		} else if id, ok := r.links[i]; ok {
			d.Document = &id
		}
		out.Documents = append(out.Documents, d)
	}
}

// listFindings collects what the text has to be told about: of the envelope, of
// each message, of its document, and copies of drifts.
func listFindings(out *InterchangeReceipt, pl *plan, r *result) {
	most := pl.in.share(maxFindings, allFindings)
	p := r.p
	const envelope = -1
	add := func(message int, errs ...*edi.Error) {
		for _, e := range errs {
			if len(out.Findings) == most {
				if out.FindingsOmitted++; e.Severity < edi.SeverityError {
					continue
				}
			}
			f := FindingOf(e)
			if message != envelope {
				f.MessageIndex, f.MessageReference = message+1, p.ic.MessageReference(message)
			}
			out.Findings, _ = edi.Keep(out.Findings, f, most, Finding.Refuses) // what is dropped was counted
		}
	}
	if p.fault != nil {
		add(envelope, p.fault)
	}
	if !p.prepared {
		return
	}
	add(envelope, p.ic.Errors...)
	for i := range p.ic.Groups {
		add(envelope, p.ic.Groups[i].Errors...)
	}
	for i := range p.judged {
		add(i, p.ic.MessageErrors[i]...)
		add(i, p.errs[i]...)
	}
	out.FindingsOmitted += p.ic.DroppedErrors
	for _, i := range r.posts {
		add(int(i), p.elsewhere[int(i)]...)
	}
	for _, i := range r.further {
		add(i, &edi.Error{Code: "document-known", Severity: edi.SeverityWarning,
			Text:     fmt.Sprintf("A document %s with other content was posted before; this one stands beside it.", numberOf(p, i)),
			Location: edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1}})
	}
	for _, i := range r.held {
		add(i, &edi.Error{Code: "document-held", Severity: edi.SeverityWarning,
			Text:     fmt.Sprintf("A document %s with other content was posted before; this one is held for review.", numberOf(p, i)),
			Location: edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1}})
	}
	for _, i := range r.void {
		add(i, &edi.Error{Code: "document-void", Severity: edi.SeverityWarning,
			Text:     fmt.Sprintf("Document %s was replaced or cancelled; this says what it said before, is not newer, and changes nothing.", numberOf(p, i)),
			Location: edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1}})
	}
	for n := range pl.in.copies {
		c := &pl.in.copies[n]
		for _, x := range r.posts {
			i := int(x)
			if p.copyOf(i) == c.Content && c.Kind != dedup.KindTransport && c.MessageID != r.key.ID {
				c.told = true
				add(i, &edi.Error{Code: "possible_copy", Severity: edi.SeverityWarning,
					Text:     fmt.Sprintf("Document %s says the same as one that came with other content under a known id.", numberOf(p, i)),
					Location: edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1}})
			}
		}
	}
}

func numberOf(p *part, i int) string {
	if d := p.doc(i); d != nil {
		return d.Number
	}
	if i < len(p.listed) {
		return p.listed[i]
	}
	return p.ic.Messages[i].Reference
}

// acknowledge writes the functional acknowledgement that the answer calls for.
func (g *Gateway) acknowledge(pl *plan, r *result) (*FunctionalAcknowledgement, error) {
	p := r.p
	if p.key.ID == "" || p.format == nil || p.format.Acknowledge == nil || p.owner.Policy.Acknowledge == "none" || p.number == "" || g.isAcknowledgement(p) {
		return nil, nil
	}
	a := edi.Acknowledgement{Reference: p.number, Prepared: pl.in.now, Action: r.answer.Told().Action, Form: p.owner.Policy.Form, TA1: p.owner.Policy.TA1}
	switch {
	case r.drift != nil && r.row.Effect == Quarantine:
		if p.owner.Policy.DriftAcknowledgement != "reject" || r.answer != ToldDrift {
			return nil, nil
		}
		a.Action = edi.ActionRejected
		a.Errors = []*edi.Error{{Code: "duplicate-reference", Standard: "26", Severity: edi.SeverityError}}
	case r.answer == ToldDead && p.owner.Policy.AcceptsUCI8:
		a.Action = edi.ActionReceived
	case a.Action == 0:
		return nil, nil
	case a.Action == edi.ActionAcknowledged:
		if r.answer == ToldAccepted && p.owner.Policy.ReceiptAction != 0 {
			a.Action = p.owner.Policy.ReceiptAction
		}
		a.Messages = messageAnswers(r)
	default:
		a.Errors = onlyErrors(p.ic.Errors)
		a.Messages = messageAnswers(r)
	}
	kind, b, err := p.format.Acknowledge(p.ic, a)
	if err != nil {
		return nil, fmt.Errorf("acknowledge %s: %w", p.key.ID, err)
	}
	if b == nil {
		return nil, nil
	}
	r.functional = functionalOf(kind, b)
	return r.functional, nil
}

func functionalOf(kind string, b []byte) *FunctionalAcknowledgement {
	if utf8.Valid(b) {
		return &FunctionalAcknowledgement{Type: kind, Content: string(b)}
	}
	return &FunctionalAcknowledgement{Type: kind, Base64: b}
}

// bytes are those that leave.
func (a *FunctionalAcknowledgement) bytes() []byte {
	if a.Base64 != nil {
		return a.Base64
	}
	return []byte(a.Content)
}

// maxMessageAnswers bounds the messages named one by one in an acknowledgement
// where some are refused; beyond it only the refused ones are.
const maxMessageAnswers = 1000

// messageAnswers says which messages were refused; where some were and some
// not, the others are named too.
func messageAnswers(r *result) []edi.MessageAnswer {
	var refused []edi.MessageAnswer
	for i := range r.variant.Messages {
		if f := r.variant.Messages[i].Fate; f.IsRefused() {
			errs := append(onlyErrors(r.p.ic.MessageErrors[i]), onlyErrors(r.p.errs[i])...)
			if f == dedup.WithOthers && len(errs) == 0 {
				continue // refused with the interchange: UCI 4 says so
			}
			refused = append(refused, edi.MessageAnswer{Index: i, Action: edi.ActionRejected, Errors: errs})
		}
	}
	if len(refused) == 0 || r.answer != ToldPartly || len(r.variant.Messages) > maxMessageAnswers {
		return refused
	}
	all, next := make([]edi.MessageAnswer, len(r.variant.Messages)), 0
	for i := range all {
		all[i] = edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged}
		if next < len(refused) && refused[next].Index == i {
			all[i] = refused[next]
			next++
		}
	}
	return all
}

func onlyErrors(errs []*edi.Error) []*edi.Error {
	var out []*edi.Error
	for _, e := range errs {
		if e.Severity >= edi.SeverityError {
			out = append(out, e)
		}
	}
	return out
}

// isAcknowledgement: an acknowledgement is never acknowledged, but what stands
// beside one is.
func (g *Gateway) isAcknowledgement(p *part) bool {
	for i := range p.ic.Messages {
		if !slices.Contains(p.format.NeverAcknowledged, p.ic.Messages[i].Type.Type) {
			return false
		}
	}
	return len(p.ic.Messages) > 0
}
