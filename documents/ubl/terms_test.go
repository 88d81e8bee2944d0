package ubl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents"
)

// told gives what is told of a term of EN 16931 and not of lines.
func told(list []Remark, terms ...string) (texts []string) {
	for _, r := range list {
		if slices.Contains(terms, r.Term) && r.Kind == LeftOut {
			texts = append(texts, r.Term+": "+r.Text)
		}
	}
	return texts
}

func TestTerms(t *testing.T) {
	const parts = "BT-9: 2026-12-27 as the date when all is due: by its terms it is paid in parts, or on several days"
	unsaid := func(kind string, what ...string) (list []string) {
		for _, w := range what {
			list = append(list, fmt.Sprintf("BT-20: of a term of payment (UNTDID 4279 %q) %s", kind, w))
		}
		return list
	}
	for _, c := range []struct {
		name, terms string
		due, words  string
		left        []string
	}{
		{"instalments have no single date", "PAT+10'DTM+13:20261227:102'MOA+9:100.00'PAT+10'DTM+13:20270127:102'MOA+9:159.23'", "",
			"100.00 EUR payable until 2026-12-27\n159.23 EUR payable until 2027-01-27", append([]string{parts}, unsaid("10", "what it is")...)},
		{"a part of what is due is not all", "PAT+21'DTM+13:20261227:102'PCD+7:50'", "", "50 % of the invoice payable until 2026-12-27", []string{parts}},
		{"all of what is due, said again, is due on its day", "PAT+1'DTM+13:20261227:102'MOA+9:11.90'", "2026-12-27", "11.90 EUR payable until 2026-12-27", nil},
		{"a date of the header beside another of the terms is told", "DTM+13:20261227:102'PAT+1'DTM+13:20261231:102'", "", "payable until 2026-12-31", []string{parts}},
		{"a second date of the header is told", "DTM+13:20261227:102'DTM+13:20261228:102'", "", "", []string{"BT-9: a further date of the kind due", parts}},
		{"a date says what days say", "PAT+1++5:3:D:30'DTM+13:20261227:102'", "2026-12-27", "", nil},
		{"a term that says nothing leaves nothing out", "PAT+1'", "", "", nil},
		{"a penalty is said", "PAT+20++5:3:D:30'PCD+15:9'", "", "9 % penalty if paid later than 30 days after the date of the invoice", nil},
		{"a penalty with a day is said", "PAT+1'DTM+13:20261227:102'PAT+20'DTM+13:20261227:102'PCD+15:9'", "2026-12-27", "9 % penalty if paid later than 2026-12-27", nil},
		{"a penalty without a day is left out", "PAT+20'PCD+15:9'", "", "", unsaid("20", `its percentage, of the kind "15" of UNTDID 5245`)},
		{"a discount that is an amount is said", "PAT+22'DTM+12:20261207:102'MOA+52:5.00'", "", "5.00 EUR discount if paid until 2026-12-07", nil},
		{"a discount on a part, with its amount, is said", "PAT+22++5:3:D:10'PCD+12:2'MOA+52:5.00'MOA+129:250.00'", "", "2 % discount (5.00 EUR) on 250.00 EUR if paid within 10 days after the date of the invoice", nil},
		{"a discount without a deadline is left out", "PAT+22++66'PCD+12:2'", "", "", unsaid("22", `its percentage, of the kind "12" of UNTDID 5245`, `when:  , 2009 "", 2475 "66"`)},
		{"a discount that is none is left out", "PAT+22++5:3:D:10'", "", "", unsaid("22", `when: 10 D, 2009 "3", 2475 "5"`)},
		{"a percentage of another kind is no discount", "PAT+22++5:3:D:10'PCD+15:2'", "", "", unsaid("22", `its percentage, of the kind "15" of UNTDID 5245`, `when: 10 D, 2009 "3", 2475 "5"`)},
		{"days from delivery are days from delivery", "PAT+1++29:3:D:30'", "", "payable within 30 days after delivery of the goods", nil},
		{"one week is not one weeks", "PAT+1++9:3:W:1'", "", "payable within 1 week after receipt of the invoice", nil},
		{"days from the end of the month are left out", "PAT+1++5:6:D:30'", "", "", unsaid("1", `when: 30 D, 2009 "6", 2475 "5"`)},
		{"days of a term at the end of the month are left out", "PAT+2++5:3:D:30'", "", "", unsaid("2", "what it is", `when: 30 D, 2009 "3", 2475 "5"`)},
		{"a code of terms is told", "PAT+1+08:::thirty days net'", "", "thirty days net", unsaid("1", "its code, 08")},
		{"figures beside a text are said too", "PAT+1+:::net+5:3:D:30'", "", "net\npayable within 30 days after the date of the invoice", nil},
		{"an amount without a day is left out", "PAT+1'MOA+9:5.00'", "", "", unsaid("1", "its amount 9")},
		{"a date that is no day is left out", "PAT+1'DTM+209:202612:610'", "", "", unsaid("1", "its date 209, 2026-12")},
		{"when to pay, of a discount, is not when all is due", "PAT+22'DTM+13:20261207:102'PCD+12:2'PAT+1++5:3:D:30'", "",
			"2 % discount if paid until 2026-12-07\npayable within 30 days after the date of the invoice", nil},
		{"nor of a penalty", "PAT+20'DTM+13:20261207:102'PCD+15:9'PAT+1++5:3:D:30'", "",
			"9 % penalty if paid later than 2026-12-07\npayable within 30 days after the date of the invoice", nil},
		{"nor where nothing else is said, which is told", "PAT+22'DTM+13:20261207:102'PCD+12:2'", "", "2 % discount if paid until 2026-12-07",
			[]string{"BT-9: 2026-12-07 as the date when all is due: only a discount or a penalty says it"}},
		{"when to pay, of a discount alone, gives way to the term's", "PAT+22'DTM+13:20261207:102'PCD+12:2'PAT+1'DTM+13:20261227:102'", "2026-12-27", "2 % discount if paid until 2026-12-07", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, list := written(t, of(t, invoice(c.terms, line)))
			got := leaves(t, file)
			if diff := cmp.Diff([]string{c.due, c.words}, []string{got["DueDate"], got["PaymentTerms/Note"]}); diff != "" {
				t.Errorf("date and terms: %s", diff)
			}
			if diff := cmp.Diff(c.left, told(list, "BT-9", "BT-20")); diff != "" {
				t.Errorf("told: %s", diff)
			}
		})
	}
}

