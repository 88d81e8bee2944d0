package documents

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// formerDate reads a date as the first version did, which is what the years in the guard
// keys that are stored were made of.
func formerDate(value, format string) (day string, fault dateFault) {
	v := strings.Trim(value, " ")
	if strings.Trim(v, "0") == "" {
		return "", dateEmpty
	}
	var read string
	ok := false
	switch format {
	case "713", "718":
		n := map[string]int{"713": 10, "718": 8}[format]
		from, to, cut := strings.Cut(v, "-")
		if !cut && len(v) == 2*n {
			from, to = v[:n], v[n:]
		}
		if len(from) == n && len(to) == n {
			read, ok = parseInstant(from)
			_, until := parseInstant(to)
			ok = ok && until
		}
	case "602":
		ok, read = len(v) == 4 && isDigits(v), v
	case "610":
		ok, read = len(v) == 6 && isDigits(v) && v[4:] >= "01" && v[4:] <= "12", "month"
	case "616":
		ok, read = len(v) == 6 && isDigits(v) && v[4:] >= "01" && v[4:] <= "53", "week"
	case "303", "304":
		if n := map[string]int{"303": 12, "304": 14}[format]; len(v) >= n {
			read, ok = parseInstant(v[:n])
		}
	case "", "101", "102", "201", "202", "203", "204":
		if !isDigits(v) && format == "" {
			return "", dateFormat
		}
		read, ok = parseInstant(v)
	default:
		return "", dateFormat
	}
	if !ok {
		return "", dateImpossible
	}
	return Date{Value: read}.Day(), dateFine
}

// TestDatesOfTheFirstVersion: what it took is taken, unless there is no such day, and its
// year is that of the guard key.
func TestDatesOfTheFirstVersion(t *testing.T) {
	formats := []string{"", "2", "3", "4", "5", "10", "101", "102", "103", "105", "106", "201", "202", "203", "204", "205", "206", "207", "208", "301", "302", "303", "304", "307",
		"401", "402", "404", "501", "502", "601", "602", "603", "604", "608", "609", "610", "615", "616", "701", "702", "707", "708", "709", "710", "713", "715", "716", "717", "718", "719", "801", "804", "807", "ZZZ"}
	value := rapid.OneOf(
		rapid.StringMatching(`(20)?(11|20|26)(0[1-9]|1[0-2])([0-2][0-9]|3[01])([0-2][0-9][0-5][0-9]([0-5][0-9])?)?( |-|UTC|\+0100|T1430|(20)?261128([0-2][0-9][0-5][0-9])?)?`),
		rapid.StringMatching(`[0-9]{1,17}`), rapid.StringMatching(`0{0,16}`), rapid.StringMatching(`[0-9T+:.-]{0,20}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		format, v := rapid.SampledFrom(formats).Draw(t, "format"), value.Draw(t, "value")
		if (format == "610" || format == "616") && strings.HasPrefix(strings.Trim(v, " "), "0000") {
			return // there is no year 0, which it took of months and weeks
		}
		day, before := formerDate(v, format)
		d, fault := parseDate(v, format)
		switch {
		case fault != dateImpossible:
		case before == dateFormat:
			if _, read := readDate(v, format); read != dateImpossible {
				t.Fatalf("%q in %s is written otherwise, and refused", v, format)
			}
		case before != dateImpossible:
			t.Fatalf("%q in %s is refused", v, format)
		}
		if before != dateImpossible && d.keyDay() != day {
			t.Fatalf("%q in %s is of %q in the key, was of %q", v, format, d.keyDay(), day)
		}
	})
}

// TestKeysKeepTheirYears: a document that was posted before its format of dates was read
// is found when it comes again.
func TestKeysKeepTheirYears(t *testing.T) {
	for _, c := range []struct{ name, dates, issued, key string }{
		{"a format that was always read", "DTM+137:202611271430:203", "2026-11-27", "2026-"},
		{"and a period", "DTM+137:2026112720261130:718", "2026-11-27", "2026-"},
		{"day before month", "DTM+137:271126:2", "2026-11-27", ""},
		{"day before month, with the century", "DTM+3:27112026:4", "2026-11-27", ""},
		{"with a zone", "DTM+137:202611271430?+0100:205", "2026-11-27", ""},
		{"a week day", "DTM+137:26485:103", "2026-11-27", ""},
		{"a day of the year", "DTM+137:26331:105", "2026-11-27", ""},
		{"a period that is read since", "DTM+137:261127261130:717", "2026-11-27", ""},
		{"203 that is called 202", "DTM+137:202611271430:202", "2026-11-27", "2026-"},
		{"what 202 was taken for", "DTM+137:201105121430:202", "2020-11-05", "2011-"},
		{"202, which was refused", "DTM+137:261127143059:202", "2026-11-27", "2026-"},
		{"of two the one that was read", "DTM+3:27112026:4'DTM+137:20251227:102", "2026-11-27", "2025-"},
		{"in whatever order", "DTM+137:20251227:102'DTM+3:27112026:4", "2026-11-27", "2025-"},
		{"of one kind, too", "DTM+137:27112026:4'DTM+137:20251227:102'DTM+137:20240101:102", "2026-11-27", "2025-"},
		{"none that says a day", "DTM+137:202611:610", "", ""},
		{"nor one that is not written as it says", "DTM+137:2026-11-27:205", "", ""},
	} {
		for kind, text := range map[string][]byte{"an invoice": invoicText(), "a despatch advice": change(t, invoicText(), "INVOIC:", "DESADV:", "BGM+380", "BGM+351"), "another": change(t, invoicText(), "INVOIC:", "ORDERS:", "BGM+380", "BGM+220")} {
			if kind != "an invoice" && strings.Contains(c.dates, "DTM+3:") {
				continue
			}
			t.Run(c.name+" in "+kind, func(t *testing.T) {
				d, _ := single(t, change(t, text, "DTM+137:20261127:102", c.dates, "UNT+17", "UNT+"+strconv.Itoa(17+strings.Count(c.dates, "'"))))
				if d.IssueDate != c.issued {
					t.Errorf("issued %q, want %q", d.IssueDate, c.issued)
				}
				if key := (Former{Class: d.Class, TypeCode: d.TypeCode, Number: d.Number, IssueDate: c.key, Issuer: d.Issuer}).GuardKey(); key != d.GuardKey() {
					t.Errorf("its key is not of the year of %q", c.key)
				}
			})
		}
	}
}
