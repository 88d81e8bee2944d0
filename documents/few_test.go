package documents

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What most of a partner's documents have may find all of them, index or not. Here are
// 2,000: the first 90 are numbered OLD-1 on, all others INV-91 on; each names the frame
// order F and an SSCC of zeros, every hundredth one of its own as well.
func TestWhatManyHave(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	zeros := strings.Repeat("0", 18)
	for _, sql := range []string{`
insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256, order_reference, currency)
select 'acme', ('01980000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, 'despatch', '351',
  case when n <= 90 then 'OLD-' else 'INV-' end || n, 'live', 'unb:' || n / 50, '\x00', 'F', case n % 500 when 7 then 'CHF' else 'EUR' end
from generate_series(1, 2000) n`, `
insert into document_package (partner_id, document_id, package, sscc)
select 'acme', document_id, 1, '` + zeros + `' from document
union all
select 'acme', document_id, 2, lpad(substr(number, 5), 18, '0') from document where number like '%00'`,
		"analyze document", "analyze document_package",
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	// pages gives what a search finds, and on how many pages.
	pages := func(t *testing.T, f Filter) (numbers []string, pages int) {
		t.Helper()
		f.Partner, f.Look = "acme", 100
		for {
			page, err := store.List(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			for _, d := range page.Documents {
				numbers = append(numbers, d.Number)
			}
			if page.Next == "" {
				return numbers, pages
			}
			f.After = page.Next
		}
	}
	const francs = "INV-1507 INV-1007 INV-507 OLD-7"
	for name, c := range map[string]struct {
		f     Filter
		want  string
		pages int
	}{
		"numbers that all begin alike, and a currency":         {Filter{NumberPrefix: "INV", Currency: "CHF"}, "INV-1507 INV-1007 INV-507", 20},
		"the order of all, and a currency":                     {Filter{OrderReference: "F", Currency: "CHF"}, francs, 20},
		"an SSCC of zeros, and a currency":                     {Filter{SSCC: zeros, Currency: "CHF"}, francs, 20},
		"all of them, and an item that none has":               {Filter{NumberPrefix: "INV", OrderReference: "F", SSCC: zeros, Item: "x"}, "", 20},
		"numbers that all begin alike, of a class":             {Filter{NumberPrefix: "INV", Class: ClassInvoice}, "", 20},
		"numbers of which few begin so, and an item":           {Filter{NumberPrefix: "OLD-", Item: "x"}, "", 1},
		"few numbers of the order of all, and a currency":      {Filter{NumberPrefix: "OLD-", OrderReference: "F", Currency: "CHF"}, "OLD-7", 1},
		"a number, and the order of all":                       {Filter{Number: "INV-177", OrderReference: "F"}, "INV-177", 1},
		"an interchange, and the order of all":                 {Filter{MessageID: "unb:0", OrderReference: "F", Currency: "CHF"}, "OLD-7", 1},
		"an SSCC of one, and numbers that all begin alike":     {Filter{SSCC: strings.Repeat("0", 14) + "1500", NumberPrefix: "INV"}, "INV-1500", 1},
		"an order and an SSCC that none has":                   {Filter{OrderReference: "G", SSCC: "1", Currency: "CHF"}, "", 1},
		"a currency alone":                                     {Filter{Currency: "CHF"}, francs, 20},
		"numbers that begin with a letter, which few begin so": {Filter{NumberPrefix: "O", Currency: "CHF"}, "OLD-7", 1},
	} {
		t.Run(name, func(t *testing.T) {
			numbers, n := pages(t, c.f)
			if got := strings.Join(numbers, " "); got != c.want || n != c.pages {
				t.Errorf("%q on %d pages, want %q on %d", got, n, c.want, c.pages)
			}
			c.f.Partner, numbers = "acme", nil
			if err := store.Each(ctx, c.f, false, func(list []Stored) error {
				for i := range list {
					numbers = append([]string{list[i].Number}, numbers...)
				}
				return nil
			}); err != nil || strings.Join(numbers, " ") != c.want {
				t.Errorf("one by one %q, %v, want %q", numbers, err, c.want)
			}
		})
	}
	t.Run("few are not sought by the key, through all that came since", func(t *testing.T) {
		f := Filter{Partner: "acme", NumberPrefix: "OLD-", Class: ClassDespatch}
		sql, args := listSQL(f.conditions(), 1, true)
		if plan := explained(t, pool, sql, args); !strings.Contains(plan, "document_number") || strings.Contains(plan, "document_pkey") {
			t.Error(plan)
		}
	})
	t.Run("many are looked at by the key, and so are their packages", func(t *testing.T) {
		f := Filter{Partner: "acme", SSCC: zeros}
		f.first, f.last = uuid.MustParse("01980000-0700-7000-8000-000000000000"), uuid.MustParse("01980000-0720-7000-8000-000000000000")
		c := f.conditions()
		c.add("d.document_id >= ? and d.document_id < ?", f.first, f.last)
		sql, args := listSQL(c, 51, false)
		if plan := explained(t, pool, sql, args); !strings.Contains(plan, "document_pkey") || !strings.Contains(plan, "document_package_pkey") {
			t.Error(plan)
		}
	})
}

func explained(t *testing.T, pool *pgxpool.Pool, sql string, args []any) string {
	t.Helper()
	rows, err := pool.Query(context.Background(), "explain "+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
