package edi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindings(t *testing.T) {
	add := func(f *Findings, severity Severity, codes ...string) {
		for _, code := range codes {
			f.Report(-1, severity, code, "", Location{}, "")
		}
	}
	warnings := make([]string, maxInterchangeErrors)
	for i := range warnings {
		warnings[i] = "W"
	}
	t.Run("an error is kept, however many warnings come before it", func(t *testing.T) {
		f := &Findings{IC: &Interchange{}}
		add(f, SeverityWarning, warnings...)
		add(f, SeverityError, "E1", "E2")
		list := f.IC.Errors
		if len(list) != maxInterchangeErrors || list[len(list)-2].Code != "E1" || list[len(list)-1].Code != "E2" || list[0].Code != "W" {
			t.Error(list)
		}
		if f.IC.DroppedErrors != 2 || f.IC.DroppedRefusals != 0 {
			t.Errorf("%d dropped, %d of them errors", f.IC.DroppedErrors, f.IC.DroppedRefusals)
		}
	})
	t.Run("the first errors stay, and those dropped are counted", func(t *testing.T) {
		f := &Findings{IC: &Interchange{}}
		add(f, SeverityError, warnings...)
		before := append([]*Error(nil), f.IC.Errors...)
		add(f, SeverityError, "E")
		add(f, SeverityWarning, "W", "W")
		if diff := cmp.Diff(before, f.IC.Errors); diff != "" {
			t.Error(diff)
		}
		if f.IC.DroppedErrors != 3 || f.IC.DroppedRefusals != 1 {
			t.Errorf("%d dropped, %d of them errors", f.IC.DroppedErrors, f.IC.DroppedRefusals)
		}
	})
}
