package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotFound says that there is no such document under that partner.
var ErrNotFound = errors.New("no such document")

// Store reads documents.
type Store struct {
	Pool *pgxpool.Pool
}

// Filter selects documents. Partner is required; what else is empty selects
// nothing out.
type Filter struct {
	Partner   string
	Number    string
	Class     string
	MessageID string // interchange key that brought it
	SSCC      string // despatch advices that name this logistic unit
	Live      bool   // only those that count: posted, not replaced, not cancelled, no cancellation, no test
	After     string // Page.Next of the page before
	Limit     int    // 1 to 500; 0 means 50
}

// Stored is a document as the database holds it.
type Stored struct {
	Partner          string     `json:"partner"`
	State            State      `json:"state"`
	Live             bool       `json:"live"`
	Revision         int        `json:"revision"`
	Supersedes       *uuid.UUID `json:"supersedes,omitempty"`
	SupersededBy     *uuid.UUID `json:"superseded_by,omitempty"`
	CancelledBy      *uuid.UUID `json:"cancelled_by,omitempty"`
	Stamp            string     `json:"stamp"`
	MessageID        string     `json:"message_id"`
	Epoch            int        `json:"epoch"`
	MessageSHA256    string     `json:"message_sha256"` // hex
	MessageReference string     `json:"message_reference"`
	MessageIndex     int        `json:"message_index"`
	ReceivedAt       time.Time  `json:"received_at"`
	PurgeOn          string     `json:"purge_on,omitempty"` // CCYY-MM-DD
	Report           *Report    `json:"report,omitempty"`   // the last one; nil: nothing was reported
	Document
}

// Page is one page of a list, newest first. List leaves out lines, packages and
// detail.
type Page struct {
	Documents []Stored `json:"documents"`
	Next      string   `json:"next,omitempty"` // "" on the last page
}

// storedColumns are read by scan, in its order.
const storedColumns = `d.partner_id, d.document_id, d.class, d.type_code, d.number, d.issue_date::text, d.function_code, d.test,
  d.state, d.revision, d.supersedes, d.superseded_by, d.cancelled_by, d.stamp, d.message_type, d.issuer_id, d.issuer_scheme,
  d.supplier_id, d.supplier_name, d.buyer_id, d.buyer_name, d.order_reference, d.currency, d.due_date::text,
  d.line_total, d.allowance_total, d.charge_total, d.tax_exclusive, d.tax_total, d.tax_inclusive, d.prepaid, d.rounding, d.payable,
  d.line_count, d.package_count, d.message_id, d.epoch, encode(d.message_sha256, 'hex'), d.message_reference, d.message_index,
  d.received_at, d.purge_on::text, d.report, d.reported_at, d.reported_by, d.report_note`

func (s *Stored) scan(row pgx.CollectableRow, more ...any) error {
	t := &s.Totals
	var r Report
	var reported *time.Time
	err := row.Scan(append([]any{&s.Partner, &s.ID, &s.Class, &s.TypeCode, &s.Number, orEmpty{&s.IssueDate}, &s.Function, &s.Test,
		&s.State, &s.Revision, &s.Supersedes, &s.SupersededBy, &s.CancelledBy, &s.Stamp, &s.MessageType, orEmpty{&s.Issuer.Value}, orEmpty{&s.Issuer.Scheme},
		orEmpty{&s.Supplier.ID}, orEmpty{&s.Supplier.Name}, orEmpty{&s.Buyer.ID}, orEmpty{&s.Buyer.Name}, orEmpty{&s.OrderReference}, orEmpty{&s.Currency}, orEmpty{&s.DueDate},
		&t.Lines, &t.Allowances, &t.Charges, &t.TaxExclusive, &t.Tax, &t.TaxInclusive, &t.Prepaid, &t.Rounding, &t.Payable,
		&s.LineCount, &s.PackageCount, &s.MessageID, &s.Epoch, &s.MessageSHA256, &s.MessageReference, &s.MessageIndex,
		&s.ReceivedAt, orEmpty{&s.PurgeOn}, &r.Is, &reported, &r.By, &r.Note}, more...)...)
	if reported != nil {
		r.At = reported.UTC()
		s.Report = &r
	}
	s.Live = s.State == StateLive && s.SupersededBy == nil && s.CancelledBy == nil && !s.Test && s.Document.Revision() != RevisionCancel
	return err
}

// orEmpty scans a text that may be null.
type orEmpty struct{ s *string }

// ScanText implements pgtype.TextScanner.
func (o orEmpty) ScanText(v pgtype.Text) error {
	*o.s = v.String
	return nil
}

