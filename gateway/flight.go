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

// Running reports whether a delivery under this key is being received here, so
// that a transport can refuse a copy before it reads a large body.
func (g *Gateway) Running(partner, key string) bool {
	g.flight.mu.Lock()
	defer g.flight.mu.Unlock()
	return g.flight.busy[dedup.Ref{Partner: partner, ID: key}] != nil
}
