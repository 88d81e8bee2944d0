package outbox

import (
	"sync"
	"time"

	"github.com/edigw/edigw/lease"
)

// failing knows, in this process, how many of each partner's effects are being tried,
// and of whom the last one failed. Such a partner is put off as a whole, and then tried
// with one effect at a time: a target that hangs would else have all workers wait for it
// while the others' effects are due. What is put off beyond that stands with each effect.
type failing struct {
	mu sync.Mutex
	by map[string]*trying // whoever is not in it fails not and has none on its way
}

type trying struct {
	running  int
	failures int // in a row
	until    time.Time
}

// free reports whether one more effect may be tried at a time; share bounds those of a
// partner at once, 0 does not.
func (t *trying) free(now time.Time, share int) bool {
	if t == nil {
		return true
	}
	if t.failures > 0 {
		return t.running == 0 && !now.Before(t.until)
	}
	return share == 0 || t.running < share
}

// free reports whether one more effect of the partner's may be tried.
func (f *failing) free(partner string, now time.Time, share int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[partner].free(now, share)
}

// begin counts an effect as being tried where one may be.
func (f *failing) begin(partner string, now time.Time, share int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.by[partner]
	if !t.free(now, share) {
		return false
	}
	if t == nil {
		if f.by == nil {
			f.by = map[string]*trying{}
		}
		t = &trying{}
		f.by[partner] = t
	}
	t.running++
	return true
}

// end counts it out. One that was done ends the back-off, one that failed makes it
// longer, and one of which nothing is known leaves it.
func (f *failing) end(partner string, state trial, now time.Time, first, most time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.by[partner]
	t.running--
	switch state {
	case succeeded:
		t.failures = 0
	case failed:
		t.failures++
		t.until = now.Add(lease.Backoff(t.failures, first, most))
	}
	if t.running == 0 && t.failures == 0 {
		delete(f.by, partner)
	}
}

// trial is how an attempt went for the partner's target.
type trial int

const (
	untold trial = iota // it was not reached, for a reason of ours
	succeeded
	failed
)
