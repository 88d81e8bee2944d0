package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/pgtest"
)

func TestReaderLists(t *testing.T) {
	pool := pgtest.New(t)
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	digest := make([]byte, 32)
	rows := []*journal.Delivery{
		{Partner: "acme", MessageID: "k1", TransportID: "t1", Received: noon, Verdict: "first", Outcome: "accepted"},
		{Partner: "bolt", MessageID: "k1", Received: noon.Add(time.Minute), Verdict: "first", Outcome: "rejected"},
		{Partner: "acme", MessageID: "k1", TransportID: "t1", Received: noon.Add(2 * time.Minute), Verdict: "duplicate", Outcome: "accepted"},
		{Partner: "acme", TransportID: "t1", Received: noon.Add(3 * time.Minute), Verdict: "drift", Outcome: "quarantined"},
		{Partner: "acme", SHA256: digest, Received: noon.Add(4 * time.Minute), Verdict: "first", Outcome: "rejected"},
		{Partner: "acme", MessageID: "k2", Received: noon.Add(5 * time.Minute), Verdict: "first", Outcome: "accepted"},
	}
	for i, d := range rows {
		d.ID, d.Month, d.Transport = uuid.Must(uuid.NewV7()), journal.Month(noon, time.Duration(i)*31*24*time.Hour), "http" // in several partitions
	}
	rows[5].ID, rows[5].Seq = rows[4].ID, 1 // two interchanges of one delivery
	var b pgx.Batch
	journal.QueueDeliveries(&b, rows)
	if err := pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	r := journal.Reader{Pool: pool}
	both := []string{"acme", "bolt"}
	for _, c := range []struct {
		name   string
		filter journal.Filter
		want   []int
	}{
		{"the latest first, over all partners", journal.Filter{Partners: both}, []int{5, 4, 3, 2, 1, 0}},
		{"nothing without a partner", journal.Filter{}, nil},
		{"a page", journal.Filter{Partners: both, Limit: 2}, []int{5, 4}},
		{"the page behind it", journal.Filter{Partners: both, From: &journal.Position{ID: rows[4].ID, Seq: 0}, Limit: 2}, []int{3, 2}},
		{"within a delivery", journal.Filter{Partners: both, From: &journal.Position{ID: rows[5].ID, Seq: 1}, Limit: 2}, []int{4, 3}},
		{"of one key, with each partner's own", journal.Filter{Partners: both, MessageIDs: []string{"k1"}}, []int{2, 1, 0}},
		{"under a transport key, with what held no interchange", journal.Filter{Partners: both, MessageIDs: []string{"k1"}, Under: "t1"}, []int{3, 2, 0}},
		{"without any key, by the digest", journal.Filter{Partners: both, MessageIDs: []string{"x"}, Unkeyed: [][]byte{digest}}, []int{4}},
		{"by verdict", journal.Filter{Partners: both, Verdict: "duplicate"}, []int{2}},
		{"by outcome", journal.Filter{Partners: both, Outcome: "rejected"}, []int{4, 1}},
		{"by transport", journal.Filter{Partners: both, Transport: "as2"}, nil},
		{"of a time", journal.Filter{Partners: both, After: noon.Add(time.Minute), Before: noon.Add(3 * time.Minute)}, []int{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.filter.Limit == 0 {
				c.filter.Limit = 100
			}
			list, err := r.List(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, d := range list {
				for i := range rows {
					if rows[i].ID == d.ID && rows[i].Seq == d.Seq {
						got = append(got, i)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want (-) and got (+):\n%s", diff)
			}
		})
	}
}

func TestMissingPartitions(t *testing.T) {
	pool := pgtest.New(t)
	missing, err := journal.MissingPartitions(t.Context(), pool, "delivery", "payload")
	if err != nil || len(missing) != 2*journal.Ahead {
		t.Fatalf("%d are missing before any is made, want %d: %v", len(missing), 2*journal.Ahead, err)
	}
	if err := journal.EnsurePartitions(t.Context(), pool, "delivery", "payload"); err != nil {
		t.Fatal(err)
	}
	missing, err = journal.MissingPartitions(t.Context(), pool, "delivery", "payload")
	if err != nil || len(missing) != 0 {
		t.Errorf("missing after they were made: %v %v", missing, err)
	}
}
