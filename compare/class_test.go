package compare_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/edi"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestClasses(t *testing.T) {
	const base = "invoic.edi"
	for _, c := range []struct {
		name  string
		edits []string
		want  told
	}{
		{"the same bytes differ in nothing", nil, told{"", compare.Info, "no difference"}},
		{"an amount changed", []string{"MOA+77:1670.76", "MOA+77:1770.72", "MOA+9:1670.76", "MOA+9:1770.72", "PRI+AAA:10.00", "PRI+AAA:18.40", "MOA+203:100.00", "MOA+203:184.00"},
			told{compare.Business, compare.Critical, "total 1 670.76 → 1 770.72 EUR, 1 price"}},
		{"due alone changed", []string{"MOA+9:1670.76", "MOA+9:1600"},
			told{compare.Business, compare.Critical, "due 1 670.76 → 1 600 EUR"}},
		{"the bank account changed", []string{"DE89370400440532013000", "GB29NWBK60161331926819"},
			told{compare.Business, compare.Critical, "bank account DE89…3000 → GB29…6819"}},
		{"an account in free text", []string{"Danke f?'r Ihren Auftrag", "Neue IBAN?: GB29 NWBK 6016 1331 9268 19"},
			told{compare.Business, compare.Critical, "bank account"}},
		{"the payee changed", []string{"Talquist Factoring AG", "Quick Money Ltd", "9520001000034", "9520001000041"},
			told{compare.Business, compare.Critical, "payee Talquist Factoring AG → Quick Money Ltd"}},
		{"the payee's address changed", []string{"Ringstr. 5", "Ringstr. 6"},
			told{compare.Business, compare.Critical, "payee details"}},
		{"a payee appeared", []string{"NAD+BY+", "NAD+RE+9520001000058::9++Quick Money Ltd'NAD+BY+", "UNT+42", "UNT+43"},
			told{compare.Business, compare.Critical, "payee added Quick Money Ltd"}},
		{"the seller is no payee where one is named", []string{"Talquist Werke GmbH+Hafen", "Talquist Works+Hafen"},
			told{compare.Business, compare.High, "1 party"}},
		{"a quantity and a price changed", []string{"QTY+47:10:PCE", "QTY+47:11:PCE", "PRI+AAA:4.52", "PRI+AAA:4.53"},
			told{compare.Business, compare.Critical, "1 price, 1 quantity"}},
		{"the tax rate changed", []string{"TAX+7+VAT+++:::19+S'\nUNS", "TAX+7+VAT+++:::7+S'\nUNS"},
			told{compare.Business, compare.Critical, "1 tax"}},
		{"the currency changed", []string{"CUX+2:EUR", "CUX+2:USD"},
			told{compare.Business, compare.Critical, "currency EUR → USD"}},
		{"total and currency changed", []string{"CUX+2:EUR", "CUX+2:USD", "MOA+77:1670.76", "MOA+77:1000000"},
			told{compare.Business, compare.Critical, "total 1 670.76 EUR → 1 000 000 USD, currency EUR → USD"}},
		{"an invoice became a credit note", []string{"BGM+380", "BGM+381"},
			told{compare.Business, compare.Critical, "document type 380 → 381"}},
		{"a replacement is high only", []string{"RG-900+9", "RG-900+5"},
			told{compare.Business, compare.High, "function 9 → 5"}},
		{"a date and a reference changed", []string{"DTM+35:20261125", "DTM+35:20261126", "RFF+ON:BE-55012", "RFF+ON:BE-55013"},
			told{compare.Business, compare.High, "1 date, 1 reference"}},
		{"a text changed", []string{"Danke f?'r", "Dank f?'r"},
			told{compare.Business, compare.High, "1 other segment"}},
		{"a section separator taken out is no envelope", []string{"UNS+S'\n", ""},
			told{compare.Business, compare.High, "1 other segment"}},
		{"an amount written differently is not critical", []string{"MOA+77:1670.76", "MOA+77:1670.760"},
			told{compare.Business, compare.High, "1 amount written differently"}},
		{"another number", []string{"RG-900", "RG-901"},
			told{compare.DifferentDocument, compare.High, "another document: INVOIC RG-900 from 9520001000010 to 9520002000019 → INVOIC RG-901 from 9520001000010 to 9520002000019"}},
		{"another type", []string{"INVOIC:", "ORDERS:"},
			told{compare.DifferentDocument, compare.High, "another document: INVOIC RG-900 from 9520001000010 to 9520002000019 → ORDERS RG-900 from 9520001000010 to 9520002000019"}},
		{"another receiver", []string{"+9520002000019:14+26", "+9520002000026:14+26"},
			told{compare.DifferentDocument, compare.High, "another document: INVOIC RG-900 from 9520001000010 to 9520002000019 → INVOIC RG-900 from 9520001000010 to 9520002000026"}},
		{"a receiver's qualifier is envelope", []string{"9520002000019:14+26", "9520002000019:ZZ+26"},
			told{compare.Envelope, compare.Low, "envelope only: recipient qualifier 14 → ZZ"}},
		{"a new time", []string{"261129:1015", "261130:1345"},
			told{compare.Envelope, compare.Low, "envelope only: preparation date 261129 → 261130; preparation time 1015 → 1345"}},
		{"other references", []string{"UNH+1+", "UNH+7+", "UNT+42+1", "UNT+42+7", "+REF000900'\nUNH", "+REF000901'\nUNH", "UNZ+1+REF000900", "UNZ+1+REF000901"},
			told{compare.Envelope, compare.Low, "envelope only: control reference REF000900 → REF000901; message reference 1 → 7"}},
		{"a test indicator and a password", []string{"+REF000900'\nUNH", "+REF000900+SECRET+++++1'\nUNH"},
			told{compare.Envelope, compare.Low, "envelope only: recipient password none → SECRET; test indicator none → 1"}},
		{"line breaks", []string{"'\nBGM", "'\r\nBGM"},
			told{compare.Formatting, compare.Info, "same segments: line breaks, padding or empty elements"}},
		{"padding and trailing separators", []string{"Kiel+", "Kiel   +", "LIN+1++9520000001018:EN'", "LIN+1++9520000001018:EN:::+'", "9520001000010:14", "9520001000010   :14"},
			told{compare.Formatting, compare.Info, "same segments: line breaks, padding or empty elements"}},
		{"the character set", []string{"UNOC:3", "UNOD:3"},
			told{compare.Formatting, compare.Info, "same segments: character set UNOC → UNOD"}},
		{"UNA left out", []string{"UNA:+.? '\n", ""},
			told{compare.Formatting, compare.Info, "same segments: UNA left out"}},
		{"no trailer", []string{"UNZ+1+REF000900'", ""},
			told{compare.Unparseable, compare.Medium, "cannot be read: "}},
		{"no interchange", []string{"UNB+UNOC:3", "XXX+UNOC:3"},
			told{compare.Unparseable, compare.Medium, "cannot be read: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := parse(t, sample(t, base)), parse(t, sample(t, base, c.edits...))
			got := tell(compare.Diff(a, b, compare.Names{}))
			if c.want.Class == compare.Unparseable { // the reader's own sentence follows
				got.Words = got.Words[:min(len(got.Words), len(c.want.Words))]
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
			if class, severity := compare.Classify(a, b); class != got.Class || severity != got.Severity {
				t.Fatalf("Classify says %s %s", class, severity)
			}
		})
	}
}

