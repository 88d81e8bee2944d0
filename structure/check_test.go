package structure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

var (
	edifactDelimiters = edi.Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Terminator: '\''}
	x12Delimiters     = edi.Delimiters{Component: '>', Element: '*', Repetition: '^', Terminator: '~'}
)

// typed is a message of this type: "INVOIC D 96A", "810 004010".
func typed(name string) (syntax string, t *edi.MessageType, d edi.Delimiters) {
	w := strings.Fields(name)
	if len(w) == 2 {
		return "x12", &edi.MessageType{Type: w[0], Release: w[1]}, x12Delimiters
	}
	t = &edi.MessageType{Type: w[0], Version: w[1], Release: w[2], Agency: "UN"}
	if len(w) > 3 {
		t.AssociationCode = w[3]
	}
	return "edifact", t, edifactDelimiters
}

// check gives the findings of a message: "13 segment 3 DTM", "37 segment 4 QTY 1.2".
func findings(t *testing.T, tables *Tables, name, text string) (list []string) {
	t.Helper()
	syntax, mt, d := typed(name)
	b := edi.NewBody([]byte(text), 0, 1, d, nil)
	ic := &edi.Interchange{Syntax: syntax, Messages: []edi.Message{{Type: mt}}}
	for _, e := range tables.Check(ic, 0, b, edi.SeverityError, "") {
		list = append(list, said(e))
	}
	return list
}

func said(e *edi.Error) string {
	s := fmt.Sprintf("%s %s %d %s", e.Standard, e.Code, e.Segment, e.Tag)
	for _, n := range []int{e.Element, e.Component} {
		if n > 0 {
			s += fmt.Sprintf(" %d", n)
		}
	}
	if e.Repetition > 0 {
		s += fmt.Sprintf(" rep %d", e.Repetition)
	}
	return s
}

func builtInTables(t *testing.T) *Tables {
	t.Helper()
	tables, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestWhatIsWrong(t *testing.T) {
	tables := builtInTables(t)
	const header = "UNH+1+INVOIC:D:96A:UN'BGM+380+1+9'DTM+137:20260102:102'"
	const line = "LIN+1++4000000000013:EN'QTY+47:1'MOA+203:10.00'"
	const end = "UNS+S'MOA+77:10'UNT+9+1'"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", header + "RFF+ON:1'DTM+171:20260101:102'NAD+SU+1::9'NAD+BY+2::9'CTA+IC+:A'COM+1:TE'" + line + end, nil},
		{"a text behind the references", header + "RFF+ON:1'FTX+AAI+++x'" + line + end,
			[]string{"15 segment-out-of-order 5 FTX"}},
		{"a communication number without its contact", header + "NAD+SU+1::9'COM+1:TE'" + line + end,
			[]string{"13 segment-missing 4 CTA"}},
		{"no section control", header + line + "CNT+2:1'MOA+77:10'UNT+8+1'",
			[]string{"13 segment-missing 6 UNS"}},
		{"an amount too many in a tax group does not end the lines", header + line +
			"TAX+7+VAT+++:::19'MOA+124:1'MOA+125:1'" + line + end, []string{"35 segment-repeats 9 MOA"}},
		{"segments that no invoice has", header + "CPS+1'PCI'ZZZ+1'" + line + end,
			[]string{"15 segment-foreign 4 CPS", "13 segment-missing 4 PAC", "15 segment-foreign 6 ZZZ"}},
		{"elements", "UNH+1+INVOIC:D:96A:UN'BGM+380::::x:y+1234567890123456789012345678901234567+9+AB+1+2'DTM+:20260102:1022'" +
			"LIN+x++4000000000013:EN'QTY+47'QTY+47:1.234,5'QTY+47:.5'QTY+47:-1234567890.12345'" + end, []string{
			"16 component-surplus 2 BGM 1 5", "39 element-too-long 2 BGM 2", "16 element-surplus 2 BGM 5",
			"13 element-missing 3 DTM 1 1", "39 element-too-long 3 DTM 1 3", "37 element-characters 4 LIN 1",
			"13 element-missing 5 QTY 1 2", "19 element-number 6 QTY 1 2", "38 element-number 7 QTY 1 2"}},
		{"a release character is no digit of a number", header + "LIN+?1++4000000000013:EN'QTY+47:1?.5'MOA+203:1?A'" + end,
			[]string{"37 element-characters 6 MOA 1 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, tables, "INVOIC D 96A", c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOneFaultIsOneFinding(t *testing.T) {
	const guide = `syntax x12
directory 004010
message 834
  BGN M 1
  group 2000 M *
    INS M 1
    REF M 1
    DTP O 1
    NM1 O 1
  end
end
`
	tables, err := builtInTables(t).With("guide.txt", strings.NewReader(guide))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"in order", "INS~REF*SY*1~NM1~INS~REF*SY*1", nil},
		{"a later segment of a loop before all that it follows", "NM1~INS~REF*SY*1", []string{"3 segment-missing 3 INS"}},
		{"a loop of which the last segment is left", "NM1", []string{"3 segment-missing 3 INS"}},
		{"a loop without the one that is mandatory", "INS~NM1", []string{"3 segment-missing 4 REF"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, tables, "834 004010", "ST*834*1~BGN~"+c.text+"~SE*5*1~")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReleasedCharactersAreCounted(t *testing.T) {
	const guide = `syntax edifact
directory D 96A
message SHORT
  BGM M 1
end
segment BGM 1!
element 1 an2
`
	tables, err := builtInTables(t).With("guide.txt", strings.NewReader(guide))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string][]string{
		"AB":   nil,
		"?A?B": nil,
		"????": nil,
		"?A":   {"40 element-too-short 2 BGM 1"},
		"??":   {"40 element-too-short 2 BGM 1"},
		"A?BC": {"39 element-too-long 2 BGM 1"},
	} {
		if diff := cmp.Diff(want, findings(t, tables, "SHORT D 96A", "UNH+1+SHORT:D:96A:UN'BGM+"+value+"'UNT+3+1'")); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
}
