package entity

import (
	"bufio"
	"bytes"
	"encoding/base64"
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
//
// QUIRK: without one a body is binary in AS2, not 7bit (RFC 4130 §5.2.1): senders leave
// the field out over HTTP.
func Decode(encoding string, body []byte) ([]byte, error) {
	switch word := ParseValue(encoding).Word; word {
	case "", "binary", "7bit", "8bit", "7-bit", "8-bit":
		return body, nil
	case "base64":
		return decodeBase64(body)
	case "quoted-printable":
		// QUIRK: an interchange in one line, where RFC 2045 §6.7 wants 76 characters; the
		// reader takes as long a line as the buffer it is given.
		text, err := io.ReadAll(quotedprintable.NewReader(bufio.NewReaderSize(bytes.NewReader(body), longestLine(body)+1)))
		if err != nil {
			return nil, fmt.Errorf("%w: quoted-printable: %w", ErrEncoding, err)
		}
		return text, nil
	default:
		return nil, fmt.Errorf("%w: %.40q is not known", ErrEncoding, word)
	}
}

// longestLine gives the length of the longest line in bytes, with its end.
func longestLine(text []byte) (longest int) {
	for line := range bytes.Lines(text) {
		longest = max(longest, len(line))
	}
	return longest
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

// decodeBase64 takes lines of any length, and padding or none (RFC 2045 §6.8).
func decodeBase64(body []byte) ([]byte, error) {
	packed := make([]byte, 0, len(body))
	for _, c := range body {
		switch c {
		case '\r', '\n', ' ', '\t':
		default:
			packed = append(packed, c)
		}
	}
	packed = bytes.TrimRight(packed, "=")
	n, err := base64.RawStdEncoding.Decode(packed, packed) // in place: it only shrinks
	if err != nil {
		return nil, fmt.Errorf("%w: base64: %w", ErrEncoding, err)
	}
	return packed[:n], nil
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
