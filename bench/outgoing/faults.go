package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/targets"
)

// receiverProcess is a receiver that can be killed and started again.
type receiverProcess struct {
	kind, address, file string
	child               *child
}

func (p *receiverProcess) start() (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p.child, err = startChild(p.file+".log", self, receiverWord, p.kind, p.address, p.file)
	return err
}

// faults runs everything with its deaths, and judges what arrived.
func (r *run) faults(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx, partnersYAML); err != nil {
		return err
	}
	if err := r.broker.create(ctx, "edigw"); err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	webhook := &receiverProcess{kind: "webhook", address: fmt.Sprintf("127.0.0.1:%d", ports[0]), file: filepath.Join(r.site.Dir, "webhook")}
	mailbox := &receiverProcess{kind: "mail", address: fmt.Sprintf("127.0.0.1:%d", ports[1]), file: filepath.Join(r.site.Dir, "mail")}
	for _, p := range []*receiverProcess{webhook, mailbox} {
		if err := p.start(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.child.kill()) }()
	}
	if err := r.subscribe(ctx,
		outbox.Spec{Name: "kafka", From: outbox.FromBeginning, Kafka: &outbox.KafkaSpec{Brokers: []string{r.broker.address}, Topic: "edigw"}},
		outbox.Spec{Name: "webhook", From: outbox.FromBeginning, Refusals: 100, Webhook: &outbox.WebhookSpec{URL: "http://" + webhook.address, Secrets: []string{"hook"}, Timeout: "5s"}},
		outbox.Spec{Name: "mail", From: outbox.FromBeginning, Refusals: 100, Mail: &outbox.MailSpec{Server: mailbox.address, TLS: "none", From: "edigw@north.example", To: []string{"edi@north.example"}, Every: "1s"}},
	); err != nil {
		return err
	}
	program, err := r.site.Build(ctx)
	if err != nil {
		return err
	}
	g := &gateways{site: r.site, program: program, secret: targets.NewWebhookSecret()}
	if err := g.startAll(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.killAll()) }()

	var writing sync.WaitGroup
	written := make(chan error, writers)
	for range writers {
		writing.Go(func() { written <- r.write(ctx, r.events/writers) })
	}
	deaths := []struct {
		of       string
		kill, up func() error
	}{
		{"the webhook receiver", func() error { return webhook.child.kill() }, webhook.start},
		{"the mail server", func() error { return mailbox.child.kill() }, mailbox.start},
		{"Kafka", r.broker.kill, func() error { return r.broker.start(ctx) }},
		{"the first gateway", func() error { return g.kill(0) }, func() error { return g.start(ctx, 0) }},
		{"the second gateway", func() error { return g.kill(1) }, func() error { return g.start(ctx, 1) }},
	}
	for range 2 {
		for _, d := range deaths {
			time.Sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
			fmt.Println("kill", d.of)
			if err := d.kill(); err != nil {
				return err
			}
			time.Sleep(time.Duration(200+rand.IntN(800)) * time.Millisecond)
			if err := d.up(); err != nil {
				return err
			}
		}
	}
	writing.Wait()
	for range writers {
		if err := <-written; err != nil {
			return err
		}
	}
	if err := r.arrived(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, g.logs())
	}
	return r.judge(ctx, webhook.file, mailbox.file)
}