func TestSellerIsPaidWhereNoPayeeIsNamed(t *testing.T) {
	strip := []string{"NAD+PE+9520001000034::9++Talquist Factoring AG+Ringstr. 5+Hamburg++20095+DE'\n", "", "UNT+42", "UNT+41"}
	a := parse(t, sample(t, "invoic.edi", strip...))
	b := parse(t, sample(t, "invoic.edi", append(strip, "Talquist Werke GmbH+Hafen", "Talquist Works+Hafen")...))
	want := told{compare.Business, compare.Critical, "payee Talquist Werke GmbH → Talquist Works"}
	if d := cmp.Diff(want, tell(compare.Diff(a, b, compare.Names{}))); d != "" {
		t.Fatal(d)
	}
}

func TestDelimiters(t *testing.T) {
	a := sample(t, "invoic.edi")
	r := strings.NewReplacer("UNA:+.? '", "UNA|^,\\ ~", "f?'r", "f'r", ":", "|", "+", "^", "'", "~", ".", ",")
	b := r.Replace(a)
	b = strings.NewReplacer("Hafenstr, 1", "Hafenstr. 1", "Ringstr, 5", "Ringstr. 5").Replace(b)
	got := tell(compare.Diff(parse(t, a), parse(t, b), compare.Names{}))
	want := told{compare.Formatting, compare.Info, "same segments: segment terminator ' → ~, element separator + → ^, " +
		"component separator : → |, release character ? → \\, decimal mark . → ,"}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}

