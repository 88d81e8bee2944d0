package x12

import "fmt"

// SegmentName is what a segment is about, in plain words of our own: "party" for
// N1. The tag itself where we have no words for it.
func SegmentName(tag string) string {
	if n, ok := segmentNames[tag]; ok {
		return n
	}
	return tag
}

// ElementName is what element e of a segment says: "invoice number" for BIG, 2.
// Composites are rare in X12, so a component has its number only. Where we have
// no words it is "element 2".
func ElementName(tag string, e, c int) string {
	n := fmt.Sprintf("element %d", e)
	if list := elementNames[tag]; e >= 1 && e <= len(list) && list[e-1] != "" {
		n = list[e-1]
	} else if first, step := pairsFrom(tag); first > 0 && e >= first {
		n = [2]string{"kind of item number", "item number"}[(e-first)%step]
	}
	if c > 1 {
		return fmt.Sprintf("%s, component %d", n, c)
	}
	return n
}

// pairsFrom is the element from which a segment has pairs of 235 and 234.
func pairsFrom(tag string) (first, step int) {
	switch tag {
	case "IT1", "PO1":
		return 6, 2
	case "LIN":
		return 2, 2
	}
	return 0, 1
}

// The words are ours; positions are those of 004010 and 005010.
var segmentNames = map[string]string{
	"ISA": "interchange header", "IEA": "interchange trailer", "GS": "group header", "GE": "group trailer",
	"ST": "transaction set header", "SE": "transaction set trailer", "TA1": "answer to the interchange",
	"AK1": "answer to a group", "AK2": "answer to a transaction set", "AK3": "segment in error", "AK4": "element in error",
	"AK5": "verdict on the transaction set", "AK9": "verdict on the group", "IK3": "segment in error", "IK4": "element in error",
	"IK5": "verdict on the transaction set", "CTX": "context of the error",
	"BIG": "invoice", "BSN": "ship notice", "BEG": "purchase order", "BAK": "purchase order acknowledgement",
	"NTE": "note", "CUR": "currency", "REF": "reference", "PER": "contact person", "N1": "party", "N2": "further names",
	"N3": "street", "N4": "city and country", "ITD": "payment terms", "DTM": "date", "FOB": "terms of delivery",
	"PID": "item description", "MEA": "measurement", "PKG": "packaging", "PWK": "paperwork", "PAM": "amount", "IT1": "invoice line",
	"IT3": "further line data", "PO1": "order line", "PO4": "pack", "TXI": "tax", "CTP": "price", "SAC": "allowance or charge",
	"SLN": "sub-line", "TDS": "total", "CAD": "carrier", "AMT": "amount", "ISS": "shipment summary", "CTT": "totals",
	"HL": "level", "LIN": "item", "SN1": "shipped quantity", "PRF": "order", "MAN": "marks and numbers", "PAL": "pallet",
	"TD1": "packages and weight", "TD3": "equipment", "TD4": "dangerous goods", "TD5": "routing", "QTY": "quantity",
	"SDQ": "quantities by destination", "CLD": "load", "BPR": "payment order", "N9": "reference", "MSG": "text", "LS": "loop start", "LE": "loop end",
	"V1": "vessel", "R4": "port", "BIN": "binary object", "BDS": "binary object",
}

