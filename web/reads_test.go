package web

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// listed is what the tests read of an item of the journal.
type listed struct {
	Partner   string
	MessageID string `json:"message_id"`
	Verdict   string
	Outcome   string
	Message   string
}

func (r *rig) messages(query string) (list []string, next string) {
	r.t.Helper()
	var p struct {
		Items []listed
		Next  string
	}
	r.get(accounts.Viewer, "/messages?"+query, &p)
	for _, d := range p.Items {
		list = append(list, d.Partner+" "+d.Verdict+" "+d.Outcome)
	}
	return list, p.Next
}

func TestMessagesAreFiltered(t *testing.T) {
	r := filled(t)
	all, next := r.messages("")
	if next != "" || len(all) != 9 {
		t.Fatalf("%d deliveries, next %q:\n%s", len(all), next, strings.Join(all, "\n"))
	}
	for _, c := range []struct {
		name, query string
		want        []string
	}{
		{"by partner", "partner=bolt", []string{"bolt first rejected", "bolt first accepted"}},
		{"by interchange key", "partner=acme&message_id=" + url.QueryEscape(keyOf1), []string{"acme drift quarantined", "acme duplicate accepted", "acme first accepted"}},
		{"by transport key, with what held no interchange", "message_id=" + url.QueryEscape("http:north:m2"), []string{"acme first rejected"}},
		{"by transport key, what came under it", "message_id=" + url.QueryEscape("http:north:m/1"), []string{"acme drift quarantined", "acme duplicate accepted", "acme first accepted"}},
		{"by verdict and outcome", "verdict=drift&outcome=quarantined&partner=acme", []string{"acme drift quarantined", "acme drift quarantined"}},
		{"by document number", "document=B-1", []string{"bolt first accepted"}},
		{"by a number that nothing has", "document=X", nil},
		{"by number and a key that did not bring it", "document=B-1&message_id=" + url.QueryEscape(keyOf1), nil},
		{"of a time that is past", "before=2020-01-01T00:00:00Z", nil},
		{"of a partner that does not exist", "partner=nobody", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := r.messages(c.query)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want (-) and got (+):\n%s", diff)
			}
		})
	}
}

func TestPagesJoinToTheWhole(t *testing.T) {
	r := filled(t)
	for _, path := range []string{"/messages", "/drift", "/documents"} {
		t.Run(path, func(t *testing.T) {
			type page struct {
				Items []json.RawMessage
				Next  string
			}
			var whole page
			r.get(accounts.Viewer, path, &whole)
			if len(whole.Items) < 2 || whole.Next != "" {
				t.Fatalf("%d items, next %q: too few to cut", len(whole.Items), whole.Next)
			}
			var joined []json.RawMessage
			cursor := ""
			for range len(whole.Items) {
				var one page
				r.get(accounts.Viewer, path+"?limit=1"+cursor, &one)
				joined = append(joined, one.Items...)
				if one.Next == "" {
					break
				}
				cursor = "&cursor=" + one.Next
			}
			if diff := cmp.Diff(whole.Items, joined); diff != "" {
				t.Errorf("whole (-) and joined (+):\n%s", diff)
			}
		})
	}
}

