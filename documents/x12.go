package documents

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// standardX12 gives what 0085 says in the words of X12: 723 for an element, 720 for a
// segment.
func standardX12(code, standard string, at edi.Location) string {
	switch standard {
	case "13": // missing
		if at.Element > 0 {
			return "1"
		}
		return "3"
	case "12", "29": // invalid value, count
		if code == "invalid-date" || at.Element == 0 { // of a segment: that its elements are in error
			return "8"
		}
		return "7"
	case "26": // duplicate
		if at.Element == 0 {
			return "5"
		}
		return "7"
	case "35": // segment repeated too often
		return "5"
	case "39":
		return "5"
	case "40":
		return "4"
	case "19", "21", "37", "38":
		return "6"
	}
	return standard
}

// real reads a number of type R: an explicit decimal point, an optional minus, and
// from later releases on an exponent. There is no decimal comma in X12: one is no
// number, since it could mark thousands as well.
func (m *mapping) real(s *segment, e int) Number {
	raw := trimBlanks(s.get(e, 1))
	if raw == "" {
		return Number{}
	}
	mantissa, exponent := raw, 0
	if at := strings.IndexByte(raw, 'E'); at > 0 {
		n, err := strconv.Atoi(raw[at+1:])
		if err != nil || n < -maxDigits || n > maxDigits {
			return m.notNumber(s, e, raw, "its exponent is none")
		}
		mantissa, exponent = raw[:at], n
	}
	if strings.ContainsRune(mantissa, ',') {
		return m.notNumber(s, e, raw, "X12 has a decimal point and no comma")
	}
	n, fault := parseNumber(mantissa)
	if fault != nil && (!fault.tolerated || fault.standard == "37") {
		return m.notNumber(s, e, raw, fault.text)
	}
	if exponent != 0 && n.Valid() {
		if n = NumberOf(n.Decimal().Shift(int32(exponent))); n.digits() > maxDigits {
			return m.notNumber(s, e, raw, fmt.Sprintf("with its exponent it has more than %d digits", maxDigits))
		}
	}
	return n
}

// implied reads a number of type N2: digits with two decimals implied, and an optional
// minus. "10050" is 100.50. A decimal point in it is refused: whether the sender means
// what the point says, or what the type says, is a hundredfold.
func (m *mapping) implied(s *segment, e int) Number {
	raw := trimBlanks(s.get(e, 1))
	if raw == "" {
		return Number{}
	}
	if strings.ContainsAny(raw, ".,") {
		return m.notNumber(s, e, raw, "the element has two implied decimals (type N2) and no decimal point")
	}
	n, fault := parseNumber(raw)
	if fault != nil {
		return m.notNumber(s, e, raw, fault.text)
	}
	if n.large != nil {
		return numberOf(n.large, 2)
	}
	n.scale = 2
	return n
}

func (m *mapping) notNumber(s *segment, e int, raw, why string) Number {
	m.report(edi.SeverityError, "invalid-number", "37", s.Location(e, 1), fmt.Sprintf("%q: %s", shorten(raw), why))
	return Number{}
}

// dateX12 reads CCYYMMDD, or YYMMDD as it was before 004010, with a time HHMM… where
// there is one; false where there is no date. An impossible one refuses the message.
func (m *mapping) dateX12(s *segment, date, clock int) (value string, ok bool) {
	raw := trimBlanks(s.get(date, 1))
	if strings.Trim(raw, "0") == "" { // QUIRK: zeros are sent for "no date"
		return "", false
	}
	if len(raw) != 8 && len(raw) != 6 {
		m.report(edi.SeverityError, "invalid-date", "12", s.Location(date, 1), fmt.Sprintf("%q is no date CCYYMMDD", shorten(raw)))
		return "", false
	}
	value, ok = parseInstant(raw)
	if !ok {
		m.report(edi.SeverityError, "invalid-date", "12", s.Location(date, 1), fmt.Sprintf("%q is no date CCYYMMDD", shorten(raw)))
		return "", false
	}
	if len(raw) == 6 && m.centuries() {
		m.warn("date-format", s.Location(date, 1), "%s has no century, which dates have from 004010 on; it is read as %s", raw, value)
	}
	if clock == 0 {
		return value, true
	}
	hours := trimBlanks(s.get(clock, 1))
	if hours == "" {
		return value, true
	}
	full := strings.ReplaceAll(value, "-", "") + hours[:min(6, len(hours)&^1)]
	if instant, fine := parseInstant(full); fine && len(hours) >= 4 {
		return instant, true
	}
	m.warn("invalid-time", s.Location(clock, 1), "%q is no time HHMM", shorten(hours))
	return value, true
}

