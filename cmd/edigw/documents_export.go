package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// documentsExport writes all documents that a search finds, any number of them.
type documentsExport struct {
	documentSearch
	Format string `enum:"jsonl,csv,ubl" default:"jsonl" help:"jsonl, a document a line; csv; or ubl, a zip of UBL 2.1 files of the invoices."`
	Rows   string `placeholder:"WORD" help:"Of csv: a row for each of the documents, which is the default, or of their lines."`
	Cells  string `placeholder:"WORD" help:"Of csv: guarded, the default, with an apostrophe before what a spreadsheet takes for a formula; or as-sent."`
	File   string `short:"o" placeholder:"FILE" help:"The file to write; what it held before is replaced when all is there. Standard output if left out, or -."`
	After  string `placeholder:"ID" help:"Go on behind this document, which an export that was not all names."`
	connection
}

func (c *documentsExport) Run(a *app) (err error) {
	asked, err := c.conditions()
	if err != nil {
		return err
	}
	to, stream, err := c.open(a)
	if err != nil {
		return err
	}
	if stream != nil {
		defer func() { err = errors.Join(err, stream.Close()) }()
	}
	if stream == nil && to.path == "" && c.Format == "ubl" && terminal(a.stdout) {
		return usage("a zip is nothing for a terminal: add -o FILE")
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	resp, err := api.do(a, http.MethodGet, "/documents/export", filters(append(asked, "format", c.Format, "rows", c.Rows, "cells", c.Cells, "after", c.After)...), "", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	p := &exportProgress{a: a, terminal: terminal(a.stderr), lines: c.Format == "jsonl", begun: time.Now(), told: time.Now()}
	switch {
	case stream != nil:
		return c.pass(a, stream, c.File+": ", resp, p)
	case to.path == "":
		return c.pass(a, a.stdout, "", resp, p)
	}
	return c.replace(a, to, resp, p)
}

// open looks where the documents go: to standard output, into a stream that is there, or
// to a place that a file takes, where stream is nil and to has a path.
func (c *documentsExport) open(a *app) (to place, stream *os.File, err error) {
	if c.File == "" || c.File == "-" || isFile(a.stdout, c.File) {
		return place{}, nil, nil
	}
	if to, err = placeOf(c.File); err != nil || to.file() {
		return to, nil, err
	}
	stream, err = to.openStream(a.ctx)
	return to, stream, err
}

// pass writes what comes as it comes.
func (c *documentsExport) pass(a *app, w io.Writer, name string, resp *http.Response, p *exportProgress) error {
	_, err := io.Copy(io.MultiWriter(w, p), resp.Body)
	p.end()
	var told exported
	if err == nil {
		told, err = p.tally(resp.Trailer)
	}
	if err != nil {
		return fmt.Errorf("the export broke off, and what was written is not all of it: %w", err)
	}
	return c.done(a, name, told)
}

// replace writes a file beside its place, and moves it there when all has come.
func (c *documentsExport) replace(a *app, to place, resp *http.Response, p *exportProgress) error {
	f, err := to.replace()
	if err != nil {
		return err
	}
	defer func() {
		if err := f.drop(); err != nil {
			a.progress("%v", err)
		}
	}()
	size, err := io.Copy(io.MultiWriter(f, p), resp.Body)
	p.end()
	var said, told exported
	if err == nil {
		said, err = c.check(f.File, size)
	}
	if err == nil {
		told, err = p.tally(resp.Trailer)
	}
	if err == nil {
		err = f.take()
	}
	if err != nil {
		return fmt.Errorf("the export broke off, and %s is as it was: %w", c.File, err)
	}
	if told.count < 0 {
		told = said
	}
	return c.done(a, c.File+": ", told)
}

// check looks whether the file has its end, for proxies that hide that an answer broke,
// and gives what a zip says of itself.
func (c *documentsExport) check(f *os.File, size int64) (exported, error) {
	if c.Format == "ubl" {
		return summaryOf(f, size)
	}
	if size == 0 {
		return untold, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return untold, err
	}
	if last[0] != '\n' {
		return untold, errors.New("its last line has no end")
	}
	return untold, nil
}

// done says how much there is, and where there is more behind which document.
func (c *documentsExport) done(a *app, file string, told exported) error {
	switch {
	case told.count < 0 && c.Format == "ubl": // of a stream, which cannot be looked into
		a.progress("%show many documents that is was not told; export.json in it says so, and whether there are more", file)
		return &exit{exitPartly, nil}
	case told.count < 0:
		a.progress("%sall of it; how many documents that is was not told", file)
		return nil
	case told.left == 0:
		a.progress("%s%s", file, plural(told.count, "document"))
	default:
		a.progress("%s%s; %d more cannot be UBL, manifest.jsonl in it says why", file, plural(told.count, "document"), told.left)
	}
	if told.next != "" {
		a.progress("%sit takes no more: the rest comes with the same command and --after %s", file, printable(told.next))
	}
	if told.left > 0 || told.next != "" {
		return &exit{exitPartly, nil}
	}
	return nil
}

// exportProgress tells on standard error how much has come: on a terminal one line that
// changes, else a line every ten seconds.
type exportProgress struct {
	a        *app
	terminal bool
	lines    bool // each is a document
	bytes    int64
	count    int // lines
	begun    time.Time
	told     time.Time
}

// Write counts what was written elsewhere.
func (p *exportProgress) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	p.count += bytes.Count(b, []byte("\n"))
	every := 10 * time.Second
	if p.terminal {
		every = 200 * time.Millisecond
	}
	if time.Since(p.told) < every {
		return len(b), nil
	}
	p.told = time.Now()
	line := fmt.Sprintf("%.1f MB, %.1f MB a second", float64(p.bytes)/1e6, float64(p.bytes)/1e6/time.Since(p.begun).Seconds())
	if p.lines {
		line = plural(p.count, "document") + ", " + line
	}
	if p.terminal {
		fmt.Fprintf(p.a.stderr, "\r\x1b[K%s", line)
	} else {
		p.a.progress("%s", line)
	}
	return len(b), nil
}

// end clears the line that changed.
func (p *exportProgress) end() {
	if p.terminal {
		fmt.Fprint(p.a.stderr, "\r\x1b[K")
	}
}

// tally gives what the gateway says behind all, untold where a proxy kept that back. Lines
// are counted here too.
func (p *exportProgress) tally(trailer http.Header) (told exported, err error) {
	for name, into := range map[string]*int{"Edigw-Documents": &told.count, "Edigw-Left-Out": &told.left} {
		text := trailer.Get(name)
		if text == "" {
			return untold, nil
		}
		if *into, err = strconv.Atoi(text); err != nil {
			return untold, fmt.Errorf("the gateway says that it sent %q documents", text)
		}
	}
	if p.lines && told.count != p.count {
		return untold, fmt.Errorf("the gateway sent %s, but %s came", plural(told.count, "document"), plural(p.count, "line"))
	}
	told.next = trailer.Get("Edigw-Next")
	return told, nil
}
