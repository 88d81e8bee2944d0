package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress tells on standard error how far a long run is: on a terminal one line
// that changes, else a line every ten seconds. A run of one thing says nothing.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	total    int
	finished int
	failed   int
	skipped  int    // of the finished ones, by an earlier run
	word     string // for those that failed
	begun    time.Time
	told     time.Time
}

func (a *app) progressOf(total int) *progress {
	return &progress{w: a.stderr, terminal: terminal(a.stderr), total: total, word: "refused", begun: time.Now(), told: time.Now()}
}

func (p *progress) done(ok bool) {
	if ok {
		p.advance(1, 0)
	} else {
		p.advance(1, 1)
	}
}

// advance notes that more are finished, and how many of them failed.
func (p *progress) advance(finished, failed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished += finished
	p.failed += failed
	every := 10 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if p.total > 1 && time.Since(p.told) >= every {
		p.tell()
	}
}

func (p *progress) tell() {
	p.told = time.Now()
	passed := time.Since(p.begun)
	rate := float64(p.finished-p.skipped) / passed.Seconds()
	left := time.Duration(float64(p.total-p.finished) / rate * float64(time.Second)).Round(time.Second)
	line := fmt.Sprintf("%d of %d, %d %s, %.1f a second, %s left", p.finished, p.total, p.failed, p.word, rate, left)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(p.w, line)
}

// end clears the line that changed.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.total > 1 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// skip leaves out what an earlier run has finished: it counts, but not for the
// rate.
func (p *progress) skip(finished int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished, p.skipped = finished, finished
}
