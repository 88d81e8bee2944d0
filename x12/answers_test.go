package x12

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		fmt.Fprintf(&b, "%s %s in set %d\n", a.Kind, a.Number, a.Message)
		for i := range a.Judgements {
			j := &a.Judgements[i]
			fmt.Fprintf(&b, "  %s: %s (%s)\n", j.Subject(), j.Acceptance, j.Action)
			if g := j.Group; g != nil && j.Level == edi.LevelGroup && g.Included >= 0 {
				fmt.Fprintf(&b, "    %d, %d, %d\n", g.Included, g.Received, g.Accepted)
			}
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

// answerSet is a transaction set of an answer that stands in a group of its own, from TALQUIST to us.
func answerSet(kind, version string, segments string) string {
	header, functional, convention := header00401, "FA", ""
	if version >= "005010" {
		header = header00501
	}
	switch kind {
	case "999":
		convention = "*005010X231A1"
	case "824":
		functional = "AG"
	}
	list := strings.Split(strings.TrimSpace(segments), "\n")
	return fmt.Sprintf("%sGS*%s*TALQ*NORD*20261129*1015*9*X*%s~ST*%s*0001%s~%s~SE*%d*0001~GE*1*9~IEA*1*000000116~",
		header, functional, version, kind, convention, strings.Join(list, "~"), len(list)+2)
}

func ta1(lines ...string) string {
	return header00401 + strings.Join(lines, "~") + "~IEA*0*000000116~"
}

func TestAnswersOfTA1(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"accepted", ta1("TA1*000000099*261128*0900*A*000"), `
TA1  in set -1
  interchange 000000099: accepted (A)
`},
		{"accepted with an error in the envelope", ta1("TA1*000000099*261128*0900*E*019"), `
TA1  in set -1
  interchange 000000099: accepted with errors (E)
    I18 019
`},
		{"rejected as a duplicate, its control number short", ta1("TA1*99*261128*0900*R*025"), `
TA1  in set -1
  interchange 000000099: rejected (R)
    I18 025
`},
		{"two of them, before a group", strings.Replace(good(), "GS*", "TA1*000000098*261128*0900*A*000~TA1*000000099*261128*0901*R*022~GS*", 1), `
TA1  in set -1
  interchange 000000098: accepted (A)
TA1  in set -1
  interchange 000000099: rejected (R)
    I18 022
`},
		{"verdict and note contradict each other", ta1("TA1*000000098*261128*0900*A*021", "TA1*000000099*261128*0900*R*000"), `
TA1  in set -1
  interchange 000000098: accepted (A)
    I18 021
  warning answer-contradicts-itself at 2 TA1 5
TA1  in set -1
  interchange 000000099: rejected (R)
  warning answer-contradicts-itself at 3 TA1 5
`},
		{"no verdict, no number, and a verdict that there is not", ta1("TA1*000000098*261128*0900", "TA1**261128*0900*P*000"), `
TA1  in set -1
  interchange 000000098: unknown ()
  error answer-verdict-missing at 2 TA1 4
TA1  in set -1
  interchange: unknown (P)
  error answer-verdict-unknown at 3 TA1 4
  error answer-subject-missing at 3 TA1 1
`},
		{"in an interchange that is refused", strings.Replace(ta1("TA1*000000099*261128*0900*A*000"), "IEA*0*000000116", "IEA*0*000000117", 1), `
TA1  in set -1
  interchange 000000099: accepted (A)
  error answer-refused at 2 TA1 0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("lines that were cut", func(t *testing.T) {
		text := wrap(ta1("TA1*000000099*261128*0900*R*025"), 80)
		want := "TA1  in set -1\n  interchange 000000099: rejected (R)\n    I18 025\n"
		if d := cmp.Diff(want, told(t, Reader{Tolerance: edi.Tolerance{LineWraps: true}}, text)); d != "" {
			t.Error(d)
		}
	})
	t.Run("date and time of our interchange", func(t *testing.T) {
		text := ta1("TA1*000000099*261128*0900*A*000")
		ic := read(t, Reader{}, text)
		err := Reader{}.Answers(edi.Bytes([]byte(text)), ic, func(a edi.Answer) error {
			want := edi.AnsweredInterchange{ControlReference: "000000099", Date: "20261128", Time: "0900",
				Sender: edi.Party{ID: "NORDHAFEN", Qualifier: "ZZ"}, Recipient: edi.Party{ID: "TALQUIST", Qualifier: "ZZ"}}
			if d := cmp.Diff(want, *a.Judgements[0].Interchange); d != "" {
				t.Error(d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnswersOf997(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a group is accepted, no set named", answerSet("997", "004010", `
AK1*IN*77
AK9*A*2*2*2`), `
997  in set 0
  group 77 (IN): accepted (A)
    2, 2, 2
`},
		{"one set of two is rejected, with segments and elements", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK5*A
AK2*810*0002
AK3*IT1*7**8
AK4*4*212*6*1,50
AK4*2>1>3*358*5
AK3*TDS*12*SAC*3
AK5*R*5
AK9*P*2*2*1`), `
997  in set 0
  group 77 (IN): partly accepted (P)
    2, 2, 1
  message 0001 (810) in group 77: accepted (A)
  message 0002 (810) in group 77: rejected (R)
    720 8 at segment 7 IT1
    723 6 at segment 7 IT1, element 4, data element 212, which was "1,50"
    723 5 at segment 7 IT1, element 2, component 1, repetition 3, data element 358
    720 3 at segment 12 TDS, in loop SAC
    718 5
`},
		{"accepted with errors, and codes of the group", answerSet("997", "005010", `
AK1*SH*77*005010
AK2*856*0001*005010UCC
AK3*HL*3**5
AK5*E*5
AK9*E*2*1*1*5`), `
997  in set 0
  group 77 (SH 005010): accepted with errors (E)
    2, 1, 1
    716 5
  message 0001 (856 005010 UCC) in group 77: accepted with errors (E)
    720 5 at segment 3 HL
    718 5
  note answer-counts-differ at 6 AK9 2
`},
		{"999 with contexts", answerSet("999", "005010X231A1", `
AK1*HC*77*005010X222A1
AK2*837*0001*005010X222A1
IK3*CLM*22**8
CTX*CLM01:123456789
IK4*2*782*1
CTX*SITUATIONAL TRIGGER*CLM*43**5:3*C023:1325
IK5*R*I5
AK9*R*1*1*0`), `
999  in set 0
  group 77 (HC 005010X222A1): rejected (R)
    1, 1, 0
  message 0001 (837 005010 X222A1) in group 77: rejected (R)
    620 8 at segment 22 CLM, context CLM01 123456789
    621 1 at segment 22 CLM, element 2, data element 782, context SITUATIONAL TRIGGER CLM 43 5 3 C023 1325
    618 I5
`},
		{"AK5 is absent, the group decides", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK2*810*0002
AK9*A*2*2*2`), `
997  in set 0
  group 77 (IN): accepted (A)
    2, 2, 2
  message 0001 (810) in group 77: accepted ()
  message 0002 (810) in group 77: accepted ()
  warning answer-verdict-missing at 6 SE 0
`},
		{"AK5 is absent, and the group is accepted in part", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK2*810*0002
AK5*R*5
AK9*P*2*2*1`), `
997  in set 0
  group 77 (IN): partly accepted (P)
    2, 2, 1
  message 0001 (810) in group 77: unknown ()
  message 0002 (810) in group 77: rejected (R)
    718 5
  warning answer-verdict-missing at 7 SE 0
`},
		{"AK9 is absent", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK5*A`), `
997  in set 0
  group 77 (IN): unknown ()
  message 0001 (810) in group 77: accepted (A)
  error answer-verdict-missing at 5 SE 0
`},
		{"counts of AK9 disagree with what is named", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK5*A
AK2*810*0002
AK5*R*1
AK9*P*2*2*2`), `
997  in set 0
  group 77 (IN): partly accepted (P)
    2, 2, 2
  message 0001 (810) in group 77: accepted (A)
  message 0002 (810) in group 77: rejected (R)
    718 1
  warning answer-counts-differ at 7 AK9 4
`},
		{"a count that is none", answerSet("997", "004010", `
AK1*IN*77
AK9*A*X*2*3`), `
997  in set 0
  group 77 (IN): accepted (A)
  warning answer-counts-differ at 3 AK9 2
`},
		{"more accepted than received", answerSet("997", "004010", `
AK1*IN*77
AK9*A*2*2*3`), `
997  in set 0
  group 77 (IN): accepted (A)
    2, 2, 3
  warning answer-counts-differ at 3 AK9 4
`},
		{"more named than received", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK5*A
AK2*810*0002
AK5*A
AK9*A*1*1*1`), `
997  in set 0
  group 77 (IN): accepted (A)
    1, 1, 1
  message 0001 (810) in group 77: accepted (A)
  message 0002 (810) in group 77: accepted (A)
  warning answer-counts-differ at 7 AK9 3
`},
		{"an accepted group that does not count all as accepted, and a rejected one that does", answerSet("997", "004010", `
AK1*IN*77
AK9*A*2*2*1
AK1*IN*78
AK9*R*2*2*2`), `
997  in set 0
  group 77 (IN): accepted (A)
    2, 2, 1
  group 78 (IN): rejected (R)
    2, 2, 2
  warning answer-counts-differ at 3 AK9 4
  warning answer-out-of-order at 4 AK1 0
  warning answer-counts-differ at 5 AK9 4
`},
		{"verdicts that contradict each other", answerSet("997", "004010", `
AK1*IN*77
AK2*810*0001
AK3*BIG*2**7
AK5*A
AK2*810*0002
AK5*R
AK9*A*2*2*1`), `
997  in set 0
  group 77 (IN): accepted (A)
    2, 2, 1
  message 0001 (810) in group 77: accepted (A)
    720 7 at segment 2 BIG
  message 0002 (810) in group 77: rejected (R)
  warning answer-contradicts-itself at 5 AK5 1
  error answer-contradicts-itself at 8 AK9 1
  warning answer-counts-differ at 8 AK9 4
`},
		{"segments out of order, positions that are none", answerSet("997", "004010", `
AK5*A
AK2*810*0001
AK4*A*1*1
AK3*IT1*X**5
AK5*Q
AK1*IN
AK9*
AK9*A`), `
997  in set 0
  message 0001 (810): unknown (Q)
    723 1 at data element 1
    720 5 at IT1
  group (IN): unknown ()
  warning answer-out-of-order at 2 AK5 0
  error answer-out-of-order at 3 AK2 0
  warning answer-out-of-order at 4 AK4 0
  warning answer-position-invalid at 4 AK4 1
  warning answer-position-invalid at 5 AK3 2
  error answer-verdict-unknown at 6 AK5 1
  error answer-subject-missing at 7 AK1 2
  error answer-verdict-missing at 8 AK9 1
  warning answer-counts-differ at 8 AK9 2
  warning answer-counts-differ at 8 AK9 3
  warning answer-counts-differ at 8 AK9 4
  warning answer-out-of-order at 9 AK9 0
`},
		{"nothing is in it", answerSet("997", "004010", `B1*X`), `
997  in set 0
  error answer-subject-missing at 1 ST 0
`},
		{"its own set has errors", strings.Replace(answerSet("997", "004010", "AK1*IN*77\nAK9*A*1*1*1"), "SE*4", "SE*5", 1), `
997  in set 0
  group 77 (IN): accepted (A)
    1, 1, 1
  error answer-refused at 1 ST 0
`},
		{"what is no answer is passed over", good(), "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnswersOf824(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an invoice is rejected, another accepted with a change", answerSet("824", "004010", `
BGN*11*AD824*20261130
N1*FR*Talquist
OTI*TR*IV*R4711*TALQ*NORD*20261129*0900*77*0001*810*004010
REF*PO*4500001
TED*007*missing buyer number*N1*5*4*67
NTE**call us
TED*848**IT1*9*4*212*1,50*1.50
OTI*TC*IV*R4712*****77*0002*810`), `
824 AD824 in set 0
  message 0001 (810 004010) in group 77, IV R4711 of 20261129, PO 4500001: rejected (TR)
    647 007 at segment 5 N1, element 4, data element 67 — missing buyer number call us
    647 848 at segment 9 IT1, element 4, data element 212, which was "1,50", read as "1.50"
  message 0002 (810) in group 77, IV R4712: accepted with errors (TC)
`},
		{"a group, a batch and an item", answerSet("824", "005010", `
BGN*11*AD825*20261130
OTI*GP*TN*X*****77
OTI*BR*BT*B1
NTE*ADD*whole batch
OTI*IA*IV*R4711`), `
824 AD825 in set 0
  group 77, TN X: partly accepted (GP)
  document BT B1: rejected (BR)
    “whole batch”
  document IV R4711: accepted (IA)
`},
		{"industry codes", answerSet("824", "005010", `
BGN*11*AD826*20261130
OTI*TE*IV*R4711
TED*024
CTX*SITUATIONAL TRIGGER*N1
REF*LI*2
RED*wrong tax**94**IBP*E37
LQ*65*K27`), `
824 AD826 in set 0
  document IV R4711: accepted with errors (TE)
    647 024 at LI 2, context SITUATIONAL TRIGGER N1
    1271 E37 (IBP) — wrong tax
    1271 K27 (65)
`},
		{"no OTI", answerSet("824", "004010", `BGN*11*AD827*20261130`), `
824 AD827 in set 0
  error answer-subject-missing at 1 ST 0
`},
		{"an OTI that names nothing and says nothing, and one that says what there is not", answerSet("824", "004010", `
BGN*11*AD828*20261130
OTI
OTI*ZZ*IV*R4711
OTI*TA*IV*R4712
TED*024`), `
824 AD828 in set 0
  document: unknown ()
  document IV R4711: unknown (ZZ)
  document IV R4712: accepted (TA)
    647 024
  error answer-verdict-missing at 3 OTI 1
  error answer-subject-missing at 3 OTI 3
  error answer-verdict-unknown at 4 OTI 1
  warning answer-contradicts-itself at 6 TED 1
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnswersOfOurOwn(t *testing.T) {
	// What we write is read as what we meant.
	text := interchange(group("77", invoice("0001"), set("810", "0002", "BIG*20261129*2", "TDS*1")))
	ic := read(t, Reader{}, text)
	for _, c := range []struct {
		name string
		a    edi.Acknowledgement
		want string
	}{
		{"997", edi.Acknowledgement{Action: edi.ActionAcknowledged, Messages: []edi.MessageAnswer{{Index: 1, Action: edi.ActionRejected, Errors: []*edi.Error{
			{Code: "x", Standard: "6", Severity: edi.SeverityError, Location: edi.Location{Segment: 3, Tag: "TDS", Element: 1}, Number: "610", Value: "1"}}}}}, `
997  in set 0
  group 77 (IN): partly accepted (P)
    2, 2, 1
  message 0001 (810) in group 77: accepted (A)
  message 0002 (810) in group 77: rejected (R)
    720 8 at segment 3 TDS
    723 6 at segment 3 TDS, element 1, data element 610, which was "1"
    718 5
`},
		{"TA1", edi.Acknowledgement{Action: edi.ActionRejected, Errors: []*edi.Error{{Code: "duplicate-reference", Severity: edi.SeverityError}}}, `
TA1  in set -1
  interchange 000000116: rejected (R)
    I18 025
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.a.Reference, c.a.Prepared = "5", time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
			_, content, err := Acknowledge(ic, c.a)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want[1:], told(t, Reader{}, string(content))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnswersOfASpool(t *testing.T) {
	// TA1 are handed out one by one, whatever their number, wherever a read ends.
	const n = 2_000
	text := header00401 + strings.Repeat("TA1*000000099*261128*0900*A*000~", n) + "IEA*0*000000116~"
	path := filepath.Join(t.TempDir(), "spool")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{1, 33, 4096} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p := edi.File(f, int64(len(text)))
		r := Reader{chunk: chunk}
		ic, err := r.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		got := 0
		if err := r.Answers(p, ic, func(a edi.Answer) error {
			if got++; a.Location.Segment != got+1 || a.Location.Offset != int64(len(header00401)+32*(got-1)) {
				t.Fatalf("%d at %v", got, a.Location)
			}
			return nil
		}); err != nil || got != n {
			t.Fatalf("%d answers, %v", got, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnswersToIdentifiersThatHoldADelimiter(t *testing.T) {
	text := strings.Replace(strings.Replace(good(), "TALQUIST       *ZZ", "TAL>~QUIST     *ZZ", 1), "~GS", "\nGS", 1)
	text = text[:105] + "\n" + strings.ReplaceAll(text[106:], "~", "\n")
	ic := read(t, Reader{}, text)
	_, content, err := Acknowledge(ic, edi.Acknowledgement{Reference: "5", Prepared: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Action: edi.ActionReceived, TA1: "always"})
	if err != nil {
		t.Fatal(err)
	}
	if back := read(t, Reader{}, string(content)); back.Recipient != ic.Sender || ic.Sender.ID != "TAL>~QUIST" {
		t.Errorf("from %v, answered to %v:\n%q", ic.Sender, back.Recipient, content)
	}
}
