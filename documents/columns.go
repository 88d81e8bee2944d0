package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"
)

// ErrText is what Queue gives for a value that PostgreSQL cannot hold as text:
// no UTF-8, or a NUL in it. Parsers refuse such text, so it is our fault.
var ErrText = errors.New("text that PostgreSQL cannot hold")

// A column is one column of many rows, written as a PostgreSQL array literal:
// one string argument a column, which pgx sends as it is, without reflection and
// without an allocation for each value.
type column struct {
	b   []byte
	err error
}

func (c *column) next() {
	if len(c.b) == 0 {
		c.b = append(c.b, '{')
		return
	}
	c.b = append(c.b, ',')
}

// literal ends the array.
func (c *column) literal() string {
	if len(c.b) == 0 {
		return "{}"
	}
	return string(append(c.b, '}'))
}

func (c *column) null() {
	c.next()
	c.b = append(c.b, "NULL"...)
}

// text adds s, null where it is empty.
func (c *column) text(s string) {
	if s == "" {
		c.null()
		return
	}
	c.must(s)
}

// must adds s, an empty one as it is.
func (c *column) must(s string) {
	c.next()
	c.b = append(c.b, '"')
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			c.b = append(c.b, '\\', b)
		case b == 0:
			c.fail(s)
		default:
			c.b = append(c.b, b)
		}
	}
	c.b = append(c.b, '"')
	if !utf8.ValidString(s) {
		c.fail(s)
	}
}

func (c *column) fail(s string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %q", ErrText, shorten(s))
	}
}

// number adds n with its scale.
func (c *column) number(n Number) {
	if !n.Valid() {
		c.null()
		return
	}
	c.next()
	c.b = n.append(c.b)
}

// integer adds n.
func (c *column) integer(n int) {
	c.next()
	c.b = strconv.AppendInt(c.b, int64(n), 10)
}

// position adds n, null where it is 0.
func (c *column) position(n int) {
	if n == 0 {
		c.null()
		return
	}
	c.integer(n)
}

func (c *column) boolean(v bool) {
	c.next()
	if v {
		c.b = append(c.b, 't')
	} else {
		c.b = append(c.b, 'f')
	}
}

// id adds u, null where it is zero.
func (c *column) id(u uuid.UUID) {
	if u == uuid.Nil {
		c.null()
		return
	}
	c.next()
	c.b = append(c.b, u.String()...)
}

// bytes adds b as hex.
func (c *column) bytes(b []byte) {
	c.next()
	c.b = append(c.b, `"\\x`...)
	for _, v := range b {
		c.b = append(c.b, hexDigits[v>>4], hexDigits[v&15])
	}
	c.b = append(c.b, '"')
}

// json adds v as jsonb.
func (c *column) json(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		c.null()
		if c.err == nil {
			c.err = fmt.Errorf("encode detail: %w", err)
		}
		return
	}
	c.raw(raw)
}

// raw adds JSON, null where there is none.
func (c *column) raw(raw []byte) {
	if len(raw) == 0 {
		c.null()
		return
	}
	c.next()
	c.b = append(c.b, '"')
	for i, b := range raw {
		switch {
		case b == '\\':
			c.b = append(c.b, '\\', '\\')
			if nulEscape(raw[i:]) && !escaped(raw, i) {
				c.fail(string(raw[i : i+6]))
			}
		case b == '"':
			c.b = append(c.b, '\\', '"')
		case b == 0:
			c.fail(string(raw[i : i+1]))
		default:
			c.b = append(c.b, b)
		}
	}
	c.b = append(c.b, '"')
	if !utf8.Valid(raw) {
		c.fail(string(raw))
	}
}

// nulEscape reports whether raw starts with the JSON escape of NUL, which jsonb
// refuses.
func nulEscape(raw []byte) bool { return len(raw) >= 6 && string(raw[:6]) == `\u0000` }

// escaped reports whether the backslash at i is itself escaped by the one before.
func escaped(raw []byte, i int) bool {
	n := 0
	for i > 0 && raw[i-1] == '\\' {
		n++
		i--
	}
	return n%2 == 1
}

// columns makes the arguments of a statement and gives the first error.
func columns(first []any, list ...*column) ([]any, error) {
	args := first
	for _, c := range list {
		if c.err != nil {
			return nil, c.err
		}
		args = append(args, c.literal())
	}
	return args, nil
}
