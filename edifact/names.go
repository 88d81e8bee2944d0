package edifact

import "fmt"

// SegmentName is what a segment is about, in plain words: "party" for NAD. The
// tag itself where we have no words for it.
func SegmentName(tag string) string {
	if n, ok := segmentNames[tag]; ok {
		return n
	}
	return tag
}

// ElementName is what component c of element e of a segment says: "invoice
// number or other document number" for BGM 2, 1. Where we have no words it is
// "element 2" or "element 2, component 3".
func ElementName(tag string, e, c int) string {
	if n, ok := elementNames[tag][place{e, c}]; ok {
		return n
	}
	if c > 1 {
		return fmt.Sprintf("element %d, component %d", e, c)
	}
	return fmt.Sprintf("element %d", e)
}

// The words are ours; positions are those of D.96A and D.01B, and of ISO 9735
// for service segments.
var segmentNames = map[string]string{
	"UNA": "service characters", "UNB": "interchange header", "UNZ": "interchange trailer",
	"UNG": "group header", "UNE": "group trailer", "UNH": "message header", "UNT": "message trailer",
	"UNS": "section change", "UNO": "package header", "UNP": "package trailer",
	"UCI": "answer to the interchange", "UCF": "answer to a group", "UCM": "answer to a message",
	"UCS": "segment in error", "UCD": "element in error",
	"AJT": "adjustment", "ALC": "allowance or charge", "ALI": "origin and conditions", "APR": "price conversion",
	"BGM": "document", "CNT": "control total", "COM": "contact address", "CPS": "packaging level", "CTA": "contact person",
	"CUX": "currency", "DGS": "dangerous goods", "DLM": "delivery limits", "DOC": "document details", "DTM": "date",
	"EQA": "attached equipment", "EQD": "equipment", "ERC": "application error", "FII": "bank account", "FTX": "text",
	"GIN": "identity numbers", "GIR": "related identity numbers", "HAN": "handling", "IMD": "item description",
	"LIN": "line", "LOC": "place", "MEA": "measurement", "MOA": "amount", "NAD": "party", "PAC": "packages",
	"PAI": "means of payment", "PAT": "payment terms", "PYT": "payment terms", "PCD": "percentage", "PCI": "package marks",
	"PGI": "product group", "PIA": "further item numbers", "PRI": "price", "QTY": "quantity", "QVR": "quantity difference",
	"RFF": "reference", "RNG": "range", "RTE": "rate", "SCC": "delivery schedule", "SEL": "seal", "SGP": "goods in equipment",
	"STG": "stage", "TAX": "tax", "TDT": "transport", "TMD": "transport movement", "TMP": "temperature", "TOD": "terms of delivery",
}

type place = [2]int // element, component

