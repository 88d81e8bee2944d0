package compare

import "unicode/utf8"

// dialect is what alignment has to know of one syntax: which tags open lines
// and segment groups, and what identifies a segment among its like. It holds
// for all message types; a tag it does not know is a segment like any other.
type dialect struct {
	x12 bool
	// level of tags that open a line (2) or what holds lines (1): CPS, HL.
	level map[string]int
	// summary tags end the lines.
	summary map[string]bool
	// members are the tags that belong to the group a trigger opens.
	members map[string]map[string]bool
	// number is the element of the document number; only its first component.
	number map[string]int
	// lineNumber is the element of the line's own number.
	lineNumber map[string]int
	// parents are elements that point at another level by its number: HL02.
	parents map[string]int
	control map[string]bool
	account map[string]bool
	numeric func(tag string, element, component int) bool
	payee   map[string]bool // NAD 3035, N1 98: who is paid
	seller  map[string]bool // who is paid where no payee is named
	party   string          // tag of a party
}

func tags(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, t := range list {
		m[t] = true
	}
	return m
}

// edifact: groups as INVOIC, DESADV, ORDERS and RECADV of D.93A to D.14B have
// them, flattened to one level below header, line and summary.
var edifact = dialect{
	level:   map[string]int{"CPS": 1, "LIN": 2, "GID": 2},
	summary: tags("UNS", "CNT", "UNT"),
	members: map[string]map[string]bool{
		"NAD": tags("LOC", "FII", "RFF", "DTM", "DOC", "CTA", "COM"),
		"RFF": tags("DTM"),
		"TAX": tags("MOA"),
		"CUX": tags("DTM"),
		"PAT": tags("DTM", "PCD", "MOA", "PAI", "FII"),
		"PYT": tags("DTM", "PCD", "MOA", "PAI", "FII"),
		"TDT": tags("LOC", "DTM"),
		"ALC": tags("ALI", "DTM", "QTY", "RNG", "PCD", "MOA", "RTE", "TAX"),
		"PAC": tags("MEA", "QTY", "HAN", "PCI", "RFF", "DTM", "GIR", "GIN", "LOC"),
		"PRI": tags("APR", "RNG", "DTM"),
	},
	number:     map[string]int{"BGM": 2},
	lineNumber: map[string]int{"LIN": 1, "CPS": 1, "GID": 1},
	parents:    map[string]int{"CPS": 2},
	control:    tags("UNH", "UNT", "UNB", "UNZ", "UNG", "UNE"),
	account:    tags("FII"),
	numeric: func(tag string, element, component int) bool {
		switch tag {
		case "MOA", "PRI", "QTY", "PCD", "CNT", "RTE": // C516 5004, C509 5118, C186 6060, C501 5482, C270 6066, C128 5420
			return element == 1 && component == 2
		case "TAX": // 5286 basis, C243 5278 rate
			return element == 4 || element == 5 && component == 4
		case "CUX": // 5402 rate of exchange
			return element == 3
		case "MEA": // C174 6314
			return element == 3 && component == 2
		}
		return false
	},
	payee:  tags("PE", "RE", "BE"),
	seller: tags("SE", "SU", "II"),
	party:  "NAD",
}

// x12: loops as 810, 850 and 856 of 003040 to 005010 have them.
var x12 = dialect{
	x12:     true,
	level:   map[string]int{"HL": 1, "IT1": 2, "PO1": 2, "LIN": 2},
	summary: tags("TDS", "CTT", "SE"),
	members: map[string]map[string]bool{
		"N1":  tags("N2", "N3", "N4", "REF", "PER"),
		"SAC": tags("TXI", "CUR"),
		"REF": tags("DTM"),
		"N9":  tags("MSG"),
	},
	number:     map[string]int{"BIG": 2, "BSN": 2, "BEG": 3, "BAK": 3},
	lineNumber: map[string]int{"IT1": 1, "PO1": 1, "LIN": 1, "HL": 1},
	parents:    map[string]int{"HL": 2},
	control:    tags("ST", "SE", "ISA", "IEA", "GS", "GE"),
	account:    tags("BPR"),
	numeric:    func(string, int, int) bool { return false }, // X12 R has one decimal mark
	payee:      tags("PE", "RE", "RI"),
	seller:     tags("SE", "SU", "VN", "II"),
	party:      "N1",
}

func dialectOf(syntax string) *dialect {
	if syntax == "x12" {
		return &x12
	}
	return &edifact
}

// opens gives the level that tag opens below a block opened by parent, zero if
// it opens none. A LIN below HL is the item of that level (856), not a line.
func (d *dialect) opens(tag, parent string) int {
	if tag == "LIN" && parent == "HL" {
		return 0
	}
	return d.level[tag]
}

// Tags whose first value says how much or which, not what kind.
var unkeyed = tags("BGM", "PAC", "CPS", "LIN", "GID", "UNH", "UNT", "UNS",
	"ST", "SE", "BIG", "BSN", "BEG", "IT1", "PO1", "HL", "TDS", "CTT", "N2", "N3", "N4",
	"CAD", "TD5", "ITD", "FOB", "SN1", "IT3", "ISS", "CTP", "BPR", "MSG", "SDQ", "SLN")

// key is what a segment is among its like: the tag and its qualifier. A
// qualifier is at most three characters in both directories.
func (d *dialect) key(s *Segment) string {
	if unkeyed[s.Tag] {
		return s.Tag
	}
	key := s.Tag
	switch q := s.value(1, 1); {
	case s.Tag == "COM": // C076: number first, 3155 after it
		key += "+" + s.value(1, 2)
	case q != "" && utf8.RuneCountInString(q) <= 3:
		key += "+" + q
	}
	switch {
	case s.Tag == "TAX": // 5283, then C241 5153
		key += "+" + s.value(2, 1)
	case s.Tag == "SAC": // SAC01, SAC02
		key += "+" + s.value(2, 1)
	case s.Tag == "ALC": // 5463, then C214 7161
		key += "+" + s.value(5, 1)
	}
	return key
}

// group names the segment group that s opens: NAD+PE, N1*SU.
func (d *dialect) group(s *Segment) string {
	q := s.value(1, 1)
	switch {
	case q == "" || unkeyed[s.Tag]:
		return s.Tag
	case d.x12:
		return s.Tag + "*" + q
	}
	return s.Tag + "+" + q
}

// item identifies what a line is about, whatever its number: LIN C212 7140 or
// the first product id of PIA; IT107, LIN03 (235/234 pairs). "" if nothing does.
func (d *dialect) item(own []Segment) string {
	if len(own) == 0 {
		return ""
	}
	head := &own[0]
	switch head.Tag {
	case "IT1", "PO1":
		if id := head.value(7, 1); id != "" {
			return id
		}
	case "LIN":
		if id := head.value(3, 1); id != "" {
			return id
		}
	}
	for i := range own {
		s := &own[i]
		switch s.Tag {
		case "PIA":
			return s.value(2, 1)
		case "LIN":
			if i > 0 { // below HL
				return s.value(3, 1)
			}
		case "GIN": // SSCC of a package
			return s.value(2, 1)
		case "MAN":
			return s.value(2, 1)
		case "IMD": // C273 7008, where nothing else names the item
			return s.value(3, 4)
		case "PID":
			return s.value(5, 1)
		}
	}
	return ""
}
