package x12

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// X12.5: ISA has 16 elements of fixed width, so its separators stand in fixed
// places, and it is 106 bytes long with its terminator.
const isaLength = 106

var isaWidths = [17]int{3, 2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1}

// isa is what stands in an ISA, as sent.
type isa struct {
	element [17][]byte // 1 to 16, padding and all; 0 is the tag
	at      [17]int    // where each starts, in bytes from ISA
	length  int        // behind the terminator
	fixed   bool       // every separator is in its place
	blank   bool       // blanks stand between ISA16 and the terminator
	decode  func([]byte) string
}

// readISA reads ISA at the start of b and with it the delimiters. fault says why
// the text cannot be cut into segments, with its I18 code and the element at
// fault.
func (r Reader) readISA(b []byte) (h isa, d edi.Delimiters, fault *edi.Error) {
	h.decode = r.header
	refuse := func(standard string, element int, text string, args ...any) *edi.Error {
		return &edi.Error{Code: "isa-malformed", Standard: standard, Severity: edi.SeverityError, Text: fmt.Sprintf(text, args...),
			Location: edi.Location{Offset: int64(h.at[element]), Segment: 1, Tag: "ISA", Element: element}}
	}
	d = edi.Delimiters{Element: b[3], Explicit: true}
	behind := h.cut(b)
	if behind < 0 {
		return h, d, refuse("022", 0, "ISA has less than 16 elements within %d bytes: the interchange header is cut off or its element separator %q is wrong", len(b), d.Element)
	}
	if at := bytes.IndexAny(b[:behind], "\r\n"); at >= 0 && d.Element != b[at] {
		return h, d, refuse("022", 0, "a line break stands inside ISA: the text was wrapped on its way, and where its lines have to be joined is not certain")
	}
	if behind >= len(b) {
		return h, d, refuse("027", 16, "ISA ends before its component separator (ISA16)")
	}
	d.Component = b[behind]
	h.element[16], h.at[16] = b[behind:behind+1], behind
	rest := b[behind+1:]
	for len(rest) > 1 && rest[0] == ' ' { // QUIRK: a blank before the terminator
		rest, h.blank = rest[1:], true
	}
	if len(rest) == 0 {
		return h, d, refuse("004", 0, "ISA ends before its segment terminator")
	}
	d.Terminator = rest[0]
	h.length = len(b) - len(rest) + 1
	switch t := d.Terminator; {
	case edi.Alphanumeric(d.Component) || edi.Blank(d.Component) || d.Component == d.Element || d.Component >= 0x80:
		return h, d, refuse("027", 16, "%q cannot be the component separator (ISA16); it may be missing", d.Component)
	case edi.Alphanumeric(t) || t == 0 || t == ' ' || t == '\t':
		return h, d, refuse("004", 0, "%q cannot be the segment terminator; ISA16 or the terminator is missing", t)
	case t == d.Element || t == d.Component:
		return h, d, refuse("004", 0, "%q stands for two delimiters", t)
	case multibyte(rest):
		return h, d, refuse("004", 0, "the segment terminator is a character of several bytes; it has to be a single byte")
	case componentMissing(rest, d):
		return h, d, refuse("027", 16, "ISA16 is missing: the segments end with %q, which stands in its place", d.Component)
	}
	d.Repetition = repetition(h.element[11], h.element[12], d)
	return h, d, nil
}

// cut finds the elements: by position, or where the separators are not in their
// places by counting them. It gives the offset of ISA16, or -1.
func (h *isa) cut(b []byte) (behind int) {
	h.fixed = len(b) >= isaLength-1
	at := 3
	for e := 1; e < 17 && h.fixed; e++ {
		h.fixed = b[at] == b[3]
		h.at[e] = at + 1
		at += 1 + isaWidths[e]
	}
	if !h.fixed {
		at := 3
		for e := 1; e < 17; e++ {
			h.at[e] = at + 1
			next := bytes.IndexByte(b[at+1:], b[3])
			if next < 0 && e < 16 {
				return -1
			}
			at += 1 + next
		}
	}
	for e := 1; e < 16; e++ {
		h.element[e] = b[h.at[e] : h.at[e+1]-1]
	}
	return h.at[16]
}

// multibyte reports whether b starts with a character of several bytes in UTF-8.
// A terminator of one byte ≥ 0x80 is none, because a letter follows it.
func multibyte(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return n > 1 && r != utf8.RuneError
}

