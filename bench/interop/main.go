// Command interop has other people's parsers read what ours reads, and prints who
// says what and who is right where they differ:
//
//   - situations that the standard decides, and our acknowledgements of them;
//   - groups of transaction sets with a flaw, which pyx12 acknowledges as well: which
//     sets 997 and 999 accept, and what for not;
//   - the answers, written by hand, to broken interchanges that the tests of edifact
//     and x12 hold ours to;
//   - samples that no one here wrote, where the folder with them is there.
//
// Usage:
//
//	go run ./bench/interop [-dir bin/peers] [-samples folder]
//
// A combination, one text with one reader, is ok where the reader says what the
// standard says, or differs as known.go or judged.go tell, with the reason. It is
// failed otherwise, for us wherever we depart from the standard, and where a
// difference that is told there is gone.
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
	"github.com/edigw/edigw/structure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := flag.String("dir", "bin/peers", "where the peers are fetched to")
	samples := flag.String("samples", "../shared/samples/edi", "a folder with samples of other people's, left out where there is none")
	flag.Parse()
	tables, err := structure.BuiltIn()
	if err == nil {
		tables, err = withGuides(tables)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
	r := run{dir: *dir, samples: *samples, root: ".", out: os.Stdout, tables: tables}
	if err := r.do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
	if r.failed > 0 {
		os.Exit(1)
	}
}

type run struct {
	dir, samples, root string
	out                io.Writer
	tables             *structure.Tables
	ok, failed         int
	departures         []string
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
	for _, part := range []func(context.Context, string) error{r.decided, r.acknowledging, r.answering, r.sampled} {
		if err := part(ctx, work); err != nil {
			return err
		}
		for _, d := range r.departures {
			fmt.Fprintln(r.out, d)
		}
		fmt.Fprintln(r.out)
		r.departures = nil
	}
	_, err = fmt.Fprintf(r.out, "%d combinations, %d ok, %d failed, 0 skipped\n", r.ok+r.failed, r.ok, r.failed)
	return err
}

// ask has every peer read the files of its syntaxes, which their names end in.
func (r *run) ask(ctx context.Context, files []string) (map[string]map[string]peers.Answer, error) {
	answers := map[string]map[string]peers.Answer{}
	for i := range peers.All {
		p := &peers.All[i]
		var its []string
		for _, f := range files {
			if p.Reads(strings.TrimPrefix(filepath.Ext(f), ".")) {
				its = append(its, f)
			}
		}
		a, _, err := p.Run(ctx, r.dir, its...)
		if err != nil {
			return nil, err
		}
		answers[p.Name] = a
	}
	return answers, nil
}

// heading is the first line of a table with a column for every reader.
func (r *run) heading(columns string, args ...any) {
	fmt.Fprintf(r.out, columns, args...)
	for i := range peers.All {
		fmt.Fprintf(r.out, "%-14s", peers.All[i].Name)
	}
	fmt.Fprintln(r.out)
}
