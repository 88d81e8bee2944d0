package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// load is what one run of the generator sends: over that many connections that
// stay open, each the next request when it has the last one's answer.
type load struct {
	Address string
	Clients int
	Seconds float64
	Most    int64 // messages at which it ends earlier; 0: none
	From    int64 // number of the first interchange
	Known   int64 // 0: every interchange is new; else those from From on, in turns, no two clients the same
	Status  int   // expected of every answer

	Senders int  // partners that send, by turns; 0: the site's only one
	First   int  // number of the first of Senders
	Random  bool // Idempotency-Keys are random, as those of AS2 are, and do not rise
	Lenient bool // "try again" is counted and does not end the run
}

// figures are what came of it.
type figures struct {
	Messages int64
	TryAgain int64 // answers of 409 and 503 beside them, if the load is lenient
	Seconds  float64
	CPU      float64       // of the generator, in seconds
	P50, P99 time.Duration // from the first byte sent to the last one read
}

// run sends. An answer with another status than expected ends it.
func (l load) run() (figures, error) {
	before, err := site.OwnCPU()
	if err != nil {
		return figures{}, err
	}
	var next atomic.Int64
	most := int64(math.MaxInt64)
	if l.Most > 0 {
		most = l.Most
	}
	end := time.Now().Add(time.Duration(l.Seconds * float64(time.Second)))
	took, errs, put := make([][]time.Duration, l.Clients), make([]error, l.Clients), make([]int64, l.Clients)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range l.Clients {
		wg.Go(func() {
			turn := int64(i)
			took[i], put[i], errs[i] = l.client(end, func() (int64, bool) {
				n := next.Add(1) - 1
				if l.Known > 0 {
					if turn >= l.Known {
						turn = int64(i)
					}
					n, turn = turn, turn+int64(l.Clients)
				}
				return l.From + n, n < most
			})
		})
	}
	wg.Wait()
	f := figures{Seconds: time.Since(start).Seconds()}
	after, err := site.OwnCPU()
	for _, e := range append(errs, err) {
		if e != nil { // one is enough: the others are alike
			return f, e
		}
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	f.Messages, f.CPU = int64(len(all)), (after - before).Seconds()
	for _, n := range put {
		f.TryAgain += n
	}
	if len(all) > 0 {
		f.P50, f.P99 = all[len(all)/2], all[len(all)*99/100]
	}
	return f, nil
}

// client is one connection.
func (l load) client(end time.Time, number func() (int64, bool)) (took []time.Duration, tryAgain int64, err error) {
	conn, err := net.Dial("tcp", l.Address)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	from := []*envelope{newEnvelope(theOne, l.Address)}
	if l.Senders > 0 {
		from = from[:0]
		for i := range l.Senders {
			from = append(from, newEnvelope(senderNumber(l.First+i), l.Address))
		}
	}
	answer := bufio.NewReaderSize(conn, 16<<10)
	for begun := time.Now(); begun.Before(end); {
		n, more := number()
		if !more {
			break
		}
		key := n
		if l.Random {
			key = rand.Int64N(1e12)
		}
		if _, err := conn.Write(from[int(n)%len(from)].request(n, key)); err != nil {
			return took, tryAgain, err
		}
		status, body, err := read(answer)
		if err != nil {
			return took, tryAgain, fmt.Errorf("interchange %d: %w", n, err)
		}
		if l.Lenient && (status == http.StatusConflict || status == http.StatusServiceUnavailable) {
			tryAgain++
			begun = time.Now()
			continue
		}
		if status != l.Status {
			return took, tryAgain, fmt.Errorf("interchange %d: status %d, want %d: %s", n, status, l.Status, body[:min(len(body), 400)])
		}
		now := time.Now()
		took = append(took, now.Sub(begun))
		begun = now
	}
	return took, tryAgain, nil
}

// read reads one answer, which has a Content-Length; body is what its first
// buffer holds of it.
func read(r *bufio.Reader) (status int, body []byte, err error) {
	length := -1
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case first:
			if len(line) < 12 {
				return 0, nil, fmt.Errorf("no status line: %q", line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, nil, fmt.Errorf("no status line: %q", line)
			}
		case len(line) == 0:
			if length < 0 {
				return 0, nil, errors.New("an answer without a length")
			}
			body, err := r.Peek(min(length, r.Size()))
			if err != nil {
				return 0, nil, err
			}
			_, err = io.CopyN(io.Discard, r, int64(length))
			return status, body, err
		default:
			if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				if length, err = strconv.Atoi(string(v)); err != nil {
					return 0, nil, err
				}
			}
		}
	}
}
