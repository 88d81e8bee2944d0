package structure

import (
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// benchInvoice is a sound INVOIC D.96A of n lines.
func benchInvoice(n int) string {
	var b strings.Builder
	b.WriteString("UNH+1+INVOIC:D:96A:UN'BGM+380+RE-1001+9'DTM+137:20261128:102'RFF+ON:BE-55012'DTM+171:20261101:102'" +
		"NAD+SU+4000001000005::9++Papierwerk Lindau GmbH+Seeufer 12+Lindau++88131+DE'RFF+VA:DE999999999'NAD+BY+4000002000004::9'CUX+2:EUR:4'PAT+1'DTM+13:20261228:102'")
	for range n {
		b.WriteString("LIN+1++4000000000013:EN'PIA+1+4711:SA'IMD+F++:::Schraube M8 40 verzinkt'QTY+47:12:PCE'MOA+203:148.80'PRI+AAA:12.40'TAX+7+VAT+++:::19+S'")
	}
	b.WriteString("UNS+S'CNT+2:1'MOA+77:177.07'TAX+7+VAT+++:::19+S'MOA+124:28.27'UNT+9+1'")
	return b.String()
}

func bench810(n int) string {
	var b strings.Builder
	b.WriteString("ST*810*0001~BIG*20261128*R-1001*20261101*PO-1~CUR*SE*USD~REF*IA*4711~N1*ST*Sample Snacks Port*9*1223334445~N3*1000 N. Sample Highway~N4*Athens*GA*30603~ITD*01*3*2**30**60~")
	for range n {
		b.WriteString("IT1*1*12*EA*1.25**UP*123456789012*VN*4711~TXI*ST*0.08*8~PID*F****Salted crackers~REF*LT*1~SAC*C*D240***100~")
	}
	b.WriteString("TDS*1500~CTT*1~SE*9*0001~")
	return b.String()
}

func judged(t testing.TB, name, text string) (*Tables, *edi.Interchange, *edi.Body) {
	tables, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	syntax, m, d := typed(name)
	b := edi.NewBody([]byte(text), 0, 1, d, nil)
	ic := &edi.Interchange{Syntax: syntax, Messages: []edi.Message{{Type: m}}}
	for _, e := range tables.Check(ic, 0, b, edi.SeverityError, "") {
		t.Fatal(e)
	}
	return tables, ic, b
}

func TestASoundMessageCostsNoAllocation(t *testing.T) {
	for name, text := range map[string]string{"INVOIC D 96A": benchInvoice(100), "810 004010": bench810(100)} {
		tables, ic, b := judged(t, name, text)
		if n := testing.AllocsPerRun(20, func() { tables.Check(ic, 0, b, edi.SeverityError, "") }); n >= 1+float64(b.Len())/100 {
			t.Errorf("%s: %v allocations for %d segments", name, n, b.Len())
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct{ name, as, text string }{{"edifact", "INVOIC D 96A", benchInvoice(1000)}, {"x12", "810 004010", bench810(1000)}} {
		b.Run(c.name, func(b *testing.B) {
			tables, ic, body := judged(b, c.as, c.text)
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				tables.Check(ic, 0, body, edi.SeverityError, "")
			}
		})
	}
}
