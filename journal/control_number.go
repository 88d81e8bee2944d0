package journal

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Numbers gives the control references of our acknowledgements, from blocks
// that each process leases: a counter row in the ingress transaction would
// halve one partner's rate. Gaps are legal (ISO 9735-1 asks for uniqueness).
type Numbers struct {
	Pool  *pgxpool.Pool
	Block int64 // numbers leased at once; 0 is 100

	mu     sync.Mutex
	leased map[string]*block
}

// block is what was leased for a partner and scope. Its lock is held while the
// database is asked for more, so that nobody else waits for it.
type block struct {
	mu        sync.Mutex
	next, end int64
}

// Next gives a number that no process gave before for partner and scope.
func (n *Numbers) Next(ctx context.Context, partner, scope string) (int64, error) {
	b := n.block(partner + "\t" + scope)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == b.end {
		size := n.Block
		if size == 0 {
			size = 100
		}
		var end int64
		err := n.Pool.QueryRow(ctx, `
			insert into control_number (partner_id, scope, next) values ($1, $2, $3 + 1)
			on conflict (partner_id, scope) do update set next = control_number.next + $3
			returning next`, partner, scope, size).Scan(&end)
		if err != nil {
			return 0, fmt.Errorf("lease control numbers for %s: %w", partner, err)
		}
		b.next, b.end = end-size, end
	}
	b.next++
	return b.next - 1, nil
}

func (n *Numbers) block(key string) *block {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.leased[key]
	if b == nil {
		if n.leased == nil {
			n.leased = map[string]*block{}
		}
		b = &block{}
		n.leased[key] = b
	}
	return b
}
