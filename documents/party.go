package documents

// partyRole gives our word for a qualifier of 3035, "" if there is none.
func partyRole(qualifier string) string {
	switch qualifier {
	case "SU", "SE":
		return "supplier" // BG-4
	case "BY":
		return "buyer" // BG-7
	case "IV":
		return "invoicee"
	case "II":
		return "issuer"
	case "PE":
		return "payee" // BG-10
	case "PR":
		return "payer"
	case "LC":
		return "tax_representative" // BG-11
	case "DP":
		return "delivery" // BG-13
	case "ST":
		return "ship_to"
	case "CN":
		return "consignee"
	case "UC", "UD":
		return "ultimate_consignee"
	case "SF":
		return "ship_from"
	case "CZ":
		return "consignor"
	case "DS":
		return "distributor"
	case "CA":
		return "carrier"
	case "FW":
		return "forwarder"
	case "MF":
		return "manufacturer"
	case "SN":
		return "store"
	case "WH":
		return "warehouse"
	case "CO":
		return "corporate_office"
	}
	return ""
}

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
func nad(s *segment) Party {
	p := Party{
		Qualifier: s.get(1, 1),
		ID:        partyID(s, 2),
		Name:      s.get(4, 1),
		City:      s.get(6, 1),
		Region:    s.get(7, 4), // C819; 3229 alone up to D.96A
		Postcode:  s.get(8, 1),
		Country:   s.get(9, 1),
	}
	p.Role = partyRole(p.Qualifier)
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
	return a
}

// under puts a segment that belongs beneath NAD into the party; false if it is
// none of those.
func (m *mapping) under(p *Party, s *segment, tag string) bool {
	switch tag {
	case "RFF":
		r := reference(s)
		if r.Qualifier == "VA" && p.TaxID == "" {
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

// reference reads RFF.
func reference(s *segment) Reference {
	r := Reference{Qualifier: s.get(1, 1), Number: trimBlanks(s.get(1, 2)), Line: s.get(1, 3)}
	r.Role = referenceRole(r.Qualifier)
	return r
}

// referenceRole gives our word for a qualifier of 1153, "" if there is none.
func referenceRole(qualifier string) string {
	switch qualifier {
	case "ON":
		return "order" // BT-13
	case "VN":
		return "supplier_order" // BT-14
	case "AAK":
		return "despatch_advice" // BT-16
	case "DQ":
		return "delivery_note"
	case "ALO":
		return "receiving_advice" // BT-15
	case "IV", "OI":
		return "invoice" // BT-25
	case "CT":
		return "contract" // BT-12
	case "PQ":
		return "payment" // BT-83
	case "AEP":
		return "project" // BT-11
	case "CR":
		return "customer_reference"
	case "BM":
		return "bill_of_lading"
	case "AAS":
		return "transport_document"
	case "PL":
		return "price_list"
	case "VA":
		return "tax_id"
	case "LI":
		return "line"
	case "BT":
		return "batch"
	case "AWQ", "AOU":
		return "buyer_accounting" // BT-133, BT-19
	case "GC":
		return "tender" // BT-17
	case "ATS", "AVE":
		return "invoiced_object" // BT-18, BT-128
	case "GN", "XA":
		return "company_registration" // BT-30, BT-47, BT-61
	case "FC", "AHP":
		return "tax_registration" // BT-32
	case "AVS":
		return "mandate" // BT-89
	case "AII":
		return "creditor" // BT-90
	}
	return ""
}

// name gives the short form of the first party with one of the qualifiers.
func name(parties []Party, qualifiers ...string) Name {
	for _, q := range qualifiers {
		for i := range parties {
			if parties[i].Qualifier == q {
				return Name{ID: parties[i].ID.Value, Name: parties[i].Name}
			}
		}
	}
	return Name{}
}
