package documents

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	pgxdecimal "github.com/jackc/pgx-shopspring-decimal"
	"github.com/jackc/pgx/v5"
)

// State of a document row. The documents that count are live: state live, neither
// superseded nor cancelled, not themselves a cancellation, and no test.
type State string

// The states.
const (
	StateLive State = "live" // posted
	StateHeld State = "held" // kept for review: another document has its identity
)

// Row is a document on its way into the database, with where it came from.
type Row struct {
	Document         *Document
	State            State
	MessageID        string // interchange key
	Epoch            int
	MessageSHA256    [32]byte
	MessageReference string
	MessageIndex     int        // in the interchange, from 0
	Stamp            string     // Stamp of the interchange and message
	Revision         int        // 1 for the first of its identity
	Supersedes       *uuid.UUID // the document in whose place it stands
	SupersededBy     *uuid.UUID // a newer revision that was here before it
	CancelledBy      *uuid.UUID
	PurgeOn          *time.Time // nil: kept
}

// linesAtOnce bounds the arrays of one statement; a longer document takes several
// statements in the same round trip.
const linesAtOnce = 20_000

// Register makes decimals travel as numeric in binary on conn. The pool's
// AfterConnect calls it.
func Register(conn *pgx.Conn) error {
	pgxdecimal.Register(conn.TypeMap())
	return nil
}

// Queue queues the rows of one partner: one statement for all documents, one for
// their lines, one for their packages. Every Document has its ID, unique in rows.
// It queues nothing if it gives an error.
func Queue(b *pgx.Batch, partnerID string, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		if rows[i].Document == nil || rows[i].Document.ID == uuid.Nil {
			return fmt.Errorf("queue documents: row %d has no document or no id", i)
		}
	}
	var next pgx.Batch // so that an error leaves b as it was
	if err := queueDocuments(&next, partnerID, rows); err != nil {
		return fmt.Errorf("queue documents: %w", err)
	}
	if err := queueLines(&next, partnerID, rows); err != nil {
		return fmt.Errorf("queue lines: %w", err)
	}
	if err := queuePackages(&next, partnerID, rows); err != nil {
		return fmt.Errorf("queue packages: %w", err)
	}
	b.QueuedQueries = append(b.QueuedQueries, next.QueuedQueries...)
	return nil
}

// insertDocuments takes a column of the rows in each parameter.
const insertDocuments = `
insert into document (partner_id, ` + documentColumnNames + `)
select $1::text, ` + documentColumnNames + `
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::date[], $7::text[], $8::boolean[], $9::text[], $10::int[],
  $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
  $22::text[], $23::text[], $24::date[], $25::numeric[], $26::numeric[], $27::numeric[], $28::numeric[], $29::numeric[], $30::numeric[], $31::numeric[],
  $32::numeric[], $33::numeric[], $34::int[], $35::int[], $36::text[], $37::int[], $38::bytea[], $39::text[], $40::int[], $41::date[], $42::jsonb[], $43::jsonb[]) as d (` + documentColumnNames + `)`

const documentColumnNames = `document_id, class, type_code, number, issue_date, function_code, test, state, revision,
  supersedes, superseded_by, cancelled_by, stamp, message_type, issuer_id, issuer_scheme, supplier_id, supplier_name, buyer_id, buyer_name,
  order_reference, currency, due_date, line_total, allowance_total, charge_total, tax_exclusive, tax_total, tax_inclusive, prepaid,
  rounding, payable, line_count, package_count, message_id, epoch, message_sha256, message_reference, message_index, purge_on, detail, segments`

