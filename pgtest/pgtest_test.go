package pgtest_test

import (
	"context"
	"testing"

	"github.com/edigw/edigw/pgtest"
	"github.com/shopspring/decimal"
)

func TestNew(t *testing.T) {
	for range 5 {
		t.Run("a decimal keeps its scale through the database", func(t *testing.T) {
			pool := pgtest.New(t)
			var got decimal.Decimal
			err := pool.QueryRow(context.Background(), `select $1::numeric`, decimal.RequireFromString("1.10")).Scan(&got)
			if err != nil {
				t.Fatal(err)
			}
			if got.Exponent() != -2 || got.StringFixed(2) != "1.10" {
				t.Errorf("got %s with exponent %d, want 1.10 with -2", got, got.Exponent())
			}
		})
	}
}

func TestServer(t *testing.T) {
	pg, _ := pgtest.Server(t)
	pool := pgtest.Pool(t, pg.URL())
	for name, want := range map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"} {
		var got string
		if err := pool.QueryRow(context.Background(), `select current_setting($1)`, name).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}
