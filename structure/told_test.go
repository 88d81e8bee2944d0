package structure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	contrl "github.com/edigw/edigw/edifact"
	ack "github.com/edigw/edigw/x12"
)

// The tests of this file break the built-in messages as the others do, and look at
// what the sender is told: CONTRL, 997 and 999. What has to stand in them is known
// from how a message was broken and from the code lists, which are repeated here by
// hand.

// the codes of 0085, of 720 and of 723 for what a mutation breaks.
var (
	codes0085 = map[fault]string{missingSegment: "13", segmentRepeats: "35", groupRepeats: "36", missingElement: "13", surplusElement: "16",
		surplusComponent: "16", tooLong: "39", tooShort: "40", wrongCharacters: "37", wrongNotation: "19", elementRepeats: "35"}
	codes720 = map[fault]string{missingSegment: "3", segmentRepeats: "5", groupRepeats: "4"}
	codes723 = map[fault]string{missingElement: "1", surplusElement: "3", tooShort: "4", tooLong: "5", wrongCharacters: "6", wrongDate: "8", wrongTime: "9",
		elementRepeats: "12", surplusComponent: "13"}
)

// envelope is what stands around a message of a directory, whose fields %s and %d
// are its segments and their number with header and trailer.
type envelope struct {
	head, tail string
	terminator string
	reader     interface {
		Split(*edi.Payload, int64) (*edi.Interchange, error)
		Scan(*edi.Payload, *edi.Interchange, func(int, *edi.Body) error) error
	}
	acknowledge func(*edi.Interchange, edi.Acknowledgement) (string, []byte, error)
	forms       []string // of the answer
	parts       [2]string
}

func around(tables *Tables, m *message, syntaxVersion string) envelope {
	check := tables.Checker(edi.Tolerance{Structure: edi.StructureRefused})
	if m.dir.syntax != (x12{}) {
		date := "261128"
		if syntaxVersion == "4" {
			date = "20261128"
		}
		release := strings.ReplaceAll(m.dir.name, " ", ":")
		return envelope{head: "UNB+UNOC:" + syntaxVersion + "+A+B+" + date + ":0914+1'UNH+1+" + m.name + ":" + release + ":UN'", tail: "UNT+%d+1'UNZ+1+1'", terminator: "'",
			reader: contrl.Reader{Check: check}, acknowledge: contrl.Acknowledge, forms: []string{""}, parts: [2]string{"'UCM", "'UNT"}}
	}
	isa, forms := "U*00401", []string{"997"}
	if m.dir.name >= "005010" {
		isa, forms = "^*00501", []string{"997", "999"}
	}
	return envelope{head: "ISA*00*          *00*          *ZZ*A              *ZZ*B              *261128*0914*" + isa + "*000000001*0*P*>~" +
		"GS*IN*A*B*20261128*0914*1*X*" + m.dir.name + "~ST*" + m.name + "*0001~", tail: "SE*%d*0001~GE*1*1~IEA*1*000000001~", terminator: "~",
		reader: ack.Reader{Check: check}, acknowledge: ack.Acknowledge, forms: forms, parts: [2]string{"~AK2", "~AK9"}}
}

// told is the part of the answer that is about the message, for each form; IK3, IK4
// and IK5 are shown as AK3, AK4 and AK5.
func (e envelope) told(t *testing.T, segments []string) (list []string) {
	t.Helper()
	text := e.head + strings.Join(segments, e.terminator) + e.terminator + fmt.Sprintf(e.tail, len(segments)+2)
	p := edi.Bytes([]byte(text))
	ic, err := e.reader.Split(p, 0)
	if err == nil {
		err = e.reader.Scan(p, ic, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if edi.Worst(ic.Errors) > edi.SeverityNote || len(ic.Messages) != 1 {
		t.Fatalf("the envelope is wrong: %v\n%s", ic.Errors, text)
	}
	for _, form := range e.forms {
		a := edi.Acknowledgement{Reference: "7", Prepared: time.Date(2026, 11, 29, 10, 30, 0, 0, time.UTC), Action: edi.ActionAcknowledged, Form: form}
		if ic.Refused(0) {
			a.Messages = []edi.MessageAnswer{{Index: 0, Action: edi.ActionRejected, Errors: ic.MessageErrors[0]}}
		}
		_, content, err := e.acknowledge(ic, a)
		if err != nil {
			t.Fatal(err)
		}
		s := string(content)
		s = s[strings.Index(s, e.parts[0])+1 : strings.Index(s, e.parts[1])+1]
		_, s, _ = strings.Cut(s, e.terminator) // the message's own name
		list = append(list, strings.ReplaceAll(s, "~IK", "~AK"))
		if strings.HasPrefix(s, "IK") {
			list[len(list)-1] = "AK" + list[len(list)-1][2:]
		}
	}
	return list
}

// wantSegment is what is told of a segment or of a group's start.
func wantSegment(m *message, f fault, at int, it *item, in *group) string {
	if m.dir.syntax != (x12{}) {
		return fmt.Sprintf("UCS+%d+%s'", at, codes0085[f])
	}
	if it.group != nil {
		in = it.group
	}
	return fmt.Sprintf("AK3*%s*%d*%s*%s~AK5*R*5~", it.tag, at, in.name, codes720[f])
}

// wantElement is what is told of element e of a segment, component c and repetition r
// where they are not 0.
func wantElement(m *message, f fault, at int, tag, loop string, e, c, r int, id, value string) string {
	component, occurrence := "", ""
	if c > 0 {
		component = fmt.Sprint(c)
	}
	if r > 1 {
		occurrence = fmt.Sprint(r)
	}
	if m.dir.syntax != (x12{}) {
		return fmt.Sprintf("UCS+%d'UCD+%s+%s'", at, codes0085[f], strings.TrimRight(fmt.Sprintf("%d:%s:%s", e+1, component, occurrence), ":"))
	}
	code := codes723[f]
	if m.dir.name < "005010" && len(code) == 2 {
		code = "3"
	}
	if strings.HasPrefix(id, "C") { // composites have no number
		id = ""
	}
	position := strings.TrimRight(fmt.Sprintf("%d>%s>%s", e, component, occurrence), ">")
	ak4 := strings.TrimRight(fmt.Sprintf("AK4*%s*%s*%s*%s", position, id, code, value[:min(len(value), 99)]), "*")
	return fmt.Sprintf("AK3*%s*%d*%s*8~%s~AK5*R*5~", tag, at, loop, ak4)
}

func same(t *testing.T, what string, want string, got []string) {
	t.Helper()
	for _, g := range got {
		if g != want {
			t.Errorf("%s:\n%s", what, cmp.Diff(want, g))
		}
	}
}

// everyAnswered runs f for each built-in message but those that answer: nobody is
// told anything of them.
func everyAnswered(t *testing.T, f func(t *testing.T, tables *Tables, name string, m *message)) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		if m.name != "CONTRL" && m.name != "997" && m.name != "999" {
			f(t, tables, name, m)
		}
	})
}

