package compare

// Facet is what a difference touches, in the words of a business document.
type Facet string

// The facets, in the order in which a headline tells them.
const (
	Total     Facet = "total"    // of the document: MOA 77, 388, 39; TDS01
	Due       Facet = "due"      // MOA 9; TDS03
	Account   Facet = "account"  // FII, BPR, an IBAN wherever it stands
	Payee     Facet = "payee"    // NAD+PE, N1*PE; the seller where no payee is named
	Document  Facet = "document" // what the document is: BGM 1001, BIG07
	Function  Facet = "function" // BGM 1225, BIG08: original, replace, cancel
	Currency  Facet = "currency" // CUX, CUR
	Price     Facet = "price"
	Quantity  Facet = "quantity"
	Tax       Facet = "tax"       // rates and categories
	Allowance Facet = "allowance" // ALC group, SAC
	Date      Facet = "date"
	Line      Facet = "line"    // added, removed or moved as a whole
	Package   Facet = "package" // CPS, HL: the same
	Item      Facet = "item"
	Party     Facet = "party"
	Reference Facet = "reference"
	Other     Facet = "other"
	Amount    Facet = "amount"  // money that follows from the above: line amounts, tax amounts, sums
	Count     Facet = "count"   // control totals, line numbers
	Control   Facet = "control" // UNH, UNT, ST, SE and the envelope

	// sameWorth stands for an amount written differently; it is no facet of the API.
	sameWorth Facet = "same value"
)

// sensitive are the facets that make a difference in an invoice critical.
var sensitive = map[Facet]bool{
	Total: true, Due: true, Account: true, Payee: true, Document: true, Currency: true,
	Price: true, Quantity: true, Tax: true, Allowance: true, Amount: true,
}

// place is where a segment stands, as far as its facet depends on it.
type place struct {
	line     string // number of the line, "" outside lines
	pack     string // number of the package or hierarchical level
	group    string // trigger of the segment group with its qualifier: NAD+PE
	inLine   bool
	payee    bool // in the group of the party that is paid
	inAllow  bool
	numbered bool // the segment opens a line, package or level
}

// facet says what a difference at one position of a segment touches. element
// zero stands for the segment as a whole.
func (d *dialect) facet(s *Segment, at place, element, component int) Facet {
	if d.control[s.Tag] {
		if s.Tag == "UNH" && element == 2 || s.Tag == "ST" && element != 2 && element != 0 {
			return Other // S009, ST01, ST03: the version says how to read the rest
		}
		return Control
	}
	if at.payee && !d.account[s.Tag] && !accountReference(d, s) {
		return Payee
	}
	if at.numbered && element == d.lineNumber[s.Tag] && element != 0 {
		return Count
	}
	if d.x12 {
		return d.facetX12(s, at, element)
	}
	return d.facetEDIFACT(s, at, element, component)
}

func (d *dialect) facetEDIFACT(s *Segment, at place, element, component int) Facet {
	switch s.Tag {
	case "BGM":
		switch element {
		case 1:
			return Document
		case 3:
			return Function
		}
		return Reference
	case "MOA": // C516: 5025 qualifier, 5004 amount, 6345 currency
		switch {
		case component == 3:
			return Currency
		case at.inLine:
		case totalRank[s.value(1, 1)] > 0:
			return Total
		case s.value(1, 1) == "9":
			return Due
		}
		if at.inAllow {
			return Allowance
		}
		return Amount
	case "PRI":
		return Price
	case "QTY":
		return Quantity
	case "PCD", "ALC":
		if at.inAllow || s.Tag == "ALC" {
			return Allowance
		}
		return Amount
	case "TAX":
		return Tax
	case "CUX":
		return Currency
	case "FII":
		return Account
	case "DTM":
		return Date
	case "LIN", "PIA", "IMD":
		return Item
	case "NAD", "CTA", "COM", "LOC":
		return Party
	case "RFF", "DOC":
		return Reference
	case "CNT":
		return Count
	}
	return Other
}

