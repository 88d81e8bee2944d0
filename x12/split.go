package x12

import "github.com/edigw/edigw/edi"

// Split finds the first interchange at or behind offset from, in one cheap pass:
// delimiters, parties, control number and date out of ISA, bounds, PayloadSHA256.
// Blanks and a byte order mark before it belong to nothing. It ends with the
// terminator of IEA; without one, before the next ISA that starts a segment, or
// at the end of the payload, and Scan will say so.
//
// Go on at ic.Offset + ic.Length. The error is
//
//   - io.EOF, with a nil interchange, when only blanks are left;
//   - an *edi.Error when what stands there is no interchange that could be
//     identified: no ISA, or one that gives no delimiters, sender, recipient or
//     control number, or text before it (code "text-before-interchange", also for
//     text behind the last one). The interchange then has Offset, Length and
//     PayloadSHA256 of what was skipped, and whatever else could be read;
//   - any other error when the payload cannot be read: ours, not the sender's.
func (r Reader) Split(p *edi.Payload, from int64) (*edi.Interchange, error) {
	at, head, err := edi.Lead(p, from, MaxHeader)
	if err != nil {
		return nil, err
	}
	ic := &edi.Interchange{Syntax: "x12", Offset: at}
	body, fault := r.envelope(ic, head)
	if fault != nil && ic.Delimiters.Terminator == 0 { // it cannot be cut into segments
		return ic, edi.SkipText(p, ic, fault, headers)
	}
	if err := r.bounds(p, ic, body); err != nil {
		return nil, err
	}
	if fault != nil {
		return ic, fault
	}
	return ic, nil
}

// envelope reads ISA off head and gives the offset behind it.
func (r Reader) envelope(ic *edi.Interchange, head []byte) (behind int64, fault *edi.Error) {
	refuse := func(code, tag, text string) *edi.Error {
		return &edi.Error{Code: code, Severity: edi.SeverityError, Text: text,
			Location: edi.Location{Offset: ic.Offset, Segment: 1, Tag: tag}}
	}
	switch {
	case len(head) >= 4 && string(head[:3]) == "ISA" && delimits(head[3]):
	case Leads(head):
		return ic.Offset, refuse("isa-missing", string(head[:2]), "the text starts with "+string(head[:2])+": the interchange header ISA is missing")
	default:
		return ic.Offset, refuse(edi.CodeText, "", "text that is no interchange")
	}
	h, d, length, fault := r.anyISA(head[:min(len(head), MaxHeader)])
	if fault != nil {
		fault.Offset += ic.Offset
		return ic.Offset, fault
	}
	ic.Delimiters = d
	return ic.Offset + int64(length), h.fill(ic)
}

// headers are those of either syntax that start a line or follow what ends a segment.
var headers = edi.Headers{Names: "ISA", Behind: endsSegment, Starts: starts}

func endsSegment(b byte) bool { return !edi.Alphanumeric(b) && b != ' ' && b != '-' && b != '*' }

// starts reports whether b begins with the header of an interchange: an ISA with
// its separators in place, or EDIFACT's.
func starts(b []byte) bool {
	if len(b) < isaHead {
		return false
	}
	switch string(b[:3]) {
	case "ISA":
		return delimits(b[3]) && b[6] == b[3] && b[17] == b[3]
	case "UNA":
		return string(b[9:12]) == "UNB" || edi.Blank(b[9])
	case "UNB":
		return b[3] == '+' && string(b[4:7]) == "UNO"
	}
	return false
}
