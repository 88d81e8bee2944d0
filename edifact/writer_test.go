package edifact

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/edi"
)

var prepared = time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC)

var invoic = edi.MessageType{Type: "INVOIC", Version: "D", Release: "96A", Agency: "UN"}

// content is a random interchange: messages of segments of elements.
type content struct {
	messages [][]segment
}

type segment struct {
	tag      string
	elements []Element
}

// contents draws values of Latin-1, with all that could be a delimiter.
func contents(repetitions bool) *rapid.Generator[content] {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("Aa1äÿ £+:'?*=~^|\\.,")), 0, 6, -1)
	return rapid.Custom(func(t *rapid.T) content {
		var c content
		for range rapid.IntRange(1, 3).Draw(t, "messages") {
			segments := []segment{}
			for range rapid.IntRange(0, 4).Draw(t, "segments") {
				s := segment{tag: rapid.SampledFrom([]string{"LIN", "NAD", "FTX", "X1Y"}).Draw(t, "tag")}
				for range rapid.IntRange(0, 4).Draw(t, "elements") {
					var e Element
					n := 1
					if repetitions {
						n = rapid.IntRange(1, 3).Draw(t, "repetitions")
					}
					for range n {
						e = append(e, rapid.SliceOfN(text, 1, 3).Draw(t, "components"))
					}
					s.elements = append(s.elements, e)
				}
				segments = append(segments, s)
			}
			c.messages = append(c.messages, segments)
		}
		return c
	})
}

// write writes c.
func (c content) write(e Envelope, lineEnd string) []byte {
	w := newWriter(e)
	w.LineEnd = lineEnd
	w.unb()
	for i, m := range c.messages {
		w.Message(fmt.Sprint(i+1), invoic)
		for _, s := range m {
			w.Segment(s.tag, s.elements...)
		}
		w.EndMessage()
	}
	text, err := w.Close()
	if err != nil {
		panic(err)
	}
	return text
}

// values is c as a reader must see it: trailing empty ones left out.
func (c content) values() (all [][]string) {
	for _, m := range c.messages {
		for _, s := range m {
			seg := []string{s.tag}
			for e, el := range s.elements {
				for r, rep := range el {
					for k, v := range rep {
						if v != "" {
							seg = append(seg, fmt.Sprintf("%d.%d.%d=%s", e+1, r+1, k+1, v))
						}
					}
				}
			}
			all = append(all, seg)
		}
	}
	return all
}

// readValues gives what is in text, in the form of values.
func readValues(t failer, text []byte) (all [][]string, ic *edi.Interchange) {
	interchanges, faults := readAll(t, Reader{}, edi.Bytes(text), func(_ *edi.Interchange, _ int, b *edi.Body) {
		for _, s := range b.Segments[1 : b.Len()-1] {
			seg := []string{s.Tag()}
			for v := range s.Values() {
				if v.Text != "" {
					seg = append(seg, fmt.Sprintf("%d.%d.%d=%s", v.Element, v.Repetition, v.Component, v.Text))
				}
			}
			all = append(all, seg)
		}
	})
	if len(interchanges) != 1 || len(faults) > 0 {
		t.Fatalf("%q: %d interchanges, %v", text, len(interchanges), faults)
	}
	return all, interchanges[0]
}

// envelopes draws ways to write one interchange down.
func envelopes(version string) *rapid.Generator[Envelope] {
	return rapid.Custom(func(t *rapid.T) Envelope {
		e := Envelope{SyntaxVersion: version, Sender: edi.Party{ID: "SENDER", Qualifier: "14"}, Recipient: edi.Party{ID: "RECIPIENT"}, Reference: "R?'1",
			Prepared: prepared.Add(time.Duration(rapid.IntRange(0, 9999).Draw(t, "minutes")) * time.Minute)}
		e.SyntaxID = rapid.SampledFrom([]string{"UNOC", "UNOW", "UNOY"}).Draw(t, "charset")
		if rapid.Bool().Draw(t, "UNA") {
			set := rapid.Permutation([]byte("+:'?*=~^|\\")).Draw(t, "delimiters")
			e.Delimiters = edi.Delimiters{Component: set[0], Element: set[1], Decimal: '.', Release: set[2], Terminator: set[3], Explicit: true}
			if version == "4" {
				e.Delimiters.Repetition = set[4]
			}
		}
		return e
	})
}

func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]string{"3", "4"}).Draw(t, "version")
		c := contents(version == "4").Draw(t, "content")
		write := func(label string) []byte {
			return c.write(envelopes(version).Draw(t, label), rapid.SampledFrom([]string{"", "\r\n", "\n"}).Draw(t, label+" line end"))
		}
		a, b := write("a"), write("b")

		got, first := readValues(t, a)
		if d := cmp.Diff(c.values(), got); d != "" {
			t.Fatalf("%q\n%s", a, d)
		}
		if edi.Worst(first.Errors) == edi.SeverityError || len(first.MessageErrors) > 0 {
			t.Fatalf("%q: %v", a, findings(first))
		}
		// However it is written, it says the same.
		_, second := readValues(t, b)
		if first.ContentSHA256 != second.ContentSHA256 {
			t.Fatalf("two content digests\n%q\n%q", a, b)
		}
		// Any change of a value says something else.
		m := rapid.IntRange(0, len(c.messages)-1).Draw(t, "changed message")
		if len(c.messages[m]) == 0 {
			return
		}
		s := rapid.IntRange(0, len(c.messages[m])-1).Draw(t, "changed segment")
		c.messages[m][s].elements = append(c.messages[m][s].elements, E("new"))
		_, third := readValues(t, write("c"))
		if first.ContentSHA256 == third.ContentSHA256 {
			t.Fatalf("one content digest for two contents\n%q", a)
		}
	})
}

func TestContentDigestTellsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := contents(true).Draw(t, "a"), contents(true).Draw(t, "b")
		e := Envelope{SyntaxVersion: "4", Sender: edi.Party{ID: "S"}, Recipient: edi.Party{ID: "R"}, Reference: "1", Prepared: prepared}
		av, ai := readValues(t, a.write(e, ""))
		bv, bi := readValues(t, b.write(e, ""))
		same := cmp.Equal(av, bv) && len(a.messages) == len(b.messages)
		if same && ai.ContentSHA256 != bi.ContentSHA256 {
			// Where a message ends may still differ.
			for i := range a.messages {
				if len(a.messages[i]) != len(b.messages[i]) {
					return
				}
			}
			t.Fatal("one content has two digests")
		}
		if !same && ai.ContentSHA256 == bi.ContentSHA256 {
			t.Fatal("two contents have one digest")
		}
	})
}

func TestWriter(t *testing.T) {
	t.Run("a whole interchange", func(t *testing.T) {
		w := NewWriter(Envelope{Sender: edi.Party{ID: "S", Qualifier: "14"}, Recipient: edi.Party{ID: "R"}, Prepared: prepared, Reference: "1", Test: true})
		w.Group("INVOIC", "G1", invoic)
		w.Message("1", invoic)
		w.Segment("BGM", E("380"), E("what?"), E(), E(""))
		w.EndMessage()
		w.EndGroup()
		want := "UNB+UNOC:3+S:14+R+261129:1015+1++++++1'UNG+INVOIC+S:14+R+261129:1015+G1+UN+D:96A'" +
			"UNH+1+INVOIC:D:96A:UN'BGM+380+what??'UNT+3+1'UNE+1+G1'UNZ+1+1'"
		got, err := w.Close()
		if d := cmp.Diff(want, string(got)); d != "" || err != nil {
			t.Fatal(err, d)
		}
	})
	t.Run("an interchange of version 4 has dates of eight digits, in UNG too", func(t *testing.T) {
		w := NewWriter(Envelope{SyntaxVersion: "4", Sender: edi.Party{ID: "S"}, Recipient: edi.Party{ID: "R"}, Prepared: prepared, Reference: "1"})
		w.Group("INVOIC", "G1", invoic)
		w.Message("1", invoic)
		w.EndMessage()
		w.EndGroup()
		want := "UNB+UNOC:4+S+R+20261129:1015+1'UNG+INVOIC+S+R+20261129:1015+G1+UN+D:96A'UNH+1+INVOIC:D:96A:UN'UNT+2+1'UNE+1+G1'UNZ+1+1'"
		got, err := w.Close()
		if d := cmp.Diff(want, string(got)); d != "" || err != nil {
			t.Fatal(err, d)
		}
		if d := cmp.Diff([]string{}, findings(one(t, Reader{}, string(got)))); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("before version 4 an element that occurs again is an error, and no NUL byte", func(t *testing.T) {
		for version, want := range map[string]string{"1": "FTX+a'", "3": "FTX+a'", "4": "FTX+a*b'"} {
			w := NewWriter(Envelope{SyntaxVersion: version, Prepared: prepared})
			n := len(w.Bytes())
			w.Segment("FTX", Element{{"a"}, {"b"}})
			if d := cmp.Diff(want, string(w.Bytes()[n:])); d != "" {
				t.Error(d)
			}
			if _, err := w.Close(); (err != nil) != (version < "4") {
				t.Errorf("version %s: %v", version, err)
			}
		}
	})
	t.Run("a control character becomes a blank", func(t *testing.T) {
		for _, d := range []edi.Delimiters{{}, {Component: 0x1F, Element: 0x1D, Release: '?', Terminator: 0x1C}} {
			w := NewWriter(Envelope{Prepared: prepared, Delimiters: d})
			n := len(w.Bytes())
			w.Segment("FTX", E("a\x00b\x1Cc\r\nd\x7Fe\u0085f"))
			if d := cmp.Diff("a b c  d e f", string(w.Bytes()[n+4:len(w.Bytes())-1])); d != "" {
				t.Error(d)
			}
		}
	})
	t.Run("a character that the set has not becomes a question mark", func(t *testing.T) {
		w := NewWriter(Envelope{SyntaxID: "UNOB", Prepared: prepared})
		n := len(w.Bytes())
		w.Segment("FTX", E("5 €"))
		if d := cmp.Diff("FTX+5 ??'", string(w.Bytes()[n:])); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("without a release character a delimiter becomes a blank", func(t *testing.T) {
		w := NewWriter(Envelope{Prepared: prepared, Delimiters: edi.Delimiters{Component: ':', Element: '+', Terminator: '\''}})
		n := len(w.Bytes())
		w.Segment("FTX", E("a+b"))
		if d := cmp.Diff("FTX+a b'", string(w.Bytes()[n:])); d != "" {
			t.Fatal(d)
		}
	})
}
