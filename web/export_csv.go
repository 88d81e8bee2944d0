package web

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/edigw/edigw/documents"
)

// csvRow is what a row of a CSV export is about; line is nil where it is of a document,
// or of one without lines.
type csvRow struct {
	*documents.Stored
	line *documents.Line
	at   int // position of the line, from 1
}

// csvColumn is a column. Its names are those of the tables, and never change their
// place: new ones come behind.
type csvColumn struct {
	name string
	of   func(csvRow) string
	text bool // a partner wrote it: it may hold anything
}

func ofDocument(name string, text bool, of func(*documents.Stored) string) csvColumn {
	return csvColumn{name, func(r csvRow) string { return of(r.Stored) }, text}
}

func number(name string, of func(*documents.Stored) documents.Number) csvColumn {
	return ofDocument(name, false, func(d *documents.Stored) string { return of(d).String() })
}

// ofLine is of a row that has one, else empty.
func ofLine(name string, text bool, of func(*documents.Line) string) csvColumn {
	return csvColumn{name, func(r csvRow) string {
		if r.line == nil {
			return ""
		}
		return of(r.line)
	}, text}
}

var documentColumns = []csvColumn{
	ofDocument("partner", true, func(d *documents.Stored) string { return d.Partner }),
	ofDocument("document_id", false, func(d *documents.Stored) string { return d.ID.String() }),
	ofDocument("class", false, func(d *documents.Stored) string { return d.Class }),
	ofDocument("type_code", true, func(d *documents.Stored) string { return d.TypeCode }),
	ofDocument("number", true, func(d *documents.Stored) string { return d.Number }),
	ofDocument("issue_date", false, func(d *documents.Stored) string { return d.IssueDate }),
	ofDocument("function_code", true, func(d *documents.Stored) string { return d.Function }),
	ofDocument("test", false, func(d *documents.Stored) string { return strconv.FormatBool(d.Test) }),
	ofDocument("state", false, func(d *documents.Stored) string { return string(d.State) }),
	ofDocument("live", false, func(d *documents.Stored) string { return strconv.FormatBool(d.Live) }),
	ofDocument("revision", false, func(d *documents.Stored) string { return strconv.Itoa(d.Revision) }),
	ofDocument("supersedes", false, func(d *documents.Stored) string { return idOrNone(d.Supersedes) }),
	ofDocument("superseded_by", false, func(d *documents.Stored) string { return idOrNone(d.SupersededBy) }),
	ofDocument("cancelled_by", false, func(d *documents.Stored) string { return idOrNone(d.CancelledBy) }),
	ofDocument("message_type", true, func(d *documents.Stored) string { return d.MessageType }),
	ofDocument("issuer_id", true, func(d *documents.Stored) string { return d.Issuer.Value }),
	ofDocument("issuer_scheme", true, func(d *documents.Stored) string { return d.Issuer.Scheme }),
	ofDocument("supplier_id", true, func(d *documents.Stored) string { return d.Supplier.ID }),
	ofDocument("supplier_name", true, func(d *documents.Stored) string { return d.Supplier.Name }),
	ofDocument("buyer_id", true, func(d *documents.Stored) string { return d.Buyer.ID }),
	ofDocument("buyer_name", true, func(d *documents.Stored) string { return d.Buyer.Name }),
	ofDocument("order_reference", true, func(d *documents.Stored) string { return d.OrderReference }),
	ofDocument("currency", true, func(d *documents.Stored) string { return d.Currency }),
	ofDocument("due_date", false, func(d *documents.Stored) string { return d.DueDate }),
	number("line_total", func(d *documents.Stored) documents.Number { return d.Totals.Lines }),
	number("allowance_total", func(d *documents.Stored) documents.Number { return d.Totals.Allowances }),
	number("charge_total", func(d *documents.Stored) documents.Number { return d.Totals.Charges }),
	number("tax_exclusive", func(d *documents.Stored) documents.Number { return d.Totals.TaxExclusive }),
	number("tax_total", func(d *documents.Stored) documents.Number { return d.Totals.Tax }),
	number("tax_inclusive", func(d *documents.Stored) documents.Number { return d.Totals.TaxInclusive }),
	number("prepaid", func(d *documents.Stored) documents.Number { return d.Totals.Prepaid }),
	number("rounding", func(d *documents.Stored) documents.Number { return d.Totals.Rounding }),
	number("payable", func(d *documents.Stored) documents.Number { return d.Totals.Payable }),
	ofDocument("line_count", false, func(d *documents.Stored) string { return strconv.Itoa(d.LineCount) }),
	ofDocument("package_count", false, func(d *documents.Stored) string { return strconv.Itoa(d.PackageCount) }),
	ofDocument("message_id", true, func(d *documents.Stored) string { return d.MessageID }),
	ofDocument("received_at", false, func(d *documents.Stored) string { return d.ReceivedAt.UTC().Format(time.RFC3339Nano) }),
	ofDocument("report", false, func(d *documents.Stored) string {
		if d.Report == nil {
			return ""
		}
		return string(d.Report.Is)
	}),
}

