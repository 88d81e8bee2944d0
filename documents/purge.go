package documents

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// Due is a document whose day has passed.
type Due struct {
	Partner   string
	ID        uuid.UUID
	Class     string
	MessageID string
	Received  time.Time
	State     State
}

const dueDocument = `
	select d.partner_id, d.document_id, d.class, d.message_id, d.received_at, d.state from document d
	where d.purge_on < $1::date`

func scanDue(row pgx.CollectableRow) (d Due, err error) {
	return d, row.Scan(&d.Partner, &d.ID, &d.Class, &d.MessageID, &d.Received, &d.State)
}

// TakeDue locks documents whose day has passed, past those that somebody works on.
func TakeDue(ctx context.Context, tx pgx.Tx, today time.Time, limit int) ([]Due, error) {
	rows, err := tx.Query(ctx, dueDocument+` order by d.purge_on limit $2 for update of d skip locked`, today, limit)
	if err != nil {
		return nil, fmt.Errorf("take documents that are due: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanDue)
	if err != nil {
		return nil, fmt.Errorf("take documents that are due: %w", err)
	}
	return list, nil
}

// PagesDue hands on every document whose day has passed, in pages of one statement.
func PagesDue(ctx context.Context, tx pgx.Tx, today time.Time, page int, each func([]Due) error) error {
	return months.Pages(ctx, tx, dueDocument, []any{today}, page, scanDue, each)
}

// PagesOf hands on all documents of a partner.
func PagesOf(ctx context.Context, tx pgx.Tx, partner string, page int, each func([]Due) error) error {
	return months.Pages(ctx, tx, `
		select d.partner_id, d.document_id, d.class, d.message_id, d.received_at, d.state from document d where d.partner_id = $1`, []any{partner}, page, scanDue, each)
}

// parts are the tables of a document, what hangs on it first.
var parts = []struct{ kind, table string }{
	{"document_lines", "document_line"}, {"document_packages", "document_package"}, {"documents", "document"},
}

// Goes says what would go with documents, by partner and kind; remove: and removes it.
func Goes(ctx context.Context, q months.Querier, ids []Due, remove bool) (map[string]map[string]months.Has, error) {
	var partners []string
	var documents []uuid.UUID
	for _, d := range ids {
		partners, documents = append(partners, d.Partner), append(documents, d.ID)
	}
	has := map[string]map[string]months.Has{}
	for _, p := range parts {
		sql := `
			select t.partner_id, count(*), sum(pg_column_size(t.*))::bigint
			from ` + p.table + ` t join unnest($1::text[], $2::uuid[]) as k (partner_id, document_id)
				on t.partner_id = k.partner_id collate "C" and t.document_id = k.document_id
			group by 1`
		if remove {
			sql = `
				with gone as (
					delete from ` + p.table + ` t using unnest($1::text[], $2::uuid[]) as k (partner_id, document_id)
					where t.partner_id = k.partner_id collate "C" and t.document_id = k.document_id
					returning t.partner_id, pg_column_size(t.*) as bytes)
				select partner_id, count(*), sum(bytes)::bigint from gone group by 1`
		}
		rows, err := q.Query(ctx, sql, partners, documents)
		if err != nil {
			return nil, fmt.Errorf("purge %s: %w", p.kind, err)
		}
		var partner string
		var h months.Has
		if _, err := pgx.ForEachRow(rows, []any{&partner, &h.Rows, &h.Bytes}, func() error {
			if has[partner] == nil {
				has[partner] = map[string]months.Has{}
			}
			has[partner][p.kind] = h
			return nil
		}); err != nil {
			return nil, fmt.Errorf("purge %s: %w", p.kind, err)
		}
	}
	return has, nil
}

// PurgeOn sets the days of documents of a partner; nil: they are kept.
func PurgeOn(ctx context.Context, q months.Querier, partner string, ids []uuid.UUID, days []*time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := q.Exec(ctx, `
		update document d set purge_on = k.day from unnest($2::uuid[], $3::date[]) as k (document_id, day)
		where d.partner_id = $1 and d.document_id = k.document_id and d.purge_on is distinct from k.day`, partner, ids, days); err != nil {
		return fmt.Errorf("set the days of documents of %s: %w", partner, err)
	}
	return nil
}

// PageOf locks documents of a partner in order of id, those after one.
func PageOf(ctx context.Context, tx pgx.Tx, partner string, after uuid.UUID, limit int) ([]Due, error) {
	rows, err := tx.Query(ctx, `
		select d.partner_id, d.document_id, d.class, d.message_id, d.received_at, d.state from document d
		where d.partner_id = $1 and d.document_id > $2 order by d.document_id limit $3 for update of d skip locked`, partner, after, limit)
	if err == nil {
		var list []Due
		if list, err = pgx.CollectRows(rows, scanDue); err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("read documents of %s: %w", partner, err)
}
