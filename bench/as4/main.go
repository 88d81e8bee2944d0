// Command as4 has other people's AS4 speak with ours, over real sockets and as
// processes of their own, and says of every combination whether it holds:
//
//   - phase4 (Java, fetched from Maven) sends, in the profiles eDelivery AS4 1.15 and
//     2.0 and Peppol's: signed, encrypted, compressed, every way to name a key, several
//     payloads, the test service, the same message again;
//
//   - what a receiver has understood is held against what was sent, byte for byte, and
//     its receipt by phase4's own check against what phase4 signed.
//
//   - edigw sends to phase4's servlet in the same way.
//
// Usage:
//
//	go run ./bench/as4 [-peers-only] [-short] [-dir bin/peers]
//	go run ./bench/as4 -rate [-rounds 5]
//
// With -peers-only phase4's own servlet receives, which shows that the peers and
// their keys are as they should be before anyone is measured with them. With -short a
// few combinations stand for the others (few.go), as every change has to pass. With -rate
// edigw and phase4's servlet receive the same messages by turns (package rate).
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
	rate.Main(isReceipt)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := run{Tally: peers.Tally{Out: os.Stdout, Columns: 76}, rsa: 3072}
	flag.StringVar(&r.dir, "dir", "bin/peers", "where the peers are fetched to")
	peersOnly := flag.Bool("peers-only", false, "the peers with each other")
	short := flag.Bool("short", false, "the few combinations that stand for the others")
	measured := flag.Bool("rate", false, "measure how fast edigw and phase4's servlet receive the same messages")
	flag.StringVar(&r.limit, "limit", "../shared/limits/pg-limit", "the program that tells the database's own limit, for -rate")
	flag.IntVar(&r.rounds, "rounds", 5, "rounds of which -rate shows the medians")
	flag.IntVar(&r.messages, "messages", 400, "messages of 4 KB that -rate sends in a round, and a sixteenth of 1 MB")
	flag.Parse()
	part := r.withGateway
	if *short {
		r.Choice = peers.Chosen(few)
	}
	if *short && (*peersOnly || *measured) {
		fmt.Fprintln(os.Stderr, "as4: -short is one choice of what is done, -peers-only and -rate are others: give one of them")
		os.Exit(2)
	}
	switch {
	case *measured:
		part, r.rsa = r.measureRates, rateRSA
	case *peersOnly:
		part = r.peersOnly
	}
	if err := r.do(ctx, part); err != nil {
		fmt.Fprintln(os.Stderr, "as4:", err)
		os.Exit(1)
	}
	if r.Failed() {
		os.Exit(1)
	}
}

type run struct {
	peers.Tally
	dir        string // of the peers
	work, keys string // folders of this run
	rsa        int    // bits of its keys
	rounds     int    // of -rate
	messages   int    // in one of them
	limit      string // path of pg-limit
}

// do fetches the peers, makes keys and plays a part.
func (r *run) do(ctx context.Context, part func(context.Context) error) (err error) {
	c := exec.CommandContext(ctx, "bench/as4/fetch", r.dir)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("fetch the peers into %s: %w", r.dir, err)
	}
	if r.work, err = os.MkdirTemp("", "interop-as4-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	r.keys = filepath.Join(r.work, "keys")
	if err := os.Mkdir(r.keys, 0o700); err != nil {
		return err
	}
	if err := makeKeys(ctx, r.keys, r.rsa); err != nil {
		return err
	}
	if err := part(ctx); err != nil {
		return err
	}
	return r.End()
}

// peersOnly has phase4 send to phase4.
func (r *run) peersOnly(ctx context.Context) (err error) {
	folder := filepath.Join(r.work, "received")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	s, err := startServer(ctx, r.dir, r.keys, receiver, sender, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	c, err := startClient(ctx, r.dir, r.keys, sender, receiver)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.process.Stop()) }()
	for i, each := range combinations() {
		if each.ours {
			continue
		}
		each.address(s.address + "/" + each.message.Suite)
		if err := each.write(r.work, i); err != nil {
			return err
		}
		failure, err := each.peers(c, s)
		if err != nil {
			return err
		}
		r.Says("phase4 to phase4: "+each.name, failure)
	}
	return nil
}

// withGateway has phase4 and edigw send to each other.
func (r *run) withGateway(ctx context.Context) (err error) {
	g, err := r.startGateway(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(context.WithoutCancel(ctx))) }()
	return errors.Join(r.phase4ToGateway(ctx, g), r.edigwToPhase4(ctx, g))
}
