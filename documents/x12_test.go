package documents

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// invoice810 is an 810 of one line, with changes: old, new.
func invoice810(t testing.TB, pairs ...string) []byte {
	t.Helper()
	return change(t, []byte("ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*U*00401*000000116*0*P*>~"+
		"GS*IN*TALQUIST*NORDHAFEN*20261129*1015*116*X*004010~ST*810*0001~BIG*20261127*INV-1*20261101*PO-7734~N1*SU*TALQUIST WORKS*UL*9520001000010~"+
		"DTM*011*20261126~IT1*1*10*EA*10.00**VN*TQ-100~TDS*10000~CTT*1~SE*8*0001~GE*1*116~IEA*1*000000116~"), pairs...)
}

// notice856 is an 856 of one line.
func notice856(t testing.TB, pairs ...string) []byte {
	t.Helper()
	return change(t, []byte("ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*U*00401*000000116*0*P*>~"+
		"GS*SH*TALQUIST*NORDHAFEN*20261129*1015*116*X*004010~ST*856*0001~BSN*00*SHP-1*20261126*1430*0001~HL*1**S~HL*2*1*O~PRF*PO-1~HL*3*2*I~"+
		"LIN*1*VN*TQ-100~SN1*1*10*EA~CTT*3~SE*10*0001~GE*1*116~IEA*1*000000116~"), pairs...)
}

func TestNumbersX12(t *testing.T) {
	for name, c := range map[string]struct {
		pairs  []string
		total  string // payable
		price  string
		failed string // standard and code, of an error
	}{
		"two decimals are implied":                   {nil, "100.00", "10.00", ""},
		"of few digits too":                          {[]string{"TDS*10000", "TDS*5", "10.00", "0.005"}, "0.05", "0.005", ""},
		"and below zero":                             {[]string{"TDS*10000", "TDS*-12050", "10.00", "-12.05"}, "-120.50", "-12.05", ""},
		"type R has none":                            {[]string{"10.00", "10"}, "100.00", "10", ""},
		"an exponent":                                {[]string{"10.00", "1E1"}, "100.00", "10", ""},
		"a point in N2 is refused":                   {[]string{"TDS*10000", "TDS*100.00"}, "", "", "6 invalid-number"},
		"a comma is no decimal point":                {[]string{"10.00", "1,000"}, "", "", "6 invalid-number"},
		"letters":                                    {[]string{"10.00", "TEN"}, "", "", "6 invalid-number"},
		"a plus sign":                                {[]string{"10.00", "+10"}, "", "", "6 invalid-number"},
		"an exponent that makes it too long":         {[]string{"10.00", "10.5E34"}, "", "", "6 invalid-number"},
		"one that makes it too small":                {[]string{"10.00", "1E-35"}, "", "", "6 invalid-number"},
		"an exponent beyond measure":                 {[]string{"10.00", "1E999999999"}, "", "", "6 invalid-number"},
		"a date that is none":                        {[]string{"BIG*20261127", "BIG*20261131"}, "", "", "8 invalid-date"},
		"a date of another length":                   {[]string{"BIG*20261127", "BIG*2026"}, "", "", "8 invalid-date"},
		"no number":                                  {[]string{"INV-1", ""}, "", "", "1 document-number-missing"},
		"no BIG":                                     {[]string{"BIG*20261127*INV-1*20261101*PO-7734~", "", "SE*8", "SE*7"}, "", "", "3 big-missing"},
		"a number of more than 35 characters":        {[]string{"INV-1", strings.Repeat("9", 36)}, "", "", "5 document-number-too-long"},
		"a discount's amount with a point (ITD08)":   {[]string{"DTM*011*20261126", "ITD*01*3*2*****1.50"}, "", "", "6 invalid-number"},
		"an allowance's amount with a point (SAC05)": {[]string{"CTT*1", "SAC*A*C310***1.00~CTT*1", "SE*8", "SE*9"}, "", "", "6 invalid-number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, all := read(t, invoice810(t, c.pairs...))
			got := all[0]
			if c.failed != "" {
				if got.doc != nil || got.errs[0].Standard+" "+got.errs[0].Code != c.failed {
					t.Errorf("got %v, want %s", got.errs, c.failed)
				}
				return
			}
			if got.doc == nil {
				t.Fatalf("refused: %v", got.errs)
			}
			if got.doc.Totals.Payable.String() != c.total || got.doc.Lines[0].Price.String() != c.price {
				t.Errorf("%s at %s, want %s at %s", got.doc.Totals.Payable, got.doc.Lines[0].Price, c.total, c.price)
			}
		})
	}
}

