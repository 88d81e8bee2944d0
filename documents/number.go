package documents

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/shopspring/decimal"
)

// Number is a decimal with the scale it was sent with: "100.00" stays 100.00.
// Nearly all are small, and are held without an allocation. The zero value is
// absent. In JSON it is a string, since a JSON number would be read as a float.
type Number struct {
	large *big.Int // the coefficient where it has more than 18 digits
	small int64    // the coefficient else
	scale uint8    // decimal places
	valid bool
}

const (
	maxDigits   = 35 // 5004 of MOA is n..35, the longest numeric element there is
	smallDigits = 18
)

// NumberOf gives d as a Number, with at most 255 decimal places.
func NumberOf(d decimal.Decimal) Number {
	if d.Exponent() < -math.MaxUint8 {
		d = d.Round(math.MaxUint8)
	}
	coefficient, exponent := d.Coefficient(), d.Exponent()
	if exponent > 0 {
		coefficient.Mul(coefficient, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil))
		exponent = 0
	}
	return numberOf(coefficient, uint8(-exponent))
}

func numberOf(coefficient *big.Int, scale uint8) Number {
	if coefficient.IsInt64() {
		if small := coefficient.Int64(); small > -1e18 && small < 1e18 {
			return Number{small: small, scale: scale, valid: true}
		}
	}
	return Number{large: coefficient, scale: scale, valid: true}
}

// Valid reports whether there is a value.
func (n Number) Valid() bool { return n.valid }

// IsZero reports that there is no value; it is what omitzero asks for.
func (n Number) IsZero() bool { return !n.valid }

// Decimal gives the value, zero if there is none.
func (n Number) Decimal() decimal.Decimal {
	if n.large != nil {
		return decimal.NewFromBigInt(n.large, -int32(n.scale))
	}
	return decimal.New(n.small, -int32(n.scale))
}

// digits is how many digits n is written with, those of a fraction among them.
func (n Number) digits() int {
	count := 0
	for _, c := range n.append(make([]byte, 0, 80)) {
		if c >= '0' && c <= '9' {
			count++
		}
	}
	return count
}

// Sign gives -1, 0 or 1; 0 if there is no value.
func (n Number) Sign() int {
	switch {
	case n.large != nil:
		return n.large.Sign()
	case n.small < 0:
		return -1
	case n.small > 0:
		return 1
	}
	return 0
}

// plus adds; what is absent counts as 0.
func (n Number) plus(o Number) Number {
	if a, b, scale, ok := align(n, o); ok {
		return Number{small: a + b, scale: scale, valid: true}
	}
	return NumberOf(n.Decimal().Add(o.Decimal()))
}

// minus subtracts; what is absent counts as 0.
func (n Number) minus(o Number) Number {
	if o.large == nil {
		o.small = -o.small
		return n.plus(o)
	}
	return NumberOf(n.Decimal().Sub(o.Decimal()))
}

// negated gives the number with the other sign.
func (n Number) negated() Number { return Number{valid: true}.minus(n) }

// times multiplies.
func (n Number) times(o Number) Number {
	if n.large == nil && o.large == nil && within(n.small, 1e9) && within(o.small, 1e9) && int(n.scale)+int(o.scale) < 256 {
		return Number{small: n.small * o.small, scale: n.scale + o.scale, valid: true}
	}
	return NumberOf(n.Decimal().Mul(o.Decimal()))
}

// per divides by what a price is for: 1, 100 or 1000, so that nothing is rounded. It
// takes any other number too, to 16 places.
func (n Number) per(basis Number) Number {
	if n.large == nil && basis.large == nil && basis.scale == 0 {
		for places, power := uint8(0), int64(1); places <= 3 && n.scale <= maxDigits; places, power = places+1, power*10 {
			if basis.small == power {
				n.scale += places
				return n
			}
		}
	}
	return NumberOf(n.Decimal().Div(basis.Decimal()))
}

// near reports whether a and b differ by no more than tolerance.
func near(a, b, tolerance Number) bool {
	difference := a.minus(b)
	if difference.Sign() < 0 {
		difference = Number{valid: true}.minus(difference)
	}
	return tolerance.minus(difference).Sign() >= 0
}

// align gives small coefficients of one scale, far from overflow.
func align(n, o Number) (a, b int64, scale uint8, ok bool) {
	if n.large != nil || o.large != nil {
		return 0, 0, 0, false
	}
	a, b = n.small, o.small
	for n.scale < o.scale {
		if !within(a, 1e16) {
			return 0, 0, 0, false
		}
		a *= 10
		n.scale++
	}
	for o.scale < n.scale {
		if !within(b, 1e16) {
			return 0, 0, 0, false
		}
		b *= 10
		o.scale++
	}
	return a, b, n.scale, within(a, 4e17) && within(b, 4e17)
}

