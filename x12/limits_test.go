package x12

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLimitsOfAnInterchange crosses each bound of an interchange with what is as small as it
// can be.
func TestLimitsOfAnInterchange(t *testing.T) {
	t.Parallel()
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprintf("%04d", i)))
		}
		return b.String()
	}
	head := "GS*IN*TALQUIST*NORDHAFEN*20261129*1015*1*X*004010~"
	for _, c := range []struct{ name, text, code string }{
		{"more groups than an interchange may have", header00401 + numbered(MaxGroups+1, "GS*IN*A*B*20261129*1015*#*X*004010~GE*0*#~") + "IEA*99999*000000116~", "too-many-groups"},
		{"more kinds of set than an interchange may have", header00401 + head + numbered(MaxTypes+1, "ST*#*#~SE*2*#~") + "GE*1001*1~IEA*1*000000116~", "too-many-types"},
		{"a set header that is too long", header00401 + head + "ST*810*" + strings.Repeat("1", MaxHeader) + "~SE*2*1~GE*1*1~IEA*1*000000116~", "header-too-long"},
	} {
		t.Run(c.name+" is refused", func(t *testing.T) {
			ic := read(t, Reader{}, c.text)
			if !slices.ContainsFunc(findings(ic), func(f string) bool { return strings.Contains(f, " error ") && strings.Contains(f, " "+c.code+" ") }) {
				t.Errorf("found %.200q", findings(ic))
			}
			if ic.Complete {
				t.Error("it was read to its end")
			}
		})
	}
}