func TestFindingsX12(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		want []string
	}{
		"a sound invoice":             {invoice810(t), []string{}},
		"a sound notice":              {notice856(t), []string{}},
		"BIG01 without its century":   {invoice810(t, "BIG*20261127", "BIG*261127"), []string{"warning date-format"}},
		"before 004010 it has none":   {invoice810(t, "BIG*20261127", "BIG*261127", "X*004010", "X*003060"), []string{}},
		"a total that is none":        {invoice810(t, "TDS*10000", "TDS*10100"), []string{"warning invoice-total"}},
		"by a freight charge it is":   {invoice810(t, "TDS*10000", "TDS*10100", "CTT*1", "SAC*C*D240***100~CTT*1", "SE*8", "SE*9"), []string{}},
		"a freight charge said twice": {invoice810(t, "TDS*10000~", "SAC*C*D240***100~TDS*10100~SAC*C*D240***100~", "SE*8", "SE*10"), []string{}},
		"and by a tax":                {invoice810(t, "TDS*10000~", "TDS*10100~TXI*ST*1.00~", "SE*8", "SE*9"), []string{}},
		"CTT01":                       {invoice810(t, "CTT*1", "CTT*2"), []string{"warning line-count"}},
		"an unknown type":             {invoice810(t, "PO-7734", "PO-7734***ZZ"), []string{"warning type-unknown"}},
		"a request for credit":        {invoice810(t, "PO-7734", "PO-7734***RA"), []string{"warning type-unknown"}},
		"and below zero":              {invoice810(t, "PO-7734", "PO-7734***RA", "TDS*10000", "TDS*-10000", "*10*EA", "*-10*EA"), []string{"warning type-unknown", "warning negative-total"}},
		"an invoice below zero":       {invoice810(t, "TDS*10000", "TDS*-10000", "*10*EA", "*-10*EA"), []string{"note negative-total"}},
		"a credit memo below zero":    {invoice810(t, "PO-7734", "PO-7734***CG", "TDS*10000", "TDS*-10000", "*10*EA", "*-10*EA"), []string{"warning negative-total"}},
		"an unknown purpose":          {invoice810(t, "PO-7734", "PO-7734****38"), []string{"warning function-unknown"}},
		"part of an invoice":          {invoice810(t, "PO-7734", "PO-7734****04"), []string{"warning partial-function"}},
		"CTT01 counts items":          {notice856(t, "CTT*3", "CTT*1"), []string{}},
		"CTT01 counts nothing":        {notice856(t, "CTT*3", "CTT*7"), []string{"warning line-count"}},
		"HL02 is missing":             {notice856(t, "HL*3*2*I", "HL*3**I"), []string{"warning level-parent"}},
		"HL02 points forward":         {notice856(t, "HL*2*1*O", "HL*2*3*O"), []string{"warning level-parent"}},
		"a level of its own parent":   {notice856(t, "HL*2*1*O", "HL*2*2*O"), []string{"warning level-parent"}},
		"HL01 twice":                  {notice856(t, "HL*3*2*I", "HL*1*2*I"), []string{"warning level-repeated"}},
		"HL03 is missing":             {notice856(t, "HL*2*1*O", "HL*2*1"), []string{"warning level-kind"}},
		"a time that is none":         {notice856(t, "*1430*", "*2530*"), []string{"warning invalid-time"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := single(t, c.text)
			if d := cmp.Diff(c.want, codes(errs)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("a line whose HL02 is missing has its order all the same", func(t *testing.T) {
		d, _ := single(t, notice856(t, "HL*3*2*I", "HL*3**I"))
		if d.Lines[0].OrderReference != "PO-1" {
			t.Errorf("got %+v", d.Lines[0])
		}
	})
}

func TestGuardX12(t *testing.T) {
	base, _ := single(t, invoice810(t))
	notice, _ := single(t, notice856(t))
	for _, c := range []struct {
		name          string
		of            *Document
		text          []byte
		key, content  bool // same
		saveForNumber bool // ContentWithoutNumberAndDate is the same
	}{
		{"another copy", base, invoice810(t), true, true, true},
		{"control numbers", base, invoice810(t, "ST*810*0001", "ST*810*0009", "SE*8*0001", "SE*8*0009", "*116*X", "*7*X", "GE*1*116", "GE*1*7"), true, true, true},
		{"said to be an original", base, invoice810(t, "PO-7734", "PO-7734****00"), true, true, true},
		{"said to be a duplicate", base, invoice810(t, "PO-7734", "PO-7734****07"), true, true, true},
		{"said to replace", base, invoice810(t, "PO-7734", "PO-7734****05"), true, false, false},
		{"another number", base, invoice810(t, "INV-1", "INV-2"), false, false, true},
		{"another day", base, invoice810(t, "20261127", "20261128"), true, false, true},
		{"another total", base, invoice810(t, "TDS*10000", "TDS*10001"), true, false, false},
		{"a credit memo", base, invoice810(t, "PO-7734", "PO-7734***CR"), false, false, false},
		{"another supplier", base, invoice810(t, "9520001000010", "9520001000027"), false, false, false},
		{"written with other delimiters", base, []byte(strings.NewReplacer("*", "|", ">", ":", "~", "\n").Replace(string(invoice810(t)))), true, true, true},
		{"a notice made at another time", notice, notice856(t, "*20261126*1430*", "*20261127*0900*"), true, true, true},
		{"a notice of another quantity", notice, notice856(t, "SN1*1*10", "SN1*1*11"), true, false, false},
		{"a notice of another number", notice, notice856(t, "SHP-1", "SHP-2"), false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := single(t, c.text)
			if same := d.GuardKey() == c.of.GuardKey(); same != c.key {
				t.Errorf("same key: %v", same)
			}
			if same := d.GuardContent() == c.of.GuardContent(); same != c.content {
				t.Errorf("same content: %v", same)
			}
			if same := d.ContentWithoutNumberAndDate() == c.of.ContentWithoutNumberAndDate(); same != c.saveForNumber {
				t.Errorf("same but for number and date: %v", same)
			}
		})
	}
	for purpose, want := range map[string]Revision{"": RevisionOriginal, "00": RevisionOriginal, "01": RevisionCancel, "05": RevisionReplace, "07": RevisionCopy, "04": RevisionPartial, "17": RevisionCancel, "18": RevisionReplace, "20": RevisionOriginal} {
		d, _ := single(t, invoice810(t, "PO-7734", "PO-7734****"+purpose))
		if d.Revision() != want {
			t.Errorf("purpose %q is %s, want %s", purpose, d.Revision(), want)
		}
	}
}
