package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
)

func sha(text string) [32]byte { return sha256.Sum256([]byte(text)) }

const (
	keyOf1 = "unb:9520001000010:14:9520002000019:14:1"
	keyOf2 = "unb:9520001000010:14:9520002000019:14:2"
	keyOf4 = "unb:9520001000010:14:9520002000019:14:4"
)

// filled is a rig in which something of everything has happened.
func filled(t *testing.T) *rig {
	r := newRig(t)
	first := invoice{reference: "1", number: "RE-1", total: "119.00"}
	r.receive("acme", "m/1", first.text())                                                               // 201
	r.receive("acme", "m/1", first.text())                                                               // 200
	r.receive("acme", "", invoice{reference: "1", number: "RE-1", total: "129.00"}.text())               // drift of kind interchange
	r.receive("acme", "m/1", invoice{reference: "7", number: "RE-7", total: "119.00"}.text())            // drift of kind transport
	r.receive("acme", "", invoice{reference: "2", number: "RE-1", total: "139.00"}.text())               // held: drift of kind document
	r.receive("acme", "m2", "no interchange at all")                                                     // unreadable
	r.receive("bolt", "", invoice{"1", "B-1", "119.00", "9520001000027"}.text())                         // another partner's
	r.receive("bolt", "", invoice{reference: "3", number: "B-2", total: "119.00"}.text())                // for a sender that is not his
	r.receive("acme", "", strings.Replace(invoice{"4", "", "119.00", ""}.text(), "DTM+137", "DTM+3", 1)) // refused: no number
	return r
}

