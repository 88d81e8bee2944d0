package edifact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

const unb4 = "UNB+UNOC:4+S:14+R:14+20261129:1015+REF'"

// uno is a package with an object, which may be of any bytes.
func uno(reference, object string) string {
	return fmt.Sprintf("UNO+%s+AAA:1+1:PDF+%d'%sUNP+%d+%s'", reference, len(object), object, len(object), reference)
}

func TestPackages(t *testing.T) {
	hostile := "UNZ+1+REF'UNH+9+INVOIC'?\x00\xFF''\r\n\r\nUNP"
	for name, c := range map[string]struct {
		text string
		want []string // findings
		held []string // messages and packages
	}{
		"one beside a message":        {unb4 + unh1 + "UNT+2+1'" + uno("1", hostile) + "UNZ+2+REF'", nil, []string{"1 INVOIC 2", "UNO/1 UNO 2"}},
		"one alone":                   {unb4 + uno("P", hostile) + "UNZ+1+REF'", nil, []string{"UNO/P UNO 2"}},
		"one that is empty":           {unb4 + uno("P", "") + "UNZ+1+REF'", nil, []string{"UNO/P UNO 2"}},
		"one that looks like its end": {unb4 + uno("P", "UNP+3+P'") + "UNZ+1+REF'", nil, []string{"UNO/P UNO 2"}},
		"one in a group": {unb4 + strings.Replace(ung1, "+261129:", "+20261129:", 1) + uno("P", "x") + unh1 + "UNT+2+1'UNE+2+G1'UNZ+1+REF'",
			[]string{"warning 31 group-mixed-types #0 1 UNH 2.1"}, []string{"G1/UNO/P UNO 2", "G1/1 INVOIC 2"}},
		"security headers before the object": {unb4 + "UNO+P+AAA:1+1:PDF+5:2'USH+1'USA+2'UNZ''UNP+5+P'UNZ+1+REF'", nil, []string{"UNO/P UNO 4"}},
		"line breaks between segments":       {unb4 + "\r\n" + uno("P", "\r\n\r\n ") + "\r\nUNZ+1+REF'", nil, []string{"UNO/P UNO 2"}},
		"a larger one than a block":          {unb4 + uno("P", strings.Repeat("UNT+1'", 20_000)) + unh1 + "UNT+2+1'UNZ+2+REF'", nil, []string{"UNO/P UNO 2", "1 INVOIC 2"}},
		"the same reference twice": {unb4 + uno("P", "a") + uno("P", "a") + "UNZ+2+REF'",
			[]string{"error 26 message-reference-duplicate @1 1 UNO 1.1"}, []string{"UNO/P UNO 2", "UNO/P UNO 2"}},
		"no reference":                    {unb4 + strings.ReplaceAll(uno("P", "a"), "+P", "+") + "UNZ+1+REF'", []string{"error 13 uno-incomplete @0 1 UNO 1.1"}, []string{"UNO/ UNO 2"}},
		"UNP with another length":         {unb4 + strings.Replace(uno("P", "abc"), "UNP+3", "UNP+4", 1) + "UNZ+1+REF'", []string{"error 29 unp-length-mismatch @0 2 UNP 1.1"}, []string{"UNO/P UNO 2"}},
		"UNP of another package":          {unb4 + strings.Replace(uno("P", "abc"), "UNP+3+P", "UNP+3+Q", 1) + "UNZ+1+REF'", []string{"error 28 unp-reference-mismatch @0 2 UNP 2.1"}, []string{"UNO/P UNO 2"}},
		"a length that is wrong":          {unb4 + strings.Replace(uno("P", "abc"), "PDF+3", "PDF+4", 1) + "UNZ+1+REF'", []string{"error 29 package-length-mismatch 1 UNO 4.1"}, []string{"UNO/P UNO 0"}},
		"a length that is huge":           {unb4 + strings.Replace(uno("P", "abc"), "PDF+3", "PDF+999999999999999999", 1) + "UNZ+1+REF'", []string{"error 29 package-length-mismatch 1 UNO 4.1"}, []string{"UNO/P UNO 0"}},
		"a length that is none":           {unb4 + strings.Replace(uno("P", "abc"), "PDF+3", "PDF+x", 1) + "UNZ+1+REF'", []string{"error 37 package-length-invalid 2 UNO 4.1"}, nil},
		"UNP alone":                       {unb4 + "UNP+3+P'UNZ+0+REF'", []string{"error 13 uno-missing 2 UNP 0.0", "error 32 interchange-empty 3 UNZ 0.0"}, nil},
		"headers that never come":         {unb4 + "UNO+P+AAA:1+1:PDF+5:9'USH+1'UNZ+1+REF'", []string{"error 13 unp-missing 4 UNZ 0.0"}, []string{"UNO/P UNO 2"}},
		"UNP among the headers":           {unb4 + "UNO+P+AAA:1+1:PDF+5:9'USH+1'UNP+5+P'UNZ+1+REF'", []string{"error 29 package-length-mismatch 1 UNO 4.2"}, []string{"UNO/P UNO 0"}},
		"a message without end before it": {unb4 + unh1 + uno("P", "abc") + "UNZ+2+REF'", []string{"error 13 unt-missing @0 2 UNT 0.0"}, []string{"1 INVOIC 1", "UNO/P UNO 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			for _, p := range []*edi.Payload{edi.Bytes([]byte(c.text)), spooled(t, []byte(c.text))} {
				all, faults := readAll(t, Reader{chunk: 4000}, p, nil)
				if len(all) != 1 || len(faults) > 0 {
					t.Fatal(len(all), faults)
				}
				ic := all[0]
				if d := cmp.Diff(c.want, findings(ic)); d != "" {
					t.Fatalf("%q\n%s", c.text, d)
				}
				var held []string
				for i := range ic.Messages {
					held = append(held, fmt.Sprintf("%s %s %d", ic.MessageReference(i), ic.Messages[i].Type.Type, ic.Messages[i].Segments))
				}
				if d := cmp.Diff(c.held, held); d != "" {
					t.Fatalf("%q\n%s", c.text, d)
				}
			}
		})
	}
	t.Run("the object is in the digests, and is read again", func(t *testing.T) {
		a, b := one(t, Reader{}, unb4+uno("P", hostile)+"UNZ+1+REF'"), one(t, Reader{}, unb4+uno("P", strings.Replace(hostile, "9", "8", 1))+"UNZ+1+REF'")
		if a.ContentSHA256 == b.ContentSHA256 || a.Messages[0].SHA256 == b.Messages[0].SHA256 {
			t.Fatal("two objects have one digest")
		}
		p := edi.Bytes([]byte(unb4 + uno("P", hostile) + "UNZ+1+REF'"))
		ic := one(t, Reader{}, unb4+uno("P", hostile)+"UNZ+1+REF'")
		body, err := Reader{}.Again(p, ic)(0)
		if err != nil || body.Len() != 2 || body.Segment(1).Get(2, 1) != "P" || string(body.Raw()) != uno("P", hostile) {
			t.Fatalf("%v %q", err, body.Raw())
		}
	})
}

