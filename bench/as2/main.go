// Command as2 has other people's AS2 speak with ours, over real sockets and as
// processes of their own, and says of every combination whether it holds:
//
//   - pyas2lib (PyPI), in every combination of signing, encryption, compression and the
//     ways to ask for an MDN; phase2 (Maven), libas2 (npm), openssl and OpenAS2 (Maven,
//     the whole server), in what they add; and a connection that is cut before the MDN;
//   - what a receiver has understood is held against what was sent, byte for byte, and
//     its MDN by the sender's own check of signature and MIC;
//   - edigw sends to the receivers of phase2, pyas2lib, OpenAS2 and libas2, and judges
//     their MDNs; functional acknowledgements leave by themselves, and the receivers bring
//     their MDNs to edigw's /as2.
//
// Usage:
//
//	go run ./bench/as2 [-peers-only] [-short] [-by pyas2] [-dir bin/peers]
//	go run ./bench/as2 -rate [-rounds 5]
//
// With -peers-only the peers receive, which shows that they and their keys are as
// they should be before anyone is measured with them. With -short a few combinations
// stand for the others (few.go), as every change has to pass; OpenAS2 and libas2 are
// not fetched then. With -rate edigw, phase2 and pyas2lib receive the same messages by
// turns (package rate).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/edigw/edigw/bench/peers"
	"github.com/edigw/edigw/bench/rate"
)

func main() {
	rate.Main(isProcessed)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := run{Tally: peers.Tally{Out: os.Stdout, Columns: 92}}
	flag.StringVar(&r.dir, "dir", "bin/peers", "where the peers are fetched to")
	peersOnly := flag.Bool("peers-only", false, "the peers with each other")
	flag.BoolVar(&r.short, "short", false, "the few combinations that stand for the others")
	flag.StringVar(&r.by, "by", "", "only what this sender sends: pyas2, phase2, libas2, openssl, openas2 or edigw")
	measured := flag.Bool("rate", false, "measure how fast edigw, phase2 and pyas2lib receive the same messages")
	flag.IntVar(&r.rounds, "rounds", 5, "rounds of which -rate shows the medians")
	flag.IntVar(&r.messages, "messages", 400, "messages of 4 KB that -rate sends in a round, and a sixteenth of 1 MB")
	flag.StringVar(&r.limit, "limit", "../shared/limits/pg-limit", "the program that tells the database's own limit, for -rate")
	flag.Parse()
	part := r.withGateway
	switch {
	case *measured:
		part = r.measureRates
	case *peersOnly:
		part = r.peersOnly
	}
	if r.short {
		r.Choice = peers.Chosen(few)
	}
	if r.short && (*peersOnly || *measured || r.by != "") {
		fmt.Fprintln(os.Stderr, "as2: -short is one choice of what is done, -peers-only, -rate and -by are others: give one of them")
		os.Exit(2)
	}
	if err := r.do(ctx, part); err != nil {
		fmt.Fprintln(os.Stderr, "as2:", err)
		os.Exit(1)
	}
	if r.Failed() {
		os.Exit(1)
	}
}

type run struct {
	peers.Tally
	dir        string // of the peers
	by         string // the only sender, "" all
	short      bool   // those of few alone, which are chosen
	work, keys string // folders of this run
	rounds     int    // of -rate
	messages   int    // in one of them
	limit      string // path of pg-limit
}

// do fetches the peers, makes keys and plays a part.
func (r *run) do(ctx context.Context, part func(context.Context) error) (err error) {
	c := exec.CommandContext(ctx, "bench/as2/fetch", r.fetched()...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("fetch the peers into %s: %w", r.dir, err)
	}
	if r.work, err = os.MkdirTemp("", "interop-as2-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	r.keys = filepath.Join(r.work, "keys")
	if err := os.Mkdir(r.keys, 0o700); err != nil {
		return err
	}
	if err := makeKeys(ctx, r.keys); err != nil {
		return err
	}
	if err := part(ctx); err != nil {
		return err
	}
	return r.End()
}