// List gives documents, newest first.
func (s Store) List(ctx context.Context, f Filter) (Page, error) {
	var after uuid.UUID
	if f.After != "" {
		id, err := uuid.Parse(f.After)
		if err != nil {
			return Page{}, fmt.Errorf("list documents: cursor %q is not one of ours", f.After)
		}
		after = id
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	limit = min(limit, 500)
	sql, args := listSQL(f, after, limit+1)
	rows, err := s.Pool.Query(ctx, sql, args...)
	if err != nil {
		return Page{}, fmt.Errorf("list documents of %s: %w", f.Partner, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Stored, err error) {
		return d, d.scan(row)
	})
	if err != nil {
		return Page{}, fmt.Errorf("list documents of %s: %w", f.Partner, err)
	}
	page := Page{Documents: list}
	if len(list) > limit {
		page.Documents = list[:limit]
		page.Next = list[limit-1].ID.String()
	}
	return page, nil
}

// listSQL writes only the conditions asked for, so that each list has the index
// that fits it: PostgreSQL plans "x = $2 or $2 is null" for neither.
func listSQL(f Filter, after uuid.UUID, limit int) (string, []any) {
	args := []any{f.Partner}
	where := []string{"d.partner_id = $1"}
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(len(args))))
	}
	if f.Number != "" {
		add("d.number = ?", f.Number)
	}
	if f.Class != "" {
		add("d.class = ?", f.Class)
	}
	if f.MessageID != "" {
		add("d.message_id = ?", f.MessageID)
	}
	if f.SSCC != "" {
		add("d.document_id in (select p.document_id from document_package p where p.partner_id = $1 and p.sscc = ?)", f.SSCC)
	}
	if f.Live {
		where = append(where, "d.state = 'live' and d.superseded_by is null and d.cancelled_by is null and not d.test and d.function_code not in ('1', '17')")
	}
	if after != uuid.Nil {
		add("d.document_id < ?", after)
	}
	args = append(args, limit)
	return `select ` + storedColumns + `
from document d
where ` + strings.Join(where, "\n  and ") + `
order by d.document_id desc
limit $` + strconv.Itoa(len(args)), args
}

// Get gives one document with its lines and packages.
func (s Store) Get(ctx context.Context, partner string, id uuid.UUID) (*Stored, error) {
	rows, err := s.Pool.Query(ctx, `select `+storedColumns+`, d.detail, d.segments
from document d
where d.partner_id = $1 and d.document_id = $2`, partner, id)
	if err != nil {
		return nil, fmt.Errorf("document %s: %w", id, err)
	}
	d, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (*Stored, error) {
		d := &Stored{}
		var detail, segments []byte
		if err := d.scan(row, &detail, &segments); err != nil {
			return nil, err
		}
		d.Segments = segments
		return d, json.Unmarshal(detail, &d.Detail)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("document %s of %s: %w", id, partner, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("document %s: %w", id, err)
	}
	if d.Lines, err = s.lines(ctx, partner, id); err != nil {
		return nil, fmt.Errorf("lines of document %s: %w", id, err)
	}
	if d.Packages, err = s.packages(ctx, partner, id); err != nil {
		return nil, fmt.Errorf("packages of document %s: %w", id, err)
	}
	return d, nil
}

func (s Store) lines(ctx context.Context, partner string, id uuid.UUID) ([]Line, error) {
	rows, err := s.Pool.Query(ctx, `
select line_no, sub_of, coalesce(package, 0), gtin, supplier_item, buyer_item, description, quantity, unit, ordered_quantity, price,
  price_basis, price_unit, net_amount, tax_category, tax_rate, order_reference, order_line, batch, best_before::text, rest
from document_line
where partner_id = $1 and document_id = $2
order by line`, partner, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Line, err error) {
		var rest []byte
		err = row.Scan(orEmpty{&l.No}, orEmpty{&l.SubOf}, &l.Package, orEmpty{&l.GTIN}, orEmpty{&l.SupplierItem}, orEmpty{&l.BuyerItem}, orEmpty{&l.Description},
			&l.Quantity, orEmpty{&l.Unit}, &l.Ordered, &l.Price,
			&l.PriceBasis, orEmpty{&l.PriceUnit}, &l.NetAmount, orEmpty{&l.TaxCategory}, &l.TaxRate,
			orEmpty{&l.OrderReference}, orEmpty{&l.OrderLine}, orEmpty{&l.Batch}, orEmpty{&l.BestBefore}, &rest)
		if err == nil && rest != nil {
			err = json.Unmarshal(rest, &l.Detail)
		}
		return l, err
	})
}

func (s Store) packages(ctx context.Context, partner string, id uuid.UUID) ([]Package, error) {
	rows, err := s.Pool.Query(ctx, `
select coalesce(parent, 0), hierarchy_id, hierarchy_parent, level, type, quantity, sscc, coalesce(sscc_valid, false), marks, gross_weight,
  weight_unit, rest
from document_package
where partner_id = $1 and document_id = $2
order by package`, partner, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Package, err error) {
		var rest []byte
		err = row.Scan(&p.Parent, orEmpty{&p.HierarchyID}, orEmpty{&p.HierarchyParent}, orEmpty{&p.Level}, orEmpty{&p.Type}, &p.Quantity,
			orEmpty{&p.SSCC}, &p.SSCCValid, orEmpty{&p.Marks}, &p.GrossWeight, orEmpty{&p.WeightUnit}, &rest)
		if err == nil && rest != nil {
			err = json.Unmarshal(rest, &p.Detail)
		}
		return p, err
	})
}
