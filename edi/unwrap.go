package edi

import "slices"

// Breaks says which line ends were taken out of a text before it was read, so
// that places in it are told as they are in the payload.
type Breaks struct {
	Count  int  // line ends inside segments
	Uneven bool // they do not stand at one distance, so that blanks may be lost before them

	from    int64   // payload offset of the text
	at      []int64 // offsets in what is left, ascending
	removed []int64 // bytes taken out up to there
}

// Origin is the payload offset of the byte at offset off of what is left.
func (b *Breaks) Origin(off int64) int64 {
	i, found := slices.BinarySearch(b.at, off)
	if found {
		i++
	}
	if i == 0 {
		return b.from + off
	}
	return b.from + off + b.removed[i-1]
}

// Unwrap takes CR and LF out of raw, a text with delimiters d that begins at
// payload offset from: what a line of fixed length ends with that cuts segments
// as they come. A text whose delimiters are line ends has none that could be
// taken out, and gives nil.
func Unwrap(raw []byte, from int64, d Delimiters) ([]byte, *Breaks) {
	for _, c := range [...]byte{d.Component, d.Element, d.Release, d.Repetition, d.Terminator} {
		if c == '\r' || c == '\n' {
			return raw, nil
		}
	}
	flat, b := make([]byte, 0, len(raw)), &Breaks{from: from}
	released, inside := false, false
	line, chars := 0, 0    // of the line being read: bytes, and those that begin a character
	width, columns := 0, 0 // of the lines that end inside a segment
	first, firstColumns := 0, 0
	odd, oddColumns := false, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\r' && c != '\n' {
			flat = append(flat, c)
			if line++; c&0xC0 != 0x80 {
				chars++
			}
			switch {
			case released:
				released, inside = false, true
			case c == d.Release && c != 0:
				released, inside = true, true
			case c == d.Terminator:
				inside = false
			default:
				inside = inside || !Blank(c)
			}
			continue
		}
		n := 1
		for i+n < len(raw) && (raw[i+n] == '\r' || raw[i+n] == '\n') {
			n++
		}
		if inside {
			switch b.Count++; b.Count {
			case 1: // the text may begin in the middle of a line
				first, firstColumns = line, chars
			case 2:
				width, columns = line, chars
				odd, oddColumns = first > width, firstColumns > columns
			default:
				odd, oddColumns = odd || line != width, oddColumns || chars != columns
			}
		}
		line, chars = 0, 0
		total := int64(n)
		if k := len(b.removed); k > 0 {
			total += b.removed[k-1]
		}
		b.at, b.removed = append(b.at, int64(len(flat))), append(b.removed, total)
		i += n - 1
	}
	b.Uneven = odd && oddColumns
	return flat, b
}
