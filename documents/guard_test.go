package documents

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/edigw/edigw/edi"
)

// change gives text with each old replaced by its new.
func change(t testing.TB, text []byte, pairs ...string) []byte {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !bytes.Contains(text, []byte(pairs[i])) {
			t.Fatalf("%q does not stand in the message", pairs[i])
		}
		text = bytes.ReplaceAll(text, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	return text
}

func TestGuardKey(t *testing.T) {
	base := invoicText()
	key := func(text []byte) [32]byte {
		d, _ := single(t, text)
		return d.GuardKey()
	}
	for _, c := range []struct {
		name  string
		pairs []string
		same  bool
	}{
		{"another interchange brings the same document", []string{"REF1", "REF2"}, true},
		{"an amount does not make another document", []string{"100.00", "200.00"}, true},
		{"nor does a day of the same year", []string{"20261127", "20260301"}, true},
		{"nor a copy", []string{"RG-44+9", "RG-44+31"}, true},
		{"the year does", []string{"20261127", "20251127"}, false},
		{"the number does", []string{"RG-44", "RG-45"}, false},
		{"the type does", []string{"BGM+380", "BGM+381"}, false},
		{"the supplier does", []string{"NAD+SU+9520001000010", "NAD+SU+9520001000027"}, false},
		{"the scheme of its identifier does", []string{"NAD+SU+9520001000010::9", "NAD+SU+9520001000010::91"}, false},
		{"the issuer does", []string{"NAD+BY+9520002000019::9", "NAD+BY+9520002000019::9'NAD+II+9520001000034::9", "UNT+17", "UNT+18"}, false},
		{"a test is another document than a live one", []string{"+REF1'UNH", "+REF1++++++1'UNH"}, false},
		{"the sender does not, where the supplier is named", []string{"UNB+UNOC:3+9520001000010", "UNB+UNOC:3+HUB"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if same := key(base) == key(change(t, base, c.pairs...)); same != c.same {
				t.Errorf("same is %v", same)
			}
		})
	}
	t.Run("without a number it is what it says", func(t *testing.T) {
		unnumbered := change(t, base, "+INVOIC:", "+ORDERS:", "+RG-44+", "++")
		if key(unnumbered) != key(change(t, unnumbered, "REF1", "REF2")) {
			t.Error("another interchange brings another document")
		}
		if key(unnumbered) == key(change(t, unnumbered, "100.00", "200.00")) {
			t.Error("two documents of other amounts are one")
		}
	})
	nameless := change(t, base, "NAD+SU+9520001000010::9", "NAD+SU+++Talquist")
	t.Run("without an identifier the sender numbers it", func(t *testing.T) {
		d, _ := single(t, nameless)
		if d.Issuer != (Identifier{Value: "9520001000010", Scheme: "unb:14"}) {
			t.Errorf("got %+v", d.Issuer)
		}
	})
	t.Run("a VAT identifier stands before the sender: a hub sends for many", func(t *testing.T) {
		d, _ := single(t, change(t, nameless, "Talquist", "Talquist'RFF+VA:DE1", "UNT+17", "UNT+18"))
		if d.Issuer != (Identifier{Value: "DE1", Scheme: "VA"}) {
			t.Errorf("got %+v", d.Issuer)
		}
	})
}

func TestGuardContent(t *testing.T) {
	// DTM 3 stands beside DTM 137 in two dated, not in one.
	one := testdata(t, "invoic-d96a.edi")
	two := change(t, one, "DTM+137:202611281015:203'", "DTM+137:202611281015:203'\nDTM+3:20261128:102'", "UNT+83+1", "UNT+84+1")
	digests := func(text []byte) (content, rest [32]byte) {
		d, _ := single(t, text)
		return d.GuardContent(), d.ContentWithoutNumberAndDate()
	}
	for _, c := range []struct {
		name    string
		text    []byte
		pairs   []string
		content bool // the same
		rest    bool
	}{
		{"the message reference says nothing", one, []string{"UNH+1+", "UNH+99+", "+1'\nUNZ", "+99'\nUNZ"}, true, true},
		{"the control reference says nothing", one, []string{"+4711'", "+4799'"}, true, true},
		{"a duplicate has the content of its original", one, []string{"RE-2026-10442+9", "RE-2026-10442+7"}, true, true},
		{"so has a copy", one, []string{"RE-2026-10442+9", "RE-2026-10442+31"}, true, true},
		{"and one without function", one, []string{"RE-2026-10442+9", "RE-2026-10442"}, true, true},
		{"a replacement has not", one, []string{"RE-2026-10442+9", "RE-2026-10442+5"}, false, false},
		{"line breaks say nothing", one, []string{"'\nLIN", "'LIN"}, true, true},
		{"trailing empty elements say nothing", one, []string{"CUX+2:EUR:4'", "CUX+2:EUR:4:::+++'"}, true, true},
		{"a needless release says nothing", one, []string{"BF-210", "B?F-210"}, true, true},
		{"the message date says nothing beside an invoice date", two, []string{"DTM+137:202611281015", "DTM+137:202611291116"}, true, true},
		{"alone it is the document's", one, []string{"DTM+137:202611281015", "DTM+137:202611291116"}, false, true},
		{"the invoice date is the document's", two, []string{"DTM+3:20261128", "DTM+3:20261129"}, false, true},
		{"another number is another content, and a possible copy", one, []string{"RE-2026-10442", "RE-2026-99999"}, false, true},
		{"another amount is another content", one, []string{"MOA+203:120,00", "MOA+203:120,01"}, false, false},
		{"so is another bank account", one, []string{"DE02120300000000202051", "DE02120300000000202052"}, false, false},
		{"a value that moved to the next component", one, []string{"PIA+1+BF-100:SA+0004711:IN", "PIA+1+BF-100::SA+0004711:IN"}, false, false},
		{"a date of a line", one, []string{"DTM+361:20270131", "DTM+361:20270201"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			content, rest := digests(c.text)
			content2, rest2 := digests(change(t, c.text, c.pairs...))
			if (content == content2) != c.content || (rest == rest2) != c.rest {
				t.Errorf("content is the same: %v, without number and dates: %v", content == content2, rest == rest2)
			}
		})
	}
	t.Run("charset, delimiters and releases of an interchange say nothing", func(t *testing.T) {
		content, rest := digests(one)
		body := string(one[bytes.IndexByte(one, '\n')+1:])
		other := strings.NewReplacer("UNOC:3", "UNOY|4", "?:", ":", "?'", "'", "?+", "+", "'", "~", "+", "^", ":", "|").Replace(latin1(body))
		content2, rest2 := digests([]byte("UNA|^,\\ ~\n" + other))
		if content != content2 || rest != rest2 {
			t.Error("differs")
		}
	})
}

// latin1 decodes ISO 8859-1.
func latin1(s string) string {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

// TestPlain holds the text of plain segments, translated byte by byte or delimiter by
// delimiter, against that made of their values.
func TestPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`[A-Z]{3}(\+[+:*A-C]{0,12})?`).Draw(t, "segment")
		d := edi.Delimiters{Component: ':', Element: '+', Repetition: '*', Release: '?', Terminator: '\''}
		b := edi.NewBody([]byte(raw+"'\nNAD+BY+952'"), 0, 1, d, nil)
		g := &digester{body: sha256.New()}
		g.begin(d)
		g.buf = nil
		type text struct {
			buf          []byte
			parts, first []int32
			odd          odd
		}
		by := func(write func(*edi.Segment) (odd, bool)) (text, bool) {
			g.buf, g.parts, g.first = append(g.buf[:0], "NAD'"...), append(g.parts[:0], 0), append(g.first[:0], 0) // of the segment before
			odd, ok := write(&b.Segments[0])
			return text{slices.Clone(g.buf), slices.Clone(g.parts), slices.Clone(g.first), odd}, ok
		}
		bytewise, ok := by(g.write)
		values, ok2 := by(g.writeValues)
		if !ok || !ok2 || !bytes.Equal(bytewise.buf, values.buf) || !slices.Equal(bytewise.parts, values.parts) || !slices.Equal(bytewise.first, values.first) {
			t.Fatalf("%q: %q, by values %q", raw, bytewise, values)
		}
		plain, ok := by(g.plain)
		if ok && (plain.odd != bytewise.odd || !bytes.Equal(plain.buf, values.buf) || !slices.Equal(plain.parts, values.parts) || !slices.Equal(plain.first, values.first)) {
			t.Fatalf("%q: %q, by delimiters %q", raw, values, plain)
		}
		if !ok && !bytes.Equal(plain.buf, []byte("NAD'")) {
			t.Fatalf("%q: not plain, and yet %q was written", raw, plain.buf)
		}
		if trailing := strings.ContainsAny(raw, "?") || strings.HasSuffix(raw, "+") || strings.HasSuffix(raw, ":") || strings.HasSuffix(raw, "*") ||
			strings.Contains(raw, ":+") || strings.Contains(raw, ":*") || strings.Contains(raw, "*+"); ok == trailing {
			t.Fatalf("%q is plain: %v", raw, ok)
		}
		s := segment{Segment: &b.Segments[0], block: string(values.buf), parts: values.parts, first: values.first[1:], last: int32(len(values.parts)), end: int32(len(values.buf)), odd: bytewise.odd}
		for v := range b.Segments[0].Values() {
			if v.Element == 0 {
				continue
			}
			if got := s.repetition(v.Element, v.Repetition, v.Component); got != v.Text {
				t.Fatalf("%q: element %d, repetition %d, component %d is %q, got %q", raw, v.Element, v.Repetition, v.Component, v.Text, got)
			}
		}
		if s.get(s.elements()+1, 1) != "" || s.get(1, 99) != "" || s.repetition(1, 99, 1) != "" {
			t.Fatalf("%q: something where nothing is", raw)
		}
	})
}

