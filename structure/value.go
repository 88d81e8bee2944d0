package structure

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// value checks one value that is there; released says that a release character
// may stand in it.
func (c *check) value(p *edi.Pieces, released bool, table *segment, def *element, v *component) {
	raw := p.Raw()
	if released {
		raw = []byte(p.Text())
	}
	length := len(raw)
	switch v.kind {
	case binary:
		return
	case number, integer, decimal:
		var f fault
		if length, f = digits(raw, v.kind); f != 0 {
			c.wrong(f, p, table, def, v, "is no number: %s", numberWords(v.kind, f))
			return
		}
	default:
		if !ascii(raw) {
			length = utf8.RuneCountInString(p.Text())
		}
	}
	if length > v.max {
		c.wrong(tooLong, p, table, def, v, "has %d %s, %d are the most", length, unit(v.kind), v.max)
	} else if length < v.min {
		c.wrong(tooShort, p, table, def, v, "has %d %s, %d are the fewest", length, unit(v.kind), v.min)
	}
	switch v.kind {
	case letters:
		for _, r := range p.Text() {
			if unicode.IsDigit(r) {
				c.wrong(wrongCharacters, p, table, def, v, "has a digit, and takes letters alone")
				break
			}
		}
	case date:
		if !isDate(raw) {
			c.wrong(wrongDate, p, table, def, v, "is no date CCYYMMDD or YYMMDD")
		}
	case clock:
		if !isTime(raw) {
			c.wrong(wrongTime, p, table, def, v, "is no time HHMM, HHMMSS or HHMMSS and hundredths")
		}
	}
	if v.codes != nil && !v.codes[p.Text()] {
		c.wrong(wrongCode, p, table, def, v, "is none of the codes that may stand here")
	}
}

// wrong reports a value.
func (c *check) wrong(f fault, p *edi.Pieces, table *segment, def *element, v *component, text string, args ...any) {
	at := p.Location()
	at.Repetition = told(def, p.Repetition)
	what := "element " + name(table, p.Element)
	if def.composite {
		what = fmt.Sprintf("component %s of element %s", v.id, name(table, p.Element))
	} else {
		at.Component = 0
	}
	c.findElement(f, at, v.id, p.Text(), "%s of %s: %q %s", what, table.tag, edi.Clip([]byte(p.Text())), fmt.Sprintf(text, args...))
}

func unit(k kind) string {
	if k == number || k == integer || k == decimal {
		return "digits"
	}
	return "characters"
}

func numberWords(k kind, f fault) string {
	switch {
	case f == noDigitBefore:
		return "a digit stands before the decimal mark, and one behind it"
	case k == integer:
		return "digits alone, with a minus before them; the decimal point is implied"
	case k == decimal:
		return "digits, one decimal point, a minus before them"
	}
	return "digits, one decimal mark, a minus before them"
}

// digits counts the digits of a number; sign, decimal mark and exponent do not
// count (ISO 9735-1 §10.1, X12.6 §3.5.1.3). In EDIFACT comma and point are both
// a decimal mark, whatever UNA says, as they are where documents are read.
func digits(b []byte, k kind) (n int, f fault) {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	point := -1
	for i, ch := range b {
		switch {
		case ch >= '0' && ch <= '9':
			n++
		case k == integer:
			return n, wrongCharacters
		case (ch == '.' || ch == ',' && k == number):
			if point >= 0 {
				return n, wrongNotation
			}
			point = i
		case ch == 'E' && k == decimal && n > 0 && exponent(b[i+1:]):
			return n, 0
		case ch == '.' || ch == ',':
			return n, wrongNotation
		default:
			return n, wrongCharacters
		}
	}
	switch {
	case n == 0:
		return n, wrongCharacters
	case k == number && (point == 0 || point == len(b)-1):
		return n, noDigitBefore
	}
	return n, 0
}

// exponent reports whether b is what may stand behind E in a number of type R.
func exponent(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	return len(b) > 0 && allDigits(b)
}

func allDigits(b []byte) bool {
	for _, ch := range b {
		if ch < '0' || ch > '9' {
			return false
		}
	}
	return true
}

func ascii(b []byte) bool {
	for _, ch := range b {
		if ch >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isDate reads DT: eight digits, or six before 004010.
func isDate(b []byte) bool {
	if len(b) != 8 && len(b) != 6 || !allDigits(b) {
		return false
	}
	n := 0
	for _, ch := range b {
		n = n*10 + int(ch-'0')
	}
	if len(b) == 6 {
		n += 20000000 // 2000 is a leap year, as 00 is in every window of years
	}
	y, m, d := n/10000, n/100%100, n%100
	return m >= 1 && m <= 12 && d >= 1 && (d <= 28 || d <= time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// isTime reads TM: HHMM, HHMMSS, and tenths or hundredths of a second.
func isTime(b []byte) bool {
	if !allDigits(b) || len(b) < 4 || len(b) == 5 || len(b) > 8 {
		return false
	}
	two := func(i int) int {
		n, _ := strconv.Atoi(string(b[i : i+2])) // digits alone
		return n
	}
	return two(0) < 24 && two(2) < 60 && (len(b) < 6 || two(4) < 60)
}
