package gateway

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/pgtest"
)

// batches counts round trips.
type batches struct{ n atomic.Int64 }

func (b *batches) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	b.n.Add(1)
	return ctx
}
func (b *batches) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (b *batches) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (b *batches) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (b *batches) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestLookers(t *testing.T) {
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	trips := &batches{}
	config.ConnConfig.Tracer = trips
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	ref := func(id string) dedup.Ref { return dedup.Ref{Partner: "acme", ID: id} }
	var b pgx.Batch
	var claims []*dedup.Key
	for _, id := range []string{"broken", "known", "other"} {
		k := dedup.NewKey(ref(id), dedup.Transport, time.Now(), time.Now())
		k.Add(&dedup.Variant{SHA256: [32]byte{1}, State: dedup.Accepted, DeliveryID: uuid.Must(uuid.NewV7())})
		claims = append(claims, k)
	}
	dedup.QueueClaim(&b, claims, func(dedup.Ref) {})
	b.Queue(`update inbox set carried = array[e'acme\tx\tno digest'] where partner_id = 'acme' and message_id = 'broken'`)
	if err := pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	ask := func(ids ...string) *asked {
		a := &asked{done: make(chan struct{})}
		for _, id := range ids {
			a.refs = append(a.refs, ref(id))
		}
		return a
	}
	found := func(a *asked) (ids []string) {
		for _, r := range a.refs {
			if a.found[r] != nil {
				ids = append(ids, r.ID)
			}
		}
		if len(ids) != len(a.found) {
			t.Errorf("got keys that were not asked for: %v", a.found)
		}
		return ids
	}

	for _, many := range []int{0, 20} { // one by one, and as a list
		t.Run("deliveries are read in one round trip, and each gets its own keys", func(t *testing.T) {
			g := &Gateway{Pool: pool}
			together := []*asked{ask("known", "new"), ask("fresh"), ask("other")}
			for i := range many {
				together = append(together, ask("none "+string(rune('a'+i))))
			}
			before := trips.n.Load()
			g.readTogether(together)
			if n := trips.n.Load() - before; n != 1 {
				t.Errorf("%d round trips, want 1", n)
			}
			want := [][]string{{"known"}, nil, {"other"}}
			for i, a := range together {
				var w []string
				if i < len(want) {
					w = want[i]
				}
				if diff := cmp.Diff(w, found(a)); diff != "" || a.err != nil {
					t.Errorf("%v: %v\n%s", a.refs, a.err, diff)
				}
			}
		})
	}
	t.Run("where one's key cannot be read, each asks again by itself", func(t *testing.T) {
		g := &Gateway{Pool: pool}
		broken, known := ask("broken"), ask("known")
		g.readTogether([]*asked{broken, known})
		if !errors.Is(broken.err, errAlone) || !errors.Is(known.err, errAlone) || len(known.found) != 0 {
			t.Errorf("got %v, %v, %v", broken.err, known.err, known.found)
		}
		keys := map[dedup.Ref]*dedup.Key{}
		if err := g.readKeys(t.Context(), broken.refs, keys); err == nil || !strings.Contains(err.Error(), "carried") {
			t.Errorf("the broken one: %v", err)
		}
		if err := g.readKeys(t.Context(), known.refs, keys); err != nil || keys[known.refs[0]] == nil || len(keys) != 1 {
			t.Errorf("the other one: %v, %v", err, keys)
		}
	})
	t.Run("who gives up is not read", func(t *testing.T) {
		g := &Gateway{Pool: pool}
		g.lookers.running = true
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.readKeys(ctx, []dedup.Ref{ref("known")}, map[dedup.Ref]*dedup.Key{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if together := g.lookers.take(); len(together) != 0 {
			t.Errorf("%d still wait", len(together))
		}
	})
	t.Run("who gives up while it is read waits no longer", func(t *testing.T) {
		g := &Gateway{Pool: pool}
		g.lookers.running = true
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.readKeys(ctx, []dedup.Ref{ref("known")}, map[dedup.Ref]*dedup.Key{}) }()
		for asked := false; !asked; runtime.Gosched() {
			g.lookers.mu.Lock()
			asked = len(g.lookers.waiting) > 0
			g.lookers.mu.Unlock()
		}
		g.lookers.take() // it is read now, and the database does not answer
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("who waits for a look-up that is stuck goes on its own", func(t *testing.T) {
		g := &Gateway{Pool: pool}
		g.lookers.running = true
		keys := map[dedup.Ref]*dedup.Key{}
		if err := g.readKeys(t.Context(), []dedup.Ref{ref("known")}, keys); err != nil || keys[ref("known")] == nil {
			t.Errorf("got %v, %v", err, keys)
		}
	})
}
