package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// stormClients send at once, and again as soon as they have an answer; nobody
// heeds Retry-After.
const stormClients = 256

// What another partner must keep of its rate meanwhile.
const stormBar = 0.7

// Senders of the storm's site.
const (
	quiet  = 0 // who is measured
	stormy = 1
)

// copied is the number of the message whose copies are sent; nobody sends it else.
const copied = 1_000_000_000

// storm measures what a partner's storm does to another one. Both programs are
// builds that can be told to stop inside of a transaction, and do the same work.
type storm struct {
	b     *bench
	site  *site.Site
	built string
	next  int64

	copies, others weather
}

// weather is one kind of storm, round by round.
type weather struct {
	calm, during []float64 // the other partner's messages a second
	tryAgain     int64     // 409 and 503 that it was told
	told         map[string]int64
	connections  int // that the stormer held, at most
}

func (b *bench) openStorm(ctx context.Context) (_ *storm, err error) {
	x := &storm{b: b, next: 1}
	if x.site, err = site.OpenWith(ctx, site.Options{Partners: partnersYAML(2)}); err != nil {
		return nil, err
	}
	x.built = filepath.Join(x.site.Dir, "edigw-faults")
	if err := site.Build(ctx, x.built, "-tags", "faults"); err != nil {
		return nil, errors.Join(err, x.site.Close(context.WithoutCancel(ctx)))
	}
	return x, nil
}

// round measures the calm and then the storm, of copies of one message and of
// messages of its own each.
func (x *storm) round(ctx context.Context) error {
	if err := x.site.Empty(ctx); err != nil {
		return err
	}
	calm, err := x.site.Start(ctx, x.built, "EDIGW_FAULT=never=stop:1s") // with its points, as the other
	if err != nil {
		return err
	}
	rate, _, err := x.other(ctx, calm)
	if err != nil {
		return errors.Join(err, calm.Kill())
	}
	x.others.calm, x.copies.calm = append(x.others.calm, rate), append(x.copies.calm, rate)
	err = x.blow(ctx, &x.others, calm, false)
	if err = errors.Join(err, calm.Stop()); err != nil {
		return err
	}

	g, err := x.site.Start(ctx, x.built, "EDIGW_FAULT=claim=stop:1h")
	if err != nil {
		return err
	}
	defer func() { _ = g.Kill() }() // what is stopped inside has no better end
	first := make(chan error, 1)
	go func() { first <- once(g.Address, newEnvelope(senderNumber(stormy), g.Address).request(copied, copied)) }()
	for end := time.Now().Add(time.Minute); !strings.Contains(g.Log(), "edigw: fault at claim"); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-first:
			return fmt.Errorf("the first copy was answered: %w", err)
		default:
		}
		if time.Now().After(end) {
			return errors.New("the first copy does not come to its claim")
		}
	}
	return x.blow(ctx, &x.copies, g, true)
}

// once sends one request and waits for its answer.
func once(address string, request []byte) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	_, err = conn.Write(request)
	if err == nil {
		_, _, err = read(bufio.NewReader(conn))
	}
	return errors.Join(err, conn.Close())
}

// blow measures the other partner's rate during a storm.
func (x *storm) blow(ctx context.Context, w *weather, g *site.Gateway, copies bool) error {
	if w.told == nil {
		w.told = map[string]int64{}
	}
	var mu sync.Mutex
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var conns [stormClients]net.Conn
	for i := range stormClients {
		conn, err := net.Dial("tcp", g.Address)
		if err != nil {
			return err
		}
		conns[i] = conn
		wg.Go(func() {
			text, answer := newEnvelope(senderNumber(stormy), g.Address), bufio.NewReaderSize(conn, 16<<10)
			for n := int64(i) + 1; ; n += stormClients {
				request := text.request(n, n)
				if copies {
					request = text.request(copied, copied)
				}
				if _, err := conn.Write(request); err != nil {
					return // the storm is over
				}
				status, _, err := read(answer)
				if err != nil {
					return
				}
				mu.Lock()
				w.told[strconv.Itoa(status)]++
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if n, err := connections(g, senderNumber(stormy).id); err == nil {
				mu.Lock()
				w.connections = max(w.connections, n)
				mu.Unlock()
			}
		}
	})
	rate, tryAgain, err := x.other(ctx, g)
	close(stop)
	for _, c := range conns {
		_ = c.Close() // ends its sender
	}
	wg.Wait()
	w.during, w.tryAgain = append(w.during, rate), w.tryAgain+tryAgain
	return err
}

// other measures the partner that has no storm, warmed up.
func (x *storm) other(ctx context.Context, g *site.Gateway) (rate float64, tryAgain int64, err error) {
	l := load{Address: g.Address, Clients: limitClients, Seconds: 60, Most: 1000, From: x.next, Status: http.StatusCreated, Senders: 1, First: quiet, Lenient: true}
	if _, err := x.b.generated(ctx, l); err != nil {
		return 0, 0, err
	}
	l.From, l.Most, l.Seconds = x.next+l.Most, 0, x.b.seconds
	f, err := x.b.generated(ctx, l)
	x.next = l.From + f.Messages + f.TryAgain + limitClients
	return float64(f.Messages) / f.Seconds, f.TryAgain, err
}

var heldConnections = regexp.MustCompile(`(?m)^edigw_partner_connections\{partner="([^"]*)"\} (\d+)`)

// connections are those that a partner's deliveries hold now.
func connections(g *site.Gateway, partner string) (int, error) {
	response, err := http.Get("http://" + g.Operations + "/metrics")
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return 0, err
	}
	for _, m := range heldConnections.FindAllStringSubmatch(string(text), -1) {
		if m[1] == partner {
			return strconv.Atoi(m[2])
		}
	}
	return 0, nil
}

// print writes what came of all rounds.
func (x *storm) print(w io.Writer) {
	fmt.Fprintf(w, "\nstorm: %d clients of one partner, %d of another, whose rate is measured\n", stormClients, limitClients)
	for _, k := range []struct {
		what string
		bar  string
		w    *weather
	}{
		{"copies of one message whose first copy is stopped inside its transaction", fmt.Sprint(stormBar), &x.copies},
		{"new messages, all of them taken", "-", &x.others},
	} {
		ratios := make([]float64, len(k.w.during))
		for i := range ratios {
			ratios[i] = k.w.during[i] / k.w.calm[i]
		}
		var told []string
		for _, status := range slices.Sorted(maps.Keys(k.w.told)) {
			told = append(told, fmt.Sprintf("%s ×%d", status, k.w.told[status]))
		}
		fmt.Fprintf(w, "  %s:\n    the other keeps %.2f of %.0f msg/s (bar %s; %.2f to %.2f), and is told \"try again\" %d times\n    the stormer is told %s; it holds %d connections at most\n",
			k.what, median(ratios), median(k.w.calm), k.bar, slices.Min(ratios), slices.Max(ratios), k.w.tryAgain, strings.Join(told, ", "), k.w.connections)
	}
}

func (x *storm) close(ctx context.Context) error { return x.site.Close(context.WithoutCancel(ctx)) }

// storms runs the rounds of the storm on a site of their own.
func (b *bench) storms(ctx context.Context) (err error) {
	x, err := b.openStorm(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.close(ctx)) }()
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "storm, round %d of %d\n", round+1, b.rounds)
		if err := x.round(ctx); err != nil {
			return fmt.Errorf("storm: %w", err)
		}
	}
	x.print(os.Stdout)
	return nil
}
