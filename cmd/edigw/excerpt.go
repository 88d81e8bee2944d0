package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

const (
	excerptReach = 4096 // bytes looked at before and behind a place
	excerptWidth = 96   // characters shown
)

// excerpt is the raw text of the segment that a finding is about, with the place
// in it.
type excerpt struct {
	Text   string `json:"text"`            // one line; a control character as its picture, CR as ␍
	Column int    `json:"column"`          // from 1, in characters
	Length int    `json:"length"`          // characters the finding is about, 1 at least
	About  string `json:"about,omitempty"` // the element or segment in words
}

// excerptAt reads the segment around a place of ic; nil where the place lies
// behind the end of p.
func excerptAt(p *edi.Payload, ic *edi.Interchange, l edi.Location) (*excerpt, error) {
	low := max(0, l.Offset-excerptReach)
	raw := make([]byte, min(p.Size(), l.Offset+excerptReach)-low)
	if l.Offset >= p.Size() {
		return nil, nil
	}
	if _, err := p.ReadAt(raw, low); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the place of a finding: %w", err)
	}
	at := int(l.Offset - low)
	from, to := segmentAround(raw, at, ic.Delimiters)
	for from < at && (raw[from] == '\r' || raw[from] == '\n') {
		from++
	}
	for at < to-1 && (raw[at] == '\r' || raw[at] == '\n') {
		at++
		from = max(from, at)
	}
	end := valueEnd(raw[:to], at, ic.Delimiters)
	e := &excerpt{Length: max(1, end-at), About: placeTitle(ic.Syntax, l)}
	e.write(raw[from:to], at-from)
	return e, nil
}

// segmentAround finds the bounds of the segment that raw[at] stands in, its
// terminator included.
func segmentAround(raw []byte, at int, d edi.Delimiters) (from, to int) {
	for from = at; from > 0; from-- {
		if raw[from-1] == d.Terminator && !released(raw[:from-1], d.Release) {
			break
		}
	}
	for to = from; to < len(raw); to++ {
		if raw[to] == d.Terminator && to >= at && !released(raw[from:to], d.Release) {
			return from, to + 1
		}
	}
	return from, len(raw)
}

// released reports whether what follows b is released: an odd run of release
// characters ends it.
func released(b []byte, release byte) bool {
	n := 0
	for release != 0 && n < len(b) && b[len(b)-1-n] == release {
		n++
	}
	return n%2 == 1
}

// valueEnd is where the value that begins at raw[at] ends.
func valueEnd(raw []byte, at int, d edi.Delimiters) int {
	for i := at; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == 0 || c != d.Element && c != d.Component && c != d.Repetition && c != d.Terminator:
		case !released(raw[at:i], d.Release):
			return i
		}
	}
	return len(raw)
}

// write sets text and column for b, in which byte at is meant. Length comes as
// bytes and becomes characters.
func (e *excerpt) write(b []byte, at int) {
	end := min(at+e.Length, len(b))
	before, meant, behind := pictures(b[:at]), pictures(b[at:end]), pictures(b[end:])
	e.Length = max(1, len(meant))
	cut := func(r []rune, most int) []rune {
		if len(r) > most {
			return append(r[:most-1:most-1], '…')
		}
		return r
	}
	meant = cut(meant, excerptWidth/2)
	e.Length = max(1, min(e.Length, len(meant)))
	if room := excerptWidth / 3; len(before) > room {
		before = append([]rune{'…'}, before[len(before)-room+1:]...)
	}
	behind = cut(behind, excerptWidth-len(before)-len(meant))
	e.Column = len(before) + 1
	e.Text = string(before) + string(meant) + string(behind)
}

// pictures turns bytes into characters that take one column each.
func pictures(b []byte) []rune {
	var out []rune
	whole := utf8.Valid(b)
	latin, _ := edi.NamedCharset("WINDOWS-1252") // it is one that is known
	for len(b) > 0 {
		r, n := rune(b[0]), 1
		switch {
		case r < 0x20:
			r += 0x2400 // U+2400…, pictures of control characters
		case r == 0x7f:
			r = 0x2421
		case r >= 0x80 && whole:
			r, n = utf8.DecodeRune(b)
			r = []rune(printable(string(r)))[0]
		case r >= 0x80:
			r = []rune(printable(latin.Decode(b[:1])))[0]
		}
		out, b = append(out, r), b[n:]
	}
	return out
}

// lines are the segment and a caret below what is meant, each with its line end.
func (e *excerpt) lines() string {
	if e == nil {
		return ""
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "    %s\n    %s%s", e.Text, strings.Repeat(" ", e.Column-1), strings.Repeat("^", e.Length))
	if e.About != "" {
		b.WriteString(" " + e.About)
	}
	b.WriteByte('\n')
	return b.String()
}
