package web

import (
	"encoding/json"
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

func TestEvidenceOfAcknowledgementsThatLeave(t *testing.T) {
	r := filled(t)
	if _, err := r.apply(t.Context(), accounts.Identity{}, []byte(strings.Replace(configuration, "name: ACME\n",
		"name: ACME\nacknowledge_by: webhook\nacknowledge_url: https://acme.example/edi?key=hidden\n", 1))); err != nil {
		t.Fatal(err)
	}
	contrl := "UNB+UNOA:3+9520002000019:14+9520001000010:14+261127:0914+7'UCI+1+9520001000010:14+9520002000019:14+8'UNZ+1+7'"
	e := outbox.Event{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: outbox.KindAcknowledgement,
		Type: outbox.AcknowledgementDue, Data: outbox.AcknowledgementBody{Type: "CONTRL", Syntax: "edifact", Reference: "7", MessageID: keyOf1, Content: contrl},
		Targets:      []string{outbox.AcknowledgementWebhook},
		Acknowledges: &outbox.Acknowledgement{Reference: "7", Type: "CONTRL", By: "webhook", MessageID: keyOf1}}
	stranger := e
	stranger.Partner, stranger.ID = "bolt", uuid.Must(uuid.NewV7())
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e, stranger}); err != nil {
		t.Fatal(err)
	}
	if err := r.pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pool.Exec(t.Context(), `update effect set state = 4, attempts = 3, failure = '502 Bad Gateway' where event_id = $1`, e.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pool.Exec(t.Context(), `
		update functional_acknowledgement set answered_by = 'CONTRL', acceptance = 'rejected', answer_id = 'unb:its-answer', answered_at = now() where event_id = $1`, e.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pool.Exec(t.Context(), `
		insert into effect_attempt (partner_id, attempt_id, event_id, target, address, failure)
		values ('acme', gen_random_uuid(), $1, 'acknowledgement-webhook', 'https://former.example/edi', '502 Bad Gateway')`, e.ID); err != nil {
		t.Fatal(err)
	}
	export := func(id string) map[string]string {
		t.Helper()
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, "/messages/acme/"+url.PathEscape(id)+"/evidence", "")
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return unpacked(t, a.body)
	}
	name := "acknowledgements/" + e.ID.String() + ".edi"
	for what, id := range map[string]string{"the interchange": keyOf1, "the transport id that brought it": "http:north:m/1"} {
		t.Run("the zip of "+what+" has what was sent, where to, how often, and what the partner said", func(t *testing.T) {
			files := export(id)
			if files[name] != contrl {
				t.Errorf("%q", files[name])
			}
			var list []sentEvidence
			if err := json.Unmarshal([]byte(files["acknowledgements.json"]), &list); err != nil || len(list) != 1 {
				t.Fatalf("%v: %s", err, files["acknowledgements.json"])
			}
			s := list[0]
			if s.File != name || s.Configured != "https://acme.example/edi" || s.By != "webhook" || s.Attempts != 3 || s.State != "given_up" || s.Failure != "502 Bad Gateway" ||
				len(s.Tries) != 1 || s.Tries[0].Address != "https://former.example/edi" || s.Tries[0].Failure != "502 Bad Gateway" || s.Tries[0].At.IsZero() ||
				s.AnsweredBy != "CONTRL" || s.Acceptance != "rejected" || s.AnswerID != "unb:its-answer" || s.Answered == nil {
				t.Errorf("%s", files["acknowledgements.json"])
			}
			for _, f := range []string{name, "acknowledgements.json"} {
				if !strings.Contains(files["SHA256SUMS"], "  "+f+"\n") {
					t.Errorf("SHA256SUMS does not name %s", f)
				}
			}
		})
	}
	t.Run("one whose bytes are no longer kept is told of, and how it stands", func(t *testing.T) {
		if _, err := r.pool.Exec(t.Context(), `delete from outbox where event_id = $1`, e.ID); err != nil {
			t.Fatal(err)
		}
		files := export(keyOf1)
		if _, there := files[name]; there || !strings.Contains(files["README.txt"], "the bytes of the CONTRL 7 that left by webhook are no longer kept") || !strings.Contains(files["acknowledgements.json"], `"state": "given_up"`) {
			t.Errorf("%s\n%s", files["README.txt"], files["acknowledgements.json"])
		}
	})
}
