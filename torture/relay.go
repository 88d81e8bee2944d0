package main

import (
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// relay passes connections on and cuts them at chosen bytes: before the gateways,
// and between each of them and PostgreSQL.
type relay struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	fired    atomic.Int64 // cuts that were made

	mu   sync.Mutex
	open []*link
	next []cut // for connections to come
}

// cut ends a connection behind so many more bytes of one direction. A silent one
// loses what follows for a while, then ends it.
type cut struct {
	up     bool // what the one who connected says, else what he is told
	after  int64
	silent bool
}

// link is one connection. left counts the bytes that still pass, up and down;
// negative is no limit.
type link struct {
	client, server net.Conn
	left           [2]atomic.Int64
	silent         atomic.Bool
	once           sync.Once
	fired          *atomic.Int64
}

const silence = 2 * time.Second // of a silent cut

// newRelay listens on a port of this machine.
func newRelay(dial func() (net.Conn, error)) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, dial: dial}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

// close ends everything.
func (r *relay) close() error {
	err := r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.open {
		l.end()
	}
	return err
}

func (r *relay) serve(client net.Conn) {
	server, err := r.dial()
	if err != nil {
		_ = client.Close() // nobody is there, which is what the client sees
		return
	}
	l := &link{client: client, server: server, fired: &r.fired}
	l.left[0].Store(-1)
	l.left[1].Store(-1)
	r.mu.Lock()
	r.open = append(r.open, l)
	if len(r.next) > 0 {
		l.arm(r.next[0])
		r.next = r.next[1:]
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		l.pump(client, server, &l.left[1])
		close(done)
	}()
	l.pump(server, client, &l.left[0])
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.DeleteFunc(r.open, func(o *link) bool { return o == l })
}

// cutNext arms a connection to come.
func (r *relay) cutNext(c cut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = append(r.next, c)
}

// cutOpen arms one of the open connections; false if there is none.
func (r *relay) cutOpen(which int, c cut) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) == 0 {
		return false
	}
	r.open[which%len(r.open)].arm(c)
	return true
}

// heal forgets the cuts that were not made.
func (r *relay) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = nil
	for _, l := range r.open {
		l.left[0].Store(-1)
		l.left[1].Store(-1)
	}
}

func (l *link) arm(c cut) {
	l.silent.Store(c.silent)
	i := 1
	if c.up {
		i = 0
	}
	l.left[i].Store(max(0, c.after))
}

// pump copies from one side to the other until the cut or the end.
func (l *link) pump(to, from net.Conn, left *atomic.Int64) {
	defer l.end()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if at := left.Load(); at >= 0 && int64(n) > at {
				l.fired.Add(1)
				_, _ = to.Write(buf[:at]) // the connection ends here anyhow
				if l.silent.Load() {
					l.swallow(from)
				}
				l.reset()
				return
			} else if at >= 0 {
				left.CompareAndSwap(at, at-int64(n))
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// swallow reads what is lost.
func (l *link) swallow(from net.Conn) {
	if err := from.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return
	}
	buf := make([]byte, 4<<10)
	for {
		if _, err := from.Read(buf); err != nil {
			return
		}
	}
}

// reset makes both ends see a connection that is gone, not one that was closed.
func (l *link) reset() {
	for _, c := range []net.Conn{l.client, l.server} {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // it may be closed already
		}
	}
}

func (l *link) end() {
	l.once.Do(func() {
		_ = l.client.Close() // it may be closed already
		_ = l.server.Close() // as above
	})
}

var errNobody = errors.New("no gateway is up")
