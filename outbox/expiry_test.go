package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

func TestAnEndIsToldOnceOnEachOfItsDays(t *testing.T) {
	ctx := context.Background()
	pool := pgtest.New(t)
	month := time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	list := []outbox.Expiry{
		{Whose: "acme", Label: "2026", Purposes: []string{"as2_sign", "as2_encrypt"}, Fingerprint: [32]byte{1}, At: end, Month: month},
		{Whose: "north", Ours: true, Label: "signing", Purposes: []string{"as2_sign"}, Fingerprint: [32]byte{2}, At: end.AddDate(0, 0, 30), Month: month},
	}
	var at outbox.Place
	tell := func(now time.Time) (told []string) {
		t.Helper()
		var all sync.WaitGroup
		for range 2 { // two gateways
			all.Go(func() {
				if _, err := outbox.TellExpiring(ctx, pool, list, now, newID); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		page, err := outbox.Feed{Pool: pool}.Read(ctx, outbox.FeedFilter{Types: outbox.Types, After: at, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		at = page.Next
		for _, r := range page.Events {
			var body struct {
				Of, Label, Words string
				Days             int
			}
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			told = append(told, fmt.Sprintf("%s %s %s %s %d", r.Type, r.Partner, body.Of, body.Label, body.Days))
			if body.Words == "" {
				t.Error("nobody can read it in a mail")
			}
		}
		return told
	}
	for _, c := range []struct {
		name string
		at   time.Time
		want []string
	}{
		{"a month and a second before", end.AddDate(0, 0, -30).Add(-time.Second), nil},
		{"30 days before", end.AddDate(0, 0, -30), []string{"certificate.expiring acme partner 2026 30"}},
		{"the day after", end.AddDate(0, 0, -29), nil},
		{"3 days before, by who was down for a while", end.AddDate(0, 0, -3), []string{"certificate.expiring acme partner 2026 7"}},
		{"an hour before", end.Add(-time.Hour), []string{"certificate.expiring acme partner 2026 1"}},
		{"when it has ended", end, []string{"certificate.expiring north organisation signing 30"}}, // the other one's first
		{"a week later", end.AddDate(0, 0, 7), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, tell(c.at)); diff != "" {
				t.Errorf("told (-want +got)\n%s", diff)
			}
		})
	}
	t.Run("one that was put off comes near again", func(t *testing.T) {
		list[0].At = end.AddDate(1, 0, 0)
		if diff := cmp.Diff([]string(nil), tell(end)); diff != "" {
			t.Error(diff)
		}
		list = list[:1]
		if diff := cmp.Diff([]string{"certificate.expiring acme partner 2026 7"}, tell(list[0].At.AddDate(0, 0, -7))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what has ended long ago is forgotten", func(t *testing.T) {
		tell(end.AddDate(3, 0, 0))
		var n int
		if err := pool.QueryRow(ctx, `select count(*) from expiry_told`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
