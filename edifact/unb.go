package edifact

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// maxValue is the longest value of UNB in characters. ISO 9735-1 has an..35; beyond
// that CONTRL repeats what was sent, but its own UNB has to be one that can be read.
const maxValue = 256

// readUNB fills ic from its UNB, ISO 9735-1 annex C. The error says that no
// natural key can be made of it and no CONTRL be written; smaller faults are
// Scan's to report.
func readUNB(ic *edi.Interchange, unb edi.Segment) *edi.Error {
	ic.SyntaxID = unb.Get(1, 1)
	ic.SyntaxVersion = unb.Get(1, 2)
	ic.Encoding = unb.Get(1, 4)
	ic.Sender = party(unb, 2)
	ic.Recipient = party(unb, 3)
	ic.Date, ic.Time = moment(unb, 4)
	ic.ControlReference = trim(unb.Get(5, 1))
	ic.ApplicationReference = trim(unb.Get(7, 1))
	ic.AckRequested = unb.Get(9, 1) == "1"
	ic.Agreement = trim(unb.Get(10, 1))
	ic.Test = testIndicator(unb.Get(11, 1))
	for _, m := range [...]struct {
		value   string
		element int
		what    string
	}{
		{ic.Sender.ID, 2, "the sender (0004)"},
		{ic.Recipient.ID, 3, "the recipient (0010)"},
		{ic.ControlReference, 5, "the interchange control reference (0020)"},
	} {
		if m.value == "" {
			return &edi.Error{Severity: edi.SeverityError, Code: "unb-incomplete", Standard: "13", Location: unb.Location(m.element, 1),
				Text: "UNB lacks " + m.what + ", so the interchange can be neither identified nor answered"}
		}
	}
	for v := range unb.Values() { // what it says goes into keys, answers and the database
		if strings.ContainsFunc(v.Text, unicode.IsControl) {
			return &edi.Error{Severity: edi.SeverityError, Code: "unb-malformed", Standard: "21", Location: unb.Location(v.Element, v.Component),
				Text: "a line break or another control character stands in " + inUNB(v.Element) + ": the text may have been wrapped on its way"}
		}
		if utf8.RuneCountInString(v.Text) > maxValue {
			return &edi.Error{Severity: edi.SeverityError, Code: "unb-malformed", Standard: "39", Location: unb.Location(v.Element, v.Component),
				Text: fmt.Sprintf("a value of %s has more than %d characters, where the standard has 35 at most", inUNB(v.Element), maxValue)}
		}
	}
	return nil
}

// inUNB names element e to a person.
func inUNB(e int) string {
	switch e {
	case 2:
		return "the sender (S002)"
	case 3:
		return "the recipient (S003)"
	case 5:
		return "the interchange control reference (0020)"
	}
	return "UNB"
}

// testIndicator reads 0035. Version 4 has kinds of test beside 1: 2 syntax only,
// 3 and 4 echo, 5 with a service provider; none of them is live business.
func testIndicator(v string) bool {
	return len(v) == 1 && v[0] >= '1' && v[0] <= '5'
}

func party(s edi.Segment, e int) edi.Party {
	return edi.Party{ID: trim(s.Get(e, 1)), Qualifier: trim(s.Get(e, 2))}
}

// moment reads S004: 0017 as YYMMDD (n6) or CCYYMMDD (n8, version 4), 0019. The
// date is "" where it is none.
// QUIRK: either length comes under any syntax version.
func moment(s edi.Segment, e int) (date, clock string) {
	date, clock = trim(s.Get(e, 1)), trim(s.Get(e, 2))
	if len(date) == 6 {
		century := "20"
		if date >= "70" { // EDIFACT began in 1987
			century = "19"
		}
		date = century + date
	}
	if !edi.Digits(date) || len(date) != 8 {
		return "", clock
	}
	if _, err := time.Parse("20060102", date); err != nil {
		return "", clock
	}
	return date, clock
}

// digitsOf0017 is how long a date of S004 is: n6 before syntax version 4, n8 in it.
func digitsOf0017(version string) int {
	if version == "4" {
		return 8
	}
	return 6
}

// trim takes off trailing blanks, which only fill: ISO 9735-1 §9 suppresses them.
func trim(s string) string { return strings.TrimRight(s, " ") }
