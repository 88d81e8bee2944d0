package edifact

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// adviceFile is a file of testdata/aperak: what is to be advised, as JSON in the first
// line, the interchange that it is about, and behind === the answer, written by hand.
type adviceFile struct {
	Acceptance, Reason, Text string
	Omitted                  int
	Messages                 []struct {
		Index        int
		Number, Text string
		Errors       []struct {
			Tag, Text string
			Segment   int
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
	a.sent, a.want = strings.ReplaceAll(sent, "\n", ""), strings.ReplaceAll(want, "'\n", "'")
	return a
}

var acceptances = map[string]edi.Acceptance{"received": edi.AcceptanceReceived, "accepted": edi.Accepted, "rejected": edi.Rejected}

func (a *adviceFile) advice() edi.Advice {
	out := edi.Advice{Reference: "77", Prepared: prepared, Acceptance: acceptances[a.Acceptance], Reason: edi.AdviceReason(a.Reason), Text: a.Text, Omitted: a.Omitted}
	for _, m := range a.Messages {
		var errs []*edi.Error
		for _, e := range m.Errors {
			errs = append(errs, &edi.Error{Text: e.Text, Location: edi.Location{Tag: e.Tag, Segment: e.Segment}})
		}
		out.Messages = append(out.Messages, edi.AdvisedMessage{Index: m.Index, Number: m.Number, Text: m.Text, Errors: errs})
	}
	return out
}

func TestAdvise(t *testing.T) {
	files, err := filepath.Glob("testdata/aperak/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			f := readAdvice(t, file)
			ic := one(t, Reader{}, f.sent)
			a := f.advice()
			kind, got, err := Advise(ic, a)
			if err != nil || kind != "APERAK" {
				t.Fatal(kind, err)
			}
			if diff := cmp.Diff(strings.Split(f.want, "'"), strings.Split(string(got), "'")); diff != "" {
				t.Errorf("by hand - ours +\n%s", diff)
			}
			comesBack(t, ic, a, string(got), 1)
		})
	}
}

// comesBack reads what we wrote as a partner's: it is sound, names the interchange as a
// former message, and says the same of what is named.
func comesBack(t *testing.T, ic *edi.Interchange, a edi.Advice, text string, messages int) {
	t.Helper()
	own := one(t, Reader{}, text)
	if edi.Worst(own.Errors) > 0 || len(own.MessageErrors) > 0 || own.Sender != ic.Recipient || own.Recipient != ic.Sender || own.ControlReference != "77" || own.Test != ic.Test {
		t.Errorf("%v of %v to %v, %s", findings(own), own.Sender, own.Recipient, own.ControlReference)
	}
	n, named := 0, 0
	err := (Reader{}).Answers(edi.Bytes([]byte(text)), own, func(answer edi.Answer) error {
		n++
		j := &answer.Judgements[0]
		want := a.Acceptance
		if j.Action == "6" && want == edi.AcceptanceReceived { // EANCOM has no word for what is only kept
			want = edi.Accepted
		}
		if answer.Kind != "APERAK" || j.Acceptance != want || j.Documents[0].Qualifier != "ACW" || j.Documents[0].Number != ic.ControlReference || j.Documents[0].Date != ic.Date {
			t.Errorf("%s: %+v", answer.Kind, j)
		}
		for _, o := range j.Objections {
			if o.Code != string(a.Reason) || o.Agency != "92" {
				t.Errorf("%+v", o)
			}
			for _, about := range o.About {
				if about.Number == a.Messages[named].Number {
					named++
					break
				}
			}
		}
		for _, e := range answer.Findings {
			if e.Severity > edi.SeverityNote {
				t.Errorf("%s: %s", e.Code, e.Text)
			}
		}
		return nil
	})
	numbered := 0
	for _, m := range a.Messages {
		if m.Number != "" {
			numbered++
		}
	}
	if err != nil || n != messages || named != numbered {
		t.Errorf("%d answers that name %d documents of %d, %v", n, named, numbered, err)
	}
}

func TestAdviseOnMoreThanOneMessageHolds(t *testing.T) {
	var text strings.Builder
	a := edi.Advice{Reference: "77", Prepared: prepared, Acceptance: edi.Rejected, Reason: edi.AdviceKnown, Text: "It stands."}
	for i := range 2*maxERC + 1 {
		fmt.Fprintf(&text, "UNH+%d+INVOIC:D:96A:UN'UNT+2+%d'", i, i)
		a.Messages = append(a.Messages, edi.AdvisedMessage{Index: i, Number: fmt.Sprint("R-", i)})
	}
	ic := one(t, Reader{}, unb3+text.String()+fmt.Sprintf("UNZ+%d+REF'", 2*maxERC+1))
	_, got, err := Advise(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	comesBack(t, ic, a, string(got), 3)
	for _, segment := range []string{"BGM+313+77++RE'", "BGM+313+77-2++RE'", "BGM+313+77-3++RE'", "UNZ+3+77'"} {
		if strings.Count(string(got), segment) != 1 {
			t.Errorf("no %s", segment)
		}
	}
}

func TestAdviseOnWhatCannotBe(t *testing.T) {
	ic := one(t, Reader{}, message("", 2))
	for name, c := range map[string]struct {
		ic *edi.Interchange
		a  edi.Advice
	}{
		"without a reference of its own":     {ic, edi.Advice{}},
		"of a message that there is not":     {ic, edi.Advice{Reference: "7", Messages: []edi.AdvisedMessage{{Index: 1}}}},
		"of messages of which none is named": {ic, edi.Advice{Reference: "7", Omitted: 1}},
		"to nobody":                          {&edi.Interchange{ControlReference: "REF", Recipient: ic.Recipient}, edi.Advice{Reference: "7"}},
		"on an interchange without a number": {&edi.Interchange{Sender: ic.Sender, Recipient: ic.Recipient}, edi.Advice{Reference: "7"}},
	} {
		if _, b, err := Advise(c.ic, c.a); err == nil {
			t.Errorf("an APERAK %s: %s", name, b)
		}
	}
}
