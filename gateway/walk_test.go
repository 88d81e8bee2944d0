package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/gateway"
)

func TestWalk(t *testing.T) {
	const good = "UNB+UNOC:3+S:14+R:14+261129:1015+REF'UNH+1+INVOIC:D:96A:UN'UNT+2+1'UNZ+1+REF'"
	formats := []gateway.Format{{Name: "edifact", Leads: edifact.Leads,
		Split: func(p *edi.Payload, from int64, o gateway.Reading) (*edi.Interchange, error) {
			return edifact.Reader{Tolerance: o.Tolerance}.Split(p, from)
		}}}
	refuse := gateway.Reading{Tolerance: edi.Tolerance{RefuseSurroundedText: true}}
	for name, c := range map[string]struct {
		text string
		read gateway.Reading
		want []string
	}{
		"Ctrl-Z behind the last line is a note":    {good + "\n\x1A", gateway.Reading{}, []string{"sound", "note end-of-file-mark 0"}},
		"and where text is refused, too":           {good + "\n\x1A\n", refuse, []string{"sound", "note end-of-file-mark 0"}},
		"Ctrl-Z between files hides nothing":       {good + "\x1A" + good, gateway.Reading{}, []string{"sound", "note end-of-file-mark 0", "sound"}},
		"Ctrl-Z alone is no interchange":           {"\x1A", gateway.Reading{}, []string{"error end-of-file-mark 0"}},
		"text beside an interchange is a warning":  {"hello\n" + good + "bye", gateway.Reading{}, []string{"warning text-before-interchange 0", "sound", "warning text-before-interchange 0"}},
		"which a partner may refuse":               {"hello\n" + good, refuse, []string{"error text-before-interchange 0", "sound"}},
		"text alone is an error":                   {"hello", gateway.Reading{}, []string{"error text-before-interchange 0"}},
		"text with Ctrl-Z behind it is text":       {good + "bye\x1A", gateway.Reading{}, []string{"sound", "warning text-before-interchange 0"}},
		"blanks behind the last line are not told": {good + "\r\n \x00", gateway.Reading{}, []string{"sound"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := gateway.Walk(edi.Bytes([]byte(c.text)), formats, c.read, func(_ *gateway.Format, _ *edi.Interchange, fault *edi.Error) error {
				if fault == nil {
					got = append(got, "sound")
					return nil
				}
				got = append(got, fmt.Sprintf("%s %s %d", fault.Severity, fault.Code, fault.Segment))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("interchanges are counted, and no more taken than a delivery may hold", func(t *testing.T) {
		n := 0
		count := func(*gateway.Format, *edi.Interchange, *edi.Error) error { n++; return nil }
		if err := gateway.Walk(edi.Bytes([]byte(strings.Repeat(good, 10_000))), formats, gateway.Reading{}, count); err != nil || n != 10_000 {
			t.Errorf("%d, %v", n, err)
		}
		n = 0
		err := gateway.Walk(edi.Bytes([]byte(strings.Repeat("UNB+'\n", 10_001))), formats, gateway.Reading{}, count)
		if !errors.Is(err, gateway.ErrTooMany) || n != 10_000 {
			t.Errorf("%d, %v", n, err)
		}
	})
}
