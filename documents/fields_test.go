package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// A fact is something that a document may say: its business term, the field it is kept
// in, and where each syntax says it. The segments are put into a message, at the place
// that the letter before them names; see build. What the field then holds is want.
type fact struct {
	term, field  string
	edifact, x12 string
	e, x         []string
	want         string
}

// invoiceFacts are those of invoices, in the order of EN 16931-1, and behind them what
// it has no term for.
var invoiceFacts = []fact{
	{"BT-1", "number", "BGM 1004", "BIG02", []string{"B BGM+380+F-1+9"}, []string{"B BIG*20261127*F-1"}, "F-1"},
	{"BT-2", "issue_date", "DTM+3, else DTM+137", "BIG01", []string{"H DTM+3:20261126:102"}, []string{"B BIG*20261126*F-1"}, "2026-11-26"},
	{"BT-3", "type_code", "BGM 1001", "BIG07, see [types](documents.md#which-document-is-which)", []string{"B BGM+381+F-1+9"}, []string{"B BIG*20261127*F-1*****CR"}, "381"},
	{"BT-3", "type_code", "380, 381, 383, 384, 385, 386, 389, 326 as sent", "385: CI, CD", []string{"B BGM+385+F-1+9"}, []string{"B BIG*20261127*F-1*****CI"}, "385"},
	{"", "function_code", "BGM 1225", "BIG08", []string{"B BGM+380+F-1+5"}, []string{"B BIG*20261127*F-1******05"}, "5"},
	{"BT-5", "currency", "CUX with usage 2 or function 4", "CUR02", []string{"T CUX+2:USD:4"}, []string{"H CUR*SE*USD"}, "USD"},
	{"BT-6", "detail.invoice.tax_currency", "CUX with usage 6", "", []string{"T CUX+6:SEK"}, nil, "SEK"},
	{"", "detail.invoice.currencies.rate", "CUX 5402", "CUR03", []string{"T CUX+2:EUR:4+3:USD:10+1.0842"}, []string{"H CUR*SE*EUR*1.0842*BY*USD"}, "1.0842"},
	{"", "detail.invoice.currencies.code", "CUX 6345", "CUR02, CUR05", []string{"T CUX+2:EUR:4+3:USD:10+1.0842"}, []string{"H CUR*SE*EUR*1.0842*BY*USD"}, "USD"},
	{"", "detail.invoice.currencies.base", "CUX 6348", "", []string{"T CUX+2:EUR:4+3:JPY:10:100+165"}, nil, "100"},
	{"", "detail.invoice.currencies.market", "CUX 6341", "CUR06", []string{"T CUX+2:EUR:4+3:JPY:10+165+FFT"}, []string{"H CUR*SE*EUR*1.08*BY*USD*FFT"}, "FFT"},
	{"BT-7", "detail.dates.role", "DTM+131", "", []string{"H DTM+131:20261130:102"}, nil, "tax_point"},
	{"BT-8", "detail.invoice.tax_point", "DTM+3, 35 or 432 without a date (profile en16931)", "", []string{"U 14B", "H DTM+35"}, nil, "35"},
	{"BT-9", "due_date", "DTM+13", "ITD06", []string{"T PAT+1", "T DTM+13:20261227:102"}, []string{"H ITD*01*3****20261227"}, "2026-12-27"},
	{"BT-10", "detail.references.role", "RFF+CR", "REF+CO", []string{"H RFF+CR:K-1"}, []string{"H REF*CO*K-1"}, "customer_reference"},
	{"BT-11", "detail.references.role", "RFF+AEP", "", []string{"H RFF+AEP:P-1"}, nil, "project"},
	{"BT-12", "detail.references.role", "RFF+CT", "REF+CT", []string{"H RFF+CT:V-1"}, []string{"H REF*CT*V-1"}, "contract"},
	{"BT-13", "order_reference", "RFF+ON", "BIG04, REF+PO", []string{"H RFF+ON:B-1"}, []string{"B BIG*20261127*F-1**B-1"}, "B-1"},
	{"BT-13", "detail.references.dates.value", "DTM+171 or 4 behind the RFF", "BIG03", []string{"H RFF+ON:B-1", "H DTM+171:20261101:102"}, []string{"B BIG*20261127*F-1*20261101*B-1"}, "2026-11-01"},
	{"BT-14", "detail.references.role", "RFF+VN", "REF+VN", []string{"H RFF+VN:A-1"}, []string{"H REF*VN*A-1"}, "supplier_order"},
	{"BT-15", "detail.references.role", "RFF+ALO", "", []string{"H RFF+ALO:W-1"}, nil, "receiving_advice"},
	{"BT-16", "detail.references.role", "RFF+AAK", "REF+SI", []string{"H RFF+AAK:L-1"}, []string{"H REF*SI*L-1"}, "despatch_advice"},
	{"", "detail.references.role", "RFF+DQ", "REF+PK", []string{"H RFF+DQ:L-1"}, []string{"H REF*PK*L-1"}, "delivery_note"},
	{"BT-17", "detail.references.role", "RFF+GC (en16931)", "", []string{"U 14B", "H RFF+GC:LOS-1"}, nil, "tender"},
	{"BT-18", "detail.references.number", "GIR+14 behind RFF+ATS (en16931)", "", []string{"U 14B", "H RFF+ATS", "H GIR+14+ZAEHLER-1"}, nil, "ZAEHLER-1"},
	{"BT-19", "detail.references.role", "RFF+AOU (en16931)", "", []string{"U 14B", "H RFF+AOU:4711"}, nil, "buyer_accounting"},
	{"BT-20", "detail.invoice.terms.text", "PAT 4276", "ITD12", []string{"T PAT+1+:::thirty days net"}, []string{"H ITD*05***********thirty days net"}, "thirty days net"},
	{"BT-20", "detail.texts.role", "FTX+AAB", "", []string{"H FTX+AAB+++thirty days net"}, nil, "payment_terms"},
	{"BT-22", "detail.texts.text", "FTX 4440", "NTE02, MSG01", []string{"H FTX+AAI+++free to ramp"}, []string{"H NTE*GEN*free to ramp"}, "free to ramp"},
	{"BT-21", "detail.texts.subject", "FTX 4451", "NTE01", []string{"H FTX+INV+++by post"}, []string{"H NTE*INV*by post"}, "INV"},
	{"BT-23, BT-24", "detail.texts.role", "FTX+DOC (en16931)", "", []string{"U 14B", "H FTX+DOC++P1+urn?:cen.eu?:en16931?:2017"}, nil, "specification"},
	{"BT-25", "detail.references.role", "RFF+IV, OI", "REF+IV, OI", []string{"H RFF+OI:F-0"}, []string{"H REF*IV*F-0"}, "invoice"},
	{"BT-26", "detail.references.dates.value", "DTM+171 or 384 behind the RFF", "", []string{"H RFF+OI:F-0", "H DTM+384:20261001:102"}, nil, "2026-10-01"},
	{"", "detail.references.line", "RFF 1156", "", []string{"H RFF+ON:B-1:10"}, nil, "10"},
	{"", "detail.references.version", "RFF 4000 or 1056", "", []string{"H RFF+CT:V-1::3"}, nil, "3"},
	{"", "detail.references.text", "", "REF03", nil, []string{"H REF*CT*V-1*frame of 2026"}, "frame of 2026"},
	{"", "detail.references.also.value", "", "REF04", nil, []string{"H REF*CT*V-1**L1>7"}, "7"},
	{"BT-27, BT-44", "detail.parties.name", "NAD 3036", "N102", []string{"N NAD+PE+++Factorbank"}, []string{"H N1*RE*Factorbank"}, "Factorbank"},
	{"BT-28", "detail.parties.more_names", "NAD 3036, the second", "N2", []string{"N NAD+PE+++Factorbank:Nord"}, []string{"H N1*RE*Factorbank", "H N2*Nord"}, "Nord"},
	{"BT-29, BT-46", "detail.parties.id.value", "NAD 3039", "N104", []string{"N NAD+PE+9520003000048::9"}, []string{"H N1*RE**UL*9520003000048"}, "9520003000048"},
	{"BT-29-1", "detail.parties.id.scheme", "NAD 3055, 1131", "N103", []string{"N NAD+PE+123456789::16"}, []string{"H N1*RE**1*123456789"}, "0060"},
	{"BT-29", "detail.parties.references.role", "RFF+YC1, API, IA beneath NAD (eancom)", "REF+IA, VR (retail-x12)", []string{"N RFF+YC1:77"}, []string{"U 004010VICS", "N REF*IA*77"}, "additional_id"},
	{"BT-30, BT-47", "detail.parties.references.role", "RFF+XA; GN (en16931)", "", []string{"N RFF+XA:HRB 7"}, nil, "company_registration"},
	{"BT-31, BT-48", "detail.parties.tax_id", "RFF+VA beneath NAD", "REF+VX, GT, TJ in the loop", []string{"N RFF+VA:DE111111111"}, []string{"N REF*VX*DE111111111"}, "DE111111111"},
	{"BT-32", "detail.parties.references.role", "RFF+FC, AHP", "", []string{"N RFF+FC:22/815"}, nil, "tax_registration"},
	{"BT-33", "detail.texts.role", "FTX+REG", "", []string{"H FTX+REG+++Amtsgericht Kiel HRB 7"}, nil, "legal_information"},
	{"BT-35, BT-50", "detail.parties.street", "NAD 3042", "N3", []string{"N NAD+PE+++F+Kai 1"}, []string{"N N3*Kai 1"}, "Kai 1"},
	{"BT-37, BT-52", "detail.parties.city", "NAD 3164", "N401", []string{"N NAD+PE+++F++Kiel"}, []string{"N N4*Kiel"}, "Kiel"},
	{"BT-38, BT-53", "detail.parties.postcode", "NAD 3251", "N403", []string{"N NAD+PE+++F++++24103"}, []string{"N N4***24103"}, "24103"},
	{"BT-39, BT-54", "detail.parties.region", "NAD 3229", "N402", []string{"N NAD+PE+++F+++SH"}, []string{"N N4**SH"}, "SH"},
	{"BT-40, BT-55", "detail.parties.country", "NAD 3207", "N404", []string{"N NAD+PE+++F+++++DE"}, []string{"N N4****DE"}, "DE"},
	{"", "detail.parties.address", "NAD 3124", "", []string{"N NAD+PE++F:Kai 1:Kiel"}, nil, "Kai 1"},
	{"BT-41, BT-56", "detail.parties.contacts.name", "CTA 3412", "PER02", []string{"N CTA+IC+:Grete"}, []string{"N PER*IC*Grete"}, "Grete"},
	{"BT-42, BT-57", "detail.parties.contacts.phone", "COM, TE", "PER04, TE", []string{"N CTA+IC", "N COM+4511:TE"}, []string{"N PER*IC**TE*4511"}, "4511"},
	{"BT-43, BT-58", "detail.parties.contacts.email", "COM, EM", "PER04, EM", []string{"N CTA+IC", "N COM+a@b.example:EM"}, []string{"N PER*IC**EM*a@b.example"}, "a@b.example"},
	{"", "detail.parties.contacts.other.value", "COM, others", "PER, others", []string{"N CTA+IC", "N COM+4512:FX"}, []string{"N PER*IC**FX*4512"}, "4512"},
	{"BG-10", "detail.parties.role", "NAD+PE", "N1+RE, RI", []string{"N NAD+PE+7"}, []string{"H N1*RE*F"}, "payee"},
	{"BG-11", "detail.parties.role", "NAD+LC", "", []string{"N NAD+LC+7"}, nil, "tax_representative"},
	{"BG-13", "detail.parties.role", "NAD+DP", "N1+ST (retail-x12)", []string{"N NAD+DP+7"}, []string{"U 004010VICS", "H N1*ST*F"}, "delivery"},
	{"", "detail.parties.role", "NAD+ST", "N1+ST", []string{"N NAD+ST+7"}, []string{"H N1*ST*F"}, "ship_to"},
	{"", "detail.parties.role", "NAD+IV", "N1+BT", []string{"N NAD+IV+7"}, []string{"H N1*BT*F"}, "invoicee"},
	{"BT-72", "detail.dates.role", "DTM+35", "DTM+035", []string{"H DTM+35:20261126:102"}, []string{"H DTM*035*20261126"}, "delivery"},
	{"BT-73", "detail.dates.role", "DTM+167, 194", "DTM+186, 150", []string{"H DTM+167:20261101:102"}, []string{"H DTM*186*20261101"}, "period_start"},
	{"BT-74", "detail.dates.role", "DTM+168, 206", "DTM+187, 151", []string{"H DTM+168:20261130:102"}, []string{"H DTM*187*20261130"}, "period_end"},
	{"BG-14", "detail.dates.end", "DTM+263 in format 718", "DTM, RD8", []string{"H DTM+263:2026110120261130:718"}, []string{"H DTM*007****RD8*20261101-20261130"}, "2026-11-30"},
	{"", "detail.dates.value", "2380, the time", "DTM03", []string{"H DTM+35:202611261430:203"}, []string{"H DTM*035*20261126*1430"}, "2026-11-26T14:30"},
	{"", "detail.dates.zone", "2380, the zone", "DTM04", []string{"H DTM+35:202611261430CET:303"}, []string{"H DTM*035*20261126*1430*CET"}, "CET"},
	{"BT-81", "detail.invoice.payment_means", "PAI 4461", "", []string{"T PAI+::58"}, nil, "58"},
	{"BT-81", "detail.invoice.payment_means", "", "ITD14, behind `x12:`", nil, []string{"H ITD*01*3****20261227********B"}, "x12:B"},
	{"BT-83", "detail.references.role", "RFF+PQ", "", []string{"H RFF+PQ:Z-1"}, nil, "payment"},
	{"BT-84", "detail.parties.accounts.account", "FII 3194 beneath NAD", "", []string{"N FII+RB+DE02120300000000202051"}, nil, "DE02120300000000202051"},
	{"BT-85", "detail.parties.accounts.holder", "FII 3192", "", []string{"N FII+RB+DE02:Brennholm"}, nil, "Brennholm"},
	{"BT-86", "detail.parties.accounts.institution.value", "FII 3433", "", []string{"N FII+RB+DE02+BYLADEM1001:25:5"}, nil, "BYLADEM1001"},
	{"", "detail.parties.accounts.branch.value", "FII 3434", "", []string{"N FII+RB+DE02+:::21050000:154:131"}, nil, "21050000"},
	{"BT-89", "detail.parties.references.role", "RFF+AVS (en16931)", "", []string{"U 14B", "N RFF+AVS:M-1"}, nil, "mandate"},
	{"", "detail.invoice.terms.type", "PAT or PYT 4279", "22 with ITD03, 04, 05 or 08, else 1", []string{"T PAT+22"}, []string{"H ITD*01*3*2"}, "22"},
	{"", "detail.invoice.terms.code", "PAT 4277", "ITD01", []string{"T PAT+1+08"}, []string{"H ITD*08*3*2"}, "08"},
	{"", "detail.invoice.terms.count", "PAT or PYT 2152", "ITD05, ITD07", []string{"T PYT+1++5+3+D+30"}, []string{"H ITD*01*3*****30"}, "30"},
	{"", "detail.invoice.terms.period", "PAT or PYT 2151", "D", []string{"T PAT+1++5:3:D:30"}, []string{"H ITD*01*3*****30"}, "D"},
	{"", "detail.invoice.terms.percent", "PCD 5482 beneath PAT", "ITD03; ITD11", []string{"T PAT+22", "T PCD+12:2.50"}, []string{"H ITD*01*3*2.50"}, "2.50"},
	{"", "detail.invoice.terms.of", "PCD 5245", "", []string{"T PAT+20", "T PCD+15:9"}, nil, "15"},
	{"", "detail.invoice.terms.day", "", "ITD13", nil, []string{"H ITD*01*3***********15"}, "15"},
	{"", "detail.invoice.terms.dates.value", "DTM+12 beneath PAT", "ITD04", []string{"T PAT+22", "T DTM+12:20261207:102"}, []string{"H ITD*01*3*2*20261207"}, "2026-12-07"},
	{"", "detail.invoice.terms.amounts.amount", "MOA beneath PAT", "ITD08, ITD10, with two decimals implied", []string{"T PAT+22", "T MOA+52:10.55"}, []string{"H ITD*01*3*2*****1055"}, "10.55"},
	{"BG-20, BG-21", "detail.invoice.allowance_charges.amount", "MOA+8, 23, 204 beneath ALC", "SAC05, with two decimals implied", []string{"T ALC+A+:95", "T MOA+204:5.00"}, []string{"S SAC*A*C310***500"}, "5.00"},
	{"BT-93, BT-100", "detail.invoice.allowance_charges.basis", "MOA+25 beneath ALC", "", []string{"T ALC+A+:95", "T MOA+25:200"}, nil, "200"},
	{"BT-94, BT-101", "detail.invoice.allowance_charges.percent", "PCD beneath ALC", "SAC07", []string{"T ALC+A+:95", "T PCD+3:2.5"}, []string{"S SAC*A*C310***500*3*2.5"}, "2.5"},
	{"BT-95, BT-102", "detail.invoice.allowance_charges.tax_category", "TAX 5305 beneath ALC", "TXI06 behind SAC", []string{"T ALC+A+:95", "T MOA+204:5", "T TAX+7+VAT+++:::0+E"}, []string{"S SAC*A*C310***500", "S TXI*VA**0***1"}, "E"},
	{"BT-96, BT-103", "detail.invoice.allowance_charges.tax_rate", "TAX 5278 beneath ALC", "TXI03 behind SAC", []string{"T ALC+A+:95", "T MOA+204:5", "T TAX+7+VAT+++:::19+S"}, []string{"S SAC*A*C310***500", "S TXI*VA**19"}, "19"},
	{"BT-97, BT-104", "detail.invoice.allowance_charges.reason", "ALC 7160, 1230", "SAC15", []string{"T ALC+A+++1+DI:::Loyalty"}, []string{"S SAC*A*C310***500**********Loyalty"}, "Loyalty"},
	{"BT-98, BT-105", "detail.invoice.allowance_charges.code", "ALC 7161, 5189", "SAC02, as 7161 or 5189 where one says the same", []string{"T ALC+C++++FC"}, []string{"S SAC*C*D240***500"}, "FC"},
	{"", "detail.invoice.allowance_charges.code", "", "SAC04 where SAC02 is empty", nil, []string{"S SAC*C**VI*FRT1*500"}, "FRT1"},
	{"", "detail.invoice.allowance_charges.sequence", "ALC 1227", "", []string{"T ALC+A+++2"}, nil, "2"},
	{"", "detail.invoice.allowance_charges.rate", "RTE 5420 beneath ALC", "SAC08", []string{"T ALC+C++++FC", "T RTE+1:0.75:1:KGM"}, []string{"S SAC*C*D240***500***0.75*KG"}, "0.75"},
	{"", "detail.invoice.allowance_charges.rate_unit", "RTE 6411", "SAC09", []string{"T ALC+C++++FC", "T RTE+1:0.75:1:KGM"}, []string{"S SAC*C*D240***500***0.75*KG"}, "KGM"},
	{"", "detail.invoice.allowance_charges.rate_basis", "RTE 5284", "", []string{"T ALC+C++++FC", "T RTE+1:0.75:100:KGM"}, nil, "100"},
	{"", "detail.invoice.allowance_charges.quantity", "QTY beneath ALC", "SAC10", []string{"T ALC+C++++FC", "T QTY+1:12:KGM"}, []string{"S SAC*C*D240***500***0.75*KG*12"}, "12"},
	{"", "detail.invoice.allowance_charges.settlement", "ALC 4471", "SAC12", []string{"T ALC+C++6++FC"}, []string{"S SAC*C*D240***500*******06"}, "6"},
	{"", "detail.invoice.allowance_charges.reference", "", "SAC13", nil, []string{"S SAC*C*D240***500********R-1"}, "R-1"},
	{"BT-106", "totals.lines", "MOA+79", "", []string{"S MOA+79:100.00"}, nil, "100.00"},
	{"BT-107", "totals.allowances", "MOA+260", "", []string{"S MOA+260:5"}, nil, "5"},
	{"BT-108", "totals.charges", "MOA+259", "", []string{"S MOA+259:5"}, nil, "5"},
	{"BT-109", "totals.tax_exclusive", "MOA+389, else 125", "", []string{"S MOA+125:95.00"}, nil, "95.00"},
	{"BT-110", "totals.tax", "MOA+176, else 124, else that of the only TAX", "that of the only TXI behind TDS", []string{"S TAX+7+VAT+++:::19+S", "S MOA+124:18.05"}, []string{"S TXI*VA*18.05*19"}, "18.05"},
	{"BT-111", "detail.amounts.role", "MOA+2", "", []string{"S MOA+2:20.10:SEK"}, nil, "tax_in_tax_currency"},
	{"BT-112", "totals.tax_inclusive", "MOA+388, else 77, else 39", "TDS01, with two decimals implied", []string{"S MOA+388:113.05"}, []string{"D TDS*11305"}, "113.05"},
	{"BT-113", "totals.prepaid", "MOA+113", "", []string{"S MOA+113:13.05"}, nil, "13.05"},
	{"BT-114", "totals.rounding", "MOA+366", "", []string{"S MOA+366:-0.05"}, nil, "-0.05"},
	{"BT-115", "totals.payable", "MOA+9, else 86", "TDS01", []string{"S MOA+9:100.00"}, []string{"D TDS*10000"}, "100.00"},
	{"BT-116", "detail.invoice.taxes.basis", "MOA+125 beneath TAX", "TXI08", []string{"S TAX+7+VAT+++:::19+S", "S MOA+125:95"}, []string{"S TXI*VA*18.05*19*****95"}, "95"},
	{"BT-117", "detail.invoice.taxes.amount", "MOA+124 beneath TAX", "TXI02", []string{"S TAX+7+VAT+++:::19+S", "S MOA+124:18.05"}, []string{"S TXI*VA*18.05*19"}, "18.05"},
	{"BT-118", "detail.invoice.taxes.category", "TAX 5305", "TXI06", []string{"S TAX+7+VAT+++:::0+E"}, []string{"S TXI*VA*0*0***1"}, "E"},
	{"BT-119", "detail.invoice.taxes.rate", "TAX 5278", "TXI03", []string{"S TAX+7+VAT+++:::19+S"}, []string{"S TXI*VA*18.05*19"}, "19"},
	{"BT-120", "detail.invoice.taxes.exemption", "FTX+AGM, TXD", "", []string{"H FTX+TXD+++Export", "S TAX+7+VAT+++:::0+G"}, nil, "Export"},
	{"", "detail.invoice.taxes.type", "TAX 5153", "TXI01, as 5153 where one says the same", []string{"S TAX+7+VAT+++:::19+S"}, []string{"S TXI*VA*18.05*19"}, "VAT"},
	{"", "detail.invoice.taxes.party_id", "TAX 3446", "TXI09", []string{"S TAX+7+VAT+++:::19+S+DE1"}, []string{"S TXI*VA*18.05*19******DE1"}, "DE1"},
	{"", "detail.invoice.taxes.account", "TAX 5289", "", []string{"S TAX+7+VAT+4711++:::19+S"}, nil, "4711"},
	{"", "detail.invoice.taxes.jurisdiction.value", "", "TXI05, scheme TXI04", nil, []string{"S TXI*ST*5*6.5*VE*MN"}, "MN"},
	{"", "detail.invoice.default_taxes.rate", "TAX of the header", "TXI of the header", []string{"H TAX+7+VAT+++:::19+S"}, []string{"H TXI*VA**19"}, "19"},
	{"BT-122", "detail.invoice.supporting.id", "RFF behind EFI", "", []string{"T EFI+a.pdf:Timesheet", "T RFF+ATS:D-1"}, nil, "D-1"},
	{"BT-123", "detail.invoice.supporting.description", "EFI 7008", "", []string{"T EFI+a.pdf:Timesheet"}, nil, "Timesheet"},
	{"BT-124", "detail.invoice.supporting.location", "COM, AO behind EFI", "", []string{"T EFI+a.pdf", "T COM+https?://a.example/a:AO"}, nil, "https://a.example/a"},
	{"BT-126", "lines.line_no", "LIN 1082", "IT101", []string{"I LIN+7"}, []string{"I IT1*7*1*EA*1"}, "7"},
	{"", "lines.sub_of", "LIN C829 1082", "SLN: the IT101 before it", []string{"L LIN+2+++1:1"}, []string{"L SLN*2**I*1*EA"}, "1"},
	{"", "lines.detail.configuration", "LIN 7083", "", []string{"I LIN+1+++++A"}, nil, "A"},
	{"BT-127", "lines.detail.texts.text", "FTX of the line", "", []string{"L FTX+ACB+++scratched"}, nil, "scratched"},
	{"BT-128", "lines.detail.references.role", "RFF+AVE of the line (en16931)", "", []string{"U 14B", "L RFF+AVE:Z-1"}, nil, "invoiced_object"},
	{"BT-129", "lines.quantity", "QTY+47, else 46, else 12", "IT102", []string{"L QTY+47:24.50:KGM"}, []string{"I IT1*1*24.50*KG*1"}, "24.50"},
	{"BT-130", "lines.unit", "QTY 6411", "IT103, as Recommendation 20 where one says the same", []string{"L QTY+47:24.50:KGM"}, []string{"I IT1*1*24.50*KG*1"}, "KGM"},
	{"", "lines.ordered_quantity", "QTY+21", "", []string{"L QTY+21:30"}, nil, "30"},
	{"", "lines.detail.quantities.role", "QTY, others", "QTY, others", []string{"L QTY+47:5:PCE", "L QTY+12:3:PCE"}, []string{"L QTY*39*3*EA"}, "despatched"},
	{"BT-131", "lines.net_amount", "MOA+203; 66 where there is none, nor ALC of the line (edifact-d96a)", "PAM05 with PAM04 1, AMT+1", []string{"L MOA+203:120.00"}, []string{"L PAM****1*120.00"}, "120.00"},
	{"BT-132", "lines.order_line", "RFF+ON 1156 of the line", "IT1, PL", []string{"L RFF+ON:B-1:10"}, []string{"I IT1*1*1*EA*1**PL*10"}, "10"},
	{"BT-133", "lines.detail.references.role", "RFF+AWQ of the line", "", []string{"L RFF+AWQ:K-1"}, nil, "buyer_accounting"},
	{"BT-134", "lines.detail.dates.role", "DTM+167, 194 of the line", "DTM+186 of the line", []string{"L DTM+167:20261101:102"}, []string{"L DTM*186*20261101"}, "period_start"},
	{"BG-27, BG-28", "lines.detail.allowance_charges.amount", "ALC of the line", "SAC of the line", []string{"L ALC+A+:95", "L MOA+204:3.00"}, []string{"L SAC*A*C310***300"}, "3.00"},
	{"BT-146", "lines.price", "PRI+AAA, else INV or CAL", "IT104; CTP+NET, UCP where it is empty", []string{"L PRI+AAA:5.0000"}, []string{"I IT1*1*1*EA*5.0000"}, "5.0000"},
	{"BT-147", "lines.detail.allowance_charges.amounts.role", "MOA+509 beneath ALC", "", []string{"L ALC+A", "L MOA+509:0.50"}, nil, "price_discount"},
	{"BT-148", "lines.detail.prices.role", "PRI+AAB", "CTP+LPR", []string{"L PRI+AAB:5.50"}, []string{"L CTP**LPR*5.50"}, "gross"},
	{"BT-149", "lines.price_basis", "PRI 5284", "IT105: 100 or 1000", []string{"L PRI+AAA:5:::100"}, []string{"I IT1*1*1*EA*5*HP"}, "100"},
	{"BT-150", "lines.price_unit", "PRI 6411", "CTP05 where IT104 is empty", []string{"L PRI+AAA:5:::100:GRM"}, []string{"I IT1*1*1*EA", "L CTP**NET*5*100*GR"}, "GRM"},
	{"BT-151", "lines.tax_category", "TAX 5305 of the line", "TXI06 of the line", []string{"L TAX+7+VAT+++:::0+E"}, []string{"L TXI*VA**0***1"}, "E"},
	{"BT-152", "lines.tax_rate", "TAX 5278 of the line", "TXI03 of the line", []string{"L TAX+7+VAT+++:::7+S"}, []string{"L TXI*VA**7"}, "7"},
	{"BT-153", "lines.description", "IMD+F", "PID05", []string{"L IMD+F++:::Salmon"}, []string{"L PID*F****Salmon"}, "Salmon"},
	{"BT-154", "lines.detail.descriptions.text", "IMD, further", "PID05, further", []string{"L IMD+F++:::Salmon", "L IMD+A++:::smoked"}, []string{"L PID*F****Salmon", "L PID*F****smoked"}, "smoked"},
	{"BT-155", "lines.supplier_item", "PIA, SA", "IT1, VN, VP, VA, VC, SK", []string{"L PIA+1+BF-1:SA"}, []string{"I IT1*1*1*EA*1**VN*BF-1"}, "BF-1"},
	{"BT-156", "lines.buyer_item", "PIA, IN, BP", "IT1, IN, BP, PI, CB", []string{"L PIA+1+0815:IN"}, []string{"I IT1*1*1*EA*1**IN*0815"}, "0815"},
	{"BT-157", "lines.gtin", "LIN C212, EN, SRV, UP", "IT1, UK, UP, EN, UI, UA, EO", []string{"I LIN+1++9520003001014:SRV"}, []string{"I IT1*1*1*EA*1**UK*9520003001014"}, "9520003001014"},
	{"BT-158", "lines.detail.items.value", "PIA, others; those of function 2, 3, 4 as well", "IT1, others", []string{"L PIA+1+65434568:STI"}, []string{"I IT1*1*1*EA*1**MG*65434568"}, "65434568"},
	{"", "lines.detail.items.function", "PIA 4347", "", []string{"L PIA+3+BF-2:SA"}, nil, "3"},
	{"BT-159", "lines.detail.origin", "ALI 3239", "IT1, CH", []string{"L ALI+NO"}, []string{"I IT1*1*1*EA*1**CH*NO"}, "NO"},
	{"BG-32", "lines.detail.attributes.value", "FTX+ACF", "", []string{"L FTX+ACF+++Color:Black"}, nil, "Black"},
	{"", "lines.batch", "PIA, NB; GIN+BX", "IT1, LT, B8; REF+LT", []string{"L PIA+1+L2611:NB"}, []string{"I IT1*1*1*EA*1**LT*L2611"}, "L2611"},
	{"", "lines.detail.parties.role", "NAD of the line", "N1 of the line", []string{"L NAD+DP+7"}, []string{"U 004010VICS", "L N1*ST*F"}, "delivery"},
	{"", "lines.detail.dates.value", "DTM of the line", "DTM of the line", []string{"L DTM+35:20261126:102"}, []string{"L DTM*035*20261126"}, "2026-11-26"},
	{"", "lines.detail.measures.value", "MEA of the line", "MEA of the line", []string{"L MEA+AAE+AAB+KGM:2.5"}, []string{"L MEA*WT*G*2.5*KG"}, "2.5"},
	{"", "lines.detail.measures.min", "MEA 6162", "MEA05", []string{"L MEA+AAE+TC+CEL::2:7"}, []string{"L MEA*TE*TC**CE*2*7"}, "2"},
	{"", "lines.detail.locations.id.value", "LOC of the line", "", []string{"L LOC+7+9520004000023::9"}, nil, "9520004000023"},
	{"", "detail.delivery_terms.code", "TOD 4053", "FOB05", []string{"T TOD+6++DDP"}, []string{"H FOB*PP***01*DDP"}, "DDP"},
	{"", "detail.delivery_terms.payment", "TOD 4215", "FOB01", []string{"T TOD+6+PP+DDP"}, []string{"H FOB*PP***01*DDP"}, "PP"},
	{"", "detail.delivery_terms.locations.name", "LOC beneath TOD", "FOB03, FOB07", []string{"T TOD+6++DDP", "T LOC+1+:::Kiel"}, []string{"H FOB*PP*DE*Kiel"}, "Kiel"},
	{"", "detail.transport.carrier.value", "TDT 3127", "CAD04", []string{"T TDT+20++30++BRHM::182"}, []string{"D TDS*100", "S CAD*M***BRHM"}, "BRHM"},
	{"", "detail.transport.means_type", "TDT 8179", "", []string{"T TDT+20++30+31"}, nil, "31"},
	{"", "detail.transport.dates.role", "DTM beneath TDT", "", []string{"T TDT+20", "T DTM+11:20261126:102"}, nil, "despatch"},
	{"", "detail.equipment.id", "EQD 8260", "", []string{"T EQD+CN+MSKU1234565"}, nil, "MSKU1234565"},
	{"", "detail.counts.quantity", "CNT 6066", "CTT01, CTT02, ISS01", []string{"S CNT+1:7"}, []string{"S ISS*7*EA"}, "7"},
	{"", "detail.measures.value", "MEA of the header", "ISS03, ISS05", []string{"H MEA+PD+AAB+KGM:412.5"}, []string{"S ISS*7*EA*412.5*KG"}, "412.5"},
	{"", "detail.other", "what has no place", "the same", []string{"H DGS+ADR"}, []string{"H CRC*QD*Y*A"}, "*"},
}

