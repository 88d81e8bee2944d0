package dedup_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/pgtest"
)

// alert is a drift of k whose digest has the first byte 0.
func alert(k *dedup.Key, state string) *dedup.Alert {
	return &dedup.Alert{Partner: k.Partner, ID: uuid.Must(uuid.NewV7()), Kind: dedup.KindInterchange, MessageID: k.ID, State: state,
		Class: "business", Severity: "high", Headline: "total 119.00 → 129.00", Digests: [][]byte{make([]byte, 32)}}
}

func TestAnAlertOfManyDigestsStaysSmall(t *testing.T) {
	pool := pgtest.New(t)
	a := alert(key("unb:a:14:b:14:1", dedup.Interchange, time.Now()), "open")
	send(t, pool, func(b *pgx.Batch) { dedup.QueueAlert(b, a) })
	const n = 130 // with the first one
	for i := 1; i < n; i++ {
		send(t, pool, func(b *pgx.Batch) {
			d := [32]byte{byte(i)}
			dedup.QueueAlertDigest(b, a.Partner, a.ID, d[:], fmt.Sprintf("class-%d", i), "critical", "x", "")
			dedup.QueueCopySeen(b, a.Partner, a.ID, fmt.Sprintf("unb:a:14:b:14:c%d", i))
		})
	}
	got, err := dedup.Alerts{Pool: pool}.Get(t.Context(), a.Partner, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	first := func(d []byte) byte { return d[0] }
	if len(got.Digests) != 100 || first(got.Digests[0]) != 0 || first(got.Digests[49]) != 49 || first(got.Digests[50]) != n-50 || first(got.Digests[99]) != n-1 {
		t.Errorf("%d digests, [49] %d, [50] %d", len(got.Digests), first(got.Digests[49]), first(got.Digests[50]))
	}
	classes := got.Classes()
	if len(classes) != 100 || classes[0] != "business" || classes[49] != "class-49" || classes[50] != fmt.Sprintf("class-%d", n-50) || classes[99] != fmt.Sprintf("class-%d", n-1) {
		t.Errorf("%d classes: %v", len(classes), classes)
	}
	var detail struct {
		Copies     []string `json:"possible_copies"`
		CopiesSeen int      `json:"possible_copies_seen"`
	}
	if err := json.Unmarshal(got.Detail, &detail); err != nil {
		t.Fatal(err)
	}
	if len(detail.Copies) != 100 || detail.Copies[99] != "unb:a:14:b:14:c129" || detail.CopiesSeen != n-1 {
		t.Errorf("%d copies of %d, the last %s", len(detail.Copies), detail.CopiesSeen, detail.Copies[len(detail.Copies)-1])
	}
	if got.Receptions != n || got.DigestsSeen() != n || got.Severity != "critical" {
		t.Errorf("%d receptions of %d digests, %s", got.Receptions, got.DigestsSeen(), got.Severity)
	}
}

func TestAnAlertThatIsGoneIsNoticed(t *testing.T) {
	pool := pgtest.New(t)
	k := key("unb:a:14:b:14:1", dedup.Interchange, time.Now())
	there, gone := alert(k, "open"), alert(k, "open")
	send(t, pool, func(b *pgx.Batch) { dedup.QueueAlert(b, there) })
	got := map[string]int64{}
	rows := func(of string) func(pgconn.CommandTag) error {
		return func(c pgconn.CommandTag) error { got[of] = c.RowsAffected(); return nil }
	}
	send(t, pool, func(b *pgx.Batch) {
		for name, a := range map[string]*dedup.Alert{"there": there, "gone": gone} {
			dedup.QueueAlertReception(b, a.Partner, a.ID).Exec(rows("reception " + name))
			dedup.QueueAlertDigest(b, a.Partner, a.ID, make([]byte, 32), "business", "high", "x", "").Exec(rows("digest " + name))
		}
	})
	if diff := cmp.Diff(map[string]int64{"reception there": 1, "digest there": 1, "reception gone": 0, "digest gone": 0}, got); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
}
