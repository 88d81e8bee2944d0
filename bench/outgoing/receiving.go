package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/outbox"
)

const (
	receivePairs   = 5
	receiveClients = 8
	receiveSeconds = 5
	receiveBar     = 0.9

	// followed is how long a gateway may take to follow a change of subscriptions: it
	// looks for them every two seconds.
	followed = 5 * time.Second
)

// receiving measures how many messages a second a gateway takes while it brings their
// events to Kafka, beside the same gateway with nobody subscribed: pairs one after the
// other, the two of a pair by turns the first; the median of their ratios counts.
func (r *run) receiving(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx, ""); err != nil {
		return err
	}
	program, err := r.site.Build(ctx)
	if err != nil {
		return err
	}
	m := &receiveRun{run: r, generator: filepath.Join(r.site.Dir, "receive"), next: 1}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", m.generator, "github.com/edigw/edigw/bench/receive").CombinedOutput(); err != nil {
		return fmt.Errorf("build the generator: %w\n%s", err, out)
	}
	if m.gateway, err = r.site.Start(ctx, program, "EDIGW_ALLOW_TARGETS=127.0.0.1"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.gateway.Stop()) }()
	if _, err := m.send(ctx, load{Seconds: 60, Most: 2000}); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	var ratios []float64
	for n := range receivePairs {
		var with, without float64
		arms := []func() error{
			func() (err error) { without, err = m.alone(ctx); return err },
			func() (err error) { with, err = m.relayed(ctx, fmt.Sprint("receive-", n)); return err },
		}
		for i := range arms {
			if err := arms[(i+n)%2](); err != nil {
				return err
			}
		}
		ratios = append(ratios, with/without)
		fmt.Printf("received with a relay to Kafka %.0f/s, without %.0f/s: %.2f\n", with, without, with/without)
	}
	r.judgeRatio("receiving with relays on, as a ratio to without", ratios, receiveBar)
	return nil
}

// receiveRun is a gateway, and who sends to it.
type receiveRun struct {
	*run
	generator string // bench/receive, whose load runs in a process of its own
	gateway   *site.Gateway
	next      int64 // interchange that nobody has sent
}

// load is what bench/receive's load takes.
type load struct {
	Address string
	Clients int
	Seconds float64
	Most    int64
	From    int64
	Status  int
}

// send sends messages that are new, and gives how many a second were taken.
func (m *receiveRun) send(ctx context.Context, l load) (float64, error) {
	l.Address, l.Clients, l.From, l.Status = m.gateway.Address, receiveClients, m.next, 201
	text, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, m.generator, "load", string(text)).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return 0, fmt.Errorf("send from %d on: %s", m.next, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return 0, err
	}
	var f struct {
		Messages int64
		Seconds  float64
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return 0, err
	}
	if f.Messages == 0 {
		return 0, errors.New("no message was taken")
	}
	m.next += f.Messages + receiveClients
	return float64(f.Messages) / f.Seconds, nil
}

// alone measures with nobody subscribed.
func (m *receiveRun) alone(ctx context.Context) (float64, error) {
	if err := m.site.Empty(ctx); err != nil {
		return 0, err
	}
	return m.send(ctx, load{Seconds: receiveSeconds})
}

// relayed measures with a subscription, which is there and at work before and gone after,
// and tells how much of it Kafka had when the last message was answered: a relay that is
// left behind takes nothing from who receives.
func (m *receiveRun) relayed(ctx context.Context, topic string) (float64, error) {
	if err := m.site.Empty(ctx); err != nil {
		return 0, err
	}
	if err := m.broker.create(ctx, topic); err != nil {
		return 0, err
	}
	if err := m.subscribe(ctx, outbox.Spec{Name: topic, From: outbox.FromNow, Kafka: &outbox.KafkaSpec{Brokers: []string{m.broker.address}, Topic: topic}}); err != nil {
		return 0, err
	}
	if _, err := m.send(ctx, load{Seconds: 60, Most: 200}); err != nil {
		return 0, err
	}
	before, err := m.drained(ctx, topic)
	if err != nil {
		return 0, err
	}
	rate, err := m.send(ctx, load{Seconds: receiveSeconds})
	if err != nil {
		return 0, err
	}
	then, _, err := m.sent(ctx, topic)
	if err != nil {
		return 0, err
	}
	all, err := m.drained(ctx, topic)
	if err != nil {
		return 0, err
	}
	fmt.Printf("%d of %d events were at Kafka when the last message was answered\n", then-before, all-before)
	if err := pgx.BeginFunc(ctx, m.site.Pool, func(tx pgx.Tx) error { return outbox.DeleteTx(ctx, tx, topic) }); err != nil {
		return 0, err
	}
	select {
	case <-time.After(followed):
	case <-ctx.Done():
	}
	return rate, ctx.Err()
}

// sent gives how many events a subscription has sent, and whether there are more.
func (m *receiveRun) sent(ctx context.Context, name string) (n int64, more bool, err error) {
	list, err := outbox.Subscriptions{Pool: m.site.Pool}.Streams(ctx, name)
	for _, s := range list {
		n, more = n+s.Sent, more || s.OldestUnsent != nil
	}
	return n, more || len(list) == 0, err
}

// drained waits until all is sent, and gives how much that is.
func (m *receiveRun) drained(ctx context.Context, name string) (int64, error) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if n, more, err := m.sent(ctx, name); err != nil || !more {
			return n, err
		}
	}
	return 0, errors.Join(ctx.Err(), fmt.Errorf("events of %s do not reach Kafka within two minutes; the gateway: %s", name, m.gateway.Log()))
}