// despatchFacts are those of despatch advices.
var despatchFacts = []fact{
	{"", "number", "BGM 1004", "BSN02", []string{"B BGM+351+L-1+9"}, []string{"B BSN*00*L-1*20261126"}, "L-1"},
	{"", "issue_date", "DTM+137", "BSN03", []string{"H DTM+137:20261126:102"}, []string{"B BSN*00*L-1*20261126"}, "2026-11-26"},
	{"", "function_code", "BGM 1225", "BSN01", []string{"B BGM+351+L-1+1"}, []string{"B BSN*01*L-1*20261126"}, "1"},
	{"", "detail.despatch.despatch_date", "DTM+11", "DTM+011", []string{"H DTM+11:20261126:102"}, []string{"H DTM*011*20261126"}, "2026-11-26"},
	{"", "detail.despatch.estimated_delivery", "DTM+17", "DTM+017, 067, 371", []string{"H DTM+17:20261127:102"}, []string{"H DTM*017*20261127"}, "2026-11-27"},
	{"", "order_reference", "RFF+ON", "PRF01", []string{"H RFF+ON:B-1"}, []string{"O PRF*B-1"}, "B-1"},
	{"", "detail.references.dates.value", "DTM behind the RFF", "PRF04", []string{"H RFF+ON:B-1", "H DTM+171:20261101:102"}, []string{"O PRF*B-1***20261101"}, "2026-11-01"},
	{"", "detail.references.role", "RFF+BM", "REF+BM", []string{"H RFF+BM:K-1"}, []string{"H REF*BM*K-1"}, "bill_of_lading"},
	{"", "detail.parties.role", "NAD+SF", "N1+SF", []string{"N NAD+SF+7"}, []string{"H N1*SF*F"}, "ship_from"},
	{"", "detail.parties.role", "NAD+DP", "N1+ST (retail-x12)", []string{"N NAD+DP+7"}, []string{"U 004010VICS", "H N1*ST*F"}, "delivery"},
	{"", "detail.despatch.transport.mode", "TDT 8067", "TD504, as 8067", []string{"H TDT+20++30"}, []string{"H TD5****M"}, "30"},
	{"", "detail.despatch.transport.carrier.value", "TDT 3127", "TD503", []string{"H TDT+20++30++BRHM::182"}, []string{"H TD5**2*BRHM*M"}, "BRHM"},
	{"", "detail.despatch.transport.name", "TDT 3128", "TD505", []string{"H TDT+20++30++:::Brennholm"}, []string{"H TD5**2*BRHM*M*Brennholm"}, "Brennholm"},
	{"", "detail.despatch.transport.vehicle", "TDT 8212, 8213", "TD302 and TD303", []string{"H TDT+20++30+++++:::HL-SN 120"}, []string{"H TD5**2*BRHM*M", "H TD3*TL**HL-SN 120"}, "HL-SN 120"},
	{"", "detail.despatch.transport.service", "", "TD512", nil, []string{"H TD5**2*BRHM*A********ND"}, "ND"},
	{"", "detail.despatch.transport.locations.qualifier", "LOC beneath TDT", "", []string{"H TDT+20", "H LOC+9+DEKEL"}, nil, "9"},
	{"", "detail.despatch.transport.dates.value", "DTM beneath TDT", "", []string{"H TDT+20", "H DTM+186:20261126:102"}, nil, "2026-11-26"},
	{"", "detail.delivery_terms.code", "TOD 4053", "FOB05", []string{"H TOD+6++DAP"}, []string{"H FOB*PP***01*DAP"}, "DAP"},
	{"", "detail.equipment.id", "EQD 8260", "TD302 and TD303 with a seal, or without a TD5", []string{"H EQD+CN+MSKU1234565"}, []string{"H TD3*CN*MSKU*1234565"}, "MSKU1234565"},
	{"", "detail.equipment.seals", "SEL 9308", "TD309", []string{"H EQD+CN+MSKU1234565", "H SEL+S-1"}, []string{"H TD3*CN*MSKU*1234565******S-1"}, "S-1"},
	{"", "detail.despatch.gross_weight", "MEA, AAB, AAD, G", "TD107, MEA, G", []string{"H MEA+PD+AAB+KGM:412.5"}, []string{"H TD1*PLT*2****G*412.5*KG"}, "412.5"},
	{"", "detail.measures.value", "MEA, others", "TD109", []string{"H MEA+PD+ABJ+MTQ:1.8"}, []string{"H TD1*PLT*2*******1.8*CR"}, "1.8"},
	{"", "packages.hierarchy_id", "CPS 7164", "HL01", []string{"P CPS+9++3"}, []string{"P HL*9*2*P"}, "9"},
	{"", "packages.type", "PAC 7065", "TD101, PAL, as 7065 where one says the same", []string{"P PAC+1++CT"}, []string{"P TD1*CTN*1"}, "CT"},
	{"", "packages.quantity", "PAC 7224", "TD102", []string{"P PAC+4++CT"}, []string{"P TD1*CTN*4"}, "4"},
	{"", "packages.sscc", "GIN+BJ, ML", "MAN+GM, AA, AI", []string{"P PAC+1", "P GIN+BJ+395200030000000019"}, []string{"P MAN*GM*00395200030000000019"}, "395200030000000019"},
	{"", "packages.gross_weight", "MEA, AAB, AAD, G beneath CPS", "TD107, PAL11, PO406, MEA, G", []string{"P PAC+1", "P MEA+PD+AAB+KGM:20.5"}, []string{"P PO4*1*****20.5*KG"}, "20.5"},
	{"", "packages.marks", "PCI 7102", "", []string{"P PAC+1", "P PCI+30+FRAGILE"}, nil, "FRAGILE"},
	{"", "packages.detail.marking", "PCI 4233", "", []string{"P PAC+1", "P PCI+33E"}, nil, "33E"},
	{"", "packages.detail.return", "PAC 8395", "", []string{"P PAC+1++201++2"}, nil, "2"},
	{"", "packages.detail.handling.code", "HAN 4079", "", []string{"P PAC+1", "P HAN+EAT"}, nil, "EAT"},
	{"", "packages.detail.measures.value", "MEA, others beneath CPS", "MEA, others", []string{"P PAC+1", "P MEA+PD+HT+CMT:120"}, []string{"P MEA*PD*HT*120*CM"}, "120"},
	{"", "packages.detail.identifiers.value", "GIN, others", "MAN, others", []string{"P PAC+1", "P GIN+AW+K-1"}, []string{"P MAN*CP*K-1"}, "K-1"},
	{"", "lines.line_no", "LIN 1082", "LIN01, SN101", []string{"I LIN+7"}, []string{"I LIN*7"}, "7"},
	{"", "lines.gtin", "LIN C212", "LIN, UK, UP, EN, UI, UA, EO", []string{"I LIN+1++9520003001014:EN"}, []string{"I LIN*1*UK*9520003001014"}, "9520003001014"},
	{"", "lines.supplier_item", "PIA, SA", "LIN, VN, VP, VA, VC, SK", []string{"L PIA+1+BF-1:SA"}, []string{"I LIN*1*VN*BF-1"}, "BF-1"},
	{"", "lines.quantity", "QTY+12, else 46, else 47", "SN102", []string{"L QTY+12:24:PCE"}, []string{"Q SN1*1*24*EA"}, "24"},
	{"", "lines.ordered_quantity", "QTY+21", "SN105", []string{"L QTY+21:30:PCE"}, []string{"Q SN1*1*24*EA**30*EA"}, "30"},
	{"", "lines.detail.variances.quantity", "QVR 6064", "", []string{"L QVR+-6:21+CP"}, nil, "-6"},
	{"", "lines.order_reference", "RFF+ON of the line", "PRF01; LIN, PO", []string{"L RFF+ON:B-1:10"}, []string{"O PRF*B-1"}, "B-1"},
	{"", "lines.batch", "GIN+BX", "LIN, LT, B8; REF+LT", []string{"L GIN+BX+L2611"}, []string{"I LIN*1*LT*L2611"}, "L2611"},
	{"", "lines.best_before", "DTM+361", "", []string{"L DTM+361:20270131:102"}, nil, "2027-01-31"},
	{"", "lines.detail.expiry", "DTM+36", "DTM+036", []string{"L DTM+36:20270131:102"}, []string{"L DTM*036*20270131"}, "2027-01-31"},
	{"", "lines.detail.serials", "GIN+BN, SN", "LIN, SN", []string{"L GIN+BN+SN-1"}, []string{"I LIN*1*SN*SN-1"}, "SN-1"},
	{"", "lines.detail.locations.id.value", "LOC of the line", "", []string{"L LOC+7+9520004000023::9"}, nil, "9520004000023"},
	{"", "packages.detail.other", "what has no place", "the same", []string{"P PAC+1", "P DGS+ADR"}, []string{"P CRC*QD*Y*A"}, "*"},
}

