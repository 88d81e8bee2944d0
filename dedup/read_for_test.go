package dedup_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/pgtest"
)

func readFor(t *testing.T, pool *pgxpool.Pool, r dedup.Ref, digests ...[32]byte) *dedup.Key {
	t.Helper()
	keys, err := dedup.LoadFor(t.Context(), pool, []dedup.Ref{r}, askedOf(r, digests...))
	if err != nil {
		t.Fatal(err)
	}
	return keys[r]
}

func askedOf(r dedup.Ref, digests ...[32]byte) (asked []dedup.Asked) {
	for _, d := range digests {
		asked = append(asked, dedup.Asked{Ref: r, SHA256: d})
	}
	return asked
}

func TestReadForADelivery(t *testing.T) {
	pool := pgtest.New(t)
	purgeOn := time.Now().AddDate(1, 0, 0)

	t.Run("ten thousand open drifts are not read, but known of", func(t *testing.T) {
		k := key("unb:a:14:b:14:1", dedup.Interchange, purgeOn, variant(1, dedup.Accepted), variant(2, dedup.Quarantined), variant(3, dedup.Refused))
		claim(t, pool, k)
		if _, err := pool.Exec(t.Context(), `
			insert into variant (partner_id, message_id, payload_sha256, state, answer, messages, delivery_id)
			select $1, $2, sha256(n::text::bytea), 6, 3, '', gen_random_uuid() from generate_series(1, 10000) as n`, k.Partner, k.ID); err != nil {
			t.Fatal(err)
		}
		got := readFor(t, pool, k.Ref, [32]byte{2}, [32]byte{9})
		if len(got.Variants) != 2 || got.Find([32]byte{2}) == nil || got.Find([32]byte{9}) != nil {
			t.Errorf("read %d variants, want the first and the one asked for", len(got.Variants))
		}
		if n := visited(t, pool, func(b *pgx.Batch) {
			dedup.QueueReadFor(b, []dedup.Ref{k.Ref}, askedOf(k.Ref, [32]byte{2}, [32]byte{9}), map[dedup.Ref]*dedup.Key{})
		}); n > 20 {
			t.Errorf("%d rows of variant were visited", n)
		}
		if got.Hold() != dedup.HoldDrift || !got.Partly() {
			t.Errorf("hold %d", got.Hold())
		}
	})

	t.Run("a refused drift is found by its content", func(t *testing.T) {
		k := key("unb:a:14:b:14:2", dedup.Interchange, purgeOn, variant(1, dedup.Accepted), variant(2, dedup.Refused), variant(3, dedup.Refused))
		claim(t, pool, k)
		got := readFor(t, pool, k.Ref, [32]byte{9}, [32]byte{0xC0, 3})
		if len(got.Variants) != 2 || got.Find([32]byte{3}) == nil {
			t.Errorf("read %d variants", len(got.Variants))
		}
	})

	t.Run("what the outcome table asks of a key is the same as of one read whole", func(t *testing.T) {
		for n := range 60 {
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			k := key(fmt.Sprintf("unb:a:14:b:14:r%d", n), dedup.Interchange, purgeOn)
			for d := range byte(1 + rnd.IntN(6)) {
				v := variant(d+1, dedup.State(1+rnd.IntN(8)))
				if v.State == dedup.Received {
					v.Messages = []dedup.MessageState{{SHA256: [32]byte{d}, Fate: dedup.Pending}}
				}
				k.Add(v)
			}
			if v := k.Variants[rnd.IntN(len(k.Variants))]; v.State != dedup.Quarantined && v.State != dedup.Refused {
				k.SetCurrent(v)
			}
			claim(t, pool, k)
			asked := [32]byte{byte(1 + rnd.IntN(8))}
			got := view(readFor(t, pool, k.Ref, asked), asked)
			all, err := dedup.Load(t.Context(), pool, []dedup.Ref{k.Ref})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(view(all[k.Ref], asked), got); diff != "" {
				t.Fatalf("%s, digest %d (-whole +for the delivery)\n%s", k.ID, asked[0], diff)
			}
		}
	})
}

// view is what the table asks of a key about digest d.
func view(k *dedup.Key, d [32]byte) map[string]any {
	var standing [][32]byte
	for _, v := range k.Variants {
		if v.State != dedup.Quarantined && v.State != dedup.Refused {
			standing = append(standing, v.SHA256)
		}
	}
	found := dedup.State(0)
	if v := k.Find(d); v != nil {
		found = v.State
	}
	return map[string]any{"hold": k.Hold(), "current": k.Current().SHA256,
		"current state": k.Current().State, "first": k.Variants[0].SHA256, "standing": standing, "found": found}
}

func TestOnlyUndecidedAlertsAreRead(t *testing.T) {
	pool := pgtest.New(t)
	k := key("http:north:m1", dedup.Transport, time.Now(), variant(1, dedup.Accepted))
	open := alert(k, "open")
	send(t, pool, func(b *pgx.Batch) {
		dedup.QueueAlert(b, open)
		for range 3 {
			dedup.QueueAlert(b, alert(k, "auto_resolved"))
		}
	})
	var got []string
	send(t, pool, func(b *pgx.Batch) {
		dedup.QueueOpenDrifts(b, []dedup.Ref{k.Ref}, func(_ dedup.Ref, a *dedup.Alert) { got = append(got, a.ID.String()) })
	})
	if diff := cmp.Diff([]string{open.ID.String()}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// visited counts the rows of table variant that the statements of queue look at.
func visited(t *testing.T, pool *pgxpool.Pool, queue func(*pgx.Batch)) (n int64) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // only reads
	var b pgx.Batch
	queue(&b)
	if err := tx.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `
		select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relid = 'variant'::regclass`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
