// Package lease shares work among the workers of any number of processes. Each
// piece is taken for a while, done, and ended or put off; what a process had taken
// that died is taken by another when the lease runs out.
//
// It knows no table: deferred messages and effects outside the database come in as
// a Source. A lease keeps work from being done twice at once, most of the time;
// what keeps it from having its effect twice is the check of the lease in the
// transaction that ends the work, which is the Source's.
package lease

import (
	"context"
	"math/rand/v2"
	"time"
)

// Source is where leased work stands.
type Source struct {
	Name string // for the log
	// Due gives the partners of whom something may be taken now, each once, in any
	// order that stays the same.
	Due func(ctx context.Context) ([]string, error)
	// Take takes the piece of a partner that is due longest, for term; nil where
	// there is none any more.
	Take func(ctx context.Context, partner string, term time.Duration) (Piece, error)
}

// Piece is work that was taken.
type Piece interface {
	// Do does it, and ends it or puts it off. Where ctx ends before, it leaves the
	// work as it was. An error has been told and is only passed on for tests.
	Do(ctx context.Context) error
	// Renew makes the lease last for term from now, and reports whether it is still
	// this piece's.
	Renew(ctx context.Context, term time.Duration) (kept bool, err error)
	// Return ends the lease of a piece that was not done, so that it is taken at
	// once.
	Return(ctx context.Context) error
	// String names it in the log.
	String() string
}

// Backoff is how long after its n-th failure a piece is tried again: first, twice
// as long each time, most at most. Half of it is random, so that what failed
// together does not come back together.
func Backoff(n int, first, most time.Duration) time.Duration {
	d := first
	for range n - 1 {
		if d *= 2; d >= most {
			d = most
			break
		}
	}
	return d/2 + rand.N(d/2+1)
}
