package documents

import "strconv"

// maxRanges bounds how many packages the ranges of a message become: a range is short,
// whatever it stands for.
const maxRanges = 10_000

// span gives the SSCCs from one to another, both among them, where they surely are one
// each: both are sound and count upwards, and the PAC at hand has so many packages. nil
// is for a range that stays one.
func (m *desadv) span(from, to string) []string {
	if !validSSCC(from) || !validSSCC(to) {
		return nil
	}
	first, err := strconv.ParseUint(from[:17], 10, 64)
	last, err2 := strconv.ParseUint(to[:17], 10, 64)
	if err != nil || err2 != nil || last <= first {
		return nil
	}
	p := m.pack()
	have := m.children[m.current]
	if have == 0 && p.SSCC != "" {
		have = 1
	}
	n := last - first + 1
	if n > uint64(maxRanges-m.ranges) || p.Quantity.minus(Number{small: int64(have) + int64(n), valid: true}).Sign() < 0 {
		return nil
	}
	m.ranges += int(n)
	list := make([]string, 0, n)
	for serial := first; serial <= last; serial++ {
		list = append(list, withCheckDigit(serial))
	}
	return list
}

// withCheckDigit gives the SSCC of 17 digits.
func withCheckDigit(serial uint64) string {
	digits := strconv.FormatUint(1e17+serial, 10)[1:] // with leading zeros
	return digits + string(byte('0'+checkDigit(digits)))
}