// centuries reports whether dates have eight digits in the message's version.
func (m *mapping) centuries() bool { return m.release >= "004010" }

// day is the part of a value that is a date.
func day(value string) string { return value[:min(10, len(value))] }

// dtmX12 reads DTM: qualifier, date, time, and a period in DTM05 and DTM06.
func (m *mapping) dtmX12(s *segment) (Date, bool) {
	d := Date{Qualifier: s.get(1, 1), Raw: s.get(2, 1)}
	d.Role = m.role(roles.Dates, d.Qualifier)
	if clock := s.get(3, 1); clock != "" {
		d.Raw += " " + clock
	}
	d.Zone = s.get(4, 1)
	if s.get(6, 1) != "" {
		d.Format, d.Raw = s.get(5, 1), s.get(6, 1)
		format := formatX12(d.Format)
		read, fault := readDate(d.Raw, format)
		switch {
		case format == "":
			m.note("date-format", s.Location(5, 1), "format %s is kept as sent, not read", shorten(d.Format))
		case fault == dateUnlike && d.Format != "RD8": // which always had to be one
			m.note("date-format", s.Location(6, 1), "%q is not in format %s; kept as sent, not read", shorten(d.Raw), d.Format)
		case fault == dateEmpty:
			m.warn("date-empty", s.Location(6, 1), "DTM %s holds no date", shorten(d.Qualifier))
		case fault == dateUnlike, fault == dateImpossible:
			m.report(edi.SeverityError, "invalid-date", "12", s.Location(6, 1), fmt.Sprintf("%q is no date in format %s", shorten(d.Raw), d.Format))
			return d, false
		default:
			if fault == dateMismatch {
				m.warn("date-format", s.Location(6, 1), "%s is not in format %s; read by its length", shorten(d.Raw), d.Format)
			}
			d.Value, d.End = read.Value, read.End
		}
		return d, true
	}
	var ok bool
	if d.Value, ok = m.dateX12(s, 2, 3); !ok && d.Raw == "" {
		m.warn("date-empty", s.Location(2, 1), "DTM %s holds no date", shorten(d.Qualifier))
	}
	return d, ok
}

// formatX12 gives the code of 2379 for one of X12's 1250, "" where there is none.
func formatX12(code string) string {
	switch code {
	case "D6":
		return "101"
	case "D8":
		return "102"
	case "DT":
		return "203"
	case "TM":
		return "401"
	case "TS":
		return "402"
	case "CM":
		return "610"
	case "CY":
		return "602"
	case "RD6":
		return "717"
	case "RD8":
		return "718"
	case "RDT":
		return "719"
	}
	return ""
}

// numberX12 sets the document's number from element e of the segment that opens it.
func (m *mapping) numberX12(s *segment, e int) {
	m.doc.Number = trimBlanks(s.get(e, 1))
	switch n := len([]rune(m.doc.Number)); {
	case n == 0:
		m.report(edi.SeverityError, "document-number-missing", "13", s.Location(e, 1), s.tag+" holds no document number")
	case n > 35:
		m.report(edi.SeverityError, "document-number-too-long", "39", s.Location(e, 1), fmt.Sprintf("the document number has %d characters, 35 are allowed", n))
	}
}

// headAt is where the segment that numbers a transaction set should stand.
func (m *mapping) headAt(tag string) edi.Location {
	at := m.at
	at.Segment, at.Tag = 2, tag
	return at
}

// functionX12 sets the document's function from element e, X12's 353.
func (m *mapping) functionX12(s *segment, e int) {
	m.doc.Function = functionOf(s.get(e, 1))
	if m.doc.Revision() == RevisionPartial {
		m.warn("partial-function", s.Location(e, 1), "purpose %s sends a part of a document; it is kept as a document of its own", s.get(e, 1))
	}
	if strings.HasPrefix(m.doc.Function, "x12:") {
		m.warn("function-unknown", s.Location(e, 1), "purpose %s is none that we know; the document is guarded like an original", shorten(s.get(e, 1)))
	}
}