func TestInvalidText(t *testing.T) {
	for name, raw := range map[string]string{"NUL": "FTX+AAI+++a\x00b", "no UTF-8": "FTX+AAI+++a\xfcb"} {
		t.Run(name+" is refused, whoever let it through", func(t *testing.T) {
			d := edi.Delimiters{Component: ':', Element: '+', Release: '?', Terminator: '\''}
			b := edi.NewBody([]byte("UNH+1+INVOIC:D:96A:UN'BGM+380+N1+9'"+raw+"'UNT+4+1'"), 0, 1, d, nil)
			for _, m := range []plainMapper{plainly(mapInvoic), plainly(mapDesadv), Generic} {
				doc, errs := m(&edi.Interchange{Delimiters: d}, 0, b)
				if doc != nil || len(errs) == 0 || errs[0].Code != "invalid-characters" || errs[0].Standard != "21" || errs[0].Tag != "FTX" {
					t.Errorf("got %v, %v", doc, errs)
				}
			}
		})
	}
}

func TestRevision(t *testing.T) {
	for function, want := range map[string]Revision{"": RevisionOriginal, "9": RevisionOriginal, "43": RevisionOriginal, "5": RevisionReplace, "18": RevisionReplace,
		"1": RevisionCancel, "17": RevisionCancel, "7": RevisionCopy, "31": RevisionCopy, "4": RevisionPartial, "3": RevisionPartial} {
		if got := (&Document{Function: function}).Revision(); got != want {
			t.Errorf("function %q is %s, want %s", function, got, want)
		}
	}
}

func TestStamp(t *testing.T) {
	order := []struct {
		ic edi.Interchange
		i  int
	}{
		{edi.Interchange{ControlReference: "1"}, 0}, // no date: before all
		{edi.Interchange{Date: "20261128", Time: "2359", ControlReference: "99"}, 0},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "9"}, 0},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "0010"}, 0},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "10"}, 9},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "10"}, 10},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "REF9"}, 0},
		{edi.Interchange{Date: "20261129", Time: "1015", ControlReference: "REF10"}, 0},
		{edi.Interchange{Date: "20261129", Time: "101501", ControlReference: "1"}, 0},
		{edi.Interchange{Date: "20261130", Time: "", ControlReference: "1"}, 0},
	}
	var stamps []string
	for _, o := range order {
		stamps = append(stamps, Stamp(&o.ic, o.i))
	}
	if !slices.IsSorted(stamps) {
		t.Errorf("not in order: %q", stamps)
	}
	if len(slices.Compact(slices.Clone(stamps))) != len(stamps) {
		t.Errorf("not distinct: %q", stamps)
	}
}
