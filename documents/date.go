package documents

import "strings"

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

// dateFault says how a date went wrong.
type dateFault int

const (
	dateFine       dateFault = iota
	dateEmpty                // no value, or zeros
	dateFormat               // a format we do not read: kept as sent
	dateMismatch             // read by its length, which the format contradicts
	dateImpossible           // no such day or time
)

// parseDate reads 2380 by the format 2379. Without a format the length tells. Two-digit
// years 00 to 79 are of this century.
func parseDate(value, format string) (d Date, fault dateFault) {
	d.Raw, d.Format = value, format
	v := strings.Trim(value, " ")
	if strings.Trim(v, "0") == "" { // QUIRK: 00000000 is sent for "no date"
		return d, dateEmpty
	}
	switch format {
	case "", "101", "102", "201", "203", "204":
	default:
		return parseFormat(d, v, format)
	}
	if !isDigits(v) {
		if format == "" {
			return d, dateFormat
		}
		return d, dateImpossible
	}
	ok := false
	if d.Value, ok = parseInstant(v); !ok {
		d.Value = ""
		return d, dateImpossible
	}
	if format != "" && len(v) != formatLength(format) {
		fault = dateMismatch
	}
	return d, fault
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