func queueDocuments(b *pgx.Batch, partnerID string, rows []Row) error {
	var id, class, typeCode, number, issueDate, function, test, state, revision, supersedes, supersededBy, cancelledBy, stamp, messageType,
		issuerID, issuerScheme, supplierID, supplierName, buyerID, buyerName, order, currency, dueDate column
	var lineTotal, allowances, charges, exclusive, tax, inclusive, prepaid, rounding, payable column
	var lines, packages, messageID, epoch, digest, reference, index, purgeOn, detail, segments column
	for i := range rows {
		r := &rows[i]
		d := r.Document
		id.id(d.ID)
		class.must(d.Class)
		typeCode.must(d.TypeCode)
		number.must(d.Number)
		issueDate.text(d.IssueDate)
		function.must(d.Function)
		test.boolean(d.Test)
		state.must(string(r.State))
		revision.integer(max(r.Revision, 1))
		supersedes.id(orNil(r.Supersedes))
		supersededBy.id(orNil(r.SupersededBy))
		cancelledBy.id(orNil(r.CancelledBy))
		stamp.must(r.Stamp)
		messageType.must(d.MessageType)
		issuerID.text(d.Issuer.Value)
		issuerScheme.text(d.Issuer.Scheme)
		supplierID.text(d.Supplier.ID)
		supplierName.text(d.Supplier.Name)
		buyerID.text(d.Buyer.ID)
		buyerName.text(d.Buyer.Name)
		order.text(d.OrderReference)
		currency.text(d.Currency)
		dueDate.text(d.DueDate)
		t := &d.Totals
		lineTotal.number(t.Lines)
		allowances.number(t.Allowances)
		charges.number(t.Charges)
		exclusive.number(t.TaxExclusive)
		tax.number(t.Tax)
		inclusive.number(t.TaxInclusive)
		prepaid.number(t.Prepaid)
		rounding.number(t.Rounding)
		payable.number(t.Payable)
		lines.integer(d.LineCount)
		packages.integer(d.PackageCount)
		messageID.must(r.MessageID)
		epoch.integer(r.Epoch)
		digest.bytes(r.MessageSHA256[:])
		reference.must(r.MessageReference)
		index.integer(r.MessageIndex)
		if r.PurgeOn == nil {
			purgeOn.null()
		} else {
			purgeOn.must(r.PurgeOn.Format(time.DateOnly))
		}
		detail.json(&d.Detail)
		segments.raw(d.Segments)
	}
	args, err := columns(append(make([]any, 0, 43), partnerID), &id, &class, &typeCode, &number, &issueDate, &function, &test, &state, &revision,
		&supersedes, &supersededBy, &cancelledBy, &stamp, &messageType, &issuerID, &issuerScheme, &supplierID, &supplierName, &buyerID, &buyerName,
		&order, &currency, &dueDate, &lineTotal, &allowances, &charges, &exclusive, &tax, &inclusive, &prepaid,
		&rounding, &payable, &lines, &packages, &messageID, &epoch, &digest, &reference, &index, &purgeOn, &detail, &segments)
	if err != nil {
		return err
	}
	b.Queue(insertDocuments, args...)
	return nil
}

// insertLines takes a column of the rows in each parameter.
const insertLines = `
insert into document_line (partner_id, ` + lineColumnNames + `)
select $1::text, ` + lineColumnNames + `
from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[],
  $11::numeric[], $12::text[], $13::numeric[], $14::numeric[], $15::numeric[], $16::text[], $17::numeric[], $18::text[], $19::numeric[], $20::text[], $21::text[],
  $22::text[], $23::date[], $24::jsonb[]) as l (` + lineColumnNames + `)`

const lineColumnNames = `document_id, line, line_no, sub_of, package, gtin, supplier_item, buyer_item, description,
  quantity, unit, ordered_quantity, price, price_basis, price_unit, net_amount, tax_category, tax_rate, order_reference, order_line,
  batch, best_before, rest`

// lineColumns holds lines until there are enough for a statement.
type lineColumns struct {
	id, line, no, subOf, pack, gtin, supplierItem, buyerItem, description, quantity, unit, ordered, price, basis, priceUnit, net, category, rate,
	order, orderLine, batch, bestBefore, rest column
	count int
}

