//go:build linux

package crash_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy stands between a gateway and PostgreSQL and knows when a COMMIT passes.
type proxy struct {
	listener net.Listener
	socket   string // of the server

	mu       sync.Mutex
	atCommit func(*passage) // at the next COMMIT; nil lets it through
	closed   bool           // new connections are refused
	open     map[net.Conn]bool
	muted    map[net.Conn]bool // gateways that hear nothing any more
}

// passage is a COMMIT that has come from the gateway and not gone on yet.
type passage struct {
	proxy           *proxy
	gateway, server net.Conn
	held            []byte
}

// newProxy gives a proxy of the site's server, and the URL to reach that through
// it.
func newProxy(t *testing.T, s *site) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	p := &proxy{socket: filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port")), open: map[net.Conn]bool{}, muted: map[net.Conn]bool{}}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.listener.Close(); err != nil {
			t.Error(err)
		}
		p.cutAll()
	})
	go func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	u.Host, u.RawQuery = p.listener.Addr().String(), "sslmode=disable"
	return p, u.String()
}

// next says what to do with the next COMMIT.
func (p *proxy) next(do func(*passage)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atCommit = do
}

// refuse takes no new connections, or takes them again.
func (p *proxy) refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = yes
}

func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close() // it may be closed already
	}
}

func (p *proxy) serve(gateway net.Conn) {
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		_ = gateway.Close() // refused, then
		return
	}
	p.mu.Lock()
	refused := p.closed
	p.open[gateway], p.open[server] = true, true
	p.mu.Unlock()
	if !refused {
		go func() {
			_, _ = io.Copy(p.ear(gateway), server) // ends when either side is closed
			_ = gateway.Close()                    // it may be closed already
		}()
		p.pump(gateway, server)
	}
	_ = gateway.Close() // it may be closed already
	_ = server.Close()  // it may be closed already
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, gateway)
	delete(p.open, server)
	delete(p.muted, gateway)
}

// mute makes the server's answers get lost on their way to a gateway.
func (p *proxy) mute(gateway net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.muted[gateway] = true
}

// ear writes to a gateway until that is muted.
func (p *proxy) ear(gateway net.Conn) io.Writer {
	return writer(func(b []byte) (int, error) {
		p.mu.Lock()
		muted := p.muted[gateway]
		p.mu.Unlock()
		if muted {
			return len(b), nil
		}
		return gateway.Write(b)
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// pump hands on what the gateway says, message by message (PostgreSQL
// documentation, Message Formats), and stops before COMMIT: the Bind of the
// statement that was parsed as one, up to Sync.
func (p *proxy) pump(gateway, server net.Conn) {
	startup, err := message(gateway, 0)
	if err != nil {
		return
	}
	if _, err := server.Write(startup); err != nil {
		return
	}
	statements := map[string]string{} // by their names
	var held []byte
	for {
		m, err := message(gateway, 1)
		if err != nil {
			return
		}
		switch m[0] {
		case 'P': // Parse: name, query
			name, rest, _ := bytes.Cut(m[5:], []byte{0})
			query, _, _ := bytes.Cut(rest, []byte{0})
			statements[string(name)] = string(query)
		case 'B': // Bind: portal, statement
			_, rest, _ := bytes.Cut(m[5:], []byte{0})
			name, _, _ := bytes.Cut(rest, []byte{0})
			if strings.EqualFold(statements[string(name)], "commit") && p.armed() {
				held = append(held, m...)
				continue
			}
		}
		if held == nil {
			if _, err := server.Write(m); err != nil {
				return
			}
			continue
		}
		if held = append(held, m...); m[0] == 'S' { // Sync: all of it is here
			p.mu.Lock()
			do := p.atCommit
			p.atCommit = nil
			p.mu.Unlock()
			do(&passage{p, gateway, server, held})
			return
		}
	}
}

func (p *proxy) armed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.atCommit != nil
}

// message reads one message whose length follows after that many bytes.
func message(r io.Reader, kind int) ([]byte, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	m := make([]byte, kind+int(binary.BigEndian.Uint32(head[kind:])))
	copy(m, head)
	_, err := io.ReadFull(r, m[len(head):])
	return m, err
}

// cut closes the gateway's side: whatever the server answers is lost.
func (c *passage) cut() { _ = c.gateway.Close() } // it may be closed already

// forward hands the COMMIT to the server.
func (c *passage) forward() {
	_, _ = c.server.Write(c.held) // a server that is gone does not commit
}

// silence drops what the server says from now on.
func (c *passage) silence() { c.proxy.mute(c.gateway) }

// settle leaves the server time to do what it was told.
func (c *passage) settle() { time.Sleep(200 * time.Millisecond) }