var elementNames = map[string]map[place]string{
	"UNB": {{1, 1}: "syntax identifier", {1, 2}: "syntax version", {1, 4}: "character encoding",
		{2, 1}: "sender", {2, 2}: "kind of sender identifier", {2, 3}: "sender's internal address",
		{3, 1}: "recipient", {3, 2}: "kind of recipient identifier", {3, 3}: "recipient's internal address",
		{4, 1}: "date of preparation", {4, 2}: "time of preparation", {5, 1}: "interchange reference",
		{6, 1}: "recipient's password", {7, 1}: "application", {8, 1}: "priority", {9, 1}: "acknowledgement requested",
		{10, 1}: "agreement", {11, 1}: "test indicator"},
	"UNZ": {{1, 1}: "count of messages or groups", {2, 1}: "interchange reference"},
	"UNG": {{1, 1}: "message type of the group", {2, 1}: "sending application", {3, 1}: "receiving application",
		{4, 1}: "date of preparation", {4, 2}: "time of preparation", {5, 1}: "group reference", {6, 1}: "agency",
		{7, 1}: "version", {7, 2}: "release", {7, 3}: "association's version"},
	"UNE": {{1, 1}: "count of messages", {2, 1}: "group reference"},
	"UNH": {{1, 1}: "message reference", {2, 1}: "message type", {2, 2}: "version", {2, 3}: "release", {2, 4}: "agency",
		{2, 5}: "association's version", {3, 1}: "common access reference"},
	"UNT": {{1, 1}: "count of segments", {2, 1}: "message reference"},
	"UNS": {{1, 1}: "section"},
	"UCI": {{1, 1}: "interchange reference", {2, 1}: "sender", {2, 2}: "kind of sender identifier", {3, 1}: "recipient",
		{3, 2}: "kind of recipient identifier", {4, 1}: "action", {5, 1}: "error", {6, 1}: "service segment",
		{7, 1}: "element position", {7, 2}: "component position"},
	"UCF": {{1, 1}: "group reference", {2, 1}: "sending application", {3, 1}: "receiving application", {4, 1}: "action", {5, 1}: "error"},
	"UCM": {{1, 1}: "message reference", {2, 1}: "message type", {2, 2}: "version", {2, 3}: "release", {2, 4}: "agency",
		{2, 5}: "association's version", {3, 1}: "action", {4, 1}: "error", {5, 1}: "service segment", {6, 1}: "element position",
		{6, 2}: "component position"},
	"UCS": {{1, 1}: "segment position", {2, 1}: "error"},
	"UCD": {{1, 1}: "error", {2, 1}: "element position", {2, 2}: "component position"},

	"BGM": {{1, 1}: "document type", {1, 4}: "document name", {2, 1}: "document number", {2, 2}: "version", {3, 1}: "function", {4, 1}: "response wanted"},
	"DTM": {{1, 1}: "kind of date", {1, 2}: "date", {1, 3}: "date format"},
	"FTX": {{1, 1}: "subject", {2, 1}: "text function", {3, 1}: "text code", {4, 1}: "text", {4, 2}: "text, line 2", {4, 3}: "text, line 3",
		{4, 4}: "text, line 4", {4, 5}: "text, line 5", {5, 1}: "language"},
	"RFF": {{1, 1}: "kind of reference", {1, 2}: "reference", {1, 3}: "line of the reference"},
	"NAD": {{1, 1}: "role", {2, 1}: "identifier", {2, 2}: "identifier list", {2, 3}: "identifier's agency",
		{3, 1}: "name and address", {3, 2}: "name and address, line 2", {3, 3}: "name and address, line 3",
		{4, 1}: "name", {4, 2}: "name, line 2", {4, 3}: "name, line 3", {5, 1}: "street", {5, 2}: "street, line 2", {5, 3}: "street, line 3",
		{6, 1}: "city", {7, 1}: "region", {8, 1}: "postcode", {9, 1}: "country"},
	"FII": {{1, 1}: "role", {2, 1}: "account number", {2, 2}: "account holder", {3, 1}: "bank identifier", {3, 7}: "bank name", {4, 1}: "country"},
	"CTA": {{1, 1}: "function", {2, 1}: "identifier", {2, 2}: "name"},
	"COM": {{1, 1}: "address or number", {1, 2}: "channel"},
	"CUX": {{1, 1}: "use", {1, 2}: "currency", {1, 3}: "currency qualifier", {2, 1}: "use of the target currency", {2, 2}: "target currency",
		{3, 1}: "exchange rate"},
	"PAT": {{1, 1}: "kind of terms", {2, 1}: "terms", {3, 1}: "reference date", {3, 2}: "time relation", {3, 3}: "kind of period", {3, 4}: "number of periods"},
	"PYT": {{1, 1}: "kind of terms", {2, 1}: "terms", {3, 1}: "reference date", {4, 1}: "time relation", {5, 1}: "kind of period", {6, 1}: "number of periods"},
	"PAI": {{1, 3}: "means of payment"},
	"PCD": {{1, 1}: "kind of percentage", {1, 2}: "percentage", {1, 3}: "basis"},
	"MOA": {{1, 1}: "kind of amount", {1, 2}: "amount", {1, 3}: "currency"},
	"TAX": {{1, 1}: "function", {2, 1}: "type of tax", {3, 1}: "account", {4, 1}: "basis", {5, 1}: "tax rate code", {5, 4}: "tax rate", {6, 1}: "tax category", {7, 1}: "tax number"},
	"ALC": {{1, 1}: "allowance or charge", {2, 1}: "identifier", {3, 1}: "settlement", {4, 1}: "sequence", {5, 1}: "reason code", {5, 4}: "reason", {5, 5}: "reason, line 2"},
	"RTE": {{1, 1}: "kind of rate", {1, 2}: "rate", {1, 3}: "basis", {1, 4}: "unit"},
	"TOD": {{1, 1}: "function", {2, 1}: "transport charges", {3, 1}: "terms code", {3, 4}: "terms"},
	"TDT": {{1, 1}: "stage", {2, 1}: "conveyance reference", {3, 1}: "mode", {4, 1}: "means", {5, 1}: "carrier", {5, 4}: "carrier's name",
		{8, 1}: "vehicle", {8, 4}: "vehicle's name"},
	"LOC": {{1, 1}: "function", {2, 1}: "place", {2, 4}: "name of the place"},
	"EQD": {{1, 1}: "kind of equipment", {2, 1}: "equipment number"},
	"SEL": {{1, 1}: "seal number"},
	"CNT": {{1, 1}: "what is counted", {1, 2}: "total", {1, 3}: "unit"},

	"LIN": {{1, 1}: "line number", {2, 1}: "action", {3, 1}: "item number", {3, 2}: "kind of item number", {4, 1}: "sub-line indicator", {4, 2}: "line it belongs to"},
	"PIA": {{1, 1}: "use", {2, 1}: "item number", {2, 2}: "kind of item number", {3, 1}: "second item number", {3, 2}: "kind of second item number",
		{4, 1}: "third item number", {4, 2}: "kind of third item number"},
	"IMD": {{1, 1}: "format", {2, 1}: "characteristic", {3, 1}: "description code", {3, 4}: "description", {3, 5}: "description, line 2", {3, 6}: "language"},
	"QTY": {{1, 1}: "kind of quantity", {1, 2}: "quantity", {1, 3}: "unit"},
	"PRI": {{1, 1}: "kind of price", {1, 2}: "price", {1, 3}: "price type", {1, 4}: "price basis type", {1, 5}: "price basis", {1, 6}: "unit of the price basis"},
	"MEA": {{1, 1}: "use", {2, 1}: "dimension", {3, 1}: "unit", {3, 2}: "measurement"},
	"ALI": {{1, 1}: "country of origin", {2, 1}: "duty regime", {3, 1}: "special conditions"},
	"GIN": {{1, 1}: "kind of number", {2, 1}: "number", {2, 2}: "last number of the range", {3, 1}: "second number", {3, 2}: "last number of the second range"},
	"GIR": {{1, 1}: "set", {2, 1}: "number", {2, 2}: "kind of number"},
	"QVR": {{1, 1}: "difference", {1, 2}: "kind of quantity", {2, 1}: "reason"},
	"CPS": {{1, 1}: "level number", {2, 1}: "level it belongs to", {3, 1}: "kind of level"},
	"PAC": {{1, 1}: "number of packages", {2, 1}: "packaging level", {3, 1}: "type of package", {3, 4}: "type of package in words", {4, 1}: "package numbers"},
	"PCI": {{1, 1}: "marking", {2, 1}: "marks", {2, 2}: "marks, line 2", {3, 1}: "state of the package"},
	"HAN": {{1, 1}: "handling code", {1, 4}: "handling"},
	"ERC": {{1, 1}: "error code"},
}
