package documents

// Supporting is a document that goes with an invoice (BG-24): EFI.
type Supporting struct {
	ID          string `json:"id,omitempty"`          // BT-122
	Description string `json:"description,omitempty"` // BT-123
	Location    string `json:"location,omitempty"`    // BT-124, an address to fetch it from
	File        string `json:"file,omitempty"`        // 1508, the name of the file it came in
}

// Attribute is a property of an item (BG-32): FTX+ACF.
type Attribute struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
}

// IsCredit reports whether d is a credit note: what EN 16931 takes for one (BR-CL-01).
func (d *Document) IsCredit() bool { return credits(d.TypeCode) }

// openSupporting reads EFI, with COM and RFF behind it.
func (m *invoic) openSupporting(s *segment) {
	m.place = placeSupporting
	m.invoice.Supporting = append(m.invoice.Supporting, Supporting{File: s.get(1, 1), Description: s.get(1, 2)})
	m.supporting = &m.invoice.Supporting[len(m.invoice.Supporting)-1]
}

// underSupporting puts a segment that belongs beneath EFI into the supporting document;
// false if it is none of those.
func (m *invoic) underSupporting(s *segment) bool {
	switch x := m.supporting; {
	case s.tag == "COM" && s.get(1, 2) == "AO" && x.Location == "": // 3155: an address on the net
		x.Location = s.get(1, 1)
	case s.tag == "RFF" && x.ID == "":
		x.ID = trimBlanks(s.get(1, 2))
	default:
		return false
	}
	return true
}

// objectID puts what is invoiced, BT-18, into the reference that stands for it:
// CEN/TS 16931-3-4 has it in GIR+14 behind an empty RFF+ATS.
func (m *invoic) objectID(s *segment) bool {
	if m.place != placeReference || m.reference == nil || m.reference.Role != "invoiced_object" || m.reference.Number != "" || s.get(1, 1) != "14" {
		return false
	}
	m.reference.Number = trimBlanks(s.get(2, 1))
	return true
}

// attribute reads FTX+ACF of a line, a name and a value; false where it is not both.
func attribute(l *Line, s *segment) bool {
	name, value := s.get(4, 1), s.get(4, 2)
	if s.get(1, 1) != "ACF" || name == "" || value == "" || s.get(4, 3) != "" {
		return false
	}
	l.detail().Attributes = append(l.detail().Attributes, Attribute{Name: name, Value: value})
	return true
}

// exempt gives each tax of a category without tax the reason that the document says
// for all of them: FTX+AGM.
func (m *invoic) exempt() {
	for i := range m.doc.Detail.Texts {
		reason := &m.doc.Detail.Texts[i]
		if reason.Role != "exemption_reason" {
			continue
		}
		for j := range m.invoice.Taxes {
			switch x := &m.invoice.Taxes[j]; x.Category {
			case "AE", "E", "G", "K", "O":
				if x.Exemption == "" && x.ExemptionCode == "" {
					x.Exemption, x.ExemptionCode = reason.Text, reason.Code
				}
			}
		}
	}
}
