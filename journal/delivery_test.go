package journal_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/pgtest"
)

// What strangers send is written whatever it holds, and does not take the rows
// beside it along.
func TestQueueDeliveriesCleansTexts(t *testing.T) {
	pool := pgtest.New(t)
	bad := "a\x00b\xFF" + strings.Repeat("ü", 2_000)
	now := time.Now()
	d := &journal.Delivery{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: journal.Month(now, 24*time.Hour), Received: now,
		Transport: bad, TransportID: bad, MessageID: bad, Verdict: bad, Outcome: bad, Rule: bad, Remote: bad, Filename: bad, Detail: bad, Signer: bad}
	other := &journal.Delivery{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: d.Month, Received: now, Transport: "http", Verdict: "first", Outcome: "accepted", Filename: "Rechnung für März.edi", Signer: "2026"}
	var b pgx.Batch
	journal.QueueDeliveries(&b, []*journal.Delivery{d, other})
	if err := pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	list, err := journal.Reader{Pool: pool}.List(t.Context(), journal.Filter{Partners: []string{"acme"}, Limit: 10})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d rows, %v", len(list), err)
	}
	for _, got := range list {
		if got.ID == other.ID {
			if got.Filename != other.Filename || got.Signer != other.Signer {
				t.Errorf("a good name became %q, a label %q", got.Filename, got.Signer)
			}
			continue
		}
		for name, c := range map[string]struct {
			text  string
			limit int
		}{
			"transport": {got.Transport, 255}, "transport id": {got.TransportID, 255}, "message id": {got.MessageID, 255},
			"verdict": {got.Verdict, 255}, "outcome": {got.Outcome, 255}, "rule": {got.Rule, 255},
			"remote": {got.Remote, 255}, "filename": {got.Filename, 255}, "detail": {got.Detail, 2_000}, "signer": {got.Signer, 255},
		} {
			if !strings.HasPrefix(c.text, "a\uFFFDb\uFFFDüü") || !utf8.ValidString(c.text) || strings.HasSuffix(c.text, "\uFFFD") ||
				len(c.text) > c.limit || len(c.text) < c.limit-8 {
				t.Errorf("%s: %d bytes: %q…", name, len(c.text), c.text[:min(len(c.text), 20)])
			}
		}
	}
}
