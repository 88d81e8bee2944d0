package edi

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plainly is what the lexer must find, written for reading: each segment's
// values with their kinds, released.
func plainly(raw []byte, d Delimiters) (segments [][]string, open bool) {
	kinds := map[byte]string{d.Element: "+", d.Component: ":", d.Repetition: "*"}
	var seg []string
	cur := []byte("")
	kind := ""
	fresh := true
	for i := 0; i < len(raw); i++ {
		b := raw[i]
		switch {
		case fresh && Blank(b) && b != d.Terminator:
			continue
		case b == d.Release && d.Release != 0 && i+1 < len(raw):
			i++
			cur = append(cur, raw[i])
		case b == d.Terminator:
			if !fresh {
				segments = append(segments, append(seg, kind+string(cur)))
			}
			seg, cur, kind, fresh = nil, []byte(""), "", true
			continue
		case kinds[b] != "" && b != 0:
			seg = append(seg, kind+string(cur))
			cur, kind = []byte(""), kinds[b]
		default:
			cur = append(cur, b)
		}
		fresh = false
	}
	if !fresh {
		segments, open = append(segments, append(seg, kind+string(cur))), true
	}
	return segments, open
}

// found is what the lexer found, in the same form.
func found(segments []Segment) (all [][]string) {
	for _, s := range segments {
		seg := []string{s.Get(0, 1)}
		element, repetition := 0, 1
		for v := range s.Values() {
			kind := ":"
			if v.Element != element {
				kind = "+"
			} else if v.Repetition != repetition {
				kind = "*"
			}
			element, repetition = v.Element, v.Repetition
			seg = append(seg, kind+v.Text)
			if got := s.GetRep(v.Element, v.Repetition, v.Component); got != v.Text {
				seg = append(seg, "but Get says "+got)
			}
		}
		all = append(all, seg)
	}
	return all
}

func texts() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		return bytes.Join(rapid.SliceOfN(rapid.SampledFrom([][]byte{
			[]byte("LIN"), []byte("a"), []byte("äö"), []byte("+"), []byte("+"), []byte(":"), []byte(":"), []byte("*"),
			[]byte("?"), []byte("??"), []byte("?'"), []byte("'"), []byte("'"), []byte("'\r\n"), []byte(" "), []byte("long value of no use"), {0}, {0xFF},
		}), 0, 60).Draw(t, "text"), nil)
	})
}

func TestLexerAgainstPlainReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := defaults
		if rapid.Bool().Draw(t, "repetition") {
			d.Repetition = '*'
		}
		if rapid.Bool().Draw(t, "no release") {
			d.Release = 0
		}
		raw := texts().Draw(t, "raw")
		for len(raw) > 0 && (Blank(raw[len(raw)-1]) || raw[len(raw)-1] == d.Release) {
			raw = raw[:len(raw)-1] // how a text without terminator ends is End's to decide
		}
		want, wantOpen := plainly(raw, d)

		l := NewLexer(d, nil)
		var got [][]string
		at, end := 0, 0
		open := false
		for end < len(raw) || !open && len(raw) == 0 {
			end = min(len(raw), end+rapid.IntRange(1, 40).Draw(t, "window"))
			l.Window(raw[at:end], int64(at))
			for l.Lex(rapid.IntRange(1, 9).Draw(t, "block")) {
			}
			if end == len(raw) {
				break
			}
			if rapid.Bool().Draw(t, "drop") {
				got = append(got, found(l.Segments)...)
				at += l.Drop(len(l.Segments))
			}
		}
		if len(raw) > 0 {
			open, _ = l.End()
		}
		got = append(got, found(l.Segments)...)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q\n%s", raw, d)
		}
		if open != wantOpen {
			t.Fatalf("open %v, want %v", open, wantOpen)
		}
	})
}

func TestLexerBlocks(t *testing.T) {
	t.Run("a release at the end of a block holds in the next", func(t *testing.T) {
		for pad := range 40 {
			raw := append(bytes.Repeat([]byte("x"), pad), []byte("A+??'B+?''C+?+'")...)
			l := NewLexer(defaults, nil)
			l.Window(raw, 0)
			for l.Lex(8) {
			}
			if len(l.Segments) != 3 || l.Segments[1].Get(1, 1) != "'" || l.Segments[2].Elements() != 1 {
				t.Fatalf("%q: %v", raw, found(l.Segments))
			}
		}
	})
	t.Run("a text ends without its terminator, or in mid release", func(t *testing.T) {
		for text, want := range map[string][2]bool{"A+b'": {false, false}, "A+b' \r\n": {false, false}, "A+b": {true, false}, "A+b?": {true, true}} {
			l := NewLexer(defaults, nil)
			l.Window([]byte(text), 0)
			l.Lex(len(text))
			open, dangling := l.End()
			if got := [2]bool{open, dangling}; got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	})
	t.Run("flags tell which characters were seen, delimiters aside", func(t *testing.T) {
		for text, want := range map[string]Class{"ABC+1:2'": 0, "ABC+a'": ClassLower, "ABC+\xFC'": ClassHigh, "ABC+\x00'": ClassControl, "ABC+\x1D\r\n'": ClassControl, "A\r\n'": 0} {
			l := NewLexer(defaults, nil)
			l.Window([]byte(text), 0)
			l.Lex(len(text))
			if l.Seen != want {
				t.Errorf("%q: %v, want %v", text, l.Seen, want)
			}
		}
	})
	t.Run("lexing allocates nothing per segment", func(t *testing.T) {
		raw := bytes.Repeat([]byte("LIN+1++4000862141404:EN'\r\nIMD+F++:::Schraube?'n'"), 400)
		l := NewLexer(defaults, nil)
		pass := func() {
			l.Window(raw, 0)
			for l.Lex(4096) {
			}
			l.Drop(len(l.Segments))
		}
		pass()
		if n := testing.AllocsPerRun(5, pass); n > 0 {
			t.Fatalf("%v allocations", n)
		}
	})
}

func FuzzLexer(f *testing.F) {
	for _, s := range []string{"UNH+1+INVOIC:D:96A:UN'BGM+380+1?'2'UNT+3+1'", "A+??'B+???''", "'''", "?", "A?", "A+b:c*d"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		l := NewLexer(defaults, nil)
		l.Window(raw, 0)
		for l.Lex(max(n&63, 1)) {
		}
		l.End()
		whole := NewBody(raw, 0, 1, defaults, nil)
		if d := cmp.Diff(found(whole.Segments), found(l.Segments)); d != "" {
			t.Fatalf("block size decides what %q says:\n%s", raw, d)
		}
	})
}
