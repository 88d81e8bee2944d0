package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/accounts"
)

func TestWrongTokens(t *testing.T) {
	const here, neighbour, elsewhere = "192.0.2.1:1000", "192.0.2.1:2000", "192.0.2.2:1000"
	start := time.Date(2026, 11, 28, 9, 14, 0, 0, time.UTC)
	after := func(n int) *tries {
		x := &tries{}
		for i := range n {
			x.told(start, here, fmt.Sprint("wrong ", i), false)
		}
		return x
	}
	for _, c := range []struct {
		name   string
		wrong  int
		at     time.Duration
		remote string
		token  string
		want   try
	}{
		{"the first of all is looked up", 0, 0, here, "new", lookUp},
		{"one that was wrong is not looked up again", 1, time.Second, here, "wrong 0", isWrong},
		{"from wherever it comes", 1, time.Second, elsewhere, "wrong 0", isWrong},
		{"another one is, as long as it were few", maxTries - 1, time.Second, here, "new", lookUp},
		{"and then is not", maxTries, time.Second, here, "new", tooMany},
		{"whatever the port", maxTries, time.Second, neighbour, "new", tooMany},
		{"but from another address is", maxTries, time.Second, elsewhere, "new", lookUp},
		{"a wrong one stays 401, not 429", maxTries, time.Second, here, "wrong 3", isWrong},
		{"after a minute it begins anew", maxTries, window, here, "new", lookUp},
		{"also with the wrong one, which may be right by now", maxTries, window, here, "wrong 3", lookUp},
		{"and when the clock was set back", maxTries, -time.Hour, here, "new", lookUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, wait := after(c.wrong).of(start.Add(c.at), c.remote, c.token)
			if got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if (got == tooMany) != (wait > 0) || wait > window {
				t.Errorf("wait %v", wait)
			}
		})
	}
	t.Run("a token that proved somebody is looked up all the same, for two minutes", func(t *testing.T) {
		x := after(maxTries)
		x.told(start, here, "right", true)
		if got, _ := x.of(start, here, "right"); got != lookUp {
			t.Errorf("%v", got)
		}
		later := start.Add(window)
		for i := range maxTries {
			x.told(later, here, fmt.Sprint("wrong ", i), false)
		}
		if got, _ := x.of(later, here, "right"); got != lookUp {
			t.Errorf("%v in the minute after", got)
		}
		x.told(later, here, "right", false) // revoked
		if got, _ := x.of(later, here, "right"); got != isWrong {
			t.Errorf("%v after it was revoked", got)
		}
	})
	t.Run("a network of IPv6 is one source", func(t *testing.T) {
		if source("[2001:db8::1]:1") != source("[2001:db8::ffff:2]:2") || source("[2001:db8::1]:1") == source("[2001:db8:0:1::1]:1") {
			t.Error("by the first 64 bits")
		}
		if source("[::ffff:192.0.2.1]:1") != source("192.0.2.1:2") {
			t.Error("a mapped address is the address")
		}
	})
	t.Run("what is remembered is bounded", func(t *testing.T) {
		x := &tries{}
		for i := range maxWrong + 10 {
			x.told(start, fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), fmt.Sprint(i), false)
		}
		if len(x.wrong) > maxWrong || len(x.by) > maxSources {
			t.Errorf("%d tokens, %d sources", len(x.wrong), len(x.by))
		}
	})
}

func TestWhoGuessesHasToWait(t *testing.T) {
	r := newRig(t)
	for i := range maxTries {
		if a := r.ask(fmt.Sprintf("%s%d", accounts.TokenPrefix, i), http.MethodGet, "/partners", ""); a.status != http.StatusUnauthorized {
			t.Fatalf("try %d: %d", i, a.status)
		}
	}
	a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/partners", "")
	if p := a.problem(t); a.status != http.StatusTooManyRequests || p.Type != "too-many-tries" || a.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, a.header.Get("Retry-After")+" s") {
		t.Errorf("%d %q %+v", a.status, a.header.Get("Retry-After"), p)
	}
	if a := r.ask("", http.MethodGet, "/partners", ""); a.status != http.StatusUnauthorized {
		t.Errorf("no token guesses nothing: %d", a.status)
	}
	if n := strings.Count(r.log.String(), "token refused"); n != maxTries {
		t.Errorf("%d lines in the log", n)
	}
}