func TestCharacterSets(t *testing.T) {
	latin := sample(t, "invoic.edi", "Danke f?'r", "Danke f\xfcr")
	utf8 := sample(t, "invoic.edi", "Danke f?'r", "Danke für", "UNOC:3", "UNOY:4")
	got := compare.Diff(parse(t, latin), parse(t, utf8), compare.Names{})
	if got.Class != compare.Formatting || !strings.Contains(got.Words(), "character set UNOC → UNOY") {
		t.Fatal(tell(got))
	}
}

func TestPurgedAndUnreadable(t *testing.T) {
	x := parse(t, sample(t, "invoic.edi"))
	for _, c := range []struct {
		name string
		a, b *compare.Interchange
		want told
	}{
		{"of the original only digests are left", nil, x, told{compare.OriginalPurged, compare.Medium, "the original is no longer kept, only its digests"}},
		{"nothing came", x, nil, told{compare.Unparseable, compare.Medium, "cannot be read: no payload"}},
		{"a fault with a terminal's escape sequence", x, compare.Unreadable("bad \x1b[2J byte"), told{compare.Unparseable, compare.Medium, `cannot be read: bad \x1b[2J byte`}},
		{"the original could not be read either", compare.Unreadable(""), x, told{compare.Unparseable, compare.Medium, "the original cannot be read: no interchange was found"}},
		{"a side without an envelope", &compare.Interchange{}, x, told{compare.Unparseable, compare.Medium, "cannot be read: no envelope"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, tell(compare.Diff(c.a, c.b, compare.Names{}))); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestManyMessages(t *testing.T) {
	write := func(edit map[int][2]string, skip int, order ...int) string {
		var b strings.Builder
		b.WriteString("UNB+UNOC:3+A:14+B:14+261129:1015+MANY'")
		n := 0
		for i := 1; i <= 40; i++ {
			at := i
			if len(order) >= i {
				at = order[i-1]
			}
			if at == skip {
				continue
			}
			n++
			s := fmt.Sprintf("UNH+%d+INVOIC:D:96A:UN'BGM+380+RG-%d+9'CUX+2:EUR:4'LIN+1'QTY+47:1'PRI+AAA:10.00'UNS+S'MOA+77:%d.00'UNT+9+%d'", at, at, at*1000, at)
			if e, ok := edit[at]; ok {
				s = strings.Replace(s, e[0], e[1], 1)
			}
			b.WriteString(s)
		}
		fmt.Fprintf(&b, "UNZ+%d+MANY'", n)
		return b.String()
	}
	a := write(nil, 0)

	t.Run("2 of 40 differ", func(t *testing.T) {
		b := write(map[int][2]string{3: {"3000.00", "3001.00"}, 9: {"10.00", "11.00"}}, 0)
		r := compare.Diff(parse(t, a), parse(t, b), compare.Names{})
		want := told{compare.Business, compare.Critical, "2 of 40 messages: RG-3 total 3 000.00 → 3 001.00 EUR; RG-9 1 price"}
		if d := cmp.Diff(want, tell(r)); d != "" {
			t.Fatal(d)
		}
		if r.Counts.MessagesEqual != 38 || r.Counts.MessagesChanged != 2 {
			t.Fatalf("%+v", r.Counts)
		}
	})
	t.Run("nothing is kept of messages that the other side has byte for byte", func(t *testing.T) {
		b := write(map[int][2]string{3: {"3000.00", "3001.00"}}, 0)
		_, scanned := parseBeside(t, a, nil, compare.Limits{})
		y, other := parseBeside(t, b, scanned, compare.Limits{})
		x, _ := parseBeside(t, a, other, compare.Limits{})
		kept := 0
		for i := range x.Messages {
			kept += len(x.Messages[i].Segments) + len(y.Messages[i].Segments)
		}
		if kept != 18 {
			t.Fatalf("%d segments kept, want those of one message twice", kept)
		}
		want := told{compare.Business, compare.Critical, "1 of 40 messages: RG-3 total 3 000.00 → 3 001.00 EUR"}
		if d := cmp.Diff(want, tell(compare.Diff(x, y, compare.Names{}))); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("one is missing", func(t *testing.T) {
		got := tell(compare.Diff(parse(t, a), parse(t, write(nil, 5)), compare.Names{}))
		if d := cmp.Diff(told{compare.Business, compare.Critical, "1 of 40 messages: RG-5 removed"}, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("another order is envelope", func(t *testing.T) {
		got := tell(compare.Diff(parse(t, a), parse(t, write(nil, 0, 2, 1)), compare.Names{}))
		if d := cmp.Diff(told{compare.Envelope, compare.Low, "envelope only: order of messages"}, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("beyond the limits digests are compared, and it is said", func(t *testing.T) {
		b := write(map[int][2]string{3: {"3000.00", "3001.00"}, 40: {"40000.00", "40001.00"}}, 0)
		limits := compare.Limits{Segments: 100}
		x, _ := parseBeside(t, a, nil, limits)
		y, _ := parseBeside(t, b, nil, limits)
		want := told{compare.Business, compare.Critical, "2 of 40 messages: RG-3 total 3 000.00 → 3 001.00 EUR; " +
			"RG-40 other content, compared by digest only (29 of 40 messages compared by digest only)"}
		if d := cmp.Diff(want, tell(compare.Diff(x, y, compare.Names{}))); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("equal bytes under other delimiters are not equal", func(t *testing.T) {
		const message = "UNH+1+INVOIC:D:96A:UN'BGM+380+RG-1+9'MOA+77:1|2'UNT+4+1'UNZ+1+ONE'"
		x, ic := parseBeside(t, "UNB+UNOC:3+A:14+B:14+261129:1015+ONE'"+message, nil, compare.Limits{})
		y, _ := parseBeside(t, "UNA|+.? 'UNB+UNOC|3+A|14+B|14+261129|1015+ONE'"+message, ic, compare.Limits{})
		if got := compare.Diff(x, y, compare.Names{}); got.Class == compare.Formatting || len(got.Messages) != 1 {
			t.Fatal(tell(got))
		}
	})
}

func TestSharedCases(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want told
	}{
		{"42-resend-new-time-a.edi", "42-resend-new-time-b.edi",
			told{compare.Envelope, compare.Low, "envelope only: preparation time 1015 → 1345"}},
		{"40-padded-ids-a.edi", "40-padded-ids-b.edi",
			told{compare.Formatting, compare.Info, "same segments: line breaks, padding or empty elements"}},
		{"36-same-ref-other-sender-a.edi", "36-same-ref-other-sender-b.edi",
			told{compare.DifferentDocument, compare.High, "another document: INVOIC RG-20 from 9520001000010 to 9520002000019 → INVOIC RG-21 from 9520001000027 to 9520002000019"}},
		{"38-ref-reuse-after-year-a.edi", "38-ref-reuse-after-year-b.edi",
			told{compare.DifferentDocument, compare.High, "another document: INVOIC RG-25-900 from 9520001000010 to 9520002000019 → INVOIC RG-26-900 from 9520001000010 to 9520002000019"}},
	} {
		t.Run(c.a, func(t *testing.T) {
			got := tell(compare.Diff(parse(t, shared(t, c.a)), parse(t, shared(t, c.b)), compare.Names{}))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
	t.Run("42-resend-new-time-c.edi", func(t *testing.T) {
		got := tell(compare.Diff(parseX12(t, shared(t, "42-resend-new-time-c.edi")), parseX12(t, shared(t, "42-resend-new-time-d.edi")), compare.Names{}))
		want := told{compare.Envelope, compare.Low, "envelope only: interchange time 1015 → 1345; group time 1015 → 1345"}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestEnvelopeWithoutPayload(t *testing.T) {
	side := func(time string) *compare.Interchange {
		ic := &edi.Interchange{Syntax: "edifact", Complete: true, Time: time, Date: "20261129", Test: time == "1345"}
		return (&compare.Builder{Envelope: ic}).Interchange()
	}
	got := tell(compare.Diff(side("1015"), side("1345"), compare.Names{}))
	want := told{compare.Envelope, compare.Low, "envelope only: preparation time 1015 → 1345; test indicator none → 1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