// functionOf gives the code of 1225 for one of X12's 353; one that has none stays as
// it is, behind "x12:".
func functionOf(purpose string) string {
	switch purpose {
	case "":
		return ""
	case "00":
		return "9"
	case "01", "03": // cancelled, deleted
		return "1"
	case "02":
		return "2"
	case "04":
		return "4"
	case "05":
		return "5"
	case "07":
		return "7"
	case "17", "18": // cancelled until it comes again, and come again
		return purpose
	case "22":
		return "31"
	}
	return "x12:" + purpose
}

// schemeX12 gives the ISO 6523 code for a qualifier of 66 where there is one.
func schemeX12(qualifier string) (neutral, raw string) {
	switch qualifier {
	case "UL":
		return "0088", "UL" // GLN
	case "1":
		return "0060", "1" // DUNS
	}
	return qualifier, ""
}

// n1 reads N1.
func (m *mapping) n1(s *segment) Party {
	p := Party{Qualifier: s.get(1, 1), Name: trimBlanks(s.get(2, 1))}
	p.Role = m.role(roles.Parties, p.Qualifier)
	if p.ID.Value = trimBlanks(s.get(4, 1)); p.ID.Value != "" {
		p.ID.Scheme, p.ID.Raw = schemeX12(s.get(3, 1))
	}
	return p
}

// underN1 puts a segment of the loop N1 into its party; false if it is none of those.
func (m *mapping) underN1(p *Party, s *segment) bool {
	add := func(list *[]string, from, to int) {
		for e := from; e <= to; e++ {
			if v := trimBlanks(s.get(e, 1)); v != "" {
				*list = append(*list, v)
			}
		}
	}
	switch s.tag {
	case "N2":
		add(&p.MoreNames, 1, 2)
	case "N3":
		add(&p.Street, 1, 2)
	case "N4":
		p.City, p.Region, p.Postcode, p.Country = trimBlanks(s.get(1, 1)), s.get(2, 1), s.get(3, 1), s.get(4, 1)
		if number := trimBlanks(s.get(6, 1)); number != "" { // 309 and 310: a location by its code
			p.References = append(p.References, Reference{Qualifier: s.get(5, 1), Number: number})
		}
	case "REF":
		r := m.refX12(s)
		if r.Role == "tax_id" && p.TaxID == "" {
			p.TaxID = r.Number
			return true
		}
		p.References = append(p.References, r)
	case "PER":
		p.Contacts = append(p.Contacts, per(s))
	default:
		return false
	}
	return true
}

// per reads PER: function, name, and up to three numbers with their channel.
func per(s *segment) Contact {
	c := Contact{Function: s.get(1, 1), Name: trimBlanks(s.get(2, 1))}
	for e := 3; e <= 7; e += 2 {
		c.reach(s.get(e+1, 1), s.get(e, 1))
	}
	return c
}

// refX12 reads REF. Where REF02 is empty REF03 says it in words.
func (m *mapping) refX12(s *segment) Reference {
	r := Reference{Qualifier: s.get(1, 1), Number: trimBlanks(s.get(2, 1)), Text: trimBlanks(s.get(3, 1))}
	if r.Number == "" {
		r.Number, r.Text = r.Text, ""
	}
	for c := 1; c <= 5; c += 2 { // C040
		if number := trimBlanks(s.get(4, c+1)); number != "" {
			r.Also = append(r.Also, Identifier{Value: number, Scheme: s.get(4, c)})
		}
	}
	r.Role = m.role(roles.References, r.Qualifier)
	return r
}

// unitX12 gives the code of UN/ECE Recommendation 20 for one of X12's 355, the code as
// sent where there is none that surely says the same.
func unitX12(code string) string {
	switch code {
	case "LB":
		return "LBR"
	case "KG":
		return "KGM"
	case "GR":
		return "GRM"
	case "OZ":
		return "ONZ"
	case "DZ":
		return "DZN"
	case "GA":
		return "GLL"
	case "LT":
		return "LTR"
	case "ML":
		return "MLT"
	case "FT":
		return "FOT"
	case "IN":
		return "INH"
	case "YD":
		return "YRD"
	case "MR":
		return "MTR"
	case "CM":
		return "CMT"
	case "SF":
		return "FTK"
	case "SM":
		return "MTK"
	case "CF":
		return "FTQ"
	case "TN":
		return "STN"
	case "HR":
		return "HUR"
	case "PC":
		return "PCE"
	case "ST":
		return "SET"
	case "HU":
		return "CEN"
	case "TH":
		return "MIL"
	case "GS":
		return "GRO"
	case "MP":
		return "TNE"
	case "FO":
		return "OZA"
	case "MM":
		return "MMT"
	case "SY":
		return "YDK"
	case "CY":
		return "YDQ"
	case "CI":
		return "INQ"
	case "CC":
		return "CMQ"
	case "CR":
		return "MTQ"
	case "KH":
		return "KWH"
	case "DA":
		return "DAY"
	case "WK":
		return "WEE"
	case "MO":
		return "MON"
	case "YR":
		return "ANN"
	}
	return code
}

