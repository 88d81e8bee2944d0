package documents

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// Number is a decimal with the scale it was sent with: "100.00" stays 100.00.
// The zero value is absent. In JSON it is a string.
type Number struct {
	decimal.NullDecimal
}

// maxDigits is the longest numeric element there is: 5004 of MOA, n..35.
const maxDigits = 35

// numberFault says what is wrong with a numeric element; Standard is its 0085
// code. A tolerated one has a value all the same.
type numberFault struct {
	standard, text string
	tolerated      bool
}

// parseNumber reads a numeric data element of ISO 9735-1 §10: an optional minus,
// digits, and one decimal mark, which may be comma or point whatever UNA says.
// There is no exponent and no thousands mark. Blanks around it are padding.
func parseNumber(s string) (Number, *numberFault) {
	s = strings.Trim(s, " ")
	if s == "" {
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
			if count < 18 {
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
	case count > maxDigits:
		return Number{}, &numberFault{standard: "39", text: fmt.Sprintf("%d digits, more than %d", count, maxDigits)}
	case mark == 0:
		fault = &numberFault{"38", "no digit before the decimal mark", true}
	case mark == len(digits)-1:
		fault = &numberFault{"19", "no digit after the decimal mark", true}
	}
	scale := 0
	if mark >= 0 {
		scale = len(digits) - 1 - mark
	}
	var d decimal.Decimal
	if count <= 18 {
		if negative {
			small = -small
		}
		d = decimal.New(small, -int32(scale))
	} else {
		whole := digits
		if mark >= 0 {
			whole = digits[:mark] + digits[mark+1:]
		}
		n, ok := new(big.Int).SetString(whole, 10)
		if !ok {
			return Number{}, &numberFault{standard: "37", text: "not a number"}
		}
		if negative {
			n.Neg(n)
		}
		d = decimal.NewFromBigInt(n, -int32(scale))
	}
	return Number{decimal.NullDecimal{Decimal: d, Valid: true}}, fault
}

// number makes a Number of a decimal.
func number(d decimal.Decimal) Number {
	return Number{decimal.NullDecimal{Decimal: d, Valid: true}}
}

// IsZero reports that there is no value; it is what omitzero asks for.
func (n Number) IsZero() bool { return !n.Valid }

// String gives the number with its scale, "" if there is none.
func (n Number) String() string {
	if !n.Valid {
		return ""
	}
	return string(n.append(nil))
}

// append adds the number in plain notation with its scale.
func (n Number) append(dst []byte) []byte {
	exp := n.Decimal.Exponent()
	if n.Decimal.NumDigits() > 15 || exp > 0 || exp < -maxDigits {
		return append(dst, n.Decimal.StringFixed(max(0, -exp))...)
	}
	coefficient := n.Decimal.CoefficientInt64()
	if coefficient < 0 {
		dst = append(dst, '-')
		coefficient = -coefficient
	}
	if exp == 0 {
		return strconv.AppendInt(dst, coefficient, 10)
	}
	start, scale := len(dst), int(-exp)
	dst = strconv.AppendInt(dst, coefficient, 10)
	for len(dst)-start <= scale { // one digit before the point
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = '0'
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - scale
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// MarshalJSON gives a string: a JSON number would be read as a float.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return append(n.append([]byte{'"'}), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(b []byte) error {
	*n = Number{}
	if string(b) == "null" {
		return nil
	}
	parsed, fault := parseNumber(strings.Trim(string(b), `"`))
	if fault != nil {
		return fmt.Errorf("number %s: %s", b, fault.text)
	}
	*n = parsed
	return nil
}
