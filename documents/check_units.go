package documents

// checkUnits looks at the SSCCs of a notice. They are stored as sent and flagged: a
// gateway mends no check digits and merges no pallets.
func (m *mapping) checkUnits() {
	units := m.places.units
	m.doc.units = units
	var seen map[string]int
	if len(units) > 1 {
		seen = make(map[string]int, len(units))
	}
	for i := range units {
		u := &units[i]
		if !validSSCC(u.SSCC) {
			m.warn("sscc-check-digit", u.At, "%s is no valid SSCC: %s", shorten(u.SSCC), ssccFault(u.SSCC))
		}
		if seen == nil || u.SSCC == noSSCC {
			continue
		}
		if first, ok := seen[u.SSCC]; ok {
			m.warn("sscc-repeated", u.At, "SSCC %s stands in segment %d already", shorten(u.SSCC), units[first].At.Segment)
			continue
		}
		seen[u.SSCC] = i
	}
}

func ssccFault(s string) string {
	switch {
	case !isDigits(s):
		return "it is not all digits"
	case len(s) != 18:
		return "it has not 18 digits"
	case s == noSSCC:
		return "it is all zeros"
	}
	return "its check digit is wrong"
}
