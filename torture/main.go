package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// whole is what a seed of `make torture` has, quick that of a short one, and hunt
// that of one in which a planted bug is to be found.
var (
	whole = size{messages: 2600, deliveries: 10200, faults: 200, kills: 3, gateways: 3, senders: 24}
	quick = size{messages: 100, deliveries: 500, faults: 24, kills: 1, gateways: 2, senders: 16}
	hunt  = size{messages: 250, deliveries: 1200, faults: 90, kills: 2, gateways: 3, senders: 20}
)

// fillsEvery says how many seeds have one whose disk is filled; the others'
// PostgreSQL is on the machine's own disk, and flushes to it.
const fillsEvery = 4

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := program(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

var errViolated = errors.New("invariants were violated")

// program is the command: seeds of the program as it is, or with bugs planted.
func program(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	seeds := flags.Int("seeds", 1, "how many seeds")
	from := flags.Uint64("from", 1, "the first of them")
	of := flags.String("size", "", "of a seed: whole, hunt or quick; left out, it is hunt for planted bugs and whole without")
	bug := flags.String("planted", "", "a bug of torture/planted to plant, or all: the checker has to find it")
	reports := flags.String("reports", os.TempDir(), "folder for the reports of violations")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *of == "" && *bug != "":
		*of = "hunt"
	case *of == "":
		*of = "whole"
	}
	z, known := map[string]size{"whole": whole, "hunt": hunt, "quick": quick}[*of]
	if !known {
		return fmt.Errorf("there is no size %q", *of)
	}
	dir, err := os.MkdirTemp("", "edigw-torture-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the run has told what there was to tell
	if *bug != "" {
		return findPlanted(ctx, dir, *bug, z, *from, *reports, out)
	}
	path := filepath.Join(dir, "edigw")
	if err := site.Build(ctx, path, "-tags", "faults"); err != nil {
		return err
	}
	var sum result
	begun := time.Now()
	for seed := *from; seed < *from+uint64(*seeds); seed++ {
		s := z
		if *of != "quick" && seed%fillsEvery == 0 {
			s.fills = 3
		}
		r, err := torture(ctx, path, seed, s)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s; %s; %v\n", r, r.byKind, r.took.Round(time.Second))
		if r.report != "" {
			name, err := r.keep(*reports, "")
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\nall of it is in %s\n", firstLines(r.report, 40), name)
		}
		sum.add(r)
	}
	fmt.Fprintf(out, "%d seeds in %v: %s\n", *seeds, time.Since(begun).Round(time.Second), sum.totals())
	if sum.violations > 0 {
		return errViolated
	}
	return nil
}

// keep writes the report into a folder.
func (r *result) keep(dir, bug string) (string, error) {
	name := filepath.Join(dir, fmt.Sprintf("edigw-torture%s-seed-%d.txt", bug, r.seed))
	return name, os.WriteFile(name, []byte(r.report), 0o600)
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

func (r *result) add(o *result) {
	r.messages += o.messages
	r.deliveries += o.deliveries
	r.faults += o.faults
	r.kills += o.kills
	r.violations += o.violations
}

// totals are the numbers that a run ends with.
func (r *result) totals() string {
	return fmt.Sprintf("%s deliveries of %s logical messages, %s faults, postgres killed %d times: %d violations",
		thousands(r.deliveries), thousands(r.messages), thousands(r.faults), r.kills, r.violations)
}

func (r *result) String() string { return fmt.Sprintf("seed %d: %s", r.seed, r.totals()) }

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
