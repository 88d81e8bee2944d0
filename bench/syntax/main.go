// Command syntax measures the syntax layer on one core, in CPU seconds: lexing,
// what it is bounded by, reading with envelopes checked, validation by tables and
// mapping to documents, beside bytes.IndexByte and the parsers of others as
// processes.
//
//	go run ./bench/syntax [-mb 16] [-rounds 5] [-peers bin/peers]
//
// Rounds of all loops are interleaved, a line tells the median. Before that the
// lexer's elements, release characters resolved, are compared with the parser's by
// count and checksum.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/edigw/edigw/bench/peers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mb := flag.Int("mb", 16, "megabytes of text")
	rounds := flag.Int("rounds", 5, "rounds of each loop")
	dir := flag.String("peers", "", "where other parsers were fetched to, or are to be; empty: leave them out")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	for _, syntax := range []string{"edifact", "x12"} {
		if err := measure(ctx, os.Stdout, syntax, *mb<<20, max(1, *rounds), *dir); err != nil {
			fmt.Fprintln(os.Stderr, "syntax:", err)
			os.Exit(1)
		}
	}
}

// measure prints all lines of one syntax.
func measure(ctx context.Context, w io.Writer, syntax string, size, rounds int, dir string) error {
	t := textOf(syntax, size)
	fromLexer, fromParser := lexed(t), new(sum)
	if err := t.read(nil, fromParser.message); err != nil {
		return err
	}
	fmt.Fprintf(w, "lexer  %s %d elements, checksum %016x\nparser %s %d elements, checksum %016x\n",
		syntax, fromLexer.elements, fromLexer.hash, syntax, fromParser.elements, fromParser.hash)
	if *fromLexer != *fromParser {
		return fmt.Errorf("%s: lexer and parser read different elements", syntax)
	}
	loops, err := loopsOf(t)
	if err != nil {
		return err
	}
	took := make([][]float64, len(loops))
	for range rounds {
		for i, l := range loops {
			start := cpu()
			if err := l.run(); err != nil {
				return fmt.Errorf("%s %s: %w", l.name, syntax, err)
			}
			took[i] = append(took[i], cpu()-start)
		}
	}
	for i, l := range loops {
		slices.Sort(took[i])
		fmt.Fprintf(w, "%s %s %.0f MB/s\n", l.name, syntax, float64(len(t.raw))/1e6/max(took[i][rounds/2], 1e-6))
	}
	if dir == "" {
		return nil
	}
	return others(ctx, w, t, dir)
}

// others has the peers read the same text, a process each; its start counts.
func others(ctx context.Context, w io.Writer, t *text, dir string) error {
	if err := peers.Fetch(ctx, dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "syntax")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	name := filepath.Join(work, "text."+t.syntax)
	if err := os.WriteFile(name, t.raw, 0o600); err != nil {
		return err
	}
	for i := range peers.All {
		p := &peers.All[i]
		if !p.Reads(t.syntax) || p.Judges { // judging is measured apart, and bots holds a tree of it all
			continue
		}
		answers, seconds, err := p.Run(ctx, dir, name)
		if err != nil {
			return err
		}
		if a := answers[name]; !a.Read {
			return fmt.Errorf("%s does not read the text: %s", p.Name, a.Reason)
		}
		fmt.Fprintf(w, "%s %s %.1f MB/s\n", p.Name, t.syntax, float64(len(t.raw))/1e6/seconds)
	}
	return nil
}

// cpu is the CPU time of this process, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails for a wrong argument only
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// terminators counts them by bytes.IndexByte, which nothing that looks at every
// segment can beat.
func terminators(raw []byte, terminator byte) (n int) {
	for {
		i := bytes.IndexByte(raw, terminator)
		if i < 0 {
			return n
		}
		n, raw = n+1, raw[i+1:]
	}
}
