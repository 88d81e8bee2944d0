package entity

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// What the framing of a body may cost that is read as it comes. How many parts there are
// and how large is for who takes them in.
const (
	maxBoundary   = 200      // bytes; RFC 2046 §5.1.1 allows 70, and senders exceed it
	maxPartHeader = 16 << 10 // bytes of one part's header
	maxPreamble   = 64 << 10 // bytes before the first part
	maxFolds      = 200      // lines of one part's header that continue another
	readAhead     = 32 << 10

	blanks = " \t\r\n"
)

// Misframed says what is wrong with the framing of a body.
type Misframed struct{ Text string }

// Error gives the text.
func (m *Misframed) Error() string { return m.Text }

func misframed(format string, args ...any) error { return &Misframed{fmt.Sprintf(format, args...)} }

// Reader reads a multipart body part by part, without holding a part in memory:
// RFC 2046 §5.1. Errors of the reader beneath are given as they are, its end before
// the closing boundary is a *Misframed. Unlike Split it is strict: what two readers may
// take for two things is refused.
//
// mime/multipart would do but for three things: it takes 10 MB of header in each
// part, it hides fields that stand twice, and it gives a boundary with blanks up.
type Reader struct {
	r         *bufio.Reader
	delimiter []byte // "\n--" and the boundary
	current   *Part
	closed    bool // the closing boundary was read
}

// NewReader reads a body from r. A boundary that can be none is a *Misframed.
func NewReader(r io.Reader, boundary string) (*Reader, error) {
	switch {
	case boundary == "":
		return nil, misframed("the Content-Type multipart/related names no boundary")
	case len(boundary) > maxBoundary || strings.ContainsAny(boundary, "\r\n") || strings.HasSuffix(boundary, " "):
		return nil, misframed("the boundary is longer than %d characters, or holds a line end or a blank at its end (RFC 2046 §5.1.1)", maxBoundary)
	}
	return &Reader{r: bufio.NewReaderSize(r, readAhead), delimiter: []byte("\n--" + boundary)}, nil
}

// Part is one part: its header, and its content as an io.Reader, still in its transfer
// encoding.
type Part struct {
	of     *Reader
	fields map[string]string // by lower-case name
	read   bool              // some of the content was read
	ready  int               // bytes in the buffer that are content
	ended  bool              // behind them stands a boundary
}

// Get gives a field of the header, unfolded; "" if there is none.
func (p *Part) Get(name string) string { return p.fields[strings.ToLower(name)] }

// Decoded gives the content without its transfer encoding. Its errors are those of
// Decoder.
func (p *Part) Decoded() (io.Reader, error) {
	return Decoder(p.Get("Content-Transfer-Encoding"), p)
}

// Next gives the next part; io.EOF after the last one.
func (m *Reader) Next() (*Part, error) {
	if m.closed {
		return nil, io.EOF
	}
	if m.current == nil {
		if err := m.preamble(); err != nil {
			return nil, err
		}
	} else {
		if _, err := io.Copy(io.Discard, m.current); err != nil {
			return nil, err
		}
		if err := m.boundary(); err != nil {
			return nil, err
		}
	}
	if m.closed {
		return nil, io.EOF
	}
	p := &Part{of: m}
	m.current = p
	return p, p.header()
}