// componentMissing reports whether ISA ended with what was taken for ISA16: the
// terminator found is a line end, and the segment before the next one ends with
// that character too, which no segment does.
func componentMissing(rest []byte, d edi.Delimiters) bool {
	if d.Terminator != '\r' && d.Terminator != '\n' {
		return false
	}
	line := bytes.TrimLeft(rest, "\r\n")
	end := bytes.IndexAny(line, "\r\n")
	if end < 0 {
		end = len(line)
	}
	line = bytes.TrimRight(line[:end], " ")
	return len(line) > 0 && line[len(line)-1] == d.Component
}

// repetition is the repetition separator, 0 where there is none: ISA11 is one
// from control version 00402 on, before that it names the standard.
// QUIRK: some go on sending U, which is in the data, under later versions.
func repetition(isa11, isa12 []byte, d edi.Delimiters) byte {
	if len(isa11) != 1 || len(isa12) != 5 || string(isa12) < "00402" {
		return 0
	}
	switch c := isa11[0]; {
	case edi.Alphanumeric(c), c <= ' ' && (c < 0x1C || c == ' '), c >= 0x80, c == d.Element, c == d.Component, c == d.Terminator:
		return 0
	default:
		return c
	}
}

// value gives element e without its padding.
func (h *isa) value(e int) string { return trim(h.decode(h.element[e])) }

// fill sets ic from ISA. The error says that no natural key can be made of it and
// no TA1 be written; smaller faults are Scan's to report.
func (h *isa) fill(ic *edi.Interchange) *edi.Error {
	ic.SyntaxVersion = h.value(12)
	ic.Sender = edi.Party{Qualifier: h.value(5), ID: h.value(6)}
	ic.Recipient = edi.Party{Qualifier: h.value(7), ID: h.value(8)}
	ic.Date, ic.Time = date(h.value(9)), h.value(10)
	ic.ControlReference = controlNumber(h.value(13))
	ic.AckRequested = h.value(14) == "1"
	ic.Test = h.value(15) == "T"
	refuse := func(e int, code, standard, text string) *edi.Error {
		return &edi.Error{Code: code, Standard: standard, Severity: edi.SeverityError, Text: text,
			Location: edi.Location{Offset: ic.Offset + int64(h.at[e]), Segment: 1, Tag: "ISA", Element: e}}
	}
	for _, m := range [...]struct {
		value    string
		element  int
		standard string
		what     string
	}{
		{ic.Sender.ID, 6, "006", "the sender (ISA06)"},
		{ic.Recipient.ID, 8, "008", "the recipient (ISA08)"},
		{ic.ControlReference, 13, "018", "the control number (ISA13)"},
	} {
		if m.value == "" {
			return refuse(m.element, "isa-incomplete", m.standard, "ISA lacks "+m.what+", so the interchange can be neither identified nor answered")
		}
	}
	for _, copied := range [...]struct { // into answers
		element  int
		standard string
	}{{5, "005"}, {6, "006"}, {7, "007"}, {8, "008"}, {13, "018"}} {
		e := copied.element
		if n := utf8.RuneCountInString(h.value(e)); n > isaWidths[e] {
			return refuse(e, "isa-malformed", copied.standard, fmt.Sprintf("ISA%02d has %d characters, more than %d", e, n, isaWidths[e]))
		}
	}
	for e := 1; e < 16; e++ { // what it says goes into keys, answers and the database
		if e != 11 && strings.ContainsFunc(h.value(e), unicode.IsControl) {
			return refuse(e, "isa-malformed", "022", fmt.Sprintf("a control character stands in ISA%02d", e))
		}
	}
	return nil
}

// controlNumber gives ISA13 as nine digits. What is no number stays as it is, for
// Scan to refuse.
// QUIRK: some cut its leading zeros.
func controlNumber(v string) string {
	v = strings.TrimLeft(v, " ")
	if edi.Digits(v) && len(v) < 9 {
		return strings.Repeat("0", 9-len(v)) + v
	}
	return v
}

// date gives ISA09 or GS04, YYMMDD or CCYYMMDD, as CCYYMMDD, "" where it is no
// date. ISA09 has no century: 70 to 99 is the twentieth.
func date(v string) string {
	if len(v) == 6 {
		if v >= "70" {
			v = "19" + v
		} else {
			v = "20" + v
		}
	}
	if len(v) != 8 || !edi.Digits(v) {
		return ""
	}
	if _, err := time.Parse("20060102", v); err != nil {
		return ""
	}
	return v
}

// trim takes off padding on the right.
// QUIRK: some pad with no-break spaces.
func trim(s string) string { return strings.TrimRight(s, " \u00A0") }
