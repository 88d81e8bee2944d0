package x12

import "github.com/edigw/edigw/edi"

// bounds finds where the interchange at ic.Offset ends, reading on from offset
// body behind its ISA, and hashes it.
func (r Reader) bounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	f := bounds{Bounds: edi.Bounds{Payload: p, Delimiters: ic.Delimiters, Look: &services, Undigested: r.Undigested}}
	for b := range 256 {
		f.blank[b] = edi.Blank(byte(b)) && byte(b) != ic.Delimiters.Terminator && byte(b) != ic.Delimiters.Element
	}
	f.Blank, f.Segment = &f.blank, f.tag
	if t := ic.Delimiters.Terminator; r.LineWraps && t != '\r' && t != '\n' {
		return f.wrapped(ic, body)
	}
	return f.Find(ic, body)
}

// bounds is the state of one search.
type bounds struct {
	edi.Bounds
	blank [256]bool // between segments
}

// services begin the segments that may end an interchange, or are none of it, and
// those that carry binary data.
var services = func() (service [256]bool) {
	for b := range 256 {
		service[b] = b == 'I' || b == 'B' || b == 'U'
	}
	return service
}()

// tag judges the segment that starts with b at offset at; start is where the one
// before ended.
func (f *bounds) tag(b []byte, start, at int64) error {
	if len(b) < 3 {
		return nil
	}
	switch string(b[:3]) {
	case "IEA":
		f.Last = len(b) == 3 || b[3] == f.Delimiters.Element || b[3] == f.Delimiters.Terminator
	case "ISA", "UNA", "UNB":
		if starts(b) {
			f.End, f.Found = start, true
		}
	case "BIN", "BDS":
		head, err := f.Payload.Slice(at, min(binaryHead, f.Payload.Size()-at))
		if err != nil {
			return err
		}
		_, behind, ok := binary(head, at, f.Delimiters, f.Payload.Size())
		if !ok {
			return nil
		}
		end, err := f.Payload.Slice(behind, 1)
		if err == nil && end[0] == f.Delimiters.Terminator {
			f.Skip = behind
		}
		return err
	}
	return nil
}
