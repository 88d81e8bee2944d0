package cases_test

import (
	"strings"
	"time"
)

// accepted is the answer to one invoice that was posted.
func accepted(reference, number string, findings ...string) []string {
	lines := append([]string{"201 first", reference + " accepted", "INVOIC " + number + " posted"}, findings...)
	return append(lines, "UCI 7")
}

// accepted810 is the answer to one X12 invoice that was posted.
func accepted810(reference, number string, findings ...string) []string {
	lines := append([]string{"201 first", reference + " accepted", "810 " + number + " posted"}, findings...)
	group := strings.TrimLeft(reference, "0")
	return append(lines, "AK1*IN*"+group, "AK2*810*0001", "AK5*A", "AK9*A*1*1*1")
}

// invoice810 is what is stored of an X12 invoice of ten pieces. It says no amount of
// the line and no total of lines: X12 has none.
func invoice810(number, price, total string) []string {
	return []string{"invoice " + number + " of 2026-11-27 from TALQUIST WORKS:  +  = " + total + " ", "  line 1:  10 × " + price + " = "}
}

// invoice is what is stored of an invoice of ten pieces, from a supplier who may
// have a name.
func invoice(number, from string) []string {
	if from != "" {
		from = " from " + from
	}
	return []string{
		"invoice " + number + " of 2026-11-27" + from + ": 100.00 + 19.00 = 119.00 EUR",
		"  line 1: 9520000001018 10 × 10.00 = 100.00",
	}
}

func both(a, b []string) []string { return append(a[:len(a):len(a)], b...) }

// nothing is stored, where it is not nil.
var nothing = []string{}

const day = 24 * time.Hour

