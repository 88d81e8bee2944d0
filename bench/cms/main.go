// Command cms measures package cms beside openssl, each as a process of its own on
// the same files in the same round: CPU seconds, and the most memory that was
// resident.
//
//	go run ./bench/cms [-mb 100] [-rounds 5]
//
// It prints medians and their ratios, and ends with 1 if a bound is broken:
// decrypting AES-256-CBC within 3 times openssl's time, in 2.5 times the message's
// size. Random content and keys are made anew in a temporary folder.
//
//	go run ./bench/cms -interop [-peers bin/peers]
//
// lets Bouncy Castle, which most AS2 products are built on, and us open what the other
// made, and ends with 1 if a message is not opened.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mb := flag.Int("mb", 100, "megabytes of content")
	rounds := flag.Int("rounds", 5, "rounds of each measurement")
	work := flag.String("work", "", "what a process of ours does: decrypt or verify (for itself)")
	with := flag.Bool("interop", false, "open what Bouncy Castle made, and have it open ours")
	peers := flag.String("peers", "bin/peers", "where Bouncy Castle was fetched to, or is to be")
	flag.Parse()
	if *work != "" {
		if err := ours(*work, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "cms:", err)
			os.Exit(1)
		}
		return
	}
	if *with {
		failed, err := interop(ctx, os.Stdout, *peers)
		if err != nil {
			fmt.Fprintln(os.Stderr, "cms:", err)
		}
		if err != nil || failed > 0 {
			os.Exit(1)
		}
		return
	}
	broken, err := measure(ctx, os.Stdout, *mb*1e6, max(1, *rounds))
	if err != nil {
		fmt.Fprintln(os.Stderr, "cms:", err)
		os.Exit(1)
	}
	if len(broken) > 0 {
		fmt.Fprintln(os.Stderr, "cms: broken:", broken)
		os.Exit(1)
	}
}
