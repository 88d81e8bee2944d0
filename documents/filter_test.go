package documents

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// searched makes documents that differ in what they are searched by, one a name.
func searched(t *testing.T, pool *pgxpool.Pool) map[uuid.UUID]string {
	t.Helper()
	names := map[uuid.UUID]string{}
	add := func(name, file string, change func(*Row)) {
		t.Helper()
		r := row(t, file)
		r.Document.Number = name
		change(&r)
		names[r.Document.ID] = name
		write(t, pool, "acme", r)
	}
	add("RE-1", "invoic-d96a.edi", func(r *Row) {
		d := r.Document
		d.OrderReference, d.Currency, d.IssueDate = "PO-1", "EUR", "2026-11-27"
		d.Supplier = Name{ID: "9520001000010", Name: "Muster Kaffee GmbH"}
		d.Totals = Totals{Payable: amount(t, "119.00")}
		d.Lines = []Line{{No: "1", GTIN: "9520000001018", OrderReference: "PO-9"}, {No: "2", SupplierItem: "S-7"}}
	})
	add("RE-2", "invoic-d96a.edi", func(r *Row) {
		d := r.Document
		d.TypeCode, d.OrderReference, d.Currency, d.IssueDate = "381", "PO-2", "CHF", "2026-10-01"
		d.Supplier, d.Buyer = Name{Name: "100% Tee_Haus"}, Name{ID: "B-1", Name: "Nord"}
		d.Totals = Totals{TaxInclusive: amount(t, "-50")}
		d.Lines = []Line{{BuyerItem: "B-7"}}
	})
	add("RX-3", "invoic-d96a.edi", func(r *Row) { r.State, r.Document.OrderReference, r.Document.IssueDate = StateHeld, "", "" })
	add("LS-4", "desadv-d96a.edi", func(*Row) {})
	write(t, pool, "other", row(t, "invoic-d96a.edi"))
	return names
}

func amount(t *testing.T, text string) Number {
	t.Helper()
	n, fault := parseNumber(text)
	if fault != nil {
		t.Fatal(fault.text)
	}
	return n
}

