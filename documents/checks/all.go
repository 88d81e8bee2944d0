package checks

// What codes of 647 say.
const (
	duplicate   = "006"
	missing     = "007"
	outOfRange  = "008"
	invalidDate = "009"
	unbalanced  = "010"
	notMatching = "011"
	combination = "012"
	incorrect   = "848"
)

// All lists what may be found: first what is found in reading, then what comes of
// comparing. 0085 is that of a refusal, by itself or by a policy; in X12 the code of
// 723 or 720 that says the same stands in its place.
var All = []Check{
	{"bgm-missing", "error", "13", missing, "no BGM, and so no number"},
	{"big-missing", "error", "13", missing, "an 810 without BIG"},
	{"bsn-missing", "error", "13", missing, "an 856 without BSN"},
	{"document-number-missing", "error", "13", missing, "1004, BIG02 or BSN02 is empty"},
	{"document-number-too-long", "error, warning", "39", outOfRange, "1004 has more than 35 characters; a warning for messages without a mapping, whose segments hold it"},
	{"invalid-number", "error, warning", "37, 19, 39", incorrect, "not a number: letters, an exponent, two decimal marks, more than 35 digits; in X12 a comma, and a decimal point where two decimals are implied (N2). A warning (37, 38, 19) for a plus sign, or no digit before or behind the mark"},
	{"invalid-date", "error", "12", invalidDate, "no such day or time in its format; in the formats 101, 102, 201 to 204, 303, 304, 602, 610, 616, 713, 718 and RD8 also what is not written as they say"},
	{"invalid-characters", "error", "21", incorrect, "text that is not valid in its character set"},
	{"bgm-repeated", "warning", "35", duplicate, "BGM stands more than once; the first counts"},
	{"big-repeated", "warning", "35", duplicate, "the same of BIG"},
	{"bsn-repeated", "warning", "35", duplicate, "the same of BSN"},
	{"type-unknown", "warning", "12", incorrect, "BIG07 is a code that is not surely an invoice, a credit or a debit, as RA, a request for credit, or PP, a bill paid before; it is kept behind `x12:`. Do not book such a document as one that is owed"},
	{"function-unknown", "warning", "12", incorrect, "BIG08 or BSN01 is a purpose that we do not know; it is kept behind `x12:`, and the document guarded like an original"},
	{"type-missing", "warning", "13", missing, "1001 is empty"},
	{"partial-function", "warning", "12", incorrect, "1225 says that only a part is sent"},
	{"date-empty", "warning", "13", missing, "DTM without a value, or zeros in a format with a year"},
	{"date-format", "warning, note", "12", invalidDate, "the value contradicts 2379 and was read by its length; a date of X12 without its century, from 004010 on; or, as a note, the format is not one we read, or the value is not written as it says: both are kept as sent"},
	{"invalid-time", "warning", "12", invalidDate, "a time of X12 that is none; the date stays"},
	{"issue-date-missing", "warning", "13", missing, "no document date"},
	{"invalid-rate", "warning", "37", incorrect, "5278 is no number; kept as sent"},
	{"total-repeated", "warning", "35", duplicate, "the same total twice; the first counts"},
	{"line-count", "warning", "29", unbalanced, "CNT+2 or CTT01 is not the number of lines; of an 856 neither that nor the number of levels"},
	{"package-parent", "warning", "12", notMatching, "CPS names a parent that is not there, or that stands in it; it becomes a root"},
	{"package-order", "note", "12", combination, "CPS stands before the one that holds it"},
	{"package-repeated", "warning", "26", duplicate, "the same CPS number twice"},
	{"level-parent", "warning", "12", notMatching, "HL02 is missing, or names a level that is not there or stands beneath; it is put where BSN05 has its kind"},
	{"level-order", "note", "12", combination, "HL stands before the one that holds it"},
	{"level-repeated", "warning", "26", duplicate, "the same HL01 twice"},
	{"level-kind", "warning, note", "13", missing, "HL03 is empty, or names a kind of level that we do not know"},

	{"currency-missing", "warning", "13", missing, "an INVOIC with amounts that names no currency, neither in CUX nor with a total. X12 leaves out CUR where the currency is agreed, and is not asked for it"},
	{"line-amount", "warning", "12", unbalanced, "quantity × price ÷ basis, with the line's allowances and charges or without, is not its net amount. Not compared where the price is for another unit than the quantity"},
	{"line-total", "warning", "12", unbalanced, "the lines do not add up to the total of the lines"},
	{"allowance-total", "warning", "12", unbalanced, "the allowances that are listed do not add up to their total"},
	{"charge-total", "warning", "12", unbalanced, "the same of charges"},
	{"tax-exclusive-total", "warning", "12", unbalanced, "lines, allowances and charges do not give the total without tax"},
	{"tax-basis", "warning", "12", unbalanced, "the lines of a category and rate, with the allowances and charges of the document that have it, do not give its taxable amount"},
	{"tax-amount", "warning", "12", unbalanced, "basis × rate is not the tax, or a category without tax (E, Z, AE, K, G, O) has one"},
	{"tax-total", "warning", "12", unbalanced, "the taxes do not add up"},
	{"tax-inclusive-total", "warning", "12", unbalanced, "total without tax and tax do not give the total"},
	{"invoice-total", "warning", "12", unbalanced, "lines, allowances, charges and taxes do not give the total of an invoice that says no other: TDS01, or the only total of an INVOIC"},
	{"payable-total", "warning", "12", unbalanced, "total, prepaid and rounding do not give what is due"},
	{"sign-mismatch", "warning", "12", combination, "a line or a total would be right with the other sign: lines and totals of a credit note, say, of which one is negative and the other not. Signs are kept as sent"},
	{"negative-total", "note, warning", "12", outOfRange, "a total below zero; a warning on a credit note, where it may mean either side"},
	{"negative-price", "warning", "12", outOfRange, "BR-27 of EN 16931"},
	{"line-repeated", "note", "26", duplicate, "a line that says all that another says: item, order line, quantity, price, amount, and where and when"},
	{"date-implausible", "warning", "12", invalidDate, "the document is dated more than 31 days after its interchange, or more than 2 years before it; a despatch, a delivery or a due date is more than 2 years off the document's own date"},
	{"due-before-issue", "warning", "12", combination, "due before the day of the document"},
	{"period-reversed", "warning", "12", combination, "a period ends before it begins"},
	{"delivery-before-despatch", "warning", "12", combination, "a despatch advice has the goods arrive before they leave"},
	{"best-before-passed", "note", "12", outOfRange, "best before, or expiry, is before the day of despatch"},
	{"zero-quantity", "warning", "12", outOfRange, "a despatched line of nothing"},
	{"negative-quantity", "warning", "12", outOfRange, "a despatched quantity below zero"},
	{"line-unpacked", "note", "13", notMatching, "a despatched line that stands in no package, where others do"},
	{"package-empty", "note", "13", missing, "a package in which nothing stands, neither in what it stands in, where others hold lines"},
	{"sscc-check-digit", "warning", "12", incorrect, "not 18 digits, or the check digit is wrong, or all zeros; kept as sent"},
	{"sscc-repeated", "warning", "26", duplicate, "one SSCC twice in a notice; both are kept"},
	{"sscc-elsewhere", "note", "26", duplicate, "an earlier despatch advice of the partner, of the last year and still in force, names the SSCC too. One unit may hold goods of several despatches, so both are kept"},
	{More, "note", "", "", "more than 50 in a message, errors and others apart: how many are not listed. The first of each code always is, and what a partner has off takes no place"},
}
