// Package invoic makes the interchanges that receiving is measured with: INVOIC
// D.96A as a food wholesaler's supplier sends them, from 9520001000010 to
// 9520002000019 (both 0007 = 14). What one makes of n differs from what it makes
// of any other number in its control reference and in its document's number, so
// that each is a message of its own.
package invoic

import (
	"bytes"
	_ "embed"
)

// Sender and Recipient are the addresses in UNB 0004 and 0010, with 0007.
const (
	Sender    = "9520001000010"
	Recipient = "9520002000019"
	Qualifier = "14"
)

//go:embed twenty-lines.edi
var twenty []byte

// What stands in twenty-lines.edi in place of the control reference (twice) and
// of the document's number.
const (
	reference = "00000000000001" // UNB 0020, an..14
	number    = "RE000000000001" // BGM 1004
)

// TwentyLines is interchange n: one invoice of 20 LIN groups, about 4 KB.
// 0 ≤ n < 10¹².
func TwentyLines(n int64) []byte {
	t := NewTemplate(0)
	return t.Set(n)
}

// A Template holds the text of one interchange and writes numbers into it, so
// that a load costs next to nothing to make. Not for concurrent use.
type Template struct {
	text       []byte
	references [2]int
	number     int
}

// NewTemplate is the invoice of 20 lines behind room for head bytes.
func NewTemplate(head int) *Template {
	t := &Template{text: append(make([]byte, head, head+len(twenty)), twenty...)}
	t.references = [2]int{head + bytes.Index(twenty, []byte(reference)), head + bytes.LastIndex(twenty, []byte(reference))}
	t.number = head + bytes.Index(twenty, []byte(number))
	return t
}

// Size is the length of the interchange, in bytes.
func Size() int { return len(twenty) }

// Set gives the text, head and all, with interchange n in it. It is valid until
// the next Set.
func (t *Template) Set(n int64) []byte {
	for _, at := range t.references {
		digits(t.text[at:at+len(reference)], n)
	}
	digits(t.text[t.number+2:t.number+len(number)], n)
	return t.text
}

// From gives the interchange another sender, of as many digits as Sender has.
func (t *Template) From(address string) {
	for rest := t.text; ; {
		at := bytes.Index(rest, []byte(Sender))
		if at < 0 {
			return
		}
		copy(rest[at:at+len(Sender)], address)
		rest = rest[at+len(Sender):]
	}
}

// digits writes n with leading zeros.
func digits(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}
