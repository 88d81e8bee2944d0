package documents

import (
	"strconv"
	"strings"
	"time"
)

// layoutOf gives how values of a format of 2379 are written, of a period each of its
// ends: CC century, YY year, MM month, DD day, WW week, E day of the week, JJJ day of
// the year, Q quarter, I semester, HH hour, NN minute, SS second, FFF millisecond, O
// offset, Z zone, behind all else. "" for a format we do not read: those without a year,
// and parts of a month.
func layoutOf(format string) (layout string, period bool) {
	switch format {
	case "2":
		return "DDMMYY", false
	case "3":
		return "MMDDYY", false
	case "4":
		return "DDMMCCYY", false
	case "5":
		return "DDMMCCYYHHNN", false
	case "10":
		return "CCYYMMDDTHHNN", false
	case "103":
		return "YYWWE", false
	case "105":
		return "YYJJJ", false
	case "202":
		return "YYMMDDHHNNSS", false
	case "205":
		return "CCYYMMDDHHNNO", false
	case "206":
		return "YYMMDDHHNNO", false
	case "207":
		return "YYMMDDHHNNSSO", false
	case "208":
		return "CCYYMMDDHHNNSSO", false
	case "301":
		return "YYMMDDHHNNZ", false
	case "302":
		return "YYMMDDHHNNSSZ", false
	case "303":
		return "CCYYMMDDHHNNZ", false
	case "304":
		return "CCYYMMDDHHNNSSZ", false
	case "307":
		return "CCYYMMDDHHNNSSFFF", false
	case "401":
		return "HHNN", false
	case "402":
		return "HHNNSS", false
	case "404":
		return "HHNNSSZ", false
	case "501":
		return "HHNN", true
	case "502":
		return "HHNNSS", true
	case "601":
		return "YY", false
	case "602":
		return "CCYY", false
	case "603":
		return "YYI", false
	case "604":
		return "CCYYI", false
	case "608":
		return "CCYYQ", false
	case "609":
		return "YYMM", false
	case "610":
		return "CCYYMM", false
	case "615":
		return "YYWW", false
	case "616":
		return "CCYYWW", false
	case "701":
		return "YY", true
	case "702":
		return "CCYY", true
	case "707":
		return "YYQ", true
	case "708":
		return "CCYYQ", true
	case "709":
		return "YYMM", true
	case "710":
		return "CCYYMM", true
	case "713":
		return "YYMMDDHHNN", true
	case "715":
		return "YYWW", true
	case "716":
		return "CCYYWW", true
	case "717":
		return "YYMMDD", true
	case "718":
		return "CCYYMMDD", true
	case "719":
		return "CCYYMMDDHHNN", true
	}
	return "", false
}

// durationOf gives what 801 to 807 count, around the number of them, as ISO 8601 writes
// it.
func durationOf(format string) (before, behind string) {
	switch format {
	case "801":
		return "P", "Y"
	case "802":
		return "P", "M"
	case "803":
		return "P", "W"
	case "804":
		return "P", "D"
	case "805":
		return "PT", "H"
	case "806":
		return "PT", "M"
	case "807":
		return "PT", "S"
	}
	return "", ""
}

// clock is a value taken apart; -1 is what its layout has not.
type clock struct {
	century, year, month, day, week, weekday, yearday, quarter, half int
	hour, minute, second, milli                                      int
	zone                                                             string
}

// take reads v as a layout says; false where it is written otherwise.
func take(v, layout string) (c clock, ok bool) {
	c = clock{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, ""}
	for layout != "" {
		letter := layout[0]
		n := 1
		for n < len(layout) && layout[n] == letter {
			n++
		}
		layout = layout[n:]
		switch letter {
		case 'T':
			if v == "" || v[0] != 'T' {
				return c, false
			}
			v = v[1:]
			continue
		case 'O':
			if len(v) != 5 || v[0] != '+' && v[0] != '-' || !isDigits(v[1:]) || v[1:3] > "14" || v[3:] > "59" {
				return c, false
			}
			c.zone = v
			return c, true
		case 'Z':
			c.zone = v // QUIRK: some leave it out
			return c, true
		}
		if len(v) < n || !isDigits(v[:n]) {
			return c, false
		}
		*c.part(letter) = atoi(v[:n])
		v = v[n:]
	}
	return c, v == ""
}

