package dedup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Inbox reads keys for people: the API, the console, the command line.
type Inbox struct {
	Pool *pgxpool.Pool
}

// Get gives a key with all its variants, nil if it is unknown.
func (s Inbox) Get(ctx context.Context, r Ref) (*Key, error) {
	keys, err := Load(ctx, s.Pool, []Ref{r})
	if err != nil {
		return nil, fmt.Errorf("get key: %w", err)
	}
	return keys[r], nil
}
