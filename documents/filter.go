package documents

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Filter selects documents. Partner is required; what else is empty selects
// nothing out.
type Filter struct {
	Partner string

	// Conditions that an index serves: few documents are looked at, however many there
	// are. Where many have the last three of them, a page looks at no more for it.
	Number         string
	MessageID      string // interchange key that brought it
	NumberPrefix   string // number begins with it
	OrderReference string // of the header; of up to 140 bytes, which the index has
	SSCC           string // despatch advices that name this logistic unit

	// ReceivedFrom is in it, ReceivedTo is not. The key is ordered by time, so that no
	// others are looked at.
	ReceivedFrom, ReceivedTo time.Time

	// Conditions that most documents of a partner meet.
	Class string
	Live  bool // only those that count: posted, not replaced, not cancelled, no cancellation, no test

	// Conditions for which documents are read one by one: see Wide.
	TypeCode             string
	IssueFrom, IssueTo   string // CCYY-MM-DD, both in it
	Supplier, Buyer      string // id, or a part of the name in any case
	LineOrder            string // order reference of a line
	Item                 string // GTIN, or the supplier's or buyer's number of an item, of a line
	Currency             string
	AmountFrom, AmountTo Number // of what is due, or the total with tax where that is not said; both in it
	State                State
	Report               string // a Reported, or NoReport
	Finding              string // code of a finding that is kept with the document

	After string // Page.Next of the page before
	Limit int    // 1 to 500; 0 means 50
	Look  int    // documents that a page looks at where no index finds as few by a condition; 0 means 50,000

	known       uuid.UUID // what replaces or cancels and is later than this one is not known yet; zero: all is
	first, last uuid.UUID // no others are looked at, both are; zero: no such bound
}

// NoReport is Filter.Report for documents of which nothing was reported.
const NoReport = "none"

// MaxWindow is the longest time between ReceivedFrom and ReceivedTo in which documents
// are read one by one.
const MaxWindow = 366 * 24 * time.Hour

// WideError says that a filter would have documents of years read one by one.
type WideError struct {
	Conditions []string // that no index serves, by their names in the API
}

// Error says what to do.
func (e *WideError) Error() string {
	return fmt.Sprintf("no index serves %s: without more, every document of years would be read; add received_from, and received_to at most %d days behind it if that is not now, or one of number, number_prefix, message_id, order_reference, sscc",
		strings.Join(e.Conditions, ", "), MaxWindow/(24*time.Hour))
}

// Wide gives a *WideError where documents of more than MaxWindow would be read one by
// one; now is the end of a window that has none.
func (f *Filter) Wide(now time.Time) error {
	to := f.ReceivedTo
	if to.IsZero() {
		to = now
	}
	if f.indexed() || !f.ReceivedFrom.IsZero() && to.Sub(f.ReceivedFrom) <= MaxWindow {
		return nil
	}
	e := &WideError{}
	for _, c := range []struct {
		name  string
		asked bool
	}{
		{"order_reference of more than " + strconv.Itoa(maxIndexed) + " bytes", len(f.OrderReference) > maxIndexed},
		{"type_code", f.TypeCode != ""}, {"issue_from", f.IssueFrom != ""}, {"issue_to", f.IssueTo != ""},
		{"supplier", f.Supplier != ""}, {"buyer", f.Buyer != ""}, {"line_order", f.LineOrder != ""}, {"item", f.Item != ""},
		{"currency", f.Currency != ""}, {"amount_from", f.AmountFrom.Valid()}, {"amount_to", f.AmountTo.Valid()},
		{"state", f.State != ""}, {"report", f.Report != ""}, {"finding", f.Finding != ""},
	} {
		if c.asked {
			e.Conditions = append(e.Conditions, c.name)
		}
	}
	if e.Conditions == nil {
		return nil
	}
	return e
}

// shortestPrefix of a number narrows enough, in bytes.
const shortestPrefix = 3

// indexed reports whether an index may find the few documents there are; Store.few
// looks whether it does.
func (f *Filter) indexed() bool {
	return f.Number != "" || len(f.NumberPrefix) >= shortestPrefix || f.MessageID != "" || f.ofAnOrder() || f.SSCC != ""
}

// ofAnOrder reports whether an order is asked for that the index has.
func (f *Filter) ofAnOrder() bool {
	return f.OrderReference != "" && len(f.OrderReference) <= maxIndexed
}

// sifts reports whether there are conditions but those of the key.
func (f *Filter) sifts() bool {
	return *f != Filter{Partner: f.Partner, ReceivedFrom: f.ReceivedFrom, ReceivedTo: f.ReceivedTo,
		After: f.After, Limit: f.Limit, Look: f.Look, known: f.known, first: f.first, last: f.last}
}

// conditions are those of a statement, with their parameters.
type conditions struct {
	where []string
	args  []any
}

// add adds one, in which each ? stands for the next of args.
func (c *conditions) add(condition string, args ...any) {
	for _, arg := range args {
		c.args = append(c.args, arg)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(c.args)), 1)
	}
	c.where = append(c.where, condition)
}

