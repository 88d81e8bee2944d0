package documents

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestNumeric reads back what was written as numeric.
func TestNumeric(t *testing.T) {
	pool, ctx := testPool(t), context.Background()
	same := func(t rapid.TB, all []Number) {
		t.Helper()
		var sent, got []string
		for _, n := range all {
			sent = append(sent, n.String())
		}
		rows, err := pool.Query(ctx, `select n::numeric from unnest($1::text[]) with ordinality as t (n, at) order by at`, sent)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n Number
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(n)
			var back Number
			if err != nil || json.Unmarshal(raw, &back) != nil || back.String() != n.String() {
				t.Fatalf("%s came back as %s from JSON", n, back)
			}
			got = append(got, n.String())
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Fatal(diff)
		}
	}
	number := func(t rapid.TB, s string) Number {
		n, fault := parseNumber(s)
		if fault != nil && !fault.tolerated {
			t.Fatalf("%s: %s", s, fault.text)
		}
		return n
	}
	t.Run("zeros keep their scale, and others their zeros", func(t *testing.T) {
		var all []Number
		for _, s := range []string{"0", "0.0", "0.00", "0.0000", "0.00000", "10000", "1000000000000", "0.0001", "0.00010000", "-0.5", "12345.67890", "99999999999999999999999999999999999", "-1.0000000000000000000000000000000000", "." + strings.Repeat("0", 34) + "1"} {
			all = append(all, number(t, s))
		}
		same(t, all)
	})
	t.Run("null is none", func(t *testing.T) {
		n := number(t, "1")
		if err := pool.QueryRow(ctx, `select null::numeric`).Scan(&n); err != nil || n.Valid() {
			t.Errorf("got %s, %v", n, err)
		}
	})
	for _, s := range []string{"NaN", "Infinity", "-Infinity", "1e-300"} {
		t.Run(s+" is no amount", func(t *testing.T) {
			var n Number
			if err := pool.QueryRow(ctx, `select $1::text::numeric`, s).Scan(&n); err == nil {
				t.Errorf("got %s", n)
			}
		})
	}
	t.Run("any digits", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var all []Number
			for _, s := range rapid.SliceOfN(rapid.StringMatching(`-?[0-9]{1,17}(\.[0-9]{1,18})?`), 1, 50).Draw(t, "numbers") {
				all = append(all, number(t, s))
			}
			same(t, all)
		})
	})
}
