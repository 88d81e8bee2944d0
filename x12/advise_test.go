package x12

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// adviceFile is a file of testdata/824: what is to be advised, as JSON in the first line,
// the interchange that it is about, and behind === the answer, written by hand.
type adviceFile struct {
	Acceptance, Reason, Text string
	Omitted                  int
	Messages                 []struct {
		Index        int
		Number, Text string
		Errors       []struct {
			Tag, Text, Value string
			Segment, Element int
		}
	}
	sent, want string
}

func readAdvice(t *testing.T, file string) (a adviceFile) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(raw), "\n")
	if err := json.Unmarshal([]byte(head), &a); err != nil {
		t.Fatal(err)
	}
	sent, want, found := strings.Cut(rest, "===\n")
	if !found {
		t.Fatal("no answer")
	}
	a.sent, a.want = strings.ReplaceAll(sent, "\n", ""), want
	return a
}

var acceptances = map[string]edi.Acceptance{"received": edi.AcceptanceReceived, "accepted": edi.Accepted, "rejected": edi.Rejected}

func (a *adviceFile) advice() edi.Advice {
	out := edi.Advice{Reference: "77", Prepared: time.Date(2026, 11, 30, 9, 5, 0, 0, time.UTC), Acceptance: acceptances[a.Acceptance],
		Reason: edi.AdviceReason(a.Reason), Text: a.Text, Omitted: a.Omitted}
	for _, m := range a.Messages {
		var errs []*edi.Error
		for _, e := range m.Errors {
			errs = append(errs, &edi.Error{Text: e.Text, Value: e.Value, Location: edi.Location{Tag: e.Tag, Segment: e.Segment, Element: e.Element}})
		}
		out.Messages = append(out.Messages, edi.AdvisedMessage{Index: m.Index, Number: m.Number, Text: m.Text, Errors: errs})
	}
	return out
}

func TestAdvise(t *testing.T) {
	files, err := filepath.Glob("testdata/824/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			f := readAdvice(t, file)
			ic := read(t, Reader{}, f.sent)
			a := f.advice()
			kind, got, err := Advise(ic, a)
			if err != nil || kind != "824" {
				t.Fatal(kind, err)
			}
			terminator := string(rune(ic.Delimiters.Terminator))
			if diff := cmp.Diff(f.want, strings.ReplaceAll(string(got), terminator, terminator+"\n")); diff != "" {
				t.Errorf("by hand - ours +\n%s", diff)
			}
			comesBack(t, ic, a, string(got))
		})
	}
}

// comesBack reads what we wrote as a partner's: it is sound, and says of the same sets,
// or of each group, what was said.
func comesBack(t *testing.T, ic *edi.Interchange, a edi.Advice, text string) {
	t.Helper()
	own := read(t, Reader{}, text)
	if f := findings(own); len(f) > 0 {
		t.Errorf("it has findings: %v", f)
	}
	verdict, subjects := a.Acceptance, max(len(a.Messages), 1)
	if verdict == edi.AcceptanceReceived {
		verdict = edi.AcceptedWithErrors
	}
	if len(a.Messages) == 0 {
		subjects = len(ic.Groups)
	}
	n := 0
	err := (Reader{}).Answers(edi.Bytes([]byte(text)), own, func(answer edi.Answer) error {
		n++
		if answer.Kind != "824" || answer.Number != "77" || len(answer.Judgements) != subjects {
			t.Errorf("%s %s with %d judgements", answer.Kind, answer.Number, len(answer.Judgements))
		}
		for i := range answer.Judgements {
			j := &answer.Judgements[i]
			if j.Acceptance != verdict || j.Group == nil {
				t.Errorf("%+v", j)
				continue
			}
			if len(a.Messages) == 0 {
				if j.Level != edi.LevelGroup || j.Group.Reference != ic.Groups[i].Reference {
					t.Errorf("group %d: %+v", i, j)
				}
				continue
			}
			m := &ic.Messages[a.Messages[i].Index]
			if j.Level != edi.LevelMessage || j.Reference != m.Reference || j.Group.Reference != ic.Groups[m.Group].Reference || j.Type.Type != m.Type.Type {
				t.Errorf("set %d: %+v", i, j)
			}
			if number := a.Messages[i].Number; number != "" && len(number) <= 30 && j.Documents[0].Number != number {
				t.Errorf("set %d is told as document %s", i, j.Documents[0].Number)
			}
		}
		for _, e := range answer.Findings {
			if e.Code != edi.AnswerContradicts || a.Omitted == 0 {
				t.Errorf("%s: %s", e.Code, e.Text)
			}
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d answers, %v", n, err)
	}
}

func TestAdviseOnNothing(t *testing.T) {
	ic := read(t, Reader{}, header00401+"TA1*000000007*261129*1015*A*000~IEA*0*000000116~")
	if kind, b, err := Advise(ic, edi.Advice{Reference: "77", Acceptance: edi.Rejected, Reason: edi.AdviceDrift}); b != nil || err != nil {
		t.Errorf("an interchange without groups is advised on by %q %s, %v", kind, b, err)
	}
	ic = read(t, Reader{}, good())
	if _, _, err := Advise(ic, edi.Advice{Reference: "A7"}); err == nil {
		t.Error("a reference that is no control number is taken")
	}
	if _, _, err := Advise(ic, edi.Advice{Reference: "7", Messages: []edi.AdvisedMessage{{Index: 1}}}); err == nil {
		t.Error("a set that there is not is advised on")
	}
	if _, b, err := Advise(ic, edi.Advice{Reference: "7", Omitted: 1}); !errors.Is(err, edi.ErrNoneNamed) {
		t.Errorf("an 824 on sets of which none is named: %s, %v", b, err)
	}
}
