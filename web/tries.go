package web

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// How often an address may show tokens that prove nobody before it has to wait,
// and what is remembered.
const (
	maxTries   = 20 // different tokens a minute
	maxWrong   = 10_000
	maxSources = 10_000
	maxProved  = 10_000
	window     = time.Minute
)

// tries keeps whoever shows one wrong token after the other from the database. A
// token that proved nobody proves nobody for the rest of the minute, without being
// looked up: a program that goes on with a token that has expired costs nothing, and
// keeps nobody else behind its address out. Tokens that proved somebody lately are
// looked up however many wrong ones came from the same address, for behind a proxy
// all have one. The zero value is ready.
type tries struct {
	mu     sync.Mutex
	since  time.Time // when the counts began
	wrong  map[[sha256.Size]byte]struct{}
	by     map[netip.Prefix]int
	proved map[[sha256.Size]byte]struct{} // in this window or the one before
	before map[[sha256.Size]byte]struct{}
}

// try is what is known of a token before it is looked up.
type try int

const (
	lookUp  try = iota
	isWrong     // it proved nobody a moment ago
	tooMany     // of its address
)

// of says what to do with a token that was shown from an address, and when to come
// again if that is too often.
func (t *tries) of(now time.Time, remote string, token string) (try, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(now)
	sum := sha256.Sum256([]byte(token))
	if _, known := t.wrong[sum]; known {
		return isWrong, 0
	}
	_, proved := t.proved[sum]
	_, earlier := t.before[sum]
	if !proved && !earlier && t.by[source(remote)] >= maxTries {
		return tooMany, max(time.Second, t.since.Add(window).Sub(now))
	}
	return lookUp, 0
}

// told notes what came of looking a token up.
func (t *tries) told(now time.Time, remote string, token string, proved bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(now)
	sum := sha256.Sum256([]byte(token))
	if proved {
		if len(t.proved) < maxProved {
			t.proved[sum] = struct{}{}
		}
		return
	}
	delete(t.proved, sum)
	delete(t.before, sum)
	if len(t.wrong) < maxWrong {
		t.wrong[sum] = struct{}{}
	}
	from := source(remote)
	if _, known := t.by[from]; !known && len(t.by) >= maxSources {
		return // so many at once are no person's mistake, and no memory of ours helps
	}
	t.by[from]++
}

// turn begins a new window where the old one is over.
func (t *tries) turn(now time.Time) {
	if t.wrong != nil && now.Sub(t.since) < window && !now.Before(t.since) {
		return
	}
	t.since, t.before = now, t.proved
	t.wrong, t.by, t.proved = map[[sha256.Size]byte]struct{}{}, map[netip.Prefix]int{}, map[[sha256.Size]byte]struct{}{}
}

// source is whom an address counts for: of IPv6 the network of one customer.
func source(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	return netip.PrefixFrom(ip, bits).Masked()
}

// tooManyTries is the answer to whoever has to wait.
func tooManyTries(wait time.Duration) *problem {
	seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
	return &problem{Status: http.StatusTooManyRequests, Type: "too-many-tries", RetryAfter: seconds,
		Detail: "your address has shown too many tokens that prove nobody; come again in " + seconds + " s with one that `edigw tokens create` gave"}
}
