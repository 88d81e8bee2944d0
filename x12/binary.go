package x12

import (
	"bytes"
	"strconv"

	"github.com/edigw/edigw/edi"
)

// binaryHead is as much of a BIN or BDS as its tag and length take.
const binaryHead = 64

// binary reads the head of BIN (length, data) or BDS (filter, length, data) at
// payload offset at, and gives the offsets of its data and of the byte behind
// them. ok is false where no length can be read, or the payload of that size ends
// before a terminator could follow: the segment is then read like any other.
func binary(head []byte, at int64, d edi.Delimiters, size int64) (data, behind int64, ok bool) {
	length := 1 // the element
	switch string(head[:min(3, len(head))]) {
	case "BIN":
	case "BDS":
		length = 2
	default:
		return 0, 0, false
	}
	if len(head) < 4 || head[3] != d.Element {
		return 0, 0, false
	}
	rest := head[4:]
	for ; ; length-- {
		end := bytes.IndexByte(rest, d.Element)
		if end < 0 || bytes.IndexByte(rest[:end], d.Terminator) >= 0 {
			return 0, 0, false
		}
		if length == 1 {
			text := string(rest[:end])
			n, err := strconv.ParseInt(text, 10, 64)
			data = at + int64(len(head)-len(rest)+end+1)
			behind = data + n
			return data, behind, err == nil && edi.Digits(text) && behind >= data && behind < size
		}
		rest = rest[end+1:]
	}
}
