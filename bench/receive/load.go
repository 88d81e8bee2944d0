package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/invoic"
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
}

// figures are what came of it.
type figures struct {
	Messages int64
	Seconds  float64
	CPU      float64       // of the generator, in seconds
	P50, P99 time.Duration // from the first byte sent to the last one read
}

// run sends. An answer with another status than expected ends it.
func (l load) run() (figures, error) {
	before, err := ownCPU()
	if err != nil {
		return figures{}, err
	}
	var next atomic.Int64
	most := int64(math.MaxInt64)
	if l.Most > 0 {
		most = l.Most
	}
	end := time.Now().Add(time.Duration(l.Seconds * float64(time.Second)))
	took, errs := make([][]time.Duration, l.Clients), make([]error, l.Clients)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range l.Clients {
		wg.Go(func() {
			turn := int64(i)
			took[i], errs[i] = l.client(end, func() (int64, bool) {
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
	after, err := ownCPU()
	for _, e := range append(errs, err) {
		if e != nil { // one is enough: the others are alike
			return f, e
		}
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	f.Messages, f.CPU = int64(len(all)), after-before
	if len(all) > 0 {
		f.P50, f.P99 = all[len(all)/2], all[len(all)*99/100]
	}
	return f, nil
}

// client is one connection.
func (l load) client(end time.Time, number func() (int64, bool)) (took []time.Duration, err error) {
	conn, err := net.Dial("tcp", l.Address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	const key = "k000000000000"
	head := fmt.Sprintf("POST /in/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: \"%s\"\r\nContent-Type: application/EDIFACT\r\nContent-Length: %d\r\n\r\n",
		site.Partner, l.Address, site.Token, key, invoic.Size())
	text := invoic.NewTemplate(len(head))
	at := strings.Index(head, key) + 1
	answer := bufio.NewReaderSize(conn, 16<<10)
	for begun := time.Now(); begun.Before(end); {
		n, more := number()
		if !more {
			break
		}
		request := text.Set(n)
		copy(request, head)
		copy(request[at:], fmt.Sprintf("%012d", n))
		if _, err := conn.Write(request); err != nil {
			return took, err
		}
		status, body, err := read(answer)
		if err != nil {
			return took, fmt.Errorf("interchange %d: %w", n, err)
		}
		if status != l.Status {
			return took, fmt.Errorf("interchange %d: status %d, want %d: %s", n, status, l.Status, body[:min(len(body), 400)])
		}
		now := time.Now()
		took = append(took, now.Sub(begun))
		begun = now
	}
	return took, nil
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

// ownCPU is this process's, in seconds.
func ownCPU() (float64, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, nil
}
