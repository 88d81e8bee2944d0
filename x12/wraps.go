package x12

import "github.com/edigw/edigw/edi"

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
	return n > 0 && n < len(b) && !edi.Alphanumeric(b[n]) && !edi.Blank(b[n])
}

const wrapsChunk = 64 << 10

// wrapped does what Find does for a text whose line ends within segments count
// for nothing.
func (f *bounds) wrapped(ic *edi.Interchange, body int64) error {
	d, p := ic.Delimiters, f.Payload
	var head []byte // of the segment
	start := body   // of it, with what stands before it
	for at := body; at < p.Size() && !f.Found; {
		b, err := p.Slice(at, min(wrapsChunk, p.Size()-at))
		if err != nil {
			return err
		}
		for i := 0; i < len(b) && !f.Found; i++ {
			switch c := b[i]; {
			case c == '\r' || c == '\n', len(head) == 0 && edi.Blank(c):
			case c == d.Terminator:
				here := at + int64(i) + 1
				if len(head) >= 3 && string(head[:3]) == "IEA" && (len(head) == 3 || head[3] == d.Element) {
					f.End, f.Found = here, true
				}
				head, start = head[:0], here
			case len(head) < isaHead:
				if head = append(head, c); len(head) == isaHead && starts(head) {
					f.End, f.Found = start, true
				}
			}
		}
		at += int64(len(b))
	}
	return f.Settle(ic)
}

// isaHead is as much of an ISA as tells it from text.
const isaHead = 18
