package edi

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// contentOf digests text, one Add a segment.
func contentOf(text string, d Delimiters, decode func([]byte) string, omit ...Omission) [32]byte {
	c := NewContentDigest("edifact", decode)
	for i, s := range NewBody([]byte(text), 0, 1, d, decode).Segments {
		if i == 0 && len(omit) > 0 {
			c.AddWithout(&s, omit...)
		} else {
			c.Add(&s, true)
		}
	}
	return c.Sum()
}

// framed writes down the frame by the rules of ContentDigest: kind before value.
func framed(values ...string) [32]byte {
	b := []byte("edigw content 2 edifact\n")
	for _, v := range values {
		kind := byte(strings.IndexByte("|+*:", v[0]))
		if n := len(v) - 1; n < 63 {
			b = append(b, kind<<6|byte(n))
		} else {
			b = binary.BigEndian.AppendUint32(append(b, kind<<6|63), uint32(n))
		}
		b = append(b, v[1:]...)
	}
	return sha256.Sum256(b)
}

func TestContentDigest(t *testing.T) {
	d := defaults
	d.Repetition = '*'
	long := strings.Repeat("x", 62)
	for name, c := range map[string]struct {
		text string
		want [32]byte
	}{
		"values with their kinds":            {"LIN+1++400:EN'", framed("|LIN", "+1", "+", "+400", ":EN")},
		"trailing empty elements go":         {"NAD+BY+++'", framed("|NAD", "+BY")},
		"trailing empty components go":       {"TAX+7:::+S'", framed("|TAX", "+7", "+S")},
		"and where only empty ones are left": {"A+b+:::+:'", framed("|A", "+b")},
		"empty ones before a value count":    {"A+:x+:::19'", framed("|A", "+", ":x", "+", ":", ":", ":19")},
		"repetitions":                        {"A+a:*b*:'", framed("|A", "+a", "*b")},
		"an empty repetition in between":     {"A+a**b'", framed("|A", "+a", "*", "*b")},
		"releases are resolved":              {"A+a?+b???'c'", framed("|A", "+a+b?'c")},
		"a length of 62 and of 63":           {"A+" + long + "+" + long + "y'", framed("|A", "+"+long, "+"+long+"y")},
		"a tag alone, line breaks between":   {"A'\r\n  B'\n''\n", framed("|A", "|B")},
		"blanks before and in values count":  {"A+ b c'", framed("|A", "+ b c")},
		"blanks behind them do not":          {"A+b  :c +d   '", framed("|A", "+b", ":c", "+d")},
		"nor do released ones":               {"A+b? ? '", framed("|A", "+b")},
		"but a released release does":        {"A+b?? '", framed("|A", "+b?")},
		"a value of blanks is an empty one":  {"A+b+  :  '", framed("|A", "+b")},
	} {
		t.Run(name, func(t *testing.T) {
			if contentOf(c.text, d, nil) != c.want {
				t.Fatal("another digest")
			}
		})
	}
	t.Run("a blank at the end is seen whatever stands around it", func(t *testing.T) {
		for _, more := range []string{"", "++", "+x", ":y", "+" + strings.Repeat("z", 40)} {
			text := "LIN+1+a " + more + "'" + strings.Repeat("QTY+47:1'", 9)
			if contentOf(text, d, nil) != contentOf(strings.Replace(text, "a ", "a", 1), d, nil) {
				t.Fatal(more)
			}
		}
	})
	t.Run("what is omitted counts as empty", func(t *testing.T) {
		got := contentOf("UNB+UNOC:3+A+B+261129:1015+R'", d, nil, Omission{1, 1}, Omission{4, 0})
		if got != framed("|UNB", "+", ":3", "+A", "+B", "+", "+R") {
			t.Fatal("another digest")
		}
	})
	t.Run("another character set is another way to write the same", func(t *testing.T) {
		latin := func(b []byte) string {
			r := make([]rune, len(b))
			for i, c := range b {
				r[i] = rune(c)
			}
			return string(r)
		}
		if contentOf("A+Gr\xFC\xDFe'", d, latin) != framed("|A", "+Grüße") {
			t.Fatal("another digest")
		}
	})
	t.Run("bytes that are no UTF-8 stay apart", func(t *testing.T) {
		if contentOf("A+\xFC'", d, nil) == contentOf("A+\xFD'", d, nil) {
			t.Fatal("one digest for two texts")
		}
	})
}

// TestContentDigestFast holds the quick way of framing to the slow one.
func TestContentDigestFast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := defaults
		d.Repetition = '*'
		raw := texts().Draw(t, "raw")
		fast, slow := NewContentDigest("edifact", nil), NewContentDigest("edifact", nil)
		for _, s := range NewBody(raw, 0, 1, d, nil).Segments {
			fast.Add(&s, true)
			slow.slow(&s, nil)
		}
		if fast.Sum() != slow.Sum() {
			t.Fatalf("%q", raw)
		}
	})
}