func (r *run) subscribe(ctx context.Context, specs ...outbox.Spec) error {
	return pgx.BeginFunc(ctx, r.site.Pool, func(tx pgx.Tx) error {
		for _, s := range specs {
			if _, err := outbox.PutTx(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

const writers = 8

// write commits n events, each in a transaction that lasts while others commit; one in
// ten is rolled back besides.
func (r *run) write(ctx context.Context, n int) error {
	for i := 0; i < n; {
		tx, err := r.site.Pool.Begin(ctx)
		if err != nil {
			return err
		}
		var b pgx.Batch
		if err := outbox.QueueEvents(&b, []outbox.Event{event(partnerIDs[rand.IntN(len(partnerIDs))])}); err != nil {
			return err
		}
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		if rand.IntN(10) == 0 {
			err = tx.Rollback(ctx)
		} else {
			err = tx.Commit(ctx)
			i++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func event(partner string) outbox.Event {
	id := uuid.Must(uuid.NewV7())
	return outbox.Event{Partner: partner, ID: id, Month: time.Now().AddDate(0, 3, 0), Kind: outbox.KindEvent, Type: outbox.DocumentCreated,
		Subject: partner + "/unb:9520001000010:14:9520002000019:14:1001", Data: map[string]any{"document_id": id, "message_id": "unb:9520001000010:14:9520002000019:14:1001", "class": "invoice", "number": "RE-2026-004711"}}
}

// arrived waits until no subscription has anything left to send.
func (r *run) arrived(ctx context.Context) error {
	subs := outbox.Subscriptions{Pool: r.site.Pool}
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		h, err := subs.Health(ctx)
		if err != nil {
			return err
		}
		if h.Oldest == 0 && h.Streams == 3*len(partnerIDs) && h.SetAside == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("events are left after ten minutes: %+v", h)
		}
		// a failure puts a stream off for up to five minutes: nobody waits for that here
		if _, err := r.site.Pool.Exec(ctx, `update subscription_stream set due_at = now() where lease_id is null and due_at > now() + interval '3 seconds'`); err != nil {
			return err
		}
	}
}

// judge holds what each receiver has against what was committed.
func (r *run) judge(ctx context.Context, webhook, mailbox string) error {
	committed := map[string][]string{}
	rows, err := r.site.Pool.Query(ctx, `select partner_id, event_id::text from outbox where kind = 'event' order by xid, event_id`)
	if err != nil {
		return err
	}
	var partner, id string
	if _, err := pgx.ForEachRow(rows, []any{&partner, &id}, func() error {
		committed[partner] = append(committed[partner], id)
		return nil
	}); err != nil {
		return err
	}
	kafka, err := r.broker.read(ctx, "edigw")
	if err != nil {
		return err
	}
	hooked, err := arrivalsIn(webhook)
	if err != nil {
		return err
	}
	mailed, err := arrivalsIn(mailbox)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		at   string
		list []arrival
	}{{"Kafka", kafka}, {"the webhook receiver", hooked}, {"the mail server", mailed}} {
		for _, partner := range partnerIDs {
			faults := compare(committed[partner], c.list, partner)
			if len(faults) == 0 {
				r.ok++
				continue
			}
			r.failed++
			fmt.Printf("FAIL %s, %s: %s\n", c.at, partner, strings.Join(faults, "; "))
		}
		fmt.Printf("%s: %d arrivals of %d events\n", c.at, len(c.list), len(committed["acme"])+len(committed["bolt"])+len(committed["cord"]))
	}
	fmt.Printf("%d combinations, %d ok, %d failed, 0 skipped\n", r.ok+r.failed, r.ok, r.failed)
	return nil
}

// compare gives what is wrong with what arrived of a partner's events: one that is
// missing, a stranger, or one that came before another for the first time although it
// stands behind it.
func compare(committed []string, arrived []arrival, partner string) (faults []string) {
	place := map[string]int{}
	for i, id := range committed {
		place[id] = i
	}
	first, last := map[string]bool{}, -1
	for _, a := range arrived {
		if a.Partner != partner || first[a.ID] {
			continue
		}
		first[a.ID] = true
		at, known := place[a.ID]
		switch {
		case !known:
			faults = append(faults, "a stranger: "+a.ID)
		case at < last:
			faults = append(faults, "out of order: "+a.ID)
		default:
			last = at
		}
	}
	if missing := len(committed) - len(first); missing != 0 {
		faults = append(faults, fmt.Sprintf("%d of %d are missing", missing, len(committed)))
	}
	return faults[:min(len(faults), 5)]
}

// gateways are the two that relay.
type gateways struct {
	site            *site.Site
	program, secret string
	running         [2]*site.Gateway
}

func (g *gateways) startAll(ctx context.Context) error {
	return errors.Join(g.start(ctx, 0), g.start(ctx, 1))
}

func (g *gateways) start(ctx context.Context, i int) (err error) {
	g.running[i], err = g.site.Start(ctx, g.program, "EDIGW_ALLOW_TARGETS=127.0.0.1", "EDIGW_SECRET_HOOK="+g.secret, "EDIGW_WORK_LEASE=2s", "EDIGW_DATABASE_CONNECTIONS=10")
	return err
}

func (g *gateways) kill(i int) error { return g.running[i].Kill() }

func (g *gateways) killAll() error {
	var errs []error
	for _, x := range g.running {
		if x != nil {
			errs = append(errs, x.Kill())
		}
	}
	return errors.Join(errs...)
}

// logs is the end of what both have written.
func (g *gateways) logs() (text string) {
	for _, x := range g.running {
		log := x.Log()
		text += log[max(0, len(log)-3000):] + "\n"
	}
	return text
}
