package compare

import "strings"

// A decimal is split, never made a float: digits only, without sign or mark.
type decimal struct {
	negative        bool
	whole, fraction string
}

// parseDecimal reads a number as ISO 9735-1 §10 and X12 R write it: an optional
// minus in front (behind it in some mainframe output), one decimal mark.
func parseDecimal(s string) (decimal, bool) {
	var d decimal
	s = strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(s, "-"), strings.HasPrefix(s, "+"):
		d.negative, s = s[0] == '-', s[1:]
	case strings.HasSuffix(s, "-"): // QUIRK: SAP and COBOL pictures write the sign behind
		d.negative, s = true, s[:len(s)-1]
	}
	d.whole, d.fraction, _ = strings.Cut(point(s), ".")
	if d.whole == "" && d.fraction == "" {
		return decimal{}, false
	}
	for _, part := range []string{d.whole, d.fraction} {
		for i := range len(part) {
			if part[i] < '0' || part[i] > '9' {
				return decimal{}, false
			}
		}
	}
	return d, true
}

// sameNumber reports whether both are numbers of one value: 10 and 10.00.
func sameNumber(x, y string) bool {
	a, ok := parseDecimal(x)
	if !ok {
		return false
	}
	b, ok := parseDecimal(y)
	if !ok {
		return false
	}
	for _, d := range []*decimal{&a, &b} {
		d.whole = strings.TrimLeft(d.whole, "0")
		d.fraction = strings.TrimRight(d.fraction, "0")
		if d.whole == "" && d.fraction == "" {
			d.negative = false
		}
	}
	return a == b
}

// money writes an amount for people, thousands apart: 1670.76 as 1 670.76.
// implied is the number of decimals meant but not written (X12 N2); what is no
// number stays as it is.
func money(s string, implied int) string {
	d, ok := parseDecimal(s)
	if !ok {
		return Clean(s)
	}
	if implied > 0 && d.fraction == "" && !strings.ContainsAny(s, ".,") {
		for len(d.whole) <= implied {
			d.whole = "0" + d.whole
		}
		cut := len(d.whole) - implied
		d.whole, d.fraction = d.whole[:cut], d.whole[cut:]
	}
	var b strings.Builder
	if d.negative {
		b.WriteByte('-')
	}
	if d.whole == "" {
		b.WriteByte('0')
	}
	for i := range len(d.whole) {
		if i > 0 && (len(d.whole)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(d.whole[i])
	}
	if d.fraction != "" {
		b.WriteString("." + d.fraction)
	}
	return b.String()
}
