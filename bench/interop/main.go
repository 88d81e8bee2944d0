// Command interop has other people's parsers read what ours reads: situations
// that the standard decides, and our own acknowledgements of them. It prints who
// reads what, and who is right where they differ.
//
//	go run ./bench/interop [-dir bin/peers]
//
// A combination, one text with one reader, is ok where the reader says what the
// standard says, or departs from it as known.go tells; it is failed otherwise,
// and for us wherever we depart.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/peers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := flag.String("dir", "bin/peers", "where the peers are fetched to")
	flag.Parse()
	r := run{dir: *dir, out: os.Stdout}
	if err := r.do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
	if r.failed > 0 {
		os.Exit(1)
	}
}

type run struct {
	dir        string
	out        io.Writer
	situations []situation
	files      []string // of the situations
	ok, failed int
	departures []string
}

func (r *run) do(ctx context.Context) error {
	if err := peers.Fetch(ctx, r.dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "interop")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	us, err := r.write(work)
	if err != nil {
		return err
	}
	answers := map[string]map[string]peers.Answer{}
	for i := range peers.All {
		p := &peers.All[i]
		var files []string
		for k, s := range r.situations {
			if p.Reads(s.syntax) {
				files = append(files, r.files[k])
			}
		}
		if answers[p.Name], _, err = p.Run(ctx, r.dir, files...); err != nil {
			return err
		}
	}
	r.table(us, answers)
	for _, d := range r.departures {
		fmt.Fprintln(r.out, d)
	}
	_, err = fmt.Fprintf(r.out, "%d combinations, %d ok, %d failed, 0 skipped\n", r.ok+r.failed, r.ok, r.failed)
	return err
}

// write puts every situation, and our acknowledgement of it, into a file, and
// gives what we say of each.
func (r *run) write(dir string) (us []peers.Answer, err error) {
	add := func(s situation, a peers.Answer) error {
		name := filepath.Join(dir, fmt.Sprintf("%03d.%s", len(r.files), s.syntax))
		r.situations, r.files, us = append(r.situations, s), append(r.files, name), append(us, a)
		return os.WriteFile(name, []byte(s.text), 0o600)
	}
	for _, s := range situations {
		a, acks, err := ours(s.syntax, []byte(s.text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if err := add(s, a); err != nil {
			return nil, err
		}
		for _, ack := range acks {
			own := situation{"our " + ack.kind + " for: " + s.name, s.syntax, string(ack.text), true, "ours"}
			a, _, err := ours(own.syntax, ack.text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", own.name, err)
			}
			if err := add(own, a); err != nil {
				return nil, err
			}
		}
	}
	return us, nil
}

// table prints a line for each situation and counts.
func (r *run) table(us []peers.Answer, answers map[string]map[string]peers.Answer) {
	fmt.Fprintf(r.out, "%-8s%-64s%-10s%-10s", "", "", "standard", "edigw")
	for _, p := range peers.All {
		fmt.Fprintf(r.out, "%-14s", p.Name)
	}
	fmt.Fprintln(r.out)
	for i, s := range r.situations {
		fmt.Fprintf(r.out, "%-8s%-64s%-10s%-10s", s.syntax, s.name, word(s.sound), r.judge("edigw", s, us[i], true))
		for k := range peers.All {
			p := &peers.All[k]
			if !p.Reads(s.syntax) {
				fmt.Fprintf(r.out, "%-14s", "")
				continue
			}
			a, said := answers[p.Name][r.files[i]]
			fmt.Fprintf(r.out, "%-14s", r.judge(p.Name, s, a, said && (!p.Counts || !a.Read || !us[i].Read || a.Segments == us[i].Segments)))
		}
		fmt.Fprintln(r.out)
	}
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
	why, is := known[reader][strings.TrimPrefix(s.name, s.syntax+" ")]
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
