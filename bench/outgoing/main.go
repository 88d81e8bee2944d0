// Command outgoing holds what leaves the gateway against receivers of every kind, each
// a process of its own: Apache Kafka's own broker in KRaft mode, a webhook receiver that
// loses answers, and a mail server. Transactions that write events are committed out of
// order and rolled back while two gateways relay them, and every one of these processes
// is killed and started again in the middle. In the end each receiver must have every
// event that was committed and no other, each partner's in order.
//
//	go run ./bench/outgoing [-dir bin/peers] [-events 3000]
//	go run ./bench/outgoing -what rate,receive [-events 200000]
//
// measures how many events a second reach Kafka, beside a bare producer, and how many
// messages a second are received with that relay on, beside without. It ends with 1 where
// the median of the ratios is under its bar.
//
// What faults prints ends with "N combinations, N ok, 0 failed, 0 skipped".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/edigw/edigw/bench/site"
)

func main() {
	if len(os.Args) == 5 && os.Args[1] == receiverWord {
		fail(receive(os.Args[2], os.Args[3], os.Args[4]))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := run{}
	what := flag.String("what", "faults", "faults; rate: how many events a second reach Kafka, beside a bare producer; receive: how many messages a second are received with relays on, beside without")
	flag.StringVar(&r.dir, "dir", "bin/peers", "where Apache Kafka is fetched to")
	flag.IntVar(&r.events, "events", 3000, "events that are written")
	flag.Parse()
	failed := 0
	for one := range strings.SplitSeq(*what, ",") {
		r := r // each has a database and a broker of its own
		switch one {
		case "faults":
			fail(r.faults(ctx))
		case "rate":
			fail(r.rate(ctx))
		case "receive":
			fail(r.receiving(ctx))
		default:
			fail(fmt.Errorf("-what is faults, rate or receive, not %q", one))
		}
		failed += r.failed
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "outgoing:", err)
		os.Exit(1)
	}
}

// run is one run with all that it started.
type run struct {
	dir    string
	events int

	site       *site.Site
	broker     *broker
	ok, failed int
}

// open makes database and broker. partners is YAML; "" is that of the benchmarks.
func (r *run) open(ctx context.Context, partners string) (err error) {
	fetch := exec.CommandContext(ctx, "bench/outgoing/fetch", r.dir)
	fetch.Stdout, fetch.Stderr = os.Stderr, os.Stderr
	if err := fetch.Run(); err != nil {
		return fmt.Errorf("fetch Apache Kafka into %s: %w", r.dir, err)
	}
	if r.site, err = site.OpenWith(ctx, site.Options{Partners: partners}); err != nil {
		return err
	}
	if r.broker, err = newBroker(r.dir, r.site.Dir); err != nil {
		return err
	}
	return r.broker.start(ctx)
}

func (r *run) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if r.broker != nil {
		errs = append(errs, r.broker.kill())
	}
	if r.site != nil {
		errs = append(errs, r.site.Close(ctx))
	}
	return errors.Join(errs...)
}

const partnersYAML = `kind: Organisation
id: north
identifiers: [{qualifier: "14", id: "9520002000019"}]
---
kind: Partner
id: acme
organisation: north
identifiers: [{qualifier: "14", id: "9520001000010"}]
---
kind: Partner
id: bolt
organisation: north
identifiers: [{qualifier: "14", id: "9520001000027"}]
---
kind: Partner
id: cord
organisation: north
identifiers: [{qualifier: "14", id: "9520001000034"}]
`

var partnerIDs = []string{"acme", "bolt", "cord"}
