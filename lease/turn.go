package lease

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns says whose piece is taken next: of the partners that have something due,
// the one of whom the fewest pieces are being done here, and among those the one
// after the last. So a partner with ten thousand pieces takes all workers while
// nobody else waits, and one in turn as soon as somebody does.
type turns struct {
	mu      sync.Mutex
	due     []string // sorted
	asked   time.Time
	pause   time.Duration // from then on, until it is asked anew
	last    string
	running map[string]int
}

// Asking what is due, which every worker does who finds nothing, is kept to a small part
// of the time: where there are ten thousand partners it takes the database a while.
const (
	askShare  = 10 // of the time one part
	askAtMost = 10 * time.Second
)

// took notes how long it took to ask. It is called by ask, within next.
func (t *turns) took(d time.Duration) { t.pause = min(askShare*d, askAtMost) }

// next gives the partner whose turn it is and counts one piece as being done; ""
// where nothing is due. ask gives the partners anew, where those known are used up
// or older than fresh.
func (t *turns) next(ctx context.Context, fresh time.Duration, ask func(context.Context) ([]string, error)) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if since := time.Since(t.asked); since >= t.pause && (len(t.due) == 0 || since > fresh) {
		due, err := ask(ctx)
		if err != nil {
			return "", err
		}
		t.due, t.asked = due, time.Now()
		slices.Sort(t.due)
	}
	if len(t.due) == 0 {
		return "", nil
	}
	from, found := slices.BinarySearch(t.due, t.last)
	if found {
		from++
	}
	best := ""
	for i := range t.due {
		p := t.due[(from+i)%len(t.due)]
		if best == "" || t.running[p] < t.running[best] {
			best = p
		}
	}
	if t.running == nil {
		t.running = map[string]int{}
	}
	t.running[best]++
	t.last = best
	return best, nil
}

// done counts a piece of a partner out. none: there was nothing to be taken.
func (t *turns) done(partner string, none bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[partner]--; t.running[partner] == 0 {
		delete(t.running, partner)
	}
	if i := slices.Index(t.due, partner); none && i >= 0 {
		t.due = slices.Delete(t.due, i, i+1)
	}
}

// forget makes the next turn ask who has something due.
func (t *turns) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due, t.pause = nil, 0
}