// envelopes are the situations of envelopes and delimiters.
var envelopes = []situation{
	{number: 1, words: "UNA with none of the default service characters",
		does: "accepted; the supplier's name keeps its `^` and `~`, `100,00` is 100.00; the CONTRL has the default characters",
		tries: []try{{steps: []step{{send: "01-una-odd.edi", want: accepted("REF000101", "RG-26-10871"),
			stored: invoice("RG-26-10871", "Tal^quist~Werke")}}}}},

	{number: 3, words: "a released release character right before the terminator",
		does: "accepted; the names end with `?` and with `?'`",
		tries: []try{
			{name: "??'", steps: []step{{send: "03-release-release-a.edi", want: accepted("REF000103", "RG-26-10871"),
				stored: invoice("RG-26-10871", "Alles klar?")}}},
			{name: "???''", steps: []step{{send: "03-release-release-b.edi", want: accepted("REF000104", "RG-26-10871"),
				stored: invoice("RG-26-10871", "Alles klar?'")}}}}},

	{number: 5, words: "UNB with trailing empty elements, or with the mandatory ones alone",
		does: "accepted; the reference is the fifth element whatever stands behind it. An address without qualifier is another one: 403 `sender-not-allowed`, until the partner is set up with it",
		tries: []try{
			{name: "trailing elements", steps: []step{{send: "05-unb-trailing-a.edi", want: accepted("REF000106", "RG-26-10871"),
				stored: invoice("RG-26-10871", "")}}},
			{name: "no qualifiers", steps: []step{
				{send: "05-unb-trailing-b.edi", want: []string{"403 first sender-not-allowed", "rejected"}, stored: nothing},
				{send: "05-unb-trailing-b.edi", settings: `identifiers: [{id: "9520001000010"}]`,
					want:   []string{"422 first invalid-interchange", "REF000107 rejected", "INVOIC RG-26-10871 refused", "error 7 recipient-unknown, segment 1 UNB", "UCI 4 7 UNB", "UCM 1 INVOIC 4"},
					stored: nothing},
			}, run: postsOnceWeAreAddressedWithoutQualifier},
			{name: "password, application reference and agreement", steps: []step{{send: "05-unb-trailing-c.edi", want: accepted("REF000108", "RG-26-10871"),
				stored: invoice("RG-26-10871", "")}}}}},

	{number: 9, words: "blanks and CR LF behind each terminator",
		does: "accepted with a note; nothing but segments counts. With `reading: {blank_lines: refuse}` refused with 0085 = 21",
		tries: []try{
			{name: "as it is", steps: []step{{send: "09-trailing-blanks.edi", want: accepted("REF000114", "RG-26-10871", "note 21 blanks-between-segments"),
				stored: invoice("RG-26-10871", "")}}},
			{name: "blank_lines: refuse", settings: "reading: {blank_lines: refuse}", steps: []step{{send: "09-trailing-blanks.edi",
				want: []string{"422 first invalid-interchange", "REF000114 rejected", "INVOIC RG-26-10871 refused", "error 21 blanks-between-segments",
					"UCI 4 21", "UCM 1 INVOIC 4"},
				stored: nothing, mend: []string{"   ", ""}}}},
			{name: "text around it, too", steps: []step{{send: "05-unb-trailing-a.edi", edit: []string{"UNB+UNOC", "Job 4711\r\nUNB+UNOC"},
				want:   accepted("REF000106", "RG-26-10871", "warning text-before-interchange"),
				stored: invoice("RG-26-10871", "")}}},
			{name: "surrounding_text: refuse", settings: "reading: {surrounding_text: refuse}", steps: []step{{send: "05-unb-trailing-a.edi", edit: []string{"UNB+UNOC", "Job 4711\r\nUNB+UNOC"},
				want:   append([]string{"422 first unreadable-interchange", "rejected", "error text-before-interchange"}, accepted("REF000106", "RG-26-10871")[1:]...),
				stored: invoice("RG-26-10871", "")}}},
			{name: "lines cut in the middle", settings: "reading: {line_wraps: accept}", steps: []step{{send: "32-unoy-utf8.edi", edit: []string{"+1+INVOIC:D:96A:", "+1+INVOI\r\nC:D:96A:", "5012'NAD+SU+9520", "5012'NAD\r\n+SU+9520"},
				want: accepted("REF000303", "RG-26-10871", "note 21 lines-wrapped"), stored: invoice("RG-26-10871", "港口物流")}}},
		}},

	{number: 11, words: "a byte order mark before UNA or ISA",
		does: "accepted. The digest of an interchange begins with UNA, so that a copy without the mark is a duplicate",
		tries: []try{{name: "before UNA", steps: []step{
			{send: "11-utf8-bom-a.edi", want: accepted("REF000116", "RG-26-10871", "note 21 byte-order-mark"), stored: invoice("RG-26-10871", "Müller")},
			{send: "11-utf8-bom-a.edi", edit: []string{"\ufeff", ""}, id: "without the mark",
				want: append([]string{"200 duplicate"}, accepted("REF000116", "RG-26-10871", "note 21 byte-order-mark")[1:]...)},
		}},
			{name: "before ISA", steps: []step{
				{send: "11-utf8-bom-b.edi", want: accepted810("000000116", "INV-20871", "note 022 byte-order-mark"), stored: invoice810("INV-20871", "10.00", "100.00")},
				{send: "11-utf8-bom-b.edi", edit: []string{"\ufeff", ""}, id: "without the mark",
					want: append([]string{"200 duplicate"}, accepted810("000000116", "INV-20871", "note 022 byte-order-mark")[1:]...)},
			}}}},

	{number: 13, words: "two interchanges with different UNA in one payload",
		does: "each stands alone: two keys, two outcomes, two CONTRLs. Where the second is broken the first is posted, the answer is 422 and says which was refused",
		tries: []try{
			{name: "both sound", steps: []step{{send: "13-two-interchanges-a.edi",
				want:   both(accepted("REF000119", "RG-26-10871"), accepted("REF000120", "RG-26-10874")[1:]),
				stored: both(invoice("RG-26-10871", ""), invoice("RG-26-10874", ""))}}},
			{name: "the second broken", steps: []step{{send: "13-two-interchanges-b.edi",
				want: []string{"422 first invalid-interchange", "REF000121 accepted", "INVOIC RG-26-10871 posted", "UCI 7",
					"REF000122 rejected", "INVOIC RG-26-10875 refused", "error 29 unz-count-mismatch, segment 19 UNZ", "UCI 4 29 UNZ", "UCM 1 INVOIC 4"},
				stored: invoice("RG-26-10871", ""), mend: []string{"UNZ+3+REF000122", "UNZ+1+REF000122"}, mended: "mixed"}}}}},

	{number: 15, words: "functional groups",
		does: "UNZ counts groups, UNE messages: accepted. Groups and loose messages mixed: refused with 0085 = 30. UNE's count wrong: the messages of that group are refused, by UCF 4 with 29",
		tries: []try{
			{name: "two groups", steps: []step{{send: "15-ung-une-a.edi",
				want:   []string{"201 first", "REF000124 accepted", "INVOIC RG-1 posted", "INVOIC RG-2 posted", "INVOIC RG-3 posted", "UCI 7"},
				stored: both(both(invoice("RG-1", ""), invoice("RG-2", "")), invoice("RG-3", ""))}}},
			{name: "UNE's count wrong, acceptance: message", settings: "acceptance: message", steps: []step{{send: "15-ung-une-a.edi", edit: []string{"UNE+2+", "UNE+3+"},
				want: []string{"201 first", "REF000124 partly", "INVOIC RG-1 refused", "INVOIC RG-2 refused", "INVOIC RG-3 posted",
					"error 29 une-count-mismatch, segment 37 UNE", "UCI 7", "UCF G1 4 29 UNE", "UCF G2 7", "UCM 3 INVOIC 7"},
				stored: invoice("RG-3", "")}}},
			{name: "groups and a loose message", steps: []step{{send: "15-ung-une-b.edi",
				want: []string{"422 first invalid-interchange", "REF000125 rejected", "INVOIC RG-4 refused", "INVOIC RG-5 refused",
					"error 30 groups-and-messages-mixed, segment 21 UNH", "error 29 unz-count-mismatch, segment 38 UNZ",
					"UCI 4 30", "UCF G1 4", "UCM 1 INVOIC 4", "UCM 2 INVOIC 4"},
				stored: nothing,
				mend:   []string{"UNE+1+G1'\r\nUNH+2", "UNH+2", "UNT+17+2'\r\n", "UNT+17+2'\r\nUNE+2+G1'\r\n", "UNZ+2", "UNZ+1"}}}}}},

	{number: 17, words: "UNT's count wrong in one of two messages",
		does: "`acceptance: interchange` (the default): nothing is posted, UCI 4 and UCM 4 with 29 for the wrong one. `acceptance: message`: the sound one is posted, UCI 7, UCM 7 and UCM 4 with 29. Both in one transaction",
		tries: []try{
			{name: "acceptance: interchange", steps: []step{{send: "17-unt-count.edi",
				want: []string{"422 first invalid-interchange", "REF000127 rejected", "INVOIC RG-8 refused", "INVOIC refused",
					"error 29 unt-count-mismatch, segment 17 UNT", "UCI 4", "UCM 2 INVOIC 4 29 UNT"},
				stored: nothing, mend: []string{"UNT+18+2", "UNT+17+2"}}}},
			{name: "acceptance: message", settings: "acceptance: message", steps: []step{{send: "17-unt-count.edi",
				want: []string{"201 first", "REF000127 partly", "INVOIC RG-8 posted", "INVOIC refused",
					"error 29 unt-count-mismatch, segment 17 UNT", "UCI 7", "UCM 1 INVOIC 7", "UCM 2 INVOIC 4 29 UNT"},
				stored: invoice("RG-8", ""), mend: []string{"UNT+18+2", "UNT+17+2"}, mended: "completion"}}}}},

	{number: 19, words: "segments behind UNB without UNH, or a message without its trailer",
		does: "refused with 0085 = 33 or 13; no document is made of orphans",
		tries: []try{
			{name: "no UNH", steps: []step{{send: "19-unh-missing-a.edi",
				want: []string{"422 first invalid-interchange", "REF000131 rejected", "error 33 segment-outside-message, segment 2 BGM",
					"error 13 unh-missing, segment 17 UNT", "error 32 interchange-empty, segment 18 UNZ", "error 29 unz-count-mismatch, segment 18 UNZ", "UCI 4 33"},
				stored: nothing, mend: []string{"BGM+380", "UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380"}}}},
			{name: "no UNT", steps: []step{{send: "19-unh-missing-b.edi",
				want: []string{"422 first invalid-interchange", "REF000132 rejected", "INVOIC refused", "error 13 unt-missing, segment 17 UNT",
					"UCI 4", "UCM 1 INVOIC 4 13 UNT"},
				stored: nothing, mend: []string{"UNZ+1", "UNT+17+1'UNZ+1"}}}},
			{name: "two UNH", steps: []step{{send: "19-unh-missing-c.edi",
				want: []string{"422 first invalid-interchange", "REF000133 rejected", "INVOIC refused", "INVOIC RG-26-10871 refused",
					"error 29 unz-count-mismatch, segment 20 UNZ", "error 13 unt-missing, segment 2 UNT", "UCI 4 29 UNZ", "UCM 1 INVOIC 4 13 UNT", "UCM 2 INVOIC 4"},
				stored: nothing, mend: []string{"UNH+1+INVOIC:D:96A:UN'", ""}}}}}},

	{number: 20, words: "ISA elements not padded to their width",
		does: "accepted with a warning: the elements are told apart by their separator, and the key is that of the padded form, so that a padded copy is a drift and no second invoice. With `reading: {padding: refuse}` it is refused, TA1 R 022",
		tries: []try{
			{name: "as it is", steps: []step{
				{send: "20-isa-short.edi", want: accepted810("000000201", "INV-20871", "warning 022 isa-width, segment 1 ISA"), stored: invoice810("INV-20871", "10.00", "100.00")},
				{send: "20-isa-short.edi", edit: []string{"ISA*00**00**ZZ*TALQUIST*ZZ*NORDHAFEN*", "ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *"}, id: "padded",
					want: []string{"422 drift payload-drift", "000000201 quarantined"}},
			}},
			{name: "padding: refuse", settings: "reading: {padding: refuse}", steps: []step{{send: "20-isa-short.edi",
				want:   []string{"422 first invalid-interchange", "000000201 rejected", "810 INV-20871 refused", "error 022 isa-width, segment 1 ISA", "TA1*000000201*261129*1015*R*022"},
				stored: nothing}}}}},

	{number: 22, words: "ISA11 = U in version 00401",
		does:  "accepted; U is no separator: the item is B5UO12, the description whole",
		tries: []try{{steps: []step{{send: "22-isa11-u-4010.edi", want: accepted810("000000203", "INV-20871"), stored: invoice810("INV-20871", "10.00", "100.00")}}, run: itemIs("B5UO12", "CURUBU")}}},

	{number: 24, words: "odd segment terminators of ISA",
		does: "a blank before the terminator is forgiven with a warning, and never splits; 0x85 and 0xD6 are read as the bytes they are; a terminator of two bytes is refused",
		tries: []try{
			{name: "a blank before ~", steps: []step{{send: "24-isa-odd-terminator-a.edi", want: accepted810("000000206", "INV-20871", "warning 004 terminator-blank, segment 1 ISA"),
				stored: invoice810("INV-20871", "10.00", "100.00")}}, run: itemIs("TQ-100", "steel ring small")},
			{name: "0x85", steps: []step{{send: "24-isa-odd-terminator-b.edi", want: accepted810("000000219", "INV-20871"), stored: invoice810("INV-20871", "10.00", "100.00")}}},
			{name: "0xD6", steps: []step{{send: "24-isa-odd-terminator-c.edi", want: accepted810("000000220", "INV-20871"), stored: invoice810("INV-20871", "10.00", "100.00")}}},
			{name: "two bytes of UTF-8", steps: []step{{send: "24-isa-odd-terminator-d.edi",
				want: []string{"422 first unreadable-interchange", "rejected", "error 004 isa-malformed, segment 1 ISA"}, stored: nothing}}}}},

	{number: 26, words: "names that end or begin with ISA",
		does:  "one interchange, accepted: headers are looked for where segments start",
		tries: []try{{steps: []step{{send: "26-isa-in-data.edi", want: accepted810("000000210", "INV-20872"), stored: []string{"invoice INV-20872 of 2026-11-27 from ISAAC AND SONS:  +  = 100.00 ", "  line 1:  10 × 10.00 = "}}}}}},

	{number: 27, words: "TA1 between ISA and GS",
		does: "noted, and the 810 behind it is accepted. A TA1 alone is accepted, and not acknowledged",
		tries: []try{
			{name: "before a group", steps: []step{{send: "27-ta1-before-gs-a.edi", want: accepted810("000000211", "INV-20871", "note ta1-received, segment 2 TA1"), stored: invoice810("INV-20871", "10.00", "100.00")}}},
			{name: "alone", steps: []step{{send: "27-ta1-before-gs-b.edi", want: []string{"201 first", "000000212 accepted", "note ta1-received, segment 2 TA1"}, stored: nothing}}}}},
}

