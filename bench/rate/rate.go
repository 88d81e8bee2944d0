// Package rate measures how fast programs receive messages that were made before and are
// all different, and says of ours what share it reaches of the most that there can be:
// on each core one message in the time of its bare cryptography and of the least that a
// database has to write for it (package limit).
//
// Rounds are interleaved, so that other load on the machine hits all alike, and medians
// are shown. Every answer is held to be positive: one that is not ends the run. A program
// that measures calls Main first.
package rate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/edigw/edigw/bench/limit"
	"github.com/edigw/edigw/bench/site"
)

// Receiver is a program that receives.
type Receiver struct {
	Name  string
	URL   string
	Fresh bool // it ends each connection after its answer, without saying so
	// CPU is the processor time so far of the program and of its database.
	CPU func() (program, database time.Duration, err error)
}

// Load is one kind of messages.
type Load struct {
	Name     string
	Messages int // in a round
	Lines    int // of each invoice, for pg-limit
	Invoices int // in a message
	// Make makes message n, which no other has the like of. It is called on all cores.
	Make func(n int) (Message, error)
	// Crypto does the cryptography of such a message, and nothing else. It is called on
	// all cores.
	Crypto func() error
	// Bar is what share of the most that there can be the first receiver has to reach; 0
	// where the database's limit is none of these messages. Times is what multiple of the
	// second one's rate, 0 for none.
	Bar, Times float64
}

// Clients are at once.
const Clients = 8

// Bench is a run.
type Bench struct {
	Receivers  []Receiver // the first is ours
	Limit      limit.Program
	Checkpoint func(context.Context) error // of our database
	Rounds     int
	Warm       int // rounds before, of the first load
	Out        io.Writer
}

// cryptoMessages are how many messages' cryptography each core does for a figure.
const cryptoMessages = 100

// Run measures each load and prints its table.
func (b *Bench) Run(ctx context.Context, loads []Load) error {
	number := 1
	for i, l := range loads {
		r := &result{load: l, receivers: make([]measurements, len(b.Receivers))}
		warm := 1
		if i == 0 {
			warm = max(1, b.Warm)
		}
		for round := range warm + b.Rounds {
			fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", l.Name, round+1-warm, b.Rounds)
			if err := b.round(ctx, l, &number, round < warm, r); err != nil {
				return fmt.Errorf("%s: %w", l.Name, err)
			}
		}
		if err := r.print(b.Out, b.Receivers); err != nil {
			return err
		}
	}
	return nil
}

// round measures everything once; what warms up is not kept.
func (b *Bench) round(ctx context.Context, l Load, number *int, warms bool, r *result) error {
	list, err := l.made(*number)
	if err != nil {
		return err
	}
	*number += l.Messages
	if !warms && l.Bar > 0 {
		crypto, err := l.cryptography()
		if err != nil {
			return err
		}
		b.Limit.Lines = l.Lines
		m, err := b.Limit.Measure(ctx)
		if err != nil {
			return err
		}
		r.crypto, r.single, r.least = append(r.crypto, crypto), append(r.single, m.Rates[limit.Single]), append(r.least, m.CPU)
	}
	for i, to := range b.Receivers {
		m, err := b.measure(ctx, to, list)
		if err != nil {
			return fmt.Errorf("%s: %w", to.Name, err)
		}
		if !warms {
			r.receivers[i] = append(r.receivers[i], m)
		}
	}
	return nil
}

// cryptography is the processor time that the cryptography of a message takes where all
// cores do nothing else: a core of which each half is busy takes longer for each.
func (l Load) cryptography() (time.Duration, error) {
	workers := runtime.NumCPU()
	errs := make([]error, workers)
	before, err := site.OwnCPU()
	if err != nil {
		return 0, err
	}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for range cryptoMessages {
				if errs[worker] = l.Crypto(); errs[worker] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	after, err := site.OwnCPU()
	return (after - before) / time.Duration(workers*cryptoMessages), errors.Join(append(errs, err)...)
}

// made are the messages of a round, numbered from that on.
func (l Load) made(from int) ([]Message, error) {
	list, errs := make([]Message, l.Messages), make([]error, l.Messages)
	var wg sync.WaitGroup
	for worker := range Clients {
		wg.Go(func() {
			for i := worker; i < l.Messages; i += Clients {
				list[i], errs[i] = l.Make(from + i)
			}
		})
	}
	wg.Wait()
	return list, errors.Join(errs...)
}

// measurement is what one posting came to, with the processor time of each part.
type measurement struct {
	figures
	program, database time.Duration
}

func (b *Bench) measure(ctx context.Context, to Receiver, list []Message) (m measurement, err error) {
	if err := b.Checkpoint(ctx); err != nil {
		return m, err
	}
	program, database, err := to.CPU()
	if err != nil {
		return m, err
	}
	if m.figures, err = (posting{URL: to.URL, Fresh: to.Fresh, Clients: Clients, Messages: list}).posted(ctx); err != nil {
		return m, err
	}
	m.program, m.database, err = to.CPU()
	m.program, m.database = m.program-program, m.database-database
	return m, err
}

// cores is how many messages can be worked on at the same moment.
func cores() float64 { return float64(runtime.NumCPU()) }
