package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/edigw/edigw/bench/invoic"
)

// first is the number of the first interchange that OpenAS2 sends.
const first = 10_000

// sendingOpenAS2 is OpenAS2 with what it is to send.
type sendingOpenAS2 struct {
	*openAS2
	list []variant
	door *httptest.Server // of the first of them, before the gateway's
	cut  *cutOnce
}

// startOpenAS2ToGateway starts it with all its variants, and one more whose connection
// is cut before the MDN; it receives under the names of received.
func (r *run) startOpenAS2ToGateway(ctx context.Context, g *gateway, received []string, ports openAS2Ports) (*sendingOpenAS2, error) {
	target := &url.URL{Scheme: "http", Host: g.Running.Address, Path: "/as2"}
	s := &sendingOpenAS2{cut: &cutOnce{proxy: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: g.Running.Address})}}
	s.door = httptest.NewServer(s.cut)
	s.list = append([]variant{{name: "signed SHA256, encrypted AES128, cut before the MDN", sign: "SHA256", encrypt: "AES128", url: s.door.URL + "/as2"}}, variants()...)
	var err error
	if s.openAS2, err = r.startOpenAS2(ctx, target.String(), s.list, received, ports); err != nil {
		s.door.Close()
		return nil, err
	}
	return s, nil
}

func (s *sendingOpenAS2) stop() error {
	s.door.Close()
	return s.process.Stop()
}

// openAS2ToGateway has OpenAS2 send all its variants at once. What it sends again after
// the connection was cut has a new Message-ID.
func (r *run) openAS2ToGateway(ctx context.Context, g *gateway, o *sendingOpenAS2) error {
	list, cut := o.list, o.cut
	before, err := g.documents(ctx)
	if err != nil {
		return err
	}
	content := func(i int) []byte {
		return bytes.ReplaceAll(invoic.TwentyLines(first+int64(i)), []byte("\n"), []byte("\r\n"))
	}
	file := func(i int) string { return fmt.Sprintf("openas2_%02d.edi", i) }
	for i := range list {
		if err := o.send(i, file(i), content(i)); err != nil {
			return err
		}
	}
	for i, v := range list {
		var failure error
		if !v.ownMIC {
			failure = o.accepted(ctx, file(i))
		}
		if failure == nil {
			failure = g.heldOnce(ctx, content(i), file(i), v.nameless)
		}
		if failure == nil && v.url != "" && len(cut.ids()) < 2 {
			failure = fmt.Errorf("the Message-IDs %q are not two", cut.ids())
		}
		r.Says("to edigw, OpenAS2: "+v.name, failure)
	}
	documents, err := g.documents(ctx)
	if err == nil && documents-before != int64(len(list)) {
		err = fmt.Errorf("OpenAS2 has sent %d interchanges, and %d documents have been made", len(list), documents-before)
	}
	return err
}

// heldOnce tells whether the interchange was accepted, byte for byte, under the name
// of its file where it had one.
func (g *gateway) heldOnce(ctx context.Context, content []byte, file string, nameless bool) error {
	digest := sha256.Sum256(bytes.TrimRight(content, "\r\n"))
	held, err := g.count(ctx, `select count(*) from inbox where partner_id = $1 and message_id like 'unb:%' and payload_sha256 = $2`, sender, digest[:])
	if err != nil {
		return err
	}
	named, err := g.count(ctx, `select count(*) from delivery where partner_id = $1 and filename = $2`, sender, file)
	if err == nil && (held != 1 || named == 0 && !nameless) {
		err = fmt.Errorf("%d interchanges are held as it was sent, and %d deliveries have its file name", held, named)
	}
	return err
}

// cutOnce brings requests on, and cuts the connection of the first when its answer
// is there.
type cutOnce struct {
	proxy *httputil.ReverseProxy

	mu   sync.Mutex
	seen map[string]bool // Message-IDs
}

func (c *cutOnce) ids() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.seen {
		list = append(list, id)
	}
	return list
}

func (c *cutOnce) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	isFirst := len(c.seen) == 0
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[r.Header.Get("Message-ID")] = true
	c.mu.Unlock()
	if !isFirst {
		c.proxy.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	c.proxy.ServeHTTP(answer, r)
	_, _ = io.Copy(io.Discard, answer.Result().Body) // it is there, and goes nowhere
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if tcp, is := connection.(*net.TCPConn); is {
		_ = tcp.SetLinger(0) // a reset, as of a line that breaks
	}
	_ = connection.Close() // that is the point
}
