package x12

// CodeText says in plain words what a code or qualifier means in element e of a
// segment: "replacement" for BIG, 8, 05. Empty where we have no words for it.
func CodeText(tag string, e, c int, code string) string {
	if c > 1 {
		return ""
	}
	if first, step := pairsFrom(tag); first > 0 && e >= first && (e-first)%step == 0 {
		return itemNumbers[code]
	}
	return codeLists[tag][e][code]
}

// ErrorText says what a code of data element list means: I18, 716, 718, 720, 723, or
// 618, 620 and 621, which are 718, 720 and 723 for implementation guides. Empty where
// we have no words for it.
func ErrorText(list, code string) string {
	switch list {
	case "I18":
		return interchangeErrors[code]
	case "716":
		return groupErrors[code]
	case "718", "618":
		return setErrors[code]
	case "720", "620":
		return segmentErrors[code]
	case "723", "621":
		return elementErrors[code]
	}
	return ""
}

// codeLists names the list that holds at each element. The words are ours, and
// only those codes are here that change what a reader has to do.
var codeLists = map[string]map[int]map[string]string{
	"ISA": {5: partyIdentifiers, 7: partyIdentifiers, 14: {"0": "no", "1": "yes"}, 15: {"P": "production", "T": "test", "I": "information"}},
	"GS":  {1: {"IN": "invoices", "SH": "ship notices", "PO": "orders", "PR": "order acknowledgements", "FA": "functional acknowledgements", "AG": "application advices"}},
	"ST":  {1: setKinds},
	"AK1": {1: {"IN": "invoices", "SH": "ship notices", "PO": "orders"}},
	"AK2": {1: setKinds},
	"TA1": {4: verdicts, 5: interchangeErrors},
	"AK3": {4: segmentErrors}, "IK3": {4: segmentErrors},
	"AK4": {3: elementErrors}, "IK4": {3: elementErrors},
	"AK5": {1: verdicts, 2: setErrors, 3: setErrors, 4: setErrors, 5: setErrors, 6: setErrors},
	"IK5": {1: verdicts, 2: setErrors, 3: setErrors, 4: setErrors, 5: setErrors, 6: setErrors},
	"AK9": {1: verdicts, 5: groupErrors, 6: groupErrors, 7: groupErrors, 8: groupErrors, 9: groupErrors},
	"BIG": {7: invoiceKinds, 8: purposes},
	"BSN": {1: purposes, 5: {"0001": "shipment, order, packaging, item", "0002": "shipment, order, item, packaging", "0003": "shipment, packaging, order, item", "0004": "shipment, order, item"}},
	"BEG": {1: purposes},
	"REF": {1: referenceKinds}, "N9": {1: referenceKinds},
	"N1":  {1: partyRoles, 3: {"1": "DUNS number", "9": "DUNS number with suffix", "91": "assigned by the seller", "92": "assigned by the buyer", "UL": "GLN", "FI": "tax number"}},
	"DTM": {1: {"002": "delivery requested", "003": "invoice", "004": "order", "007": "effective", "009": "process", "011": "shipped", "017": "delivery estimated", "035": "delivered", "036": "expiry", "067": "delivery expected", "137": "document"}},
	"ITD": {1: {"01": "basic", "02": "end of month", "05": "discount not applicable", "08": "basic discount offered"}},
	"SAC": {1: {"A": "allowance", "C": "charge", "N": "neither", "P": "promotion", "R": "allowance request"}},
	"TXI": {1: {"ST": "sales tax", "VA": "value added tax", "GS": "goods and services tax", "SP": "state sales tax", "LT": "local sales tax"}},
	"IT1": {3: units, 5: priceBases}, "PO1": {3: units, 5: priceBases},
	"SN1": {3: units, 6: units},
	"ISS": {2: units},
	"HL":  {3: {"S": "shipment", "O": "order", "T": "tare", "P": "pack", "I": "item", "E": "equipment", "F": "component", "K": "kind"}, 4: {"0": "no", "1": "yes"}},
	"MAN": {1: {"GM": "SSCC", "CP": "carrier's package number", "UC": "shipping container code", "AA": "SSCC"}},
	"PID": {1: {"F": "free text", "S": "coded", "X": "coded, with text"}},
	"PER": {3: channels, 5: channels},
	"TD5": {4: {"M": "road", "A": "air", "R": "rail", "S": "sea", "U": "parcel"}},
	"CUR": {1: {"BY": "buyer", "SE": "seller"}},
}

