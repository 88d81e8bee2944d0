package edifact

// CodeText says in plain words what a code or qualifier means in component c of
// element e of a segment: "invoice" for BGM 1, 1, 380. Empty where we have no
// words for it.
func CodeText(tag string, e, c int, code string) string {
	list, ok := codeLists[tag][place{e, c}]
	if !ok {
		return ""
	}
	return list[code]
}

// ErrorText says what a 0085 code means.
func ErrorText(code string) string { return syntaxErrors[code] }

// codeLists names the list that holds at each place. The words are ours, and
// only those codes are here that change what a reader has to do.
var codeLists = map[string]map[place]map[string]string{
	"UNB": {{2, 2}: partyIdentifiers, {3, 2}: partyIdentifiers, {9, 1}: {"1": "requested"}, {11, 1}: {"1": "test", "2": "test of the syntax alone", "3": "request for an echo", "4": "echo", "5": "test with a service provider"}},
	"UCI": {{4, 1}: actions, {5, 1}: syntaxErrors, {2, 2}: partyIdentifiers, {3, 2}: partyIdentifiers},
	"UCF": {{4, 1}: actions, {5, 1}: syntaxErrors},
	"UCM": {{3, 1}: actions, {4, 1}: syntaxErrors},
	"UCS": {{2, 1}: syntaxErrors},
	"UCD": {{1, 1}: syntaxErrors},
	"UNS": {{1, 1}: {"D": "detail section", "S": "summary section"}},
	"BGM": {{1, 1}: documentTypes, {3, 1}: messageFunctions},
	"DTM": {{1, 1}: dateKinds, {1, 3}: dateFormats},
	"RFF": {{1, 1}: referenceKinds},
	"NAD": {{1, 1}: partyRoles, {2, 3}: agencies},
	"CUX": {{1, 1}: {"1": "charge payment currency", "2": "reference currency"}, {1, 3}: {"4": "invoicing currency", "9": "order currency", "10": "pricing currency"}},
	"MOA": {{1, 1}: amountKinds},
	"QTY": {{1, 1}: quantityKinds},
	"PRI": {{1, 1}: {"AAA": "net price", "AAB": "gross price", "AAE": "price for information", "AAF": "price for information", "CAL": "calculation price", "INF": "price for information", "INV": "invoice price"}},
	"TAX": {{1, 1}: {"5": "customs duty", "6": "fee", "7": "tax"}, {2, 1}: {"VAT": "value added tax", "GST": "goods and services tax", "ENV": "environmental tax", "EXC": "excise duty"}, {6, 1}: taxCategories},
	"ALC": {{1, 1}: {"A": "allowance", "C": "charge", "N": "neither"}},
	"PCD": {{1, 1}: {"1": "allowance", "2": "charge", "3": "allowance or charge", "12": "discount", "15": "penalty"}},
	"LIN": {{2, 1}: {"1": "added", "2": "deleted", "3": "changed", "4": "no action"}, {3, 2}: itemNumbers},
	"PIA": {{1, 1}: {"1": "additional", "5": "product"}, {2, 2}: itemNumbers, {3, 2}: itemNumbers, {4, 2}: itemNumbers},
	"CPS": {{3, 1}: {"1": "inner", "2": "intermediate", "3": "outer", "4": "no hierarchy", "5": "shipment"}},
	"GIN": {{1, 1}: {"BJ": "SSCC", "BN": "serial number", "BX": "batch number", "ML": "label number"}},
	"PCI": {{1, 1}: {"24": "shipper assigned", "30": "mark serial", "33E": "marked with a serial shipping container code", "34": "carrier assigned", "36E": "marked with batch or expiry"}},
	"CNT": {{1, 1}: {"1": "total of quantities", "2": "number of lines", "11": "number of packages", "7": "total gross weight", "10": "number of consignments"}},
	"FII": {{1, 1}: {"RB": "receiving bank", "RH": "seller's bank", "PB": "paying bank", "BF": "beneficiary's bank"}},
	"COM": {{1, 2}: {"TE": "telephone", "FX": "fax", "EM": "e-mail", "AL": "mobile"}},
}

var partyIdentifiers = map[string]string{ // 0007
	"1": "DUNS number", "4": "IATA number", "5": "INSEE SIRET", "8": "UCC number", "9": "DUNS number with suffix", "14": "GS1 GLN", "30": "ISO 6523",
	"31": "DIN", "33": "BfA", "ZZ": "mutually defined", "ZZZ": "mutually defined",
}

var actions = map[string]string{ // 0083
	"4": "rejected, with all below", "7": "acknowledged, and all below that is not rejected", "8": "interchange received",
}

var syntaxErrors = map[string]string{ // 0085
	"2": "syntax version or level not supported", "7": "recipient is not the actual recipient", "12": "invalid value", "13": "missing",
	"14": "value not supported in this place", "15": "not supported in this place", "16": "too many constituents", "17": "no agreement",
	"18": "unspecified error", "19": "invalid decimal notation", "20": "character invalid as a service character", "21": "invalid character",
	"22": "invalid service character", "23": "unknown sender", "24": "too old", "25": "test indicator not supported", "26": "duplicate",
	"27": "security not supported", "28": "references do not match", "29": "count does not match", "30": "groups and messages mixed",
	"31": "more than one message type in the group", "32": "level below is empty", "33": "outside of message or group", "34": "nesting not allowed",
	"35": "segment repeated too often", "36": "segment group repeated too often", "37": "invalid type of character", "38": "digit missing before the decimal mark",
	"39": "element too long", "40": "element too short", "41": "lasting network failure", "42": "passing network failure", "43": "unknown recipient",
	"44": "application not available for now", "45": "trailing separator", "46": "character set not supported", "47": "envelope function not supported",
}

