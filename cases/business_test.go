package cases_test

// business are the situations of documents and of test indicators.
var business = []situation{
	{number: 81, words: "INVOIC without a number, or with one of 36 characters",
		does: "refused: 0085 = 13 at BGM 1004, 13 behind UNH where BGM is missing, 39 for a number over an..35. Nothing is cut off",
		tries: []try{
			{name: "BGM 1004 empty", steps: []step{{send: "81-invoic-no-number-a.edi",
				want: []string{"422 first invalid-interchange", "REF000701 rejected", "INVOIC refused", "error 13 document-number-missing, segment 2 BGM",
					"UCI 4", "UCM 1 INVOIC 4", "UCS 2", "UCD 13 3"},
				stored: nothing, mend: []string{"BGM+380++9", "BGM+380+RG-1+9"}}}},
			{name: "no BGM", steps: []step{{send: "81-invoic-no-number-b.edi",
				want: []string{"422 first invalid-interchange", "REF000702 rejected", "INVOIC refused", "warning 13 segment-missing, segment 1 BGM", "error 13 bgm-missing, segment 1",
					"UCI 4", "UCM 1 INVOIC 4", "UCS 1 13"},
				stored: nothing, mend: []string{"DTM+137", "BGM+380+RG-1+9'DTM+137", "UNT+16", "UNT+17"}}}},
			{name: "36 characters", steps: []step{{send: "81-invoic-no-number-c.edi",
				want: []string{"422 first invalid-interchange", "REF000703 rejected", "INVOIC refused", "warning 39 element-too-long, segment 2 BGM", "error 39 document-number-too-long, segment 2 BGM",
					"UCI 4", "UCM 1 INVOIC 4", "UCS 2", "UCD 39 3"},
				stored: nothing, mend: []string{"RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR", "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR"}}}}}},

	{number: 83, words: "totals that do not add up",
		does: "accepted and stored as sent, to the digit. A cent is within the tolerance of 0.05; 100.00 is the finding `tax-inclusive-total`, and CONTRL is positive",
		tries: []try{
			{name: "tax off by a cent", steps: []step{{send: "83-moa-sums-a.edi", want: accepted("REF000709", "RG-44"),
				stored: []string{"invoice RG-44 of 2026-11-27: 100.00 + 19.01 = 119.01 EUR", "  line 1: 9520000001018 10 × 10.00 = 100.00"}}}},
			{name: "total off by 100.00", steps: []step{{send: "83-moa-sums-b.edi",
				want:   accepted("REF000710", "RG-45", "warning tax-inclusive-total, segment 13 MOA"),
				stored: []string{"invoice RG-45 of 2026-11-27: 100.00 + 19.00 = 219.00 EUR", "  line 1: 9520000001018 10 × 10.00 = 100.00"}}}},
			{name: "four decimals", steps: []step{{send: "83-moa-sums-c.edi", want: accepted("REF000711", "RG-46"),
				stored: []string{"invoice RG-46 of 2026-11-27: 8.6957 + 1.3044 = 10.00 EUR", "  line 1: 9520000001018 1 × 8.6957 = 8.6957"}}}}}},

	{number: 85, words: "thousands of lines, six-digit segment counts",
		does: "accepted within the request, in one transaction, each line stored; up to 999,999 segments. That all lines say the same is one note, `line-repeated`",
		tries: []try{
			{name: "9999 lines", run: lines(9999), files: []string{"85-many-lines-gen.py"}},
			{name: "10000 lines", run: lines(10000)},
			{name: "120000 lines", run: lines(120000)}}},

	{number: 87, words: "one SSCC twice: in one DESADV and in two",
		does: "accepted and stored as sent. Twice in one notice: both packages are kept, finding `sscc-repeated`. In two notices: a package in each, both found by the SSCC, and a note `sscc-elsewhere` on the later. A wrong check digit and a line of nothing are findings",
		tries: []try{
			{name: "in one notice", steps: []step{{send: "87-sscc-repeated-a.edi",
				want: []string{"201 first", "REF000720 accepted", "DESADV LS-26-4410 posted", "warning 13 segment-missing, segment 10 PCI", "warning 13 segment-missing, segment 15 PCI", "warning sscc-repeated, segment 16 GIN", "UCI 7"},
				stored: []string{"despatch LS-26-4410 of 2026-11-27", "  package 1 in 0:", "  package 2 in 1: 201 095200000004410014",
					"  package 3 in 1: 201 095200000004410014", "  line 1: 9520000001018 48 in package 2", "  line 2: 9520000001025 24 in package 3"}}}},
			{name: "in two notices", steps: []step{
				{send: "87-sscc-repeated-b.edi", want: []string{"201 first", "REF000721 accepted", "DESADV LS-1 posted", "UCI 7"}, stored: sharedPallet("LS-1")},
				{send: "87-sscc-repeated-c.edi", want: []string{"201 first", "REF000722 accepted", "DESADV LS-2 posted", "note sscc-elsewhere, segment 13 GIN", "UCI 7"},
					stored: both(sharedPallet("LS-1"), sharedPallet("LS-2"))},
			}, run: bothNoticesNameThePallet},
			{name: "a wrong check digit and a quantity of 0", steps: []step{{send: "87-sscc-repeated-d.edi",
				want: []string{"201 first", "REF000723 accepted", "DESADV LS-3 posted", "warning 13 segment-missing, segment 9 PCI", "warning sscc-check-digit, segment 10 GIN", "warning zero-quantity, segment 12 QTY", "UCI 7"},
				stored: []string{"despatch LS-3 of 2026-11-27", "  package 1 in 0: 201 095200000004410022, check digit wrong",
					"  line 1: 9520000001018 0 in package 1"}}}}}},

	{number: 89, words: "dates: 101, 102 and 203, six and eight digits, impossible ones",
		does: "101, 102 and 203 are read, a time is kept without a zone, two-digit years 00 to 79 are of this century. UNB's date of eight digits under version 3: accepted with a warning. 31 November: refused with 0085 = 12. An empty DTM: accepted, absent, with a warning",
		tries: []try{
			{name: "101, 102, 203", steps: []step{{send: "89-dates-a.edi",
				want:   []string{"201 first", "REF000740 accepted", "INVOIC RG-60 posted", "INVOIC RG-61 posted", "INVOIC RG-62 posted", "UCI 7"},
				stored: both(both(invoice("RG-60", ""), invoice("RG-61", "")), invoice("RG-62", ""))}}, run: keepsTheTime},
			{name: "UNB of eight digits under version 3", steps: []step{{send: "89-dates-b.edi",
				want: accepted("REF000741", "RG-63", "warning 39 unb-date-length, segment 1 UNB"), stored: invoice("RG-63", "")}}},
			{name: "31 November", steps: []step{{send: "89-dates-c.edi",
				want: []string{"422 first invalid-interchange", "REF000742 rejected", "INVOIC refused", "error 12 invalid-date, segment 3 DTM",
					"warning issue-date-missing, segment 1 UNH", "UCI 4", "UCM 1 INVOIC 4", "UCS 3", "UCD 12 2 2"},
				stored: nothing, mend: []string{"20261131", "20261130"}}}},
			{name: "DTM with nothing", steps: []step{{send: "89-dates-d.edi",
				want:   accepted("REF000743", "RG-65", "warning date-empty, segment 3 DTM", "warning issue-date-missing, segment 1 UNH"),
				stored: []string{"invoice RG-65 of : 100.00 + 19.00 = 119.00 EUR", "  line 1: 9520000001018 10 × 10.00 = 100.00"}}}},
			{name: "BIG01 and GS04 without their century", steps: []step{{send: "89-dates-e.edi",
				want: accepted810("000000744", "INV-40", "warning 4 element-too-short, segment 2 BIG", "warning date-format, segment 2 BIG"), stored: invoice810("INV-40", "10.00", "100.00")}}}}},

	{number: 91, words: "TDS with implied decimals",
		does: "TDS and SAC05 have two implied decimals, prices none. A point in one of them is refused, AK4 code 6: what is meant is a hundredfold apart",
		tries: []try{
			{name: "9588", steps: []step{{send: "91-tds-implied-a.edi", want: accepted810("000000760", "INV-50"), stored: invoice810("INV-50", "9.588", "95.88")}}},
			{name: "95.88", steps: []step{{send: "91-tds-implied-b.edi", want: []string{"422 first invalid-interchange", "000000761 rejected", "810 refused",
				"warning 6 element-characters, segment 5 TDS", "error 6 invalid-number, segment 5 TDS", "AK1*IN*761", "AK2*810*0001", "AK3*TDS*5**8", "AK4*1**6", "AK5*R*5", "AK9*R*1*1*0"}, stored: nothing, mend: []string{"95.88", "9588"}}}},
			{name: "5 and -12050", steps: []step{{send: "91-tds-implied-c.edi", want: []string{"201 first", "000000762 accepted", "810 INV-52 posted", "810 INV-53 posted",
				"warning negative-price, segment 4 IT1", "note negative-total, segment 5 TDS", "AK1*IN*762", "AK2*810*0001", "AK5*A", "AK2*810*0002", "AK5*A", "AK9*A*2*2*2"},
				stored: both(invoice810("INV-52", "0.005", "0.05"), invoice810("INV-53", "-12.05", "-120.50"))}}},
			{name: "a charge of 350", steps: []step{{send: "91-tds-implied-d.edi", want: accepted810("000000763", "INV-54"), stored: invoice810("INV-54", "10", "103.50")}},
				run: chargeIs("3.50")}}},

	{number: 93, words: "the test indicator on the live endpoint, an acknowledgement asked for",
		does: "a test is parsed, acknowledged and kept as a test: no live document, no event, and a key of its own, so that the same reference is accepted live. CONTRL is sent whether asked for or not, TA1 where ISA14 asks for it. A duplicate gets the TA1 and 997 that it got first",
		tries: []try{
			{name: "0035 = 1, then live", steps: []step{
				{send: "93-test-indicator-a.edi", want: accepted("REF000805", "RG-71"), stored: testInvoice},
				{send: "93-test-indicator-a.edi", edit: []string{"++++++1'", "'"}, id: "live", want: accepted("REF000805", "RG-71"),
					stored: both(testInvoice, invoice("RG-71", ""))},
			}, run: onlyTheLiveOneIsAnEvent},
			{name: "0031 = 1", steps: []step{{send: "93-test-indicator-d.edi", want: accepted("REF000808", "RG-72"), stored: invoice("RG-72", "")}}},
			{name: "ISA15 = T, then live", steps: []step{
				{send: "93-test-indicator-b.edi", want: accepted810("000000806", "INV-60"), stored: test810},
				{send: "93-test-indicator-b.edi", edit: []string{"*0*T*", "*0*P*"}, id: "live", want: accepted810("000000806", "INV-60"), stored: both(test810, invoice810("INV-60", "10.00", "100.00"))},
			}},
			{name: "ISA14 = 1, and a duplicate of it", steps: []step{
				{send: "93-test-indicator-c.edi", want: withTA1("201 first"), stored: invoice810("INV-61", "10.00", "100.00")},
				{send: "93-test-indicator-c.edi", id: "once more", want: withTA1("200 duplicate")},
			}}}},
}

