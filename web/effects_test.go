package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/outbox"
)

// stuckEffect makes an effect of acme that waits for an operator, and gives its
// event.
func stuckEffect(t *testing.T, r *rig) string {
	t.Helper()
	e := outbox.Event{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: outbox.KindEvent,
		Type: outbox.DocumentCreated, Data: map[string]any{}, Targets: []string{"folder"}}
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e}); err != nil {
		t.Fatal(err)
	}
	b.Queue(`update effect set state = 5, attempts = 2, failure = 'nobody knows', started_at = now() where event_id = $1`, e.ID)
	if err := r.pool.SendBatch(context.Background(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	return e.ID.String()
}

func TestEffects(t *testing.T) {
	r := newRig(t)
	id := stuckEffect(t, r)
	stuck := func() []effect {
		var page struct{ Items []effect }
		r.get(accounts.Viewer, "/effects?state=stuck&partner=acme", &page)
		return page.Items
	}
	if list := stuck(); len(list) != 1 || list[0].State != "unknown" || list[0].Next != nil || list[0].Failure != "nobody knows" {
		t.Fatalf("stuck: %+v", list)
	}
	resolve := func(note, as string) answer {
		return r.ask(r.tokens[accounts.Operator], "POST", "/effects/resolve",
			`{"partner":"acme","event_id":"`+id+`","target":"folder","as":"`+as+`","note":"`+note+`"}`, "Content-Type", "application/json")
	}
	if a := resolve(" ", "done"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("without a note: %d %s", a.status, a.body)
	}
	if a := resolve("there is no file", "repeat"); a.status != http.StatusNoContent {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if list := stuck(); len(list) != 0 {
		t.Errorf("still stuck: %+v", list)
	}
	if a := resolve("there is no file", "repeat"); a.status != http.StatusNotFound {
		t.Errorf("resolved twice: %d %s", a.status, a.body)
	}
	var who string
	err := r.pool.QueryRow(t.Context(), `select who from audit_entry where action = 'effect.resolved' and subject = $1`, id).Scan(&who)
	if err != nil || who != "p. operator" {
		t.Errorf("audit line of %s, %v", who, err)
	}
}

func TestAcknowledgementsAreSentAgain(t *testing.T) {
	r := newRig(t)
	caused := func(target string, state outbox.State) string {
		t.Helper()
		e := outbox.Event{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: outbox.KindAcknowledgement,
			Type: outbox.AcknowledgementDue, Data: map[string]any{}, Targets: []string{target}}
		var b pgx.Batch
		if err := outbox.QueueEvents(&b, []outbox.Event{e}); err != nil {
			t.Fatal(err)
		}
		b.Queue(`update effect set state = $2, attempts = 7, due_at = now() + interval '1 hour', lease_id = case when $2::int2 = 2 then $1::uuid end where event_id = $1`, e.ID, int16(state))
		b.Queue(`insert into effect_pause (partner_id, target, failures, due_at) values ('acme', $1, 3, now() + interval '1 hour') on conflict do nothing`, target)
		if err := r.pool.SendBatch(context.Background(), &b).Close(); err != nil {
			t.Fatal(err)
		}
		return e.ID.String()
	}
	again := func(id, as string) answer {
		return r.ask(r.tokens[accounts.Operator], "POST", "/effects/resolve", `{"partner":"acme","event_id":"`+id+`","as":"`+as+`","note":"they lost it"}`, "Content-Type", "application/json")
	}
	for _, target := range []string{outbox.AcknowledgementWebhook, outbox.AcknowledgementFolder, outbox.AcknowledgementAS2, outbox.AcknowledgementAS4, outbox.MDNTarget} {
		for _, state := range []outbox.State{outbox.Pending, outbox.Done, outbox.GivenUp, outbox.Unknown} {
			t.Run("whichever way it leaves and however it stands: "+target+", "+state.String(), func(t *testing.T) {
				id := caused(target, state)
				if a := again(id, "repeat"); a.status != http.StatusNoContent {
					t.Fatalf("%d %s", a.status, a.body)
				}
				var due, told bool
				if err := r.pool.QueryRow(t.Context(), `
					select e.state = 1 and e.attempts = 0 and e.due_at <= now() and not exists (select from effect_pause p where p.partner_id = 'acme' and p.target = e.target),
						exists (select from audit_entry where action = 'effect.resolved' and subject = $1::text)
					from effect e where e.event_id = $1::text::uuid`, id).Scan(&due, &told); err != nil || !due || !told {
					t.Errorf("it is due: %v, in the audit log: %v, %v", due, told, err)
				}
			})
		}
	}
	t.Run("one that is being sent just now is not touched", func(t *testing.T) {
		if a := again(caused(outbox.AcknowledgementAS2, outbox.Started), "repeat"); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "being sent just now") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("without a target nothing else is repeated, and nothing said to be done", func(t *testing.T) {
		if a := again(stuckEffect(t, r), "repeat"); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := again(caused(outbox.AcknowledgementAS2, outbox.GivenUp), "done"); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestWhatIsPendingIsShown(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	if a := r.ask(admin, "PUT", "/partners", strings.Replace(configuration, "id: acme\n", "id: acme\nprocessing: deferred\n", 1), "Content-Type", "application/yaml"); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	r.receive("acme", "", invoice{reference: "1", number: "RE-1", total: "119.00"}.text())
	if _, err := r.pool.Exec(t.Context(), `update job set failures = 2, failure = 'the handler failed', due_at = '2030-01-02T03:04:05Z'`); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct {
			Outcome string
			Next    time.Time `json:"next_try"`
		}
	}
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	r.get(accounts.Viewer, "/messages", &list)
	if len(list.Items) != 1 || list.Items[0].Outcome != "received" || !list.Items[0].Next.Equal(at) {
		t.Errorf("listed: %+v", list.Items)
	}
	var shown message
	r.get(accounts.Viewer, "/messages/acme/"+url.PathEscape(keyOf1), &shown)
	p := shown.Variants[0].Pending
	if p == nil || p.Failures != 2 || p.Failure != "the handler failed" || !p.NextTry.Equal(at) || p.Running || shown.Variants[0].Messages[0].State != "pending" {
		t.Errorf("shown: %+v", shown.Variants[0])
	}
}