func TestEveryMissingItemIsTold(t *testing.T) {
	everyAnswered(t, func(t *testing.T, tables *Tables, name string, m *message) {
		e := around(tables, m, "3")
		tried := 0
		for _, p := range stands(m) {
			if !p.it.mandatory || len(p.path) > 0 && p.at == 0 {
				continue
			}
			tried++
			text, last := smallest(m, p, 0)
			at := last // 0096 is the last segment before it
			if m.dir.syntax == (x12{}) {
				at++ // 719 is where it should stand
			}
			same(t, p.name(m), wantSegment(m, missingSegment, at, p.it, p.in), e.told(t, text))
		}
		t.Logf("%d items", tried)
	})
}

func TestEveryExceededMaximumIsTold(t *testing.T) {
	everyAnswered(t, func(t *testing.T, tables *Tables, name string, m *message) {
		e := around(tables, m, "3")
		tried := 0
		for _, p := range stands(m) {
			if p.it.max > mostRepeats || len(p.path) > 0 && p.at == 0 {
				continue
			}
			tried++
			text, at := smallest(m, p, int(p.it.max)+1)
			f := segmentRepeats
			if p.it.group != nil {
				f = groupRepeats
			}
			same(t, p.name(m), wantSegment(m, f, at, p.it, p.in), e.told(t, text))
		}
		t.Logf("%d maxima", tried)
	})
}

func TestEveryBrokenElementIsTold(t *testing.T) {
	everyAnswered(t, func(t *testing.T, tables *Tables, name string, m *message) {
		e := around(tables, m, "3")
		done := map[tag]bool{}
		tried := 0
		for _, p := range stands(m) {
			it := p.it
			if it.group != nil || it.segment == nil || done[it.tag] {
				continue
			}
			done[it.tag] = true
			text, at := smallest(m, p, 1)
			for _, mu := range mutants(m, it.segment) {
				tried++
				text := slices.Clone(text)
				text[at-2] = written(m, it.tag.String(), mu.values)
				element, component := 0, 0
				if _, err := fmt.Sscan(mu.at, &element, &component); err != nil && element == 0 {
					t.Fatal(mu.at, err)
				}
				value := ""
				if v := mu.values[element-1]; mu.fault != missingElement {
					value = v[max(component, 1)-1]
				}
				same(t, p.name(m)+", "+mu.what, wantElement(m, mu.fault, at, it.tag.String(), p.in.name, element, component, 0, mu.id, value), e.told(t, text))
			}
		}
		t.Logf("%d broken segments", tried)
	})
}

func TestEveryExceededRepetitionIsTold(t *testing.T) {
	everyAnswered(t, func(t *testing.T, tables *Tables, name string, m *message) {
		if m.dir.name == "004010" {
			return // 00401 has no repetitions
		}
		e := around(tables, m, "4")
		repetition := map[bool]string{true: "^", false: "*"}[m.dir.syntax == (x12{})]
		done := map[tag]bool{}
		for _, p := range stands(m) {
			it := p.it
			if it.group != nil || it.segment == nil || done[it.tag] {
				continue
			}
			done[it.tag] = true
			text, at := smallest(m, p, 1)
			for i, el := range it.segment.elements {
				v := values(it.segment, i+1)
				if excluded(it.segment, v) {
					continue
				}
				one := strings.TrimRight(strings.Join(v[i], ":"), ":")
				if m.dir.syntax == (x12{}) {
					one = strings.ReplaceAll(one, ":", ">")
				}
				v[i] = []string{strings.Repeat(one+repetition, el.max) + one}
				text := slices.Clone(text)
				text[at-2] = written(m, it.tag.String(), v)
				same(t, fmt.Sprintf("%s %d", p.name(m), i+1), wantElement(m, elementRepeats, at, it.tag.String(), p.in.name, i+1, 0, el.max+1, el.id, ""), e.told(t, text))
			}
		}
	})
}
