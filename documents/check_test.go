package documents

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/edi"
)

// summed is an INVOIC of two rates with an allowance and a charge, in which everything
// adds up, with changes: old, new.
func summed(t testing.TB, pairs ...string) []byte {
	t.Helper()
	text := "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'" +
		"UNH+1+INVOIC:D:01B:UN:EAN010'BGM+380+RG-7+9'DTM+137:20261127:102'DTM+35:20261120:102'RFF+ON:BE-1'NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'" +
		"CUX+2:EUR:4'PAT+1'DTM+13:20261227:102'" +
		"ALC+A+:::95'MOA+204:10.00'TAX+7+VAT+++:::19+S'ALC+C+:::FC'MOA+23:5.00'TAX+7+VAT+++:::19+S'" +
		"LIN+1++9520000001018:SRV'QTY+47:10:PCE'MOA+203:100.00'PRI+AAA:10.00'TAX+7+VAT+++:::19+S'" +
		"LIN+2++9520000001025:SRV'QTY+47:4:KGM'MOA+203:20.00'PRI+AAA:500.00:::100:KGM'TAX+7+VAT+++:::7+S'" +
		"UNS+S'CNT+2:2'MOA+79:120.00'MOA+260:10.00'MOA+259:5.00'MOA+125:115.00'MOA+176:19.45'MOA+77:134.45'MOA+113:34.00'MOA+366:0.05'MOA+9:100.50'" +
		"TAX+7+VAT+++:::19+S'MOA+125:95.00'MOA+124:18.05'TAX+7+VAT+++:::7+S'MOA+125:20.00'MOA+124:1.40'UNT+99+1'UNZ+1+REF1'"
	return counted(change(t, []byte(text), pairs...))
}

// despatched is a DESADV of two pallets with a line in each, with changes: old, new.
func despatched(t testing.TB, pairs ...string) []byte {
	t.Helper()
	text := "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'" +
		"UNH+1+DESADV:D:96A:UN:EAN005'BGM+351+LS-1+9'DTM+137:20261127:102'DTM+11:20261128:102'DTM+17:20261129:102'RFF+ON:BE-1'NAD+SU+9520001000010::9'NAD+DP+9520002000774::9'" +
		"CPS+1'CPS+2+1'PAC+1++201::9'PCI+33E'GIN+BJ+095200000004410014'LIN+1++9520000001018:EN'QTY+12:48'DTM+361:20270601:102'" +
		"CPS+3+1'PAC+1++201::9'PCI+33E'GIN+BJ+095200000004410021'LIN+2++9520000001025:EN'QTY+12:24'CNT+2:2'UNT+99+1'UNZ+1+REF1'"
	return counted(change(t, []byte(text), pairs...))
}

// counted sets 0074 of a single message.
func counted(text []byte) []byte {
	from, to := bytes.Index(text, []byte("UNH")), bytes.Index(text, []byte("UNT"))
	return regexp.MustCompile(`UNT\+\d+`).ReplaceAll(text, fmt.Appendf(nil, "UNT+%d", bytes.Count(text[from:to], []byte("'"))+1))
}

// plain810 is an 810 whose only tax is said in TXI.
func plain810(t testing.TB, pairs ...string) []byte {
	t.Helper()
	return invoice810(t, append([]string{"TDS*10000~", "TDS*10700~TXI*ST*7.00*7*****100~", "SE*8", "SE*9"}, pairs...)...)
}

