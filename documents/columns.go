package documents

import "github.com/edigw/edigw/columns"

// addNumber adds n with its scale, null where there is none.
func addNumber(c *columns.Column, n Number) {
	if !n.Valid() {
		c.Null()
		return
	}
	var plain [64]byte
	c.Numeric(n.append(plain[:0]))
}

// addPosition adds n, null where it is 0.
func addPosition(c *columns.Column, n int) {
	if n == 0 {
		c.Null()
		return
	}
	c.Int4(int32(n))
}