// String gives what stands behind where.
func (c *conditions) String() string { return strings.Join(c.where, "\n  and ") }

// window writes where in the key the documents stand: partner_id is $1.
func (f *Filter) window() *conditions {
	c := &conditions{}
	c.add("d.partner_id = ?", f.Partner)
	if !f.ReceivedFrom.IsZero() {
		c.add("d.document_id >= ?", idAt(f.ReceivedFrom.Add(-idSlack)))
	}
	if !f.ReceivedTo.IsZero() {
		c.add("d.document_id < ?", idAt(f.ReceivedTo.Add(idSlack)))
	}
	return c
}

// idSlack is more than passes between the making of a document's id and its row.
const idSlack = 24 * time.Hour

// idAt is below every UUIDv7 made at t or later (RFC 9562 §5.7).
func idAt(t time.Time) (id uuid.UUID) {
	for i, ms := 5, max(t.UnixMilli(), 0); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id
}

// conditions writes only what is asked for, so that each list has the index that fits
// it: PostgreSQL plans "x = $2 or $2 is null" for neither.
func (f *Filter) conditions() *conditions {
	c := f.window()
	if f.Number != "" {
		c.add("d.number = ?", f.Number)
	}
	if f.MessageID != "" {
		c.add("d.message_id = ?", f.MessageID)
	}
	if f.NumberPrefix != "" {
		c.numbered(f.NumberPrefix)
	}
	switch {
	case f.ofAnOrder():
		c.ordered(f.OrderReference)
	case f.OrderReference != "":
		c.add("d.order_reference = ?", f.OrderReference)
	}
	switch {
	case f.SSCC == "":
	case f.first == uuid.Nil && f.last == uuid.Nil:
		c.add("d.document_id in (select p.document_id from document_package p where p.partner_id = $1 and p.sscc = ?)", trimSSCC(f.SSCC))
	default: // the bounds of what is looked at hold for its packages, too
		c.add("d.document_id in (select p.document_id from document_package p where p.partner_id = $1 and p.sscc = ? and p.document_id between ? and ?)",
			trimSSCC(f.SSCC), f.first, cmp.Or(f.last, uuid.Max))
	}
	if !f.ReceivedFrom.IsZero() {
		c.add("d.received_at >= ?", f.ReceivedFrom)
	}
	if !f.ReceivedTo.IsZero() {
		c.add("d.received_at < ?", f.ReceivedTo)
	}
	if f.Class != "" {
		c.add("d.class = ?", f.Class)
	}
	if f.Live {
		c.add("d.state = 'live' and not d.test and d.function_code not in ('1', '17')")
		if f.known == uuid.Nil {
			c.add("d.superseded_by is null and d.cancelled_by is null")
		} else {
			c.add("(d.superseded_by is null or d.superseded_by > ?) and (d.cancelled_by is null or d.cancelled_by > ?)", f.known, f.known)
		}
	}
	f.sifted(c)
	return c
}

// sifted writes the conditions that no index serves.
func (f *Filter) sifted(c *conditions) {
	if f.TypeCode != "" {
		c.add("d.type_code = ?", f.TypeCode)
	}
	if f.IssueFrom != "" {
		c.add("d.issue_date >= ?::text::date", f.IssueFrom)
	}
	if f.IssueTo != "" {
		c.add("d.issue_date <= ?::text::date", f.IssueTo)
	}
	if f.Supplier != "" {
		c.add("(d.supplier_id = ? or strpos(lower(d.supplier_name), lower(?)) > 0)", f.Supplier, f.Supplier)
	}
	if f.Buyer != "" {
		c.add("(d.buyer_id = ? or strpos(lower(d.buyer_name), lower(?)) > 0)", f.Buyer, f.Buyer)
	}
	const line = "exists (select from document_line l where l.partner_id = $1 and l.document_id = d.document_id and "
	if f.LineOrder != "" {
		c.add(line+"l.order_reference = ?)", f.LineOrder)
	}
	if f.Item != "" {
		c.add(line+"(l.gtin = ? or l.supplier_item = ? or l.buyer_item = ?))", f.Item, f.Item, f.Item)
	}
	if f.Currency != "" {
		c.add("d.currency = ?", f.Currency)
	}
	if f.AmountFrom.Valid() {
		c.add("coalesce(d.payable, d.tax_inclusive) >= ?::text::numeric", f.AmountFrom.String())
	}
	if f.AmountTo.Valid() {
		c.add("coalesce(d.payable, d.tax_inclusive) <= ?::text::numeric", f.AmountTo.String())
	}
	if f.State != "" {
		c.add("d.state = ?", string(f.State))
	}
	switch f.Report {
	case "":
	case NoReport:
		c.add("d.report = ''")
	default:
		c.add("d.report = ?", f.Report)
	}
	if f.Finding != "" {
		c.add(`d.detail -> 'findings' @> jsonb_build_array(jsonb_build_object('code', ?::text))`, f.Finding)
	}
}
