package edifact

import (
	"strings"
	"testing"
	"unicode"

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
		unb4 + uno("P", "UNZ+1+REF'\x00?") + unh1 + "UNT+2+1'UNZ+2+REF'",
		unb4 + "UNO+P+AAA:1*B:2+1:X+3:1'USH+1'a'?UNP+3+P'UNZ+1+REF'",
		"UIB+UNOA:4'UIZ'" + message("BGM  '", 3),
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
				if err == nil || edi.AsError(err) != nil {
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

// FuzzScan: a text that is accepted and written again says the same, in its groups;
// whatever can be identified can be answered, and the answer is read as it was meant.
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
			rewrite(&again, ic, i, b)
			bodies = append(bodies, b.Segments[:0:0])
			for _, s := range b.Segments {
				s.Location(1, 1)
				s.Tag()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		alone, err := Reader{}.Split(edi.Bytes(raw[ic.Offset:ic.Offset+ic.Length]), 0)
		if err != nil || alone.Length != ic.Length || alone.PayloadSHA256 != ic.PayloadSHA256 {
			t.Fatalf("alone it has %d bytes instead of %d: %v", alone.Length, ic.Length, err)
		}
		meant(t, ic)
		if sound(ic) != nil || again == nil {
			return
		}
		if len(ic.Groups) > 0 {
			again.EndGroup()
		}
		written, err := again.Close()
		if err != nil {
			t.Fatal(err)
		}
		first := shape(t, p, ic)
		if strings.ContainsFunc(strings.Join(first, ""), unicode.IsControl) { // which our writer does not write
			return
		}
		second := edi.Bytes(written)
		back, err := Reader{}.Split(second, 0)
		if err != nil {
			t.Fatalf("%q: %v", again.Bytes(), err)
		}
		if err := (Reader{}).Scan(second, back, nil); err != nil {
			t.Fatal(err)
		}
		if len(back.Messages) != len(bodies) || len(back.Groups) != len(ic.Groups) || sound(back) != nil {
			t.Fatalf("%q: %v", again.Bytes(), findings(back))
		}
		if d := cmp.Diff(first, shape(t, second, back)); d != "" {
			t.Fatalf("%q became %q\n%s", raw, again.Bytes(), d)
		}
	})
}

// sound gives an error that refuses something of ic.
func sound(ic *edi.Interchange) *edi.Error {
	lists := [][]*edi.Error{ic.Errors}
	for i := range ic.Groups {
		lists = append(lists, ic.Groups[i].Errors)
	}
	for _, list := range ic.MessageErrors {
		lists = append(lists, list)
	}
	for _, list := range lists {
		for _, e := range list {
			if e.Severity >= edi.SeverityError {
				return e
			}
		}
	}
	return nil
}

// meant answers ic and holds what is read of the CONTRL to what was written.
func meant(t *testing.T, ic *edi.Interchange) {
	t.Helper()
	a := edi.Acknowledgement{Reference: "1", Prepared: prepared, Action: edi.ActionAcknowledged, Errors: ic.Errors}
	if edi.Worst(ic.Errors) >= edi.SeverityError {
		a.Action = edi.ActionRejected
	}
	for i := range ic.Messages {
		m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
		if ic.Refused(i) {
			m.Action = edi.ActionRejected
		}
		a.Messages = append(a.Messages, m)
	}
	_, content, err := Acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	p := edi.Bytes(content)
	own, err := Reader{}.Split(p, 0)
	if err != nil || own.Length != p.Size() {
		t.Fatalf("our answer cannot be read: %v\n%q", err, content)
	}
	if err := (Reader{}).Scan(p, own, nil); err != nil {
		t.Fatal(err)
	}
	if e := sound(own); e != nil {
		t.Fatalf("our answer is not sound: %v\n%q", e, content)
	}
	told := 0
	if err := (Reader{}).Answers(p, own, func(answer edi.Answer) error {
		told++
		for _, e := range answer.Findings { // a message or group without a reference cannot be named
			if e.Severity >= edi.SeverityWarning && e.Code != edi.AnswerSubjectMissing {
				t.Fatalf("our answer is doubtful: %v\n%q", e, content)
			}
		}
		if want := map[edi.Action]edi.Acceptance{edi.ActionAcknowledged: edi.Accepted, edi.ActionRejected: edi.Rejected}[a.Action]; answer.Judgements[0].Acceptance != want {
			t.Fatalf("%v is read as %v", a.Action, answer.Judgements[0].Acceptance)
		}
		return nil
	}); err != nil || told != 1 {
		t.Fatalf("%d answers: %v", told, err)
	}
}

