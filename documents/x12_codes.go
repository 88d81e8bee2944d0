package documents

// What X12 and UN/EDIFACT have different codes for, so that one document has the same
// ones whichever it came by. Only codes that surely say the same are here; others stay
// as sent.

// termsEvent gives the code of 2475 for one of X12's 333: what a term of payment counts
// from.
func termsEvent(basis string) string {
	switch basis {
	case "1", "01": // shipment
		return "81"
	case "2", "02": // delivery
		return "29"
	case "3", "03": // invoice
		return "5"
	case "4", "04": // specified
		return "66"
	case "5", "05": // invoice received
		return "9"
	case "6", "06": // delivery as foreseen
		return "67"
	case "7", "07": // effective
		return "68"
	case "8", "08": // invoice sent
		return "69"
	case "09": // order
		return "1"
	case "15": // goods received
		return "21"
	}
	return basis
}

// settlement gives the code of 4471 for one of X12's 331: 4471 numbers the first eight
// alike, without a zero before them.
func settlement(method string) string {
	if len(method) == 2 && method[0] == '0' && method[1] >= '1' && method[1] <= '8' {
		return method[1:]
	}
	return method
}

// taxCategory gives the code of 5305 for one of X12's 441, which says whether and why
// no tax is due; "" where it says nothing of the kind.
func taxCategory(exempt string) string {
	switch exempt {
	case "0": // for export
		return "G"
	case "1", "3", "5", "8", "9", "C": // for resale or not, to a government, by the law of a state
		return "E"
	case "2", "4", "6": // not exempt
		return "S"
	}
	return ""
}

// itemKind gives the code of 7143 for one of X12's 235.
func itemKind(kind string) string {
	switch kind {
	case "MG", "MF": // manufacturer's part
		return "MF"
	case "UK", "UP", "EN", "UI", "UA", "EO": // GTIN
		return "SRV"
	case "VN", "VP", "VA", "VC", "SK":
		return "SA"
	case "BP", "IN", "PI", "CB":
		return "IN"
	case "LT", "B8":
		return "NB"
	}
	return kind
}

// allowanceCode gives the code of 5189 for an allowance's of 7161, which EN 16931 has for
// charges alone (BT-98, BT-140), with the code as sent where it differs.
func allowanceCode(code string) (neutral, raw string) {
	switch code {
	case "DI", "TD": // discount, to the trade
		return "95", code
	}
	return code, ""
}

// carrierScheme gives the code of 3055 for a qualifier of 66 in TD5, with the qualifier
// where it differs.
func carrierScheme(qualifier string) (scheme, raw string) {
	if qualifier == "2" {
		return "182", "2" // SCAC
	}
	return schemeX12(qualifier)
}

// transportStage gives the code of 8051 for one of X12's 133: who carries from origin to
// destination is the main carriage.
func transportStage(routing string) string {
	if routing == "B" {
		return "20"
	}
	return ""
}
