package edi

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
)

// byteOrderMark is U+FEFF in UTF-8.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// maxLead bounds how far back a byte order mark is looked for.
const maxLead = 64

// SkipLead takes off what may stand before a header.
// QUIRK: desktop tools write a byte order mark, spoolers line breaks and NUL.
func SkipLead(b []byte) []byte {
	for len(b) > 0 {
		switch {
		case Blank(b[0]):
			b = b[1:]
		case bytes.HasPrefix(b, byteOrderMark):
			b = b[len(byteOrderMark):]
		default:
			return b
		}
	}
	return b
}

// Lead gives the offset of the first byte at or behind from that is no lead-in, and
// the bytes there: enough of them, unless the payload ends before. It gives io.EOF
// where only lead-in is left.
func Lead(p *Payload, from int64, enough int) (at int64, head []byte, err error) {
	for at = from; at < p.Size(); {
		head, err = p.Slice(at, min(int64(2*enough), p.Size()-at))
		if err != nil {
			return 0, nil, err
		}
		rest := SkipLead(head)
		at += int64(len(head) - len(rest))
		if len(rest) >= enough || at+int64(len(rest)) >= p.Size() && len(rest) > 0 {
			return at, rest, nil
		}
	}
	return 0, nil, io.EOF
}

// CodeText is that of text that is no interchange, CodeEndMark that of text which is
// nothing but marks of a file's end.
const (
	CodeText    = "text-before-interchange"
	CodeEndMark = "end-of-file-mark"
)

// endMark is Ctrl-Z.
// QUIRK: DOS wrote it behind the last line of a text, and some programs still do;
// copying such files into one leaves it between interchanges.
const endMark = 0x1A

// Headers are how a reader knows the start of an interchange in text that is none.
type Headers struct {
	Names  string                 // for people: "UNA or UNB"
	Behind func(b byte) bool      // a header may stand behind b
	Starts func(text []byte) bool // text begins with one, of any syntax
}

// longestHead is more than Starts looks at.
const longestHead = 128

// SkipText sets ic to the text up to the next header, or all the rest, and completes
// the refusal, if its code is CodeText.
func SkipText(p *Payload, ic *Interchange, fault *Error, h Headers) error {
	sum := sha256.New()
	at, found, marks := ic.Offset, false, true
	for at < p.Size() && !found {
		b, err := p.Slice(at, min(readWindow, p.Size()-at))
		if err != nil {
			return err
		}
		n := len(b)
		if at+int64(n) < p.Size() {
			n -= longestHead // a header may begin in what is left
		}
		for i := 0; i < n && !found; i++ {
			marks = marks && (b[i] == endMark || blank[b[i]])
			if i+1 < len(b) && (h.Behind(b[i]) || b[i] == endMark) && h.Starts(b[i+1:]) {
				n, found = i+1, true
			}
		}
		sum.Write(b[:n])
		at += int64(n)
	}
	ic.Length = at - ic.Offset
	sum.Sum(ic.PayloadSHA256[:0])
	if fault.Code != CodeText {
		return fault
	}
	fault.Segment = 0 // it stands in none
	switch {
	case marks:
		fault.Code = CodeEndMark
		fault.Text = fmt.Sprintf("%d bytes that mark the end of a file (1A) and belong to no interchange", ic.Length)
	case found:
		fault.Text = fmt.Sprintf("%d bytes that belong to no interchange stand before %s", ic.Length, h.Names)
	default:
		fault.Text = fmt.Sprintf("%d bytes that belong to no interchange stand at the end: no %s follows", ic.Length, h.Names)
	}
	return fault
}

// Outside reports whether e tells of text that stands outside interchanges.
func (e *Error) Outside() bool { return e.Code == CodeText || e.Code == CodeEndMark }
