package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

// sampled has everybody read files that no one here wrote. No standard decides
// them beforehand: where a peer and we differ, judged.go says who is right.
func (r *run) sampled(ctx context.Context, dir string) error {
	names, files, us, err := r.copySamples(dir)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(r.out, "%s absent: no samples were read\n", r.samples)
		return nil
	}
	if err != nil {
		return err
	}
	answers, err := r.ask(ctx, files)
	if err != nil {
		return err
	}
	r.heading("%-44s%-14s", "", "edigw")
	for i, f := range files {
		if !us[i].Read {
			r.departures = append(r.departures, fmt.Sprintf("%s: we refuse it: %s", names[i], says(us[i])))
		}
		fmt.Fprintf(r.out, "%-44s%-14s", names[i], said(us[i]))
		for k := range peers.All {
			p := &peers.All[k]
			column := ""
			if p.Reads(strings.TrimPrefix(filepath.Ext(f), ".")) {
				column = r.compare(p, names[i], us[i], answers[p.Name][f])
			}
			fmt.Fprintf(r.out, "%-14s", column)
		}
		fmt.Fprintln(r.out)
	}
	return nil
}

// copySamples copies the samples to names that end in their syntax, and reads
// them.
func (r *run) copySamples(dir string) (names, files []string, us []peers.Answer, err error) {
	err = filepath.WalkDir(r.samples, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		syntax := "edifact"
		switch {
		case x12.Leads(raw):
			syntax = "x12"
		case !edifact.Leads(raw):
			return nil // the index, and the trees beside the examples of EN 16931
		}
		a, _, err := r.read(syntax, raw, edi.StructureNoted)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		file := filepath.Join(dir, d.Name()+"."+syntax)
		names, files, us = append(names, d.Name()), append(files, file), append(us, a)
		return os.WriteFile(file, raw, 0o600)
	})
	return names, files, us, err
}

func said(a peers.Answer) string {
	if a.Read {
		return strconv.Itoa(a.Segments)
	}
	return "refused"
}

// compare tells what a peer says of a sample and, where it differs from us, who
// is right.
func (r *run) compare(p *peers.Peer, name string, us, a peers.Answer) string {
	j := judged(name, p.Name)
	differs := us.Read != a.Read || us.Read && us.Segments != a.Segments
	if differs == (j == nil) {
		r.failed++
		r.departures = append(r.departures, fmt.Sprintf("failed: %s: %s says %s, we %s, not as judged", name, p.Name, says(a), says(us)))
		return said(a) + " FAILED"
	}
	r.ok++
	if !differs {
		if !a.Read {
			r.departures = append(r.departures, fmt.Sprintf("%s: %s refuses it too: %s", name, p.Name, says(a)))
		}
		return said(a)
	}
	r.departures = append(r.departures, fmt.Sprintf("%s: %s says %s, we %s; %s: %s", name, p.Name, says(a), says(us), j.who, j.why))
	return said(a) + " *"
}

func says(a peers.Answer) string {
	if a.Read {
		return strconv.Itoa(a.Segments) + " segments"
	}
	if len(a.Reason) > 200 {
		return a.Reason[:200] + " …"
	}
	return a.Reason
}