var setKinds = map[string]string{
	"810": "invoice", "856": "ship notice", "850": "purchase order", "855": "purchase order acknowledgement", "860": "purchase order change",
	"997": "functional acknowledgement", "999": "implementation acknowledgement", "824": "application advice", "820": "payment order",
}

var partyIdentifiers = map[string]string{ // I05
	"01": "DUNS number", "02": "carrier code", "08": "UCC number", "09": "X.121", "12": "telephone number", "14": "DUNS number with suffix",
	"16": "DUNS number with suffix", "30": "tax number", "ZZ": "mutually defined",
}

var verdicts = map[string]string{
	"A": "accepted", "E": "accepted, with errors", "R": "rejected", "P": "partly accepted", "M": "rejected: authentication", "W": "rejected: assurance", "X": "rejected: decryption",
}

var interchangeErrors = map[string]string{ // I18
	"000": "no error", "001": "control numbers differ", "002": "standard not supported", "003": "version not supported", "004": "segment terminator invalid",
	"005": "kind of sender identifier invalid", "006": "sender invalid", "007": "kind of recipient identifier invalid", "008": "recipient invalid",
	"009": "unknown recipient", "010": "kind of authorisation invalid", "011": "authorisation invalid", "012": "kind of security invalid", "013": "security invalid", "014": "date invalid", "015": "time invalid", "016": "standard invalid", "017": "version invalid",
	"018": "control number invalid", "019": "acknowledgement request invalid", "020": "test indicator invalid", "021": "count of groups invalid",
	"022": "control structure invalid", "023": "ends too early", "024": "content invalid", "025": "duplicate", "026": "element separator invalid", "027": "component separator invalid",
	"028": "date of a delivery to be deferred invalid", "029": "time of a delivery to be deferred invalid", "030": "kind of time of a delivery to be deferred invalid",
	"031": "grade of service invalid",
}

var segmentErrors = map[string]string{ // 720
	"1": "unknown", "2": "unexpected", "3": "mandatory one missing", "4": "loop repeated too often", "5": "repeated too often",
	"6": "not in this transaction set", "7": "out of order", "8": "its elements have errors",
	"I4": "not used by the guide", "I6": "missing, though the guide requires it here", "I7": "loop too rare for the guide", "I8": "too rare for the guide", "I9": "not used by the guide here",
}

var elementErrors = map[string]string{ // 723
	"1": "mandatory one missing", "2": "another element requires it", "3": "too many elements", "4": "too short", "5": "too long", "6": "invalid character",
	"7": "invalid code", "8": "invalid date", "9": "invalid time", "10": "excluded by another element", "12": "too many repetitions", "13": "too many components",
	"16": "separators at the end of a composite",
	"I6": "code not used by the guide", "I9": "missing, though the guide requires it here", "I10": "not used by the guide", "I11": "too few repetitions for the guide",
	"I12": "not in the form the guide requires", "I13": "not used by the guide here",
}

var setErrors = map[string]string{ // 718
	"1": "not supported", "2": "trailer missing", "3": "control numbers differ", "4": "count of segments differs", "5": "segments have errors",
	"6": "identifier invalid or missing", "7": "control number invalid or missing", "23": "control number not unique in the group",
	"8": "key of authentication unknown", "9": "key of encryption unknown", "10": "security service not available", "11": "recipient of the security unknown",
	"12": "length of what was encrypted differs", "13": "authentication failed", "15": "originator of the security unknown", "16": "decrypted text cannot be read",
	// 18 and 19 from 004050 on; up to 004010 19 is a missing end of a security S1S, as 20 to 22 are of S1E, S2S and S2E.
	"17": "security not supported", "18": "not of this functional group", "19": "guide invalid",
	"20": "start of a security S1E missing", "21": "end of a security S2S missing", "22": "start of a security S2E missing",
	"24": "end of a security S3S missing", "25": "start of a security S3E missing", "26": "end of a security S4S missing", "27": "start of a security S4E missing",
	"I5": "segments depart from the guide", "I6": "guide not supported",
}