// A mold is a message with the places that facts name.
type mold struct {
	segments []string // a place stands behind what is there without it: "L" alone, or "I LIN+1"
	release  string
	build    func(release string, segments []string) []byte
}

var molds = map[string][2]mold{
	"invoice": {
		{[]string{"UNH+1+INVOIC:D:%s:UN%s", "B BGM+380+F-1+9", "DTM+137:20261127:102", "H", "NAD+SU+9520001000010::9", "N", "CUX+2:EUR:4", "T", "I LIN+1", "L", "UNS+S", "S"}, "96A", buildEDIFACT},
		{[]string{"ST*810*0001", "B BIG*20261127*F-1", "H", "N1*SU*F*UL*9520001000010", "N", "I IT1*1*1*EA*1", "L", "D TDS*100", "S", "CTT*1"}, "004010", buildX12("IN")},
	},
	"despatch": {
		{[]string{"UNH+1+DESADV:D:%s:UN%s", "B BGM+351+L-1+9", "H", "NAD+SU+9520001000010::9", "N", "CPS+1", "P", "I LIN+1", "L"}, "96A", buildEDIFACT},
		{[]string{"ST*856*0001", "B BSN*00*L-1*20261126", "HL*1**S", "H", "HL*2*1*O", "O", "HL*3*2*P", "P", "HL*4*3*I", "I LIN*1*VN*A", "Q SN1*1*1*EA", "L"}, "004010", buildX12("SH")},
	},
}