// firing has, for each code, messages in which it is found, and some that are near to
// them in which it is not.
var firing = []struct {
	code  string
	found func(t testing.TB) map[string][]byte
	quiet func(t testing.TB) map[string][]byte
}{
	{"bgm-missing", one("no BGM", func(t testing.TB) []byte { return summed(t, "BGM+380+RG-7+9'", "") }), allSound},
	{"big-missing", one("no BIG", func(t testing.TB) []byte {
		return invoice810(t, "BIG*20261127*INV-1*20261101*PO-7734~", "", "SE*8", "SE*7")
	}), allSound},
	{"bsn-missing", one("no BSN", func(t testing.TB) []byte {
		return notice856(t, "BSN*00*SHP-1*20261126*1430*0001~", "", "SE*10", "SE*9")
	}), allSound},
	{"document-number-missing", both("BGM", "RG-7", "", "INV-1", ""), allSound},
	{"document-number-too-long", both("BGM", "RG-7", strings.Repeat("7", 36), "INV-1", strings.Repeat("7", 36)),
		both("of 35", "RG-7", strings.Repeat("7", 35), "INV-1", strings.Repeat("7", 35))},
	{"invalid-number", both("letters", "MOA+203:100.00", "MOA+203:HUNDRED", "10.00", "TEN"), allSound},
	{"invalid-date", both("31 November", "DTM+137:20261127", "DTM+137:20261131", "BIG*20261127", "BIG*20261131"), allSound},
	{"bgm-repeated", one("twice", func(t testing.TB) []byte { return summed(t, "BGM+380+RG-7+9'", "BGM+380+RG-7+9'BGM+380+RG-8+9'") }), allSound},
	{"big-repeated", one("twice", func(t testing.TB) []byte {
		return invoice810(t, "N1*SU", "BIG*20261127*INV-2~N1*SU", "SE*8", "SE*9")
	}), allSound},
	{"bsn-repeated", one("twice", func(t testing.TB) []byte {
		return notice856(t, "HL*1**S", "BSN*00*SHP-2*20261126~HL*1**S", "SE*10", "SE*11")
	}), allSound},
	{"type-unknown", one("a request for credit", func(t testing.TB) []byte { return invoice810(t, "PO-7734", "PO-7734***RA") }),
		one("a credit", func(t testing.TB) []byte { return invoice810(t, "PO-7734", "PO-7734***CR") })},
	{"function-unknown", one("38", func(t testing.TB) []byte { return invoice810(t, "PO-7734", "PO-7734****38") }),
		one("00", func(t testing.TB) []byte { return invoice810(t, "PO-7734", "PO-7734****00") })},
	{"type-missing", one("no 1001", func(t testing.TB) []byte { return summed(t, "BGM+380", "BGM+") }), allSound},
	{"partial-function", both("4 and 04", "RG-7+9", "RG-7+4", "PO-7734", "PO-7734****04"), both("5 and 05", "RG-7+9", "RG-7+5", "PO-7734", "PO-7734****05")},
	{"date-empty", one("zeros", func(t testing.TB) []byte { return summed(t, "DTM+35:20261120", "DTM+35:00000000") }), allSound},
	{"date-format", both("six digits", "DTM+35:20261120", "DTM+35:261120", "BIG*20261127", "BIG*261127"), allSound},
	{"invalid-time", one("25:30", func(t testing.TB) []byte { return notice856(t, "*1430*", "*2530*") }), allSound},
	{"issue-date-missing", both("none", "DTM+137:20261127:102'", "", "BIG*20261127", "BIG*"), allSound},
	{"invalid-rate", one("a word", func(t testing.TB) []byte { return summed(t, "'TAX+7+VAT+++:::7+S'UNS", "'TAX+7+VAT+++:::LOW+S'UNS") }), allSound},
	{"total-repeated", both("twice", "MOA+77:134.45'", "MOA+77:134.45'MOA+77:134.46'", "CTT*1~SE*8", "TDS*1~CTT*1~SE*9"), allSound},
	{"line-count", both("three", "CNT+2:2", "CNT+2:3", "CTT*1", "CTT*3"), allSound},
	{"package-parent", one("of a package that is not there", func(t testing.TB) []byte { return despatched(t, "CPS+3+1", "CPS+3+9") }), allSound},
	{"package-order", one("a parent behind", func(t testing.TB) []byte { return despatched(t, "CPS+1'CPS+2+1'", "CPS+2+1'", "CNT+2", "CPS+1'CNT+2") }), allSound},
	{"package-repeated", one("twice", func(t testing.TB) []byte { return despatched(t, "CPS+3+1", "CPS+2+1") }), allSound},
	{"level-parent", one("none", func(t testing.TB) []byte { return notice856(t, "HL*3*2*I", "HL*3**I") }), allSound},
	{"level-order", one("a parent behind", func(t testing.TB) []byte {
		return notice856(t, "HL*1**S~HL*2*1*O~PRF*PO-1~", "HL*2*1*O~PRF*PO-1~HL*1**S~")
	}), allSound},
	{"level-repeated", one("twice", func(t testing.TB) []byte { return notice856(t, "HL*3*2*I", "HL*1*2*I") }), allSound},
	{"level-kind", one("empty", func(t testing.TB) []byte { return notice856(t, "HL*2*1*O", "HL*2*1") }), allSound},

	{"currency-missing", one("no CUX", func(t testing.TB) []byte { return summed(t, "CUX+2:EUR:4'", "") }), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"named with a total":           summed(t, "CUX+2:EUR:4'", "", "MOA+77:134.45", "MOA+77:134.45:EUR"),
			"an 810, where it is agreed":   invoice810(t),
			"a despatch advice has no use": despatched(t),
		}
	}},
	{"line-amount", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"another price":        summed(t, "PRI+AAA:10.00", "PRI+AAA:11.00"),
			"another basis":        summed(t, ":::100:KGM", ":::10:KGM"),
			"six cents":            summed(t, "PRI+AAA:10.00", "PRI+AAA:10.006"),
			"an allowance too few": summed(t, "PRI+AAA:10.00'", "PRI+AAA:12.00'ALC+A'MOA+204:10.00'"),
			"gross and per cent":   summed(t, "PRI+AAA:10.00'", "PRI+AAB:12.00'ALC+A'PCD+1:10'"),
			"an 810":               invoice810(t, "VN*TQ-100~", "VN*TQ-100~PAM****1*90~", "SE*8", "SE*9"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"five cents":                        summed(t, "PRI+AAA:10.00", "PRI+AAA:10.005"),
			"a price for another unit":          summed(t, "PRI+AAA:10.00'", "PRI+AAA:3.20:::1:KGM'"),
			"pieces under another code":         summed(t, "PRI+AAA:10.00'", "PRI+AAA:10.00:::1:C62'"),
			"with an allowance":                 summed(t, "PRI+AAA:10.00'", "PRI+AAA:12.00'ALC+A'MOA+204:20.00'"),
			"net of its allowance already":      summed(t, "PRI+AAA:10.00'", "PRI+AAA:10.00'ALC+A'MOA+204:20.00'"),
			"gross, with an allowance":          summed(t, "PRI+AAA:10.00'", "PRI+AAB:12.50'ALC+A'PCD+1:20'"),
			"an allowance of unknown worth":     summed(t, "PRI+AAA:10.00'", "PRI+AAA:12.00'ALC+A'"),
			"a discount of the price (MOA 509)": summed(t, "PRI+AAA:10.00'", "PRI+AAA:10.00'PRI+AAB:12.00'ALC+A'MOA+509:2.00'"),
			"an allowance that is billed back":  summed(t, "PRI+AAA:10.00'", "PRI+AAA:11.00'ALC+A++1'MOA+204:3.00'ALC+A++2'MOA+204:10.00'"),
			"two free among twelve":             summed(t, "QTY+47:10:PCE'", "QTY+47:12:PCE'QTY+192:2:PCE'"),
			"an 810 whose basis is not known":   invoice810(t, "10.00**VN*TQ-100~", "12.00*PN*VN*TQ-100~PAM****1*100~", "SE*8", "SE*9"),
			"an 810 per hundred":                invoice810(t, "10.00**VN*TQ-100~", "1000.00*HP*VN*TQ-100~PAM****1*100~", "SE*8", "SE*9"),
		}
	}},
	{"line-total", one("a cent more than the tolerance", func(t testing.TB) []byte { return summed(t, "MOA+79:120.00", "MOA+79:120.06") }), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"within it":                           summed(t, "MOA+79:120.00", "MOA+79:120.05"),
			"lines that detail others count once": summed(t, "UNS+S'CNT+2:2", "LIN+3++9520000001032:SRV+1:2'QTY+47:4'MOA+203:20.00'UNS+S'CNT+2:3"),
			"a line without an amount":            summed(t, "MOA+203:20.00'", ""),
		}
	}},
	{"allowance-total", one("listed 10.00", func(t testing.TB) []byte {
		return summed(t, "MOA+260:10.00", "MOA+260:11.00", "MOA+125:115.00", "MOA+125:114.00")
	}), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"with those of lines": summed(t, "MOA+260:10.00", "MOA+260:30.00", "PRI+AAA:10.00'", "PRI+AAA:12.00'ALC+A'MOA+204:20.00'"),
			"none is listed":      summed(t, "ALC+A+:::95'MOA+204:10.00'TAX+7+VAT+++:::19+S'ALC+C+:::FC'MOA+23:5.00'TAX+7+VAT+++:::19+S'", ""),
		}
	}},
	{"charge-total", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"listed 5.00": summed(t, "MOA+259:5.00", "MOA+259:6.00"),
			"both in one": summed(t, "MOA+260:10.00'MOA+259:5.00'", "MOA+131:7.00'"),
		}
	}, one("both in one", func(t testing.TB) []byte { return summed(t, "MOA+260:10.00'MOA+259:5.00'", "MOA+131:-5.00'") })},
	{"tax-exclusive-total", one("six cents", func(t testing.TB) []byte { return summed(t, "MOA+125:115.00", "MOA+125:115.06") }), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"five cents":               summed(t, "MOA+125:115.00", "MOA+125:115.05"),
			"by what is listed":        summed(t, "MOA+260:10.00'MOA+259:5.00'", ""),
			"a percentage of anything": summed(t, "MOA+260:10.00'MOA+259:5.00'", "", "MOA+204:10.00", "PCD+1:2.5", "MOA+125:115.00", "MOA+125:114.90"),
		}
	}},
	{"tax-basis", one("another rate's allowance", func(t testing.TB) []byte {
		return summed(t, "MOA+125:95.00'MOA+124:18.05", "MOA+125:105.00'MOA+124:19.95", "MOA+125:20.00'MOA+124:1.40", "MOA+125:10.00'MOA+124:0.70")
	}), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a line that does not say its rate": summed(t, "MOA+125:95.00'MOA+124:18.05", "MOA+125:75.00'MOA+124:14.25", "PRI+AAA:10.00'TAX+7+VAT+++:::19+S'", "PRI+AAA:10.00'"),
			"one rate in two parts":             summed(t, "MOA+125:95.00'MOA+124:18.05", "MOA+125:45.00'MOA+124:8.55'TAX+7+VAT+++:::19+S'MOA+125:50.00'MOA+124:9.50"),
		}
	}},
	{"tax-amount", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"of another rate":   summed(t, "MOA+124:18.05", "MOA+124:6.65"),
			"of an exempt part": summed(t, "TAX+7+VAT+++:::7+S'MOA+125:20.00'MOA+124:1.40", "TAX+7+VAT+++:::7+E'MOA+125:20.00'MOA+124:1.40"),
			"an 810":            plain810(t, "7.00*7*", "7.00*8*"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"rounded":                  summed(t, "MOA+124:18.05", "MOA+124:18.1"),
			"an 810":                   plain810(t),
			"an 810 with the fraction": plain810(t, "7.00*7*", "7.00*.07*"),
		}
	}},
	{"tax-total", one("ten cents", func(t testing.TB) []byte {
		return summed(t, "MOA+176:19.45", "MOA+176:19.55", "MOA+77:134.45", "MOA+77:134.55")
	}), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"five cents":                  summed(t, "MOA+176:19.45", "MOA+176:19.50"),
			"another tax beside":          summed(t, "UNT", "TAX+7+EXC'MOA+124:3.00'UNT"),
			"a tax that does not say its": summed(t, "MOA+124:1.40'", ""),
		}
	}},
	{"tax-inclusive-total", one("a hundred", func(t testing.TB) []byte {
		return summed(t, "MOA+77:134.45", "MOA+77:234.45", "MOA+9:100.50", "MOA+9:200.50")
	}), func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"five cents":          summed(t, "MOA+77:134.45", "MOA+77:134.50"),
			"no tax is said":      summed(t, "MOA+176:19.45'", "", "MOA+124:18.05'", "", "MOA+124:1.40'", ""),
			"what is not sent is": summed(t, "MOA+77:134.45'", ""),
		}
	}},
	{"invoice-total", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"an 810": invoice810(t, "TDS*10000", "TDS*10100"),
			"an INVOIC that says no other total": summed(t, "MOA+79:120.00'MOA+260:10.00'MOA+259:5.00'MOA+125:115.00'MOA+176:19.45'MOA+77:134.45'MOA+113:34.00'MOA+366:0.05'MOA+9:100.50'",
				"MOA+77:135.45'"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"an 810 with a discount that TDS01 is before": invoice810(t, "CTT*1", "SAC*A*C310***1000~CTT*1", "SE*8", "SE*9"),
			"an 810 with an allowance":                    invoice810(t, "TDS*10000", "TDS*9000", "CTT*1", "SAC*A*B840***1000~CTT*1", "SE*8", "SE*9"),
			"an 810 whose tax says its rate alone":        invoice810(t, "TDS*10000~", "TDS*10700~TXI*ST**7~", "SE*8", "SE*9"),
			"an INVOIC that says no other total":          summed(t, "MOA+79:120.00'MOA+260:10.00'MOA+259:5.00'MOA+125:115.00'MOA+176:19.45'MOA+77:134.45'MOA+113:34.00'MOA+366:0.05'MOA+9:100.50'", "MOA+77:134.45'"),
		}
	}},
	{"payable-total", one("without what was prepaid", func(t testing.TB) []byte { return summed(t, "MOA+9:100.50", "MOA+9:134.50") }),
		one("five cents", func(t testing.TB) []byte { return summed(t, "MOA+9:100.50", "MOA+9:100.45") })},
	{"sign-mismatch", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a line that is returned":         summed(t, "MOA+203:20.00", "MOA+203:-20.00"),
			"lines of a credit note above it": creditNote(t, "MOA+79:100.00", "MOA+79:-100.00"),
			"total of a credit note below":    creditNote(t, "MOA+77:119.00", "MOA+77:-119.00"),
			"a tax that is not as its basis":  summed(t, "MOA+124:1.40", "MOA+124:-1.40"),
			"an 810 whose lines are below":    invoice810(t, "*10*EA", "*-10*EA"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a credit note of positive amounts": creditNote(t),
			"a credit note of negative amounts": creditNote(t, "QTY+47:10", "QTY+47:-10", "MOA+203:100.00", "MOA+203:-100.00", "MOA+79:100.00", "MOA+79:-100.00", "MOA+77:119.00", "MOA+77:-119.00", "MOA+124:19.00", "MOA+124:-19.00"),
			"a line that is returned, by quantity": summed(t, "QTY+47:4:KGM'MOA+203:20.00", "QTY+47:-4:KGM'MOA+203:-20.00", "MOA+79:120.00", "MOA+79:80.00", "MOA+125:115.00", "MOA+125:75.00",
				"MOA+125:20.00'MOA+124:1.40", "MOA+125:-20.00'MOA+124:-1.40", "MOA+176:19.45", "MOA+176:16.65", "MOA+77:134.45", "MOA+77:91.65", "MOA+9:100.50", "MOA+9:57.70"),
		}
	}},
	{"negative-total", one("below zero", func(t testing.TB) []byte {
		return summed(t, "MOA+113:34.00", "MOA+113:234.00", "MOA+9:100.50", "MOA+9:-99.50")
	}),
		one("nothing is due", func(t testing.TB) []byte {
			return summed(t, "MOA+113:34.00", "MOA+113:134.50", "MOA+9:100.50", "MOA+9:0")
		})},
	{"negative-price", both("below zero", "PRI+AAA:10.00", "PRI+AAA:-10.00", "10.00", "-10.00"), both("a quantity below zero", "QTY+47:10", "QTY+47:-10", "*10*EA", "*-10*EA")},
	{"line-repeated", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"an invoice": twice(t, "1", ""),
			"an 810":     invoice810(t, "TDS*10000", "IT1*2*10*EA*10.00**VN*TQ-100~TDS*20000", "CTT*1", "CTT*2", "SE*8", "SE*9"),
			"a notice":   despatched(t, "CPS+3+1", "LIN+9++9520000001018:EN'QTY+12:48'DTM+361:20270601:102'CPS+3+1", "CNT+2:2", "CNT+2:3"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"of another order line": twice(t, "1", "RFF+ON:BE-1:20'"),
			"delivered another day": twice(t, "1", "DTM+35:20261121:102'"),
			"of another quantity":   twice(t, "2", ""),
			"in another package":    despatched(t, "LIN+2++9520000001025:EN'QTY+12:24", "LIN+2++9520000001018:EN'QTY+12:48'DTM+361:20270601:102"),
			"that name no item": counted(change(t, invoicText(), "LIN+1++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'",
				"LIN+1'QTY+47:5'MOA+203:50.00'PRI+AAA:10.00'LIN+2'QTY+47:5'MOA+203:50.00'PRI+AAA:10.00'")),
		}
	}},
	{"date-implausible", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"next year":                   summed(t, "DTM+137:20261127", "DTM+137:20270101", "DTM+13:20261227", "DTM+13:20270127"),
			"three years ago":             summed(t, "DTM+137:20261127", "DTM+137:20231127", "DTM+35:20261120", "DTM+35:20231120", "DTM+13:20261227", "DTM+13:20231227"),
			"delivered three years later": summed(t, "DTM+35:20261120", "DTM+35:20291120"),
			"due in three years":          summed(t, "DTM+13:20261227", "DTM+13:20291227"),
			"an 810 of the next century":  invoice810(t, "BIG*20261127", "BIG*21261127", "DTM*011*20261126", "DTM*011*21261126"),
			"a notice":                    despatched(t, "DTM+17:20261129", "DTM+17:20291129"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"dated ahead by a month":    summed(t, "DTM+137:20261127", "DTM+137:20261230", "DTM+13:20261227", "DTM+13:20270127"),
			"of last year":              summed(t, "DTM+137:20261127", "DTM+137:20250101", "DTM+13:20261227", "DTM+13:20250201"),
			"without a date of its own": summed(t, "DTM+137:20261127:102'", ""),
		}
	}},
	{"due-before-issue", both("the day before", "DTM+13:20261227", "DTM+13:20261126", "DTM*011*20261126", "ITD*01*3****20261126"),
		both("the same day", "DTM+13:20261227", "DTM+13:20261127", "DTM*011*20261126", "ITD*01*3****20261127")},
	{"period-reversed", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"in one": summed(t, "DTM+35:20261120:102", "DTM+263:20261130-20261101:718"),
			"in two": summed(t, "DTM+35:20261120:102", "DTM+167:20261130:102'DTM+168:20261101:102"),
			"an 810": invoice810(t, "DTM*011*20261126", "DTM*150*20261130~DTM*151*20261101", "SE*8", "SE*9"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"in one": summed(t, "DTM+35:20261120:102", "DTM+263:20261101-20261130:718"),
			"a day":  summed(t, "DTM+35:20261120:102", "DTM+167:20261101:102'DTM+168:20261101:102"),
		}
	}},
	{"delivery-before-despatch", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV": despatched(t, "DTM+17:20261129", "DTM+17:20261127"),
			"an 856":   notice856(t, "HL*1**S~", "HL*1**S~DTM*011*20261126~DTM*017*20261125~", "SE*10", "SE*12"),
		}
	}, one("the same day", func(t testing.TB) []byte { return despatched(t, "DTM+17:20261129", "DTM+17:20261128") })},
	{"best-before-passed", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV":           despatched(t, "DTM+361:20270601", "DTM+361:20261127"),
			"one of its batches": despatched(t, "DTM+361:20270601:102'", "PCI+36E'DTM+361:20270601:102'GIN+BX+A'QTY+12:24'PCI+36E'DTM+361:20261101:102'GIN+BX+B'QTY+12:24'"),
			"an 856":             notice856(t, "SN1*1*10*EA~", "SN1*1*10*EA~DTM*036*20261101~", "SE*10", "SE*11"),
		}
	}, one("that day", func(t testing.TB) []byte { return despatched(t, "DTM+361:20270601", "DTM+361:20261128") })},
	{"zero-quantity", func(t testing.TB) map[string][]byte {
		return map[string][]byte{"a DESADV": despatched(t, "QTY+12:24", "QTY+12:0"), "an 856": notice856(t, "SN1*1*10", "SN1*1*0")}
	}, allSound},
	{"negative-quantity", func(t testing.TB) map[string][]byte {
		return map[string][]byte{"a DESADV": despatched(t, "QTY+12:24", "QTY+12:-24"), "an 856": notice856(t, "SN1*1*10", "SN1*1*-10")}
	}, allSound},
	{"line-unpacked", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV": despatched(t, "CPS+1'", "LIN+9++9520000001032:EN'QTY+12:1'CPS+1'", "CNT+2:2", "CNT+2:3"),
			"an 856":   notice856(t, "CTT*3", "HL*4*2*P~HL*5*4*I~LIN**VN*TQ-200~SN1**1*EA~CTT*5", "SE*10", "SE*14"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"no packages at all":  notice856(t),
			"nothing of it comes": despatched(t, "CPS+1'", "LIN+9++9520000001032:EN'QTY+12:0'CPS+1'", "CNT+2:2", "CNT+2:3"),
			"packages of items":   notice856(t, "BSN*00*SHP-1*20261126*1430*0001", "BSN*00*SHP-1*20261126*1430*0002", "CTT*3", "HL*4*3*P~HL*5*3*P~CTT*5", "SE*10", "SE*12"),
		}
	}},
	{"package-empty", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV": despatched(t, "LIN+2++9520000001025:EN'QTY+12:24'", "", "CNT+2:2", "CNT+2:1"),
			"an 856":   notice856(t, "HL*3*2*I", "HL*9*2*P~HL*4*2*P~HL*3*4*I", "CTT*3", "CTT*5", "SE*10", "SE*12"),
		}
	}, func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"its lines stand in what it stands in": despatched(t, "CPS+1'", "CPS+1'LIN+9++9520000001032:EN'QTY+12:1'", "LIN+2++9520000001025:EN'QTY+12:24'", ""),
			"no lines at all":                      despatched(t, "LIN+1++9520000001018:EN'QTY+12:48'DTM+361:20270601:102'", "", "LIN+2++9520000001025:EN'QTY+12:24'", "", "CNT+2:2", "CNT+2:0"),
		}
	}},
	{"sscc-check-digit", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV":  despatched(t, "GIN+BJ+095200000004410021", "GIN+BJ+095200000004410022"),
			"zeros":     despatched(t, "GIN+BJ+095200000004410021", "GIN+BJ+000000000000000000"),
			"too short": despatched(t, "GIN+BJ+095200000004410021", "GIN+BJ+9520000000441002"),
			"an 856":    notice856(t, "HL*3*2*I", "HL*9*2*P~MAN*GM*00095200000004410022~HL*3*9*I", "CTT*3", "CTT*4", "SE*10", "SE*12"),
		}
	}, one("with its identifier", func(t testing.TB) []byte {
		return despatched(t, "GIN+BJ+095200000004410021", "GIN+BJ+00095200000004410021")
	})},
	{"sscc-repeated", func(t testing.TB) map[string][]byte {
		return map[string][]byte{
			"a DESADV": despatched(t, "GIN+BJ+095200000004410021", "GIN+BJ+095200000004410014"),
			"an 856":   notice856(t, "HL*3*2*I", "HL*8*2*P~MAN*GM*00095200000004410014~HL*9*2*P~MAN*GM*00095200000004410014~HL*3*9*I", "CTT*3", "CTT*5", "SE*10", "SE*14"),
		}
	}, allSound},
	{"more-findings", one("of fifty-one", func(t testing.TB) []byte {
		return summed(t, "DTM+35:20261120:102'", strings.Repeat("DTM+35:00000000:102'", 51))
	}),
		one("of fifty", func(t testing.TB) []byte {
			return summed(t, "DTM+35:20261120:102'", strings.Repeat("DTM+35:00000000:102'", 50))
		})},
}

