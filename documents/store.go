package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
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

// List gives documents, newest first. Where no index finds few by a condition, a page
// looks at f.Look documents, and may be shorter than f.Limit, or empty, with more behind
// it.
func (s Store) List(ctx context.Context, f Filter) (Page, error) {
	page, err := s.list(ctx, f)
	if err != nil {
		return Page{}, fmt.Errorf("list documents of %s: %w", f.Partner, err)
	}
	return page, nil
}

func (s Store) list(ctx context.Context, f Filter) (page Page, err error) {
	var after uuid.UUID
	if f.After != "" {
		if after, err = uuid.Parse(f.After); err != nil {
			return page, fmt.Errorf("cursor %q is not one of ours", f.After)
		}
	}
	few := false
	if f.sifts() {
		look := cmp.Or(f.Look, defaultLook)
		if few, err = s.few(ctx, &f, look); err != nil {
			return page, err
		}
		if !few {
			f.last = after
			if f.first, err = s.reach(ctx, f, look); err != nil {
				return page, err
			}
		}
	}
	c := f.conditions()
	if after != uuid.Nil {
		c.add("d.document_id < ?", after)
	}
	if f.first != uuid.Nil {
		c.add("d.document_id >= ?", f.first)
		page.Next = f.first.String()
	}
	limit := min(cmp.Or(max(f.Limit, 0), 50), 500)
	sql, args := listSQL(c, limit+1, few)
	rows, err := s.Pool.Query(ctx, sql, args...)
	if err != nil {
		return page, err
	}
	page.Documents, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Stored, err error) {
		return d, d.scan(row)
	})
	if len(page.Documents) > limit {
		page.Documents = page.Documents[:limit]
		page.Next = page.Documents[limit-1].ID.String()
	}
	return page, err
}

// listSQL gives the statement of a page. Where few are found by an index, they are read
// and sorted: the planner, which takes what is asked for to be spread evenly over the
// years, would go back by the key until it has a page, through all that came since. It
// cannot where it sorts by what the key is not of.
func listSQL(c *conditions, limit int, few bool) (sql string, args []any) {
	order := "d.document_id"
	if few {
		order = "uuid_send(d.document_id)" // whose bytes are in the same order
	}
	return `select ` + storedColumns + `
from document d
where ` + c.String() + `
order by ` + order + ` desc
limit $` + strconv.Itoa(len(c.args)+1), append(c.args, limit)
}

// defaultLook is how many documents a page looks at, if nothing else is said.
const defaultLook = 50_000

// reach gives the last document that a page looks at, the zero id where it looks at all.
func (s Store) reach(ctx context.Context, f Filter, look int) (id uuid.UUID, err error) {
	c := f.window()
	if f.last != uuid.Nil {
		c.add("d.document_id < ?", f.last)
	}
	// The key alone is read: the last one, and whether there is another behind it.
	rows, err := s.Pool.Query(ctx, `select d.document_id from document d
where `+c.String()+`
order by d.document_id desc
offset $`+strconv.Itoa(len(c.args)+1)+` limit 2`, append(c.args, look-1)...)
	if err != nil {
		return id, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(ids) < 2 {
		return id, err
	}
	return ids[0], nil
}
