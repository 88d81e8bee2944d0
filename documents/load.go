package documents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Get gives one document with its lines and packages.
func (s Store) Get(ctx context.Context, partner string, id uuid.UUID) (*Stored, error) {
	list, err := s.load(ctx, partner, []uuid.UUID{id}, true)
	if err != nil {
		return nil, fmt.Errorf("document %s: %w", id, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("document %s of %s: %w", id, partner, ErrNotFound)
	}
	return &list[0], nil
}

// load gives documents, the oldest first, those that are there; with detail, lines and
// packages where they are to be whole.
func (s Store) load(ctx context.Context, partner string, ids []uuid.UUID, whole bool) ([]Stored, error) {
	rest := `d.detail, d.segments`
	if !whole {
		rest = `'{}'::jsonb, null::jsonb`
	}
	rows, err := s.Pool.Query(ctx, `select `+storedColumns+`, `+rest+`
from document d
where d.partner_id = $1 and d.document_id = any($2)
order by d.document_id`, partner, ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Stored, err error) {
		var detail, segments []byte
		if err := d.scan(row, &detail, &segments); err != nil {
			return d, err
		}
		d.Segments = segments
		return d, json.Unmarshal(detail, &d.Detail)
	})
	if err != nil || !whole {
		return list, err
	}
	of := make(map[uuid.UUID]*Stored, len(list))
	for i := range list {
		of[list[i].ID] = &list[i]
	}
	if err := s.lines(ctx, partner, ids, of); err != nil {
		return nil, fmt.Errorf("lines: %w", err)
	}
	if err := s.packages(ctx, partner, ids, of); err != nil {
		return nil, fmt.Errorf("packages: %w", err)
	}
	return list, nil
}

func (s Store) lines(ctx context.Context, partner string, ids []uuid.UUID, of map[uuid.UUID]*Stored) error {
	rows, err := s.Pool.Query(ctx, `
select document_id, line_no, sub_of, coalesce(package, 0), gtin, supplier_item, buyer_item, description, quantity, unit, ordered_quantity, price,
  price_basis, price_unit, net_amount, tax_category, tax_rate, order_reference, order_line, batch, best_before::text, rest
from document_line
where partner_id = $1 and document_id = any($2)
order by document_id, line`, partner, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		var l Line
		var rest []byte
		err := rows.Scan(&id, orEmpty{&l.No}, orEmpty{&l.SubOf}, &l.Package, orEmpty{&l.GTIN}, orEmpty{&l.SupplierItem}, orEmpty{&l.BuyerItem}, orEmpty{&l.Description},
			&l.Quantity, orEmpty{&l.Unit}, &l.Ordered, &l.Price,
			&l.PriceBasis, orEmpty{&l.PriceUnit}, &l.NetAmount, orEmpty{&l.TaxCategory}, &l.TaxRate,
			orEmpty{&l.OrderReference}, orEmpty{&l.OrderLine}, orEmpty{&l.Batch}, orEmpty{&l.BestBefore}, &rest)
		if err == nil && rest != nil {
			err = json.Unmarshal(rest, &l.Detail)
		}
		if err != nil {
			return err
		}
		if d := of[id]; d != nil {
			d.Lines = append(d.Lines, l)
		}
	}
	return rows.Err()
}

func (s Store) packages(ctx context.Context, partner string, ids []uuid.UUID, of map[uuid.UUID]*Stored) error {
	rows, err := s.Pool.Query(ctx, `
select document_id, coalesce(parent, 0), hierarchy_id, hierarchy_parent, level, type, quantity, sscc, coalesce(sscc_valid, false), marks,
  gross_weight, weight_unit, rest
from document_package
where partner_id = $1 and document_id = any($2)
order by document_id, package`, partner, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		var p Package
		var rest []byte
		err := rows.Scan(&id, &p.Parent, orEmpty{&p.HierarchyID}, orEmpty{&p.HierarchyParent}, orEmpty{&p.Level}, orEmpty{&p.Type}, &p.Quantity,
			orEmpty{&p.SSCC}, &p.SSCCValid, orEmpty{&p.Marks}, &p.GrossWeight, orEmpty{&p.WeightUnit}, &rest)
		if err == nil && rest != nil {
			err = json.Unmarshal(rest, &p.Detail)
		}
		if err != nil {
			return err
		}
		if d := of[id]; d != nil {
			d.Packages = append(d.Packages, p)
		}
	}
	return rows.Err()
}
