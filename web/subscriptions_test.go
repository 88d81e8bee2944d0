package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// setAside makes the subscription other, which refused an event of acme's, and gives
// an event's id and that of the one that was refused.
func setAside(t *testing.T, r *rig) (event, aside string) {
	t.Helper()
	a := r.ask(r.tokens[accounts.Admin], "PUT", "/subscriptions/other", `{"from":"beginning","webhook":{"url":"https://other.example/","secrets":["other"]}}`, "Content-Type", "application/json")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	event, aside = stuckEffect(t, r), stuckEffect(t, r)
	_, err := r.pool.Exec(t.Context(), `
		insert into subscription_event (partner_id, subscription, event_id, event_month, state, attempts, failure)
		values ('acme', 'other', $1, '2027-01-01', 2, 3, 'it answered 422')`, aside)
	if err != nil {
		t.Fatal(err)
	}
	return event, aside
}

func TestASubscriptionIsChangedOnWhatItIs(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	put := func(url string, headers ...string) answer {
		return r.ask(admin, "PUT", "/subscriptions/erp", `{"webhook":{"url":"`+url+`","secrets":["erp"]}}`, append(headers, "Content-Type", "application/json")...)
	}
	first := put("https://one.example/")
	tag := first.header.Get("ETag")
	if first.status != 200 || tag == "" || r.ask(admin, "GET", "/subscriptions/erp", "").header.Get("ETag") != tag {
		t.Fatalf("%d, ETag %q: %s", first.status, tag, first.body)
	}
	if a := put("https://two.example/", "If-Match", tag); a.status != 200 || a.header.Get("ETag") == tag {
		t.Errorf("the first of two: %d %s", a.status, a.body)
	}
	for name, a := range map[string]answer{"the second": put("https://three.example/", "If-Match", tag), "one who deletes": r.ask(admin, "DELETE", "/subscriptions/erp", "", "If-Match", tag)} {
		if p := a.problem(t); a.status != 412 || p.Type != "changed-meanwhile" || !strings.Contains(p.Detail, "nothing was changed: subscription erp is at revision 2, not 1") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := r.ask(admin, "GET", "/subscriptions/erp", ""); !strings.Contains(a.body, "https://two.example/") {
		t.Errorf("%s", a.body)
	}
	if a := put("https://x.example/", "If-Match", "*"); a.status != 400 {
		t.Errorf("any tag: %d", a.status)
	}
	if a := r.ask(admin, "DELETE", "/subscriptions/none", "", "If-Match", tag); a.status != 404 {
		t.Errorf("of none: %d %s", a.status, a.body)
	}
	if a := r.ask(admin, "DELETE", "/subscriptions/erp", "", "If-Match", `"2"`); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// acknowledged makes an acknowledgement that was sent and answered.
func acknowledged(t *testing.T, r *rig) {
	t.Helper()
	e := outbox.Event{Partner: "acme", ID: uuid.Must(uuid.NewV7()), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: outbox.KindAcknowledgement,
		Type: outbox.AcknowledgementDue, Data: map[string]any{}, Targets: []string{outbox.AcknowledgementWebhook},
		Acknowledges: &outbox.Acknowledgement{Reference: "000000007", Type: "997", By: "webhook", MessageID: keyOf1}}
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e}); err != nil {
		t.Fatal(err)
	}
	if err := r.pool.SendBatch(t.Context(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	var answers pgx.Batch
	if err := outbox.QueueAnswers(&answers, "acme", []outbox.Answer{{Event: e.ID, Kind: "997", Acceptance: "rejected", MessageID: "isa:x", Told: outbox.Told{
		Level: "message", Action: "R", Doubts: []string{edi.AnswerCountsDiffer}, Omitted: 1, Objections: []edi.Objection{{List: "723", Code: "7", Meaning: "Invalid code value",
			Place: edi.Location{Tag: "AK2", Segment: 3, Element: 1}, Element: "143", Value: "998", Reported: edi.Location{Offset: 210, Tag: "AK4", Segment: 6, Element: 3}}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := r.pool.SendBatch(t.Context(), &answers).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAcknowledgementsAreListed(t *testing.T) {
	r := newRig(t)
	acknowledged(t, r)
	var list struct{ Items []sentAcknowledgement }
	if r.get(accounts.Viewer, "/acknowledgements?reference=000000007&acceptance=rejected", &list); len(list.Items) != 1 {
		t.Fatalf("%+v", list)
	}
	if a := list.Items[0]; a.State != "pending" || a.AnsweredBy != "997" || a.Acceptance != "rejected" || a.Type != "997" || a.By != "webhook" || a.Answered == nil || len(a.Answers) != 1 || a.Answers[0].MessageID != "isa:x" || a.Answers[0].Told.Objections[0].Value != "998" {
		t.Errorf("%+v", a)
	}
}

func TestAMessageTellsWhatWasSentOfItAndWhatItAnswers(t *testing.T) {
	r := filled(t)
	acknowledged(t, r)
	if _, err := r.pool.Exec(t.Context(), `update functional_answer set answer_id = $1`, keyOf2); err != nil {
		t.Fatal(err)
	}
	var m struct {
		Sent    []sentAcknowledgement `json:"sent_acknowledgements"`
		Answers []sentAcknowledgement `json:"answers"`
	}
	r.get(accounts.Viewer, "/messages/acme/"+url.PathEscape(keyOf1), &m)
	if len(m.Sent) != 1 || m.Sent[0].Acceptance != "rejected" || m.Answers != nil {
		t.Errorf("of what was answered: %+v", m)
	}
	m.Sent, m.Answers = nil, nil
	r.get(accounts.Viewer, "/messages/acme/"+url.PathEscape(keyOf2), &m)
	if len(m.Answers) != 1 || m.Answers[0].MessageID != keyOf1 || m.Sent != nil {
		t.Errorf("of the answer: %+v", m)
	}
	var list struct{ Items []sentAcknowledgement }
	if r.get(accounts.Viewer, "/acknowledgements?answer_message_id="+url.QueryEscape(keyOf2), &list); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
	if r.get(accounts.Viewer, "/acknowledgements?answer_message_id=unb:nothing", &list); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestSubscriptions(t *testing.T) {
	r := newRig(t)
	_, refused := setAside(t, r)
	ask := func(role accounts.Role, method, path, body string) answer {
		return r.ask(r.tokens[role], method, path, body, "Content-Type", "application/json")
	}
	t.Run("a fault of the configuration is told with its key, and changes nothing", func(t *testing.T) {
		a := ask(accounts.Admin, "PUT", "/subscriptions/erp", `{"types":["invoice.*"],"webhook":{"url":"https://erp.example/","secrets":["erp"]}}`)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"key": "types"`) || !strings.Contains(a.body, "document.created") {
			t.Errorf("%d %s", a.status, a.body)
		}
		var list struct{ Items []subscription }
		if r.get(accounts.Viewer, "/subscriptions", &list); len(list.Items) != 1 {
			t.Errorf("%d subscriptions", len(list.Items))
		}
	})
	t.Run("who pauses it is shown, and stands in the audit log with its end", func(t *testing.T) {
		if a := ask(accounts.Operator, "POST", "/subscriptions/other/pause", `{"reason":"their ERP moves"}`); a.status != http.StatusOK || !strings.Contains(a.body, `"paused_by": "p. operator"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := ask(accounts.Operator, "POST", "/subscriptions/other/resume", `{}`); a.status != http.StatusOK || strings.Contains(a.body, "paused_by") {
			t.Errorf("%d %s", a.status, a.body)
		}
		var log []string
		rows, err := r.pool.Query(t.Context(), `select action || ' ' || subject || ' by ' || who from audit_entry where action like 'subscription.%' order by entry_id`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			log = append(log, line)
		}
		want := []string{"subscription.applied other by p. admin", "subscription.paused other by p. operator", "subscription.resumed other by p. operator"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what was refused is listed, sent again, or given up with a reason", func(t *testing.T) {
		var list struct{ Items []aside }
		if r.get(accounts.Viewer, "/subscriptions/other/set-aside", &list); len(list.Items) != 1 || list.Items[0].State != "set_aside" || list.Items[0].Event.String() != refused {
			t.Fatalf("%+v", list)
		}
		if a := ask(accounts.Operator, "POST", "/subscriptions/other/resend", `{}`); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		if r.get(accounts.Viewer, "/subscriptions/other/set-aside", &list); len(list.Items) != 1 || list.Items[0].State != "to_be_sent" {
			t.Errorf("%+v", list)
		}
		if a := ask(accounts.Operator, "POST", "/subscriptions/other/dismiss", `{"partner":"acme","event_id":"`+refused+`","reason":"booked"}`); a.status != http.StatusNotFound {
			t.Errorf("what is to be sent again was given up: %d %s", a.status, a.body)
		}
	})
}

func TestTheFeedGoesOn(t *testing.T) {
	r := newRig(t)
	r.receive("acme", "", invoice{reference: "1", number: "RE-1", total: "119.00"}.text())
	var page struct {
		Items []struct {
			ID      string
			Type    string
			Partner string `json:"partnerid"`
		}
		Next string
		More bool
	}
	var seen []string
	for after := ""; ; after = "&after=" + page.Next {
		r.get(accounts.Viewer, "/events?limit=1"+after, &page)
		for _, e := range page.Items {
			seen = append(seen, e.Partner+" "+e.Type)
		}
		if !page.More {
			break
		}
	}
	if diff := cmp.Diff([]string{"acme io.edigw.document.created", "acme io.edigw.message.received"}, seen); diff != "" {
		t.Error(diff)
	}
	r.receive("acme", "", invoice{reference: "2", number: "RE-2", total: "119.00"}.text())
	if r.get(accounts.Viewer, "/events?type=document.*&after="+page.Next, &page); len(page.Items) != 1 || page.Items[0].Type != "io.edigw.document.created" {
		t.Errorf("%+v", page)
	}
}
