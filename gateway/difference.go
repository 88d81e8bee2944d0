package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
)

// comparison is what a part differs in from the current variant of its key.
type comparison struct {
	with     [32]byte // digest of that variant
	class    compare.Class
	severity compare.Severity
	words    string
}

// compareLimit bounds the payloads that are compared by segment while a partner
// waits; larger ones are told apart by their digests, and by segment when an
// operator looks.
const compareLimit = 8 << 20

// compare says what the part would change, where the table may call it a drift:
// its digest is unknown under a known key.
func (g *Gateway) compare(ctx context.Context, in *intake, p *part, k *dedup.Key) error {
	original := p.differsFrom(k)
	if original == nil {
		return nil
	}
	c := &comparison{with: original.SHA256}
	p.compared = c
	if max(p.ic.Length, original.Length) > compareLimit {
		c.tooLarge(p, original)
		return nil
	}
	g.reached("original known")
	leave, err := g.turn(ctx, in, lookUp)
	if err != nil {
		p.compared = nil
		return err
	}
	before, err := journal.ReadPayload(ctx, g.Pool, k.Partner, original.Payload.ID, original.Payload.Month, original.Offset, original.Length)
	leave()
	switch {
	case errors.Is(err, journal.ErrPurged) && original.Payload.Month.Equal(journal.Held) && !p.moved:
		// It was released since the key was read: another look says where to.
		p.compared, p.moved = nil, true
		return errStartAgain
	case errors.Is(err, journal.ErrPurged):
		c.class, c.severity = compare.OriginalPurged, compare.Medium
		return nil
	case err != nil:
		p.compared = nil
		return err
	}
	return g.atWork(ctx, in.Delivery, in.mayWait != nil, func() error {
		p.compared, err = g.difference(before, original.SHA256, p)
		return err
	})
}

// differsFrom gives the variant that the part is still to be compared with; nil where
// its digest is known, or nothing is known of the original's.
func (p *part) differsFrom(k *dedup.Key) *dedup.Variant {
	if k == nil || k.Find(p.ic.PayloadSHA256) != nil || k.Current() == nil || k.Current().NoDigest ||
		p.compared != nil && p.compared.with == k.Current().SHA256 {
		return nil
	}
	return k.Current()
}

// tooLarge judges by the digests alone.
func (c *comparison) tooLarge(p *part, original *dedup.Variant) {
	c.class, c.severity, c.words = compare.Business, compare.High, "too large to compare while receiving"
	if sameContent(&p.arrival, original) {
		c.class, c.severity = compare.Envelope, compare.Low
	}
}

// difference says what p changes against the original's bytes.
func (g *Gateway) difference(before []byte, sha [32]byte, p *part) (*comparison, error) {
	a, err := g.side(edi.Bytes(before), p.read, nil)
	if err != nil {
		return nil, err
	}
	after, err := p.whole()
	if err != nil {
		return nil, err
	}
	b, err := g.side(edi.Bytes(after), p.read, a)
	if err != nil {
		return nil, err
	}
	d := compare.Diff(a, b, compare.Names{})
	return &comparison{with: sha, class: d.Class, severity: d.Severity, words: d.Words()}, nil
}

// side parses one side of a comparison.
func (g *Gateway) side(p *edi.Payload, o Reading, other *compare.Interchange) (*compare.Interchange, error) {
	f, err := formatAt(p, g.Formats, 0)
	if err != nil {
		return nil, err
	}
	ic, err := f.Split(p, 0, o)
	var fault *edi.Error
	if errors.As(err, &fault) {
		return compare.Unreadable(fault.Text), nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	b := compare.Builder{Envelope: ic, Payload: p}
	if other != nil {
		b.Other = other.Envelope
	}
	if err := f.Scan(p, ic, o, b.Visit); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return b.Interchange(), nil
}

// sameContent gives the class of a difference that leaves the content digest
// equal, for row I11.
func (c *comparison) sameContent(k *dedup.Key) string {
	if c == nil || k == nil || k.Current() == nil || c.with != k.Current().SHA256 {
		return ""
	}
	return string(c.class)
}

// decideDrift quarantines an unknown digest under a known key.
func (g *Gateway) decideDrift(pl *plan, r *result) error {
	p := r.p
	purged := r.row.Name == "I1"
	c := p.compared
	switch {
	case purged:
		c = &comparison{class: compare.OriginalPurged, severity: compare.Medium,
			words: "dated " + p.ic.Date + ", before the dedup window: it may have been processed when it was new"}
	case c == nil || r.key.Current().SHA256 != c.with:
		return errStartAgain // the key changed since it was prepared for
	}
	v := g.newVariant(pl, r)
	v.State, v.ViaPurge = dedup.Quarantined, purged
	r.drift = g.openDrift(pl, r, c, "open", "")
	v.AlertID = r.drift.alert.ID
	g.answerAfresh(pl, r, tellDrift(p.owner.Policy.OnDrift))
	return nil
}

// compareWithin compares p with an interchange of the same delivery that became
// the key's current one just now.
func (g *Gateway) compareWithin(in *intake, p *part, k *dedup.Key) error {
	original := p.differsFrom(k)
	if original == nil || !p.prepared {
		return nil
	}
	for _, q := range in.parts {
		if q.key != p.key || q.ic.PayloadSHA256 != original.SHA256 {
			continue
		}
		if max(p.ic.Length, q.ic.Length) > compareLimit {
			p.compared = &comparison{with: original.SHA256}
			p.compared.tooLarge(p, original)
			return nil
		}
		before, err := q.whole()
		if err != nil {
			return err
		}
		p.compared, err = g.difference(before, original.SHA256, p)
		return err
	}
	return nil
}

// openDrift opens an alert, or adds a further digest to the one that waits for a
// decision under this key.
func (g *Gateway) openDrift(pl *plan, r *result, c *comparison, state, reason string) *driftChange {
	p := r.p
	a := &dedup.Alert{Partner: p.owner.ID, Kind: dedup.KindInterchange, MessageID: r.key.ID, Epoch: r.key.Epoch, State: state,
		Class: string(c.class), Severity: string(c.severity), Headline: c.words, Reason: reason,
		Digests: [][]byte{slices.Clone(p.ic.PayloadSHA256[:])}, Test: p.ic.Test}
	if c.with != ([32]byte{}) {
		a.Original = slices.Clone(c.with[:])
	}
	if state == "open" {
		for _, known := range pl.in.alerts[r.key.Ref] {
			if known.Kind != dedup.KindInterchange || !known.Undecided() {
				continue
			}
			classes := append(known.Classes(), string(c.class))
			if n := len(classes); n >= 3 && !slices.ContainsFunc(classes[n-3:], func(s string) bool { return s != string(compare.DifferentDocument) }) {
				a.Proposal = "control_reference: unreliable"
			}
			a.ID = known.ID
			known.SetClasses(classes)
			return &driftChange{alert: a, added: true}
		}
	}
	a.ID = g.NewID()
	known := *a // a later interchange of this delivery joins it
	known.SetClasses([]string{string(c.class)})
	pl.in.alerts[r.key.Ref] = append(pl.in.alerts[r.key.Ref], &known)
	return &driftChange{alert: a, opened: true}
}

// whole gives the interchange's bytes.
func (p *part) whole() ([]byte, error) { return p.payload.Slice(p.ic.Offset, p.ic.Length) }
