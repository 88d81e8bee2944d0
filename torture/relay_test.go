package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// echo answers each connection with what it says, twice.
func echo(t *testing.T) func() (net.Conn, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 100)
				n, err := c.Read(buf)
				if err == nil {
					_, _ = c.Write([]byte(strings.Repeat(string(buf[:n]), 2))) // it may be cut
				}
				_ = c.Close() // it may be cut
			}()
		}
	}()
	return func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }
}

func TestRelay(t *testing.T) {
	r, err := newRelay(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	say := func(t *testing.T) string {
		t.Helper()
		c, err := net.Dial("tcp", r.address())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(c) // a reset is what some of these want
		_ = c.Close()           // it may be cut
		return string(got)
	}
	for _, c := range []struct {
		name string
		cut  *cut
		want string
	}{
		{"an untouched connection carries everything", nil, "hellohello"},
		{"a connection is cut in what is answered", &cut{after: 7}, "hellohe"},
		{"a connection is cut in what is asked", &cut{up: true, after: 2}, "hehe"},
		{"a silent cut loses the rest and ends", &cut{after: 3, silent: true}, "hel"},
		{"a cut behind the last byte is none", &cut{after: 10}, "hellohello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.fired.Load()
			if c.cut != nil {
				r.cutNext(*c.cut)
			}
			// What stood before a reset may be lost with it.
			if got := say(t); got != c.want && !(c.cut != nil && strings.HasPrefix(c.want, got) && len(got) < len(c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if cuts := r.fired.Load() - before; (cuts == 1) != (c.want != "hellohello") {
				t.Errorf("%d cuts were counted", cuts)
			}
		})
	}
}
