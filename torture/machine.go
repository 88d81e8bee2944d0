package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// machine is what is tortured: PostgreSQL, gateways, and a balancer before them.
type machine struct {
	site       *site.Site
	program    string
	volume     string // where PostgreSQL lives, if that can be filled; else ""
	nodes      []*node
	ingress    *relay // the balancer
	operations *relay // and that of the operators
	turn       atomic.Int64
	told       *tally

	server   sync.Mutex // PostgreSQL is started and killed by one at a time
	filling  sync.Mutex // and its volume filled
	stopping atomic.Bool
	done     sync.WaitGroup
}

// node is one of the gateways: whatever ends is started again.
type node struct {
	n        int
	m        *machine
	database *relay // between it and PostgreSQL

	mu    sync.Mutex
	up    *site.Gateway
	env   []string // of the next start
	fails []string // of every start
}

// settings keep PostgreSQL small. Everything that makes a COMMIT durable is as
// in production.
var settings = map[string]string{"shared_buffers": "96MB", "max_wal_size": "192MB", "min_wal_size": "64MB", "wal_compression": "", "checkpoint_timeout": "30s"}

// newMachine starts everything. With full PostgreSQL lives on a volume that can
// be filled, where this user may mount one.
func newMachine(ctx context.Context, program string, all []*partner, gateways int, full bool, told *tally) (_ *machine, err error) {
	m := &machine{program: program, told: told}
	o := site.Options{Settings: settings, Partners: configuration(all)}
	if full {
		o.Volume = m.mount
	}
	if m.site, err = site.OpenWith(ctx, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	u, err := url.Parse(m.site.URL())
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port"))
	for i := range gateways {
		n := &node{n: i + 1, m: m}
		if n.database, err = newRelay(func() (net.Conn, error) { return net.Dial("unix", socket) }); err != nil {
			return nil, err
		}
		through := *u
		through.Host, through.RawQuery = n.database.address(), "sslmode=disable"
		n.fails = []string{"EDIGW_DATABASE_URL=" + through.String(), "EDIGW_DATABASE_CONNECTIONS=10", "EDIGW_FAULT_PATIENCE=4s", "EDIGW_WORK_LEASE=3s"}
		if i == 0 {
			n.fails = append(n.fails, "EDIGW_FAULT_HANDLER="+deadly+"*")
		}
		m.nodes = append(m.nodes, n)
		if err := n.start(ctx); err != nil {
			return nil, err
		}
	}
	dial := func(address func(*site.Gateway) string) func() (net.Conn, error) {
		return func() (net.Conn, error) { return m.balance(address) }
	}
	if m.ingress, err = newRelay(dial(func(g *site.Gateway) string { return g.Address })); err != nil {
		return nil, err
	}
	if m.operations, err = newRelay(dial(func(g *site.Gateway) string { return g.Operations })); err != nil {
		return nil, err
	}
	for _, n := range m.nodes {
		m.done.Go(n.keep)
	}
	return m, nil
}

// balance connects to the gateways by turns, past those that are down.
func (m *machine) balance(address func(*site.Gateway) string) (net.Conn, error) {
	for range m.nodes {
		n := m.nodes[int(m.turn.Add(1))%len(m.nodes)]
		n.mu.Lock()
		g := n.up
		n.mu.Unlock()
		if g == nil {
			continue
		}
		if c, err := net.DialTimeout("tcp", address(g), time.Second); err == nil {
			return c, nil
		}
	}
	return nil, errNobody
}

// start starts the gateway, once.
func (n *node) start(ctx context.Context) error {
	n.mu.Lock()
	env := append(append([]string{}, n.fails...), n.env...)
	n.env = nil
	n.mu.Unlock()
	g, err := n.m.site.Start(ctx, n.m.program, env...)
	if err != nil {
		if g != nil {
			err = errors.Join(err, g.Kill())
		}
		return err
	}
	n.mu.Lock()
	n.up = g
	n.mu.Unlock()
	return nil
}

// keep starts the gateway again whenever it has ended.
func (n *node) keep() {
	for !n.m.stopping.Load() {
		n.mu.Lock()
		g := n.up
		n.mu.Unlock()
		if g == nil {
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			if err := n.start(ctx); err != nil { // the database may be away: again
				time.Sleep(100 * time.Millisecond)
			}
			cancel()
			continue
		}
		<-g.Exited()
		n.m.told.add("at a point of a delivery", strings.Count(g.Log(), "edigw: fault at "))
		n.mu.Lock()
		n.up = nil
		n.mu.Unlock()
	}
}

// gateway is what runs now, nil while it is down.
func (n *node) gateway() *site.Gateway {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// kill ends the gateway with SIGKILL; env is for the next start.
func (n *node) kill(env ...string) bool {
	n.mu.Lock()
	g := n.up
	if g != nil {
		n.env = env
	}
	n.mu.Unlock()
	return g != nil && syscall.Kill(g.Pid, syscall.SIGKILL) == nil
}

// killServer kills PostgreSQL: the postmaster alone, whose children notice, or
// all of it at once. Then it is started again.
func (m *machine) killServer(ctx context.Context, all bool) error {
	m.server.Lock()
	defer m.server.Unlock()
	pids := []int{m.site.Postmaster()}
	if all {
		children, err := site.Children(pids[0])
		if err != nil {
			return err
		}
		pids = append(pids, children...)
	}
	if err := signalAll(syscall.SIGKILL, pids...); err != nil {
		return err
	}
	<-m.site.ServerExited()
	return m.restart(ctx)
}

// restart starts PostgreSQL that has ended, again if need be: its volume may be
// full at this moment.
func (m *machine) restart(ctx context.Context) (err error) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = m.site.StartServer(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// revive starts PostgreSQL if it has ended by itself, for want of room.
func (m *machine) revive(ctx context.Context) error {
	m.server.Lock()
	defer m.server.Unlock()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		select {
		case <-m.site.ServerExited():
			return m.restart(ctx)
		default:
		}
		if err := m.site.Pool.Ping(ctx); err == nil {
			return nil
		} else if time.Now().After(end) {
			return fmt.Errorf("PostgreSQL neither ends nor answers: %w", err)
		}
	}
}

// pauseServer stops every process of PostgreSQL for a while.
func (m *machine) pauseServer(length time.Duration) error {
	m.server.Lock()
	defer m.server.Unlock()
	pids, err := site.Children(m.site.Postmaster())
	if err != nil {
		return err
	}
	pids = append(pids, m.site.Postmaster())
	if err := signalAll(syscall.SIGSTOP, pids...); err != nil {
		return err
	}
	time.Sleep(length)
	return signalAll(syscall.SIGCONT, pids...)
}

// signalAll sends to all that are still there.
func signalAll(s syscall.Signal, pids ...int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("send %v to process %d: %w", s, pid, err)
		}
	}
	return nil
}

