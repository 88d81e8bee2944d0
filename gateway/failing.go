package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// failingFor is how long a failure makes this process unready. Then it is asked
// again, for whoever hears that it is not ready sends nothing that would show
// that it is.
const failingFor = time.Minute

// failing remembers that the database could not write, which no question that
// only reads can find out: its disk is full, say.
type failing struct {
	mu    sync.Mutex
	err   error
	since time.Time
}

// wrote takes how something that writes ended, and gives it back.
func (g *Gateway) wrote(err error) error {
	f := &g.failing
	f.mu.Lock()
	defer f.mu.Unlock()
	switch s := sqlState(err); {
	case err == nil:
		f.err = nil
	case s == "":
	case s[:2] == "53" || s[:2] == "58" || s[:2] == "XX": // resources, its system, itself
		f.err, f.since = err, time.Now()
	}
	return err
}

// Failing gives the failure of the database that ended the last delivery, for
// a minute, or until one is committed.
func (g *Gateway) Failing(context.Context) error {
	f := &g.failing
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || time.Since(f.since) > failingFor {
		return nil
	}
	return fmt.Errorf("the last delivery could not be stored: %w", f.err)
}
