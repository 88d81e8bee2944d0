//go:build linux

package crash_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4"
)

// TestCutAS4 cuts the connection of a sender: while his message arrives, while it is
// processed, and between COMMIT and his receipt.
func TestCutAS4(t *testing.T) {
	t.Parallel()
	const invoices, places = 3, 5
	s := newAS4Site(t, (2*places+4)**runs)
	gateway := s.start(t)
	for n := range *runs {
		for _, framing := range []string{"with its length announced", "in chunks"} {
			for place := range places {
				run(t, fmt.Sprintf("in the middle of the body, %s, %d of %d/%d", framing, place+1, places, n+1), func(t *testing.T) {
					p := s.site.partner(t)
					m := s.message(t, p, 60)
					wire := bodyOf(t, m.composed)
					// Before the envelope ends, in the part, and before the last bytes of the boundary.
					at := []int{100, 3000, len(wire) / 2, len(wire) - 500, len(wire) - 4}[place]
					before := strings.Count(gateway.said(), "incomplete-body")
					if text := s.cut(t, gateway, m.composed, wire[:at], len(wire), framing == "in chunks", (place+n)%2 == 1); strings.Contains(text, "<eb:Receipt") {
						t.Errorf("a receipt for %d of %d bytes: %s", at, len(wire), text)
					}
					eventually(t, "the gateway knows that it was cut", func() bool { return strings.Count(gateway.said(), "incomplete-body") > before })
					p.nothing(t, s.pool)
					s.again(t, gateway, m, n%2 == 1)
				})
			}
		}
		run(t, fmt.Sprintf("the sender hangs up while his message is processed, which goes on/%d", n+1), func(t *testing.T) {
			s.hangUp(t, "claim", n%2 == 1)
		})
		run(t, fmt.Sprintf("after COMMIT, before the receipt/%d", n+1), func(t *testing.T) {
			s.hangUp(t, "commit answered", n%2 == 1)
		})
		for _, part := range []string{"the status line", "half of the receipt"} {
			run(t, fmt.Sprintf("of the receipt there is %s/%d", part, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.message(t, p, invoices)
				most := int64(len("HTTP/1.1 200 OK\r\n"))
				if part == "half of the receipt" {
					most = 2000
				}
				if _, err := s.push(t.Context(), &program{ingress: lossy(t, gateway, most)}, m.composed); err == nil || saysAgain(err) {
					t.Fatalf("a cut answer is taken for a whole one: %v", err)
				}
				s.once(t, m)
				s.again(t, gateway, m, n%2 == 1)
			})
		}
	}
	gateway.noPanic(t)
}

// hangUp closes the sender's connection while the delivery is held at a point. It has
// its effect all the same, and the retry has the receipt that was made for it.
func (s *as4Site) hangUp(t *testing.T, point string, anewFirst bool) {
	t.Helper()
	const invoices = 3
	p := s.site.partner(t)
	m := s.message(t, p, invoices)
	gateway := s.start(t, "EDIGW_FAULT="+point+"=stop:1s")
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	err := disturb(t, gateway, point, func() error {
		_, err := s.push(ctx, gateway, m.composed)
		return err
	}, hangUp)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the sender had hung up, and is told %v", err)
	}
	eventually(t, "the effect is committed", func() bool { return p.rows(t, s.pool)["document"] == invoices })
	s.once(t, m)
	if p.receipt(t, s.pool, m.id) == "" {
		t.Error("no receipt was committed with the effect")
	}
	s.again(t, gateway, m, anewFirst)
	gateway.noPanic(t)
}

// bodyOf is a message as its bytes.
func bodyOf(t *testing.T, c *as4.Composed) []byte {
	t.Helper()
	body := c.Body()
	b, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// cut sends the beginning of a message of so many bytes, once the gateway reads it, and
// then closes its side of the connection, or resets it. It gives what was answered, if
// it can be read.
func (s *as4Site) cut(t *testing.T, to *program, c *as4.Composed, begin []byte, whole int, chunked, reset bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(to.ingress, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it may be closed already
	framing := fmt.Sprintf("Content-Length: %d\r\n\r\n", whole)
	if chunked {
		framing = "Transfer-Encoding: chunked\r\n\r\n"
		begin = fmt.Appendf(nil, "%x\r\n%s", whole, begin) // the chunk says to be longer than it is
	}
	if _, err := fmt.Fprintf(conn, "POST /as4 HTTP/1.1\r\nHost: north\r\nContent-Type: %s\r\nExpect: 100-continue\r\n%s", c.ContentType, framing); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("the gateway does not read the body: %q, %v", line, err)
	}
	if _, err := conn.Write(begin); err != nil {
		t.Fatal(err)
	}
	if reset {
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadString('\n'); err != nil { // the empty line behind 100 Continue
		return ""
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return "" // it need not be answered
	}
	text, _ := io.ReadAll(response.Body) // what of it came
	_ = response.Body.Close()            // what was read of it counts
	return string(text)
}

// lossy is a way to a program on which so many bytes come back of an answer, and then
// the connection is gone.
func lossy(t *testing.T, to *program, most int64) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // it was waited for
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = from.Close() }() // that is what it is for
				back, err := net.Dial("tcp", strings.TrimPrefix(to.ingress, "http://"))
				if err != nil {
					return // the sender sees an end
				}
				defer func() { _ = back.Close() }()        // that is what it is for
				go func() { _, _ = io.Copy(back, from) }() // ends when either side is closed
				_, _ = io.CopyN(from, back, most)          // it is cut then, or was before
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}
