package edifact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// told reads text and tells its answers a line each: judgements, under each its
// objections, and findings.
func told(t *testing.T, r Reader, text string) string {
	t.Helper()
	p := edi.Bytes([]byte(text))
	ic, err := r.Split(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Scan(p, ic, nil); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = r.Answers(p, ic, func(a edi.Answer) error {
		fmt.Fprintf(&b, "%s %s in message %d\n", a.Kind, a.Number, a.Message)
		for i := range a.Judgements {
			j := &a.Judgements[i]
			fmt.Fprintf(&b, "  %s: %s (%s)\n", j.Subject(), j.Acceptance, j.Action)
			if j.Text != "" {
				fmt.Fprintf(&b, "    “%s”\n", j.Text)
			}
			for _, o := range j.Objections {
				fmt.Fprintf(&b, "    %s\n", o.String())
			}
		}
		for _, e := range a.Findings {
			fmt.Fprintf(&b, "  %s %s at %d %s %d\n", e.Severity, e.Code, e.Segment, e.Tag, e.Element)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// in puts segments of a message of type t into an interchange from a partner, P, to
// us, U, of syntax version v.
func in(v, t, segments string) string {
	segments = strings.ReplaceAll(strings.TrimSpace(segments), "\n", "")
	date := map[bool]string{true: "20261130", false: "261130"}[v == "4"]
	return fmt.Sprintf("UNB+UNOC:%s+P:14+U:14+%s:0900+A7'UNH+1+%s'%sUNT+%d+1'UNZ+1+A7'", v, date, t, segments, 2+strings.Count(segments, "'")-strings.Count(segments, "?'"))
}

func TestAnswersOfCONTRL(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"all is acknowledged by one UCI", in("3", "CONTRL:D:3:UN", `UCI+I1+U:14+P:14+7'`), `
CONTRL  in message 0
  interchange I1: accepted (7)
`},
		{"one message of two is rejected, with elements", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14+7'
UCM+1+INVOIC:D:96A:UN:EAN008+7'
UCM+2+INVOIC:D:96A:UN:EAN008+4'
UCS+7+13'
UCS+9'
UCD+12+3:1'
UCD+39+2'`), `
CONTRL  in message 0
  interchange I1: accepted (7)
  message 1 (INVOIC D 96A EAN008): accepted (7)
  message 2 (INVOIC D 96A EAN008): rejected (4)
    0085 13 at segment 7
    0085 12 at segment 9, element 2, component 1
    0085 39 at segment 9, element 1
`},
		{"header and trailer are named", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14+4+29+UNZ+2'
UCM+1+INVOIC:D:96A:UN+4+28+UNT+3'
UCM+2+INVOIC:D:96A:UN+4+13+UNH+3:2'`), `
CONTRL  in message 0
  interchange I1: rejected (4)
    0085 29 at UNZ, element 1
  message 1 (INVOIC D 96A): rejected (4)
    0085 28 at UNT, element 2
  message 2 (INVOIC D 96A): rejected (4)
    0085 13 at segment 1 UNH, element 2, component 2
`},
		{"version 2, before which 0083 had words for more", in("2", "CONTRL:2:2:UN", `
UCI+I1+U+P+3'
UCM+1+INVOIC:D:93A:UN+1'
UCM+2+INVOIC:D:93A:UN+4+18'
UCM+3+INVOIC:D:93A:UN+2+21'`), `
CONTRL  in message 0
  interchange I1: partly accepted (3)
  message 1 (INVOIC D 93A): accepted (1)
  message 2 (INVOIC D 93A): rejected (4)
    0085 18
  message 3 (INVOIC D 93A): accepted with errors (2)
    0085 21
`},
		{"version 4 has occurrences and packages", in("4", "CONTRL:4:1:UN", `
UCI+I1+U:14+P:14+7'
UCM+1+INVOIC:D:01B:UN+4'
UCS+5'
UCD+12+3:2:4'
UCM+++4+15+++P1+1:2'
UCO+P2+1:2+7'`), `
CONTRL  in message 0
  interchange I1: accepted (7)
  message 1 (INVOIC D 01B): rejected (4)
    0085 12 at segment 5, element 2, component 2, repetition 4
  message UNO/P1 (UNO 1 2): rejected (4)
    0085 15
  message UNO/P2 (UNO 1 2): accepted (7)
`},
		{"groups have the messages that follow them", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14+7'
UCF+G1+U1+P1+4+29+UNE+2'
UCF+G2+U1+P1+7'
UCM+1+INVOIC:D:96A:UN+4+12'`), `
CONTRL  in message 0
  interchange I1: accepted (7)
  group G1: rejected (4)
    0085 29 at UNE, element 1
  group G2: accepted (7)
  message 1 (INVOIC D 96A) in group G2: rejected (4)
    0085 12
`},
		{"receipt is no acceptance", in("3", "CONTRL:D:3:UN", `UCI+I1+U:14+P:14+8'`), `
CONTRL  in message 0
  interchange I1: received (8)
`},
		{"parties in the order of the answer's own UNB", in("3", "CONTRL:D:3:UN", `UCI+I1+P:14+U:14+7'`), `
CONTRL  in message 0
  interchange I1: accepted (7)
  warning answer-parties-differ at 2 UCI 2
`},
		{"a verdict is missing, another is none that there is", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14'
UCM+1+INVOIC:D:96A:UN+OK'`), `
CONTRL  in message 0
  interchange I1: unknown ()
  message 1 (INVOIC D 96A): unknown (OK)
  error answer-verdict-missing at 2 UCI 4
  error answer-verdict-unknown at 3 UCM 3
`},
		{"a message is acknowledged in a rejected interchange", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14+4+18'
UCM+1+INVOIC:D:96A:UN+7'
UCM+2+INVOIC:D:96A:UN+7+12'`), `
CONTRL  in message 0
  interchange I1: rejected (4)
    0085 18
  message 1 (INVOIC D 96A): accepted (7)
  message 2 (INVOIC D 96A): accepted (7)
    0085 12
  error answer-contradicts-itself at 1 UNH 0
  error answer-contradicts-itself at 1 UNH 0
  warning answer-contradicts-itself at 4 UCM 4
`},
		{"an interchange is only received, and a message judged", in("3", "CONTRL:D:3:UN", `
UCI+I1+U:14+P:14+8'
UCM+1+INVOIC:D:96A:UN+4+12'`), `
CONTRL  in message 0
  interchange I1: received (8)
  message 1 (INVOIC D 96A): rejected (4)
    0085 12
  note answer-contradicts-itself at 1 UNH 0
`},
		{"segments out of order and without numbers", in("3", "CONTRL:D:3:UN", `
UCM+1+INVOIC:D:96A:UN+4'
UCD+12+X'
UCI+I1+U:14+P:14+7'
UCS+A+13'
UCM++INVOIC:D:96A:UN+4'`), `
CONTRL  in message 0
  message 1 (INVOIC D 96A): rejected (4)
    0085 12
  interchange I1: accepted (7)
    0085 13
  message (INVOIC D 96A): rejected (4)
  error answer-out-of-order at 2 UCM 0
  warning answer-out-of-order at 3 UCD 0
  warning answer-position-invalid at 3 UCD 2
  error answer-out-of-order at 4 UCI 0
  warning answer-out-of-order at 5 UCS 0
  warning answer-position-invalid at 5 UCS 1
  error answer-subject-missing at 6 UCM 1
  warning answer-contradicts-itself at 5 UCS 2
`},
		{"nothing is in it", in("3", "CONTRL:D:3:UN", `UCX+1'`), `
CONTRL  in message 0
  error answer-subject-missing at 1 UNH 0
`},
		{"its own message has errors", strings.Replace(in("3", "CONTRL:D:3:UN", `UCI+I1+U:14+P:14+7'`), "UNT+3", "UNT+9", 1), `
CONTRL  in message 0
  interchange I1: accepted (7)
  error answer-refused at 1 UNH 0
`},
		{"what is no answer is passed over", in("3", "INVOIC:D:96A:UN", `UCI+I1+U:14+P:14+7'`), "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnswersOfOurOwnCONTRL(t *testing.T) {
	// What we write is read as what we meant.
	text := unb3 + ung1 + unh1 + "FTX+\x00'UNT+3+1'UNH+2+INVOIC:D:96A:UN'UNT+2+2'UNE+2+G1'UNZ+1+REF'"
	ic := one(t, Reader{}, text)
	a := edi.Acknowledgement{Reference: "77", Prepared: prepared, Action: edi.ActionAcknowledged, Messages: []edi.MessageAnswer{
		{Index: 0, Action: edi.ActionRejected, Errors: ic.MessageErrors[0]}, {Index: 1, Action: edi.ActionAcknowledged}}}
	_, content, err := Acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	const want = `CONTRL  in message 0
  interchange REF: accepted (7)
  group G1: accepted (7)
  message 1 (INVOIC D 96A) in group G1: rejected (4)
    0085 21 at segment 2, element 1
  message 2 (INVOIC D 96A) in group G1: accepted (7)
`
	if d := cmp.Diff(want, told(t, Reader{}, string(content))); d != "" {
		t.Error(d)
	}
}

func TestAnswersOfAPERAK(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"D.96A, 1225 rejects, errors name lines", in("3", "APERAK:D:96A:UN:EAN000", `
BGM+12E::9+AP77+27'
DTM+137:20261130:102'
FTX+AAO+++See below'
RFF+IV:R4711'
DTM+171:20261129:102'
NAD+MS+4012345000009::9'
DTM+2:20270101:102'
ERC+4:8:9'
FTX+AAO+++Unknown GTIN:in line 2'
RFF+LI:R4711:2'
FTX+AAO++Z05'
ERC+7:ZZZ'`), `
APERAK AP77 in message 0
  document IV R4711 of 20261129: rejected (27)
    “See below”
    9321 4 (9) at LI R4711 line 2 — Unknown GTIN in line 2 Z05
    9321 7 (ZZZ)
`},
		{"D.01B, 4343 accepts, the document in DOC", in("3", "APERAK:D:01B:UN", `
BGM+312+AP78+9+AP'
DTM+137:20261130:102'
DOC+380:::invoice+R4711::::2'
DTM+137:261129:101'
RFF+ACW:4711-1'`), `
APERAK AP78 in message 0
  document 380 R4711 version 2 of 20261129, ACW 4711-1: accepted (AP)
`},
		{"the kind of APERAK is the verdict", in("3", "APERAK:D:07B:UN:2.1e", `
BGM+313+AP79'
RFF+ACE:I1'
RFF+AGO:R4711'
ERC+Z18::293'
FTX+Z02+++Marktlokation unbekannt'
RFF+TN:TX1'`), `
APERAK AP79 in message 0
  document ACE I1, AGO R4711: rejected (313)
    9321 Z18 (293) at TN TX1 — Marktlokation unbekannt
`},
		{"no verdict, but an error", in("3", "APERAK:D:96A:UN", `
BGM++AP80+9'
RFF+IV:R4711'
ERC+20'`), `
APERAK AP80 in message 0
  document IV R4711: rejected ()
    9321 20
`},
		{"neither verdict nor error", in("3", "APERAK:D:96A:UN", `
BGM++AP81+9'
RFF+IV:R4711'`), `
APERAK AP81 in message 0
  document IV R4711: received ()
  note answer-verdict-missing at 2 BGM 0
`},
		{"no reference", in("3", "APERAK:D:96A:UN", `
BGM++AP82++AB'`), `
APERAK AP82 in message 0
  document: received (AB)
  error answer-subject-missing at 1 UNH 0
`},
		{"references behind the errors alone", in("3", "APERAK:D:96A:UN", `
BGM++AP83+27'
ERC+4'
RFF+IV:R4711:1'
ERC+4'
RFF+IV:R4711:2'`), `
APERAK AP83 in message 0
  document IV R4711: rejected (27)
    9321 4 at IV R4711 line 1
    9321 4 at IV R4711 line 2
`},
		{"two verdicts that cannot both be meant", in("3", "APERAK:D:96A:UN", `
BGM+313+AP84+27+AP'
RFF+IV:R4711'`), `
APERAK AP84 in message 0
  document IV R4711: accepted (AP)
  error answer-contradicts-itself at 2 BGM 3
`},
		{"acceptance with ERC", in("3", "APERAK:D:01B:UN", `
BGM++AP85+6'
RFF+ON:4711'
ERC+1'`), `
APERAK AP85 in message 0
  document ON 4711: accepted (6)
    9321 1
  note answer-contradicts-itself at 4 ERC 1
`},
		{"without BGM", in("3", "APERAK:D:01B:UN", `FTX+AAO+++?''`), `
APERAK  in message 0
  document: received ()
    “'”
  note answer-verdict-missing at 0  0
  error answer-subject-missing at 1 UNH 0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnswersNameThePartiesOfOurInterchange(t *testing.T) {
	us, partner := edi.Party{ID: "U", Qualifier: "14"}, edi.Party{ID: "P", Qualifier: "14"}
	for _, text := range []string{
		in("3", "CONTRL:D:3:UN", `UCI+I1+U:14+P:14+7'`), in("3", "CONTRL:D:3:UN", `UCI+I1+P:14+U:14+7'`),
		in("3", "APERAK:D:96A:UN", `BGM++1+27'RFF+IV:1'`),
	} {
		p := edi.Bytes([]byte(text))
		ic := one(t, Reader{}, text)
		if err := (Reader{}).Answers(p, ic, func(a edi.Answer) error {
			if got := a.Judgements[0].Interchange; got.Sender != us || got.Recipient != partner {
				t.Errorf("%s: from %v to %v", text, got.Sender, got.Recipient)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnswerTooLarge(t *testing.T) {
	text := in("3", "CONTRL:D:3:UN", "UCI+I1+U:14+P:14+7'"+strings.Repeat("UCM+1+INVOIC:D:96A:UN+4+12'", edi.MaxJudgements)+"UCS+1+12'")
	ic := one(t, Reader{}, text)
	if err := (Reader{}).Answers(edi.Bytes([]byte(text)), ic, func(a edi.Answer) error {
		objections := 0
		for _, j := range a.Judgements {
			objections += len(j.Objections)
		}
		if len(a.Judgements) > edi.MaxJudgements || objections > edi.MaxObjections || len(a.Findings) != 1 || a.Findings[0].Code != edi.AnswerTooLarge {
			t.Errorf("%d judgements, %d objections, %v", len(a.Judgements), objections, a.Findings)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
