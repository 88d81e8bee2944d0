package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/edigw/edigw/bench/limit"
	"github.com/edigw/edigw/bench/site"
)

// bench is one run.
type bench struct {
	seconds float64
	rounds  int
	clients []int
	limit   string
	program string
	keys    int64

	site    *site.Site
	gateway *site.Gateway
	bare    string // address of the bare handler
	lim     string // URL of the database that pg-limit fills
	result  results
}

// limitClients is the number of clients of the denominator.
const limitClients = 8

// knownMessages is how many are sent again.
const knownMessages = 2000

func (b *bench) run(ctx context.Context) (err error) {
	if b.site, err = site.Open(ctx, nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.site.Close(context.WithoutCancel(ctx))) }()
	if b.lim, err = b.site.Database(ctx, "lim"); err != nil {
		return err
	}
	if b.program == "" {
		if b.program, err = b.site.Build(ctx); err != nil {
			return err
		}
	}
	if b.gateway, err = b.site.Start(ctx, b.program); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.gateway.Stop()) }()
	stop, err := b.startBare(ctx)
	if err != nil {
		return err
	}
	defer stop()
	b.result.clients = b.clients
	next, err := b.warm(ctx)
	if err != nil {
		return err
	}
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, b.rounds)
		if err := b.round(ctx, &next); err != nil {
			return err
		}
	}
	b.result.print(os.Stdout)
	return nil
}

// warm opens the gateway's connections and has its statements planned. It gives the
// next interchange that nobody has sent.
func (b *bench) warm(ctx context.Context) (next int64, err error) {
	const messages = 2000
	_, err = b.measure(ctx, load{Address: b.gateway.Address, Clients: limitClients, Seconds: 60, Most: messages, From: 1, Status: 201})
	if err != nil {
		return 0, fmt.Errorf("warm up: %w", err)
	}
	return 1 + messages, nil
}

// round measures everything once: the limit before, between and after the rates
// it divides.
func (b *bench) round(ctx context.Context, next *int64) error {
	if err := b.site.Empty(ctx); err != nil {
		return err
	}
	for i, n := range b.clients {
		if i%2 == 0 {
			if err := b.measureLimit(ctx); err != nil {
				return err
			}
		}
		m, err := b.measure(ctx, load{Address: b.gateway.Address, Clients: n, Seconds: b.seconds, From: *next, Status: 201})
		if err != nil {
			return fmt.Errorf("new, %d clients: %w", n, err)
		}
		*next += m.Messages + int64(n)
		b.result.fresh.add(n, m)
	}
	if err := b.measureLimit(ctx); err != nil {
		return err
	}
	known := load{Address: b.gateway.Address, Clients: limitClients, Seconds: 60, Most: knownMessages, From: *next, Status: 201}
	if _, err := b.measure(ctx, known); err != nil {
		return fmt.Errorf("to be known: %w", err)
	}
	*next += knownMessages
	for _, n := range b.clients {
		m, err := b.measure(ctx, load{Address: b.gateway.Address, Clients: n, Seconds: b.seconds, From: known.From, Known: knownMessages, Status: 200})
		if err != nil {
			return fmt.Errorf("known, %d clients: %w", n, err)
		}
		b.result.again.add(n, m)
		if m, err = b.measure(ctx, load{Address: b.bare, Clients: n, Seconds: b.seconds, From: known.From, Known: knownMessages, Status: 200}); err != nil {
			return fmt.Errorf("bare handler, %d clients: %w", n, err)
		}
		b.result.bare.add(n, m)
	}
	return nil
}

// measurement is what one load came to, with the processor time of each part.
type measurement struct {
	figures
	gateway, database time.Duration
}

func (b *bench) measure(ctx context.Context, l load) (measurement, error) {
	var m measurement
	if err := b.site.Checkpoint(ctx); err != nil {
		return m, err
	}
	cpu := b.site.CPU(b.gateway)
	g, d, err := cpu()
	if err != nil {
		return m, err
	}
	if m.figures, err = b.generated(ctx, l); err != nil {
		return m, err
	}
	if m.gateway, m.database, err = cpu(); err != nil {
		return m, err
	}
	m.gateway, m.database = m.gateway-g, m.database-d
	return m, nil
}

// generated runs a load in a process of its own.
func (b *bench) generated(ctx context.Context, l load) (f figures, err error) {
	text, err := json.Marshal(l)
	if err != nil {
		return f, err
	}
	out, err := self(ctx, "load", string(text)).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return f, fmt.Errorf("%s", bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
}

func (b *bench) measureLimit(ctx context.Context) error {
	if err := b.site.Checkpoint(ctx); err != nil {
		return err
	}
	m, err := limit.Program{Path: b.limit, URL: b.lim, Clients: limitClients, Seconds: int(b.seconds), Server: b.site.Postmaster()}.Measure(ctx)
	for name, rate := range m.Rates {
		b.result.limit(name, rate)
	}
	return err
}

// startBare starts the bare handler.
func (b *bench) startBare(ctx context.Context) (stop func(), err error) {
	cmd := self(ctx, "bare")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // killed
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("the bare handler does not start: %w", err)
	}
	b.bare = strings.TrimSpace(line)
	return stop, nil
}

// self is this program as a process of its own.
func self(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "/proc/self/exe", args...)
}
