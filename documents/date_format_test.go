package documents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDateFormats reads a value in every format of 2379 that is read, and some that are
// none.
func TestDateFormats(t *testing.T) {
	type want struct {
		value, end, zone string
		fault            dateFault
	}
	for _, c := range []struct {
		format, value string
		want          want
	}{
		{"2", "271126", want{value: "2026-11-27"}},
		{"3", "112726", want{value: "2026-11-27"}},
		{"4", "27112026", want{value: "2026-11-27"}},
		{"5", "271120261430", want{value: "2026-11-27T14:30"}},
		{"10", "20261127T1430", want{value: "2026-11-27T14:30"}},
		{"10", "202611271430", want{fault: dateUnlike}},
		{"101", "261127", want{value: "2026-11-27"}},
		{"101", "991127", want{value: "1999-11-27"}},
		{"102", "20261127", want{value: "2026-11-27"}},
		{"102", "202611271430", want{value: "2026-11-27T14:30", fault: dateMismatch}},
		{"102", "20260229", want{fault: dateImpossible}},
		{"103", "26485", want{value: "2026-11-27"}},
		{"103", "26531", want{value: "2026-12-28"}},
		{"103", "26011", want{value: "2025-12-29"}}, // week 1 begins in the year before
		{"103", "26480", want{fault: dateImpossible}},
		{"105", "26331", want{value: "2026-11-27"}},
		{"105", "24366", want{value: "2024-12-31"}},
		{"105", "26366", want{fault: dateImpossible}},
		{"201", "2611271430", want{value: "2026-11-27T14:30"}},
		{"202", "261127143059", want{value: "2026-11-27T14:30:59"}},
		{"203", "202611271430", want{value: "2026-11-27T14:30"}},
		{"203", "202611272400", want{value: "2026-11-27T24:00"}},
		{"203", "202611272401", want{fault: dateImpossible}},
		{"204", "20261127143059", want{value: "2026-11-27T14:30:59"}},
		{"205", "202611271430+0100", want{value: "2026-11-27T14:30", zone: "+0100"}},
		{"205", "202611271430", want{fault: dateUnlike}},
		{"205", "202611271430+1560", want{fault: dateUnlike}},
		{"206", "2611271430-0530", want{value: "2026-11-27T14:30", zone: "-0530"}},
		{"207", "261127143059+0000", want{value: "2026-11-27T14:30:59", zone: "+0000"}},
		{"208", "20261127143059+0100", want{value: "2026-11-27T14:30:59", zone: "+0100"}},
		{"301", "2611271430CET", want{value: "2026-11-27T14:30", zone: "CET"}},
		{"302", "261127143059CET", want{value: "2026-11-27T14:30:59", zone: "CET"}},
		{"303", "202611271430+01", want{value: "2026-11-27T14:30", zone: "+01"}},
		{"303", "202611271430", want{value: "2026-11-27T14:30"}},
		{"303", "20261127143", want{fault: dateImpossible}},
		{"304", "20261127143059UTC", want{value: "2026-11-27T14:30:59", zone: "UTC"}},
		{"307", "20261127143059007", want{value: "2026-11-27T14:30:59.007"}},
		{"401", "1430", want{value: "14:30"}},
		{"401", "2560", want{fault: dateImpossible}},
		{"402", "143059", want{value: "14:30:59"}},
		{"404", "143059CET", want{value: "14:30:59", zone: "CET"}},
		{"501", "08001730", want{value: "08:00", end: "17:30"}},
		{"502", "080000173000", want{value: "08:00:00", end: "17:30:00"}},
		{"601", "26", want{value: "2026"}},
		{"602", "2026", want{value: "2026"}},
		{"603", "262", want{value: "2026-07", end: "2026-12"}},
		{"604", "20261", want{value: "2026-01", end: "2026-06"}},
		{"604", "20263", want{fault: dateImpossible}},
		{"608", "20264", want{value: "2026-10", end: "2026-12"}},
		{"608", "20265", want{fault: dateImpossible}},
		{"609", "2611", want{value: "2026-11"}},
		{"610", "202611", want{value: "2026-11"}},
		{"610", "202613", want{fault: dateImpossible}},
		{"615", "2648", want{value: "2026-W48"}},
		{"616", "202648", want{value: "2026-W48"}},
		{"616", "202654", want{fault: dateImpossible}},
		{"701", "2526", want{value: "2025", end: "2026"}},
		{"702", "20252026", want{value: "2025", end: "2026"}},
		{"707", "263264", want{value: "2026-07", end: "2026-12"}},
		{"708", "2026320264", want{value: "2026-07", end: "2026-12"}},
		{"709", "26102611", want{value: "2026-10", end: "2026-11"}},
		{"710", "202610202611", want{value: "2026-10", end: "2026-11"}},
		{"713", "26112608002611271700", want{value: "2026-11-26T08:00", end: "2026-11-27T17:00"}},
		{"715", "26472648", want{value: "2026-W47", end: "2026-W48"}},
		{"716", "202647202648", want{value: "2026-W47", end: "2026-W48"}},
		{"717", "261101261130", want{value: "2026-11-01", end: "2026-11-30"}},
		{"718", "2026110120261130", want{value: "2026-11-01", end: "2026-11-30"}},
		{"718", "20261101-20261130", want{value: "2026-11-01", end: "2026-11-30"}},
		{"718", "2026110120261131", want{fault: dateImpossible}},
		{"718", "20261101", want{fault: dateImpossible}},
		{"719", "202611260800202611271700", want{value: "2026-11-26T08:00", end: "2026-11-27T17:00"}},
		{"801", "2", want{value: "P2Y"}},
		{"802", "6", want{value: "P6M"}},
		{"803", "3", want{value: "P3W"}},
		{"804", "30", want{value: "P30D"}},
		{"804", "thirty", want{fault: dateUnlike}},
		{"805", "36", want{value: "PT36H"}},
		{"806", "90", want{value: "PT90M"}},
		{"807", "5", want{value: "PT5S"}},
		{"401", "0000", want{value: "00:00"}}, // midnight, and not nothing
		{"402", "000000", want{value: "00:00:00"}},
		{"501", "00000000", want{value: "00:00", end: "00:00"}},
		{"804", "0", want{value: "P0D"}},
		{"804", "30 DAYS", want{fault: dateUnlike}},
		{"804", " ", want{fault: dateEmpty}},
		{"401", "14:30", want{fault: dateUnlike}},
		{"2", "27.11.2026", want{fault: dateUnlike}},
		{"719", "202611260800", want{fault: dateUnlike}},
		{"103", "00000", want{fault: dateEmpty}},
		{"602", "0000", want{fault: dateEmpty}},
		{"718", "0000000000000000", want{fault: dateEmpty}},
		{"202", "000000000000", want{fault: dateEmpty}},
		{"202", "202611271430", want{value: "2026-11-27T14:30", fault: dateMismatch}},
		{"202", "20261127", want{value: "2026-11-27", fault: dateMismatch}},
		{"202", "261327143059", want{fault: dateImpossible}},
		{"202", "2611271430CET", want{fault: dateImpossible}},
		{"106", "0000", want{fault: dateFormat}},
		{"106", "1127", want{fault: dateFormat}},
		{"613", "26113", want{fault: dateFormat}},
		{"ZZZ", "27.11.2026", want{fault: dateFormat}},
		{"", "20261127", want{value: "2026-11-27"}},
		{"", "27.11.2026", want{fault: dateFormat}},
		{"102", "00000000", want{fault: dateEmpty}},
	} {
		t.Run(strings.TrimSpace(c.format+" "+c.value), func(t *testing.T) {
			d, fault := parseDate(c.value, c.format)
			if d.Raw != c.value || d.Format != c.format {
				t.Errorf("kept as %q in %q", d.Raw, d.Format)
			}
			if diff := cmp.Diff(c.want, want{d.Value, d.End, d.Zone, fault}, cmp.AllowUnexported(want{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzDate: no value in any format is taken for a day that there is not.
func FuzzDate(f *testing.F) {
	for _, s := range [][2]string{{"26485", "103"}, {"20261127T1430", "10"}, {"202611271430+0100", "205"}, {"2026110120261130", "718"}, {"30", "804"}, {"-", "718"}, {"", "303"}, {"Z", "404"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, value, format string) {
		d, fault := parseDate(value, format)
		if fault != dateFine && fault != dateMismatch {
			if d.Value != "" || d.End != "" {
				t.Fatalf("%q in %s is a fault and %q to %q", value, format, d.Value, d.End)
			}
			return
		}
		if d.Value == "" {
			t.Fatalf("%q in %s is no fault and nothing", value, format)
		}
		for _, day := range []string{d.Day(), (Date{Value: d.End}).Day()} {
			if day == "" {
				continue
			}
			if read, again := parseDate(strings.ReplaceAll(day, "-", ""), "102"); again != dateFine || read.Value != day {
				t.Fatalf("%q in %s is %s, which is no day", value, format, day)
			}
		}
	})
}
