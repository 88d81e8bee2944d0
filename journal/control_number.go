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

type block struct{ next, end int64 }

// Next gives a number that no process gave before for partner and scope.
func (n *Numbers) Next(ctx context.Context, partner, scope string) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := partner + "\t" + scope
	b := n.leased[key]
	if b == nil || b.next == b.end {
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
		if n.leased == nil {
			n.leased = map[string]*block{}
		}
		b = &block{end - size, end}
		n.leased[key] = b
	}
	b.next++
	return b.next - 1, nil
}
