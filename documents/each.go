package documents

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// What Each holds in memory at a time, and looks at in one statement.
const (
	eachDocuments = 100
	eachWeight    = 5_000 // lines, packages, and each 256 bytes of what is stored as jsonb
	eachLook      = 20_000
)

// Each hands the documents of f's partner to visit, the oldest first, with detail, lines
// and packages where they are to be whole. It holds a few in memory, however many there
// are, and no connection while visit runs, which is called with none now and then while
// it looks; f.Limit is not asked.
//
// Each document that was there when it began comes once, if f selects it when its turn
// comes; what is received meanwhile does not come. What such a document replaces or
// cancels is live still: else neither would come. f.After is the id behind which to begin.
func (s Store) Each(ctx context.Context, f Filter, whole bool, visit func([]Stored) error) error {
	e := &each{s: s, f: f}
	if f.After != "" {
		id, err := uuid.Parse(f.After)
		if err != nil {
			return fmt.Errorf("documents of %s: cursor %q is not one of ours", f.Partner, f.After)
		}
		e.after = id
	}
	if err := e.begin(ctx); err != nil {
		return fmt.Errorf("documents of %s: %w", f.Partner, err)
	}
	for e.after != e.last {
		ids, err := e.next(ctx)
		if err != nil {
			return fmt.Errorf("documents of %s behind %s: %w", f.Partner, e.after, err)
		}
		if len(ids) == 0 {
			if err := visit(nil); err != nil {
				return err
			}
			continue
		}
		list, err := s.load(ctx, f.Partner, ids, whole)
		if err != nil {
			return fmt.Errorf("documents of %s behind %s: %w", f.Partner, e.after, err)
		}
		if err := visit(list); err != nil {
			return err
		}
	}
	return nil
}

// each is where a run through a partner's documents stands.
type each struct {
	s     Store
	f     Filter
	after uuid.UUID // the last document that was looked at
	until uuid.UUID // the last one that this statement looks at
	last  uuid.UUID // the last one that there was when it began
}

// begin finds the partner's last document.
func (e *each) begin(ctx context.Context) error {
	e.until = e.after
	err := e.s.Pool.QueryRow(ctx, `
select document_id from document where partner_id = $1 order by document_id desc limit 1`, e.f.Partner).Scan(&e.last)
	if errors.Is(err, pgx.ErrNoRows) {
		e.last = e.after
		return nil
	}
	e.f.known = e.last
	return err
}

// next gives the next few documents, and moves after behind them. None: of those that
// were looked at none was selected.
func (e *each) next(ctx context.Context) (ids []uuid.UUID, err error) {
	if e.after == e.until {
		if err := e.reach(ctx); err != nil {
			return nil, err
		}
	}
	e.f.first, e.f.last = e.after, e.until
	c := e.f.conditions()
	c.add("d.document_id > ? and d.document_id <= ?", e.after, e.until)
	rows, err := e.s.Pool.Query(ctx, `select d.document_id,
  d.line_count + d.package_count + (coalesce(pg_column_size(d.detail), 0) + coalesce(pg_column_size(d.segments), 0)) / 256
from document d
where `+c.String()+`
order by d.document_id
limit $`+strconv.Itoa(len(c.args)+1), append(c.args, eachDocuments)...)
	if err != nil {
		return nil, err
	}
	weight, full := 0, false
	var id uuid.UUID
	var w int
	found := 0
	_, err = pgx.ForEachRow(rows, []any{&id, &w}, func() error {
		found++
		if full = full || len(ids) > 0 && weight+w > eachWeight; !full {
			weight, ids = weight+w, append(ids, id)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case full || found == eachDocuments:
		e.after = ids[len(ids)-1]
	default:
		e.after = e.until
	}
	return ids, nil
}

// reach finds how far the following statements look.
func (e *each) reach(ctx context.Context) error {
	e.until = e.last
	c := e.f.window()
	c.add("d.document_id > ? and d.document_id <= ?", e.after, e.last)
	// The key alone is read.
	err := e.s.Pool.QueryRow(ctx, `select d.document_id from document d
where `+c.String()+`
order by d.document_id
offset $`+strconv.Itoa(len(c.args)+1)+` limit 1`, append(c.args, eachLook-1)...).Scan(&e.until)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
