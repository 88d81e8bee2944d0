package entity

import (
	"bufio"
	"io"
)

// codedLine is what of a line of quoted-printable is held, in bytes.
const codedLine = 2 << 10

// softBreaks breaks lines of quoted-printable that are long by soft line breaks, which
// mean nothing (RFC 2045 §6.7 rule 5), so that no line has to be held whole.
//
// QUIRK: an interchange in one line, where RFC 2045 §6.7 wants 76 characters.
type softBreaks struct {
	from  *bufio.Reader
	line  int    // bytes of the line that were given
	coded int    // bytes to come that belong to the last =
	due   string // of a break, and what stands behind it, that was not given yet
}

// Read implements io.Reader.
func (s *softBreaks) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if s.due != "" {
			given := copy(b[n:], s.due)
			n, s.due = n+given, s.due[given:]
			continue
		}
		c, err := s.from.ReadByte()
		if err == io.EOF && n > 0 {
			return n, nil // the end is told when it is asked for again
		}
		if err != nil {
			return n, err
		}
		if s.line >= codedLine && s.mayBegin(c) {
			s.line, s.due = 0, "=\r\n"+string([]byte{c})
		} else {
			b[n] = c
			n++
		}
		s.count(c)
	}
	return n, nil
}

// mayBegin tells whether a break may stand before c: not within what is coded, and not
// before blanks, which at the end of a line are no content (rule 3) and behind a break
// would be at the end of none; nor before the last = of all, which is such a break.
func (s *softBreaks) mayBegin(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n':
		return false
	case '=':
		if _, err := s.from.Peek(1); err != nil {
			return false
		}
	}
	return s.coded == 0
}

// count notes where in its line, and in what is coded, a byte stands.
func (s *softBreaks) count(c byte) {
	switch s.line++; {
	case c == '\n':
		s.line, s.coded = 0, 0
	case c == '=':
		s.coded = 2
	case s.coded > 0:
		s.coded--
	}
}
