package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

// TestFeedMissesNothing has 8 writers commit out of order while a reader polls.
func TestFeedMissesNothing(t *testing.T) {
	pool := pgtest.New(t)
	const writers, each = 8, 60
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				tx, err := pool.Begin(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				write(t, tx, []string{"acme", "bolt", "cord"}[(w+n)%3], outbox.DocumentCreated, fmt.Sprintf("%d/%d", w, n))
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // others write, and commit, meanwhile
				if n%10 == 9 {
					err = tx.Rollback(context.Background())
				} else {
					err = tx.Commit(context.Background())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	seen, order := map[string]int{}, []outbox.Place{}
	filter := outbox.FeedFilter{Types: outbox.Types, Limit: 7}
	for last := false; ; {
		page, err := outbox.Feed{Pool: pool}.Read(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Events {
			seen[r.Subject]++
			order = append(order, r.Place)
		}
		filter.After = page.Next
		if page.More {
			continue
		}
		if last {
			break
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
	for subject, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", subject, n)
		}
	}
	if want := writers * each * 9 / 10; len(seen) != want {
		t.Errorf("%d events were seen, %d were committed", len(seen), want)
	}
	if !slices.IsSortedFunc(order, func(a, b outbox.Place) int {
		if a.XID != b.XID {
			return int(int64(a.XID) - int64(b.XID))
		}
		return slices.Compare(a.ID[:], b.ID[:])
	}) {
		t.Error("they were not seen in order")
	}
}

func TestFeed(t *testing.T) {
	pool := pgtest.New(t)
	for i, partner := range []string{"acme", "bolt", "acme", "cord"} {
		write(t, pool, partner, []string{outbox.DocumentCreated, outbox.DriftOpened}[i%2], fmt.Sprint(i))
	}
	read := func(f outbox.FeedFilter) (got []string, page outbox.FeedPage) {
		t.Helper()
		page, err := outbox.Feed{Pool: pool}.Read(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Events {
			got = append(got, r.Partner+" "+r.Subject)
		}
		return got, page
	}
	t.Run("of all partners, in order", func(t *testing.T) {
		got, page := read(outbox.FeedFilter{Types: outbox.Types, Limit: 3})
		if diff := cmp.Diff([]string{"acme 0", "bolt 1", "acme 2"}, got); diff != "" || !page.More {
			t.Error(diff, page.More)
		}
		got, page = read(outbox.FeedFilter{Types: outbox.Types, Limit: 3, After: page.Next})
		if diff := cmp.Diff([]string{"cord 3"}, got); diff != "" || page.More {
			t.Error(diff, page.More)
		}
		if got, again := read(outbox.FeedFilter{Types: outbox.Types, Limit: 3, After: page.Next}); len(got) != 0 || again.Next != page.Next {
			t.Error(got, again)
		}
	})
	t.Run("of one partner, and of some types", func(t *testing.T) {
		got, _ := read(outbox.FeedFilter{Partner: "acme", Types: outbox.Types, Limit: 9})
		if diff := cmp.Diff([]string{"acme 0", "acme 2"}, got); diff != "" {
			t.Error(diff)
		}
		got, page := read(outbox.FeedFilter{Types: []string{outbox.DriftOpened}, Limit: 1})
		if len(got) != 0 || !page.More || page.Next == (outbox.Place{}) {
			t.Errorf("a page on which nothing fits goes on: %v, %+v", got, page)
		}
	})
	t.Run("page by page, of more partners than a page holds", func(t *testing.T) {
		want, _ := read(outbox.FeedFilter{Types: outbox.Types, Limit: 100})
		for limit := 1; limit <= 5; limit++ {
			var all []string
			page := outbox.FeedPage{More: true}
			for page.More {
				var got []string
				got, page = read(outbox.FeedFilter{Types: outbox.Types, After: page.Next, Limit: limit})
				all = append(all, got...)
			}
			if diff := cmp.Diff(want, all); diff != "" {
				t.Errorf("%d at a time:\n%s", limit, diff)
			}
		}
	})
	t.Run("a place is read as it was written", func(t *testing.T) {
		_, page := read(outbox.FeedFilter{Types: outbox.Types, Limit: 1})
		if p, err := outbox.ParsePlace(page.Next.String()); err != nil || p != page.Next {
			t.Error(p, err)
		}
		for _, s := range []string{"", "x", "1", "1-", "-" + uuid.NewString(), "1-x"} {
			if _, err := outbox.ParsePlace(s); err == nil {
				t.Errorf("%q is a place", s)
			}
		}
	})
}

func TestCloudEvent(t *testing.T) {
	r := outbox.Record{Partner: "acme", ID: uuid.MustParse("0190a5f2-7b1c-7000-8000-000000000001"), Type: outbox.DocumentCreated, Subject: "acme/unb:\"Ä\\\x01",
		At: time.Date(2026, 11, 28, 9, 14, 0, 120_000_000, time.UTC), Body: json.RawMessage(`{"document_id": "x"}`)}
	var got map[string]any
	if err := json.Unmarshal(r.AppendCloudEvent(nil), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"specversion": "1.0", "id": "0190a5f2-7b1c-7000-8000-000000000001", "source": "/partners/acme", "type": "io.edigw.document.created",
		"subject": "acme/unb:\"Ä\\\x01", "time": "2026-11-28T09:14:00.12Z", "partnerid": "acme", "datacontenttype": "application/json", "data": map[string]any{"document_id": "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