func buildEDIFACT(release string, segments []string) []byte {
	association := ":EAN008"
	if release != "96A" {
		association = ""
	}
	segments[0] = fmt.Sprintf(segments[0], release, association)
	return interchange(segments)
}

func buildX12(group string) func(string, []string) []byte {
	return func(release string, segments []string) []byte {
		var b bytes.Buffer
		fmt.Fprintf(&b, "ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*U*00401*000000116*0*P*>~GS*%s*TALQUIST*NORDHAFEN*20261129*1015*116*X*%s~", group, release)
		for _, s := range segments {
			b.WriteString(s + "~")
		}
		fmt.Fprintf(&b, "SE*%d*0001~GE*1*116~IEA*1*000000116~", len(segments)+1)
		return b.Bytes()
	}
}

// pour puts a fact's segments into the mold. U is the release.
func (m mold) pour(t *testing.T, parts []string) []byte {
	t.Helper()
	release := m.release
	at := map[string][]string{}
	for _, p := range parts {
		place, segment, _ := strings.Cut(p, " ")
		if place == "U" {
			release = segment
			continue
		}
		at[place] = append(at[place], segment)
	}
	var segments []string
	for _, s := range m.segments {
		place, usual, found := strings.Cut(s, " ")
		switch {
		case len(place) > 1: // a segment
			segments = append(segments, s)
		case at[place] != nil:
			segments = append(segments, at[place]...)
			delete(at, place)
		case found:
			segments = append(segments, usual)
		}
	}
	for place := range at {
		t.Fatalf("there is no place %s", place)
	}
	return m.build(release, segments)
}