// settle ends the gateways in order, so that all they write later is written.
func (m *machine) settle() error {
	m.stopping.Store(true)
	var errs []error
	for _, n := range m.nodes {
		if g := n.gateway(); g != nil {
			errs = append(errs, signalAll(syscall.SIGCONT, g.Pid))
			if err := g.Stop(); err != nil {
				errs = append(errs, fmt.Errorf("gateway %d, asked to stop, ended with %w: %s", n.n, err, lastLines(g.Log(), 5)))
			}
		}
	}
	m.done.Wait()
	return errors.Join(errs...)
}

// lastLines gives the last n lines of a log.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// close takes everything away.
func (m *machine) close() error {
	m.stopping.Store(true)
	var errs []error
	for _, n := range m.nodes {
		if g := n.gateway(); g != nil {
			errs = append(errs, signalAll(syscall.SIGKILL, g.Pid))
		}
	}
	m.done.Wait()
	for _, n := range m.nodes { // one that was being started meanwhile
		if g := n.gateway(); g != nil {
			errs = append(errs, signalAll(syscall.SIGKILL, g.Pid))
		}
		errs = append(errs, n.database.close())
	}
	for _, r := range []*relay{m.ingress, m.operations} {
		if r != nil {
			errs = append(errs, r.close())
		}
	}
	if m.site != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		errs = append(errs, m.site.Close(ctx))
	}
	return errors.Join(errs...)
}