func TestAnswersFitTheirSchemas(t *testing.T) {
	operations, document := described(t)
	r := filled(t)
	var drift struct {
		Items []struct {
			ID string `json:"alert_id"`
		}
	}
	r.get(accounts.Viewer, "/drift", &drift)
	if len(drift.Items) != 3 {
		t.Fatalf("%d alerts, want one of each kind", len(drift.Items))
	}
	document1, transport, interchange := drift.Items[0].ID, drift.Items[1].ID, drift.Items[2].ID
	proposal := r.ask(r.tokens[accounts.Operator], "POST", "/drift/"+interchange+"/decide", `{"decision":"replace","reason":"corrected"}`, "Content-Type", "application/json")
	if proposal.status != 202 {
		t.Fatalf("a decision that posts an invoice is not kept for a second person: %d %s", proposal.status, proposal.body)
	}
	var docs struct {
		Items []struct {
			ID string `json:"document_id"`
		}
	}
	r.get(accounts.Viewer, "/documents", &docs)
	imported := begunImport(t, r, "again")
	admin := r.tokens[accounts.Admin]
	event, aside := setAside(t, r)
	acknowledged(t, r)
	purged := due(t, r)
	if _, err := r.pool.Exec(t.Context(), `update purge set jumped_from = now() - interval '30 days', jumped_to = now()`); err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID string `json:"token_id"`
	}
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)

	calls := map[string][]struct{ method, path, contentType, body string }{
		"GET /openapi.json":                         {{"GET", "/openapi.json", "", ""}},
		"GET /partners":                             {{"GET", "/partners", "", ""}},
		"PUT /partners":                             {{"PUT", "/partners", "application/yaml", strings.NewReplacer("Bolt", "Bolt GmbH", "ACME", "ACME Ltd").Replace(configuration)}, {"PUT", "/partners", "application/yaml", "kind: Partner\nid: x\nnane: y\n"}},
		"POST /partners/{partner}/tokens":           {{"POST", "/partners/acme/tokens", "application/json", `{"label":"a","expires_at":"` + expires + `"}`}, {"POST", "/partners/acme/tokens", "application/json", `{"label":"b"}`}},
		"GET /partners/{partner}":                   {{"GET", "/partners/acme", "", ""}, {"GET", "/partners/nobody", "", ""}},
		"DELETE /partners/{partner}/tokens/{label}": {{"DELETE", "/partners/acme/tokens/b", "", ""}, {"DELETE", "/partners/acme/tokens/b", "", ""}},
		"GET /messages":                             {{"GET", "/messages", "", ""}, {"GET", "/messages?limit=2", "", ""}, {"GET", "/messages?x=1", "", ""}},
		"GET /messages/{partner}/{message_id}": {
			{"GET", "/messages/acme/" + url.PathEscape(keyOf1), "", ""},
			{"GET", "/messages/acme/" + url.PathEscape(keyOf2), "", ""},
			{"GET", "/messages/acme/" + url.PathEscape("http:north:m/1"), "", ""},
			{"GET", "/messages/acme/" + url.PathEscape("http:north:m2"), "", ""},
			{"GET", "/messages/acme/nothing", "", ""},
		},
		"GET /messages/{partner}/{message_id}/raw":      {{"GET", "/messages/acme/" + url.PathEscape(keyOf1) + "/raw", "", ""}},
		"GET /deliveries/{partner}/{delivery_id}/raw":   {{"GET", "/deliveries/acme/" + quarantined(t, r) + "/raw", "", ""}, {"GET", "/deliveries/acme/" + uuid.NewString() + "/raw", "", ""}},
		"GET /messages/{partner}/{message_id}/evidence": {{"GET", "/messages/acme/" + url.PathEscape(keyOf1) + "/evidence", "", ""}, {"GET", "/messages/acme/nothing/evidence", "", ""}},
		"GET /messages/refused":                         {{"GET", "/messages/refused", "", ""}, {"GET", "/messages/refused?partner=acme&limit=1", "", ""}},
		"POST /messages/re-evaluate": {{"POST", "/messages/re-evaluate", "application/json", `{"letters":[{"partner":"acme","message_id":"` + keyOf4 + `"}],"dry_run":true}`},
			{"POST", "/messages/re-evaluate", "application/json", `{"letters":[{"partner":"acme","message_id":"` + keyOf4 + `"}]}`}},
		"GET /drift":                    {{"GET", "/drift", "", ""}, {"GET", "/drift?limit=1", "", ""}},
		"GET /drift/{alert_id}":         {{"GET", "/drift/" + uuid.NewString(), "", ""}},
		"POST /drift/{alert_id}/assign": {{"POST", "/drift/" + interchange + "/assign", "application/json", `{"person":"p. operator"}`}},
		"POST /drift/{alert_id}/decide": {
			{"POST", "/drift/" + transport + "/decide", "application/json", `{"decision":"reject","reason":"sent_by_mistake"}`},
			{"POST", "/drift/" + transport + "/decide", "application/json", `{"decision":"reject","reason":"sent_by_mistake"}`},
			{"POST", "/drift/" + document1 + "/decide", "application/json", `{"decision":"complete","reason":"corrected"}`},
			{"POST", "/drift/" + document1 + "/decide", "application/json", `{"decision":"process_as_new","reason":"other","note":"both are right"}`},
		},
		"POST /drift/{alert_id}/approve": {
			{"POST", "/drift/" + document1 + "/approve", "", ""},
			{"POST", "/drift/" + interchange + "/approve", "", ""},
		},
		"POST /drift/{alert_id}/withdraw": {{"POST", "/drift/" + document1 + "/withdraw", "application/json", `{"note":"not sure"}`}},
		"GET /deadletters":                {{"GET", "/deadletters", "", ""}},
		"POST /deadletters/replay":        {{"POST", "/deadletters/replay", "application/json", `{"letters":[{"partner":"acme","message_id":"` + keyOf1 + `"}]}`}, {"POST", "/deadletters/replay", "application/json", `{"letters":[]}`}},
		"POST /deadletters/discard":       {{"POST", "/deadletters/discard", "application/json", `{"letters":[{"partner":"acme","message_id":"` + keyOf1 + `"}],"reason":"our_fault","dry_run":true}`}},
		"GET /partners/{partner}/habits":  {{"GET", "/partners/" + learned(t, r) + "/habits", "", ""}, {"GET", "/partners/nobody/habits", "", ""}},
		"GET /gaps":                       {{"GET", "/gaps?state=open", "", ""}, {"GET", "/gaps?limit=1", "", ""}, {"GET", "/gaps?state=lost", "", ""}},
		"POST /gaps/{partner}/{gap_id}/dismiss": {
			{"POST", "/gaps/acme/" + openGap(t, r) + "/dismiss", "application/json", `{"reason":"the partner drew the number for a test"}`},
			{"POST", "/gaps/acme/" + openGap(t, r) + "/dismiss", "application/json", `{}`},
			{"POST", "/gaps/acme/" + uuid.NewString() + "/dismiss", "application/json", `{"reason":"unknown"}`},
		},
		"GET /effects": {{"GET", "/effects", "", ""}, {"GET", "/effects?state=stuck&limit=1", "", ""}, {"GET", "/effects?state=lost", "", ""}},
		"POST /effects/resolve": {
			{"POST", "/effects/resolve", "application/json", `{"partner":"acme","event_id":"` + stuckEffect(t, r) + `","target":"folder","as":"done","note":"the file is there"}`},
			{"POST", "/effects/resolve", "application/json", `{"partner":"acme","event_id":"` + uuid.NewString() + `","target":"folder","as":"repeat","note":"no file"}`},
			{"POST", "/effects/resolve", "application/json", `{"partner":"acme","event_id":"` + uuid.NewString() + `","target":"folder","as":"gone","note":"no file"}`},
		},
		"GET /outgoing":                              {{"GET", "/outgoing", "", ""}},
		"POST /outgoing/hold":                        {{"POST", "/outgoing/hold", "application/json", `{"reason":"the ERP moves"}`}, {"POST", "/outgoing/hold", "application/json", `{"reason":" "}`}},
		"POST /outgoing/confirm":                     {{"POST", "/outgoing/confirm", "application/json", `{"note":"it has moved"}`}, {"POST", "/outgoing/confirm", "application/json", `{"note":"it has moved"}`}, {"POST", "/outgoing/confirm", "application/json", `{"note":""}`}},
		"GET /retention/status":                      {{"GET", "/retention/status", "", ""}},
		"GET /retention/runs":                        {{"GET", "/retention/runs", "", ""}, {"GET", "/retention/runs?limit=1", "", ""}, {"GET", "/retention/runs?cursor=YQ", "", ""}},
		"GET /retention/runs/{run_id}":               {{"GET", "/retention/runs/" + purged.String(), "", ""}, {"GET", "/retention/runs/" + uuid.NewString(), "", ""}, {"GET", "/retention/runs/x", "", ""}},
		"GET /retention/holds":                       {{"GET", "/retention/holds", "", ""}, {"GET", "/retention/holds?partner=acme&limit=1", "", ""}, {"GET", "/retention/holds?cursor=YQ", "", ""}},
		"POST /retention/holds":                      {{"POST", "/retention/holds", "application/json", `{"partner":"acme","message_id":"unb:old","reason":"an audit"}`}, {"POST", "/retention/holds", "application/json", `{"partner":"acme","message_id":"unb:old","reason":"an audit"}`}, {"POST", "/retention/holds", "application/json", `{"partner":"acme","message_id":"none","reason":"an audit"}`}, {"POST", "/retention/holds", "application/json", `{"partner":"acme","message_id":"unb:old","reason":" "}`}},
		"POST /retention/holds/end":                  {{"POST", "/retention/holds/end", "application/json", `{"partner":"acme","message_id":"unb:held","reason":"it is over"}`}, {"POST", "/retention/holds/end", "application/json", `{"partner":"acme","message_id":"unb:held","reason":"it is over"}`}, {"POST", "/retention/holds/end", "application/json", `{"partner":"acme"}`}},
		"GET /partners/{partner}/retention":          {{"GET", "/partners/acme/retention", "", ""}, {"GET", "/partners/nobody/retention", "", ""}},
		"POST /partners/{partner}/retention/preview": {{"POST", "/partners/acme/retention/preview", "application/json", `{"payloads":"60d"}`}, {"POST", "/partners/acme/retention/preview", "application/json", `{"dedup_window":"5d"}`}, {"POST", "/partners/nobody/retention/preview", "application/json", `{}`}, {"POST", "/partners/acme/retention/preview", "application/json", `x`}},
		"GET /retention/preview":                     {{"GET", "/retention/preview", "", ""}},
		"POST /retention/purge":                      {{"POST", "/retention/purge", "", ""}},
		"POST /retention/pause":                      {{"POST", "/retention/pause", "application/json", `{"reason":"an audit"}`}, {"POST", "/retention/pause", "application/json", `{"reason":"an audit"}`}, {"POST", "/retention/pause", "application/json", `{"reason":" "}`}, {"POST", "/retention/purge", "", ""}},
		"POST /retention/resume":                     {{"POST", "/retention/resume", "", ""}, {"POST", "/retention/resume", "", ""}},
		"POST /retention/confirm-clock":              {{"POST", "/retention/confirm-clock", "application/json", `{"note":"it is ours"}`}, {"POST", "/retention/confirm-clock", "application/json", `{"note":" "}`}},
		"GET /acknowledgements":                      {{"GET", "/acknowledgements", "", ""}, {"GET", "/acknowledgements?partner=acme&reference=7&limit=1", "", ""}, {"GET", "/acknowledgements?cursor=YQ", "", ""}},
		"GET /events":                                {{"GET", "/events", "", ""}, {"GET", "/events?limit=1&type=document.*,alert.opened&partner=acme", "", ""}, {"GET", "/events?type=nothing", "", ""}, {"GET", "/events?after=x", "", ""}},
		"GET /events/{partner}/{event_id}":           {{"GET", "/events/acme/" + stuckEffect(t, r), "", ""}, {"GET", "/events/acme/" + uuid.NewString(), "", ""}},
		"GET /subscriptions":                         {{"GET", "/subscriptions", "", ""}},
		"GET /subscriptions/{subscription}":          {{"GET", "/subscriptions/other", "", ""}, {"GET", "/subscriptions/nothing", "", ""}},
		"PUT /subscriptions/{subscription}": {
			{"PUT", "/subscriptions/erp", "application/json", `{"types":["document.*"],"webhook":{"url":"https://erp.example/","secrets":["erp"]}}`},
			{"PUT", "/subscriptions/erp", "application/json", `{"name":"other","webhook":{"url":"https://erp.example/","secrets":["erp"]}}`},
			{"PUT", "/subscriptions/erp", "application/json", `{"webhook":{"url":"ftp://erp.example/","secrets":["erp"]}}`},
			{"PUT", "/subscriptions/erp", "application/json", `{"webhook":{"url":"http://erp.example/","secrets":["erp"]}}`},
		},
		"DELETE /subscriptions/{subscription}":        {{"DELETE", "/subscriptions/erp", "", ""}, {"DELETE", "/subscriptions/erp", "", ""}},
		"GET /subscriptions/{subscription}/set-aside": {{"GET", "/subscriptions/other/set-aside?partner=acme", "", ""}},
		"POST /subscriptions/{subscription}/pause":    {{"POST", "/subscriptions/other/pause", "application/json", `{"reason":"moves"}`}, {"POST", "/subscriptions/other/pause", "application/json", `{"partner":"acme"}`}, {"POST", "/subscriptions/nothing/pause", "application/json", `{}`}},
		"POST /subscriptions/{subscription}/resume":   {{"POST", "/subscriptions/other/resume", "application/json", `{}`}},
		"POST /subscriptions/{subscription}/resend":   {{"POST", "/subscriptions/other/resend", "application/json", `{"partner":"bolt"}`}, {"POST", "/subscriptions/other/resend", "application/json", `{"partner":"acme","event_id":"` + event + `"}`}, {"POST", "/subscriptions/other/resend", "application/json", `{"event_id":"` + event + `"}`}},
		"POST /subscriptions/{subscription}/dismiss":  {{"POST", "/subscriptions/other/dismiss", "application/json", `{"partner":"acme","event_id":"` + aside + `","reason":"booked by hand"}`}, {"POST", "/subscriptions/other/dismiss", "application/json", `{"partner":"acme","event_id":"` + aside + `"}`}},
		"GET /documents":               {{"GET", "/documents", "", ""}, {"GET", "/documents?limit=1", "", ""}, {"GET", "/documents?currency=EUR", "", ""}},
		"GET /documents/export":        {{"GET", "/documents/export?limit=1", "", ""}, {"GET", "/documents/export", "", ""}, {"GET", "/documents/export?format=csv", "", ""}, {"GET", "/documents/export?format=ubl", "", ""}},
		"GET /schemas/document.json":   {{"GET", "/schemas/document.json", "", ""}},
		"GET /documents/{document_id}": {{"GET", "/documents/" + uuid.NewString(), "", ""}},
		"POST /documents/{document_id}/report": {
			{"POST", "/documents/" + docs.Items[0].ID + "/report", "application/json", `{"is":"posted","note":"booked"}`},
			{"POST", "/documents/" + docs.Items[0].ID + "/report", "application/json", `{"is":"taken"}`},
			{"POST", "/documents/" + uuid.NewString() + "/report", "application/json", `{"is":"taken"}`},
		},
		"GET /imports": {{"GET", "/imports", "", ""}, {"GET", "/imports?limit=1", "", ""}},
		"POST /imports": {{"POST", "/imports", "application/json", newImport("again")}, {"POST", "/imports", "application/json", newImport("new")},
			{"POST", "/imports", "application/json", `{"name":"x","file_sha256":"1"}`}},
		"GET /imports/{import_id}": {{"GET", "/imports/" + imported, "", ""}, {"GET", "/imports/" + uuid.NewString(), "", ""}},
		"POST /imports/{import_id}/rows": {
			{"POST", "/imports/" + imported + "/rows", "application/json", `{"first_row":1,"rows":[{"partner":"acme","kind":"transport"},` + fmt.Sprintf(importRow, 1) + `],"last":true}`},
			{"POST", "/imports/" + imported + "/rows", "application/json", `{"first_row":2,"rows":[]}`},
			{"POST", "/imports/" + uuid.NewString() + "/rows", "application/json", `{"first_row":1,"rows":[]}`},
		},
		"PATCH /partners/{partner}":     {{"PATCH", "/partners/acme", "application/merge-patch+json", `{"attempts":7}`}},
		"GET /partners/{partner}/sheet": {{"GET", "/partners/acme/sheet", "", ""}, {"GET", "/partners/nobody/sheet", "", ""}},
		"POST /partners/{partner}/test": {
			{"POST", "/partners/acme/test", "application/json", `{"payload":"` + base64.StdEncoding.EncodeToString([]byte(invoice{reference: "77", number: "RE-77", total: "119.00"}.text())) + `","certificate":"` + ownCertificate(t) + `"}`},
			{"POST", "/partners/acme/test", "application/json", `{"payload":"` + base64.StdEncoding.EncodeToString([]byte("nothing")) + `"}`},
			{"POST", "/partners/acme/test", "application/json", `{"certificate":"no"}`}, {"POST", "/partners/nobody/test", "application/json", `{"certificate":"no"}`},
			{"POST", "/partners/acme/test", "application/json", `{}`},
		},
		"GET /partners/{partner}/revisions":                     {{"GET", "/partners/acme/revisions", "", ""}, {"GET", "/partners/nobody/revisions", "", ""}},
		"GET /partners/{partner}/revisions/{revision}":          {{"GET", "/partners/acme/revisions/1", "", ""}, {"GET", "/partners/acme/revisions/99", "", ""}, {"GET", "/partners/acme/revisions/x", "", ""}},
		"POST /partners/{partner}/revisions/{revision}/restore": {{"POST", "/partners/acme/revisions/1/restore", "", ""}, {"POST", "/partners/acme/revisions/99/restore", "", ""}},
		"GET /organisations/{organisation}/revisions":           {{"GET", "/organisations/north/revisions", "", ""}, {"GET", "/organisations/nobody/revisions", "", ""}},
		"GET /configuration":                                    {{"GET", "/configuration", "", ""}, {"GET", "/configuration?partner=acme", "", ""}, {"GET", "/configuration?partner=nobody", "", ""}},
		"POST /configuration/diff":                              {{"POST", "/configuration/diff", "application/yaml", "kind: Organisation\nid: south\n"}, {"POST", "/configuration/diff", "application/yaml", "kind: Organisation\nid: SOUTH\n"}},
		"GET /audit":                                            {{"GET", "/audit", "", ""}, {"GET", "/audit?limit=1&partner=acme", "", ""}},
		"GET /users":                                            {{"GET", "/users", "", ""}},
		"POST /users": {
			{"POST", "/users", "application/json", `{"person":"p","role":"viewer"}`},
			{"POST", "/users", "application/json", `{"person":"q","role":"viewer"}`},
			{"POST", "/users", "application/json", `{"person":"P","role":"admin"}`},
		},
		"POST /users/{person}/role":    {{"POST", "/users/p/role", "application/json", `{"role":"operator"}`}, {"POST", "/users/p/role", "application/json", `{"role":"root"}`}},
		"POST /users/{person}/disable": {{"POST", "/users/q/disable", "", ""}, {"POST", "/users/p.%20admin/disable", "", ""}, {"POST", "/users/nobody/disable", "", ""}},
		"POST /users/{person}/enable":  {{"POST", "/users/q/enable", "", ""}},
		"GET /tokens":                  {{"GET", "/tokens", "", ""}},
		"POST /tokens":                 {{"POST", "/tokens", "application/json", `{"person":"p","role":"viewer","label":"l","expires_at":"` + expires + `"}`}, {"POST", "/tokens", "application/json", `{"person":"p"}`}},
	}
	for _, d := range drift.Items {
		calls["GET /drift/{alert_id}"] = append(calls["GET /drift/{alert_id}"], struct{ method, path, contentType, body string }{"GET", "/drift/" + d.ID, "", ""})
	}
	for _, d := range docs.Items {
		calls["GET /documents/{document_id}"] = append(calls["GET /documents/{document_id}"], struct{ method, path, contentType, body string }{"GET", "/documents/" + d.ID, "", ""})
	}
	examples := answersMade{}
	for _, rt := range Routes {
		name := rt.Method + " " + rt.Path
		if name == "DELETE /tokens/{token_id}" {
			calls[name] = append(calls[name], struct{ method, path, contentType, body string }{"DELETE", "/tokens/" + made.ID, "", ""})
		}
		t.Run(name, func(t *testing.T) {
			if len(calls[name]) == 0 {
				t.Fatal("the route is called by no example")
			}
			good := 0
			for _, c := range calls[name] {
				headers := []string{"Content-Type", c.contentType}
				if c.method == http.MethodPatch {
					headers = append(headers, "If-Match", r.ask(admin, "GET", c.path, "").header.Get("ETag"))
				}
				a := r.ask(admin, c.method, c.path, c.body, headers...)
				checkAnswer(t, document, operations[name], c.method+" "+c.path, a)
				examples.keep(t, name, a)
				if a.status < 300 {
					good++
				}
				if name == "POST /tokens" && made.ID == "" {
					if err := json.Unmarshal([]byte(a.body), &made); err != nil {
						t.Fatal(err)
					}
				}
			}
			if good == 0 {
				t.Error("no example had a good answer")
			}
		})
	}
	t.Run("a decided drift", func(t *testing.T) {
		a := r.ask(admin, "GET", "/drift/"+interchange, "")
		checkAnswer(t, document, operations["GET /drift/{alert_id}"], "a decided drift", a)
		if !strings.Contains(a.body, `"approved_by": "p. admin"`) || !strings.Contains(a.body, `"by": "p. operator"`) {
			t.Errorf("who decided does not stand in it: %s", a.body)
		}
	})
	t.Run("the examples in the document are answers like these", examples.check)
}