// itd810 makes an 810 with an ITD.
func itd810(itd string) string {
	return "ISA*00*          *00*          *ZZ*A              *ZZ*B              *261127*1015*U*00401*000000001*0*P*>~" +
		"GS*IN*A*B*20261127*1015*1*X*004010~ST*810*0001~BIG*20261127*7*****DI~CUR*SE*EUR~" + itd + "~IT1**1*EA*300.00~TDS*30000~SE*7*0001~GE*1*1~IEA*1*000000001~"
}

func TestTermsX12(t *testing.T) {
	for _, c := range []struct{ name, itd, due, words, left string }{
		{"what is deferred is said", "ITD*04*3****20261227***20270127*10000", "", "payable until 2026-12-27\n100.00 EUR deferred until 2027-01-27", "BT-9"},
		{"a day of the month is left out", "ITD*09*3*****30******10", "", "", "when: 30 D"},
		{"days at the end of the month are left out", "ITD*02*3*****30", "", "", "its code, 02"},
		{"the day of a discount is not when all is due", "ITD*08*3*2*20261207***30", "", "2 % discount if paid until 2026-12-07\npayable within 30 days after the date of the invoice", ""},
		{"nor is it alone", "ITD*22*3*2*20261207", "", "2 % discount if paid until 2026-12-07", ""},
		{"days net are said", "ITD*08*3*2**10**30", "", "2 % discount if paid within 10 days after the date of the invoice\npayable within 30 days after the date of the invoice", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, list := written(t, of810(t, c.itd))
			got := leaves(t, file)
			if diff := cmp.Diff([]string{c.due, c.words}, []string{got["DueDate"], got["PaymentTerms/Note"]}); diff != "" {
				t.Errorf("date and terms: %s", diff)
			}
			if all := strings.Join(told(list, "BT-9", "BT-20"), "\n"); !strings.Contains(all, c.left) || c.left == "" && all != "" {
				t.Errorf("told %q, want %q", all, c.left)
			}
		})
	}
}

