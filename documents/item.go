package documents

import "github.com/edigw/edigw/documents/roles"

// lin reads LIN.
func lin(l *Line, s *segment) {
	l.No = trimBlanks(s.get(1, 1))
	if action := s.get(2, 1); action != "" {
		l.detail().Action = action
	}
	itemID(l, s.get(3, 1), s.get(3, 2))
	if parent := s.get(4, 2); parent != "" {
		l.SubOf = parent
	}
	if level, configuration := s.get(5, 1), s.get(6, 1); level != "" || configuration != "" {
		l.detail().Level, l.detail().Configuration = level, configuration
	}
}

// pia reads PIA: up to five item numbers.
func pia(l *Line, s *segment) {
	function := s.get(1, 1)
	for e := 2; e <= min(s.elements(), 6); e++ {
		switch function {
		case "2", "3", "4": // 4347: it belongs with the item, or one stands for the other
			if value := trimBlanks(s.get(e, 1)); value != "" {
				l.detail().Items = append(l.detail().Items, Identifier{Value: value, Scheme: s.get(e, 2), Function: function})
			}
		default:
			itemID(l, s.get(e, 1), s.get(e, 2))
		}
	}
}

// itemID puts an item number under its kind, 7143.
func itemID(l *Line, value, kind string) {
	value = trimBlanks(value)
	if value == "" {
		return
	}
	column := (*string)(nil)
	switch kind {
	case "EN", "SRV", "UP":
		column = &l.GTIN
	case "SA", "VN", "VP":
		column = &l.SupplierItem
	case "IN", "BP":
		column = &l.BuyerItem
	case "NB":
		column = &l.Batch
	}
	if column != nil && *column == "" {
		*column = value
		return
	}
	if column != nil && *column == value {
		return
	}
	l.detail().Items = append(l.detail().Items, Identifier{Value: value, Scheme: kind})
}

// imd reads IMD. The line's description is the first free-form text (F), else the
// first text; rank remembers which it holds.
func imd(l *Line, s *segment, rank *int) {
	t := Text{Subject: s.get(1, 1), Code: s.get(3, 1), Text: join(s, 3, 4, 5), Language: s.get(3, 6)}
	if characteristic := s.get(2, 1); characteristic != "" {
		t.Subject += " " + characteristic
	}
	r := 1
	if s.get(1, 1) == "F" {
		r = 2
	}
	if t.Text != "" && r > *rank {
		if *rank > 0 {
			l.detail().Descriptions = append(l.detail().Descriptions, Text{Text: l.Description})
		}
		l.Description, *rank = t.Text, r
		if t.Code == "" && t.Language == "" {
			return
		}
		t.Text = ""
	}
	if t.Text != "" || t.Code != "" {
		l.detail().Descriptions = append(l.detail().Descriptions, t)
	}
}

// gin reads GIN of a line: batches (BX) and serial numbers (BN), others as they
// are.
func gin(l *Line, s *segment) {
	kind := s.get(1, 1)
	for e := 2; e <= min(s.elements(), 6); e++ {
		for c := 1; c <= 2; c++ {
			value := trimBlanks(s.get(e, c))
			switch {
			case value == "":
			case kind == "BX" && l.Batch == "":
				l.Batch = value
			case kind == "BN" || kind == "SN":
				l.detail().Serials = append(l.detail().Serials, value)
			default:
				l.detail().Identifiers = append(l.detail().Identifiers, Identifier{Value: value, Scheme: kind})
			}
		}
	}
}

// ftxOf reads FTX.
func (m *mapping) ftxOf(s *segment) Text {
	t := Text{Subject: s.get(1, 1), Code: s.get(3, 1), Text: join(s, 4, 1, 5), Language: s.get(5, 1)}
	t.Role = m.role(roles.Texts, t.Subject)
	return t
}

// countRole gives our word for a qualifier of 6069, "" if there is none.
func countRole(qualifier string) string {
	switch qualifier {
	case "2":
		return "lines"
	case "11":
		return "packages"
	}
	return ""
}

// mea reads MEA.
func (m *mapping) mea(s *segment) Measure {
	return Measure{
		Purpose: s.get(1, 1), Dimension: s.get(2, 1), Accuracy: s.get(2, 2), Text: s.get(2, 4),
		Unit: s.get(3, 1), Value: m.number(s, 3, 2), Min: m.number(s, 3, 3), Max: m.number(s, 3, 4),
	}
}
