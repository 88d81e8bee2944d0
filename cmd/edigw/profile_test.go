package main

import (
	"strings"
	"testing"
)

// An invoice whose line says its amount as goods item total, and whose lines do not add
// up by that.
const plainInvoice = "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'UNH+1+INVOIC:D:01B:UN'BGM+380+RG-1+9'DTM+137:20261127:102'" +
	"NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'LIN+1'MOA+66:90.00'UNS+S'MOA+79:100.00'UNT+11+1'UNZ+1+REF1'"

func TestInspectByProfile(t *testing.T) {
	for profile, finds := range map[string]bool{"": false, "automatic": false, "eancom": false, "edifact-d96a": true} {
		args := []string{"inspect", "-"}
		if profile != "" {
			args = append(args, "--profile", profile)
		}
		got := edigw(t, plainInvoice, nil, args...)
		if found := strings.Contains(got.out, "line-total"); got.code != 0 || found != finds {
			t.Errorf("by profile %q: exit %d, says so %v\n%s%s", profile, got.code, found, got.out, got.stderr)
		}
	}
	t.Run("a profile that is none is told with those there are", func(t *testing.T) {
		got := edigw(t, plainInvoice, nil, "inspect", "-", "--profile", "eancon")
		want := "edigw: --profile eancon: there is no such profile; there are automatic and eancom, en16931, retail-x12, edifact-d96a\n"
		if got.code != 2 || got.stderr != want || got.out != "" {
			t.Errorf("exit %d, %q", got.code, got.stderr)
		}
	})
}
