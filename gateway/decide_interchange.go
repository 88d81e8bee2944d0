package gateway

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
)

// decideInterchange says what becomes of the payload that drifted and of what
// stands under its key: the table of decisions, kind interchange. The document
// guard comes after it.
func (x *deciding) decideInterchange() error {
	k := x.key
	v, err := x.payloadOf(k)
	if err != nil {
		return err
	}
	if v.ViaPurge && !x.row.WithoutOriginal {
		return refusal(NotApplicable, "there is no original under the key to %s: %s, %s and %s apply", x.d.Choice, KeepOriginal, ProcessAsNew, RejectAndNotify)
	}
	if x.in.parts[0].ic.PayloadSHA256 != v.SHA256 {
		return errStartAgain
	}
	x.pl = &plan{in: x.in}
	if !x.row.Posts {
		x.refuse(v)
		return nil
	}
	x.nextOpen = len(x.undecided(k)) > 1
	current := k.Current()
	p := x.in.parts[0]
	r := &result{p: p, row: &Row{Name: "decision", Effect: None}, verdict: Drift, key: k, variant: v}
	x.pl.results = []*result{r}
	x.pl.ruling = x.leave(v)
	if err := x.take(r); err != nil {
		return err
	}
	v.AlertID = x.alert.ID
	if x.row.Choice == ProcessAsNew {
		k.NextEpoch(v)
		return nil
	}
	v.Epoch = k.Epoch
	x.supersede(v, current)
	k.SetCurrent(v)
	return nil
}

// leave makes the ruling: which documents the guard leaves out since the decision
// supersedes them. They are those that the key brought in its current epoch, but
// for what stands in D byte for byte.
func (x *deciding) leave(v *dedup.Variant) *ruling {
	u := newRuling(x.row)
	if x.row.Choice != Replace {
		return u
	}
	stands := x.standing()
	inD := map[[32]byte]bool{}
	for i := range v.Messages {
		inD[v.Messages[i].SHA256] = true
	}
	for _, d := range x.brought {
		if d.Epoch == x.key.Epoch && !(inD[d.MessageSHA256] && stands[d.MessageSHA256]) {
			u.leave[d.ID] = d
		}
	}
	return u
}

// standing gives what is posted, absorbed or held in the current epoch, in
// variants not superseded.
func (x *deciding) standing() map[[32]byte]bool {
	s := map[[32]byte]bool{}
	for _, w := range x.key.Variants {
		if w.Epoch != x.key.Epoch || w.State == dedup.Superseded {
			continue
		}
		for i := range w.Messages {
			if w.Messages[i].Fate.Effective() {
				s[w.Messages[i].SHA256] = true
			}
		}
	}
	return s
}

// posted gives the documents that the key brought by the bytes of their messages, the
// last one where there are several.
func (x *deciding) posted() map[[32]byte]uuid.UUID {
	ids := make(map[[32]byte]uuid.UUID, len(x.brought))
	for _, d := range x.brought {
		ids[d.MessageSHA256] = d.ID
	}
	return ids
}

// take gives every message of D its fate; one that would not post is in the way
// of the whole decision.
func (x *deciding) take(r *result) error {
	p, v := r.p, r.variant
	done := had(x.key, v)
	if x.row.Choice == Replace {
		done = x.standing()
	}
	if len(p.judged) == 0 {
		return refusal(DoesNotPost, "the interchange holds no message: %s", faults(p.ic.Errors))
	}
	v.Messages = v.Messages[:0]
	here, posted := map[[32]byte]bool{}, x.posted()
	var why []string
	for i := range p.judged {
		m := dedup.MessageState{SHA256: p.ic.Messages[i].SHA256, Fate: dedup.Posted, Revision: p.arrival.Revision}
		switch f := p.judged[i].fate; {
		case done[m.SHA256], here[m.SHA256]:
			m.Fate = dedup.Absorbed
			if d, ok := posted[m.SHA256]; ok {
				r.link(i, d)
			}
		case f == dedup.Posted:
			here[m.SHA256] = true
			r.posts = append(r.posts, int32(i))
		case f == dedup.DeadMsg:
			why = append(why, fmt.Sprintf("message %d: processing it fails on our side", i+1))
		default:
			errs := append(onlyErrors(p.ic.MessageErrors[i]), onlyErrors(p.errs[i])...)
			if g := p.ic.Messages[i].Group; g >= 0 {
				errs = append(errs, onlyErrors(p.ic.Groups[g].Errors)...)
			}
			why = append(why, fmt.Sprintf("message %d is refused: %s", i+1, faults(append(errs, onlyErrors(p.ic.Errors)...))))
		}
		v.Messages = append(v.Messages, m)
	}
	if len(why) > 0 {
		return &Refusal{DoesNotPost, why}
	}
	v.State = dedup.Accepted
	v.Content, v.ContentVersion = p.ic.ContentSHA256, contentVersion(p)
	x.key.Touch(v)
	return nil
}