func one(name string, text func(t testing.TB) []byte) func(t testing.TB) map[string][]byte {
	return func(t testing.TB) map[string][]byte { return map[string][]byte{name: text(t)} }
}

// both changes an INVOIC and an 810.
func both(name, old, new, oldX12, newX12 string) func(t testing.TB) map[string][]byte {
	return func(t testing.TB) map[string][]byte {
		return map[string][]byte{name: summed(t, old, new), name + ", 810": invoice810(t, oldX12, newX12)}
	}
}

// allSound are messages in which nothing is found.
func allSound(t testing.TB) map[string][]byte {
	return map[string][]byte{"INVOIC": summed(t), "DESADV": despatched(t), "810": invoice810(t), "810 with a tax": plain810(t), "856": notice856(t), "a credit note": creditNote(t)}
}

// creditNote is a credit note of positive amounts.
func creditNote(t testing.TB, pairs ...string) []byte {
	t.Helper()
	return change(t, invoicText("BGM+381+GS-1+9"), pairs...)
}

// twice is an INVOIC whose line of so many pieces stands twice, with segments in the
// second that the first has not.
func twice(t testing.TB, second, more string) []byte {
	t.Helper()
	line := func(no, quantity string) string {
		return fmt.Sprintf("LIN+%s++9520000001018:EN'QTY+47:%s'MOA+203:%s0.00'PRI+AAA:10.00'RFF+ON:BE-1:10'", no, quantity, quantity)
	}
	later := line("2", second)
	if strings.HasPrefix(more, "RFF+ON") {
		later = strings.Replace(later, "RFF+ON:BE-1:10'", more, 1)
	} else {
		later += more
	}
	return counted(change(t, invoicText(), "LIN+1++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'", line("1", "1")+later,
		"MOA+77:119.00'MOA+79:100.00'TAX+7+VAT+++:::19+S'MOA+124:19.00'", ""))
}

