package dedup_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/pgtest"
)

// send runs what queue queues in one transaction.
func send(t *testing.T, pool *pgxpool.Pool, queue func(*pgx.Batch)) {
	t.Helper()
	var b pgx.Batch
	queue(&b)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := pool.SendBatch(ctx, &b).Close(); err != nil {
		t.Fatal(err)
	}
}

// claim makes keys, each with its variants.
func claim(t *testing.T, pool *pgxpool.Pool, keys ...*dedup.Key) {
	t.Helper()
	more := map[*dedup.Key][]*dedup.Variant{}
	for _, k := range keys {
		more[k], k.Variants = k.Variants[1:], k.Variants[:1]
	}
	send(t, pool, func(b *pgx.Batch) { dedup.QueueClaim(b, keys, func(dedup.Ref) {}) })
	for _, k := range keys {
		k.Variants = append(k.Variants, more[k]...)
		k.Claimed()
	}
	send(t, pool, func(b *pgx.Batch) { dedup.QueueChanges(b, keys) })
}

// variant is digest n in state s.
func variant(n byte, s dedup.State) *dedup.Variant {
	return &dedup.Variant{SHA256: [32]byte{n}, Content: [32]byte{0xC0, n}, ContentVersion: 1, State: s, Answer: 1, DeliveryID: uuid.Must(uuid.NewV7())}
}

func key(id string, kind dedup.Kind, purgeOn time.Time, vs ...*dedup.Variant) *dedup.Key {
	k := dedup.NewKey(dedup.Ref{Partner: "acme", ID: id}, kind, time.Now(), purgeOn)
	for _, v := range vs {
		k.Add(v)
	}
	return k
}

func TestAWindowCountsFromTheLastDelivery(t *testing.T) {
	pool := pgtest.New(t)
	day := func(n int) time.Time { return time.Date(2027, 3, n, 0, 0, 0, 0, time.UTC) }
	plain := key("http:north:file", dedup.Transport, day(1), variant(1, dedup.Accepted))
	carrier := key("http:north:m1", dedup.Transport, day(1), variant(1, dedup.Accepted))
	carrier.Carry(dedup.Carried{Ref: dedup.Ref{Partner: "acme", ID: "unb:a:14:b:14:1"}, SHA256: [32]byte{1}})
	var keys []*dedup.Key
	for n := range 3 {
		keys = append(keys, key(fmt.Sprintf("unb:a:14:b:14:%d", n+1), dedup.Interchange, day(1), variant(byte(n), dedup.Accepted)))
	}
	claim(t, pool, append([]*dedup.Key{plain, carrier}, keys...)...)
	if _, err := pool.Exec(t.Context(), `update inbox set last_at = now() - interval '3 days'`); err != nil {
		t.Fatal(err)
	}
	held, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback(context.Background()) }() // the test is over
	if _, err := held.Exec(t.Context(), `select 1 from inbox where message_id = $1 for update`, keys[1].ID); err != nil {
		t.Fatal(err)
	}
	var refs []dedup.Ref
	for _, k := range append(keys, plain, carrier) {
		refs = append(refs, k.Ref)
	}
	send(t, pool, func(b *pgx.Batch) { dedup.QueueLastDelivery(b, dedup.SortRefs(refs)) })
	now, err := dedup.Load(t.Context(), pool, refs)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r, k := range now {
		got[r.ID] = k.PurgeOn.Format("0102")
		if fresh := time.Since(k.LastAt) < time.Hour; fresh == (r == keys[1].Ref) {
			t.Errorf("%s: last delivery %v", r.ID, k.LastAt)
		}
	}
	want := map[string]string{
		keys[0].ID: "0304", keys[2].ID: "0304",
		keys[1].ID: "0301", // somebody else holds it, and is not waited for
		plain.ID:   "0304",
		carrier.ID: "0301", // never beyond what it carried
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("purge dates (-want +got)\n%s", diff)
	}
}

func TestATransportKeyGoesWithTheFirstOfWhatItCarried(t *testing.T) {
	pool := pgtest.New(t)
	late, early := time.Date(2027, 3, 9, 0, 0, 0, 0, time.UTC), time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC)
	tk := key("http:north:m1", dedup.Transport, late, variant(1, dedup.Accepted))
	ik := key("unb:a:14:b:14:1", dedup.Interchange, late, variant(1, dedup.Accepted))
	claim(t, pool, tk, ik)
	for _, k := range []*dedup.Key{tk, ik} {
		k.PurgeOn = early
		k.Touch(k.Variants[0])
	}
	send(t, pool, func(b *pgx.Batch) { dedup.QueueChanges(b, []*dedup.Key{tk, ik}) })
	now, err := dedup.Load(t.Context(), pool, []dedup.Ref{tk.Ref, ik.Ref})
	if err != nil {
		t.Fatal(err)
	}
	if got := now[tk.Ref].PurgeOn; !got.Equal(early) {
		t.Errorf("the transport key is kept until %v, what it carries until %v", got, early)
	}
	if got := now[ik.Ref].PurgeOn; !got.Equal(late) {
		t.Errorf("the interchange's window was shortened to %v by a change", got)
	}
}
