package entity

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

// Decoded gives the body without its transfer encoding. It is never longer than
// the body; where nothing was encoded it is the body itself.
func (e *Entity) Decoded() ([]byte, error) {
	return Decode(e.Get("Content-Transfer-Encoding"), e.Body)
}

// Decode undoes a transfer encoding (RFC 2045 §6).
func Decode(encoding string, body []byte) ([]byte, error) {
	if codingOf(encoding) == identity {
		return body, nil
	}
	from, err := Decoder(encoding, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, len(body)*3/4+bytes.MinRead))
	if codingOf(encoding) == quotedPrintable {
		text = bytes.NewBuffer(make([]byte, 0, len(body)+bytes.MinRead))
	}
	if _, err := text.ReadFrom(from); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// Decoder reads what comes from a reader without its transfer encoding, in a few kilobytes
// of memory whatever comes. What is not in its encoding is ErrEncoding; errors of the
// reader are given as they are.
func Decoder(encoding string, from io.Reader) (io.Reader, error) {
	switch codingOf(encoding) {
	case identity:
		return from, nil
	case packed:
		return &decoding{"base64", base64.NewDecoder(base64.RawStdEncoding, &unpadded{from: from})}, nil
	case quotedPrintable:
		return &decoding{"quoted-printable", quotedprintable.NewReader(bufio.NewReaderSize(&softBreaks{from: bufio.NewReaderSize(from, codedLine)}, 2*codedLine))}, nil
	}
	return nil, fmt.Errorf("%w: %.40q is not known; binary, 8bit, 7bit, base64 and quoted-printable are", ErrEncoding, ParseValue(encoding).Word)
}

// coding is a transfer encoding.
type coding int

const (
	unknown coding = iota
	identity
	packed // base64
	quotedPrintable
)

// codingOf reads Content-Transfer-Encoding.
//
// QUIRK: without one a body is binary in AS2, not 7bit (RFC 4130 §5.2.1): senders leave
// the field out over HTTP.
func codingOf(encoding string) coding {
	switch ParseValue(encoding).Word {
	case "", "binary", "7bit", "8bit", "7-bit", "8-bit":
		return identity
	case "base64":
		return packed
	case "quoted-printable":
		return quotedPrintable
	}
	return unknown
}

// decoding tells of content that is not in its encoding apart from what the reader
// beneath says.
type decoding struct {
	name string
	from io.Reader
}

// Read implements io.Reader.
func (d *decoding) Read(b []byte) (int, error) {
	n, err := d.from.Read(b)
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("%w: %s: %d blanks or = stand one behind the other", ErrEncoding, d.name, codedLine)
	}
	var corrupt base64.CorruptInputError
	// quotedprintable's errors have no type; of base64 the bare one means that it was cut.
	if errors.As(err, &corrupt) || err == io.ErrUnexpectedEOF || err != nil && strings.HasPrefix(err.Error(), "quotedprintable:") {
		err = fmt.Errorf("%w: %s: %w", ErrEncoding, d.name, err)
	}
	return n, err
}

// unpadded leaves out what may stand between base64's characters, and the padding behind
// them, which some senders leave out (RFC 2045 §6.8).
type unpadded struct {
	from  io.Reader
	ended bool
}

// Read implements io.Reader.
func (u *unpadded) Read(b []byte) (int, error) {
	for {
		n, err := u.from.Read(b)
		kept := b[:0]
		for _, c := range b[:n] {
			switch {
			case c == ' ', c == '\t', c == '\r', c == '\n':
			case c == '=':
				u.ended = true
			case u.ended:
				return 0, fmt.Errorf("%w: base64: %q stands behind its padding", ErrEncoding, c)
			default:
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 || err != nil || len(b) == 0 {
			return len(kept), err
		}
	}
}

// IsTextual reports whether a transfer encoding means that line ends may be
// changed on the way: 7bit, quoted-printable and base64 are lines, binary is not,
// and what says nothing is binary here.
func IsTextual(encoding string) bool {
	switch ParseValue(encoding).Word {
	case "7bit", "8bit", "7-bit", "8-bit", "quoted-printable", "base64":
		return true
	}
	return false
}

// IsBase64 reports whether text can be nothing but lines of base64.
func IsBase64(text []byte) bool {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		case strings.IndexByte("+/= \t\r\n", c) < 0:
			return false
		}
	}
	return len(bytes.TrimSpace(text)) > 0
}
