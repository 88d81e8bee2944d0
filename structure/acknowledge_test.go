package structure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/structure"
	"github.com/edigw/edigw/x12"
)

var prepared = time.Date(2026, 11, 29, 10, 30, 0, 0, time.UTC)

// answered reads the one message of an interchange with structure refused, and
// gives what a partner is told.
func answered(t *testing.T, text string) string {
	t.Helper()
	tables, err := structure.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	check := tables.Checker(edi.Tolerance{Structure: edi.StructureRefused})
	p := edi.Bytes([]byte(text))
	type reader interface {
		Split(*edi.Payload, int64) (*edi.Interchange, error)
		Scan(*edi.Payload, *edi.Interchange, func(int, *edi.Body) error) error
	}
	var r reader = edifact.Reader{Check: check}
	acknowledge := edifact.Acknowledge
	if strings.HasPrefix(text, "ISA") {
		r, acknowledge = x12.Reader{Check: check}, x12.Acknowledge
	}
	ic, err := r.Split(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Scan(p, ic, nil); err != nil {
		t.Fatal(err)
	}
	a := edi.Acknowledgement{Reference: "7", Prepared: prepared, Action: edi.ActionAcknowledged}
	if ic.Refused(0) {
		a.Messages = []edi.MessageAnswer{{Index: 0, Action: edi.ActionRejected, Errors: ic.MessageErrors[0]}}
	}
	_, content, err := acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestWhatAPartnerIsTold(t *testing.T) {
	const unb, unz = "UNB+UNOC:3+A+B+261128:0914+1'", "UNZ+1+1'"
	for _, c := range []struct{ name, text, want string }{
		{"CONTRL of segments and elements",
			unb + "UNH+1+INVOIC:D:96A:UN'BGM+380+RE-1+9'RFF+ON:1'" + // no DTM
				"NAD+SU+1::9'COM+1:TE'" + // no CTA
				"LIN+1'FTX+AAI+++x'QTY+47:1,000.5:PCE:X'MOA+203:10'" + // QTY behind FTX, no number, a component too many
				"UNS+S'MOA+77:10'UNT+12+1'" + unz,
			"UCM+1+INVOIC:D:96A:UN+4'UCS+2+13'UCS+4+13'UCS+8+15'UCD+19+2:2'UCD+16+2:4'"},
		{"CONTRL of maxima",
			unb + "UNH+1+INVOIC:D:96A:UN'BGM+380+RE-1+9'DTM+137:20261128:102'IMD+F'IMD+F'" +
				"LIN+1'QTY+47:1'MOA+203:1'MOA+203:1'MOA+203:1'MOA+203:1'MOA+203:1'MOA+203:1'UNS+S'MOA+77:1'UNT+16+1'" + unz,
			"UCM+1+INVOIC:D:96A:UN+4'UCS+5+35'UCS+13+36'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answered(t, c.text)
			if from := strings.Index(got, "UCM"); from > 0 {
				got = got[from:strings.Index(got, "UNT")]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	const isa = "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *261128*0914*U*00401*000000001*0*P*>~GS*IN*SENDER*RECEIVER*20261128*0914*1*X*004010~"
	const iea = "GE*1*1~IEA*1*000000001~"
	for _, c := range []struct{ name, text, want string }{
		{"997 of segments and elements",
			isa + "ST*810*0001~BIG*20261131*R-1~N1*ST~IT1**X*EA*1.25~PID*F****A~ZZ*1~IT1**1*EA~SE*8*0001~" + iea, // no TDS
			"AK2*810*0001~AK3*BIG*2**8~AK4*1*373*8*20261131~AK3*N1*3*N1*8~AK4*2*93*2~AK3*IT1*4*IT1*8~AK4*2*358*6*X~AK3*ZZ*6**6~" +
				"AK3*IT1*7*IT1*8~AK4*4*212*2~AK3*TDS*8**3~AK5*R*5~"},
		{"997 of maxima",
			isa + "ST*810*0001~BIG*20261128*R-1~CUR*BY*USD~CUR*BY*USD~TDS*100~ISS*1*EA~SE*7*0001~" + iea,
			"AK2*810*0001~AK3*CUR*4**5~AK5*R*5~"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answered(t, c.text)
			if from := strings.Index(got, "AK2"); from > 0 {
				got = got[from:strings.Index(got, "AK9")]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
