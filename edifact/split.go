package edifact

import (
	"bytes"
	"fmt"

	"github.com/edigw/edigw/edi"
)

// Split finds the first interchange at or behind offset from, in one cheap
// pass: parties, reference and date out of UNB, bounds, PayloadSHA256. Blanks
// and a byte order mark before it belong to nothing. It ends with the terminator
// of UNZ; without one, before the next UNA or UNB that starts a segment, or at
// the end of the payload, and Scan will say so.
//
// Go on at ic.Offset + ic.Length. The error is
//
//   - io.EOF, with a nil interchange, when only blanks are left;
//   - an *edi.Error when what stands there is no interchange that could be
//     identified: no UNB, no sender, recipient or 0020, or text before it (code
//     "text-before-interchange", also for text behind the last one). The
//     interchange then has Offset, Length and PayloadSHA256 of what was skipped,
//     and whatever else could be read;
//   - any other error when the payload cannot be read: ours, not the sender's.
func (r Reader) Split(p *edi.Payload, from int64) (*edi.Interchange, error) {
	at, head, err := edi.Lead(p, from, MaxHeader+unaLength)
	if err != nil {
		return nil, err
	}
	ic := &edi.Interchange{Syntax: "edifact", Offset: at, Delimiters: levelA}
	body, fault := r.header(ic, head)
	if fault != nil && fault.Code == edi.CodeText {
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

// header reads UNA and UNB off head and gives the offset behind UNB.
func (r Reader) header(ic *edi.Interchange, head []byte) (behind int64, fault *edi.Error) {
	refuse := func(code, standard, tag, text string) *edi.Error {
		return &edi.Error{Code: code, Standard: standard, Severity: edi.SeverityError, Text: text,
			Location: edi.Location{Offset: ic.Offset, Segment: 1, Tag: tag}}
	}
	rest := head
	if bytes.HasPrefix(rest, []byte("UNA")) {
		d, n, wrong := readUNA(rest)
		if wrong != "" {
			return ic.Offset + 3, refuse("una-invalid", "22", "UNA", wrong)
		}
		ic.Delimiters = d
		if rest = edi.SkipLead(rest[n:]); len(rest) == 0 {
			return ic.Offset + int64(n), refuse("unb-missing", "13", "UNB", "nothing follows UNA: the interchange header UNB is missing")
		}
	}
	behind = ic.Offset + int64(len(head)-len(rest))
	tag := ""
	if len(rest) >= 4 && !edi.Alphanumeric(rest[3]) {
		tag = string(rest[:3])
	}
	switch {
	case tag == "UNB":
	case tag == "UIB":
		return behind + 3, refuse("interactive-not-supported", "2", "UIB", "this is an interactive interchange (UIB, ISO 9735-3); only batch interchanges (UNB) are read")
	case tag == "UNH" || tag == "UNG":
		return behind + 3, refuse("unb-missing", "13", "UNB", "the text starts with "+tag+": the interchange header UNB is missing")
	case ic.Delimiters.Explicit:
		return behind, refuse("unb-missing", "13", "UNB", "UNA is not followed by the interchange header UNB")
	default:
		return behind, refuse(edi.CodeText, "", "", "text that is no interchange")
	}
	if d := &ic.Delimiters; !d.Explicit && rest[3] == levelB.Element {
		*d = levelB
	} else if rest[3] != d.Element {
		return behind + 3, refuse("unb-malformed", "22", "UNB", fmt.Sprintf("UNB is followed by %q, but the element separator is %q", rest[3], d.Element))
	}
	unb := rest[:min(len(rest), MaxHeader)]
	var breaks *edi.Breaks
	if r.LineWraps {
		unb, breaks = edi.Unwrap(unb, behind, ic.Delimiters)
	}
	end := terminator(unb, ic.Delimiters)
	if end < 0 {
		text := fmt.Sprintf("UNB does not end within %d bytes: its terminator %q is missing", len(unb), ic.Delimiters.Terminator)
		if line := bytes.IndexAny(unb, "\r\n"); line > 0 && bytes.HasPrefix(bytes.TrimLeft(unb[line:], "\r\n"), []byte("UN")) {
			text += "; segments end with lines, which UNA has to name as the terminator"
		}
		return behind + 3, refuse("unb-malformed", "13", "UNB", text)
	}
	segment := func(decode func([]byte) string) edi.Segment {
		l := edi.NewLexer(ic.Delimiters, decode)
		base := behind
		if breaks != nil {
			l.Unwrapped(breaks)
			base = 0
		}
		l.Window(unb[:end+1], base)
		for l.Lex(end + 1) {
		}
		l.Segments[0].Number = 1
		return l.Segments[0]
	}
	first := segment(nil)
	ic.Delimiters, _ = settleRepetition(ic.Delimiters, first.Get(1, 2)) // one that is not sound is Scan's to report
	cs, _ := r.charset(first.Get(1, 1), first.Get(1, 4))                // an unknown one is Scan's to report
	fault = readUNB(ic, segment(cs.Decode))
	if breaks != nil {
		return breaks.Origin(int64(end)) + 1, fault
	}
	return behind + int64(end) + 1, fault
}

// terminator finds the first terminator in b that is not released, or -1.
func terminator(b []byte, d edi.Delimiters) int {
	for i := 0; i < len(b); i++ {
		switch {
		case d.Release != 0 && b[i] == d.Release:
			i++
		case b[i] == d.Terminator:
			return i
		}
	}
	return -1
}

// isaHead is as much of an ISA as tells it from text.
const isaHead = 18

// leadsX12 reports whether b begins with the header of an X12 interchange, whose first
// separators stand in fixed places: it is another reader's, and must not be passed
// over as text.
func leadsX12(b []byte) bool {
	return len(b) >= isaHead && string(b[:3]) == "ISA" && !edi.Alphanumeric(b[3]) && b[6] == b[3] && b[17] == b[3]
}

// headers are those of either syntax that start a line or stand behind a terminator.
var headers = edi.Headers{
	Names:  "UNA or UNB",
	Behind: func(b byte) bool { return b == '\n' || b == '\r' || b == '\'' || b == '~' },
	Starts: func(b []byte) bool {
		return len(b) >= 5 && b[0] == 'U' && Leads(b[:5]) || leadsX12(b)
	},
}
