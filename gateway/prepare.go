package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
)

// prepare does all the CPU work that the expected verdicts need, with no
// connection held: parse, validate, map, compare with what a drift differs from,
// and before it lease the numbers of the acknowledgements. A processor is held for
// this work alone, and for nothing that waits.
func (g *Gateway) prepare(ctx context.Context, in *intake) error {
	if err := g.readMessages(ctx, in); err != nil {
		return err
	}
	parts := in.toPrepare()
	for _, p := range parts {
		if p.advising {
			if err := g.numberAdvice(ctx, p); err != nil {
				return err
			}
		}
		if p.number != "" {
			continue
		}
		n, err := g.Numbers.Next(ctx, p.owner.ID, "interchange")
		if err != nil {
			return err
		}
		p.number = strconv.FormatInt(n, 10)
	}
	if err := g.enterRoom(ctx, in, parts); err != nil {
		return err
	}
	for _, p := range parts {
		if !p.prepared {
			if err := g.atWork(ctx, in.Delivery, in.mayWait != nil, func() error { return g.judge(in, p) }); err != nil {
				return err
			}
		}
	}
	if err := g.yield(ctx, in, parts...); err != nil {
		return err
	}
	for _, p := range parts {
		if err := g.matchAnswers(ctx, in, p); err != nil {
			return err
		}
		if err := g.compare(ctx, in, p, in.keys[p.key]); err != nil {
			return err
		}
	}
	return g.draft(ctx, in)
}

// draft has the answer signed to a delivery of which nothing is known, as things stand:
// a signature takes longer than all statements, and a committer makes one after another.
// Where it turns out otherwise it is rendered again.
func (g *Gateway) draft(ctx context.Context, in *intake) error {
	if !in.Signs || in.foreseen || len(in.keys) > 0 {
		return nil
	}
	defer in.undecide()
	return g.atWork(ctx, in.Delivery, in.mayWait != nil, func() error {
		pl, err := g.decide(in)
		if err != nil {
			return err
		}
		_, err = g.receipt(pl)
		return err
	})
}

// toPrepare gives the parts whose expected verdicts need them prepared.
func (in *intake) toPrepare() (parts []*part) {
	before := map[dedup.Ref]bool{}
	for _, p := range in.parts {
		if p.key.ID == "" || p.fault != nil {
			continue
		}
		after := before[p.key] // an interchange before it in this payload may change what it is
		before[p.key] = true
		if after || needsPreparing(p, in.keys[p.key]) {
			parts = append(parts, p)
		}
	}
	return parts
}

func needsPreparing(p *part, k *dedup.Key) bool {
	if k == nil {
		return true
	}
	if k.Find(p.ic.PayloadSHA256) == nil {
		return k.Imported() == nil
	}
	return Judge(&p.arrival, k).Effect.Prepared()
}