func TestAMessageShowsAllThatIsKnown(t *testing.T) {
	r := filled(t)
	var m struct {
		Kind     string
		KeptBy   []string `json:"kept_by"`
		Variants []struct {
			State           string
			Current         bool
			Raw             string
			Messages        []messageFate
			Acknowledgement struct{ Answer struct{ Outcome string } }
		}
		Receptions []listed
		Alerts     []struct{ Headline, Severity string }
		Documents  []struct{ Number, State string }
	}
	r.get(accounts.Viewer, "/messages/acme/"+url.PathEscape(keyOf1), &m)
	if m.Kind != "interchange" || len(m.Variants) != 2 || len(m.Receptions) != 3 || len(m.Alerts) != 1 || len(m.Documents) != 1 {
		t.Fatalf("%+v", m)
	}
	if diff := cmp.Diff([]string{"open_drift"}, m.KeptBy); diff != "" {
		t.Error(diff)
	}
	if v := m.Variants[0]; v.State != "accepted" || !v.Current || v.Acknowledgement.Answer.Outcome != "accepted" || v.Messages[0].State != "posted" {
		t.Errorf("first variant: %+v", v)
	}
	if v := m.Variants[1]; v.State != "quarantined" || v.Current || v.Messages[0].State != "undecided" {
		t.Errorf("second variant: %+v", v)
	}
	if a := m.Alerts[0]; a.Severity != "critical" || !strings.Contains(a.Headline, "119.00 → 129.00") {
		t.Errorf("alert: %+v", a)
	}
	if d := m.Documents[0]; d.Number != "RE-1" || d.State != "live" {
		t.Errorf("document: %+v", d)
	}
	t.Run("under a path that a proxy has unescaped as far as it may", func(t *testing.T) {
		r.get(accounts.Viewer, "/messages/acme/"+keyOf1, &m)
	})
	t.Run("a transport key names the interchanges under it", func(t *testing.T) {
		var m struct {
			Kind    string
			Carried []ref
		}
		r.get(accounts.Viewer, "/messages/acme/"+url.PathEscape("http:north:m/1"), &m)
		if m.Kind != "transport" || len(m.Carried) != 1 || m.Carried[0].MessageID != keyOf1 {
			t.Errorf("%+v", m)
		}
	})
}