var groupErrors = map[string]string{ // 716
	"1": "not supported", "2": "version not supported", "3": "trailer missing", "4": "control numbers differ", "5": "count of sets differs", "6": "control number invalid",
	"7": "sender's application invalid", "8": "recipient's application invalid", "9": "agency invalid", // from 006050 on
	"10": "key of authentication unknown", "11": "key of encryption unknown", "12": "security service not available", "13": "recipient of the security unknown",
	"14": "originator of the security unknown", "15": "decrypted text cannot be read", "16": "security not supported", "17": "length of what was encrypted differs",
	"18": "authentication failed",
	// 19 from 004050 on; up to 004010 it is a missing end of a security S1S, as 20 to 22 are of S1E, S2S and S2E.
	"19": "control number not unique in the interchange", "20": "start of a security S1E missing", "21": "end of a security S2S missing", "22": "start of a security S2E missing",
	"23": "end of a security S3S missing", "24": "start of a security S3E missing", "25": "end of a security S4S missing", "26": "start of a security S4E missing",
	"30": "date invalid", "31": "time invalid", "32": "headers or trailers of sets invalid",
}

var invoiceKinds = map[string]string{ // 640
	"CN": "credit invoice", "CR": "credit memo", "DI": "debit invoice", "DR": "debit memo", "PP": "prepaid invoice", "FD": "final invoice",
}

var purposes = map[string]string{ // 353
	"00": "original", "01": "cancellation", "02": "addition", "03": "deletion", "04": "change", "05": "replacement", "06": "confirmation", "07": "duplicate",
}

var referenceKinds = map[string]string{ // 128
	"BM": "bill of lading", "CN": "carrier's reference", "CO": "customer order", "CT": "contract", "DP": "department", "IA": "internal vendor number",
	"IV": "invoice", "LT": "lot", "PK": "packing list", "PO": "purchase order", "SE": "serial number", "SI": "shipper's identifier", "TJ": "tax number", "VN": "vendor order", "VR": "vendor", "ON": "order",
}

var partyRoles = map[string]string{ // 98
	"BT": "bill to", "BY": "buyer", "CA": "carrier", "PE": "payee", "PR": "payer", "RE": "party to receive payment", "RI": "remit to", "SE": "seller", "SF": "ship from",
	"SH": "shipper", "ST": "ship to", "SU": "supplier", "VN": "vendor", "II": "issuer of the invoice",
}

var channels = map[string]string{"TE": "telephone", "FX": "fax", "EM": "e-mail", "CP": "mobile"} // 365

var units = map[string]string{ // 355
	"EA": "each", "CA": "case", "CT": "carton", "BX": "box", "DZ": "dozen", "LB": "pound", "KG": "kilogram", "PC": "piece", "PL": "pallet", "PK": "package", "GR": "gram", "FT": "foot", "MR": "metre",
}

var priceBases = map[string]string{"PE": "each", "HP": "per hundred", "TP": "per thousand", "CT": "contract", "QT": "quoted", "NT": "net"} // 639

var itemNumbers = map[string]string{ // 235
	"UP": "UPC", "UK": "GTIN-14", "EN": "GTIN-13", "EO": "GTIN-8", "VN": "vendor's item number", "VC": "vendor's catalogue number", "VP": "vendor's part number", "BP": "buyer's part number",
	"IN": "buyer's item number", "SK": "stock keeping unit", "PI": "purchaser's item code", "PO": "order number", "CB": "buyer's catalogue number", "MG": "manufacturer's part number", "LT": "lot", "SN": "serial number",
}
