package rate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// Message is a request as it goes over the line.
type Message struct {
	Header http.Header
	Body   []byte
}

// posting is what one run of the generator does: over that many connections that stay
// open, each the next message when it has the answer to the last one.
type posting struct {
	URL      string
	Positive string // regular expression that a positive answer's body matches
	Clients  int
	Messages []Message
}

// figures are what came of it.
type figures struct {
	Messages int
	TryAgain int // answers of 503 beside them, after which the message was sent again
	Took     time.Duration
	CPU      time.Duration // of the generator
	P50, P99 time.Duration // from the first byte sent to the last one read
}

// PostWord is the argument that makes a program the generator: it calls Post then.
const PostWord = "post"

// Post is the generator as a process of its own, so that its processor time is told
// apart: a posting in, its figures out.
func Post(in io.Reader, out io.Writer) error {
	var p posting
	if err := gob.NewDecoder(in).Decode(&p); err != nil {
		return err
	}
	f, err := p.run(context.Background())
	if err != nil {
		return err
	}
	return gob.NewEncoder(out).Encode(f)
}

// posted has the generator run as this program, with PostWord.
func (p posting) posted(ctx context.Context) (f figures, err error) {
	var in, out, said bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(p); err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", PostWord)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &said
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("post to %s: %w: %s", p.URL, err, bytes.TrimSpace(said.Bytes()))
	}
	return f, gob.NewDecoder(&out).Decode(&f)
}

// run posts. An answer that is not positive ends it.
func (p posting) run(ctx context.Context) (f figures, err error) {
	positive, err := regexp.Compile(p.Positive)
	if err != nil {
		return f, err
	}
	next := make(chan Message, len(p.Messages))
	for _, m := range p.Messages {
		next <- m
	}
	close(next)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.Clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	errs, took, again := make([]error, p.Clients), make([][]time.Duration, p.Clients), make([]int, p.Clients)
	before, err := site.OwnCPU()
	if err != nil {
		return f, err
	}
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range p.Clients {
		wg.Go(func() {
			for m := range next {
				start := time.Now()
				n, err := m.post(ctx, client, p.URL, positive)
				if again[i] += n; err != nil {
					errs[i] = err
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	f.Took = time.Since(begun)
	after, err := site.OwnCPU()
	if err := cmp.Or(cmp.Or(errs...), err); err != nil { // one is enough: the others are alike
		return f, err
	}
	f.CPU = after - before
	for _, n := range again {
		f.TryAgain += n
	}
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if f.Messages = len(all); f.Messages > 0 {
		f.P50, f.P99 = all[len(all)/2], all[len(all)*99/100]
	}
	return f, nil
}

// post sends it, and again where it is told to come again.
func (m Message) post(ctx context.Context, client *http.Client, url string, positive *regexp.Regexp) (again int, err error) {
	for ; ; again++ {
		wait, err := m.once(ctx, client, url, positive)
		if err != nil || wait == 0 {
			return again, err
		}
		select {
		case <-ctx.Done():
			return again, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once sends it. wait is how long to wait before the next time, 0 with a positive answer.
func (m Message) once(ctx context.Context, client *http.Client, url string, positive *regexp.Regexp) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(m.Body))
	if err != nil {
		return 0, err
	}
	request.Header = m.Header.Clone()
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err
	}
	if answer.StatusCode == http.StatusServiceUnavailable {
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			return time.Duration(seconds) * time.Second, nil
		}
	}
	if answer.StatusCode != http.StatusOK || !positive.Match(text) {
		return 0, fmt.Errorf("%s: no positive answer, status %d: %.1500s", url, answer.StatusCode, text)
	}
	return 0, nil
}

// Main runs the generator where the program was started as that, and ends.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != PostWord {
		return
	}
	if err := Post(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