// valuesAt gives what stands under a path in JSON, of every element of lists.
func valuesAt(v any, path string) []string {
	if list, ok := v.([]any); ok {
		var all []string
		for _, e := range list {
			all = append(all, valuesAt(e, path)...)
		}
		return all
	}
	if path == "" {
		if s, ok := v.(string); ok {
			return []string{s}
		}
		return nil
	}
	key, rest, _ := strings.Cut(path, ".")
	if object, ok := v.(map[string]any); ok && object[key] != nil {
		return valuesAt(object[key], rest)
	}
	return nil
}

// TestFields puts every fact into a message of each syntax that says it, and asks the
// document for it.
func TestFields(t *testing.T) {
	for of, facts := range map[string][]fact{"invoice": invoiceFacts, "despatch": despatchFacts} {
		for _, f := range facts {
			for i, parts := range [2][]string{f.e, f.x} {
				if parts == nil {
					continue
				}
				t.Run(strings.TrimSpace(fmt.Sprintf("%s %s of an %s from %s", f.term, f.field, of, [2]string{f.edifact, f.x12}[i])), func(t *testing.T) {
					text := molds[of][i].pour(t, parts)
					_, all := read(t, text)
					if all[0].doc == nil {
						t.Fatalf("refused: %v\n%s", all[0].errs, text)
					}
					b, err := json.Marshal(all[0].doc)
					if err != nil {
						t.Fatal(err)
					}
					var v any
					if err := json.Unmarshal(b, &v); err != nil {
						t.Fatal(err)
					}
					got := valuesAt(v, f.field)
					if f.want == "*" && len(got) > 0 || slices.Contains(got, f.want) || f.want == "" && len(got) == 0 {
						return
					}
					t.Errorf("it holds %q, not %q\n%s\n%s", got, f.want, text, b)
				})
			}
		}
	}
	t.Run("where a cell says that a syntax says it, a segment shows it", func(t *testing.T) {
		for _, f := range slices.Concat(invoiceFacts, despatchFacts) {
			if (f.edifact == "") != (f.e == nil) || (f.x12 == "") != (f.x == nil) {
				t.Errorf("%s: %q %v, %q %v", f.field, f.edifact, f.e, f.x12, f.x)
			}
		}
	})
}

