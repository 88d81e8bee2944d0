package gateway

import (
	"fmt"
	"slices"

	"github.com/edigw/edigw/dedup"
)

// decideHeld says what becomes of the messages that the document guard holds:
// the table of decisions, kind document.
func (x *deciding) decideHeld() error {
	v, err := x.payloadOf(x.key)
	if err != nil {
		return err
	}
	if x.row.Posts && x.in.parts[0].ic.PayloadSHA256 != v.SHA256 {
		return errStartAgain
	}
	x.pl = &plan{in: x.in}
	if !x.row.Posts {
		return x.closeHeld(v)
	}
	p := x.in.parts[0]
	r := &result{p: p, row: &Row{Name: "decision", Effect: None}, verdict: First, key: x.key, variant: v}
	x.pl.results, x.pl.ruling = []*result{r}, newRuling(x.row)
	if len(p.judged) != len(v.Messages) {
		return refusal(DoesNotPost, "the interchange is read as %d messages now, as %d before", len(p.judged), len(v.Messages))
	}
	held, err := x.held(v)
	if err != nil {
		return err
	}
	x.stood = held
	var why []string
	posted := x.posted()
	for i := range v.Messages {
		if _, is := slices.BinarySearch(held, i); !is { // held is in order
			if d, ok := posted[v.Messages[i].SHA256]; ok {
				r.link(i, d)
			}
			continue
		}
		if p.judged[i].fate != dedup.Posted {
			why = append(why, fmt.Sprintf("message %d is not posted any more: %s", i+1, faults(append(onlyErrors(p.ic.MessageErrors[i]), onlyErrors(p.errs[i])...))))
			continue
		}
		v.Messages[i].Fate = dedup.Posted
		r.posts = append(r.posts, int32(i))
	}
	switch {
	case len(why) > 0:
		return &Refusal{DoesNotPost, why}
	case len(r.posts) == 0:
		return decidedBefore(x.alert)
	}
	x.key.Touch(v)
	return nil
}

// closeHeld leaves the messages held, for good.
func (x *deciding) closeHeld(v *dedup.Variant) error {
	held, err := x.held(v)
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return decidedBefore(x.alert)
	}
	x.stood = held
	for _, i := range held {
		v.Messages[i].Fate = dedup.HeldClosed
	}
	x.key.Touch(v)
	return nil
}

// held gives the alert's held messages, in order: all that are held, or where the
// guard opened several alerts on the interchange those of this one's class.
func (x *deciding) held(v *dedup.Variant) ([]int, error) {
	var all []int
	for i := range v.Messages {
		if v.Messages[i].Fate == dedup.Held {
			all = append(all, i)
		}
	}
	alone := !slices.ContainsFunc(x.in.alerts[x.key.Ref], func(a *dedup.Alert) bool {
		return a.Kind == dedup.KindDocument && a.ID != x.alert.ID && a.Undecided() && len(a.Digests) == 1 && string(a.Digests[0]) == string(v.SHA256[:])
	})
	p := x.in.parts[0]
	if alone || len(p.judged) != len(v.Messages) {
		return all, nil
	}
	numbers, err := x.g.numbers(p, all)
	if err != nil {
		return nil, err
	}
	for n, i := range all {
		if slices.Contains(x.alert.Documents, numbers[n]) {
			class := p.judged[i].class
			return slices.DeleteFunc(all, func(j int) bool { return p.judged[j].class != class }), nil
		}
	}
	return nil, nil
}
