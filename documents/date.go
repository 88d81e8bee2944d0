package documents

import (
	"strings"
	"time"
)

// Date is a date, time or period as a partner sent it. Times are the sender's
// local times: no zone is added or converted.
type Date struct {
	Role      string `json:"role,omitempty"`      // ours: issue, delivery, due, …; "" where the qualifier has none
	Qualifier string `json:"qualifier,omitempty"` // 2005 as sent
	Value     string `json:"value,omitempty"`     // ISO 8601: 2026-11-27, 2026-11-27T14:30:00, 2026-11, 2026-W48, 14:30; P30D of a span of time
	End       string `json:"end,omitempty"`       // of a period
	Zone      string `json:"zone,omitempty"`      // of the sender, where it says one: +0100, CET; value is not converted
	Raw       string `json:"raw,omitempty"`       // 2380 as sent
	Format    string `json:"format,omitempty"`    // 2379 as sent
}

// Day gives CCYY-MM-DD, "" if the value is not that exact.
func (d Date) Day() string {
	if len(d.Value) >= 10 && d.Value[4] == '-' && d.Value[5] != 'W' {
		return d.Value[:10]
	}
	return ""
}

// keyDay is Day as version 1 of the guard key has it. Keys are stored: a date that was
// not read when they began has no year in them, and never gets one.
func (d Date) keyDay() string {
	switch d.Format {
	case "", "101", "102", "201", "203", "204", "303", "304", "713", "718":
		return d.Day()
	case "202":
		if read, ok := parseInstant(strings.Trim(d.Raw, " ")); ok { // as it was taken for 203
			return read[:len(time.DateOnly)]
		}
		return d.Day()
	}
	return ""
}

// dateFault says how a date went wrong.
type dateFault int

const (
	dateFine       dateFault = iota
	dateEmpty                // no value, or zeros
	dateFormat               // a format we do not read: kept as sent
	dateMismatch             // read by its length, which the format contradicts
	dateUnlike               // not written as its format says: kept as sent
	dateImpossible           // no such day or time
)

// parseDate reads 2380 by the format 2379. Without a format the length tells. Two-digit
// years 00 to 79 are of this century. What is not written as its format says is no date
// in the formats that always had to be, and kept as sent in those that came later: what
// was posted without them is not refused for them.
func parseDate(value, format string) (Date, dateFault) {
	d, fault := readDate(value, format)
	if fault == dateUnlike && exact(format) {
		fault = dateImpossible
	}
	return d, fault
}

// exact reports whether a value that is not written as its format says is none.
func exact(format string) bool {
	switch format {
	case "", "101", "102", "201", "202", "203", "204", "303", "304", "602", "610", "616", "713", "718":
		return true
	}
	return false
}

// readDate is parseDate, which tells what is written otherwise from what there is not.
func readDate(value, format string) (d Date, fault dateFault) {
	d.Raw, d.Format = value, format
	v := strings.Trim(value, " ")
	if v == "" || strings.Trim(v, "0") == "" && hasYear(format) { // QUIRK: 00000000 is sent for "no date"
		return d, dateEmpty
	}
	switch format {
	case "", "101", "102", "201", "203", "204":
		return readInstant(d, v)
	case "202":
		if read, fault := parseFormat(d, v, format); fault == dateFine {
			return read, fault
		}
		return readInstant(d, v) // QUIRK: 202 is taken for 203
	}
	return parseFormat(d, v, format)
}

// hasYear reports whether zeros are no value of a format: they are no year, and neither
// midnight nor a span of no time.
func hasYear(format string) bool {
	switch format {
	case "", "101", "102", "201", "203", "204":
		return true
	}
	layout, _ := layoutOf(format)
	return strings.Contains(layout, "YY")
}

// readInstant reads a value by its length.
func readInstant(d Date, v string) (Date, dateFault) {
	if !isDigits(v) {
		if d.Format == "" {
			return d, dateFormat
		}
		return d, dateUnlike
	}
	var ok bool
	if d.Value, ok = parseInstant(v); !ok {
		d.Value = ""
		if hasLength(d.Format, len(v)) {
			return d, dateImpossible
		}
		return d, dateUnlike // a month that is called 102, say
	}
	if d.Format != "" && (len(v) != formatLength(d.Format) || d.Format == "202") {
		return d, dateMismatch
	}
	return d, dateFine
}

// formatLength is how long a value in a plain format is.
func formatLength(format string) int {
	switch format {
	case "101":
		return 6
	case "102":
		return 8
	case "201":
		return 10
	case "203":
		return 12
	}
	return 14
}

// hasLength reports whether a value of n digits is as long as its plain format says;
// without a format, as any of them.
func hasLength(format string, n int) bool {
	if format == "" {
		return n == 6 || n == 8 || n == 10 || n == 12 || n == 14
	}
	return n == formatLength(format)
}

// parseInstant reads YYMMDD, CCYYMMDD, YYMMDDHHMM, CCYYMMDDHHMM and
// CCYYMMDDHHMMSS, all digits, and checks that there is such a day and time.
func parseInstant(v string) (string, bool) {
	if !isDigits(v) {
		return "", false
	}
	switch len(v) {
	case 6, 10:
		if v[0] < '8' {
			v = "20" + v
		} else {
			v = "19" + v
		}
	case 8, 12, 14:
	default:
		return "", false
	}
	year, month, day := atoi(v[:4]), atoi(v[4:6]), atoi(v[6:8])
	if year == 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return "", false
	}
	out := make([]byte, 0, len("2006-01-02T15:04:05"))
	out = append(out, v[:4]...)
	out = append(out, '-', v[4], v[5], '-', v[6], v[7])
	if len(v) == 8 {
		return string(out), true
	}
	hour, minute, second := atoi(v[8:10]), atoi(v[10:12]), 0
	if len(v) == 14 {
		second = atoi(v[12:14])
	}
	if minute > 59 || second > 60 || hour > 24 || hour == 24 && (minute > 0 || second > 0) { // ISO 8601: 24:00 ends a day
		return "", false
	}
	out = append(out, 'T', v[8], v[9], ':', v[10], v[11])
	if len(v) == 14 {
		out = append(out, ':', v[12], v[13])
	}
	return string(out), true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// atoi reads a few digits.
func atoi(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
