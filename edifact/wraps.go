package edifact

import (
	"crypto/sha256"

	"github.com/edigw/edigw/edi"
)

// QUIRK: mainframes cut the text into lines of 80 characters wherever that falls,
// in tags and values too. Where a partner's settings say so, line ends within
// segments are no part of the text.

// window shows the interchange from offset from on, or, where line ends are taken
// out, what is left of it.
func (s *scan) window(p *edi.Payload, from int64) (*edi.Window, error) {
	end := s.ic.Offset + s.ic.Length
	if !s.reader.LineWraps {
		return edi.NewWindow(p, from, end, s.reader.chunk), nil
	}
	if s.ic.Length > s.reader.messageLimit() {
		s.stop("message-too-large", "18", edi.Location{Offset: s.ic.Offset}, "an interchange whose lines are wrapped is larger than %d bytes", s.reader.messageLimit())
		return nil, nil
	}
	raw, err := p.Slice(s.ic.Offset, s.ic.Length)
	if err != nil {
		return nil, err
	}
	flat, breaks := edi.Unwrap(raw[from-s.ic.Offset:], from, s.ic.Delimiters)
	if breaks == nil {
		return edi.NewWindow(p, from, end, s.reader.chunk), nil
	}
	s.wrapped, s.breaks = raw, breaks
	s.lex.Unwrapped(breaks)
	switch {
	case breaks.Uneven:
		s.report(-1, edi.SeverityError, "lines-wrapped-unevenly", "21", edi.Location{Offset: from},
			"lines that end inside a segment differ in length: blanks before a line end may be lost, so the text cannot be put together again")
	case breaks.Count > 0:
		s.report(-1, edi.SeverityNote, "lines-wrapped", "21", edi.Location{Offset: from}, "%d line ends inside segments were taken out", breaks.Count)
	}
	return edi.NewWindow(edi.Bytes(flat), 0, int64(len(flat)), 0), nil
}

// wrappedBounds does what bounds does for a text whose line ends within segments
// count for nothing.
func wrappedBounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	d := ic.Delimiters
	end, last, released := p.Size(), false, false
	var tag []byte // the first bytes of the segment
	found := false
	start := body // of the segment, with what stands before it
	for at := body; at < p.Size() && !found; {
		b, err := p.Slice(at, min(boundsChunk, p.Size()-at))
		if err != nil {
			return err
		}
		for i, c := range b {
			switch {
			case c == '\r' || c == '\n':
				continue
			case released:
				released = false
			case c == d.Release && c != 0:
				released = true
			case c == d.Terminator:
				here := at + int64(i) + 1
				if last || len(tag) == 3 && (string(tag) == "UNZ" || string(tag) == "UIZ") {
					end, found = here, true
				}
				tag, start, last = tag[:0], here, false
			}
			if found {
				break
			}
			if c == d.Terminator && len(tag) == 0 || len(tag) == 0 && edi.Blank(c) || len(tag) == 4 {
				continue
			}
			if tag = append(tag, c); len(tag) < 4 {
				continue
			}
			switch string(tag[:3]) {
			case "UNZ", "UIZ":
				last = !alphanumeric(c)
			case "UNA":
				end, found = start, true
			case "UNB", "UIB":
				if !alphanumeric(c) {
					end, found = start, true
				}
			}
			if found {
				break
			}
		}
		at += int64(len(b))
	}
	if !found {
		f := finder{p: p, d: d}
		if err := f.toEnd(ic.Offset); err != nil {
			return err
		}
		end = f.end
	}
	f := finder{p: p, d: d, hash: sha256.New(), hashed: ic.Offset}
	if err := f.digest(end); err != nil {
		return err
	}
	ic.Length = end - ic.Offset
	f.hash.Sum(ic.PayloadSHA256[:0])
	return nil
}
