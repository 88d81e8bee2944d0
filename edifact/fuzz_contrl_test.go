package edifact

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// repeated are what our answer may have wrong with it, since it repeats what the
// sender wrote: a reference that is missing, too long or of other characters.
var repeated = []string{"element-missing", "element-too-long", "element-characters", "unb-too-long"}

// FuzzAcknowledge: whatever can be identified can be answered, by a CONTRL that our own
// reader has nothing against and that says each code where it may be said.
func FuzzAcknowledge(f *testing.F) {
	seeds(f)
	files, err := filepath.Glob("testdata/broken/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, text, _ := strings.Cut(string(raw), "\n")
		sent, _, _ := strings.Cut(text, "===\n")
		f.Add([]byte(strings.ReplaceAll(sent, "\n", "'")))
	}
	tables, err := builtIn()
	if err != nil {
		f.Fatal(err)
	}
	check := tables.Checker(edi.Tolerance{Structure: edi.StructureRefused})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		r := Reader{Check: check}
		ic, err := r.Split(p, 0)
		if err != nil {
			return
		}
		if err := r.Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		a := edi.Acknowledgement{Reference: "77", Prepared: prepared, Action: edi.ActionAcknowledged, Errors: ic.Errors}
		if edi.Worst(ic.Errors) >= edi.SeverityError {
			a.Action = edi.ActionRejected
		}
		for i := range ic.Messages {
			m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
			if edi.Worst(m.Errors) >= edi.SeverityError {
				m.Action = edi.ActionRejected
			}
			a.Messages = append(a.Messages, m)
		}
		_, answer, err := Acknowledge(ic, a)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		own, err := r.Split(edi.Bytes(answer), 0)
		if err == nil {
			err = r.Scan(edi.Bytes(answer), own, nil)
		}
		if err != nil || own.Length != int64(len(answer)) || len(own.Messages) != 1 || !own.Complete {
			t.Fatalf("our answer cannot be read: %v\n%q", err, answer)
		}
		for _, e := range slices.Concat(own.Errors, own.MessageErrors[0]) {
			if e.Severity == edi.SeverityError && !slices.Contains(repeated, e.Code) {
				t.Fatalf("our answer is not sound: %v\n%q", e, answer)
			}
		}
		mangled := slices.ContainsFunc(ic.Errors, func(e *edi.Error) bool { return e.Standard == "21" && e.Tag == "UNB" }) // and said to be
		if !mangled && (own.Sender != ic.Recipient || own.Recipient != ic.Sender) || own.Test != ic.Test {
			t.Fatalf("our answer is from %v to %v\n%q", own.Sender, own.Recipient, answer)
		}
		if wrong := notAtItsLevel(t, string(answer)); wrong != nil {
			t.Fatalf("ISO 9735-4 annex A does not know %q\n%q", wrong, answer)
		}
	})
}

// FuzzAdvise: whatever can be identified can be advised on, with any number and words, by
// an APERAK that our own reader has nothing against and finds what it is about in.
func FuzzAdvise(f *testing.F) {
	f.Add([]byte(message("", 2)), "R-1", "It is held.", false)
	f.Add([]byte(strings.Replace(message("", 2), "UNOC:3", "UNOA:1", 1)), "R?+:'\xff\x00*", "ümläut\n"+strings.Repeat("x", 400), true)
	f.Add([]byte(unb4+uno("P", "a")+"UNZ+1+REF'"), "", "", false)
	f.Fuzz(func(t *testing.T, raw []byte, number, text string, whole bool) {
		p := edi.Bytes(raw)
		ic, err := (Reader{}).Split(p, 0)
		if err != nil {
			return
		}
		if err := (Reader{}).Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		a := edi.Advice{Reference: "77", Prepared: prepared, Acceptance: edi.Rejected, Reason: edi.AdviceKnown, Text: text}
		for i := 0; i < len(ic.Messages) && !whole; i++ {
			a.Messages = append(a.Messages, edi.AdvisedMessage{Index: i, Number: number, Errors: ic.MessageErrors[i]})
		}
		_, advice, err := Advise(ic, a)
		if err != nil {
			t.Fatalf("no advice: %v", err)
		}
		own, err := (Reader{}).Split(edi.Bytes(advice), 0)
		if err == nil {
			err = (Reader{}).Scan(edi.Bytes(advice), own, nil)
		}
		if err != nil || own.Length != int64(len(advice)) || len(own.Messages) == 0 || !own.Complete {
			t.Fatalf("our advice cannot be read: %v\n%q", err, advice)
		}
		for _, e := range slices.Concat(own.Errors, own.MessageErrors[0]) {
			if e.Severity == edi.SeverityError && !slices.Contains(repeated, e.Code) {
				t.Fatalf("our advice is not sound: %v\n%q", e, advice)
			}
		}
		err = (Reader{}).Answers(edi.Bytes(advice), own, func(answer edi.Answer) error {
			if j := &answer.Judgements[0]; answer.Kind != "APERAK" || j.Acceptance != edi.Rejected || len(j.Objections) == 0 || j.Documents[0].Qualifier != "ACW" {
				t.Fatalf("our advice says %+v\n%q", j, advice)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