func queueLines(b *pgx.Batch, partnerID string, rows []Row) error {
	c := &lineColumns{}
	for i := range rows {
		d := rows[i].Document
		for at := range d.Lines {
			c.add(d.ID, at+1, &d.Lines[at])
			if c.count == linesAtOnce {
				if err := c.queue(b, partnerID); err != nil {
					return err
				}
				c = &lineColumns{}
			}
		}
	}
	if c.count == 0 {
		return nil
	}
	return c.queue(b, partnerID)
}

func (c *lineColumns) add(id uuid.UUID, position int, l *Line) {
	c.count++
	c.id.id(id)
	c.line.integer(position)
	c.no.text(l.No)
	c.subOf.text(l.SubOf)
	c.pack.position(l.Package)
	c.gtin.text(l.GTIN)
	c.supplierItem.text(l.SupplierItem)
	c.buyerItem.text(l.BuyerItem)
	c.description.text(l.Description)
	c.quantity.number(l.Quantity)
	c.unit.text(l.Unit)
	c.ordered.number(l.Ordered)
	c.price.number(l.Price)
	c.basis.number(l.PriceBasis)
	c.priceUnit.text(l.PriceUnit)
	c.net.number(l.NetAmount)
	c.category.text(l.TaxCategory)
	c.rate.number(l.TaxRate)
	c.order.text(l.OrderReference)
	c.orderLine.text(l.OrderLine)
	c.batch.text(l.Batch)
	c.bestBefore.text(l.BestBefore)
	if l.Detail == nil {
		c.rest.null()
	} else {
		c.rest.json(l.Detail)
	}
}

func (c *lineColumns) queue(b *pgx.Batch, partnerID string) error {
	args, err := columns(append(make([]any, 0, 24), partnerID), &c.id, &c.line, &c.no, &c.subOf, &c.pack, &c.gtin, &c.supplierItem, &c.buyerItem,
		&c.description, &c.quantity, &c.unit, &c.ordered, &c.price, &c.basis, &c.priceUnit, &c.net, &c.category, &c.rate,
		&c.order, &c.orderLine, &c.batch, &c.bestBefore, &c.rest)
	if err != nil {
		return err
	}
	b.Queue(insertLines, args...)
	return nil
}

// insertPackages takes a column of the rows in each parameter.
const insertPackages = `
insert into document_package (partner_id, ` + packageColumnNames + `)
select $1::text, ` + packageColumnNames + `
from unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[],
  $10::text[], $11::boolean[], $12::text[], $13::numeric[], $14::text[], $15::jsonb[]) as p (` + packageColumnNames + `)`

const packageColumnNames = `document_id, package, parent, hierarchy_id, hierarchy_parent, level, type, quantity,
  sscc, sscc_valid, marks, gross_weight, weight_unit, rest`

func queuePackages(b *pgx.Batch, partnerID string, rows []Row) error {
	var id, position, parent, hierarchyID, hierarchyParent, level, kind, quantity, sscc, valid, marks, weight, unit, rest column
	count := 0
	for i := range rows {
		d := rows[i].Document
		for at := range d.Packages {
			p := &d.Packages[at]
			count++
			id.id(d.ID)
			position.integer(at + 1)
			parent.position(p.Parent)
			hierarchyID.text(p.HierarchyID)
			hierarchyParent.text(p.HierarchyParent)
			level.text(p.Level)
			kind.text(p.Type)
			quantity.number(p.Quantity)
			sscc.text(p.SSCC)
			if p.SSCC == "" {
				valid.null()
			} else {
				valid.boolean(p.SSCCValid)
			}
			marks.text(p.Marks)
			weight.number(p.GrossWeight)
			unit.text(p.WeightUnit)
			if p.Detail == nil {
				rest.null()
			} else {
				rest.json(p.Detail)
			}
		}
	}
	if count == 0 {
		return nil
	}
	args, err := columns(append(make([]any, 0, 15), partnerID), &id, &position, &parent, &hierarchyID, &hierarchyParent, &level, &kind, &quantity,
		&sscc, &valid, &marks, &weight, &unit, &rest)
	if err != nil {
		return err
	}
	b.Queue(insertPackages, args...)
	return nil
}

func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