// found lists the names of a page, the oldest first, and whether there is more.
func found(t *testing.T, s Store, names map[uuid.UUID]string, f Filter) string {
	t.Helper()
	page, err := s.List(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, d := range page.Documents {
		list = append([]string{names[d.ID]}, list...)
	}
	if page.Next != "" {
		list = append(list, "…")
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	pool := testPool(t)
	names := searched(t, pool)
	store := Store{Pool: pool}
	for _, sql := range []string{
		`update document set report = 'posted' where partner_id = 'acme' and number = 'RE-1'`,
		`update document set detail = detail || '{"findings": [{"severity": "note", "code": "line"}, {"severity": "warning", "code": "line-total"}]}' where partner_id = 'acme' and number = 'RE-2'`,
	} {
		if _, err := pool.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	for name, c := range map[string]struct {
		f    Filter
		want string
	}{
		"by number":                             {Filter{Number: "RE-2"}, "RE-2"},
		"by what numbers begin with":            {Filter{NumberPrefix: "RE-"}, "RE-1 RE-2"},
		"by a short beginning":                  {Filter{NumberPrefix: "R"}, "RE-1 RE-2 RX-3"},
		"by order":                              {Filter{OrderReference: "PO-2"}, "RE-2"},
		"by a line's order":                     {Filter{LineOrder: "PO-9"}, "RE-1"},
		"by an order that is a line's":          {Filter{OrderReference: "PO-9"}, ""},
		"by SSCC with its application id":       {Filter{SSCC: "00395200030000000040"}, "LS-4"},
		"by GTIN":                               {Filter{Item: "9520000001018"}, "RE-1"},
		"by the supplier's item":                {Filter{Item: "S-7"}, "RE-1"},
		"by the buyer's item":                   {Filter{Item: "B-7"}, "RE-2"},
		"by class":                              {Filter{Class: ClassDespatch}, "LS-4"},
		"by type":                               {Filter{TypeCode: "381"}, "RE-2"},
		"by the first day of issue":             {Filter{Class: ClassInvoice, IssueFrom: "2026-11-27"}, "RE-1"},
		"by the last day of issue":              {Filter{Class: ClassInvoice, IssueTo: "2026-11-26"}, "RE-2"},
		"by the supplier's id":                  {Filter{Class: ClassInvoice, Supplier: "9520001000010", Currency: "EUR", IssueFrom: "2026-11-27"}, "RE-1"},
		"by a part of the name in another case": {Filter{Supplier: "KAFFEE G"}, "RE-1"},
		"by a name that SQL would understand":   {Filter{Supplier: "100% tee_"}, "RE-2"},
		"by one that it must not":               {Filter{Supplier: "%"}, "RE-2"},
		"by the buyer":                          {Filter{Buyer: "B-1"}, "RE-2"},
		"by currency":                           {Filter{Currency: "CHF"}, "RE-2"},
		"by an amount that is due":              {Filter{AmountFrom: amount(t, "119"), AmountTo: amount(t, "119.000")}, "RE-1"},
		"by an amount below zero":               {Filter{AmountTo: amount(t, "0")}, "RE-2"},
		"by state":                              {Filter{State: StateHeld}, "RX-3"},
		"by what counts":                        {Filter{Class: ClassInvoice, Live: true}, "RE-1 RE-2"},
		"by a report":                           {Filter{Report: string(Posted)}, "RE-1"},
		"by none":                               {Filter{Report: NoReport, Class: ClassInvoice}, "RE-2 RX-3"},
		"by finding":                            {Filter{Finding: "line-total"}, "RE-2"},
		"by a finding that none has":            {Filter{Finding: "total"}, ""},
		"received by now":                       {Filter{ReceivedFrom: now.Add(-time.Hour), ReceivedTo: now.Add(time.Hour)}, "RE-1 RE-2 RX-3 LS-4"},
		"received before":                       {Filter{ReceivedTo: now.Add(-time.Hour)}, ""},
		"received later":                        {Filter{ReceivedFrom: now.Add(time.Hour)}, ""},
		"by all at once": {Filter{NumberPrefix: "RE", OrderReference: "PO-1", Class: ClassInvoice, TypeCode: "380", IssueFrom: "2026-01-01", IssueTo: "2026-12-31",
			ReceivedFrom: now.Add(-time.Hour), ReceivedTo: now.Add(time.Hour), Supplier: "kaffee", LineOrder: "PO-9", Item: "S-7", Currency: "EUR",
			AmountFrom: amount(t, "1"), AmountTo: amount(t, "1000"), State: StateLive, Live: true, Report: "posted"}, "RE-1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.f.Partner = "acme"
			if got := found(t, store, names, c.f); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var each []string
			if err := store.Each(context.Background(), c.f, false, func(list []Stored) error {
				for i := range list {
					each = append(each, names[list[i].ID])
				}
				return nil
			}); err != nil || strings.Join(each, " ") != c.want {
				t.Errorf("one by one %q, %v, want %q", each, err, c.want)
			}
		})
	}
	t.Run("a page that looks at few goes on where it stopped", func(t *testing.T) {
		f := Filter{Partner: "acme", TypeCode: "381", Look: 2}
		if got := found(t, store, names, f); got != "…" {
			t.Errorf("got %q", got)
		}
		page, err := store.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		f.After = page.Next
		if got := found(t, store, names, f); got != "RE-2" {
			t.Errorf("got %q", got)
		}
	})
}

// A message may name an order as long as it likes: no index has a limit that the
// message's directory has not.
func TestOrdersWithLongReferences(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	store := Store{Pool: pool}
	var b strings.Builder
	for i := range 128 { // digests do not get shorter in an index, as a row of blanks does
		fmt.Fprintf(&b, "%x", sha256.Sum256([]byte{byte(i)}))
	}
	long := b.String() // 8 kB
	for name, c := range map[string]struct {
		text  func(order string) []byte
		class string
	}{
		"an invoice":        {func(order string) []byte { return invoicText("RFF+ON:" + order) }, ClassInvoice},
		"a despatch advice": {func(order string) []byte { return despatched(t, "RFF+ON:BE-1", "RFF+ON:"+order) }, ClassDespatch},
		"an invoice of X12": {func(order string) []byte {
			return change(t, testdata(t, "invoice-810-004010.edi"), orderOf(t, "invoice-810-004010.edi"), order)
		}, ClassInvoice},
		"a ship notice of X12": {func(order string) []byte {
			return change(t, testdata(t, "ship-notice-856-005010.edi"), orderOf(t, "ship-notice-856-005010.edi"), order)
		}, ClassDespatch},
		"any message of anyone": {func(order string) []byte {
			return interchange([]string{"UNH+1+ORDERS:D:96A:UN", "BGM+220+PO-7+9", "RFF+ON:" + order})
		}, ClassGeneric},
	} {
		t.Run(name+" is stored, and found within a time", func(t *testing.T) {
			for order, indexed := range map[string]bool{long: false, long[:maxIndexed+1]: false, long[:maxIndexed]: true} {
				_, all := read(t, c.text(order))
				d := all[0].doc
				if d == nil {
					t.Fatal(all[0].errs)
				}
				d.ID = newID(t)
				partner := name + " " + fmt.Sprint(len(order))
				write(t, pool, partner, Row{Document: d, State: StateLive, MessageID: "unb:x"})
				if c.class == ClassGeneric {
					continue
				}
				f := Filter{Partner: partner, OrderReference: order}
				if err := f.Wide(time.Now()); (err == nil) != indexed || err != nil && !strings.Contains(err.Error(), "no index serves order_reference of more than 140 bytes: ") {
					t.Errorf("%d bytes: %v", len(order), err)
				}
				f.ReceivedFrom = time.Now().Add(-time.Hour)
				if page, err := store.List(ctx, f); err != nil || len(page.Documents) != 1 || page.Documents[0].OrderReference != order {
					t.Errorf("%d bytes: %+v, %v", len(order), page, err)
				}
			}
		})
	}
}

// orderOf gives the order that a document in testdata names.
func orderOf(t *testing.T, file string) string {
	t.Helper()
	_, all := read(t, testdata(t, file))
	if all[0].doc.OrderReference == "" {
		t.Fatalf("%s names no order", file)
	}
	return all[0].doc.OrderReference
}

func TestWhatIsTooWide(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		f    Filter
		want string // the conditions that no index serves; "" if it is taken
	}{
		"everything":                            {Filter{}, ""},
		"what counts of a class":                {Filter{Class: ClassInvoice, Live: true}, ""},
		"a currency":                            {Filter{Currency: "EUR"}, "currency"},
		"a currency and an item":                {Filter{Currency: "EUR", Item: "x"}, "item currency"},
		"a currency under a number":             {Filter{Currency: "EUR", Number: "x"}, ""},
		"a long order of any time":              {Filter{OrderReference: strings.Repeat("7", 141)}, "order_reference of more than 140 bytes"},
		"a long order of a month":               {Filter{OrderReference: strings.Repeat("7", 141), ReceivedFrom: now.AddDate(0, -1, 0)}, ""},
		"an order of 140 bytes":                 {Filter{OrderReference: strings.Repeat("ü", 70)}, ""},
		"a currency of an order":                {Filter{Currency: "EUR", OrderReference: "x"}, ""},
		"a currency and a number's first bytes": {Filter{Currency: "EUR", NumberPrefix: "RE"}, "currency"},
		"a currency and a number's beginning":   {Filter{Currency: "EUR", NumberPrefix: "RE-"}, ""},
		"a currency of a year":                  {Filter{Currency: "EUR", ReceivedFrom: now.Add(-MaxWindow)}, ""},
		"a currency of more than a year":        {Filter{Currency: "EUR", ReceivedFrom: now.Add(-MaxWindow - time.Second)}, "currency"},
		"a currency of a month years ago":       {Filter{Currency: "EUR", ReceivedFrom: now.AddDate(-5, 0, 0), ReceivedTo: now.AddDate(-5, 1, 0)}, ""},
		"a currency until a time":               {Filter{Currency: "EUR", ReceivedTo: now}, "currency"},
		"every one of them": {Filter{TypeCode: "x", IssueFrom: "x", IssueTo: "x", Supplier: "x", Buyer: "x", LineOrder: "x", Item: "x", Currency: "x",
			AmountFrom: Number{valid: true}, AmountTo: Number{valid: true}, State: "x", Report: "x", Finding: "x"},
			"type_code issue_from issue_to supplier buyer line_order item currency amount_from amount_to state report finding"},
	} {
		t.Run(name, func(t *testing.T) {
			var wide *WideError
			err := c.f.Wide(now)
			if errors.As(err, &wide) != (c.want != "") || wide != nil && (strings.Join(wide.Conditions, " ") != c.want || !strings.Contains(err.Error(), "received_from")) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Every search that is taken at any time finds its documents by an index, in a table
// where reading all would show.
func TestSearchesHaveTheirIndex(t *testing.T) {
	ctx := context.Background()
	pool := testPool(t)
	for _, sql := range []string{`
insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256, order_reference)
select 'acme', ('01980000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, 'invoice', '380', 'RE-' || n, 'live', 'unb:' || n, '\x00', 'PO-' || n
from generate_series(1, 20000) n`, `
insert into document_package (partner_id, document_id, package, sscc)
select 'acme', document_id, 1, lpad(substr(number, 4), 18, '0') from document`,
		"analyze document", "analyze document_package",
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for index, f := range map[string]Filter{
		"document_number":       {Number: "RE-77"},
		"document_number ":      {NumberPrefix: "RE-777"},
		"document_message":      {MessageID: "unb:77"},
		"document_order":        {OrderReference: "PO-77"},
		"document_package_unit": {SSCC: "000000000000000077"},
		"document_pkey":         {Currency: "EUR", ReceivedFrom: time.Now().Add(-time.Hour)},
		"document_pkey ":        {Class: ClassInvoice, Live: true},
	} {
		f.Partner = "acme"
		c := f.conditions()
		c.add("d.document_id < ?", newID(t))
		sql, args := listSQL(c, 51, f.indexed())
		rows, err := pool.Query(ctx, "explain "+sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, strings.TrimSpace(index)) || strings.Contains(text, "Seq Scan on document d") {
			t.Errorf("%+v is not found by %s: %v\n%s", f, index, err, text)
		}
	}
}

func TestIDsOfATime(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if diff := cmp.Diff("01a22c53-8200-0000-0000-000000000000", idAt(at).String()); diff != "" {
		t.Error(diff)
	}
	id := newID(t)
	sec, nsec := id.Time().UnixTime()
	made := time.Unix(sec, nsec)
	if before, after := idAt(made).String(), idAt(made.Add(time.Millisecond)).String(); id.String() < before || id.String() >= after {
		t.Errorf("%s is not from %s to %s", id, before, after)
	}
	if got := fmt.Sprint(idAt(time.Time{})); got != uuid.Nil.String() {
		t.Error(got)
	}
}