func (d *dialect) facetX12(s *Segment, at place, element int) Facet {
	switch s.Tag {
	case "BIG", "BSN", "BEG":
		return headX12(s.Tag, element)
	case "TDS": // TDS01 total, TDS02 basis of the terms discount, TDS03 discounted amount due
		switch element {
		case 0, 1:
			return Total
		case 3:
			return Due
		}
		return Amount
	case "IT1", "PO1": // 02 quantity, 03 unit, 04 price, 05 basis, 06… item ids
		switch {
		case element == 2 || element == 3:
			return Quantity
		case element == 4 || element == 5:
			return Price
		}
		return Item
	case "CTP":
		return Price
	case "QTY", "SN1", "IT3", "ISS":
		return Quantity
	case "SAC", "ITA":
		return Allowance
	case "TXI":
		return Tax
	case "AMT", "CAD":
		return Amount
	case "CUR":
		return Currency
	case "BPR":
		return Account
	case "REF", "N9":
		if accountReference(d, s) {
			return Account
		}
		return Reference
	case "DTM", "DTP":
		return Date
	case "LIN", "PID":
		return Item
	case "N1", "N2", "N3", "N4", "PER":
		return Party
	case "CTT":
		return Count
	}
	return Other
}

// headX12 tells the elements of the opening segment apart: BIG01 date, BIG02
// number, BIG03 order date, BIG04 order, BIG07 type, BIG08 purpose; BSN01
// purpose, BSN02 number, BSN03 date, BSN04 time; BEG01 purpose, BEG05 date.
func headX12(tag string, element int) Facet {
	switch tag {
	case "BIG":
		switch element {
		case 1, 3:
			return Date
		case 7:
			return Document
		case 8:
			return Function
		}
	case "BSN":
		switch element {
		case 1:
			return Function
		case 3, 4:
			return Date
		}
	case "BEG":
		switch element {
		case 1:
			return Function
		case 2:
			return Document
		case 5:
			return Date
		}
	}
	return Reference
}

// totalRank orders the qualifiers under which guides put the document's total:
// 77 invoice amount, 388 amount with tax (EN 16931 BT-112), 39 invoice total
// amount, 86 message total, 128 total amount. Zero: no total.
var totalRank = map[string]int{"77": 1, "388": 2, "39": 3, "86": 4, "128": 5}

// accountReference tells references that name a bank account: X12 128 codes
// 01 (ABA routing number), 11 and 12 (account numbers), RT (payee's financial
// institution transit routing number), PY (payee's financial institution
// account number for cheque, draft or wire). 1153 of EDIFACT has PY too.
func accountReference(d *dialect, s *Segment) bool {
	if d.x12 {
		switch s.Tag {
		case "REF", "N9":
			switch s.value(1, 1) {
			case "01", "11", "12", "RT", "PY":
				return true
			}
		}
		return false
	}
	return s.Tag == "RFF" && s.value(1, 1) == "PY"
}

// iban reports whether s is an IBAN in the compact or the printed form
// (ISO 13616-1: two letters, two check digits, up to 30 characters, modulo 97).
func iban(s string) bool {
	n, sum := 0, 0
	var head [4]byte
	for i := range len(s) {
		c := s[i]
		if c == ' ' {
			continue
		}
		if n < 4 {
			head[n] = c
			if (n < 2) != (c >= 'A' && c <= 'Z') || n >= 2 && (c < '0' || c > '9') {
				return false
			}
		} else if sum = checkDigit(sum, c); sum < 0 {
			return false
		}
		if n++; n > 34 {
			return false
		}
	}
	if n < 15 {
		return false
	}
	for _, c := range head {
		sum = checkDigit(sum, c)
	}
	return sum == 1
}

// checkDigit carries the modulo 97 of ISO 7064 over one character, -1 if it
// may not stand in an IBAN.
func checkDigit(sum int, c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return (sum*10 + int(c-'0')) % 97
	case c >= 'A' && c <= 'Z':
		return (sum*100 + int(c-'A') + 10) % 97
	}
	return -1
}
