package columns

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// ErrText is what Queue gives for a value that PostgreSQL cannot hold as text:
// no UTF-8, or a NUL in it. Parsers refuse such text, so it is our fault.
var ErrText = errors.New("text that PostgreSQL cannot hold")

// Column is one column of many rows. The zero value has no rows. Its type is the
// parameter's; each row is added by the method of that type, or by Null.
type Column struct {
	cells []byte // each its length, -1 for null, and its bytes
	rows  int32
	some  bool // not all are null
	nulls bool
	err   error // the first
}

// Rows is how many there are.
func (c *Column) Rows() int { return int(c.rows) }

// Null adds a null.
func (c *Column) Null() {
	c.cells = append(c.cells, 0xff, 0xff, 0xff, 0xff)
	c.rows++
	c.nulls = true
}

// cell begins a value of n bytes.
func (c *Column) cell(n int) {
	if c.cells == nil {
		c.cells = make([]byte, 0, 16*(n+4))
	}
	c.cells = binary.BigEndian.AppendUint32(c.cells, uint32(n))
	c.rows++
	c.some = true
}

func (c *Column) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Text adds s, an empty one as it is.
func (c *Column) Text(s string) {
	for i := range len(s) {
		if b := s[i]; b == 0 || b >= utf8.RuneSelf {
			if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
				c.fail(fmt.Errorf("%w: %q", ErrText, shorten(s)))
			}
			break
		}
	}
	c.cell(len(s))
	c.cells = append(c.cells, s...)
}

// TextOrNull adds s, null where it is empty.
func (c *Column) TextOrNull(s string) {
	if s == "" {
		c.Null()
		return
	}
	c.Text(s)
}

// Bytes adds b as bytea, null where it is nil.
func (c *Column) Bytes(b []byte) {
	if b == nil {
		c.Null()
		return
	}
	c.cell(len(b))
	c.cells = append(c.cells, b...)
}

// Int2 adds n.
func (c *Column) Int2(n int16) {
	c.cell(2)
	c.cells = binary.BigEndian.AppendUint16(c.cells, uint16(n))
}

// Int4 adds n.
func (c *Column) Int4(n int32) {
	c.cell(4)
	c.cells = binary.BigEndian.AppendUint32(c.cells, uint32(n))
}

// Int8 adds n.
func (c *Column) Int8(n int64) {
	c.cell(8)
	c.cells = binary.BigEndian.AppendUint64(c.cells, uint64(n))
}

// Bool adds v.
func (c *Column) Bool(v bool) {
	c.cell(1)
	if v {
		c.cells = append(c.cells, 1)
	} else {
		c.cells = append(c.cells, 0)
	}
}

// UUID adds u, null where it is zero.
func (c *Column) UUID(u uuid.UUID) {
	if u == uuid.Nil {
		c.Null()
		return
	}
	c.cell(len(u))
	c.cells = append(c.cells, u[:]...)
}

// epoch is PostgreSQL's, from which dates and times are counted.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Date adds the day of t, as t's zone has it; null where t is zero.
func (c *Column) Date(t time.Time) {
	if t.IsZero() {
		c.Null()
		return
	}
	c.date(t)
}

func (c *Column) date(t time.Time) {
	y, m, d := t.Date()
	c.Int4(int32((time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() - epoch.Unix()) / (24 * 60 * 60)))
}

// Day adds a date in the form CCYY-MM-DD, null where it is empty.
func (c *Column) Day(s string) {
	if s == "" {
		c.Null()
		return
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() == 0 {
		c.fail(fmt.Errorf("no such day: %q", shorten(s)))
		t = epoch
	}
	c.date(t)
}

// Time adds t as timestamptz, in microseconds.
func (c *Column) Time(t time.Time) { c.Int8(t.UnixMicro() - epoch.UnixMicro()) }

// JSON adds raw as jsonb, null where there is none.
func (c *Column) JSON(raw []byte) {
	if len(raw) == 0 {
		c.Null()
		return
	}
	if i := nulEscape(raw); i >= 0 {
		c.fail(fmt.Errorf("%w: %q", ErrText, shorten(string(raw[i:]))))
	}
	c.cell(1 + len(raw))
	c.cells = append(c.cells, 1) // version of jsonb's binary format: the text behind it
	c.cells = append(c.cells, raw...)
}

// Marshal adds v as jsonb.
func (c *Column) Marshal(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		c.fail(fmt.Errorf("encode JSON: %w", err))
	}
	c.JSON(raw)
}

// nulEscape finds the JSON escape of NUL, which jsonb refuses; -1 if there is none.
func nulEscape(raw []byte) int {
	for from := 0; ; {
		i := bytes.Index(raw[from:], []byte(`\u0000`))
		if i < 0 {
			return -1
		}
		i += from
		before := 0
		for before < i && raw[i-1-before] == '\\' {
			before++
		}
		if before%2 == 0 { // else the backslash is itself escaped
			return i
		}
		from = i + 1
	}
}

func shorten(s string) string { return s[:min(len(s), 40)] }
