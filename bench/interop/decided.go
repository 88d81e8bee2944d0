package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/edi"
)

// text is one file that is read: a situation, or our acknowledgement of one.
type text struct {
	situation
	file  string
	us    peers.Answer
	judge bool // it takes tables to say something of it
}

// decided has everybody read the situations, and our acknowledgements of them,
// and compares with the standard.
func (r *run) decided(ctx context.Context, dir string) error {
	texts, err := r.write(dir)
	if err != nil {
		return err
	}
	var files []string
	for _, t := range texts {
		files = append(files, t.file)
	}
	answers, err := r.ask(ctx, files)
	if err != nil {
		return err
	}
	r.heading("%-8s%-64s%-10s%-10s", "", "", "standard", "edigw")
	for _, t := range texts {
		fmt.Fprintf(r.out, "%-8s%-64s%-10s%-10s", t.syntax, t.name, word(t.sound), r.judge("edigw", t.situation, t.us, true))
		for k := range peers.All {
			p := &peers.All[k]
			if !p.Reads(t.syntax) || t.judge && !p.Judges {
				fmt.Fprintf(r.out, "%-14s", "")
				continue
			}
			a, said := answers[p.Name][t.file]
			fmt.Fprintf(r.out, "%-14s", r.judge(p.Name, t.situation, a, said && (!a.Read || !t.us.Read || a.Segments == t.us.Segments)))
		}
		fmt.Fprintln(r.out)
	}
	return nil
}

// write puts every situation, and our acknowledgement of it, into a file, and
// reads them.
func (r *run) write(dir string) (texts []text, err error) {
	add := func(s situation, judge bool) (acks []acknowledged, err error) {
		t := text{situation: s, file: filepath.Join(dir, fmt.Sprintf("%03d.%s", len(texts), s.syntax)), judge: judge}
		how := edi.StructureIgnored
		if judge {
			how = edi.StructureRefused
		}
		if t.us, acks, err = r.read(s.syntax, []byte(s.text), how); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		texts = append(texts, t)
		return acks, os.WriteFile(t.file, []byte(s.text), 0o600)
	}
	for i, s := range slices.Concat(situations, inside) {
		acks, err := add(s, i >= len(situations))
		if err != nil {
			return nil, err
		}
		for _, ack := range acks {
			if _, err := add(situation{"our " + ack.kind + " for: " + s.name, s.syntax, string(ack.text), true, "ours"}, false); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}

func word(read bool) string {
	if read {
		return "sound"
	}
	return "faulty"
}

// judge compares an answer with the standard. said is false where there is none,
// or where it tells another number of segments than we do.
func (r *run) judge(reader string, s situation, a peers.Answer, said bool) string {
	why, is := known[reader][s.name]
	if n := strings.Index(s.name, " for: "); n > 0 && !is {
		why, is = known[reader][s.name[:n]]
	}
	departs := !said || a.Read != s.sound
	switch {
	case departs && !is:
		r.failed++
		r.departures = append(r.departures, fmt.Sprintf("failed: %s, %s %s: %s, by %s; it says: %s %d", reader, s.syntax, s.name, word(s.sound), s.clause, a.Reason, a.Segments))
		return "FAILED"
	case !departs && is:
		r.failed++
		r.departures = append(r.departures, fmt.Sprintf("failed: %s, %s: departs no more (%s)", reader, s.name, why))
		return "FAILED"
	case departs:
		r.ok++
		r.departures = append(r.departures, fmt.Sprintf("%s is wrong, %s %s: %s (%s)", reader, s.syntax, s.name, why, s.clause))
		return word(a.Read) + " *"
	}
	r.ok++
	return word(a.Read)
}