func faults(errs []*edi.Error) string {
	texts := make([]string, 0, len(errs))
	for _, e := range errs {
		if len(texts) < 5 {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) == 0 {
		return "it cannot be read"
	}
	return strings.Join(texts, " ")
}

// supersede puts v in the place of the current variant and of every other
// accepted or partly one of the epoch. What is dead in them counts as discarded;
// what is held and not in v is closed.
func (x *deciding) supersede(v, current *dedup.Variant) {
	in := map[[32]byte]bool{}
	for i := range v.Messages {
		in[v.Messages[i].SHA256] = true
	}
	for _, w := range x.key.Variants {
		if w == v || w.Epoch != x.key.Epoch || w.State == dedup.Quarantined || w.State == dedup.Refused || w.State == dedup.Superseded {
			continue
		}
		if w != current && w.State != dedup.Accepted && w.State != dedup.Partly {
			continue
		}
		w.State = dedup.Superseded
		held := false
		for i := range w.Messages {
			switch m := &w.Messages[i]; {
			case m.Fate.IsDead():
				*m = dedup.MessageState{SHA256: m.SHA256, Fate: dedup.Discarded}
			case m.Fate == dedup.Held && x.row.Choice == Replace && !in[m.SHA256]:
				m.Fate = dedup.HeldClosed
			}
			held = held || w.Messages[i].Fate == dedup.Held
		}
		x.key.Touch(w)
		for _, a := range x.in.alerts[x.key.Ref] {
			if a.Kind == dedup.KindDocument && a.Undecided() && !held && len(a.Digests) == 1 && string(a.Digests[0]) == string(w.SHA256[:]) {
				x.settled = append(x.settled, a)
			}
		}
	}
}

// refuse decides against the payload, or where none was named against all of the
// alert. After a held drift the answer stays positive, so that a notice is due.
func (x *deciding) refuse(v *dedup.Variant) {
	list := []*dedup.Variant{v}
	open := x.undecided(x.key)
	if x.d.Digest == nil {
		list = open
	}
	x.nextOpen = len(open) > len(list)
	for _, w := range list {
		w.State = dedup.Refused
		x.key.Touch(w)
		x.refused = append(x.refused, w)
		x.told = append(x.told, Answer(w.Answer).positive())
	}
}

// restate derives D's state again after the guard and writes its new answer.
func (x *deciding) restate() {
	r := x.pl.results[0]
	v := r.variant
	if v.State != dedup.Superseded {
		v.State = dedup.StateOf(v.Messages, r.empty())
	}
	for i := range v.Messages {
		if v.Messages[i].Fate == dedup.Absorbed && x.row.Kind == dedup.KindInterchange {
			x.did.Absorbed++
		}
	}
	x.g.answerAfresh(x.pl, r, Tell(&r.p.arrival, v, r.p.onlyUnsupported()))
}

func newRuling(row *DecisionRow) *ruling {
	return &ruling{row: row, leave: map[uuid.UUID]*documents.Brought{}, over: map[uuid.UUID]bool{}, why: map[int]string{}}
}