// TestFieldsDoc holds docs/reference/fields.md against the facts and the tables.
func TestFieldsDoc(t *testing.T) {
	const page = "../docs/reference/fields.md"
	got := fieldsPage()
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("go test ./documents -run TestFieldsDoc -update writes it anew\n%s", diff)
	}
}

func fieldsPage() []byte {
	var b bytes.Buffer
	b.WriteString(`# Fields of documents

Where each field of a [document](documents.md) comes from, in both syntaxes, and what qualifiers stand for. The tables are
made from those in the program (` + "`go test ./documents -run TestFieldsDoc -update`" + `), and every row is tried by a test
that puts its segments into a message.

Fields are named as in the JSON of the API; a field of a list is meant in any of its elements. Terms are those of
EN 16931-1. A field without a cell in a syntax has nothing there that says it. A profile in brackets is needed for the
row; the others hold for all. What is beside these, with its raw qualifier or as the segment that it was, stands in the
lists of dates, references, amounts, quantities, texts and measures, and in ` + "`other`" + `.
`)
	for _, part := range []struct {
		heading string
		facts   []fact
	}{{"Invoices", invoiceFacts}, {"Despatch advices", despatchFacts}} {
		fmt.Fprintf(&b, "\n## %s\n\n| term | field | EDIFACT | X12 |\n|---|---|---|---|\n", part.heading)
		for _, f := range part.facts {
			writeRow(&b, f.term, "`"+f.field+"`", f.edifact, f.x12)
		}
	}
	b.WriteString(`
## Dates

Dates are kept as ISO 8601, with the time that was sent and without converting it; a zone that was sent stands beside
the time. Of format 2379 are read: a day (2, 3, 4, 101, 102, 103, 105), with a time (5, 10, 201 to 204, 307), with a zone
(205 to 208, 301 to 304), a time alone (401, 402, 404), years, quarters, semesters, months and weeks (601 to 604, 608 to
610, 615, 616), periods (501, 502, 701, 702, 707 to 710, 713, 715 to 719) and spans of time (801 to 807, as P30D). Of
X12's 1250: D6, D8, DT, TM, TS, CM, CY, RD6, RD8, RDT. What is in another format is kept as it was sent, and
so, in most of these, is what is not [written](documents.md#findings) as its format says.

## Profiles

A guide says what qualifiers stand for where directory and standard leave it open. These are read; a partner's
[settings](partners.md) choose one, and may give a qualifier another role.

| profile | for | read without a setting where a message has |
|---|---|---|
`)
	for _, p := range roles.Profiles {
		writeRow(&b, "`"+p.Name+"`", p.For, p.By)
	}
	b.WriteString("\nWhat they read differently from the base tables below:\n\n| profile | syntax | kind | qualifier | role |\n|---|---|---|---|---|\n")
	for _, p := range roles.Profiles {
		for i, entries := range [2]roles.Entries{p.EDIFACT, p.X12} {
			for _, list := range roles.Lists {
				for _, e := range entries[list.Kind] {
					writeRow(&b, "`"+p.Name+"`", [2]string{"EDIFACT", "X12"}[i], list.Name, e.Qualifier, "`"+e.Role+"`")
				}
			}
		}
	}
	b.WriteString("\n## Roles\n\nThe words that stand for roles, with the qualifiers that have them in the base tables, the one that counts first where\nthere is to be one. `none` takes a qualifier's role away.\n")
	for _, list := range roles.Lists {
		fmt.Fprintf(&b, "\n### %s\n\nEDIFACT: %s. X12: %s.\n\n| role | meaning | EDIFACT | X12 |\n|---|---|---|---|\n", list.Name, list.EDIFACT, list.X12)
		for _, w := range list.Words {
			writeRow(&b, "`"+w.Role+"`", w.Means, qualifiersOf(roles.BaseEDIFACT[list.Kind], w.Role), qualifiersOf(roles.BaseX12[list.Kind], w.Role))
		}
	}
	return b.Bytes()
}

