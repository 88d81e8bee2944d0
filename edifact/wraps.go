package edifact

import "github.com/edigw/edigw/edi"

const wrapsChunk = 64 << 10

// wrapped does what Find does for a text whose line ends within segments
// count for nothing.
func (f *bounds) wrapped(ic *edi.Interchange, body int64) error {
	d, p := ic.Delimiters, f.Payload
	last, released := false, false
	var tag []byte // the first bytes of the segment
	start := body  // of the segment, with what stands before it
	for at := body; at < p.Size() && !f.Found; {
		b, err := p.Slice(at, min(wrapsChunk, p.Size()-at))
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
					f.End, f.Found = here, true
				}
				tag, start, last = tag[:0], here, false
			}
			if f.Found {
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
				last = !edi.Alphanumeric(c)
			case "UNA":
				f.End, f.Found = start, true
			case "UNB", "UIB":
				if !edi.Alphanumeric(c) {
					f.End, f.Found = start, true
				}
			}
			if f.Found {
				break
			}
		}
		at += int64(len(b))
	}
	return f.Settle(ic)
}