// test810 is a test of an X12 invoice.
var test810 = []string{"invoice INV-60 of 2026-11-27 from TALQUIST WORKS:  +  = 100.00 , not live, test", "  line 1:  10 × 10.00 = "}

// withTA1 is the answer to case 93's X12 invoice.
func withTA1(head string) []string {
	return append([]string{head, "000000807 accepted", "810 INV-61 posted", "TA1*000000807*261129*1015*A*000"}, accepted810("000000807", "INV-61")[3:]...)
}

// operations are procedures without files.
var operations = []situation{
	{number: 94, words: "a purge that blocks receipt", left: []left{{"-", purge}}},
	{number: 96, words: "the disk is full",
		does: "503, nothing is stored, and the resend is First once there is room again. The spool of a body is a file without a name, so that none is left",
		left: []left{{"-", "Run on volumes of its own by TestDatabaseFull and TestSpoolFull in crash/"}}},
	{number: 98, words: "clocks that step back or forward, or disagree; the hour that comes twice",
		does: "a duplicate stays a duplicate whatever the node's clock says. Dates that are stored are the database's, in UTC; 0017 and 0019 are the sender's, without a zone",
		tries: []try{
			{name: "set back two hours between receipt and resend", run: clockSetBack},
			{name: "two nodes ten minutes apart", run: clocksDisagree},
			{name: "UNB in the repeated hour of autumn", run: repeatedHour}},
		left: []left{{"98b", purge}}},
}

var testInvoice = []string{"invoice RG-71 of 2026-11-27: 100.00 + 19.00 = 119.00 EUR, not live, test", "  line 1: 9520000001018 10 × 10.00 = 100.00"}

// sharedPallet is a despatch advice with cartons under one SSCC.
func sharedPallet(number string) []string {
	return []string{"despatch " + number + " of 2026-11-27", "  package 1 in 0: 201", "  package 2 in 1: CT 095200000004410014",
		"  line 1: 9520000001018 48 in package 2"}
}
