// Command receive measures what receiving over HTTP costs, as ratios in one run
// on one machine: the built program against the database's own limit
// (pg-limit: the least that any receiver must write, by pgbench), and duplicates
// against a bare net/http handler. Every message is an INVOIC of 20 lines whose
// effect is committed with full durability before it is answered.
//
//	go run ./bench/receive [-seconds 3] [-rounds 5] [-limit ../shared/limits/pg-limit]
//	go run ./bench/receive -what storm
//	go run ./bench/receive -what keys [-keys 10000000]
//	go run ./bench/receive -what purge [-keys 1000000]
//
// Beside the rates it measures what a partner's storm leaves of another one's rate
// (storm.go), and what an inbox of many keys leaves of that of an empty one
// (keys.go), and receiving beside a purge with receiving without one (purge.go).
//
// Rounds are interleaved, so that other load on the machine hits all alike; the
// table shows medians. Every answer is checked: one wrong status ends the run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "receive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] { // what this program starts itself as
		case "bare":
			return bare()
		case "load":
			return generate(args[1:])
		case "purge":
			return purgeProcess(args[1:])
		}
	}
	b := &bench{}
	flags := flag.NewFlagSet("receive", flag.ContinueOnError)
	flags.Float64Var(&b.seconds, "seconds", fromEnv("BENCH_SECONDS", 3), "length of one measurement (BENCH_SECONDS)")
	rounds := flags.Float64("rounds", fromEnv("BENCH_ROUNDS", 5), "rounds of which the medians are shown (BENCH_ROUNDS)")
	clients := flags.String("clients", "1,8,32,128", "numbers of clients")
	flags.StringVar(&b.limit, "limit", "../shared/limits/pg-limit", "the program that tells the database's own limit")
	what := flags.String("what", "rates,storm", "what is measured: rates, storm, keys, purge")
	flags.Int64Var(&b.keys, "keys", 10_000_000, "keys that stand in the inbox")
	flags.StringVar(&b.program, "program", "", "the gateway to measure; empty: built from here")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	b.rounds = max(int(*rounds), 1)
	for text := range strings.SplitSeq(*clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-clients %q: must be numbers with commas between", *clients)
		}
		b.clients = append(b.clients, n)
	}
	for one := range strings.SplitSeq(*what, ",") {
		var err error
		switch one {
		case "rates":
			if _, err := os.Stat(b.limit); err != nil {
				return fmt.Errorf("-limit: %w: without it there is nothing to compare with", err)
			}
			err = b.run(ctx)
		case "storm":
			err = b.storms(ctx)
		case "keys":
			err = b.manyKeys(ctx)
		case "purge":
			err = b.purges(ctx)
		default:
			err = fmt.Errorf("-what %q: there are rates, storm, keys and purge", one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// generate is the load as a process of its own, so that its processor time is
// told apart: a load in, its figures out, as JSON.
func generate(args []string) error {
	if len(args) != 1 {
		return errors.New("load takes its description as JSON")
	}
	var l load
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return err
	}
	f, err := l.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// fromEnv gives a number from the environment.
func fromEnv(name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return otherwise
}
