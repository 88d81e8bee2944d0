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
	x.pl = &plan{in: x.in, guards: map[dedup.GuardRef]*dedup.Guard{}}
	if !x.row.Posts {
		return x.closeHeld(v)
	}
	p := x.in.parts[0]
	r := &result{p: p, row: &Row{Name: "decision", Effect: None}, verdict: First, key: x.key, variant: v}
	x.pl.results, x.pl.ruling = []*result{r}, newRuling(x.row)
	if len(p.judged) != len(v.Messages) {
		return refusal(DoesNotPost, "the interchange is read as %d messages now, as %d before", len(p.judged), len(v.Messages))
	}
	numbers := map[string]bool{}
	for _, n := range x.alert.Documents {
		numbers[n] = true
	}
	var why []string
	for i := range v.Messages {
		if v.Messages[i].Fate != dedup.Held || !numbers[numberOf(p, i)] {
			for _, d := range x.brought {
				if d.MessageSHA256 == v.Messages[i].SHA256 {
					r.link(i, d.ID)
				}
			}
			continue
		}
		if p.judged[i].fate != dedup.Posted {
			why = append(why, fmt.Sprintf("message %d is not posted any more: %s", i+1, faults(append(onlyErrors(p.ic.MessageErrors[i]), onlyErrors(p.errs[i])...))))
			continue
		}
		v.Messages[i].Fate = dedup.Posted
		r.posts = append(r.posts, post{r, i})
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
	others := false // an alert of another class on the same interchange
	for _, a := range x.in.alerts[x.key.Ref] {
		others = others || a.Kind == dedup.KindDocument && a.ID != x.alert.ID && a.Undecided() && len(a.Digests) == 1 && string(a.Digests[0]) == string(v.SHA256[:])
	}
	closed := 0
	for i := range v.Messages {
		if v.Messages[i].Fate == dedup.Held && (!others || slices.Contains(x.alert.Documents, numberOf(x.in.parts[0], i))) {
			v.Messages[i].Fate = dedup.HeldClosed
			closed++
		}
	}
	if closed == 0 {
		return decidedBefore(x.alert)
	}
	x.key.Touch(v)
	return nil
}