func (c *clock) part(letter byte) *int {
	switch letter {
	case 'C':
		return &c.century
	case 'Y':
		return &c.year
	case 'M':
		return &c.month
	case 'D':
		return &c.day
	case 'W':
		return &c.week
	case 'E':
		return &c.weekday
	case 'J':
		return &c.yearday
	case 'Q':
		return &c.quarter
	case 'I':
		return &c.half
	case 'H':
		return &c.hour
	case 'N':
		return &c.minute
	case 'S':
		return &c.second
	}
	return &c.milli
}

// iso writes the value as ISO 8601 does; end is the last month of a quarter or semester.
// ok is false where there is no such day or time.
func (c *clock) iso() (value, end string, ok bool) {
	year := c.year
	switch {
	case c.century >= 0:
		year += 100 * c.century
	case year >= 80:
		year += 1900
	case year >= 0:
		year += 2000
	}
	var b []byte
	switch {
	case year < 0: // a time alone
	case year == 0:
		return "", "", false
	case c.week >= 0:
		if c.week < 1 || c.week > 53 || c.weekday == 0 || c.weekday > 7 {
			return "", "", false
		}
		if c.weekday < 0 {
			return four(year) + "-W" + two(c.week), "", true
		}
		b = dayOfYear(year, 4).AddDate(0, 0, (c.week-1)*7+c.weekday-1-int(dayOfYear(year, 4).Weekday()+6)%7).AppendFormat(nil, time.DateOnly)
	case c.yearday >= 0:
		if c.yearday < 1 || c.yearday > 365+daysIn(year, 2)-28 {
			return "", "", false
		}
		b = dayOfYear(year, c.yearday).AppendFormat(nil, time.DateOnly)
	case c.quarter >= 0 || c.half >= 0:
		first, months := 3*c.quarter-2, 3
		if c.half >= 0 {
			first, months = 6*c.half-5, 6
		}
		if first < 1 || first > 12 {
			return "", "", false
		}
		return four(year) + "-" + two(first), four(year) + "-" + two(first+months-1), true
	case c.month < 0:
		return four(year), "", true
	case c.month < 1 || c.month > 12:
		return "", "", false
	case c.day < 0:
		return four(year) + "-" + two(c.month), "", true
	case c.day < 1 || c.day > daysIn(year, c.month):
		return "", "", false
	default:
		b = append(b, four(year)+"-"+two(c.month)+"-"+two(c.day)...)
	}
	if c.hour < 0 {
		return string(b), "", true
	}
	if c.minute > 59 || c.second > 60 || c.hour > 24 || c.hour == 24 && (c.minute > 0 || c.second > 0) { // ISO 8601: 24:00 ends a day
		return "", "", false
	}
	if len(b) > 0 {
		b = append(b, 'T')
	}
	b = append(b, two(c.hour)+":"+two(c.minute)...)
	if c.second >= 0 {
		b = append(b, ":"+two(c.second)...)
	}
	if c.milli >= 0 {
		b = append(b, "."+strconv.Itoa(1000 + c.milli)[1:]...)
	}
	return string(b), "", true
}

func dayOfYear(year, day int) time.Time { return time.Date(year, 1, day, 0, 0, 0, 0, time.UTC) }

func two(n int) string  { return strconv.Itoa(100 + n)[1:] }
func four(n int) string { return strconv.Itoa(10000 + n)[1:] }

// parseFormat reads a value in one of the formats that are not plain.
func parseFormat(d Date, v, format string) (Date, dateFault) {
	if before, behind := durationOf(format); before != "" {
		if !isDigits(v) {
			return d, dateUnlike
		}
		d.Value = before + v + behind
		return d, dateFine
	}
	layout, period := layoutOf(format)
	if layout == "" {
		return d, dateFormat
	}
	from, to := v, ""
	if period {
		cut := false
		if from, to, cut = strings.Cut(v, "-"); !cut { // the directory writes it without
			from, to = v[:len(v)/2], v[len(v)/2:]
		}
	}
	c, ok := take(from, layout)
	if !ok {
		return d, dateUnlike
	}
	var until clock
	if period {
		if until, ok = take(to, layout); !ok {
			return d, dateUnlike
		}
	}
	var last string
	if d.Value, last, ok = c.iso(); !ok {
		d.Value = ""
		return d, dateImpossible
	}
	d.End, d.Zone = last, c.zone
	if !period {
		return d, dateFine
	}
	if d.End, last, ok = until.iso(); last != "" {
		d.End = last
	}
	if !ok {
		d.Value, d.End = "", ""
		return d, dateImpossible
	}
	return d, dateFine
}