// checkAnswer holds an answer against what the operation describes.
func checkAnswer(t *testing.T, document *document, op *operation, call string, a answer) {
	t.Helper()
	described := op.Responses[fmt.Sprint(a.status)]
	if described == nil {
		if a.status < 400 {
			t.Errorf("%s: status %d is not described: %s", call, a.status, a.body)
			return
		}
		described = op.Responses["default"]
	}
	if described.Ref != "" {
		b, err := json.Marshal(document.find(described.Ref))
		if err == nil {
			err = json.Unmarshal(b, &described)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if a.status == http.StatusNoContent {
		if a.body != "" {
			t.Errorf("%s: a body without content: %s", call, a.body)
		}
		return
	}
	media, ok := described.Content[a.header.Get("Content-Type")]
	if !ok {
		t.Errorf("%s: Content-Type %q is not described for %d", call, a.header.Get("Content-Type"), a.status)
		return
	}
	if media.Schema == nil {
		return
	}
	value := any(a.body)
	if strings.HasSuffix(a.header.Get("Content-Type"), "json") {
		if err := json.Unmarshal([]byte(a.body), &value); err != nil {
			t.Errorf("%s: %v", call, err)
			return
		}
	}
	for _, f := range document.faults(media.Schema, value, "") {
		t.Errorf("%s: %s", call, f)
	}
}

func TestParametersAreStrict(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ query, problem, detail string }{
		{"partnr=acme", "unknown-parameter", `parameter "partnr" is not known here; these are: partner, message_id, transport, verdict, outcome, document, after, before, cursor, limit`},
		{"partner=", "bad-parameter", `parameter "partner" is empty; leave it out or give it a value`},
		{"partner=a&partner=b", "bad-parameter", `parameter "partner" is given 2 times; give it once`},
		{"verdict=second", "bad-parameter", `parameter "verdict" must be one of first, duplicate, retry, re-evaluation, correction, completion, reuse, drift, refused, not "second"`},
		{"after=yesterday", "bad-parameter", `parameter "after" must be a time like 2026-11-28T09:14:00Z, not "yesterday"`},
		{"limit=501", "bad-parameter", `parameter "limit" must be a number from 1 to 500, not "501"`},
		{"limit=0", "bad-parameter", `parameter "limit" must be a number from 1 to 500, not "0"`},
		{"cursor=%25", "bad-parameter", `parameter "cursor" holds what no cursor does: take "next" of the page before, or leave it out`},
		{"cursor=YQ", "bad-parameter", `parameter "cursor" is not one that this list gave: take "next" of the page before, or leave it out`},
		{"cursor=0w", "bad-parameter", `parameter "cursor" is not one that this list gave: take "next" of the page before, or leave it out`}, // a byte that is no UTF-8
		{"cursor=AA", "bad-parameter", `parameter "cursor" is not one that this list gave: take "next" of the page before, or leave it out`}, // a NUL
		{"partner=%00", "bad-parameter", `parameter "partner" is no text`},
		{"a;b", "bad-parameter", "the query cannot be read: invalid semicolon separator in query"},
	} {
		t.Run(c.query, func(t *testing.T) {
			a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/messages?"+c.query, "")
			want := http.StatusBadRequest
			if strings.Contains(c.detail, "is not one that this list gave") {
				want = http.StatusUnprocessableEntity // it is as described
			}
			if p := a.problem(t); a.status != want || p.Type != c.problem || p.Detail != c.detail {
				t.Errorf("%d %s: %s", a.status, p.Type, p.Detail)
			}
		})
	}
}