// elsewhere are the codes that other tests show.
var elsewhere = map[string]string{
	"invalid-characters": "TestInvalidText: the syntax layer refuses such text first, where it is read at all",
	CodeElsewhere:        "TestUnitsElsewhere of the gateway: a database finds it",
}

func TestEachCheck(t *testing.T) {
	has := func(text []byte, code string) bool {
		_, all := read(t, text)
		for _, m := range all {
			if slices.ContainsFunc(m.errs, func(e *edi.Error) bool { return e.Code == code }) {
				return true
			}
		}
		return false
	}
	for _, c := range firing {
		for name, text := range c.found(t) {
			t.Run(c.code+" is found: "+name, func(t *testing.T) {
				if !has(text, c.code) {
					_, all := read(t, text)
					t.Errorf("found only %v in\n%s", codes(all[0].errs), text)
				}
			})
		}
		for name, text := range c.quiet(t) {
			t.Run(c.code+" is quiet: "+name, func(t *testing.T) {
				if has(text, c.code) {
					_, all := read(t, text)
					t.Errorf("found %v in\n%s", all[0].errs, text)
				}
			})
		}
	}
	t.Run("every code of the list is shown here", func(t *testing.T) {
		for _, c := range checks.All {
			n := 0
			for _, f := range firing {
				if f.code == c.Code {
					n++
				}
			}
			if _, other := elsewhere[c.Code]; n != 1 && !other || n > 0 && other {
				t.Errorf("%s stands %d times", c.Code, n)
			}
		}
	})
	t.Run("nothing is found in what is sound", func(t *testing.T) {
		for name, text := range allSound(t) {
			if d, errs := single(t, text); len(errs) > 0 || d.Detail.Findings != nil {
				t.Errorf("%s: %v", name, errs)
			}
		}
	})
}

