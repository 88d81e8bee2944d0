package gateway_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// weight is how large everything is at the end of a week.
type weight struct {
	bytes map[string]int64 // by table, with its indexes, all its months
	rows  map[string]int64
}

// grows by design: what was done is kept for longer than a year.
var grows = []string{"purge_run", "purge_step", "purge_settled", "partner_revision", "organisation_revision", "audit_entry"}

// weigh measures every table after it was vacuumed, as a database does by itself.
func (y *year) weigh() {
	ctx := context.Background()
	if _, err := y.Pool.Exec(ctx, `vacuum`); err != nil {
		y.t.Fatal(err)
	}
	w := weight{map[string]int64{}, map[string]int64{}}
	rows, err := y.Pool.Query(ctx, `
		select coalesce(p.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint
		from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
		where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`)
	if err != nil {
		y.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var bytes int64
		if err := rows.Scan(&table, &bytes); err != nil {
			y.t.Fatal(err)
		}
		w.bytes[table] = bytes
	}
	for table := range w.bytes {
		sql := `select count(*) from ` + table
		if table == "variant" { // of a number that is used again and again each use stays known, as long as it is used
			sql += ` v where not exists (select from inbox i where i.partner_id = v.partner_id and i.message_id = v.message_id and i.epoch > v.variant_epoch)`
		}
		w.rows[table] = int64(y.count(sql))
	}
	y.weights = append(y.weights, w)
}

// slack is what pages and chance may add to a table.
const slack = 512 << 10

// plateau: no table was larger in the last quarter than in the one before, but for some
// pages and for what chance brings.
func (y *year) plateau() {
	quarter := len(y.weights) / 4
	last, before := y.weights[len(y.weights)-quarter:], y.weights[len(y.weights)-2*quarter:len(y.weights)-quarter]
	most := func(ws []weight, of func(weight) int64) (n int64) {
		for _, w := range ws {
			n = max(n, of(w))
		}
		return n
	}
	for _, table := range slices.Sorted(maps.Keys(y.weights[0].bytes)) {
		if slices.Contains(grows, table) {
			continue
		}
		rows := func(w weight) int64 { return w.rows[table] }
		bytes := func(w weight) int64 { return w.bytes[table] }
		if a, b := most(before, rows), most(last, rows); float64(b) > 1.15*float64(a)+20 {
			y.t.Errorf("%s had %d rows at most in the last quarter, %d in the one before: it grows", table, b, a)
		}
		if a, b := most(before, bytes), most(last, bytes); float64(b) > 1.15*float64(a)+slack {
			y.t.Errorf("%s had %d KiB at most in the last quarter, %d in the one before: it grows", table, b>>10, a>>10)
		}
	}
	for what, least := range map[string]int{"drift": 2, "drift decided": 2, "message held": 2, "message released": 1, "dead message replayed": 1,
		"windows made longer": 1, "windows made shorter": 1, "partner held": 1, "partner released": 1, "purges that were cut off": 3,
		"drift [I1]": 1, "reuse [I12]": 3, "duplicate [I2]": 10, "repeats of age long after it": 3} {
		if y.events[what] < least {
			y.t.Errorf("%q was lived %d times, %d at least are wanted", what, y.events[what], least)
		}
	}
}

// plot writes the sizes as lines over weeks. It reads well on light and on dark paper.
func (y *year) plot(file string) {
	const width, height, left, bottom = 760, 340, 60, 40
	groups := []struct {
		name, colour string
		tables       []string
	}{
		{"keys and guards", "#0072b2", []string{"inbox", "variant", "message_state", "document_key"}},
		{"documents", "#009e73", []string{"document", "document_line", "document_package"}},
		{"payloads", "#d55e00", []string{"payload", "evidence"}},
		{"acknowledgements", "#cc79a7", []string{"acknowledgement", "functional_acknowledgement"}},
		{"deliveries", "#e69f00", []string{"delivery"}},
		{"events", "#56b4e9", []string{"outbox", "effect"}},
	}
	size := func(w weight, tables []string) (n int64) {
		for _, t := range tables {
			n += w.bytes[t]
		}
		return n
	}
	most := int64(1)
	for _, w := range y.weights {
		for _, g := range groups {
			most = max(most, size(w, g.tables))
		}
	}
	x := func(week int) float64 { return left + float64(week)*(width-left-170)/float64(len(y.weights)-1) }
	h := func(n int64) float64 { return height - bottom - float64(n)*(height-bottom-20)/float64(most) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Sizes of tables with their indexes over %d weeks" font-family="sans-serif" font-size="12">`+"\n", width, height, len(y.weights))
	b.WriteString("<style>text{fill:#666}line{stroke:#999}@media(prefers-color-scheme:dark){text{fill:#bbb}}</style>\n")
	fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%.1f" y2="%d"/><line x1="%d" y1="20" x2="%d" y2="%d"/>`+"\n", left, height-bottom, x(len(y.weights)-1), height-bottom, left, left, height-bottom)
	for _, f := range []int64{0, 1, 2, 4} {
		n := most * f / 4
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.1f MiB</text>`+"\n", left-6, h(n)+4, float64(n)/(1<<20))
	}
	for week := 0; week < len(y.weights); week += max(1, len(y.weights)/8) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(week), height-bottom+18, week+1)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">week</text>`+"\n", x(len(y.weights)/2), height-6)
	for i, g := range groups {
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, g.colour)
		for week, w := range y.weights {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(week), h(size(w, g.tables)))
		}
		fmt.Fprintf(&b, `"/><text x="%d" y="%d" style="fill:%s">%s</text>`+"\n", width-155, 30+18*i, g.colour, g.name)
	}
	b.WriteString("</svg>\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

// The plot is of the whole year: the file in docs is what it wrote.
func TestTheYearIsPlotted(t *testing.T) {
	text, err := os.ReadFile("../docs/explanation/year.svg")
	if err != nil {
		t.Fatalf("%v: `make year` writes it", err)
	}
	if n := strings.Count(string(text), "<polyline"); n != 6 || !strings.Contains(string(text), fmt.Sprintf("over %d weeks", yearLong.length/7)) {
		t.Errorf("docs/explanation/year.svg has %d lines, or is not of the whole year: `make year` writes it anew", n)
	}
}
