package edi

import (
	"encoding/json"
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
