package as4

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
)

// What the framing of a message may cost. The parts themselves are bounded where
// they are taken in.
const (
	maxBoundary   = 200      // bytes; RFC 2046 §5.1.1 allows 70, and senders exceed it
	maxParts      = 100      // beside the SOAP part
	maxPartHeader = 16 << 10 // bytes of one part's header
	maxPreamble   = 64 << 10 // bytes before the first part
	maxPadding    = 256      // bytes of blanks behind a boundary
)

// framing is a fault of the MIME framing: EBMS:0007.
type framing struct{ text string }

// Error says what is wrong with the framing.
func (f *framing) Error() string { return f.text }

func misframed(format string, args ...any) error { return &framing{fmt.Sprintf(format, args...)} }

// multipart reads a multipart body part by part, without holding a part in memory:
// RFC 2046 §5.1. Errors of the reader beneath are given as they are, its end before
// the closing boundary is a fault of the framing.
//
// mime/multipart would do but for three things: it takes 10 MB of header in each
// part, it hides fields that stand twice, and it gives a boundary with blanks up.
type multipart struct {
	r         *bufio.Reader
	delimiter []byte // "\n--" and the boundary
	current   *mimePart
	closed    bool // the closing boundary was read
}

const readAhead = 32 << 10

func newMultipart(r io.Reader, boundary string) (*multipart, error) {
	switch {
	case boundary == "":
		return nil, misframed("the Content-Type multipart/related names no boundary")
	case len(boundary) > maxBoundary || strings.ContainsAny(boundary, "\r\n") || strings.HasSuffix(boundary, " "):
		return nil, misframed("the boundary is longer than %d characters, or holds a line end or a blank at its end (RFC 2046 §5.1.1)", maxBoundary)
	}
	return &multipart{r: bufio.NewReaderSize(r, readAhead), delimiter: []byte("\n--" + boundary)}, nil
}

// mimePart is one part: its header, and its content as an io.Reader, still in its
// transfer encoding.
type mimePart struct {
	of     *multipart
	fields map[string]string // by lower-case name
	read   bool              // some of the content was read
	ready  int               // bytes in the buffer that are content
	ended  bool              // behind them stands a boundary
}

// next gives the next part; io.EOF after the last one.
func (m *multipart) next() (*mimePart, error) {
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
	p := &mimePart{of: m}
	m.current = p
	return p, p.header()
}

// preamble reads to the end of the first boundary's line.
func (m *multipart) preamble() error {
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
		switch is, _ := afterBoundary(rest, true); is {
		case closes:
			m.closed = true
			return nil
		case separates:
			return nil
		}
	}
}

// boundary consumes the boundary that ended the current part.
func (m *multipart) boundary() error {
	line, err := m.r.ReadSlice('\n')
	if len(line) <= 2 && err == nil { // the line end before it, which belongs to it
		line, err = m.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	is, _ := afterBoundary(bytes.TrimPrefix(line, m.delimiter[1:]), true)
	m.closed = is == closes
	return nil
}

// What stands behind the text of a boundary.
type behind int

const (
	nothingOfIt behind = iota // it is content that begins like a boundary
	separates
	closes
)

// afterBoundary judges what follows a boundary's text; not sure where more of it
// has to be read first.
func afterBoundary(rest []byte, all bool) (is behind, sure bool) {
	if bytes.HasPrefix(rest, []byte("--")) {
		return closes, true
	}
	if !all && bytes.Equal(rest, []byte("-")) {
		return nothingOfIt, false
	}
	line := bytes.TrimLeft(rest, " \t") // RFC 2046 §5.1.1: transport padding
	switch {
	case len(rest)-len(line) > maxPadding:
		return nothingOfIt, true
	case bytes.HasPrefix(line, []byte("\r\n")) || bytes.HasPrefix(line, []byte("\n")):
		return separates, true
	case len(line) == 0 || string(line) == "\r":
		return nothingOfIt, all
	}
	return nothingOfIt, true
}

// header reads the fields: RFC 5322 §2.2, with folded lines, and LF for CRLF.
func (p *mimePart) header() error {
	p.fields = map[string]string{}
	name, size := "", 0
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
			return nil
		}
		if text[0] == ' ' || text[0] == '\t' {
			if name == "" {
				return misframed("the header of a part begins with a folded line")
			}
			p.fields[name] = strings.TrimLeft(p.fields[name]+" "+strings.Trim(text, linearSpace), linearSpace)
			continue
		}
		field, value, ok := strings.Cut(text, ":")
		// QUIRK: a blank before the colon is obsolete syntax that is still sent.
		name = strings.ToLower(strings.TrimRight(field, linearSpace))
		if !ok || name == "" || strings.ContainsAny(name, linearSpace) {
			return misframed("the header of a part has a line that is no field: %.40q", text)
		}
		if _, twice := p.fields[name]; twice && strings.HasPrefix(name, "content-") {
			return misframed("the header of a part has the field %s twice", name)
		}
		p.fields[name] = strings.Trim(value, linearSpace)
	}
}

// Read gives the content up to the next boundary.
func (p *mimePart) Read(b []byte) (int, error) {
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
func (p *mimePart) scan() error {
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
func (m *multipart) content(buf []byte, start, all bool) (ready int, ended, sure bool) {
	if start { // a part without content may have no line end of its own
		if rest, ok := bytes.CutPrefix(buf, m.delimiter[1:]); ok {
			if is, sure := afterBoundary(rest, all); is != nothingOfIt || !sure {
				return 0, is != nothingOfIt, sure
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
		switch is, sure := afterBoundary(buf[i+len(m.delimiter):], all); {
		case is != nothingOfIt:
			return end, true, true
		case !sure:
			return end, false, false
		}
		from = i + 1
	}
}

// decoded gives the content without its transfer encoding: RFC 2045 §6.
func (p *mimePart) decoded() (io.Reader, error) {
	switch coding := strings.ToLower(p.fields["content-transfer-encoding"]); coding {
	case "", "binary", "8bit", "7bit":
		return p, nil
	case "base64":
		return &transferDecoder{base64.NewDecoder(base64.StdEncoding, &withoutBlanks{p})}, nil
	case "quoted-printable":
		return &transferDecoder{quotedprintable.NewReader(p)}, nil
	default:
		return nil, misframed("a part has the Content-Transfer-Encoding %.40q; binary, 8bit, 7bit, base64 and quoted-printable are read", coding)
	}
}

// transferDecoder says of content that is not in its encoding that the framing is
// wrong; what the reader beneath says it leaves as it is.
type transferDecoder struct{ from io.Reader }

// Read implements io.Reader.
func (t *transferDecoder) Read(b []byte) (int, error) {
	n, err := t.from.Read(b)
	var corrupt base64.CorruptInputError
	switch {
	case errors.As(err, &corrupt), errors.Is(err, io.ErrUnexpectedEOF):
		err = misframed("the content of a part is not in its Content-Transfer-Encoding")
	case err != nil && strings.HasPrefix(err.Error(), "quotedprintable:"): // it has no type of its own
		err = misframed("the content of a part is not quoted-printable")
	}
	return n, err
}

// withoutBlanks leaves out what may stand between base64's characters: RFC 2045 §6.8.
type withoutBlanks struct{ from io.Reader }

// Read implements io.Reader.
func (w *withoutBlanks) Read(b []byte) (int, error) {
	for {
		n, err := w.from.Read(b)
		kept := b[:0]
		for _, c := range b[:n] {
			if c != ' ' && c != '\t' {
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}
