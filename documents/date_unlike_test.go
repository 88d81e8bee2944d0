package documents

import (
	"fmt"
	"slices"
	"testing"
)

// TestDatesThatAreWrittenOtherwise: a date that was kept as it was sent before its format
// was read does not refuse the message since.
func TestDatesThatAreWrittenOtherwise(t *testing.T) {
	for _, c := range []struct{ name, old, dtm, want string }{
		{"no T in format 10", "RFF+ON", "DTM+35:202611271430:10", "note date-format"},
		{"days in words", "RFF+ON", "DTM+13:30 DAYS:804", "note date-format"},
		{"no offset in 205", "RFF+ON", "DTM+35:202611271430:205", "note date-format"},
		{"an offset that is none", "RFF+ON", "DTM+35:202611271430?+9900:205", "note date-format"},
		{"half a period", "RFF+ON", "DTM+263:20261127:719", "note date-format"},
		{"a format that is none of ours", "RFF+ON", "DTM+35:0000:ZZZ", "note date-format"},
		{"203 that is called 202", "RFF+ON", "DTM+35:202611271430:202", "warning date-format"},
		{"midnight", "RFF+ON", "DTM+35:0000:401", ""},
		{"no days at all", "RFF+ON", "DTM+13:0:804", ""},
		{"zeros for a day", "RFF+ON", "DTM+35:00000000:102", "warning date-empty"},
		{"zeros for a week", "RFF+ON", "DTM+35:00000:103", "warning date-empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, errs := single(t, change(t, invoicText(), c.old, c.dtm+"'"+c.old, "UNT+17", "UNT+18"))
			want := []string{}
			if c.want != "" {
				want = append(want, c.want)
			}
			if got := codes(errs); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", errs, c.want)
			}
			if kept := len(d.Detail.Dates) == 2 && (d.Detail.Dates[1].Value != "") == (c.want != "note date-format"); kept == (c.want == "warning date-empty") {
				t.Errorf("kept as %+v", d.Detail.Dates)
			}
		})
	}
	for _, c := range []struct{ name, dtm, want string }{
		{"X12: hyphens in D8", "D8*2026-11-27", "note date-format"},
		{"X12: a colon in TM", "TM*14:30", "note date-format"},
		{"X12: D6 of other length", "D6*26331", "note date-format"},
		{"X12: a month in D8", "D8*202701", "note date-format"},
		{"X12: a time in D8 that there is not", "D8*202611272600", "note date-format"},
		{"X12: an hour in DT without its minutes", "DT*2026112714", "note date-format"},
		{"X12: a day in DT that there is not", "DT*20261131", "note date-format"},
		{"X12: a day in D6 that there is not", "D6*20261131", "note date-format"},
		{"X12: half of RDT", "RDT*202611271430", "note date-format"},
		{"X12: D8 with a time", "D8*202611271430", "warning date-format"},
		{"X12: zeros for a day", "D8*00000000", "warning date-empty"},
		{"X12: midnight", "TM*0000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs := single(t, invoice810(t, "DTM*011*20261126", "DTM*011****"+c.dtm))
			want := []string{}
			if c.want != "" {
				want = append(want, c.want)
			}
			if got := codes(errs); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", errs, c.want)
			}
		})
	}
	for _, c := range []struct{ name, dtm string }{
		{"a day that there is not", "DTM+35:31112026:4"},
		{"an hour that there is not", "DTM+35:2660:401"},
		{"a period that always had to be one", "DTM+263:20261127:718"},
		{"a day with letters", "DTM+35:2026112A:102"},
	} {
		t.Run(c.name+" refuses it", func(t *testing.T) {
			_, all := read(t, change(t, invoicText(), "RFF+ON", c.dtm+"'RFF+ON", "UNT+17", "UNT+18"))
			if got := codes(all[0].errs); all[0].doc != nil || !slices.Contains(got, "error invalid-date") {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("so does a day of X12, and RD8 that is no period", func(t *testing.T) {
		for _, dtm := range []string{"D8*20261131", "D6*261131", "DT*202611271460", "RD8*20261127"} {
			_, all := read(t, invoice810(t, "DTM*011*20261126", "DTM*011****"+dtm))
			if got := codes(all[0].errs); all[0].doc != nil || !slices.Contains(got, "error invalid-date") {
				t.Errorf("%s: got %v", dtm, got)
			}
		}
	})
}

// TestDaysOfADespatch: of its two days the first that is said counts, and what says none,
// before it or behind it, takes neither away.
func TestDaysOfADespatch(t *testing.T) {
	for _, said := range []string{"%s:%s:102'", "%s:%s:102'%[1]s:1000:401'", "%s:1000:401'%[1]s:%s:102'", "%s:%s:102'%[1]s:202612:610'", "%s:%s:102'%[1]s:20261215:102'"} {
		t.Run(fmt.Sprintf(said, "DTM+11", "20261128"), func(t *testing.T) {
			d, _ := single(t, despatched(t, "DTM+11:20261128:102'", fmt.Sprintf(said, "DTM+11", "20261128")))
			if got := d.Detail.Despatch; got.DespatchDate != "2026-11-28" || got.EstimatedDelivery != "2026-11-29" {
				t.Errorf("despatched on %q, to arrive on %q", got.DespatchDate, got.EstimatedDelivery)
			}
		})
		t.Run(fmt.Sprintf(said, "DTM+17", "20261129"), func(t *testing.T) {
			d, _ := single(t, despatched(t, "DTM+17:20261129:102'", fmt.Sprintf(said, "DTM+17", "20261129")))
			if got := d.Detail.Despatch; got.DespatchDate != "2026-11-28" || got.EstimatedDelivery != "2026-11-29" {
				t.Errorf("despatched on %q, to arrive on %q", got.DespatchDate, got.EstimatedDelivery)
			}
		})
	}
}

// TestDatesWithoutADay: what says a month, or was not read, stands beside the columns,
// which hold days.
func TestDatesWithoutADay(t *testing.T) {
	for name, text := range map[string][]byte{
		"best before of a line":   despatched(t, "QTY+12:24'", "QTY+12:24'DTM+361:202701:610'DTM+361:20270131:102'"),
		"expiry of a line":        despatched(t, "QTY+12:24'", "QTY+12:24'DTM+36:202701:610'DTM+36:20270131:102'"),
		"best before of a batch":  despatched(t, "QTY+12:24'", "QTY+12:24'PCI+36E'DTM+361:202701:610'GIN+BX+L-1'"),
		"expiry of an 810's line": invoice810(t, "VN*TQ-100~", "VN*TQ-100~DTM*036****CM*202701~", "SE*8", "SE*9"),
		"expiry of an 856's line": notice856(t, "SN1*1*10*EA~", "SN1*1*10*EA~DTM*036****CM*202701~", "SE*10", "SE*11"),
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := single(t, text)
			if l := d.Lines[len(d.Lines)-1]; l.Detail == nil || len(l.Detail.Dates) != 1 || l.Detail.Dates[0].Value != "2027-01" {
				t.Errorf("got %+v", l.Detail)
			}
		})
	}
}
