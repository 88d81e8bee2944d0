package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
)

// The bounds.
const (
	memoryBound  = 256 << 20 // VmHWM
	receiptBound = 1 << 20
)

// big is one run.
type big struct {
	size    int64
	program string
	env     []string // of every gateway, over AS4 and of many invoices
	out     io.Writer

	deferred bool  // over AS4: the documents are left to workers, of which there are none
	memory   int64 // VmHWM over AS4, 0 for what is promised of a gibibyte; or of many invoices

	broken []string // names of figures out of their bounds

	site     *site.Site
	messages int // in each file, or interchange
}

func (b *big) run(ctx context.Context) (err error) {
	// A transaction that is gone must be gone soon, so that the rows can be counted.
	if b.site, err = site.Open(ctx, map[string]string{"client_connection_check_interval": "200ms"}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.site.Close(context.WithoutCancel(ctx))) }()
	if b.program == "" {
		if b.program, err = b.site.Build(ctx); err != nil {
			return err
		}
	}
	first, err := b.generate("first.edi", 1)
	if err != nil {
		return err
	}
	if err := b.inspect(ctx, first); err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	if err := b.receive(ctx, first); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	second, err := b.generate("second.edi", 2)
	if err != nil {
		return err
	}
	if err := b.killed(ctx, second); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	return nil
}

// generate writes a file of one interchange, or several where one cannot count
// its messages. from makes its references and documents others than those of
// another file.
func (b *big) generate(name string, from int) (path string, err error) {
	path = filepath.Join(b.site.Dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	begun := time.Now()
	messages, interchanges, err := invoic.Write(f, b.size, from)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	b.messages = messages
	b.tell("generated", "%d messages in %d interchanges, %s, %.1f s", messages, interchanges, mebibytes(b.size), time.Since(begun).Seconds())
	return path, nil
}

// tell prints a figure.
func (b *big) tell(name, format string, args ...any) {
	fmt.Fprintf(b.out, "%-44s %s\n", name, fmt.Sprintf(format, args...))
}

// hold prints a figure with its bound and notes it if it is broken.
func (b *big) hold(name string, kept bool, format string, args ...any) {
	mark := ""
	if !kept {
		mark = "   BROKEN"
		b.broken = append(b.broken, name)
	}
	b.tell(name, format+"%s", append(args, mark)...)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// inspect reads the file by the command line.
func (b *big) inspect(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, b.program, "inspect", "-o", "json", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	told, findings, err := count(out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	b.tell("inspect: time", "%.1f s", time.Since(begun).Seconds())
	b.hold("inspect: messages", told == b.messages && findings == 0, "%d, %d findings", told, findings)
	b.hold("inspect: most memory", peak <= memoryBound, "%s of %s", mebibytes(peak), mebibytes(memoryBound))
	return nil
}

// count counts messages and findings in what inspect says, as it comes.
func count(r io.Reader) (messages, findings int, err error) {
	d := json.NewDecoder(r)
	depth, in := 0, ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			return messages, findings, nil
		}
		if err != nil {
			return 0, 0, err
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				depth++
				if t == '{' && in == "messages" && depth == 5 { // {interchanges [{messages [{
					messages++
				}
				if t == '{' && in == "findings" && depth == 3 {
					findings++
				}
			default:
				depth--
			}
		case string:
			if (t == "messages" && depth == 3) || (t == "findings" && depth == 1) {
				in = t
			}
		}
	}
}

// receive sends the file, a copy under the same key meanwhile, and the file again.
func (b *big) receive(ctx context.Context, path string) (err error) {
	g, err := b.site.Start(ctx, b.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	idle, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	answered := make(chan sent, 1)
	go func() { answered <- send(g.Address, path, "big-1") }()
	if err := b.written(ctx, g); err != nil {
		return err
	}
	b.tell("receive: body in, transaction open after", "%.1f s", time.Since(begun).Seconds())
	copied := send(g.Address, path, "big-1")
	b.hold("receive: a copy meanwhile", copied.status == 409 && copied.bytes < b.size/4, "%d after %s of its body", copied.status, mebibytes(copied.bytes))
	a := <-answered
	if a.err != nil {
		return a.err
	}
	took := time.Since(begun)
	peak, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	b.hold("receive: answer", a.status == 201, "%d after %.1f s, %.1f MB/s", a.status, took.Seconds(), float64(b.size)/1e6/took.Seconds())
	b.hold("receive: receipt", len(a.body) <= receiptBound, "%d bytes of %d", len(a.body), receiptBound)
	b.hold("receive: gateway's VmHWM", peak <= memoryBound, "%s of %s (%s when it was ready)", mebibytes(peak), mebibytes(memoryBound), mebibytes(idle))
	documents, err := b.site.Count(ctx, `select count(*) from document where state = 'live'`)
	if err != nil {
		return err
	}
	lines, err := b.site.Count(ctx, `select count(*) from document_line`)
	if err != nil {
		return err
	}
	b.hold("receive: documents in the tables", documents == int64(b.messages), "%d, with %d lines", documents, lines)

	begun = time.Now()
	again := send(g.Address, path, "big-1")
	if again.err != nil {
		return again.err
	}
	if peak, err = site.PeakMemory(g.Pid); err != nil {
		return err
	}
	b.hold("sent again: answer", again.status == 200 && bytes.Equal(again.body, a.body), "%d after %.1f s, the same body: %t", again.status, time.Since(begun).Seconds(), bytes.Equal(again.body, a.body))
	b.hold("sent again: gateway's VmHWM", peak <= memoryBound, "%s of %s", mebibytes(peak), mebibytes(memoryBound))
	return nil
}

// written waits until the gateway's transaction has written documents.
func (b *big) written(ctx context.Context, g *site.Gateway) error {
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n, err := b.site.Count(ctx, `
			select count(*) from pg_stat_activity
			where application_name = 'edigw' and xact_start is not null and query like '%insert into document_line%'`)
		if err != nil || n > 0 {
			return err
		}
		if _, err := site.CPU(g.Pid); err != nil {
			return fmt.Errorf("the gateway has ended: %s", g.Log())
		}
	}
	return errors.New("no document was written in ten minutes")
}

// killed kills the gateway while it writes documents and looks for what it left.
func (b *big) killed(ctx context.Context, path string) error {
	const rows = `select (select count(*) from document) + (select count(*) from document_line) + (select count(*) from inbox) + (select count(*) from document_key)
		+ (select count(*) from payload) + (select count(*) from outbox) + (select count(*) from delivery) + (select count(*) from acknowledgement)`
	before, err := b.site.Count(ctx, rows)
	if err != nil {
		return err
	}
	g, err := b.site.Start(ctx, b.program)
	if err != nil {
		return err
	}
	answered := make(chan sent, 1)
	go func() { answered <- send(g.Address, path, "big-2") }()
	if err := b.written(ctx, g); err != nil {
		return errors.Join(err, g.Kill())
	}
	if err := g.Kill(); err != nil {
		return err
	}
	if a := <-answered; a.err == nil {
		return fmt.Errorf("answered %d before it was killed", a.status)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		n, err := b.site.Count(ctx, `select count(*) from pg_stat_activity where application_name = 'edigw'`)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if time.Now().After(end) {
			return errors.New("the killed gateway's sessions do not end")
		}
	}
	after, err := b.site.Count(ctx, rows)
	if err != nil {
		return err
	}
	left, err := os.ReadDir(b.site.Spool())
	if err != nil {
		return err
	}
	b.hold("killed while writing: rows left", after == before, "%d", after-before)
	b.hold("killed while writing: files left", len(left) == 0, "%d", len(left))
	return nil
}