func TestInteractive(t *testing.T) {
	uib := "UIB+UNOA:4++++S+R'UIH+SKDREQ:D:01B:UN'MSG+1'UIT'UIZ'"
	all, faults := readAll(t, Reader{}, edi.Bytes([]byte(uib+"\r\nUNA:+.? '"+uib+message("", 2)+uib)), nil)
	if len(all) != 1 || all[0].Refused(0) {
		t.Fatalf("%d interchanges beside interactive ones: %v", len(all), faults)
	}
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%s %s %s %d", f.Code, f.Standard, f.Tag, f.Offset))
	}
	want := []string{"interactive-not-supported 2 UIB 0", fmt.Sprintf("interactive-not-supported 2 UIB %d", len(uib)+2),
		fmt.Sprintf("interactive-not-supported 2 UIB %d", 2*len(uib)+11+len(message("", 2)))}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

// wrap cuts text into lines of n bytes.
func wrap(text string, n int) string {
	var b strings.Builder
	for ; len(text) > n; text = text[n:] {
		b.WriteString(text[:n] + "\r\n")
	}
	return b.String() + text + "\r\n"
}

func TestWrappedLines(t *testing.T) {
	wrapped := Reader{Tolerance: edi.Tolerance{LineWraps: true}}
	flat := unb3 + unh1 + "BGM+380+RE 1+9'NAD+SU+1::9++Klar??+Weg?'s Ende'FTX+AAI+++" + strings.Repeat("lang und laenger ", 20) + "'UNT+5+1'UNZ+1+REF'"
	values := func(t *testing.T, r Reader, text string) (said []string, ic *edi.Interchange) {
		all, faults := readAll(t, r, edi.Bytes([]byte(text)), func(_ *edi.Interchange, _ int, b *edi.Body) {
			for _, s := range b.Segments {
				said = append(said, s.Tag())
				for v := range s.Values() {
					said = append(said, v.Text)
				}
			}
		})
		if len(all) != 1 || len(faults) > 0 {
			t.Fatalf("%d interchanges, %v: %q", len(all), faults, text)
		}
		return said, all[0]
	}
	want, plain := values(t, Reader{}, flat)
	for width := 9; width < len(flat); width++ {
		text := wrap(flat, width)
		got, ic := values(t, wrapped, text)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("at %d columns: %s", width, d)
		}
		if ic.ContentSHA256 != plain.ContentSHA256 || ic.Refused(0) {
			t.Fatalf("at %d columns: %v", width, findings(ic))
		}
		m := ic.Messages[0]
		if sent := text[m.Offset:][:m.Length]; !strings.HasPrefix(strings.ReplaceAll(sent, "\r\n", ""), "UNH+1") || !strings.HasSuffix(sent, "'") {
			t.Fatalf("at %d columns the message is %q", width, sent)
		}
		body, err := wrapped.Again(edi.Bytes([]byte(text)), ic)(0)
		if err != nil || body.Segment(2).Get(4, 1) != "Klar?" {
			t.Fatalf("at %d columns, read again: %v %q", width, err, body.Raw())
		}
		if at := body.Segment(1).Location(2, 1).Offset; text[at:at+2] != "RE" && text[at] != 'R' {
			t.Fatalf("at %d columns BGM 2 stands at %q", width, text[at:at+5])
		}
	}
	t.Run("lines of different length may have lost blanks", func(t *testing.T) {
		text := strings.Replace(wrap(flat, 80), "lang und", "lang\r\nund", 1)
		if ic := one(t, wrapped, text); !ic.Refused(0) || findings(ic)[0] != "error 21 lines-wrapped-unevenly 0  0.0" {
			t.Fatal(findings(ic))
		}
	})
	t.Run("a line a segment is not wrapped", func(t *testing.T) {
		if ic := one(t, wrapped, strings.ReplaceAll(message("BGM+380'", 3), "'", "'\r\n")); len(findings(ic)) > 0 {
			t.Fatal(findings(ic))
		}
	})
	t.Run("where the terminator is a line end there are no wraps", func(t *testing.T) {
		if ic := one(t, wrapped, "UNA:+.? \n"+strings.ReplaceAll(message("BGM+380'", 3), "'", "\n")); len(findings(ic)) > 0 {
			t.Fatal(findings(ic))
		}
	})
	t.Run("two interchanges are told apart", func(t *testing.T) {
		all, faults := readAll(t, wrapped, edi.Bytes([]byte(wrap(flat+flat, 80))), nil)
		if len(all) != 2 || len(faults) > 0 || all[1].Refused(0) {
			t.Fatal(len(all), faults)
		}
	})
	t.Run("a package in it cannot be put together", func(t *testing.T) {
		if ic := one(t, wrapped, wrap(unb4+uno("P", "x")+"UNZ+1+REF'", 40)); findings(ic)[0] != "error 15 package-in-wrapped-text 2 UNO 0.0" {
			t.Fatal(findings(ic))
		}
	})
	t.Run("by default it is refused", func(t *testing.T) {
		all, faults := readAll(t, Reader{}, edi.Bytes([]byte(wrap(flat, 30))), nil)
		if len(faults) == 0 && !all[0].Refused(0) {
			t.Fatal("accepted")
		}
	})
}