// judge scans one interchange and judges each message: refused, dead, or sound
// with its document.
func (g *Gateway) judge(in *intake, p *part) error {
	p.retained = in.Payload.Size() <= g.retained()
	p.judged, p.docs, p.errs, p.listed, p.tooMany, p.units, p.elsewhere = p.judged[:0], nil, nil, nil, false, nil, nil
	p.yields, p.yielded = nil, false
	p.base = g.NewID()
	if !p.retained {
		p.ids.close()
		if err := p.ids.spooled(g.SpoolDir); err != nil {
			return err
		}
	}
	err := p.format.Scan(in.Payload, p.ic, p.read, func(i int, b *edi.Body) error {
		if err := p.untilMessage(i); err != nil {
			return err
		}
		j, doc := g.judgeMessage(p, i, b)
		return p.keep(j, doc)
	})
	if err != nil {
		return fmt.Errorf("scan %s: %w", p.key.ID, err)
	}
	if err := errors.Join(p.untilMessage(len(p.ic.Messages)), p.ids.filled()); err != nil {
		return err
	}
	p.ic.Errors = append(p.ic.Errors, p.notes...)
	if !g.IsOurs(p.owner.Organisation, p.ic.Recipient) {
		p.ic.Errors = append(p.ic.Errors, &edi.Error{Code: "recipient-unknown", Standard: byX12(p.ic, "7", "009"), Severity: edi.SeverityError,
			Text:     fmt.Sprintf("Recipient %s is none of our addresses.", address(p.ic.Recipient)),
			Location: edi.Location{Offset: p.ic.Offset, Segment: 1, Tag: headerTag(p.ic), Element: recipientElement(p.ic)}})
	}
	if p.tooMany {
		p.ic.Errors = append(p.ic.Errors, &edi.Error{Code: "too-many-errors", Standard: "18", Severity: edi.SeverityError,
			Text:     fmt.Sprintf("More than %d messages have findings, and some of the others are refused.", maxRemembered),
			Location: edi.Location{Offset: p.ic.Offset, Segment: 1, Tag: headerTag(p.ic)}})
	}
	for i := range p.judged {
		if p.ic.Refused(i) { // the sender's fault, whatever our handler said
			if p.judged[i].fate == dedup.DeadMsg {
				delete(p.errs, i)
			}
			delete(p.yields, i)
			p.judged[i] = judgement{fate: dedup.RefusedMsg}
		}
	}
	if err := p.readAnswers(in); err != nil {
		return err
	}
	p.arrival.Messages = p.ic.Messages
	p.arrival.Content, p.arrival.ContentVersion = p.ic.ContentSHA256, edi.ContentVersion
	p.prepared = true
	return nil
}

// byX12 is a code of 0085, or the one of X12 that says the same there.
func byX12(ic *edi.Interchange, edifact, x12 string) string {
	if ic.Syntax == "x12" {
		return x12
	}
	return edifact
}

func headerTag(ic *edi.Interchange) string {
	if ic.Syntax == "x12" {
		return "ISA"
	}
	return "UNB"
}

func recipientElement(ic *edi.Interchange) int {
	if ic.Syntax == "x12" {
		return 8
	}
	return 3
}

// untilMessage refuses the messages before i that were not visited since their
// trailer is missing.
func (p *part) untilMessage(i int) error {
	for len(p.judged) < i {
		if err := p.keep(judgement{fate: dedup.RefusedMsg}, nil); err != nil {
			return err
		}
	}
	return nil
}

// keep notes what was found of the next message.
func (p *part) keep(j judgement, doc *documents.Document) error {
	if j.fate == dedup.Posted {
		p.noteUnits(len(p.judged), doc)
	}
	p.judged = append(p.judged, j)
	if len(p.judged) <= maxListed {
		n := ""
		if doc != nil {
			n = doc.Number
		}
		p.listed = append(p.listed, n)
	}
	if p.retained {
		p.docs = append(p.docs, doc)
	}
	var id identity
	if doc != nil {
		id = identity{doc.GuardKey(), doc.GuardContent()}
	}
	return p.ids.add(id)
}

// judgeMessage maps message i. A handler that panics has failed on this
// content: the message is dead, which is ours and lasting.
func (g *Gateway) judgeMessage(p *part, i int, b *edi.Body) (judgement, *documents.Document) {
	m := &p.ic.Messages[i]
	if edi.Worst(p.ic.MessageErrors[i]) >= edi.SeverityError {
		return p.refuse(i), nil
	}
	if !slices.Contains(p.owner.Types, m.Type.Type) {
		return p.refuse(i, unsupported(p, m, b)), nil
	}
	doc, found, err := g.mapMessage(p, i, b)
	if err != nil {
		g.Log.Error("handler failed", "partner", p.owner.ID, "message_id", p.key.ID, "message", m.Reference, "type", m.Type.Type, "err", err)
		p.remember(i, []*edi.Error{{Code: "not-processed", Severity: edi.SeverityNote,
			Text: "The message was kept; processing it failed on our side.", Location: b.Segments[0].Location(0, 0)}})
		return judgement{fate: dedup.DeadMsg}, nil
	}
	sound, errs := documents.Judge(p.owner.Policy.Checks, p.ic.Syntax, doc, found)
	p.remember(i, errs)
	if edi.Worst(found) >= edi.SeverityError || doc == nil {
		return judgement{fate: dedup.RefusedMsg}, nil
	}
	doc.ID = documentID(p.base, i)
	j := judgement{fate: dedup.Posted, revision: uint8(doc.Revision()), class: uint8(max(0, slices.Index(classes[:], doc.Class)))}
	if sound == nil { // by the policy
		j.fate = dedup.RefusedMsg
		p.mayYield(i, found)
	}
	return j, doc
}

