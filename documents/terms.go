package documents

import "slices"

// The terms of payment that are not when to pay (UNTDID 4279).
const (
	termPenalty  = "20"
	termDiscount = "22"
)

// openTerm reads PAT or PYT.
func (m *invoic) openTerm(s *segment) {
	m.place = placeTerms
	list := &m.invoice.Terms
	if m.line != nil {
		list = &m.line.detail().Terms
	}
	t := PaymentTerm{Type: s.get(1, 1), Code: s.get(2, 1), Text: join(s, 2, 4, 5)}
	if s.tag == "PAT" { // C112
		t.Event, t.Relation, t.Period, t.Count = s.get(3, 1), s.get(3, 2), s.get(3, 3), s.get(3, 4)
	} else { // PYT has the same in elements of their own
		t.Event, t.Relation, t.Period, t.Count = s.get(3, 1), s.get(4, 1), s.get(5, 1), s.get(6, 1)
	}
	*list = append(*list, t)
	m.term = &(*list)[len(*list)-1]
}

// termDate takes a date beneath PAT or PYT. Terms of a line are not the document's.
func (m *invoic) termDate(date Date) {
	m.term.Dates = append(m.term.Dates, date)
	if date.Role == "due" && m.line == nil {
		m.due(date, m.term.Type == termDiscount || m.term.Type == termPenalty)
	}
}

// due takes BT-9: the first day that is said. QUIRK: some say 13, when to pay, of a
// discount or a penalty too; a day that is not of one (lesser) goes before it, and so
// does what says no day: see settleDue.
func (m *invoic) due(date Date, lesser bool) {
	day := date.Day()
	if day == "" || m.doc.DueDate != "" && (lesser || !m.lesser) {
		return
	}
	m.doc.DueDate, m.lesser = day, lesser
}

// settleDue takes the day of a discount or a penalty away as BT-9 where another term, or
// the header, says when to pay without a day: in days, in words, by a code.
func (m *invoic) settleDue() {
	if !m.lesser {
		return
	}
	said := slices.ContainsFunc(m.doc.Detail.Dates, func(d Date) bool { return d.Role == "due" })
	for i := range m.invoice.Terms {
		t := &m.invoice.Terms[i]
		said = said || t.Type != termDiscount && t.Type != termPenalty && (t.Count != "" || t.Text != "" || t.Code != "" || t.Dates != nil)
	}
	if said {
		m.doc.DueDate = ""
	}
}
