package gateway

import (
	"context"
	"errors"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// maxAbroad bounds the interchanges of one payload that a partner is advised on.
const maxAbroad = 100

// tells reports whether a notice is due to the partner on a payload that is refused.
func (x *deciding) tells(v *dedup.Variant) bool {
	return adviseTarget(x.owner) != "" && (x.row.Notifies || Answer(v.Answer).positive())
}

// readRefused reads what the decision would refuse, v or where none was named all of the
// alert, as far as the partner is to be advised on it.
func (x *deciding) readRefused(ctx context.Context, k *dedup.Key, v *dedup.Variant) error {
	if x.row.Kind != dedup.KindInterchange || x.row.Posts {
		return nil
	}
	list := []*dedup.Variant{v}
	if x.d.Digest == nil {
		list = x.undecided(k)
	}
	for _, w := range list {
		if _, read := x.refusing[w.SHA256]; read || !x.tells(w) {
			continue
		}
		p, err := x.g.storedEnvelope(ctx, k.Ref, w, x.owner, nil)
		if err != nil {
			return err
		}
		if x.refusing == nil {
			x.refusing = map[[32]byte]*part{}
		}
		x.refusing[w.SHA256] = p
	}
	return nil
}

// readAbroad reads the interchanges of a payload that drifted under its transport id:
// the partner's own, since who sent the others is not advised by his ways.
func (x *deciding) readAbroad(ctx context.Context, partner string, v *dedup.Variant) error {
	if x.abroad != nil || !x.tells(v) {
		return nil
	}
	body, err := x.g.readStored(ctx, partner, v)
	if r := (*Refusal)(nil); errors.As(err, &r) { // no longer kept
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it has no name: it is gone, whatever closing says
	in, err := x.g.split(&Delivery{Transport: "decision", Partner: x.owner, Payload: body.Payload, SHA256: v.SHA256, Received: x.g.Now(),
		Render: func(*Receipt) (Rendered, error) { return Rendered{}, nil }})
	if r := (*Rejection)(nil); errors.As(err, &r) { // it cannot be read
		return nil
	}
	if err != nil {
		return err
	}
	defer in.close()
	for _, p := range in.parts[:min(len(in.parts), maxAbroad)] {
		if p.owner.ID != x.owner.ID || p.fault != nil || !p.advises() {
			continue
		}
		if err := x.g.envelopeOf(ctx, p, body.Payload, nil); err != nil {
			return err
		}
		x.abroad = append(x.abroad, p)
	}
	return nil
}

// advices are the APERAK or 824 that tell the partner what the decision has done to what
// he was told of, or asked to be told about.
func (x *deciding) advices() (list []outbox.Event, err error) {
	now := x.in.now
	add := func(e *outbox.Event, failed error) {
		if e != nil {
			list = append(list, *e)
		}
		err = errors.Join(err, failed)
	}
	refused := func(p *part, text string) {
		add(x.g.advise(p, now, edi.Advice{Acceptance: edi.Rejected, Reason: edi.AdviceDrift, Text: text + reasonsAdvised[x.d.Reason]}))
	}
	switch {
	case x.row.Kind == dedup.KindDocument && x.row.Posts:
		add(x.g.adviseOn(x.in.parts[0], now, x.stood, edi.Advice{Acceptance: edi.Accepted, Reason: edi.AdviceTaken, Text: adviseTaken}))
	case x.row.Kind == dedup.KindDocument:
		add(x.g.adviseOn(x.in.parts[0], now, x.stood, edi.Advice{Acceptance: edi.Rejected, Reason: edi.AdviceKnown, Text: adviseKnown + reasonsAdvised[x.d.Reason]}))
	case len(x.refused) > 0: // of kind transport
		for _, p := range x.abroad {
			refused(p, adviseAbroad)
		}
	}
	for i, v := range x.refused {
		p := x.refusing[v.SHA256]
		switch {
		case p == nil || !x.row.Notifies && !x.told[i]:
		case v.ViaPurge:
			refused(p, adviseOld)
		default:
			refused(p, adviseDrift)
		}
	}
	return list, err
}
