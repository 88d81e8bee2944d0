package columns_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/columns"
	"github.com/edigw/edigw/pgtest"
)

// told gives what the server has understood of a column, as its text.
func told(t *testing.T, pool *pgxpool.Pool, typ string, c *columns.Column) []string {
	t.Helper()
	var b pgx.Batch
	var list []string
	columns.Queue(&b, `
		select coalesce(v::text, 'null')
		from (select unnest($1::int4[]) as n, unnest($2::`+typ+`[]) as v) as r
		order by n`, numbered(c.Rows()), c,
	).Query(func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err := pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

func numbered(n int) *columns.Column {
	var c columns.Column
	for i := range n {
		c.Int4(int32(i))
	}
	return &c
}

func TestColumn(t *testing.T) {
	pool := pgtest.New(t)
	id := uuid.MustParse("0190b6a4-7c31-7d5e-8f00-0123456789ab")
	berlin := time.FixedZone("", 3600)
	for _, c := range []struct {
		name, typ string
		add       func(*columns.Column)
		want      []string
	}{
		{"text as it is", "text", func(c *columns.Column) {
			for _, s := range []string{"", `a "b", {c}\`, "NULL", "Räucherlachs"} {
				c.Text(s)
			}
			c.TextOrNull("")
			c.TextOrNull("x")
		}, []string{"", `a "b", {c}\`, "NULL", "Räucherlachs", "null", "x"}},
		{"bytes", "bytea", func(c *columns.Column) { c.Bytes([]byte{0, 255, '\\'}); c.Bytes([]byte{}); c.Bytes(nil) }, []string{`\x00ff5c`, `\x`, "null"}},
		{"int2", "int2", func(c *columns.Column) { c.Int2(math.MinInt16); c.Int2(7) }, []string{"-32768", "7"}},
		{"int4", "int4", func(c *columns.Column) { c.Int4(math.MinInt32); c.Null(); c.Int4(math.MaxInt32) }, []string{"-2147483648", "null", "2147483647"}},
		{"int8", "int8", func(c *columns.Column) { c.Int8(math.MinInt64); c.Int8(math.MaxInt64) }, []string{"-9223372036854775808", "9223372036854775807"}},
		{"booleans", "boolean", func(c *columns.Column) { c.Bool(true); c.Bool(false) }, []string{"true", "false"}},
		{"UUIDs, the zero one as null", "uuid", func(c *columns.Column) { c.UUID(id); c.UUID(uuid.Nil) }, []string{id.String(), "null"}},
		{"dates, the zero one as null", "date", func(c *columns.Column) {
			c.Date(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
			c.Date(time.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC))
			c.Date(time.Date(2026, 2, 28, 0, 30, 0, 0, berlin)) // the 27th in UTC
			c.Date(time.Time{})
			c.Day("2024-02-29")
			c.Day("0001-01-01")
			c.Day("")
		}, []string{"9999-01-01", "1999-12-31", "2026-02-28", "null", "2024-02-29", "0001-01-01", "null"}},
		{"times to the microsecond", "timestamptz", func(c *columns.Column) {
			c.Time(time.Date(2026, 11, 29, 1, 2, 3, 456789, berlin))
			c.Time(time.Date(1969, 7, 20, 20, 17, 40, 0, time.UTC))
		}, []string{"2026-11-29 00:02:03.000456+00", "1969-07-20 20:17:40+00"}},
		{"JSON", "jsonb", func(c *columns.Column) {
			c.JSON([]byte(`{"a": "\\u0000", "b": [1]}`))
			c.JSON(nil)
			c.Marshal(map[string]int{"n": 1})
		}, []string{`{"a": "\\u0000", "b": [1]}`, "null", `{"n": 1}`}},
		{"a column of nulls", "numeric", func(c *columns.Column) { c.Null(); c.Null() }, []string{"null", "null"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var col columns.Column
			c.add(&col)
			if diff := cmp.Diff(c.want, told(t, pool, c.typ, &col)); diff != "" {
				t.Errorf("want (-) and got (+):\n%s", diff)
			}
		})
	}
	t.Run("decimals keep their digits and their scale", func(t *testing.T) {
		want := []string{"0", "0.00", "1", "-1", "10000", "9999", "0.0001", "0.00001", "-0.50", "100.00", "12345.6789", "123456.78901", "1000000000000",
			"12345678901234567890123456789.012300", "-99999999999999999999999999999999999", "57.54", "0.10", "40000.0004"}
		var col columns.Column
		for _, n := range want {
			col.Numeric([]byte(n))
		}
		col.Numeric([]byte("-0.0")) // numeric knows no negative zero
		if diff := cmp.Diff(append(want, "0.0"), told(t, pool, "numeric", &col)); diff != "" {
			t.Errorf("want (-) and got (+):\n%s", diff)
		}
	})
	t.Run("sums are those of the server's own numbers", func(t *testing.T) {
		var col columns.Column
		for _, n := range []string{"0.0001", "99999999.9999", "-100000000.0000"} {
			col.Numeric([]byte(n))
		}
		var b pgx.Batch
		var equal bool
		columns.Queue(&b, `select sum(v) = 0 from (select unnest($1::numeric[]) as v) as r`, &col).QueryRow(func(row pgx.Row) error { return row.Scan(&equal) })
		if err := pool.SendBatch(t.Context(), &b).Close(); err != nil || !equal {
			t.Errorf("got %t, %v", equal, err)
		}
	})
}

func TestWhatNoColumnHolds(t *testing.T) {
	pool := pgtest.New(t)
	for _, c := range []struct {
		name string
		add  func(*columns.Column)
		text bool
	}{
		{"a NUL", func(c *columns.Column) { c.Text("a\x00b") }, true},
		{"a NUL behind a letter of two bytes", func(c *columns.Column) { c.Text("ä\x00") }, true},
		{"broken UTF-8", func(c *columns.Column) { c.Text("a\xfcb") }, true},
		{"an escaped NUL in JSON", func(c *columns.Column) { c.JSON([]byte(`"\\\u0000"`)) }, true},
		{"a day there is not", func(c *columns.Column) { c.Day("2026-02-30") }, false},
		{"the year 0", func(c *columns.Column) { c.Day("0000-01-01") }, false},
		{"no decimal", func(c *columns.Column) { c.Numeric([]byte("1,5")) }, false},
		{"an empty decimal", func(c *columns.Column) { c.Numeric(nil) }, false},
		{"what is no JSON", func(c *columns.Column) { c.Marshal(func() {}) }, false},
	} {
		t.Run(c.name+" fails the batch, and nothing is sent", func(t *testing.T) {
			var col columns.Column
			c.add(&col)
			if err := columns.Err("x", &col); err == nil || errors.Is(err, columns.ErrText) != c.text {
				t.Errorf("got %v", err)
			}
			var b pgx.Batch
			sent := false
			b.Queue(`select 1`).Exec(func(pgconn.CommandTag) error { sent = true; return nil })
			columns.Queue(&b, `select unnest($1::text[])`, &col)
			if err := pool.SendBatch(t.Context(), &b).Close(); err == nil || sent {
				t.Errorf("got %v; the statement before it was executed: %t", err, sent)
			}
		})
	}
}