func within(v int64, limit int64) bool { return v <= limit && v >= -limit }

// numberFault says what is wrong with a numeric element; standard is its 0085
// code. A tolerated one has a value all the same.
type numberFault struct {
	standard, text string
	tolerated      bool
}

// parseNumber reads a numeric data element of ISO 9735-1 §10: an optional minus,
// digits, and one decimal mark, which may be comma or point whatever UNA says.
// There is no exponent and no thousands mark. Blanks around it are padding.
func parseNumber[T string | []byte](s T) (Number, *numberFault) { return parseDigits(s, maxDigits) }

// parseDigits is parseNumber of so many digits at most.
func parseDigits[T string | []byte](s T, most int) (Number, *numberFault) {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	if len(s) == 0 {
		return Number{}, nil
	}
	digits, negative := s, false
	var fault *numberFault
	switch s[0] {
	case '-':
		negative, digits = true, s[1:]
	case '+': // QUIRK: ISO 9735-1 §10 knows no plus sign; some send it released
		digits = s[1:]
		fault = &numberFault{"37", "a plus sign is not part of a number", true}
	}
	var small int64
	count, mark := 0, -1
	for i := 0; i < len(digits); i++ {
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			if count < smallDigits {
				small = small*10 + int64(c-'0')
			}
			count++
		case c == '.' || c == ',':
			if mark >= 0 {
				return Number{}, &numberFault{standard: "19", text: "more than one decimal mark; thousands are not marked"}
			}
			mark = i
		default:
			return Number{}, &numberFault{standard: "37", text: "not a number"}
		}
	}
	switch {
	case count == 0:
		return Number{}, &numberFault{standard: "37", text: "not a number"}
	case count > most:
		return Number{}, &numberFault{standard: "39", text: fmt.Sprintf("%d digits, more than %d", count, most)}
	case mark == 0:
		fault = &numberFault{"38", "no digit before the decimal mark", true}
	case mark == len(digits)-1:
		fault = &numberFault{"19", "no digit after the decimal mark", true}
	}
	scale := 0
	if mark >= 0 {
		scale = len(digits) - 1 - mark
	}
	if count <= smallDigits {
		if negative {
			small = -small
		}
		return Number{small: small, scale: uint8(scale), valid: true}, fault
	}
	whole := string(digits)
	if mark >= 0 {
		whole = whole[:mark] + whole[mark+1:]
	}
	n, ok := new(big.Int).SetString(whole, 10)
	if !ok {
		return Number{}, &numberFault{standard: "37", text: "not a number"}
	}
	if negative {
		n.Neg(n)
	}
	return numberOf(n, uint8(scale)), fault
}

// String gives the number with its scale, "" if there is none.
func (n Number) String() string {
	if !n.valid {
		return ""
	}
	return string(n.append(make([]byte, 0, 24)))
}

// append adds the number in plain notation with its scale.
func (n Number) append(dst []byte) []byte {
	start := len(dst)
	if n.large != nil {
		dst = n.large.Append(dst, 10)
	} else {
		dst = strconv.AppendInt(dst, n.small, 10)
	}
	if n.scale == 0 {
		return dst
	}
	if dst[start] == '-' {
		start++
	}
	scale := int(n.scale)
	if missing := scale + 1 - (len(dst) - start); missing > 0 { // one digit before the point
		for range missing {
			dst = append(dst, '0')
		}
		copy(dst[start+missing:], dst[start:])
		for i := range missing {
			dst[start+i] = '0'
		}
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - scale
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// MarshalJSON gives a string.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.valid {
		return []byte("null"), nil
	}
	return append(n.append(append(make([]byte, 0, 24), '"')), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(b []byte) error {
	*n = Number{}
	if string(b) == "null" {
		return nil
	}
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		b = b[1 : len(b)-1]
	}
	// One that began with its decimal mark has a zero more than was sent.
	parsed, fault := parseDigits(b, math.MaxUint8)
	if fault != nil {
		return fmt.Errorf("number %s: %s", b, fault.text)
	}
	*n = parsed
	return nil
}

// ScanNumeric implements pgtype.NumericScanner. It serves connections without Register,
// which lose the scale of a zero.
func (n *Number) ScanNumeric(v pgtype.Numeric) error {
	*n = Number{}
	switch {
	case !v.Valid:
		return nil
	case v.NaN || v.InfinityModifier != pgtype.Finite || v.Exp > math.MaxInt16 || v.Exp < -math.MaxUint8:
		return fmt.Errorf("numeric %v is no amount", v)
	case v.Exp > 0:
		*n = NumberOf(decimal.NewFromBigInt(v.Int, v.Exp))
		return nil
	}
	*n = numberOf(v.Int, uint8(-v.Exp))
	return nil
}
