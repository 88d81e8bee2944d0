package edifact

import "github.com/edigw/edigw/edi"

// bounds finds where the interchange at ic.Offset ends, reading on from offset
// body behind its UNB, and hashes it.
func (r Reader) bounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	f := bounds{edi.Bounds{Payload: p, Delimiters: ic.Delimiters, Blank: &blanks, Look: &services, Undigested: r.Undigested}}
	f.Segment = f.tag
	if r.LineWraps {
		if _, breaks := edi.Unwrap(nil, 0, ic.Delimiters); breaks != nil {
			return f.wrapped(ic, body)
		}
	}
	return f.Find(ic, body)
}

// bounds is the state of one search.
type bounds struct{ edi.Bounds }

// blanks may stand between segments; services begin those that may end an
// interchange, or are none of it.
var blanks, services = func() (blank, service [256]bool) {
	for b := range 256 {
		blank[b] = edi.Blank(byte(b))
		service[b] = b == 'U' || b == 'I'
	}
	return blank, service
}()

// tag judges the segment that starts with b at offset at; start is where the one
// before ended.
func (f *bounds) tag(b []byte, start, at int64) error {
	if len(b) < 4 || edi.Alphanumeric(b[3]) && string(b[:3]) != "UNA" {
		return nil
	}
	switch string(b[:3]) {
	case "UNZ", "UIZ":
		f.Last = true
	case "UNA", "UNB", "UIB":
		f.End, f.Found = start, true
	case "ISA":
		// A user segment may have this name; X12's header has its separators
		// at fixed places.
		if len(b) > 17 && b[3] != f.Delimiters.Element && b[6] == b[3] && b[17] == b[3] {
			f.End, f.Found = start, true
		}
	case "UNO":
		return f.object(at)
	}
	return nil
}

// object skips what a package carries: as many bytes behind its UNO at offset at
// as 0810 says, if UNP stands there. ISO 9735-8.
func (f *bounds) object(at int64) error {
	b, err := f.Payload.Slice(at, min(MaxHeader, f.Payload.Size()-at))
	if err != nil {
		return err
	}
	end := terminator(b, f.Delimiters)
	if end < 0 {
		return nil
	}
	uno := edi.NewBody(b[:end+1], at, 1, f.Delimiters, nil).Segment(0)
	n, ok := octets(uno.Get(4, 1))
	headers, _ := octets(uno.Get(4, 2))
	for range min(headers, 999) {
		next := terminator(b[end+1:], f.Delimiters)
		if next < 0 {
			return nil
		}
		end += next + 1
	}
	behind := at + int64(end) + 1 + n
	if !ok || behind > f.Payload.Size()-3 || behind < at {
		return nil // Scan will say so
	}
	unp, err := f.Payload.Slice(behind, 3)
	if err == nil && string(unp) == "UNP" {
		f.Skip = behind
	}
	return err
}
