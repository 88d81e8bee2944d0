package dedup_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/pgtest"
)

func TestInboxGet(t *testing.T) {
	pool := pgtest.New(t)
	inbox := dedup.Inbox{Pool: pool}
	ref := dedup.Ref{Partner: "acme", ID: "unb:a:14:b:14:1"}
	if k, err := inbox.Get(t.Context(), ref); err != nil || k != nil {
		t.Fatalf("an unknown key: %+v %v", k, err)
	}
	k := &dedup.Key{Ref: ref, Kind: dedup.Interchange, PurgeOn: time.Now().AddDate(1, 0, 0)}
	k.Add(&dedup.Variant{SHA256: [32]byte{1}, State: dedup.Accepted, Answer: 1, DeliveryID: uuid.Must(uuid.NewV7()),
		Messages: []dedup.MessageState{{SHA256: [32]byte{2}, Fate: dedup.Posted}}})
	var b pgx.Batch
	dedup.QueueClaim(&b, []*dedup.Key{k}, func(dedup.Ref) {})
	if err := pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	got, err := inbox.Get(t.Context(), ref)
	if err != nil || got == nil || got.Current() == nil || got.Current().SHA256 != [32]byte{1} || got.Current().Messages[0].Fate != dedup.Posted {
		t.Fatalf("%+v %v", got, err)
	}
	if other, err := inbox.Get(t.Context(), dedup.Ref{Partner: "bolt", ID: ref.ID}); err != nil || other != nil {
		t.Errorf("the same key of another partner: %+v %v", other, err)
	}
}
