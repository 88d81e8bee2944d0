package edi

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestAnswerOnAMessage(t *testing.T) {
	ic := &AnsweredInterchange{ControlReference: "I1"}
	judge := func(l Level, group, reference string, a Acceptance) Judgement {
		j := Judgement{Level: l, Interchange: ic, Reference: reference, Acceptance: a}
		if group != "" {
			j.Group = &AnsweredGroup{Reference: group}
		}
		return j
	}
	for _, c := range []struct {
		name, kind       string
		group, reference string
		judgements       []Judgement
		want             Acceptance
		level            Level // of the judgement that decides, 0 none
	}{
		{"a message that is named has its own word", "CONTRL", "", "2",
			[]Judgement{judge(LevelInterchange, "", "", Accepted), judge(LevelMessage, "", "2", Rejected)}, Rejected, LevelMessage},
		{"one that is not named shares the interchange's", "CONTRL", "", "1",
			[]Judgement{judge(LevelInterchange, "", "", Accepted), judge(LevelMessage, "", "2", Rejected)}, Accepted, LevelInterchange},
		{"or its group's", "CONTRL", "G2", "1",
			[]Judgement{judge(LevelInterchange, "", "", Accepted), judge(LevelGroup, "G2", "", Rejected)}, Rejected, LevelGroup},
		{"but not another group's", "CONTRL", "G1", "1",
			[]Judgement{judge(LevelInterchange, "", "", Accepted), judge(LevelGroup, "G2", "", Rejected)}, Accepted, LevelInterchange},
		{"the same reference in another group is another message", "997", "7", "0001",
			[]Judgement{judge(LevelGroup, "8", "", Rejected), judge(LevelMessage, "8", "0001", Rejected)}, AcceptanceUnknown, 0},
		{"a TA1 that accepts judges no content", "TA1", "7", "0001",
			[]Judgement{judge(LevelInterchange, "", "", Accepted)}, AcceptanceReceived, LevelInterchange},
		{"a TA1 that rejects rejects all", "TA1", "7", "0001",
			[]Judgement{judge(LevelInterchange, "", "", Rejected)}, Rejected, LevelInterchange},
		{"an APERAK that names documents only says nothing of a message", "APERAK", "", "1",
			[]Judgement{judge(LevelDocument, "", "", Rejected)}, AcceptanceUnknown, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Answer{Kind: c.kind, Judgements: c.judgements}
			got, j := a.On(c.group, c.reference)
			level := Level(0)
			if j != nil {
				level = j.Level
			}
			if got != c.want || level != c.level {
				t.Errorf("%v by %v, want %v by %v", got, level, c.want, c.level)
			}
		})
	}
}

func TestAnswerInJSON(t *testing.T) {
	got, err := json.Marshal(Judgement{Level: LevelGroup, Acceptance: PartlyAccepted, Action: "P",
		Interchange: &AnsweredInterchange{Sender: Party{ID: "US", Qualifier: "ZZ"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"level":"group","interchange":{"control_reference":"","sender":{"id":"US","qualifier":"ZZ"},"recipient":{"id":"","qualifier":""}},` +
		`"reference":"","acceptance":"partly accepted","action":"P"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnswerFindingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/answers.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("answering.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Answer\w+ += "(answer-[a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes found in the source", len(codes))
	}
	known := map[string]bool{"answer-unmatched": true} // the gateway's, which knows what was sent
	for _, c := range codes {
		known[c[1]] = true
		if !strings.Contains(string(page), "| `"+c[1]+"` |") {
			t.Errorf("%s is not documented", c[1])
		}
	}
	for _, m := range regexp.MustCompile("`(answer-[a-z-]+)`").FindAllStringSubmatch(string(page), -1) {
		if !known[m[1]] {
			t.Errorf("%s is documented, but nothing reports it", m[1])
		}
	}
}

func TestAnswerInWords(t *testing.T) {
	ic := &AnsweredInterchange{ControlReference: "I1"}
	for _, c := range []struct {
		judgement Judgement
		want      string
	}{
		{Judgement{Level: LevelInterchange, Interchange: ic}, "interchange I1"},
		{Judgement{Level: LevelGroup, Interchange: ic, Group: &AnsweredGroup{Reference: "7", FunctionalID: "IN", Version: "004010"}}, "group 7 (IN 004010)"},
		{Judgement{Level: LevelMessage, Interchange: ic, Group: &AnsweredGroup{Reference: "7"}, Reference: "0001", Type: &MessageType{Type: "810"},
			Documents: []AnsweredReference{{Qualifier: "IV", Number: "4711", Line: "2", Version: "1", Date: "20261130"}}},
			"message 0001 (810) in group 7, IV 4711 line 2 version 1 of 20261130"},
		{Judgement{Level: LevelDocument, Interchange: ic, Documents: []AnsweredReference{{Number: "1"}, {Qualifier: "ON", Number: "2"}}}, "document 1, ON 2"},
		{Judgement{Level: LevelMessage, Interchange: ic}, "message"},
	} {
		if got := c.judgement.Subject(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, c := range []struct {
		objection Objection
		want      string
	}{
		{Objection{List: "0085", Code: "12"}, "0085 12"},
		{Objection{List: "720", Code: "3", Place: Location{Segment: 4, Tag: "N1", Element: 2, Component: 1, Repetition: 3}, Element: "66", Loop: "N1", Value: "x", NewValue: "y", Text: "no"},
			`720 3 at segment 4 N1, element 2, component 1, repetition 3, data element 66, in loop N1, which was "x", read as "y" — no`},
		{Objection{List: "9321", Code: "4", Agency: "9", Context: []string{"A B"}, About: []AnsweredReference{{Qualifier: "LI", Number: "1"}}}, "9321 4 (9) at LI 1, context A B"},
		{Objection{List: "0085", Code: "13", Place: Location{Tag: "UNZ"}}, "0085 13 at UNZ"},
	} {
		if got := c.objection.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got := []string{Level(9).String(), Acceptance(9).String(), Rejected.String(), LevelGroup.String()}; strings.Join(got, ", ") != "level 9, acceptance 9, rejected, group" {
		t.Error(got)
	}
	a := Answer{Judgements: []Judgement{{Acceptance: Accepted}, {Acceptance: PartlyAccepted}, {Acceptance: AcceptanceReceived}}}
	if got := a.Worst(); got != PartlyAccepted {
		t.Errorf("the worst is %v", got)
	}
}
