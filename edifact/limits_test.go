package edifact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLimits crosses each bound of an interchange with what is as small as it can be. The
// text is made of pieces that the scan cannot tell from a sender's.
func TestLimits(t *testing.T) {
	t.Parallel()
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, code string }{
		{"more segments than a message may have", unb3 + unh1 + strings.Repeat("A'", MaxSegments+1) + "UNT+9+1'UNZ+1+REF'", "message-too-large"},
		{"more groups than an interchange may have", unb3 + numbered(MaxGroups+1, "UNG+INVOIC+S:14+R:14+261129:1015+#+UN+D:96A'UNE+0+#'") + "UNZ+100000+REF'", "too-many-groups"},
		{"more types than an interchange may have", unb3 + numbered(MaxTypes+1, "UNH+#+T#:D:96A:UN'UNT+2+#'") + "UNZ+1001+REF'", "too-many-types"},
		{"a message header that is too long", unb3 + "UNH+1+INVOIC:D:96A:UN+" + strings.Repeat("x", MaxHeader) + "'UNT+2+1'UNZ+1+REF'", "header-too-long"},
	} {
		t.Run(c.name+" is refused", func(t *testing.T) {
			ic := one(t, Reader{}, c.text)
			if !slices.ContainsFunc(findings(ic), func(f string) bool { return strings.HasPrefix(f, "error ") && strings.Contains(f, " "+c.code+" ") }) {
				t.Errorf("found %.200q", findings(ic))
			}
			if ic.Complete {
				t.Error("it was read to its end")
			}
		})
	}
}
