package entity

import "bytes"

// maxPadding bounds the blanks behind a boundary, in bytes.
const maxPadding = 256

// delimiter is what the text of a boundary, at the beginning of a line, is.
type delimiter int

const (
	nothing   delimiter = iota // content: the boundary of an inner body may begin like the outer one's
	separates                  // a part from the next
	closes                     // the last part
)

// after judges a line by what follows the text of a boundary in it, of which size bytes
// are the line's: RFC 2046 §5.1.1. all tells that nothing follows rest; else it may not be
// sure before it has seen more.
func after(rest []byte, all bool) (is delimiter, size int, sure bool) {
	is, line := separates, rest
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		is, line = closes, rest[2:]
	case !all && string(rest) == "-":
		return nothing, 0, false
	}
	padded := len(line)
	line = bytes.TrimLeft(line, " \t") // transport-padding
	switch {
	case padded-len(line) > maxPadding:
		return nothing, 0, true
	case bytes.HasPrefix(line, []byte("\n")):
		return is, len(rest) - len(line) + 1, true
	case bytes.HasPrefix(line, []byte("\r\n")):
		return is, len(rest) - len(line) + 2, true
	case len(line) > 0 && string(line) != "\r":
		return nothing, 0, true
	case !all:
		return nothing, 0, false
	case len(line) > 0 && is == separates:
		return nothing, 0, true
	}
	return is, len(rest), true // QUIRK: cut off in its line end
}