// elementNames are by position.
var elementNames = map[string][]string{
	"ISA": {"kind of authorisation", "authorisation", "kind of security", "security", "kind of sender identifier", "sender",
		"kind of recipient identifier", "recipient", "date of preparation", "time of preparation", "repetition separator or standard",
		"version of the controls", "interchange control number", "acknowledgement requested", "usage", "component separator"},
	"IEA": {"count of groups", "interchange control number"},
	"GS":  {"kind of group", "sending application", "receiving application", "date of preparation", "time of preparation", "group control number", "agency", "version"},
	"GE":  {"count of transaction sets", "group control number"},
	"ST":  {"kind of transaction set", "transaction set control number", "implementation guide"},
	"SE":  {"count of segments", "transaction set control number"},
	"TA1": {"interchange control number", "its date", "its time", "verdict", "note"},
	"AK1": {"kind of group", "group control number", "version"},
	"AK2": {"kind of transaction set", "transaction set control number", "implementation guide"},
	"AK3": {"segment", "its position", "loop", "error"},
	"AK4": {"position of the element", "element number", "error", "what was sent"},
	"AK5": {"verdict", "error", "second error", "third error", "fourth error", "fifth error"},
	"AK9": {"verdict", "sets as the group says", "sets received", "sets accepted", "error"},
	"IK3": {"segment", "its position", "loop", "error"},
	"IK4": {"position of the element", "element number", "error", "what was sent"},
	"IK5": {"verdict", "error", "second error", "third error", "fourth error", "fifth error"},

	"BIG": {"invoice date", "invoice number", "order date", "order number", "release", "change order", "kind of invoice", "purpose"},
	"BSN": {"purpose", "shipment number", "date", "time", "order of levels"},
	"BEG": {"purpose", "kind of order", "order number", "release", "order date"},
	"NTE": {"subject", "text"},
	"CUR": {"whose currency", "currency", "exchange rate"},
	"REF": {"kind of reference", "reference", "description"},
	"N9":  {"kind of reference", "reference", "description", "date"},
	"PER": {"function", "name", "channel", "number or address", "second channel", "second number or address"},
	"N1":  {"role", "name", "kind of identifier", "identifier"},
	"N2":  {"name, line 2", "name, line 3"},
	"N3":  {"street", "street, line 2"},
	"N4":  {"city", "state", "postcode", "country"},
	"ITD": {"kind of terms", "reference date", "discount per cent", "discount due date", "discount days", "net due date", "net days", "discount amount",
		"deferred due date", "deferred amount", "per cent of the invoice", "description", "day of the month"},
	"DTM": {"kind of date", "date", "time", "zone", "date format", "period"},
	"FOB": {"who pays the transport", "kind of place", "place", "kind of terms", "terms"},
	"PID": {"format", "characteristic", "agency", "description code", "description"},
	"MEA": {"use", "dimension", "measurement", "unit"},
	"PAM": {"kind of quantity", "quantity", "unit", "kind of amount", "amount"},
	"AMT": {"kind of amount", "amount"},
	"IT1": {"line number", "quantity invoiced", "unit", "unit price", "price basis"},
	"PO1": {"line number", "quantity ordered", "unit", "unit price", "price basis"},
	"IT3": {"number of units shipped", "unit", "shipment status"},
	"PO4": {"inner packs", "size", "unit", "packaging", "kind of weight", "gross weight", "unit of weight"},
	"TXI": {"type of tax", "amount", "per cent", "kind of jurisdiction", "jurisdiction", "exemption", "relation", "basis"},
	"CTP": {"class of trade", "kind of price", "unit price", "quantity", "unit"},
	"SAC": {"allowance or charge", "service", "agency", "agency's service", "amount, two decimals implied", "basis of the percentage", "per cent",
		"rate", "unit", "quantity", "second quantity", "handling", "reference", "option", "description"},
	"SLN": {"sub-line number", "line it belongs to", "relation", "quantity", "unit", "unit price"},
	"TDS": {"invoice total, two decimals implied", "subject to discount, two decimals implied", "discounted total, two decimals implied", "discount, two decimals implied"},
	"CAD": {"mode", "equipment initial", "equipment number", "carrier", "routing", "status", "kind of reference", "reference"},
	"ISS": {"units shipped", "unit", "weight", "unit of weight"},
	"CTT": {"number of lines", "hash total"},
	"HL":  {"level number", "level it belongs to", "kind of level", "has levels below"},
	"LIN": {"line number"},
	"SN1": {"line number", "quantity shipped", "unit", "shipped to date", "quantity ordered", "unit ordered", "returnable containers", "status"},
	"PRF": {"order number", "release", "change order", "order date"},
	"MAN": {"kind of mark", "mark", "last mark of the range", "second kind of mark", "second mark"},
	"PAL": {"type of pallet", "tiers", "blocks", "inner packs"},
	"TD1": {"packaging", "number of packages", "commodity list", "commodity", "description", "kind of weight", "weight", "unit", "volume", "unit of volume"},
	"TD3": {"kind of equipment", "equipment initial", "equipment number", "kind of weight", "weight", "unit", "ownership", "seal status", "seal"},
	"TD5": {"sequence", "kind of identifier", "carrier", "mode", "routing", "status", "kind of place", "place"},
	"QTY": {"kind of quantity", "quantity", "unit"},
	"BPR": {"handling", "amount", "credit or debit", "payment method", "format", "kind of bank number", "payer's bank", "kind of account", "payer's account"},
	"MSG": {"text"},
}
