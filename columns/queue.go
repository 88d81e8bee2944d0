// Package columns writes many rows with one statement: a column of all rows is one
// parameter, an array in PostgreSQL's binary format ("Array", array_recv), encoded
// without reflection and without an allocation for each value. The statement
// unnests them in its select list, side by side:
//
//	insert into t (partner_id, a, b) select $1::text, unnest($2::text[]), unnest($3::int4[])
//
// There the server makes the rows one by one; in FROM it would store every column
// of every row before it joins them. Rows are in the order they were added. A column
// that has nothing but nulls is sent empty, which the select list fills up with
// nulls: at least one column of a statement must have a value in every row.
package columns

import (
	"context"
	"encoding/binary"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Queue queues a statement. Each *Column in args is sent as an array. Where one
// has an error, the batch fails with it before anything is sent.
func Queue(b *pgx.Batch, sql string, args ...any) *pgx.QueuedQuery {
	all := make([]any, 0, 1+len(args))
	return b.Queue(sql, append(append(all, checked{}), args...)...)
}

// Err is the first error of the columns in args.
func Err(args ...any) error {
	for _, a := range args {
		if c, ok := a.(*Column); ok && c.err != nil {
			return c.err
		}
	}
	return nil
}

// checked sees to it that the columns have no error, and that the connection can
// encode them, whoever made it.
type checked struct{}

// elements are the types a Column may have.
var elements = []uint32{
	pgtype.TextOID, pgtype.ByteaOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.BoolOID,
	pgtype.UUIDOID, pgtype.DateOID, pgtype.TimestamptzOID, pgtype.JSONBOID, pgtype.NumericOID,
}

// RewriteQuery implements pgx.QueryRewriter: the only place where pgx lets an
// argument meet the connection before it is encoded. It rewrites nothing.
func (checked) RewriteQuery(_ context.Context, conn *pgx.Conn, sql string, args []any) (string, []any, error) {
	if err := Err(args...); err != nil {
		return "", nil, err
	}
	m := conn.TypeMap()
	if t, ok := m.TypeForOID(pgtype.TextArrayOID); ok {
		if _, ok := t.Codec.(codec); ok {
			return sql, args, nil
		}
	}
	for _, e := range elements {
		element, ok := m.TypeForOID(e)
		if !ok {
			continue
		}
		array, ok := m.TypeForName("_" + element.Name)
		if !ok {
			continue
		}
		m.RegisterType(&pgtype.Type{Name: array.Name, OID: array.OID, Codec: codec{array.Codec, e}})
	}
	return sql, args, nil
}

// codec is that of an array, which takes a Column too.
type codec struct {
	pgtype.Codec
	element uint32
}

// PlanEncode implements pgtype.Codec.
func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(*Column); !ok {
		return c.Codec.PlanEncode(m, oid, format, value)
	}
	if format != pgtype.BinaryFormatCode {
		return nil
	}
	return plan{c.element}
}

type plan struct{ element uint32 }

// Encode implements pgtype.EncodePlan: dimensions, whether there are nulls, type
// of the elements, then for the one dimension its length and lower bound.
func (p plan) Encode(value any, buf []byte) ([]byte, error) {
	c := value.(*Column) // PlanEncode saw that it is one
	dimensions, nulls := uint32(1), uint32(0)
	if !c.some {
		dimensions = 0
	}
	if c.nulls {
		nulls = 1
	}
	buf = binary.BigEndian.AppendUint32(buf, dimensions)
	buf = binary.BigEndian.AppendUint32(buf, nulls)
	buf = binary.BigEndian.AppendUint32(buf, p.element)
	if !c.some {
		return buf, nil
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(c.rows))
	buf = binary.BigEndian.AppendUint32(buf, 1)
	return append(buf, c.cells...), nil
}
