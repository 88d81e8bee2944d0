package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/x12"
)

// judgedBy is what a 997 or 999 says of three sets and their group: AK501 or IK501
// of each set, AK901, and what was wrong with the second set.
type judgedBy struct {
	verdict string
	errors  []string // "720 3 BHT 2": list, code, and the place in the set
	why     string   // it says nothing
}

// sets is a group of three sets, and the acknowledgements of it.
type sets struct {
	guide        *guide
	flaw         *flaw
	subject, ack string // files: what is judged, and our 997 or 999
	us           judgedBy
}

func (s *sets) name() string { return s.guide.name + " " + s.flaw.name }

// acknowledging has pyx12, which writes 997 and 999 of its own, judge the same sets
// as we do, and compares which are accepted and what for not. It has pyx12 judge
// ours by its maps of 997 and 999, and us read what it wrote.
func (r *run) acknowledging(ctx context.Context, dir string) error {
	list, err := r.writeSets(dir)
	if err != nil {
		return err
	}
	var files []string
	for _, s := range list {
		files = append(files, s.subject, s.ack)
	}
	lines, err := peers.Lines(ctx, r.dir, "pyx12", "pyx12_acknowledge.py", files...)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "%-44s%-10s%-12s%-12s%-14s%s\n", "997 of 276, 999 of 834", "standard", "edigw", "pyx12", "ours is, by", "errors, ours / pyx12's")
	fmt.Fprintf(r.out, "%-44s%-10s%-12s%-12s%-14s\n", "", "", "", "", "pyx12's maps")
	for i := range list {
		s := &list[i]
		_, text, _ := strings.Cut(lines[s.subject], "\t")
		them := read999([]byte(text))
		word, _, _ := strings.Cut(lines[s.ack], "\t")
		fmt.Fprintf(r.out, "%-44s%-10s%-12s%-12s%-14s%s\n", s.name(), s.flaw.verdict,
			r.settle(s, "edigw", s.us.verdict, fits(s.us.verdict, s.flaw.verdict)),
			r.settle(s, "pyx12", them.verdict, fits(them.verdict, s.flaw.verdict)),
			r.settle(s, "pyx12 of ours", word, word == "sound"),
			r.settle(s, "errors", compareErrors(s.us.errors, them.errors), slices.Equal(s.us.errors, them.errors)))
		if them.why != "" {
			r.departures = append(r.departures, fmt.Sprintf("failed: %s: pyx12's acknowledgement is not read: %s", s.name(), them.why))
			r.failed++
		}
	}
	return nil
}

// writeSets writes all sets with all flaws, and our acknowledgements of them.
func (r *run) writeSets(dir string) (list []sets, err error) {
	for i := range guides {
		for k := range flaws {
			text, is := guides[i].interchange(100*(i+1)+k, &flaws[k])
			if !is {
				continue
			}
			s := sets{guide: &guides[i], flaw: &flaws[k]}
			s.subject = filepath.Join(dir, fmt.Sprintf("set%d-%02d.x12", i, k))
			s.ack = filepath.Join(dir, fmt.Sprintf("ack%d-%02d.x12", i, k))
			_, answers, err := r.read("x12", []byte(text), edi.StructureRefused)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name(), err)
			}
			if len(answers) != 1 {
				return nil, fmt.Errorf("%s: %d acknowledgements, want one", s.name(), len(answers))
			}
			if s.us = read999(answers[0].text); s.us.why != "" {
				return nil, fmt.Errorf("%s: our acknowledgement: %s", s.name(), s.us.why)
			}
			if err := errors.Join(os.WriteFile(s.subject, []byte(text), 0o600), os.WriteFile(s.ack, answers[0].text, 0o600)); err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// settle counts an answer, which is right or departs as departing tells.
func (r *run) settle(s *sets, who, answer string, right bool) string {
	why, is := departing[who][s.name()]
	if all, of := departing[who][s.flaw.name]; of && !is {
		why, is = all, true
	}
	if all, of := departing[who][s.flaw.verdict]; of && !is {
		why, is = all, true
	}
	if right == is {
		r.failed++
		r.departures = append(r.departures, fmt.Sprintf("failed: %s: %s says %s, not as judged %s", s.name(), who, answer, why))
		return answer + " FAILED"
	}
	r.ok++
	if right {
		return answer
	}
	name := s.name()
	if departing[who][name] == "" {
		name = s.flaw.name
	}
	if departing[who][name] == "" {
		name = s.flaw.verdict
	}
	if line := fmt.Sprintf("%s, %s: %s", who, name, why); !slices.Contains(r.departures, line) {
		r.departures = append(r.departures, line)
	}
	return answer + " *"
}

// fits reports whether a verdict is the standard's, whose "-" leaves a set open.
func fits(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	if len(g) != len(w) {
		return false
	}
	for i := range w {
		if w[i] != "-" && g[i] != w[i] {
			return false
		}
	}
	return true
}

func compareErrors(ours, theirs []string) string {
	if slices.Equal(ours, theirs) {
		return strings.Join(ours, ", ")
	}
	return strings.Join(ours, ", ") + " / " + strings.Join(theirs, ", ")
}

// read999 reads a 997 or 999 as the gateway does.
func read999(text []byte) (j judgedBy) {
	p, r := edi.Bytes(text), x12.Reader{}
	ic, err := r.Split(p, 0)
	if err == nil {
		err = r.Scan(p, ic, func(int, *edi.Body) error { return nil })
	}
	if err != nil {
		return judgedBy{why: err.Error()}
	}
	var verdict []string
	group := ""
	err = r.Answers(p, ic, func(a edi.Answer) error {
		for i := range a.Judgements {
			switch word := &a.Judgements[i]; word.Level {
			case edi.LevelGroup:
				group = word.Action
			case edi.LevelMessage:
				verdict = append(verdict, word.Action)
				if len(verdict) == 2 {
					for _, o := range word.Objections {
						j.errors = append(j.errors, objection(&o))
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return judgedBy{why: err.Error()}
	}
	j.verdict = strings.Join(append(verdict, group), " ")
	return j
}

// objection is "718 4", "720 3 BHT 2" or "723 1 TRN 12.2": list, code and place.
func objection(o *edi.Objection) string {
	text := o.List + " " + o.Code
	if o.Place.Segment > 0 {
		text += fmt.Sprintf(" %s %d", o.Place.Tag, o.Place.Segment)
	}
	if o.Place.Element > 0 {
		text += fmt.Sprintf(".%d", o.Place.Element)
	}
	return text
}