func unsupported(p *part, m *edi.Message, b *edi.Body) *edi.Error {
	at := b.Segments[0].Location(2, 1)
	if p.ic.Syntax == "x12" {
		at = b.Segments[0].Location(1, 1)
	}
	return &edi.Error{Code: unsupportedType, Standard: byX12(p.ic, "14", "1"), Severity: edi.SeverityError,
		Text: fmt.Sprintf("%s is not accepted from %s; accepted are %v.", m.Type.Type, p.owner.ID, p.owner.Types), Location: at}
}

const unsupportedType = "unsupported-message-type"

// onlyUnsupported reports whether every refused message is of a type that the
// partner may not send, and nothing else is wrong.
func (p *part) onlyUnsupported() bool {
	n := 0
	for i := range p.judged {
		if p.judged[i].fate != dedup.RefusedMsg {
			continue
		}
		if !p.judged[i].unsupported {
			return false
		}
		n++
	}
	return n > 0 && len(p.taken) == 0 && edi.Worst(p.ic.Errors) < edi.SeverityError
}

// mapMessage runs the handler for the message's type. What becomes of what it found is
// the partner's policy's to say: documents.Judge.
func (g *Gateway) mapMessage(p *part, i int, b *edi.Body) (doc *documents.Document, errs []*edi.Error, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	m := &p.ic.Messages[i]
	for h := range g.Handlers {
		if g.Handlers[h].Type == m.Type.Type {
			doc, errs = g.Handlers[h].Map(p.ic, i, b, &documents.Reading{Roles: p.owner.Policy.Roles, Checks: p.owner.Policy.Checks})
			return doc, errs, nil
		}
	}
	doc, errs = documents.Generic(p.ic, i, b)
	return doc, errs, nil
}

// documentID gives message i of an interchange its document's id: that of the
// interchange with i in its last 20 bits, so that a second reading gives the
// same ones and none has to be kept, and documents are listed as they stood.
func documentID(base uuid.UUID, i int) uuid.UUID {
	base[12], base[13], base[14], base[15] = base[12]^byte(i>>24), base[13]&0xf0^byte(i>>16), byte(i>>8), byte(i)
	return base
}

// documentsOf reads messages of an interchange once more, maps them, and hands
// their documents to each in turn.
func (g *Gateway) documentsOf(p *part, messages []int32, each func(i int, d *documents.Document) error) error {
	again := p.format.Again(p.payload, p.ic, p.read)
	for _, m := range messages {
		i := int(m)
		b, err := again(i)
		if err != nil {
			return fmt.Errorf("read %s again: %w", p.key.ID, err)
		}
		doc, found, err := g.mapMessage(p, i, b)
		doc, _ = documents.Judge(p.owner.Policy.Checks, p.ic.Syntax, doc, found)
		if err != nil || doc == nil {
			return errors.Join(fmt.Errorf("message %d of %s read differently the second time", i, p.key.ID), err)
		}
		doc.ID = documentID(p.base, i)
		if err := each(i, doc); err != nil {
			return err
		}
	}
	return nil
}

// numbers gives the document numbers of messages that were mapped.
func (g *Gateway) numbers(p *part, messages []int) ([]string, error) {
	list := make([]string, 0, len(messages))
	var unknown []int32
	for _, i := range messages {
		if !p.retained {
			unknown = append(unknown, int32(i))
			continue
		}
		list = append(list, numberOf(p, i))
	}
	err := g.documentsOf(p, unknown, func(_ int, d *documents.Document) error {
		list = append(list, d.Number)
		return nil
	})
	return list, err
}
