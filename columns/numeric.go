package columns

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Numeric adds a decimal in plain notation with its scale: digits, at most one
// point between them, a minus before them.
func (c *Column) Numeric(plain []byte) {
	const negative = 0x4000
	sign, digits := uint16(0), plain
	if len(digits) > 0 && digits[0] == '-' {
		sign, digits = negative, digits[1:]
	}
	whole, places, _ := bytes.Cut(digits, []byte{'.'})
	if len(whole) == 0 || notDigits(whole) || notDigits(places) {
		c.fail(fmt.Errorf("no decimal: %q", shorten(string(plain))))
		c.Null()
		return
	}
	// Groups of four digits to base 10,000, the first with this weight; zeros
	// before and behind are left out (PostgreSQL, numeric_recv).
	before, behind := (len(whole)+3)/4, (len(places)+3)/4
	at := len(c.cells)
	c.cell(8 + 2*(before+behind))
	head := len(c.cells)
	c.cells = append(c.cells, 0, 0, 0, 0, 0, 0, 0, 0)
	weight, count, zeros := before-1, 0, 0
	for i := range before + behind {
		group := uint16(0)
		for j := range 4 {
			digit := byte('0')
			if i < before {
				if k := len(whole) - 4*(before-i) + j; k >= 0 {
					digit = whole[k]
				}
			} else if k := 4*(i-before) + j; k < len(places) {
				digit = places[k]
			}
			group = 10*group + uint16(digit-'0')
		}
		switch {
		case group == 0 && count == 0:
			weight--
			continue
		case group == 0:
			zeros++
		default:
			zeros = 0
		}
		c.cells = binary.BigEndian.AppendUint16(c.cells, group)
		count++
	}
	count -= zeros
	if count == 0 {
		weight, sign = 0, 0
	}
	c.cells = c.cells[:head+8+2*count]
	binary.BigEndian.PutUint32(c.cells[at:], uint32(8+2*count))
	binary.BigEndian.PutUint16(c.cells[head:], uint16(count))
	binary.BigEndian.PutUint16(c.cells[head+2:], uint16(int16(weight)))
	binary.BigEndian.PutUint16(c.cells[head+4:], sign)
	binary.BigEndian.PutUint16(c.cells[head+6:], uint16(len(places)))
}

func notDigits(s []byte) bool {
	for _, b := range s {
		if b < '0' || b > '9' {
			return true
		}
	}
	return false
}