// lineColumns stand behind those of the document.
var lineColumns = []csvColumn{
	{"line", func(r csvRow) string {
		if r.line == nil {
			return ""
		}
		return strconv.Itoa(r.at)
	}, false},
	ofLine("line_no", true, func(l *documents.Line) string { return l.No }),
	ofLine("sub_of", true, func(l *documents.Line) string { return l.SubOf }),
	{"line_sscc", func(r csvRow) string { return r.sscc() }, true},
	ofLine("gtin", true, func(l *documents.Line) string { return l.GTIN }),
	ofLine("supplier_item", true, func(l *documents.Line) string { return l.SupplierItem }),
	ofLine("buyer_item", true, func(l *documents.Line) string { return l.BuyerItem }),
	ofLine("description", true, func(l *documents.Line) string { return l.Description }),
	ofLine("quantity", false, func(l *documents.Line) string { return l.Quantity.String() }),
	ofLine("unit", true, func(l *documents.Line) string { return l.Unit }),
	ofLine("ordered_quantity", false, func(l *documents.Line) string { return l.Ordered.String() }),
	ofLine("price", false, func(l *documents.Line) string { return l.Price.String() }),
	ofLine("price_basis", false, func(l *documents.Line) string { return l.PriceBasis.String() }),
	ofLine("price_unit", true, func(l *documents.Line) string { return l.PriceUnit }),
	ofLine("net_amount", false, func(l *documents.Line) string { return l.NetAmount.String() }),
	ofLine("tax_category", true, func(l *documents.Line) string { return l.TaxCategory }),
	ofLine("tax_rate", false, func(l *documents.Line) string { return l.TaxRate.String() }),
	ofLine("line_order", true, func(l *documents.Line) string { return l.OrderReference }),
	ofLine("order_line", true, func(l *documents.Line) string { return l.OrderLine }),
	ofLine("batch", true, func(l *documents.Line) string { return l.Batch }),
	ofLine("best_before", false, func(l *documents.Line) string { return l.BestBefore }),
}

func idOrNone(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// sscc is that of the package the line lies in, or of the nearest around it that has one.
func (r csvRow) sscc() string {
	if r.line == nil {
		return ""
	}
	at := r.line.Package
	for range r.Packages { // packages that stand in one another in a circle end too
		if at < 1 || at > len(r.Packages) {
			return ""
		}
		p := &r.Packages[at-1]
		if p.SSCC != "" {
			return p.SSCC
		}
		at = p.Parent
	}
	return ""
}

// csvExport writes RFC 4180: a header line, CRLF, quotes where they are needed, UTF-8.
// encoding/csv is not asked, since with CRLF it makes other line breaks of those in texts.
type csvExport struct {
	e       *export
	columns []csvColumn
	lines   bool
	guarded bool
	begun   bool
	row     []byte
}

func newCSVExport(e *export, lines bool) *csvExport {
	w := &csvExport{e: e, columns: documentColumns, lines: lines, guarded: e.text["cells"] != "as-sent"}
	if lines {
		w.columns = slices.Concat(documentColumns, lineColumns)
	}
	return w
}

func (w *csvExport) header() error {
	if w.begun {
		return nil
	}
	w.begun = true
	return w.writeRow(func(c csvColumn) string { return c.name })
}

func (w *csvExport) write(d *documents.Stored) error {
	if err := w.header(); err != nil {
		return err
	}
	w.e.count++
	if !w.lines || len(d.Lines) == 0 {
		return w.document(csvRow{Stored: d})
	}
	for i := range d.Lines {
		if err := w.document(csvRow{d, &d.Lines[i], i + 1}); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvExport) document(r csvRow) error {
	return w.writeRow(func(c csvColumn) string {
		if c.text && w.guarded {
			return guarded(c.of(r))
		}
		return c.of(r)
	})
}

func (w *csvExport) writeRow(cell func(csvColumn) string) error {
	w.row = w.row[:0]
	for i, c := range w.columns {
		if i > 0 {
			w.row = append(w.row, ',')
		}
		text := cell(c)
		if !strings.ContainsAny(text, `",`+cellEnds) {
			w.row = append(w.row, text...)
			continue
		}
		w.row = append(append(append(w.row, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
	}
	_, err := w.e.out.Write(append(w.row, '\r', '\n'))
	return err
}

// guarded puts an apostrophe before a text that a spreadsheet would take for a formula
// (CWE-1236), and wherever in it a cell would begin for one that splits lines at ';' or a
// tab, as Excel does by the list separator of the country: it takes quotes for quotes only
// where a cell begins for it, so that a line break in a text begins a line for it too.
// One goes before each apostrophe there as well, so that one can be cut from each place.
func guarded(text string) string {
	var b strings.Builder
	from := 0
	for at := range len(text) {
		if at > 0 && !strings.ContainsRune(cellEnds, rune(text[at-1])) {
			continue
		}
		if at == 0 && strings.ContainsRune("\t\r\n", rune(text[0])) || calculates(text[at:]) {
			b.WriteString(text[from:at])
			b.WriteByte('\'')
			from = at
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// cellEnds are what may end a cell for a spreadsheet, beside the comma, which counts only
// for one that knows our quotes.
const cellEnds = ";\t\r\n"

// calculates reports whether a cell that begins so is a formula, be there quotes before it
// or not, or begins with an apostrophe.
func calculates(text string) bool {
	if strings.HasPrefix(text, "'") {
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `"`))
	return strings.ContainsRune("=+-@＝＋－＠", first) && first != utf8.RuneError
}

func (w *csvExport) last() error  { return w.header() }
func (w *csvExport) close() error { return nil }