func of810(t *testing.T, itd string) *documents.Document { return mapped(t, []byte(itd810(itd))) }

func TestRateOfExchange(t *testing.T) {
	_, list := written(t, of(t, strings.Replace(invoice("", line), "CUX+2:EUR:4'", "CUX+2:USD:4+3:EUR:11+0.9137'", 1)))
	want := []string{": the rate of exchange of a currency", ": a further currency"}
	if diff := cmp.Diff(want, told(list, "")); diff != "" {
		t.Errorf("told: %s", diff)
	}
}

func TestAccounts(t *testing.T) {
	const sellers, factors, debtors = "DE02120300000000202051", "DE89370400440532013000", "DE02100100100006820101"
	seller := "NAD+SU+1::9++Seller+++++DE'FII+RB+" + sellers + ":Seller'"
	for _, c := range []struct {
		name, parties string
		paid          string
		left          []string
	}{
		{"the factor's account stands alone", "NAD+PE+++Factor AG+++++DE'FII+RB+" + factors + ":Factor AG'" + seller, factors,
			[]string{"BG-17: an account of the seller: it is the payee's that is to be paid to"}},
		{"an account that both name is one", "NAD+PE+++Factor AG+++++DE'FII+RB+" + sellers + "'" + seller, sellers, nil},
		{"the seller's is no account of a factor who names none", "NAD+PE+++Factor AG+++++DE'" + seller, "",
			[]string{"BG-17: an account of the seller: another is to be paid, who names none", "BT-84 missing: the account of the payee: the only one is the seller's"}},
		{"nor where his bank is said without an account", "NAD+PE+++Factor AG+++++DE'FII+RB++COBADEFF:25:5'" + seller, "",
			[]string{"BG-17: a bank without an account", "BG-17: an account of the seller: another is to be paid, who names none", "BT-84 missing: the account of the payee: the only one is the seller's"}},
		{"by EN 16931 it stands beneath the seller, whoever is paid", "FTX+DOC++P1+urn?:cen.eu?:en16931?:2017'NAD+PE+++Factor AG+++++DE'" + seller, sellers,
			[]string{"BT-84 derived: the account of the payee, from beneath the seller: EN 16931 has it there in INVOIC"}},
		{"a payee without an account, and a seller without", "NAD+PE+++Factor AG+++++DE'NAD+SU+1::9++Seller+++++DE'", "", nil},
		{"a payee that is the seller leaves both", "NAD+PE+1::9++Seller+++++DE'FII+RB+" + factors + "'" + seller, factors + sellers, nil},
		{"a bank between the two is none to pay to", seller + "FII+I1+" + factors + "'", sellers, []string{"BG-17: a bank between the two or of the buyer (FII I1)"}},
		{"a bank without an account is told", seller + "FII+RB++BYLADEM1001:25:5'", sellers, []string{"BG-17: a bank without an account"}},
		{"a further account of the buyer is told", seller + "NAD+BY+2::9++Buyer+++++DE'FII+PB+" + debtors + "'FII+PB+" + factors + "'", sellers,
			[]string{": the party buyer", "BT-91: a further account of the buyer: EN 16931 has one"}},
		{"an account of whom the goods go to is told", seller + "NAD+DP+++Depot'FII+RB+" + factors + "'", sellers, []string{": an account of the party delivery"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(invoice("", line), "NAD+SU+1::9++Seller+++++DE'", c.parties, 1)
			file, list := written(t, of(t, text))
			if got := leaves(t, file)["PaymentMeans/PayeeFinancialAccount/ID"]; got != c.paid {
				t.Errorf("to pay to: got %s, want %s", got, c.paid)
			}
			left := told(list, "", "BG-17", "BT-91")
			for _, r := range list {
				if r.Term == "BT-84" {
					left = append(left, r.Term+" "+r.String())
				}
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("told: %s", diff)
			}
		})
	}
}

