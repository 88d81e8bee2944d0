package documents

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
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
select $1::text, unnest($2::uuid[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::date[]), unnest($7::text[]),
  unnest($8::boolean[]), unnest($9::text[]), unnest($10::int[]), unnest($11::uuid[]), unnest($12::uuid[]), unnest($13::uuid[]), unnest($14::text[]),
  unnest($15::text[]), unnest($16::text[]), unnest($17::text[]), unnest($18::text[]), unnest($19::text[]), unnest($20::text[]), unnest($21::text[]),
  unnest($22::text[]), unnest($23::text[]), unnest($24::date[]), unnest($25::numeric[]), unnest($26::numeric[]), unnest($27::numeric[]),
  unnest($28::numeric[]), unnest($29::numeric[]), unnest($30::numeric[]), unnest($31::numeric[]), unnest($32::numeric[]), unnest($33::numeric[]),
  unnest($34::int[]), unnest($35::int[]), unnest($36::text[]), unnest($37::int[]), unnest($38::bytea[]), unnest($39::text[]), unnest($40::int[]),
  unnest($41::date[]), unnest($42::jsonb[]), unnest($43::jsonb[])`

const documentColumnNames = `document_id, class, type_code, number, issue_date, function_code, test, state, revision,
  supersedes, superseded_by, cancelled_by, stamp, message_type, issuer_id, issuer_scheme, supplier_id, supplier_name, buyer_id, buyer_name,
  order_reference, currency, due_date, line_total, allowance_total, charge_total, tax_exclusive, tax_total, tax_inclusive, prepaid,
  rounding, payable, line_count, package_count, message_id, epoch, message_sha256, message_reference, message_index, purge_on, detail, segments`

func queueDocuments(b *pgx.Batch, partnerID string, rows []Row) error {
	var id, class, typeCode, number, issueDate, function, test, state, revision, supersedes, supersededBy, cancelledBy, stamp, messageType,
		issuerID, issuerScheme, supplierID, supplierName, buyerID, buyerName, order, currency, dueDate columns.Column
	var lineTotal, allowances, charges, exclusive, tax, inclusive, prepaid, rounding, payable columns.Column
	var lines, packages, messageID, epoch, digest, reference, index, purgeOn, detail, segments columns.Column
	for i := range rows {
		r := &rows[i]
		d := r.Document
		id.UUID(d.ID)
		class.Text(d.Class)
		typeCode.Text(d.TypeCode)
		number.Text(d.Number)
		issueDate.Day(d.IssueDate)
		function.Text(d.Function)
		test.Bool(d.Test)
		state.Text(string(r.State))
		revision.Int4(int32(max(r.Revision, 1)))
		supersedes.UUID(orNil(r.Supersedes))
		supersededBy.UUID(orNil(r.SupersededBy))
		cancelledBy.UUID(orNil(r.CancelledBy))
		stamp.Text(r.Stamp)
		messageType.Text(d.MessageType)
		issuerID.TextOrNull(d.Issuer.Value)
		issuerScheme.TextOrNull(d.Issuer.Scheme)
		supplierID.TextOrNull(d.Supplier.ID)
		supplierName.TextOrNull(d.Supplier.Name)
		buyerID.TextOrNull(d.Buyer.ID)
		buyerName.TextOrNull(d.Buyer.Name)
		order.TextOrNull(d.OrderReference)
		currency.TextOrNull(d.Currency)
		dueDate.Day(d.DueDate)
		t := &d.Totals
		addNumber(&lineTotal, t.Lines)
		addNumber(&allowances, t.Allowances)
		addNumber(&charges, t.Charges)
		addNumber(&exclusive, t.TaxExclusive)
		addNumber(&tax, t.Tax)
		addNumber(&inclusive, t.TaxInclusive)
		addNumber(&prepaid, t.Prepaid)
		addNumber(&rounding, t.Rounding)
		addNumber(&payable, t.Payable)
		lines.Int4(int32(d.LineCount))
		packages.Int4(int32(d.PackageCount))
		messageID.Text(r.MessageID)
		epoch.Int4(int32(r.Epoch))
		digest.Bytes(r.MessageSHA256[:])
		reference.Text(r.MessageReference)
		index.Int4(int32(r.MessageIndex))
		if r.PurgeOn == nil {
			purgeOn.Null()
		} else {
			purgeOn.Date(*r.PurgeOn)
		}
		detail.Marshal(&d.Detail)
		segments.JSON(d.Segments)
	}
	return queue(b, insertDocuments, partnerID, &id, &class, &typeCode, &number, &issueDate, &function, &test, &state, &revision,
		&supersedes, &supersededBy, &cancelledBy, &stamp, &messageType, &issuerID, &issuerScheme, &supplierID, &supplierName, &buyerID, &buyerName,
		&order, &currency, &dueDate, &lineTotal, &allowances, &charges, &exclusive, &tax, &inclusive, &prepaid,
		&rounding, &payable, &lines, &packages, &messageID, &epoch, &digest, &reference, &index, &purgeOn, &detail, &segments)
}

// insertLines takes a column of the rows in each parameter.
const insertLines = `
insert into document_line (partner_id, ` + lineColumnNames + `)
select $1::text, unnest($2::uuid[]), unnest($3::int[]), unnest($4::text[]), unnest($5::text[]), unnest($6::int[]), unnest($7::text[]),
  unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), unnest($11::numeric[]), unnest($12::text[]), unnest($13::numeric[]),
  unnest($14::numeric[]), unnest($15::numeric[]), unnest($16::text[]), unnest($17::numeric[]), unnest($18::text[]), unnest($19::numeric[]),
  unnest($20::text[]), unnest($21::text[]), unnest($22::text[]), unnest($23::date[]), unnest($24::jsonb[])`

const lineColumnNames = `document_id, line, line_no, sub_of, package, gtin, supplier_item, buyer_item, description,
  quantity, unit, ordered_quantity, price, price_basis, price_unit, net_amount, tax_category, tax_rate, order_reference, order_line,
  batch, best_before, rest`

// lineColumns holds lines until there are enough for a statement.
type lineColumns struct {
	id, line, no, subOf, pack, gtin, supplierItem, buyerItem, description, quantity, unit, ordered, price, basis, priceUnit, net, category, rate,
	order, orderLine, batch, bestBefore, rest columns.Column
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
	c.id.UUID(id)
	c.line.Int4(int32(position))
	c.no.TextOrNull(l.No)
	c.subOf.TextOrNull(l.SubOf)
	addPosition(&c.pack, l.Package)
	c.gtin.TextOrNull(l.GTIN)
	c.supplierItem.TextOrNull(l.SupplierItem)
	c.buyerItem.TextOrNull(l.BuyerItem)
	c.description.TextOrNull(l.Description)
	addNumber(&c.quantity, l.Quantity)
	c.unit.TextOrNull(l.Unit)
	addNumber(&c.ordered, l.Ordered)
	addNumber(&c.price, l.Price)
	addNumber(&c.basis, l.PriceBasis)
	c.priceUnit.TextOrNull(l.PriceUnit)
	addNumber(&c.net, l.NetAmount)
	c.category.TextOrNull(l.TaxCategory)
	addNumber(&c.rate, l.TaxRate)
	c.order.TextOrNull(l.OrderReference)
	c.orderLine.TextOrNull(l.OrderLine)
	c.batch.TextOrNull(l.Batch)
	c.bestBefore.Day(l.BestBefore)
	if l.Detail == nil {
		c.rest.Null()
	} else {
		c.rest.Marshal(l.Detail)
	}
}

func (c *lineColumns) queue(b *pgx.Batch, partnerID string) error {
	return queue(b, insertLines, partnerID, &c.id, &c.line, &c.no, &c.subOf, &c.pack, &c.gtin, &c.supplierItem, &c.buyerItem,
		&c.description, &c.quantity, &c.unit, &c.ordered, &c.price, &c.basis, &c.priceUnit, &c.net, &c.category, &c.rate,
		&c.order, &c.orderLine, &c.batch, &c.bestBefore, &c.rest)
}

// insertPackages takes a column of the rows in each parameter.
const insertPackages = `
insert into document_package (partner_id, ` + packageColumnNames + `)
select $1::text, unnest($2::uuid[]), unnest($3::int[]), unnest($4::int[]), unnest($5::text[]), unnest($6::text[]), unnest($7::text[]),
  unnest($8::text[]), unnest($9::numeric[]), unnest($10::text[]), unnest($11::boolean[]), unnest($12::text[]), unnest($13::numeric[]),
  unnest($14::text[]), unnest($15::jsonb[])`

const packageColumnNames = `document_id, package, parent, hierarchy_id, hierarchy_parent, level, type, quantity,
  sscc, sscc_valid, marks, gross_weight, weight_unit, rest`

func queuePackages(b *pgx.Batch, partnerID string, rows []Row) error {
	var id, position, parent, hierarchyID, hierarchyParent, level, kind, quantity, sscc, valid, marks, weight, unit, rest columns.Column
	count := 0
	for i := range rows {
		d := rows[i].Document
		for at := range d.Packages {
			p := &d.Packages[at]
			count++
			id.UUID(d.ID)
			position.Int4(int32(at + 1))
			addPosition(&parent, p.Parent)
			hierarchyID.TextOrNull(p.HierarchyID)
			hierarchyParent.TextOrNull(p.HierarchyParent)
			level.TextOrNull(p.Level)
			kind.TextOrNull(p.Type)
			addNumber(&quantity, p.Quantity)
			sscc.TextOrNull(p.SSCC)
			if p.SSCC == "" {
				valid.Null()
			} else {
				valid.Bool(p.SSCCValid)
			}
			marks.TextOrNull(p.Marks)
			addNumber(&weight, p.GrossWeight)
			unit.TextOrNull(p.WeightUnit)
			if p.Detail == nil {
				rest.Null()
			} else {
				rest.Marshal(p.Detail)
			}
		}
	}
	if count == 0 {
		return nil
	}
	return queue(b, insertPackages, partnerID, &id, &position, &parent, &hierarchyID, &hierarchyParent, &level, &kind, &quantity,
		&sscc, &valid, &marks, &weight, &unit, &rest)
}

// queue queues a statement unless a column of it has an error.
func queue(b *pgx.Batch, sql string, args ...any) error {
	if err := columns.Err(args...); err != nil {
		return err
	}
	columns.Queue(b, sql, args...)
	return nil
}

func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
