package rate

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
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

// posting is what one run of the generator does: over that many connections, each the
// next message when it has the answer to the last one.
type posting struct {
	URL      string
	Fresh    bool // each message over a connection of its own
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

// posts is the argument that makes a program the generator.
const posts = "post"

// Main is for the first line of a program that measures. It is the generator, a process
// of its own so that its processor time is told apart, where the program was started as
// that, and does not return then; positive tells of an answer's body whether the message
// was taken.
func Main(positive func(body []byte) bool) {
	if len(os.Args) != 2 || os.Args[1] != posts {
		return
	}
	if err := generate(os.Stdin, os.Stdout, positive); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// generate reads a posting, and writes its figures.
func generate(in io.Reader, out io.Writer, positive func([]byte) bool) error {
	var p posting
	if err := gob.NewDecoder(in).Decode(&p); err != nil {
		return err
	}
	f, err := p.run(positive)
	if err != nil {
		return err
	}
	return gob.NewEncoder(out).Encode(f)
}

// posted has this program run as the generator.
func (p posting) posted(ctx context.Context) (f figures, err error) {
	var in, out, said bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(p); err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", posts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &said
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("post to %s: %w: %s", p.URL, err, bytes.TrimSpace(said.Bytes()))
	}
	return f, gob.NewDecoder(&out).Decode(&f)
}

// run posts. An answer that is not positive ends it.
func (p posting) run(positive func([]byte) bool) (f figures, err error) {
	to, err := url.Parse(p.URL)
	if err != nil {
		return f, err
	}
	next := make(chan []byte, len(p.Messages))
	for _, m := range p.Messages {
		text, err := m.text(to)
		if err != nil {
			return f, err
		}
		next <- text
	}
	close(next)
	lines := make([]line, p.Clients)
	before, err := site.OwnCPU()
	if err != nil {
		return f, err
	}
	var wg sync.WaitGroup
	begun := time.Now()
	for i := range lines {
		lines[i] = line{to: to.Host, fresh: p.Fresh, positive: positive}
		wg.Go(func() { lines[i].err = lines[i].run(next) })
	}
	wg.Wait()
	f.Took = time.Since(begun)
	after, err := site.OwnCPU()
	if err != nil {
		return f, err
	}
	f.CPU = after - before
	var took []time.Duration
	for _, l := range lines {
		if l.err != nil { // one is enough: the others are alike
			return f, l.err
		}
		took, f.TryAgain = append(took, l.took...), f.TryAgain+l.again
	}
	slices.Sort(took)
	if f.Messages = len(took); f.Messages > 0 {
		f.P50, f.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return f, nil
}

// text is the request in its bytes (RFC 9112 §3).
func (m Message) text(to *url.URL) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", cmp.Or(to.Path, "/"), to.Host, len(m.Body))
	if err := m.Header.Write(&b); err != nil {
		return nil, err
	}
	b.WriteString("\r\n")
	b.Write(m.Body)
	return b.Bytes(), nil
}

// line is one client. net/http's would take a third of a core where messages are small.
type line struct {
	to       string
	fresh    bool
	positive func([]byte) bool
	conn     net.Conn
	from     *bufio.Reader

	took  []time.Duration
	again int
	err   error
}

func (l *line) run(next <-chan []byte) (err error) {
	defer func() { err = errors.Join(err, l.close()) }()
	for text := range next {
		start := time.Now()
		for {
			again, wait, err := l.post(text)
			if err != nil {
				return err
			}
			if !again {
				break
			}
			l.again++
			time.Sleep(wait)
		}
		l.took = append(l.took, time.Since(start))
	}
	return nil
}

func (l *line) close() error {
	if l.conn == nil {
		return nil
	}
	conn := l.conn
	l.conn = nil
	return conn.Close()
}

// post sends a message. again tells that it was put off, for so long.
func (l *line) post(text []byte) (again bool, wait time.Duration, err error) {
	if l.conn == nil {
		if l.conn, err = net.Dial("tcp", l.to); err != nil {
			return false, 0, err
		}
		l.from = bufio.NewReaderSize(l.conn, 16<<10)
	}
	if _, err := l.conn.Write(text); err != nil {
		return false, 0, err
	}
	answer, err := http.ReadResponse(l.from, nil)
	if err != nil {
		return false, 0, err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return false, 0, err
	}
	if l.fresh || answer.Close {
		if err := l.close(); err != nil {
			return false, 0, err
		}
	}
	if answer.StatusCode == http.StatusServiceUnavailable {
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			return true, time.Duration(seconds) * time.Second, nil
		}
	}
	if answer.StatusCode != http.StatusOK || !l.positive(body) {
		return false, 0, fmt.Errorf("%s: no positive answer, status %d: %.1500s", l.to, answer.StatusCode, body)
	}
	return false, 0, nil
}