// TestDueOfADiscountThatIsStored: a document that was stored while the day of a discount
// stood as its due date says so no more.
func TestDueOfADiscountThatIsStored(t *testing.T) {
	d := of(t, invoice("PAT+22'DTM+13:20261207:102'PCD+12:2'PAT+1++5:3:D:30'", line))
	for _, credit := range []string{"380", "381"} {
		d.TypeCode, d.DueDate = credit, "2026-12-07"
		file, list := written(t, d)
		if got := leaves(t, file); got["DueDate"]+got["PaymentMeans/PaymentDueDate"] != "" {
			t.Errorf("%s: due on %s%s", credit, got["DueDate"], got["PaymentMeans/PaymentDueDate"])
		}
		want := []string{"BT-9: 2026-12-07 as the date when all is due: only a discount or a penalty says it"}
		if diff := cmp.Diff(want, told(list, "BT-9")); diff != "" {
			t.Errorf("%s: told: %s", credit, diff)
		}
	}
}

// TestNothingOfPaymentIsLost takes each fact out of what documents say of paying: the
// file or what is told with it is another then, or the fact was dropped in silence.
func TestNothingOfPaymentIsLost(t *testing.T) {
	silent := []string{
		".Usage", ".Function", // of a currency: whether it is the invoice's, which its code says
		".Role", ".Raw", ".Format", // how it was read
		".Qualifier", // of what is said in words
		".Relation",  // 3, after, is what days are without it
		".Of",        // of a percentage that is said
	}
	for _, terms := range []string{
		"PAT+10'DTM+13:20261227:102'MOA+9:100.00'", "PAT+20++9:3:D:30'PCD+15:9'", "PAT+20'PCD+15:9'", "PAT+22++66'PCD+12:2'", "PAT+22'DTM+12:20261207:102'MOA+52:5.00:USD'",
		"PAT+1++29:3:D:30'", "PAT+1++5:6:D:30'", "PAT+2++9:7:M:2'", "PAT+1+08:::net+5:3:WD:30'", "PAT+1'DTM+209:20261227:102'MOA+400:3.00'", "PYT+21++5+3+D+30'PCD+7:50'",
	} {
		d := of(t, invoice("CUX+2:EUR:4+6:SEK:11+9.5'"+terms, line))
		whole := paid(t, d)
		for path, x := range variants(t, d) {
			field, emptied := strings.CutSuffix(path, " empty")
			if !emptied {
				field, emptied = strings.CutSuffix(path, " without a number")
			}
			of := strings.HasPrefix(path, ".Detail.Invoice.Terms") || strings.HasPrefix(path, ".Detail.Invoice.Currencies")
			if !of || !emptied || slices.ContainsFunc(silent, func(s string) bool { return strings.HasSuffix(field, s) }) {
				continue
			}
			if paid(t, x) == whole {
				t.Errorf("%s: %s: nobody sees it", terms, path)
			}
		}
	}
}

// paid is all that a reader gets of a document.
func paid(t *testing.T, d *documents.Document) string {
	t.Helper()
	var b bytes.Buffer
	list, err := Write(&b, d)
	return fmt.Sprint(b.String(), list, err)
}
