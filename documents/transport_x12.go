package documents

// fob reads FOB: 01 who pays, 02 and 03 up to where, 04 and 05 an Incoterm, 06 and 07
// where the risk passes.
func fob(s *segment) DeliveryTerms {
	t := DeliveryTerms{Payment: s.get(1, 1), Code: s.get(5, 1)}
	for _, e := range [...]int{2, 6} {
		if s.get(e, 1) != "" || s.get(e+1, 1) != "" {
			t.Locations = append(t.Locations, NamedLocation{Qualifier: s.get(e, 1), Name: trimBlanks(s.get(e+1, 1))})
		}
	}
	return t
}

// equipment reads TD3: 01 what it is, 02 and 03 its number, 05 to 07 weight, 09 the seal.
func (m *mapping) equipment(s *segment) Equipment {
	e := Equipment{Type: s.get(1, 1), ID: trimBlanks(s.get(2, 1)) + trimBlanks(s.get(3, 1)), Size: s.get(10, 1)}
	if seal := trimBlanks(s.get(9, 1)); seal != "" {
		e.Seals = []string{seal}
	}
	if weight := m.real(s, 5); weight.Valid() {
		e.Measures = []Measure{{Purpose: "TD3", Dimension: s.get(4, 1), Value: weight, Unit: unitX12(s.get(6, 1))}}
	}
	return e
}

// cad reads CAD, who carried the goods of an invoice: 01 mode, 02 and 03 equipment, 04
// the carrier's code, 05 routing, 08 the number of the transport.
func cad(s *segment) Transport {
	t := Transport{
		Mode:      transportMode(s.get(1, 1)),
		Carrier:   Identifier{Value: trimBlanks(s.get(4, 1))},
		Name:      trimBlanks(s.get(5, 1)),
		Vehicle:   trimBlanks(s.get(2, 1)) + trimBlanks(s.get(3, 1)),
		Reference: trimBlanks(s.get(8, 1)),
	}
	if t.Carrier.Value != "" {
		t.Carrier.Scheme, t.Carrier.Raw = carrierScheme("2")
	}
	return t
}

// iss reads ISS, what was shipped in all: 01 units, 03 weight, 05 volume.
func (m *mapping) iss(s *segment) {
	d := &m.doc.Detail
	if n := m.real(s, 1); n.Valid() {
		d.Counts = append(d.Counts, Quantity{Role: "despatched", Qualifier: "ISS01", Quantity: n, Unit: unitX12(s.get(2, 1))})
	}
	if weight := m.real(s, 3); weight.Valid() {
		d.Measures = append(d.Measures, Measure{Purpose: "ISS", Dimension: "G", Value: weight, Unit: unitX12(s.get(4, 1))})
	}
	if volume := m.real(s, 5); volume.Valid() {
		d.Measures = append(d.Measures, Measure{Purpose: "ISS", Dimension: "VOL", Value: volume, Unit: unitX12(s.get(6, 1))})
	}
}