// characters are the situations of character sets.
var characters = []situation{
	{number: 30, words: "UNOA declared, lower case and underscore sent",
		does: "accepted with a warning, the text as it came",
		tries: []try{{steps: []step{{send: "30-unoa-lowercase.edi",
			want:   accepted("REF000301", "RG-26-10871", "warning 21 outside-level-a, segment 5 NAD"),
			stored: invoice("RG-26-10871", "Talquist_Werke gmbh")}}}}},

	{number: 32, words: "UNOY with Chinese text",
		does: "accepted, read as UTF-8; lengths count characters",
		tries: []try{{steps: []step{{send: "32-unoy-utf8.edi", want: accepted("REF000303", "RG-26-10871"),
			stored: invoice("RG-26-10871", "港口物流")}}}}},

	{number: 34, words: "broken UTF-8, and a NUL byte",
		does: "refused with 0085 = 21 at the element; the bytes are kept as they came",
		tries: []try{
			{name: "a lone 0xFC under UNOY", steps: []step{{send: "34-invalid-utf8-nul-a.edi",
				want: []string{"422 first invalid-interchange", "REF000306 rejected", "INVOIC refused", "error 21 character-invalid, segment 5 NAD",
					"UCI 4", "UCM 1 INVOIC 4", "UCS 5", "UCD 21 5"},
				stored: nothing, mend: []string{"S\xfcd", "Süd"}}}},
			{name: "the same where the partner's text is one or the other", settings: "reading: {charset: detect}", steps: []step{{send: "34-invalid-utf8-nul-a.edi",
				want: accepted("REF000306", "RG-26-10871", "note charset-detected, segment 5 NAD"), stored: invoice("RG-26-10871", "Süd")}}},
			{name: "NUL in a name", steps: []step{{send: "34-invalid-utf8-nul-b.edi",
				want: []string{"422 first invalid-interchange", "REF000307 rejected", "INVOIC refused", "error 21 character-invalid, segment 5 NAD",
					"UCI 4", "UCM 1 INVOIC 4", "UCS 5", "UCD 21 5"},
				stored: nothing, mend: []string{"Tal\x00quist", "Talquist"}}}}}},
}
