package x12

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{
		good(), short(), interchange(), wrap(good(), 80),
		strings.NewReplacer("*", "\x1d", ">", "\x1f", "~", "\x1c").Replace(good()),
		strings.ReplaceAll(good(), "~", "\r\n"), strings.ReplaceAll(good(), "~", "\x85"), strings.ReplaceAll(good(), "~", "…"),
		header00501 + "TA1*000000099*261128*0900*A*000~ISX*?~GS*PI*A*B*20261129*1015*1*X*005010X210~ST*275*0001*005010X210~BIN*5*~SE*~~BDS*ASC*3*~~~~NTE**a^b:c~SE*5*0001~GE*1*1~IEA*1*116~",
		"\xEF\xBB\xBFspool\n" + good() + cutIEA(good()) + good() + "UNB+UNOC:3+A",
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

// FuzzScan: a text that is accepted and written again says the same, reading a set
// again gives what Scan gave, whatever can be identified can be answered, and the
// answer is read as it was meant.
func FuzzScan(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) { scanned(t, raw) })
}

// scanned holds the first interchange of raw to what FuzzScan says.
func scanned(t interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}, raw []byte) {
	p := edi.Bytes(raw)
	ic, err := Reader{}.Split(p, 0)
	if err != nil {
		return
	}
	alone, err := Reader{}.Split(edi.Bytes(raw[ic.Offset:ic.Offset+ic.Length]), 0)
	if err != nil || alone.Length != ic.Length || alone.PayloadSHA256 != ic.PayloadSHA256 {
		t.Fatalf("alone it has %d bytes instead of %d: %v", alone.Length, ic.Length, err)
	}
	var bodies []string
	var again *Writer
	err = Reader{}.Scan(p, ic, func(i int, b *edi.Body) error {
		bodies = append(bodies, values(b))
		again = rewrite(again, ic, i, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a := edi.Acknowledgement{Reference: "1", Prepared: time.Unix(1e9, 0).UTC(), Action: edi.ActionAcknowledged}
	if edi.Worst(ic.Errors) >= edi.SeverityError {
		a.Action, a.Errors = edi.ActionRejected, ic.Errors
	}
	for i := range ic.Messages {
		if ic.Refused(i) {
			a.Messages = append(a.Messages, edi.MessageAnswer{Index: i, Action: edi.ActionRejected, Errors: ic.MessageErrors[i]})
		}
	}
	_, answer, err := Acknowledge(ic, a)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if answer != nil {
		own, err := Reader{}.Split(edi.Bytes(answer), 0)
		if err != nil || own.Length != int64(len(answer)) {
			t.Fatalf("our answer cannot be read: %v\n%q", err, answer)
		}
		if err := (Reader{}).Scan(edi.Bytes(answer), own, nil); err != nil || edi.Worst(own.Errors) >= edi.SeverityError {
			t.Fatalf("our answer is not sound: %v %v\n%q", err, own.Errors, answer)
		}
		if err := (Reader{}).Answers(edi.Bytes(answer), own, func(told edi.Answer) error {
			for _, e := range told.Findings { // a group or set without a number cannot be named
				if e.Severity >= edi.SeverityWarning && e.Code != edi.AnswerSubjectMissing {
					t.Fatalf("our answer is doubtful: %v\n%q", e, answer)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ic.Messages {
		if ic.Refused(i) {
			return
		}
	}
	if edi.Worst(ic.Errors) >= edi.SeverityError {
		return
	}
	reader := Reader{}.Again(p, ic)
	for i := range bodies {
		b, err := reader(i)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(bodies[i], values(b)); d != "" {
			t.Fatalf("set %d, read again:\n%s", i, d)
		}
	}
	if again == nil || ic.Delimiters.Terminator >= 0x80 { // which our writer does not write
		return
	}
	again.EndGroup()
	second, err := again.Close()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Reader{}.Split(edi.Bytes(second), 0)
	if err != nil {
		t.Fatalf("%q became %q: %v", raw, second, err)
	}
	at := 0
	if err := (Reader{}).Scan(edi.Bytes(second), back, func(i int, b *edi.Body) error {
		if back.Refused(i) {
			t.Fatalf("%q became %q: %v", raw, second, findings(back))
		}
		if at == len(bodies) || printable(bodies[at]) != printable(values(b)) {
			t.Fatalf("%q became %q (-before +written again)\n%s", raw, second, cmp.Diff(bodies[min(at, len(bodies)-1)], values(b)))
		}
		at++
		return nil
	}); err != nil || at != len(bodies) || edi.Worst(back.Errors) >= edi.SeverityError || len(back.Groups) != len(ic.Groups) {
		t.Fatalf("%q became %q: %d of %d sets, %v %v", raw, second, at, len(bodies), err, findings(back))
	}
}

// rewrite appends set i to w, which it makes for the first one.
func rewrite(w *Writer, ic *edi.Interchange, i int, b *edi.Body) *Writer {
	g := int(ic.Messages[i].Group)
	if g < 0 || ic.Refused(i) || edi.Worst(ic.Errors) >= edi.SeverityError {
		return w
	}
	if w == nil {
		var err error
		if w, err = NewWriter(Envelope{Version: ic.SyntaxVersion, Sender: edi.Party{ID: "S", Qualifier: "ZZ"}, Recipient: edi.Party{ID: "R", Qualifier: "ZZ"},
			Prepared: time.Unix(1e9, 0).UTC(), Reference: "1", Delimiters: ic.Delimiters}); err != nil {
			return nil
		}
	}
	group := &ic.Groups[g]
	if w.groups <= g {
		if w.groups > 0 {
			w.EndGroup()
		}
		w.Group(group.FunctionalID, "A", "B", group.Reference, group.Version)
	}
	w.sets++
	for _, s := range b.Segments {
		switch {
		case s.Is("BIN"):
			w.Binary(s.RawElement(2))
		case s.Is("BDS"):
			w.out = append(append(w.out, s.Raw()...), ic.Delimiters.Terminator)
		default:
			w.Segment(s.Tag(), elements(s)...)
		}
	}
	return w
}

// elements are those of s as Writer takes them.
func elements(s edi.Segment) (list []Element) {
	for v := range s.Values() {
		if v.Element == 0 {
			continue
		}
		for len(list) < v.Element {
			list = append(list, nil)
		}
		e := &list[v.Element-1]
		for len(*e) < v.Repetition {
			*e = append(*e, nil)
		}
		(*e)[v.Repetition-1] = append((*e)[v.Repetition-1], v.Text)
	}
	return list
}

// printable leaves out empty values, which end a segment without being written, and
// what our writer has no other place for than a blank.
func printable(values string) string {
	values = regexp.MustCompile(` \d+\.\d+\.\d+=""`).ReplaceAllString(values, "")
	return regexp.MustCompile(`\\(x[01][0-9a-f]|[abfnrtv])`).ReplaceAllString(values, " ")
}
