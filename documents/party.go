package documents

import "github.com/edigw/edigw/documents/roles"

// scheme gives the ISO 6523 code of an identification scheme where 3055 names
// one, else what was sent: 3055, or 1131 where EN 16931 puts the code.
func scheme(agency, list string) (neutral, raw string) {
	switch agency {
	case "9":
		return "0088", "9" // GS1: GLN
	case "16":
		return "0060", "16" // DUNS
	case "":
		return list, ""
	}
	return agency, ""
}

// partyID reads C082.
func partyID(s *segment, e int) Identifier {
	id := Identifier{Value: trimBlanks(s.get(e, 1))}
	if id.Value != "" {
		id.Scheme, id.Raw = scheme(s.get(e, 3), s.get(e, 2))
	}
	return id
}

// nad reads NAD.
func (m *mapping) nad(s *segment) Party {
	p := Party{
		Qualifier: s.get(1, 1),
		ID:        partyID(s, 2),
		Name:      s.get(4, 1),
		City:      s.get(6, 1),
		Region:    s.get(7, 4), // C819; 3229 alone up to D.96A
		Postcode:  s.get(8, 1),
		Country:   s.get(9, 1),
	}
	p.Role = m.role(roles.Parties, p.Qualifier)
	if p.Region == "" {
		p.Region = s.get(7, 1)
	}
	p.Address = values(s, 3, 1, 5)
	p.MoreNames = values(s, 4, 2, 5) // 3045, the sixth, is a format code
	p.Street = values(s, 5, 1, 4)
	return p
}

// values gives the components from…to of element e that are not empty.
func values(s *segment, e, from, to int) []string {
	var list []string
	for c := from; c <= to; c++ {
		if v := s.get(e, c); v != "" {
			list = append(list, v)
		}
	}
	return list
}

// fii reads FII.
func fii(s *segment) Account {
	a := Account{
		Qualifier:   s.get(1, 1),
		Account:     s.get(2, 1),
		Holder:      join(s, 2, 2, 3),
		Currency:    s.get(2, 4),
		Institution: Identifier{Value: s.get(3, 1)},
		Name:        s.get(3, 7),
		Country:     s.get(4, 1),
	}
	if a.Institution.Value != "" {
		a.Institution.Scheme = s.get(3, 2)
		if a.Institution.Scheme == "" {
			a.Institution.Scheme = s.get(3, 3)
		}
	}
	if a.Branch.Value = s.get(3, 4); a.Branch.Value != "" {
		if a.Branch.Scheme = s.get(3, 5); a.Branch.Scheme == "" {
			a.Branch.Scheme = s.get(3, 6)
		}
	}
	return a
}

// under puts a segment that belongs beneath NAD into the party; false if it is
// none of those.
func (m *mapping) under(p *Party, s *segment, tag string) bool {
	switch tag {
	case "RFF":
		r := m.rffOf(s)
		if r.Role == "tax_id" && p.TaxID == "" {
			p.TaxID = r.Number
			return true
		}
		p.References = append(p.References, r)
	case "FII":
		p.Accounts = append(p.Accounts, fii(s))
	case "CTA":
		p.Contacts = append(p.Contacts, Contact{Function: s.get(1, 1), ID: s.get(2, 1), Name: s.get(2, 2)})
	case "COM":
		if len(p.Contacts) == 0 { // QUIRK: COM without CTA
			p.Contacts = append(p.Contacts, Contact{})
		}
		c := &p.Contacts[len(p.Contacts)-1]
		for e := 1; e <= min(s.elements(), 5); e++ {
			for r := 1; r <= 5; r++ {
				c.reach(s.repetition(e, r, 1), s.repetition(e, r, 2))
			}
		}
	default:
		return false
	}
	return true
}

// reach adds a number or address under its channel, 3155.
func (c *Contact) reach(number, channel string) {
	switch {
	case number == "":
	case channel == "TE" && c.Phone == "":
		c.Phone = number
	case channel == "EM" && c.Email == "":
		c.Email = number
	default:
		c.Other = append(c.Other, Identifier{Value: number, Scheme: channel})
	}
}

// rffOf reads RFF.
func (m *mapping) rffOf(s *segment) Reference {
	r := Reference{Qualifier: s.get(1, 1), Number: trimBlanks(s.get(1, 2)), Line: s.get(1, 3), Version: s.get(1, 4)}
	r.Role = m.role(roles.References, r.Qualifier)
	return r
}

// short gives the short form of the first party that plays one of the roles.
func (m *mapping) short(words ...string) Name {
	parties := m.doc.Detail.Parties
	for _, word := range words {
		if i := m.leading(parties, word, func(*Party) bool { return true }); i >= 0 {
			return Name{ID: parties[i].ID.Value, Name: parties[i].Name}
		}
	}
	return Name{}
}

// leading finds the party of a role whose qualifier has the highest rank, the first of
// those, among the ones that fit; -1 if there is none.
func (m *mapping) leading(parties []Party, word string, fits func(*Party) bool) int {
	best, at := uint8(0), -1
	for i := range parties {
		if parties[i].Role != word || !fits(&parties[i]) {
			continue
		}
		if _, rank := m.guide.Role(roles.Parties, parties[i].Qualifier); rank > best {
			best, at = rank, i
		}
	}
	return at
}
