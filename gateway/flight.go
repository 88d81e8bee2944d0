package gateway

import (
	"sync"
	"time"

	"github.com/edigw/edigw/dedup"
)

// flight lets one copy of a key at a time into this process, so that waiting
// copies hold no database connection. Between processes the key's row decides.
type flight struct {
	mu   sync.Mutex
	busy map[dedup.Ref]chan struct{}
	// reading counts, of transport keys, the bodies that a transport is reading and the
	// deliveries that it has handed over.
	reading map[dedup.Ref]int
}

// enter waits until none of refs is in flight and takes them all, or gives up
// after wait. refs are sorted.
func (f *flight) enter(refs []dedup.Ref, wait time.Duration) (leave func(), ok bool) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		f.mu.Lock()
		var first chan struct{}
		for _, r := range refs {
			if c := f.busy[r]; c != nil {
				first = c
				break
			}
		}
		if first == nil {
			if f.busy == nil {
				f.busy = map[dedup.Ref]chan struct{}{}
			}
			done := make(chan struct{})
			for _, r := range refs {
				f.busy[r] = done
			}
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				for _, r := range refs {
					delete(f.busy, r)
				}
				f.mu.Unlock()
				close(done)
			}, true
		}
		f.mu.Unlock()
		select {
		case <-first:
		case <-deadline.C:
			return nil, false
		}
	}
}

// Reserve takes a transport key before a transport reads the body, so that a
// copy sent meanwhile is refused before its own is read. ok is false while
// another delivery under the key is being read or received here.
func (g *Gateway) Reserve(partner, key string) (release func(), ok bool) {
	return g.flight.reserve(dedup.Ref{Partner: partner, ID: key}, 1)
}

// reserve takes r, unless most have it or it is in flight.
func (f *flight) reserve(r dedup.Ref, most int) (release func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading[r] >= most || f.busy[r] != nil {
		return nil, false
	}
	if f.reading == nil {
		f.reading = map[dedup.Ref]int{}
	}
	f.reading[r]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.reading[r]--; f.reading[r] == 0 {
			delete(f.reading, r)
		}
	}, true
}
