package x12

import (
	"crypto/sha256"

	"github.com/edigw/edigw/edi"
)

// QUIRK: mainframes cut the text into lines of 80 characters wherever that falls, in
// ISA, tags and values too. Where a partner's settings say so, line ends within
// segments are no part of the text.

// unwrapISA reads an ISA through which lines end, and gives the length of what it
// stands in. A line end cannot be a delimiter of such a text.
func (r Reader) unwrapISA(b []byte) (h isa, d edi.Delimiters, length int, fault *edi.Error) {
	flat, at := make([]byte, 0, len(b)), make([]int, 0, len(b))
	for i, c := range b {
		if c != '\r' && c != '\n' {
			flat, at = append(flat, c), append(at, i)
		}
	}
	h, d, fault = r.readISA(flat)
	if fault == nil {
		length = at[h.length-1] + 1
		for e := 1; e < len(h.at); e++ {
			h.at[e] = at[min(h.at[e], len(at)-1)]
		}
	}
	return h, d, length, fault
}

// anyISA reads ISA as the partner's settings say, and gives the length of what it
// stands in.
func (r Reader) anyISA(b []byte) (h isa, d edi.Delimiters, length int, fault *edi.Error) {
	h, d, fault = r.readISA(b)
	if r.LineWraps && (fault != nil || cutBeforeTerminator(b[h.length-1:])) {
		if h, d, length, flat := r.unwrapISA(b); flat == nil {
			return h, d, length, nil
		}
	}
	return h, d, h.length, fault
}

// cutBeforeTerminator reports whether b, which begins with what was taken for the
// terminator, is a line end with the terminator behind it: no segment begins so.
func cutBeforeTerminator(b []byte) bool {
	n := 0
	for n < len(b) && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return n > 0 && n < len(b) && !alphanumeric(b[n]) && !edi.Blank(b[n])
}

// window shows the interchange or, where line ends are taken out, what is left of it.
func (s *scan) window() (*edi.Window, error) {
	from, end := s.ic.Offset, s.ic.Offset+s.ic.Length
	if !s.reader.LineWraps {
		return edi.NewWindow(s.p, from, end, s.reader.chunk), nil
	}
	if s.ic.Length > s.reader.messageLimit() {
		s.stop("message-too-large", "024", edi.Location{Offset: from}, "an interchange whose lines are wrapped is larger than %d bytes", s.reader.messageLimit())
		return nil, nil
	}
	raw, err := s.p.Slice(from, s.ic.Length)
	if err != nil {
		return nil, err
	}
	flat, breaks := edi.Unwrap(raw, from, s.ic.Delimiters)
	if breaks == nil {
		return edi.NewWindow(s.p, from, end, s.reader.chunk), nil
	}
	s.wrapped = raw
	s.lex.Unwrapped(breaks)
	switch {
	case breaks.Uneven:
		s.report(-1, edi.SeverityError, "lines-wrapped-unevenly", "022", edi.Location{Offset: from},
			"lines that end inside a segment differ in length: blanks before a line end may be lost, so the text cannot be put together again")
	case breaks.Count > 0:
		s.report(-1, edi.SeverityNote, "lines-wrapped", "", edi.Location{Offset: from}, "%d line ends inside segments were taken out", breaks.Count)
	}
	return edi.NewWindow(edi.Bytes(flat), 0, int64(len(flat)), 0), nil
}

// wrappedBounds does what bounds does for a text whose line ends within segments count
// for nothing.
func wrappedBounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	d := ic.Delimiters
	end, found := int64(0), false
	var head []byte // of the segment
	start := body   // of it, with what stands before it
	for at := body; at < p.Size() && !found; {
		b, err := p.Slice(at, min(boundsChunk, p.Size()-at))
		if err != nil {
			return err
		}
		for i := 0; i < len(b) && !found; i++ {
			switch c := b[i]; {
			case c == '\r' || c == '\n', len(head) == 0 && edi.Blank(c):
			case c == d.Terminator:
				here := at + int64(i) + 1
				if len(head) >= 3 && string(head[:3]) == "IEA" && (len(head) == 3 || head[3] == d.Element) {
					end, found = here, true
				}
				head, start = head[:0], here
			case len(head) < isaHead:
				if head = append(head, c); len(head) == isaHead && starts(head) {
					end, found = start, true
				}
			}
		}
		at += int64(len(b))
	}
	f := finder{p: p, d: d, hash: sha256.New(), hashed: ic.Offset}
	if !found {
		if err := f.toEnd(ic.Offset); err != nil {
			return err
		}
		end = f.end
	}
	if err := f.digest(end); err != nil {
		return err
	}
	ic.Length = end - ic.Offset
	f.hash.Sum(ic.PayloadSHA256[:0])
	return nil
}

// isaHead is as much of an ISA as tells it from text.
const isaHead = 18
