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
	begun    time.Time
	told     time.Time
}

func (a *app) progressOf(total int) *progress {
	return &progress{w: a.stderr, terminal: terminal(a.stderr), total: total, begun: time.Now(), told: time.Now()}
}

func (p *progress) done(ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	if !ok {
		p.failed++
	}
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
	rate := float64(p.finished) / passed.Seconds()
	left := time.Duration(float64(p.total-p.finished) / rate * float64(time.Second)).Round(time.Second)
	line := fmt.Sprintf("%d of %d, %d refused, %.1f a second, %s left", p.finished, p.total, p.failed, rate, left)
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
