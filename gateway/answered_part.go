package gateway

import (
	"strconv"
	"strings"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// means reports whether the answer is to what was sent under the name, and takes what
// it says of it: of a CONTRL its message, else its interchange; of what answers in X12
// the worst of the sets that it names, else their group.
func (h *heard) means(s *outbox.Sent) bool {
	h.of, h.part = nil, ""
	switch h.answer.Kind {
	case "CONTRL", "TA1":
		if (h.answer.Kind == "CONTRL") != (s.Type == "CONTRL" || s.Type == "APERAK") { // each is of its own syntax
			return false
		}
		h.says, h.of = h.answer.On(s.Group, s.Message)
	case "997", "999":
		g := sentGroup(s, h.group)
		if g == nil {
			return false
		}
		h.part = g.Reference
		h.says, h.of = h.onSets(g)
	case "824":
		j := &h.answer.Judgements[0]
		g := sentGroup(s, h.group)
		if g == nil || j.Reference != "" && !ofSet(g, j) {
			return false
		}
		h.part = g.Reference
		if j.Reference != "" {
			h.part += "/" + j.Reference
		}
		h.says, h.of = j.Acceptance, j
	default:
		h.of = &h.answer.Judgements[0]
		h.says = h.of.Acceptance
	}
	if h.of == nil || h.part == "" && h.of.Type != nil && h.of.Type.Type != s.Type {
		return false
	}
	if edi.Worst(h.answer.Findings) >= edi.SeverityError && h.says != edi.Rejected { // it cannot be relied on
		h.says = edi.AcceptanceUnknown
	}
	return true
}

// sentGroup gives the group of ours that an answer names; nil where it is none. Of what
// was sent before groups were noted, the first alone is known, with its first set.
func sentGroup(s *outbox.Sent, reference string) *outbox.SentGroup {
	reference = strings.TrimLeft(reference, "0")
	if s.Groups == nil && s.Group != "" && strings.TrimLeft(s.Group, "0") == reference {
		return &outbox.SentGroup{Reference: reference, Form: s.Type, Sets: 1}
	}
	for i := range s.Groups {
		if s.Groups[i].Reference == reference {
			return &s.Groups[i]
		}
	}
	return nil
}

// ofSet reports whether a set that is judged is one of the group: ST02 counts from 1.
func ofSet(g *outbox.SentGroup, j *edi.Judgement) bool {
	n, err := strconv.Atoi(j.Reference)
	return err == nil && n >= 1 && n <= g.Sets && (j.Type == nil || j.Type.Type == "" || j.Type.Type == g.Form)
}

// onSets gives the worst that the answer says of the sets of a group of ours, and where;
// where it does not name all of them, the word on the group counts too. It says nothing
// of it where it names sets of others alone.
func (h *heard) onSets(g *outbox.SentGroup) (says edi.Acceptance, of *edi.Judgement) {
	var group *edi.Judgement
	named, others := map[string]bool{}, false
	for i := range h.answer.Judgements {
		j := &h.answer.Judgements[i]
		switch {
		case j.Level == edi.LevelGroup:
			group = j
		case j.Level != edi.LevelMessage:
		case !ofSet(g, j):
			others = true
		default:
			named[strings.TrimLeft(j.Reference, "0")] = true
			if of == nil || j.Acceptance > says {
				says, of = j.Acceptance, j
			}
		}
	}
	if of == nil && others {
		return says, nil
	}
	if group != nil && len(named) < g.Sets && (of == nil || group.Acceptance > says) {
		says, of = group.Acceptance, group
	}
	return says, of
}
