package documents

// Transport is TDT with what stands beneath it, or TD5, or CAD.
type Transport struct {
	Stage     string          `json:"stage,omitempty"` // 8051: 20 main carriage
	Reference string          `json:"reference,omitempty"`
	Mode      string          `json:"mode,omitempty"`       // 8067: 30 road
	Means     string          `json:"means_type,omitempty"` // 8179: 31 truck
	Carrier   Identifier      `json:"carrier,omitzero"`
	Name      string          `json:"name,omitempty"`
	Vehicle   string          `json:"vehicle,omitempty"`
	Service   string          `json:"service,omitempty"`   // TD512, the level that was bought
	Dates     []Date          `json:"dates,omitempty"`     // of this transport
	Locations []NamedLocation `json:"locations,omitempty"` // it goes by, LOC
}

// NamedLocation is LOC.
type NamedLocation struct {
	Qualifier string     `json:"qualifier,omitempty"` // 3227: 9 place of loading
	ID        Identifier `json:"id,omitzero"`         // 3225: a UN/LOCODE, a GLN
	Name      string     `json:"name,omitempty"`      // 3224
}

// DeliveryTerms is TOD or FOB: who bears cost and risk of the transport, up to where.
type DeliveryTerms struct {
	Function  string          `json:"function,omitempty"`  // 4055: 6 price and despatch conditions
	Payment   string          `json:"payment,omitempty"`   // 4215, or FOB01: PP prepaid, CC collect
	Code      string          `json:"code,omitempty"`      // 4053, or FOB05: an Incoterm
	Text      string          `json:"text,omitempty"`      // the terms in words
	Locations []NamedLocation `json:"locations,omitempty"` // up to where they hold
}

// Equipment is EQD with its seals, or TD3: a container, a trailer, a returnable pallet.
type Equipment struct {
	Type     string    `json:"type,omitempty"`     // 8053: CN container; TD301
	ID       string    `json:"id,omitempty"`       // 8260, its number
	Size     string    `json:"size,omitempty"`     // 8155
	Text     string    `json:"text,omitempty"`     // 8154, size and type in words
	Full     string    `json:"full,omitempty"`     // 8169: 4 empty, 5 full
	Quantity Number    `json:"quantity,omitzero"`  // EQN, how many
	Seals    []string  `json:"seals,omitempty"`    // SEL, TD309
	Measures []Measure `json:"measures,omitempty"` // weights, temperatures
}

// tdt reads TDT.
func tdt(s *segment) Transport {
	t := Transport{
		Stage:     s.get(1, 1),
		Reference: s.get(2, 1),
		Mode:      s.get(3, 1),
		Means:     s.get(4, 1),
		Carrier:   Identifier{Value: s.get(5, 1)},
		Name:      s.get(5, 4),
		Vehicle:   s.get(8, 4),
	}
	if t.Carrier.Value != "" {
		t.Carrier.Scheme, t.Carrier.Raw = scheme(s.get(5, 3), s.get(5, 2))
	}
	if t.Vehicle == "" {
		t.Vehicle = s.get(8, 1)
	}
	return t
}

// loc reads LOC.
func loc(s *segment) NamedLocation {
	l := NamedLocation{Qualifier: s.get(1, 1), ID: Identifier{Value: trimBlanks(s.get(2, 1))}, Name: s.get(2, 4)}
	if l.ID.Value != "" {
		l.ID.Scheme, l.ID.Raw = scheme(s.get(2, 3), s.get(2, 2))
	}
	return l
}

// tod reads TOD.
func tod(s *segment) DeliveryTerms {
	return DeliveryTerms{Function: s.get(1, 1), Payment: s.get(2, 1), Code: s.get(3, 1), Text: join(s, 3, 4, 5)}
}

// eqd reads EQD.
func eqd(s *segment) Equipment {
	return Equipment{Type: s.get(1, 1), ID: trimBlanks(s.get(2, 1)), Size: s.get(3, 1), Text: s.get(3, 4), Full: s.get(6, 1)}
}

// consignment reads the groups of the header that tell of terms and transport, and what
// stands beneath them: TDT, TOD and EQD.
type consignment struct {
	under byte // t, d or e: which group is read; 0: none
	list  *[]Transport
	doc   *Document
}

// open reads a segment that opens one of the groups; false if it is none of those.
func (c *consignment) open(s *segment) bool {
	switch s.tag {
	case "TDT":
		c.under, *c.list = 't', append(*c.list, tdt(s))
	case "TOD":
		c.under, c.doc.Detail.DeliveryTerms = 'd', append(c.doc.Detail.DeliveryTerms, tod(s))
	case "EQD":
		c.under, c.doc.Detail.Equipment = 'e', append(c.doc.Detail.Equipment, eqd(s))
	default:
		return false
	}
	return true
}

// beneath reads a segment that stands beneath the group; false if the model has no place
// for it there.
func (c *consignment) beneath(m *mapping, s *segment) bool {
	switch d := &c.doc.Detail; {
	case c.under == 't' && s.tag == "LOC":
		t := &(*c.list)[len(*c.list)-1]
		t.Locations = append(t.Locations, loc(s))
	case c.under == 'd' && s.tag == "LOC":
		t := &d.DeliveryTerms[len(d.DeliveryTerms)-1]
		t.Locations = append(t.Locations, loc(s))
	case c.under == 'e' && s.tag == "SEL":
		e := &d.Equipment[len(d.Equipment)-1]
		e.Seals = append(e.Seals, s.get(1, 1))
	case c.under == 'e' && s.tag == "MEA":
		e := &d.Equipment[len(d.Equipment)-1]
		e.Measures = append(e.Measures, m.mea(s))
	case c.under == 'e' && s.tag == "EQN":
		d.Equipment[len(d.Equipment)-1].Quantity = m.number(s, 1, 1)
	default:
		return false
	}
	return true
}

// dated keeps a date of the transport; false where none is read.
func (c *consignment) dated(date Date) bool {
	if c.under != 't' {
		return false
	}
	t := &(*c.list)[len(*c.list)-1]
	t.Dates = append(t.Dates, date)
	return true
}