func TestRawPayloads(t *testing.T) {
	r := filled(t)
	path := "/messages/acme/" + url.PathEscape(keyOf1) + "/raw"
	text := invoice{reference: "1", number: "RE-1", total: "119.00"}.text()
	changed := strings.Replace(text, "119.00", "129.00", 1)
	audited := func() int {
		list, err := r.api.Accounts.ListAudit(t.Context(), accounts.AuditFilter{Action: "payload.read"})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	t.Run("an operator gets the bytes as they came, as an attachment, and the audit log says so", func(t *testing.T) {
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "")
		if a.status != http.StatusOK || a.body != text {
			t.Fatalf("%d %q", a.status, a.body)
		}
		if d := a.header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; ") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers %v", a.header)
		}
		list, err := r.api.Accounts.ListAudit(t.Context(), accounts.AuditFilter{Action: "payload.read"})
		if err != nil || len(list) != 1 || list[0].Who != "p. operator" || list[0].Subject != keyOf1 || list[0].Partner != "acme" {
			t.Errorf("audit: %+v %v", list, err)
		}
	})
	t.Run("a viewer does not, and nothing is noted", func(t *testing.T) {
		before := audited()
		if a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, path, ""); a.status != http.StatusForbidden {
			t.Errorf("%d", a.status)
		}
		if audited() != before {
			t.Error("the audit log grew")
		}
	})
	t.Run("another variant is asked for by its digest", func(t *testing.T) {
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path+fmt.Sprintf("?sha256=%x", sha(changed)), "")
		if a.body != changed {
			t.Errorf("%d %q", a.status, a.body)
		}
	})
	t.Run("a digest that never came is not found", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path+fmt.Sprintf("?sha256=%x", sha("")), ""); a.status != http.StatusNotFound {
			t.Errorf("%d", a.status)
		}
	})
	t.Run("without the audit line there are no bytes", func(t *testing.T) {
		record := r.api.Record
		r.api.Record = func(context.Context, accounts.Entry) error { return errors.New("the disk is full") }
		defer func() { r.api.Record = record }()
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "")
		if p := a.problem(t); a.status != http.StatusInternalServerError || strings.Contains(a.body, "disk") || p.Type != "failed" || !strings.Contains(r.log.String(), "the disk is full") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a payload whose retention has passed is gone", func(t *testing.T) {
		if _, err := r.pool.Exec(t.Context(), `delete from payload`); err != nil {
			t.Fatal(err)
		}
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "")
		if p := a.problem(t); a.status != http.StatusGone || p.Type != "no-longer-kept" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestDrift(t *testing.T) {
	r := filled(t)
	ids := map[string]string{}
	var list struct {
		Items []struct {
			ID   string `json:"alert_id"`
			Kind string
		}
	}
	r.get(accounts.Viewer, "/drift", &list)
	for _, a := range list.Items {
		ids[a.Kind] = a.ID
	}
	type detail struct {
		Comparison *struct {
			Class, Severity, Words string
		}
		With *ref   `json:"compared_with"`
		Note string `json:"comparison_note"`
	}
	for _, c := range []struct{ kind, with, words string }{
		{"interchange", keyOf1, "119.00 → 129.00"},
		{"transport", "http:north:m/1", "RE-7"},
		{"document", keyOf1, "119.00 → 139.00"},
	} {
		t.Run("of kind "+c.kind+" is compared with what was there", func(t *testing.T) {
			var d detail
			r.get(accounts.Viewer, "/drift/"+ids[c.kind], &d)
			if d.Comparison == nil || !strings.Contains(d.Comparison.Words, c.words) || d.With == nil || d.With.MessageID != c.with {
				b, _ := json.Marshal(d)
				t.Errorf("%s", b)
			}
		})
	}
	audited := func() []accounts.Entry {
		list, err := r.api.Accounts.ListAudit(t.Context(), accounts.AuditFilter{Action: "payload.read"})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	t.Run("an operator sees the values, and the audit log says so", func(t *testing.T) {
		before := len(audited())
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, "/drift/"+ids["interchange"], "")
		if !strings.Contains(a.body, `"before": "119.00"`) || strings.Contains(a.body, "values_withheld") {
			t.Errorf("%s", a.body)
		}
		list := audited()
		if len(list) != before+1 || list[0].Who != "p. operator" || list[0].Subject != keyOf1 || list[0].Partner != "acme" || !strings.Contains(string(list[0].Detail), ids["interchange"]) {
			t.Errorf("audit: %+v", list)
		}
	})
	t.Run("without the audit line there are no values", func(t *testing.T) {
		record := r.api.Record
		r.api.Record = func(context.Context, accounts.Entry) error { return errors.New("the disk is full") }
		defer func() { r.api.Record = record }()
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, "/drift/"+ids["interchange"], ""); a.status != http.StatusInternalServerError || strings.Contains(a.body, "129.00") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a viewer sees what changed and where, not from what to what", func(t *testing.T) {
		before := len(audited())
		places := 0
		for kind, id := range ids {
			var d struct {
				Withheld   bool `json:"values_withheld"`
				Comparison struct {
					Messages []struct{ Changes []map[string]any }
					Envelope []map[string]any
				}
			}
			r.get(accounts.Viewer, "/drift/"+id, &d)
			changes := d.Comparison.Envelope
			for _, m := range d.Comparison.Messages {
				changes = append(changes, m.Changes...)
			}
			for _, c := range changes {
				places++
				for _, key := range []string{"before", "after", "before_text", "after_text", "item"} {
					if c[key] != nil {
						t.Errorf("%s: %s in %v", kind, key, c)
					}
				}
				segments, _ := c["content"].([]any)
				for _, s := range append(segments, c["before_segment"], c["after_segment"]) {
					if s, ok := s.(map[string]any); ok && (s["text"] != "" || s["location"] == nil) {
						t.Errorf("%s: %v", kind, s)
					}
				}
				if c["tag"] == "" || c["kind"] == "" {
					t.Errorf("%s: no place in %v", kind, c)
				}
			}
			if !d.Withheld {
				t.Errorf("%s: does not say that values are withheld", kind)
			}
		}
		if places == 0 || len(audited()) != before {
			t.Errorf("%d places, %d audit lines", places, len(audited())-before)
		}
	})
	t.Run("a digest that did not drift is not found", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, fmt.Sprintf("/drift/%s?digest=%x", ids["interchange"], sha("x")), ""); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("is filtered", func(t *testing.T) {
		for query, want := range map[string]int{"partner=acme": 3, "partner=bolt": 0, "kind=document": 1, "state=resolved": 0, "severity=critical": 2, "class=different_document": 1, "message_id=" + url.QueryEscape(keyOf1): 1} {
			r.get(accounts.Viewer, "/drift?"+query, &list)
			if len(list.Items) != want {
				t.Errorf("%s: %d, want %d", query, len(list.Items), want)
			}
		}
	})
	t.Run("without the original's payload there is its class and no difference", func(t *testing.T) {
		if _, err := r.pool.Exec(t.Context(), `delete from payload where purge_month < '9999-01-01'`); err != nil {
			t.Fatal(err)
		}
		var d detail
		r.get(accounts.Viewer, "/drift/"+ids["interchange"], &d)
		if d.Comparison == nil || d.Comparison.Class != "original_purged" || d.Note == "" {
			b, _ := json.Marshal(d)
			t.Errorf("%s", b)
		}
	})
}

