package edifact

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{
		message("BGM+380+RG?'1+9'NAD+SU+1::9++M\xFCller??'", 4),
		"UNA:+,?*'\r\nUNB+UNOY:4+S+R+20261129:1015+REF'\r\nUNH+1+DESADV:D:01B:UN'\r\nCPS+1*2'\r\nUNT+3+1'\r\nUNZ+1+REF'\r\n",
		unb3 + ung1 + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'",
		"UNA|^,\\ ~UNB^UNOC|3^S^R^261129|1015^R~UNH^1^INVOIC~FTX^a\\^b~UNT^3^1~UNZ^1^R~",
		"UNB\x1DUNOB\x1F2\x1DS\x1DR\x1D261129\x1F1015\x1DR\x1CUNZ\x1D0\x1DR\x1C",
		unb3 + "UNO+P+1:D+13:x+5'UNZ+'UNP+5+P'UNZ+1+REF",
		"\xEF\xBB\xBFspool\n" + unb3 + "BGM'UNT+1+1'" + unb3 + "UNZ+0+REF?",
	} {
		f.Add([]byte(s))
	}
}

// FuzzSplit: bounds lie in the payload and go forward, whatever it holds.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		at := int64(0)
		for n := 0; ; n++ {
			ic, err := Reader{}.Split(p, at)
			if ic == nil {
				if err == nil || AsError(err) != nil {
					t.Fatalf("no interchange and error %v", err)
				}
				return
			}
			if ic.Length <= 0 || ic.Offset < at || ic.Offset+ic.Length > p.Size() || n > len(raw) {
				t.Fatalf("bounds %d+%d after %d of %d", ic.Offset, ic.Length, at, p.Size())
			}
			at = ic.Offset + ic.Length
		}
	})
}

// FuzzScan: a text that is accepted and written again says the same.
func FuzzScan(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			return
		}
		var bodies [][]edi.Segment
		var again *Writer
		if err := (Reader{}).Scan(p, ic, func(i int, b *edi.Body) error {
			rewrite(&again, ic, b)
			bodies = append(bodies, b.Segments[:0:0])
			for _, s := range b.Segments {
				s.Location(1, 1)
				s.Tag()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if edi.Worst(ic.Errors) == edi.SeverityError || len(ic.MessageErrors) > 0 || len(ic.Groups) > 0 {
			return
		}
		second := edi.Bytes(again.Close())
		back, err := Reader{}.Split(second, 0)
		if err != nil {
			t.Fatalf("%q: %v", again.Bytes(), err)
		}
		if err := (Reader{}).Scan(second, back, nil); err != nil {
			t.Fatal(err)
		}
		if len(back.Messages) != len(bodies) || edi.Worst(back.Errors) == edi.SeverityError || len(back.MessageErrors) > 0 {
			t.Fatalf("%q: %v", again.Bytes(), findings(back))
		}
		if d := cmp.Diff(shape(t, p, ic), shape(t, second, back)); d != "" {
			t.Fatalf("%q became %q\n%s", raw, again.Bytes(), d)
		}
	})
}

// rewrite appends a message to w, which it makes for the first one.
func rewrite(w **Writer, ic *edi.Interchange, b *edi.Body) {
	if *w == nil {
		version := ic.SyntaxVersion
		*w = NewWriter(Envelope{SyntaxID: "UNOY", SyntaxVersion: version, Sender: ic.Sender, Recipient: ic.Recipient,
			Prepared: prepared, Reference: ic.ControlReference})
	}
	for i, s := range b.Segments {
		var elements []Element
		for v := range s.Values() {
			if v.Element == 0 {
				continue
			}
			for len(elements) < v.Element {
				elements = append(elements, nil)
			}
			e := &elements[v.Element-1]
			for len(*e) < v.Repetition {
				*e = append(*e, nil)
			}
			(*e)[v.Repetition-1] = append((*e)[v.Repetition-1], v.Text)
		}
		if i == 0 {
			(*w).segments = 0
			(*w).messages++
		}
		(*w).Segment(s.Tag(), elements...)
	}
}

// shape is every value of every message with its place, empty ones left out.
func shape(t *testing.T, p *edi.Payload, ic *edi.Interchange) (all []string) {
	if err := (Reader{}).Scan(p, ic, func(i int, b *edi.Body) error {
		for _, s := range b.Segments {
			all = append(all, s.Tag())
			for v := range s.Values() {
				if v.Text != "" && v.Element > 0 {
					all = append(all, string(rune('0'+v.Element))+string(rune('0'+v.Repetition))+string(rune('0'+v.Component))+v.Text)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
