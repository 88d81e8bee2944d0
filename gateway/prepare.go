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
// and lease the numbers of the acknowledgements.
func (g *Gateway) prepare(ctx context.Context, in *intake) error {
	if err := g.readMessages(ctx, in); err != nil {
		return err
	}
	before := map[dedup.Ref]bool{}
	for _, p := range in.parts {
		if p.key.ID == "" || p.fault != nil {
			continue
		}
		k := in.keys[p.key]
		after := before[p.key] // an interchange before it in this payload may change what it is
		before[p.key] = true
		if !after && !needsPreparing(p, k) {
			continue
		}
		if !p.prepared {
			if err := g.judge(in, p); err != nil {
				return err
			}
		}
		if err := g.compare(ctx, p, k); err != nil {
			return err
		}
		if p.number == "" {
			n, err := g.Numbers.Next(ctx, p.owner.ID, "interchange")
			if err != nil {
				return err
			}
			p.number = strconv.FormatInt(n, 10)
		}
	}
	return nil
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
	p.retained = p.ic.Length <= g.retained()
	p.judged, p.docs, p.errs, p.listed = p.judged[:0], nil, nil, nil
	p.base = g.NewID()
	err := p.format.Scan(in.Payload, p.ic, p.read, func(i int, b *edi.Body) error {
		p.untilMessage(i)
		j, doc := g.judgeMessage(p, i, b)
		p.keep(j, doc)
		return nil
	})
	if err != nil {
		return fmt.Errorf("scan %s: %w", p.key.ID, err)
	}
	p.untilMessage(len(p.ic.Messages))
	p.ic.Errors = append(p.ic.Errors, p.notes...)
	if !g.IsOurs(p.owner.Organisation, p.ic.Recipient) {
		p.ic.Errors = append(p.ic.Errors, &edi.Error{Code: "recipient-unknown", Standard: "7", Severity: edi.SeverityError,
			Text:     fmt.Sprintf("Recipient %s is none of our addresses.", address(p.ic.Recipient)),
			Location: edi.Location{Offset: p.ic.Offset, Segment: 1, Tag: headerTag(p.ic), Element: recipientElement(p.ic)}})
	}
	for i := range p.judged {
		if p.ic.Refused(i) { // the sender's fault, whatever our handler said
			if p.judged[i].fate == dedup.DeadMsg {
				delete(p.errs, i)
			}
			p.judged[i] = judgement{fate: dedup.RefusedMsg}
		}
	}
	p.arrival.Messages = make([][32]byte, len(p.ic.Messages))
	for i := range p.ic.Messages {
		p.arrival.Messages[i] = p.ic.Messages[i].SHA256
	}
	p.arrival.Content, p.arrival.ContentVersion = p.ic.ContentSHA256, edi.ContentVersion
	p.prepared = true
	return nil
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
func (p *part) untilMessage(i int) {
	for len(p.judged) < i {
		p.keep(judgement{fate: dedup.RefusedMsg}, nil)
	}
}

func (p *part) keep(j judgement, doc *documents.Document) {
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
	doc, errs, err := g.mapMessage(p, i, b)
	if err != nil {
		g.Log.Error("handler failed", "partner", p.owner.ID, "message_id", p.key.ID, "message", m.Reference, "type", m.Type.Type, "err", err)
		p.remember(i, []*edi.Error{{Code: "not-processed", Severity: edi.SeverityNote,
			Text: "The message was kept; processing it failed on our side.", Location: b.Segments[0].Location(0, 0)}})
		return judgement{fate: dedup.DeadMsg}, nil
	}
	p.remember(i, errs)
	if edi.Worst(errs) >= edi.SeverityError || doc == nil {
		return judgement{fate: dedup.RefusedMsg}, nil
	}
	doc.ID = documentID(p.base, i)
	return judgement{fate: dedup.Posted, guard: doc.GuardKey(), content: doc.GuardContent(), revision: uint8(doc.Revision()),
		class: uint8(max(0, slices.Index(classes[:], doc.Class)))}, doc
}

func unsupported(p *part, m *edi.Message, b *edi.Body) *edi.Error {
	return &edi.Error{Code: unsupportedType, Standard: "14", Severity: edi.SeverityError,
		Text:     fmt.Sprintf("%s is not accepted from %s; accepted are %v.", m.Type.Type, p.owner.ID, p.owner.Types),
		Location: b.Segments[0].Location(2, 1)}
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
		if len(p.errs[i]) != 1 || p.errs[i][0].Code != unsupportedType {
			return false
		}
		n++
	}
	return n > 0 && edi.Worst(p.ic.Errors) < edi.SeverityError
}

// mapMessage runs the handler for the message's type.
func (g *Gateway) mapMessage(p *part, i int, b *edi.Body) (doc *documents.Document, errs []*edi.Error, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	m := &p.ic.Messages[i]
	for h := range g.Handlers {
		if g.Handlers[h].Type == m.Type.Type {
			doc, errs = g.Handlers[h].Map(p.ic, i, b)
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

// documentsOf reads the interchange once more for the documents of the messages
// wanted, in order, and hands them to each.
func (g *Gateway) documentsOf(in *intake, p *part, wanted func(i int) bool, each func(i int, d *documents.Document) error) error {
	ic := *p.ic
	err := p.format.Scan(in.Payload, &ic, p.read, func(i int, b *edi.Body) error {
		if !wanted(i) {
			return nil
		}
		scanned := *p
		scanned.ic = &ic
		doc, _, err := g.mapMessage(&scanned, i, b)
		if err != nil || doc == nil {
			return errors.Join(fmt.Errorf("message %d read differently the second time", i), err)
		}
		doc.ID = documentID(p.base, i)
		return each(i, doc)
	})
	if err != nil {
		return fmt.Errorf("read %s again: %w", p.key.ID, err)
	}
	return nil
}
