// Command as2 has other people's AS2 speak with ours, over real sockets and as
// processes of their own, and says of every combination whether it holds:
//
//   - pyas2lib (PyPI), in every combination of signing, encryption, compression and the
//     ways to ask for an MDN; phase2 (Maven), libas2 (npm), openssl and OpenAS2 (Maven,
//     the whole server), in what they add; and a connection that is cut before the MDN;
//   - what a receiver has understood is held against what was sent, byte for byte, and
//     its MDN by the sender's own check of signature and MIC;
//   - edigw sends to phase2's and pyas2lib's receivers, and judges their MDNs.
//
// Usage:
//
//	go run ./bench/as2 [-peers-only] [-by pyas2] [-dir bin/peers]
//
// With -peers-only the peers receive, which shows that they and their keys are as
// they should be before anyone is measured with them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := run{out: os.Stdout}
	flag.StringVar(&r.dir, "dir", "bin/peers", "where the peers are fetched to")
	peersOnly := flag.Bool("peers-only", false, "the peers with each other")
	flag.StringVar(&r.by, "by", "", "only what this sender sends: pyas2, phase2, libas2, openssl, openas2 or edigw")
	flag.Parse()
	part := r.withGateway
	if *peersOnly {
		part = r.peersOnly
	}
	if err := r.do(ctx, part); err != nil {
		fmt.Fprintln(os.Stderr, "as2:", err)
		os.Exit(1)
	}
	if r.failed > 0 {
		os.Exit(1)
	}
}

type run struct {
	dir        string // of the peers
	by         string // the only sender, "" all
	work, keys string // folders of this run
	out        io.Writer
	ok, failed int
}

// do fetches the peers, makes keys and plays a part.
func (r *run) do(ctx context.Context, part func(context.Context) error) (err error) {
	c := exec.CommandContext(ctx, "bench/as2/fetch", r.dir)
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
	_, err = fmt.Fprintf(r.out, "\n%d combinations, %d ok, %d failed, 0 skipped\n", r.ok+r.failed, r.ok, r.failed)
	return err
}

// says counts a combination and prints what became of it.
func (r *run) says(name string, err error) {
	word := "ok"
	if err != nil {
		r.failed++
		word = "FAILED: " + err.Error()
	} else {
		r.ok++
	}
	fmt.Fprintf(r.out, "%-92s %s\n", name, word)
}