func TestApplyTellsEveryFault(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	t.Run("in the text", func(t *testing.T) {
		a := r.ask(admin, http.MethodPut, "/partners", "kind: Partner\nid: acme\nnane: ACME\non_drift: panic\n", "Content-Type", "application/yaml")
		p := a.problem(t)
		if a.status != http.StatusUnprocessableEntity || p.Type != "invalid-configuration" || len(p.Errors) < 2 || p.Errors[0].Line == 0 {
			t.Errorf("%d %+v", a.status, p)
		}
	})
	t.Run("against other partners", func(t *testing.T) {
		text := strings.Replace(configuration, "9520001000027", "9520001000010", 1)
		a := r.ask(admin, http.MethodPut, "/partners", text, "Content-Type", "application/yaml")
		if p := a.problem(t); a.status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "belongs to partner") {
			t.Errorf("%d %+v", a.status, p)
		}
	})
	t.Run("a server reads no environment for those who ask", func(t *testing.T) {
		text := strings.Replace(configuration, "name: Bolt\n", "name: Bolt\nhttp: {tokens: [{label: x, env: HOME}]}\n", 1)
		if a := r.ask(admin, http.MethodPut, "/partners", text, "Content-Type", "application/yaml"); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("and bodies that are none", func(t *testing.T) {
		for _, c := range []struct {
			contentType, body string
			status            int
		}{
			{"application/json", "{}", http.StatusUnsupportedMediaType},
			{"application/yaml", strings.Repeat("# nothing\n", partners.MaxText/10+1), http.StatusRequestEntityTooLarge},
		} {
			a := r.ask(admin, http.MethodPut, "/partners", c.body, "Content-Type", c.contentType)
			if a.problem(t); a.status != c.status {
				t.Errorf("%d, want %d", a.status, c.status)
			}
		}
		if a := r.ask(admin, http.MethodPost, "/tokens", `{"person":"p","role":"viewer","label":"l","until":"never"}`, "Content-Type", "application/json"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "until") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestHealth(t *testing.T) {
	well := []Check{{Name: "database", Run: func(context.Context) error { return nil }}, {Name: "schema", Run: func(context.Context) error { return nil }}}
	ill := append(slices.Clone(well), Check{Name: "durability", Run: func(context.Context) error { return errors.New("fsync off: set it on") }})
	held := append(slices.Clone(well), Check{Name: "outgoing", Only: true, Run: func(context.Context) error { return errors.New("nothing leaves") }})
	for _, c := range []struct {
		path   string
		checks []Check
		status int
		body   string
	}{
		{"/livez", ill, 200, "ok\n"},
		{"/readyz", well, 200, "ready\n"},
		{"/readyz?verbose", well, 200, "[+] database\n[+] schema\nready\n"},
		{"/readyz", ill, 503, "[-] durability: fsync off: set it on\nnot ready\n"},
		{"/readyz?verbose", ill, 503, "[+] database\n[+] schema\n[-] durability: fsync off: set it on\nnot ready\n"},
		{"/readyz", held, 200, "[!] outgoing: nothing leaves\nready\n"}, // deliveries are taken
		{"/nowhere", well, 404, ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			(&API{Checks: c.checks, Metrics: http.NotFoundHandler()}).Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
			if w.Code != c.status || c.body != "" && w.Body.String() != c.body {
				t.Errorf("%d %q", w.Code, w.Body)
			}
		})
	}
}

// quarantined has the gateway refuse a message under acme's name that is not its, and
// gives the delivery's id.
func quarantined(t *testing.T, r *rig) string {
	t.Helper()
	text := []byte("sealed by somebody else")
	d := &gateway.Delivery{Transport: "as2", Partner: r.directory.Partner("acme"), TransportID: "as2:NORTH:forged", Received: time.Now(), Remote: "203.0.113.5",
		Payload: edi.Bytes(text), SHA256: sha256.Sum256(text), Evidence: []gateway.Exhibit{gateway.AsRequest([]byte("Content-Type: text/plain\r\n\r\n"), edi.Bytes(text))}, Fault: &gateway.Rejection{Answer: gateway.ToldUnproven, Reason: "authentication-failed", Detail: "It is another's."}}
	theirs := (*gateway.Rejection)(nil)
	if _, err := r.gateway.Receive(t.Context(), d); !errors.As(err, &theirs) {
		t.Fatal(err)
	}
	var page struct {
		Items []struct {
			ID      string `json:"delivery_id"`
			Message string
		}
	}
	r.get(accounts.Viewer, "/messages?partner=acme&verdict=refused&limit=1", &page)
	if len(page.Items) != 1 {
		t.Fatal("it is not in the journal")
	}
	if m := page.Items[0].Message; m != "" {
		t.Errorf("it took no key, and is to be read at %s", m)
	}
	return page.Items[0].ID
}

func TestRawDeliveries(t *testing.T) {
	r := filled(t)
	path := "/deliveries/acme/" + quarantined(t, r) + "/raw"
	t.Run("an operator gets what failed verification as it came, and the audit log says so", func(t *testing.T) {
		a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path, "")
		if a.status != http.StatusOK || a.body != "sealed by somebody else" || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment; ") {
			t.Fatalf("%d %q %v", a.status, a.body, a.header)
		}
		list, err := r.api.Accounts.ListAudit(t.Context(), accounts.AuditFilter{Action: "payload.read"})
		if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Subject, "delivery:") || list[0].Partner != "acme" {
			t.Errorf("audit: %+v %v", list, err)
		}
	})
	t.Run("with the request's header, where that was kept", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path+"?with=header", ""); a.status != http.StatusOK || a.body != "Content-Type: text/plain\r\n\r\nsealed by somebody else" || !strings.HasSuffix(a.header.Get("Content-Disposition"), `.eml"`) {
			t.Errorf("%d %q %v", a.status, a.body, a.header)
		}
		if _, err := r.pool.Exec(t.Context(), `delete from evidence`); err != nil {
			t.Fatal(err)
		}
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, path+"?with=header", ""); a.status != http.StatusNotFound || !strings.Contains(a.body, "its header was not kept") {
			t.Errorf("%d %q", a.status, a.body)
		}
	})
	t.Run("a viewer does not", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, path, ""); a.status != http.StatusForbidden {
			t.Errorf("%d", a.status)
		}
	})
	t.Run("under another partner's name it is not there", func(t *testing.T) {
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, strings.Replace(path, "acme", "bolt", 1), ""); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("what was received has a key, and is asked for under it", func(t *testing.T) {
		var page struct {
			Items []struct {
				ID string `json:"delivery_id"`
			}
		}
		r.get(accounts.Viewer, "/messages?partner=acme&verdict=first&limit=1", &page)
		if a := r.ask(r.tokens[accounts.Operator], http.MethodGet, "/deliveries/acme/"+page.Items[0].ID+"/raw", ""); a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