func qualifiersOf(entries []roles.Entry, role string) string {
	var list []roles.Entry
	for _, e := range entries {
		if e.Role == role {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b roles.Entry) int { return int(b.Rank) - int(a.Rank) })
	var names []string
	for _, e := range list {
		names = append(names, e.Qualifier)
	}
	return strings.Join(names, ", ")
}

func writeRow(b *bytes.Buffer, cells ...string) {
	for _, c := range cells {
		b.WriteString("|")
		if c != "" {
			b.WriteString(" " + c)
		}
		b.WriteString(" ")
	}
	b.WriteString("|\n")
}

// TestProfiles reads messages by a guide that its sender does not name.
func TestProfiles(t *testing.T) {
	mapBy := func(t *testing.T, text []byte, by *roles.Set) *Document {
		t.Helper()
		_, all := readBy(t, text, &Reading{Roles: by})
		if len(all) != 1 || all[0].doc == nil {
			t.Fatalf("got %+v", all)
		}
		return all[0].doc
	}
	set := func(t *testing.T, profile string, settings roles.Settings) *roles.Set {
		t.Helper()
		s, ok := roles.New(profile, settings)
		if !ok {
			t.Fatalf("no profile %s", profile)
		}
		return s
	}
	invoic := molds["invoice"][0]
	t.Run("a qualifier that a partner gives another role plays it", func(t *testing.T) {
		text := invoic.pour(t, []string{"N NAD+CN+9520001000027::9", "N NAD+BY+9520001000034::9", "L MOA+66:100.00", "S MOA+128:119.00", "H RFF+ZZ:V-1", "H DTM+50:20261101:102", "L QTY+99:7:EA", "L PRI+AAB:5.50", "H FTX+ZZZ+++thirty days"})
		d := mapBy(t, text, set(t, roles.Automatic, roles.Settings{
			roles.Parties: {"CN": "buyer"}, roles.Amounts: {"66": "line_net"}, roles.Totals: {"128": "tax_inclusive"}, roles.References: {"ZZ": "contract"},
			roles.Dates: {"50": "invoice"}, roles.Quantities: {"99": "invoiced"}, roles.Prices: {"AAB": "net"}, roles.Texts: {"ZZZ": "payment_terms"},
		}))
		got := []string{d.Buyer.ID, d.Lines[0].NetAmount.String(), d.Totals.TaxInclusive.String(), d.Detail.References[0].Role, d.IssueDate, d.Lines[0].Quantity.String(), d.Lines[0].Price.String(), d.Detail.Texts[0].Role}
		want := []string{"9520001000027", "100.00", "119.00", "contract", "2026-11-01", "7", "5.50", "payment_terms"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if p := d.Detail.Parties[1]; p.Qualifier != "CN" || p.Role != "buyer" {
			t.Errorf("the qualifier that was sent is kept beside the role: %+v", p)
		}
	})
	t.Run("a role may be taken away", func(t *testing.T) {
		text := invoic.pour(t, []string{"S MOA+9:100.00", "S MOA+86:90.00"})
		d := mapBy(t, text, set(t, roles.Automatic, roles.Settings{roles.Totals: {"9": roles.None}}))
		if d.Totals.Payable.String() != "90.00" {
			t.Errorf("payable is %s", d.Totals.Payable)
		}
	})
	t.Run("a profile is over what the message says of itself", func(t *testing.T) {
		text := invoic.pour(t, []string{"N RFF+GN:HRB 7"})
		for profile, want := range map[string]string{roles.Automatic: "government_reference", "en16931": "company_registration", "edifact-d96a": "government_reference"} {
			d := mapBy(t, text, set(t, profile, roles.Settings{}))
			if got := d.Detail.Parties[0].References[0].Role; got != want {
				t.Errorf("%s: GN is %s, want %s", profile, got, want)
			}
		}
	})
	t.Run("goods item total is the line's amount in plain D.96A, and not beside 203", func(t *testing.T) {
		for _, order := range [][]string{{"L MOA+66:100.00"}, {"L MOA+66:100.00", "L MOA+203:95.00"}, {"L MOA+203:95.00", "L MOA+66:100.00"}} {
			d := mapBy(t, invoic.pour(t, order), set(t, "edifact-d96a", roles.Settings{}))
			want, kept := "95.00", 1
			if len(order) == 1 {
				want, kept = "100.00", 0
			}
			got := d.Lines[0]
			if got.NetAmount.String() != want || got.Detail != nil && len(got.Detail.Amounts) != kept {
				t.Errorf("%v: net %s, beside it %+v", order, got.NetAmount, got.Detail)
			}
			if kept > 0 && got.Detail.Amounts[0].Role != "goods" {
				t.Errorf("%v: kept as %+v", order, got.Detail.Amounts)
			}
		}
	})
	t.Run("nor where allowances or charges stand between them", func(t *testing.T) {
		line := func(more ...string) []byte {
			return counted(change(t, invoicText(), ":EAN008", "", "MOA+203:100.00", strings.Join(append([]string{"MOA+66:100.00"}, more...), "'"),
				"MOA+79:100.00", "MOA+79:90.00'MOA+125:90.00'MOA+128:100.00", "MOA+77:119.00", "MOA+77:107.10", "MOA+124:19.00", "MOA+124:17.10"))
		}
		d, errs := single(t, line("PRI+AAA:10.00'ALC+A++++DI'MOA+8:10.00"))
		if l := d.Lines[0]; l.NetAmount.Valid() || len(l.Detail.Amounts) != 1 || l.Detail.Amounts[0].Role != "goods" || l.Detail.Amounts[0].Amount.String() != "100.00" {
			t.Errorf("net %s, beside it %+v", l.NetAmount, l.Detail)
		}
		if len(errs) > 0 {
			t.Errorf("what adds up is said not to: %v", errs)
		}
		if d.Totals.TaxInclusive.String() != "107.10" {
			t.Errorf("the total with tax is %s", d.Totals.TaxInclusive)
		}
		if d, _ = single(t, change(t, line("ALC+A++++DI'MOA+8:10.00"), "MOA+77:107.10", "MOA+9:107.10")); d.Totals.TaxInclusive.Valid() {
			t.Errorf("what is before allowances is the total with tax: %s", d.Totals.TaxInclusive)
		}
		d = mapBy(t, line("ALC+A++++DI'MOA+8:10.00"), set(t, "edifact-d96a", roles.Settings{roles.Amounts: {"66": "line_net"}, roles.Totals: {"128": "tax_inclusive"}}))
		if d.Lines[0].NetAmount.String() != "100.00" || d.Totals.TaxInclusive.String() != "100.00" {
			t.Errorf("a partner's settings are not meant: %s, %s", d.Lines[0].NetAmount, d.Totals.TaxInclusive)
		}
		second := change(t, line("ALC+A++++DI'MOA+8:10.00"), "UNS+S", "LIN+2++9520001000018:EN'QTY+47:1'MOA+66:7.00'UNS+S")
		if d, _ = single(t, counted(second)); d.Lines[0].NetAmount.Valid() || d.Lines[1].NetAmount.String() != "7.00" {
			t.Errorf("two lines have %s and %s", d.Lines[0].NetAmount, d.Lines[1].NetAmount)
		}
	})
	t.Run("an issuer by setting is part of the identity, and the same without one stays it", func(t *testing.T) {
		text := invoic.pour(t, []string{"N NAD+MF+9520001000041::9"})
		plain := mapBy(t, text, nil)
		if plain.Issuer.Value != "9520001000010" || plain.GuardKey() != mapBy(t, text, set(t, "eancom", roles.Settings{})).GuardKey() {
			t.Errorf("the issuer is %+v", plain.Issuer)
		}
		if d := mapBy(t, text, set(t, "eancom", roles.Settings{roles.Parties: {"MF": "issuer"}})); d.Issuer.Value != "9520001000041" || d.GuardKey() == plain.GuardKey() {
			t.Errorf("by setting the issuer is %+v", d.Issuer)
		}
	})
}

// TestGuidesDoNotAllocate: every qualifier of every message is looked up.
func TestGuidesDoNotAllocate(t *testing.T) {
	by, _ := roles.New("eancom", roles.Settings{roles.Parties: {"CN": "ship_to"}})
	kind := &edi.MessageType{Type: "INVOIC", Version: "D", Release: "96A", AssociationCode: "EAN008"}
	n := testing.AllocsPerRun(100, func() {
		g := by.For("edifact", kind)
		for _, q := range [...]string{"CN", "SU", "??", ""} {
			if role, _ := g.Role(roles.Parties, q); role == "nothing" {
				t.Error(role)
			}
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