func TestFindingsAreKept(t *testing.T) {
	d, errs := single(t, summed(t, "MOA+77:134.45", "MOA+77:234.45", "MOA+9:100.50", "MOA+9:200.50"))
	want := []Finding{{Severity: "warning", Code: "tax-inclusive-total", Message: errs[0].Text, Location: errs[0].Location}}
	if diff := cmp.Diff(want, d.Detail.Findings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at := errs[0].Location; at.Tag != "MOA" || at.Element != 1 || at.Component != 2 {
		t.Errorf("found at %+v", at)
	}
}

func TestJudge(t *testing.T) {
	text := summed(t, "MOA+77:134.45", "MOA+77:234.45", "MOA+9:100.50", "MOA+9:200.50", "CNT+2:2", "CNT+2:3")
	for _, c := range []struct {
		name   string
		policy map[string]string
		want   []string
		posted bool
	}{
		{"by default all is told", nil, []string{"warning line-count", "warning tax-inclusive-total"}, true},
		{"a code that refuses is an error with its 0085", map[string]string{"tax-inclusive-total": "refuse"}, []string{"warning line-count", "error tax-inclusive-total 12"}, false},
		{"a code that is off is not told", map[string]string{"line-count": "off"}, []string{"warning tax-inclusive-total"}, true},
		{"what is named wins over the default", map[string]string{"default": "refuse", "tax-inclusive-total": "note"}, []string{"error line-count 29", "warning tax-inclusive-total"}, false},
		{"all off", map[string]string{"default": "off"}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, errs := single(t, text)
			d, errs = Judge(c.policy, "edifact", d, errs)
			var got []string
			for _, e := range errs {
				got = append(got, strings.TrimSpace(e.Severity.String()+" "+e.Code+" "+e.Standard))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || (d != nil) != c.posted {
				t.Errorf("a document: %v (-want +got):\n%s", d != nil, diff)
			}
			if d != nil && len(d.Detail.Findings) != len(got) {
				t.Errorf("%d findings are kept with it", len(d.Detail.Findings))
			}
		})
	}
	t.Run("an error stays one", func(t *testing.T) {
		_, all := read(t, summed(t, "MOA+203:100.00", "MOA+203:HUNDRED"))
		if d, errs := Judge(map[string]string{"default": "off"}, "edifact", all[0].doc, all[0].errs); d != nil || len(errs) != 1 || errs[0].Severity != edi.SeverityError {
			t.Errorf("got %v", errs)
		}
	})
	t.Run("a code that refuses does so behind more findings than are listed", func(t *testing.T) {
		d, errs := single(t, summed(t, "DTM+35:20261120:102'", strings.Repeat("DTM+35:00000000:102'", 70), "MOA+77:134.45", "MOA+77:234.45", "MOA+9:100.50", "MOA+9:200.50"))
		if d, _ := Judge(map[string]string{"tax-inclusive-total": "refuse"}, "edifact", d, errs); d != nil {
			t.Errorf("it is posted: %v", codes(errs))
		}
	})
	t.Run("X12 has codes of its own", func(t *testing.T) {
		for name, c := range map[string]struct {
			text []byte
			want string
		}{
			"an amount":         {invoice810(t, "TDS*10000", "TDS*10100"), "invoice-total 7 TDS 1"},
			"a date that lacks": {invoice810(t, "BIG*20261127", "BIG*"), "issue-date-missing 1 BIG 1"},
			"a line":            {invoice810(t, "TDS*10000", "IT1*2*10*EA*10.00**VN*TQ-100~TDS*20000", "CTT*1", "CTT*2", "SE*8", "SE*9"), "line-repeated 5 IT1 0"},
			"a date":            {invoice810(t, "BIG*20261127", "BIG*261127"), "date-format 7 BIG 1"},
		} {
			d, errs := single(t, c.text)
			_, errs = Judge(map[string]string{"default": "refuse"}, "x12", d, errs)
			if got := fmt.Sprint(errs[0].Code, " ", errs[0].Standard, " ", errs[0].Tag, " ", errs[0].Element); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	})
}

// TestRepeatedLinesTakeNoTime: lines that differ in nothing that is hashed are as many
// as a message has room for.
func TestRepeatedLinesTakeNoTime(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "LIN+%d++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'FTX+ZZZ+++%d'", i+1, i)
	}
	text := counted(change(t, invoicText(), "LIN+1++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'", b.String(), "MOA+77:119.00'MOA+79:100.00'TAX+7+VAT+++:::19+S'MOA+124:19.00'", ""))
	compared := 0
	d, _ := single(t, text)
	s := &lineSet{}
	s.begin(len(d.Lines))
	for i := range d.Lines {
		if s.add(d.Lines, i) < 0 {
			compared++
		}
	}
	if compared != len(d.Lines) {
		t.Errorf("%d of %d lines are none of those before them", compared, len(d.Lines))
	}
	used := 0
	for _, slot := range s.slots {
		if slot > 0 {
			used++
		}
	}
	if used > maxProbes {
		t.Errorf("%d lines that look alike are kept, and each is held against %d", used, maxProbes)
	}
}

func TestReferenceOfFindings(t *testing.T) {
	const page = "../docs/reference/documents.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| code | severity | 0085 | 647 | meaning |\n|---|---|---|---|---|\n"
	var b strings.Builder
	for _, c := range checks.All {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Code, c.Severity, c.EDIFACT, c.Advice, c.Meaning)
	}
	want := strings.ReplaceAll(b.String(), "|  |", "| |")
	before, rest, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table of findings", page)
	}
	got, after, more := strings.Cut(rest, "\n\n")
	if more {
		after = "\n" + after
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+head+want+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, strings.TrimRight(got, "\n")+"\n"); diff != "" {
		t.Errorf("write it anew with -update (-want +got):\n%s", diff)
	}
}