var documentTypes = map[string]string{ // 1001
	"82": "metered services invoice", "220": "order", "325": "pro forma invoice", "326": "partial invoice", "345": "ready for despatch advice", "351": "despatch advice", "380": "invoice",
	"381": "credit note", "383": "debit note", "384": "corrected invoice", "385": "consolidated invoice", "386": "prepayment invoice",
	"389": "self-billed invoice", "393": "factored invoice",
}

var messageFunctions = map[string]string{ // 1225
	"1": "cancellation", "2": "addition", "3": "deletion", "4": "change", "5": "replacement", "7": "duplicate", "9": "original",
	"29": "accepted", "27": "not accepted", "31": "copy", "34": "accepted with changes", "43": "additional transmission",
}

var dateKinds = map[string]string{ // 2005
	"1": "service completion", "2": "delivery requested", "3": "invoice", "11": "despatch", "13": "payment due", "17": "delivery estimated", "35": "actual delivery",
	"36": "expiry", "63": "latest delivery", "64": "earliest delivery", "131": "tax point", "137": "document", "138": "payment", "140": "payment due", "167": "start of charge period",
	"168": "end of charge period", "171": "reference", "194": "start", "206": "end", "209": "value", "263": "invoicing period", "360": "sell-by", "361": "best before",
}

var dateFormats = map[string]string{ // 2379
	"101": "YYMMDD", "102": "CCYYMMDD", "203": "CCYYMMDDHHMM", "204": "CCYYMMDDHHMMSS", "303": "CCYYMMDDHHMM with zone", "304": "CCYYMMDDHHMMSS with zone",
	"610": "CCYYMM", "616": "CCYYWW", "718": "CCYYMMDD-CCYYMMDD", "804": "days", "802": "months", "803": "weeks",
}

var referenceKinds = map[string]string{ // 1153
	"AAK": "despatch advice", "AAS": "transport document", "AAU": "despatch note", "ABO": "originator's reference", "ACD": "additional reference", "ALO": "receiving advice", "API": "additional party identifier", "BM": "bill of lading",
	"CD": "credit note", "CR": "customer reference", "CT": "contract", "DQ": "delivery note", "FC": "fiscal number", "GN": "government reference", "IV": "invoice", "LI": "line", "OI": "previous invoice", "ON": "order",
	"PQ": "payment reference", "SS": "seller's reference", "SRN": "shipment", "VA": "VAT number", "VN": "supplier's order", "XA": "company registration",
}

var partyRoles = map[string]string{ // 3035
	"BY": "buyer", "CA": "carrier", "CN": "consignee", "CZ": "consignor", "DP": "delivery party", "DS": "distributor", "II": "issuer of the invoice", "IV": "invoicee", "LC": "party declaring turnover tax",
	"PE": "payee", "PR": "payer", "PW": "despatch party", "RE": "party to receive payment", "SE": "seller", "SF": "ship from", "SN": "store", "ST": "ship to", "SU": "supplier", "UC": "ultimate consignee", "UD": "ultimate customer",
}

var agencies = map[string]string{ // 3055
	"5": "ISO", "9": "GS1", "10": "ODETTE", "16": "DUNS", "91": "assigned by the supplier", "92": "assigned by the buyer", "ZZZ": "mutually defined",
}

var amountKinds = map[string]string{ // 5025
	"8": "allowance or charge", "9": "amount due", "23": "charge", "38": "invoice line total", "39": "invoice total", "66": "goods item total", "77": "invoice amount", "79": "total of line items", "86": "total amount",
	"109": "payable", "113": "prepaid", "124": "tax", "125": "taxable amount", "128": "gross line total", "129": "total subject to payment discount", "131": "total of charges and allowances", "146": "unit price", "150": "value added tax", "165": "adjustment",
	"176": "total tax", "203": "line item", "204": "allowance", "259": "total charges", "260": "total allowances", "388": "total with tax", "389": "total without tax", "402": "total retail value", "454": "total of allowances", "25": "charge or allowance basis",
}

var quantityKinds = map[string]string{ // 6063
	"1": "discrete", "12": "despatched", "21": "ordered", "46": "delivered", "47": "invoiced", "48": "received", "52": "per pack", "59": "consumer units in the traded unit", "61": "return", "113": "to be delivered", "192": "free goods", "194": "received and accepted",
}

var taxCategories = map[string]string{ // 5305
	"A": "mixed rate", "AA": "reduced rate", "AB": "exempt for resale", "AE": "reverse charge", "B": "transferred", "E": "exempt", "G": "export, not taxed", "H": "higher rate", "K": "supply within the Union", "L": "Canary Islands", "M": "Ceuta and Melilla", "O": "outside the scope of tax", "S": "standard rate", "Z": "zero rated",
}

var itemNumbers = map[string]string{ // 7143
	"EN": "GTIN", "SRV": "GTIN", "UP": "UPC", "SA": "supplier's item number", "IN": "buyer's item number", "BP": "buyer's part number", "MF": "manufacturer's part number", "MP": "product identifier", "NB": "batch number", "SN": "serial number", "GB": "buyer's group", "PV": "promotional variant", "VN": "seller's item number", "CC": "commodity code", "HS": "harmonised system code",
}