// rewrite appends a message to w, which it makes for the first one.
func rewrite(w **Writer, ic *edi.Interchange, i int, b *edi.Body) {
	if *w == nil {
		version := ic.SyntaxVersion
		*w = NewWriter(Envelope{SyntaxID: "UNOY", SyntaxVersion: version, Sender: ic.Sender, Recipient: ic.Recipient,
			Prepared: prepared, Reference: ic.ControlReference})
	}
	if g := int(ic.Messages[i].Group); g >= 0 && (*w).groups <= g {
		if (*w).groups > 0 {
			(*w).EndGroup()
		}
		(*w).Group(ic.Groups[g].FunctionalID, ic.Groups[g].Reference, edi.MessageType{Agency: ic.Groups[g].Agency, Version: ic.Groups[g].Version})
	}
	if b.Segment(0).Is(edi.Package) {
		uno := b.Segment(0)
		(*w).Package(uno.Get(1, 1), elements(uno)[1], elements(uno)[2], b.Object())
		return
	}
	for i, s := range b.Segments {
		if i == 0 {
			(*w).segments = 0
			(*w).messages++
		}
		(*w).Segment(s.Tag(), elements(s)...)
	}
}

// elements are those of s as Writer takes them, three at least.
func elements(s edi.Segment) []Element {
	elements := make([]Element, 0, 3)
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
	for len(elements) < 3 {
		elements = append(elements, nil)
	}
	return elements
}

// shape is every value of every message with its place, empty ones left out.
func shape(t *testing.T, p *edi.Payload, ic *edi.Interchange) (all []string) {
	if err := (Reader{}).Scan(p, ic, func(i int, b *edi.Body) error {
		if b.Segment(0).Is(edi.Package) {
			uno := b.Segment(0)
			all = append(all, "UNO", uno.Get(1, 1), uno.Get(2, 1), uno.Get(3, 1), string(b.Object()))
			return nil
		}
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

// FuzzWrapped: taking line ends out never panics, and text that has none inside
// its segments is read as it is without.
func FuzzWrapped(f *testing.F) {
	seeds(f)
	f.Add([]byte(wrap(message("FTX+AAI+++lang und laenger als eine Zeile??+??'", 3), 20)))
	f.Add([]byte("UNA:+.? '" + wrap(unb3+unh1+"UNT+2+1'UNZ+1+REF'", 80)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		wrapped := Reader{Tolerance: edi.Tolerance{LineWraps: true}}
		at := int64(0)
		for {
			ic, err := wrapped.Split(p, at)
			if ic == nil {
				return
			}
			if ic.Length <= 0 || ic.Offset < at || ic.Offset+ic.Length > p.Size() {
				t.Fatalf("bounds %d+%d after %d of %d", ic.Offset, ic.Length, at, p.Size())
			}
			at = ic.Offset + ic.Length
			if err != nil {
				continue
			}
			if err := wrapped.Scan(p, ic, nil); err != nil {
				t.Fatal(err)
			}
			again := wrapped.Again(p, ic)
			for i := range ic.Messages {
				m := &ic.Messages[i]
				if m.Offset < ic.Offset || m.Offset+m.Length > at || m.Length < 0 {
					t.Fatalf("message %d at %d+%d of %d+%d", i, m.Offset, m.Length, ic.Offset, ic.Length)
				}
				if edi.Worst(ic.Errors) < edi.SeverityError && len(ic.MessageErrors) == 0 {
					body, err := again(i)
					if err != nil || body.Len() != int(m.Segments) {
						t.Fatalf("message %d has %d segments the second time: %v", i, body.Len(), err)
					}
				}
			}
		}
	})
}
