package dedup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// FirstSeen gives, of a partner's keys that are known, when each came first.
func FirstSeen(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, partner string, keys []string) (map[string]time.Time, error) {
	rows, err := q.Query(ctx, `
		select message_id, first_at from inbox where partner_id = $1 and message_id = any($2)`, partner, keys)
	if err != nil {
		return nil, fmt.Errorf("look when keys came first: %w", err)
	}
	seen := map[string]time.Time{}
	var key string
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&key, &at}, func() error {
		seen[key] = at.UTC()
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look when keys came first: %w", err)
	}
	return seen, nil
}

// SeenSince gives which of a partner's interchange keys came at that time or later. Each
// stands for those too that have more behind it: with unique_per_day a number has a key for
// each day.
func SeenSince(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, partner string, keys []string, since time.Time) (map[string]bool, error) {
	rows, err := q.Query(ctx, `
		select k.key
		from unnest($2::text[]) as k (key)
		where exists (select from inbox where partner_id = $1 and message_id = k.key collate "C" and last_at >= $3)
			or exists (
				select from inbox
				where partner_id = $1 and message_id > k.key || ':' collate "C" and message_id < k.key || ';' collate "C" and last_at >= $3)`,
		partner, keys, since)
	if err != nil {
		return nil, fmt.Errorf("look which keys came: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look which keys came: %w", err)
	}
	seen := map[string]bool{}
	for _, k := range list {
		seen[k] = true
	}
	return seen, nil
}