// preamble reads to the end of the first boundary's line.
func (m *Reader) preamble() error {
	whole := true // what comes next begins a line
	for read := 0; ; {
		line, err := m.r.ReadSlice('\n')
		begins := whole
		whole = err != bufio.ErrBufferFull
		if err == io.EOF && len(line) == 0 || read > maxPreamble {
			return misframed("no part begins: the body has no line --%s in its first %d bytes", m.delimiter[3:], maxPreamble)
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		first := read == 0
		read += len(line)
		if first { // QUIRK: .NET senders put a byte order mark before the first boundary.
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		rest, ok := bytes.CutPrefix(line, m.delimiter[1:])
		if !ok || !begins {
			continue
		}
		switch is, _, _ := after(rest, true); is {
		case closes:
			m.closed = true
			return nil
		case separates:
			return nil
		}
	}
}

// boundary consumes the boundary that ended the current part.
func (m *Reader) boundary() error {
	line, err := m.r.ReadSlice('\n')
	if len(line) <= 2 && err == nil { // the line end before it, which belongs to it
		line, err = m.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	is, _, _ := after(bytes.TrimPrefix(line, m.delimiter[1:]), true)
	m.closed = is == closes
	return nil
}

// header reads the fields: RFC 5322 §2.2, with folded lines, and LF for CRLF.
func (p *Part) header() error {
	p.fields = map[string]string{}
	name, size, folds := "", 0, 0
	var words []string // of the field that is read: joined once, for each fold would copy it
	for {
		line, err := p.of.r.ReadSlice('\n')
		if err == io.EOF {
			return misframed("the body ends within the header of a part: it was cut")
		}
		if size += len(line); err == bufio.ErrBufferFull || size > maxPartHeader {
			return misframed("the header of a part is longer than %d bytes", maxPartHeader)
		}
		if err != nil {
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			p.unfold(name, words)
			return nil
		}
		if text[0] == ' ' || text[0] == '\t' {
			if name == "" {
				return misframed("the header of a part begins with a folded line")
			}
			if folds++; folds > maxFolds {
				return misframed("the header of a part has more than %d folded lines", maxFolds)
			}
			words = append(words, strings.Trim(text, blanks))
			continue
		}
		p.unfold(name, words)
		field, value, ok := strings.Cut(text, ":")
		// QUIRK: a blank before the colon is obsolete syntax that is still sent.
		name = strings.ToLower(strings.TrimRight(field, blanks))
		if !ok || name == "" || strings.ContainsAny(name, blanks) {
			return misframed("the header of a part has a line that is no field: %.40q", text)
		}
		if _, twice := p.fields[name]; twice && strings.HasPrefix(name, "content-") {
			return misframed("the header of a part has the field %s twice", name)
		}
		p.fields[name], words = "", append(words[:0], strings.Trim(value, blanks))
	}
}

// unfold gives a field its value: RFC 5322 §2.2.3.
func (p *Part) unfold(name string, words []string) {
	if name != "" {
		p.fields[name] = strings.Trim(strings.Join(words, " "), blanks)
	}
}

// Read gives the content up to the next boundary.
func (p *Part) Read(b []byte) (int, error) {
	for p.ready == 0 {
		if p.ended {
			return 0, io.EOF
		}
		if err := p.scan(); err != nil {
			return 0, err
		}
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := p.of.r.Read(b[:min(len(b), p.ready)])
	p.ready -= n
	p.read = p.read || n > 0
	return n, err
}

// scan finds how much of what is buffered is content, and reads more until that is
// something, or a boundary.
func (p *Part) scan() error {
	for least := 1; ; {
		buf, err := p.of.r.Peek(max(least, p.of.r.Buffered()))
		if err != nil && err != io.EOF {
			return err
		}
		all := err == io.EOF
		var sure bool
		p.ready, p.ended, sure = p.of.content(buf, !p.read, all)
		switch {
		case p.ready > 0 || p.ended:
			return nil
		case all:
			return misframed("the body ends without the closing boundary %s--: it was cut", p.of.delimiter[1:])
		case !sure:
			least = len(buf) + 1
		}
	}
}

// content gives how many bytes at the start of buf are content, and whether a
// boundary follows them. With neither, more has to be read.
func (m *Reader) content(buf []byte, start, all bool) (ready int, ended, sure bool) {
	if start { // a part without content may have no line end of its own
		if rest, ok := bytes.CutPrefix(buf, m.delimiter[1:]); ok {
			if is, _, sure := after(rest, all); is != nothing || !sure {
				return 0, is != nothing, sure
			}
		}
	}
	for from := 0; ; {
		i := bytes.Index(buf[from:], m.delimiter)
		if i < 0 {
			if all {
				return 0, false, true
			}
			// The last bytes may be the first of a boundary, with its line end.
			return max(0, len(buf)-len(m.delimiter)-1), false, false
		}
		i += from
		end := i
		if end > 0 && buf[end-1] == '\r' {
			end--
		}
		switch is, _, sure := after(buf[i+len(m.delimiter):], all); {
		case is != nothing:
			return end, true, true
		case !sure:
			return end, false, false
		}
		from = i + 1
	}
}