// itemsX12 reads pairs of kind (235) and item number (234) from element e on.
func itemsX12(l *Line, s *segment, e int) {
	if s.odd&oddEscaped == 0 {
		for n := s.elements(); e+1 <= n; e += 2 {
			itemX12(l, s.get(e+1, 1), s.get(e, 1))
		}
		return
	}
	kind, of := "", 0 // all values in one pass: to ask for each goes through those before it
	for v := range s.Values() {
		switch {
		case v.Element < e || v.Repetition > 1 || v.Component > 1:
		case (v.Element-e)%2 == 0:
			kind, of = v.Text, v.Element+1
		case of == v.Element:
			itemX12(l, v.Text, kind)
		default:
			itemX12(l, v.Text, "")
		}
	}
}

// itemX12 puts an item number under its kind.
func itemX12(l *Line, value, kind string) {
	value = trimBlanks(value)
	if value == "" {
		return
	}
	var column *string
	switch kind {
	case "UK", "UP", "EN", "UI", "UA", "EO":
		column = &l.GTIN
	case "VN", "VP", "VA", "VC", "SK":
		column = &l.SupplierItem
	case "IN", "BP", "PI", "CB":
		column = &l.BuyerItem
	case "LT", "B8":
		column = &l.Batch
	case "PO":
		column = &l.OrderReference
	case "PL":
		column = &l.OrderLine
	case "CH":
		if l.detail().Origin == "" {
			l.Detail.Origin = value
			return
		}
	case "SN":
		l.detail().Serials = append(l.detail().Serials, value)
		return
	}
	switch {
	case column == nil, *column != "" && *column != value:
		id := Identifier{Value: value, Scheme: itemKind(kind)}
		if id.Scheme != kind {
			id.Raw = kind
		}
		l.detail().Items = append(l.detail().Items, id)
	default:
		*column = value
	}
}

// pid reads PID: the first description in words is the line's.
func pid(l *Line, s *segment) {
	text := trimBlanks(s.get(5, 1))
	code := s.get(4, 1)
	switch {
	case text != "" && l.Description == "":
		l.Description = text
		text = ""
		if code == "" {
			return
		}
	case text == "" && code == "":
		return
	}
	subject := s.get(1, 1)
	if characteristic := s.get(2, 1); characteristic != "" {
		subject += " " + characteristic
	}
	l.detail().Descriptions = append(l.detail().Descriptions, Text{Subject: subject, Code: code, Text: text, Language: s.get(9, 1)})
}

// ctt reads CTT01, the number of lines, -1 where it is not sent.
func (m *mapping) ctt(s *segment) (lines int, at edi.Location) {
	n := m.real(s, 1)
	if !n.Valid() {
		return -1, s.Location(1, 1)
	}
	role := "lines"
	if m.doc.Class == ClassDespatch {
		role = "levels"
	}
	m.doc.Detail.Counts = append(m.doc.Detail.Counts, Quantity{Role: role, Qualifier: "CTT01", Quantity: n})
	if hash := m.real(s, 2); hash.Valid() {
		m.doc.Detail.Counts = append(m.doc.Detail.Counts, Quantity{Qualifier: "CTT02", Quantity: hash})
	}
	return int(n.Decimal().IntPart()), s.Location(1, 1)
}

// noteX12 reads NTE or MSG.
func (m *mapping) noteX12(s *segment) Text {
	if s.tag == "MSG" {
		return Text{Text: s.get(1, 1)}
	}
	return Text{Role: m.role(roles.Texts, s.get(1, 1)), Subject: s.get(1, 1), Text: s.get(2, 1)}
}

// meaX12 reads MEA.
func (m *mapping) meaX12(s *segment) Measure {
	return Measure{Purpose: s.get(1, 1), Dimension: s.get(2, 1), Value: m.real(s, 3), Unit: unitX12(s.get(4, 1)), Min: m.real(s, 5), Max: m.real(s, 6)}
}
