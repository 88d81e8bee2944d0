package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
)

func TestMethods(t *testing.T) {
	r := newRig(t)
	viewer := r.tokens[accounts.Viewer]
	for _, c := range []struct{ path, allow string }{
		{"/partners", "GET, HEAD, PUT, OPTIONS"},
		{"/messages/acme/" + "http:north:a%2Fb", "GET, HEAD, OPTIONS"},
		{"/deadletters/replay", "POST, OPTIONS"},
		{"/tokens/" + uuid.NewString(), "DELETE, OPTIONS"},
	} {
		for _, method := range []string{"TRACE", "PURGE", "PATCH", "OPTIONS"} {
			a := r.ask(viewer, method, c.path, "")
			if method == "PATCH" && strings.Contains(c.allow, "PATCH") {
				continue
			}
			want := http.StatusMethodNotAllowed
			if method == http.MethodOptions {
				want = http.StatusNoContent
			}
			if a.status != want || a.header.Get("Allow") != c.allow {
				t.Errorf("%s %s: %d, Allow %q, want %q", method, c.path, a.status, a.header.Get("Allow"), c.allow)
			}
			if want == http.StatusMethodNotAllowed && a.problem(t).Type != "method-not-allowed" {
				t.Errorf("%s %s: %s", method, c.path, a.body)
			}
		}
	}
	t.Run("HEAD says what GET would", func(t *testing.T) {
		for token, want := range map[string]int{viewer: http.StatusOK, "": http.StatusUnauthorized} {
			a := r.ask(token, http.MethodHead, "/partners", "")
			get := r.ask(token, http.MethodGet, "/partners", "")
			if a.status != want || a.header.Get("Content-Length") != get.header.Get("Content-Length") || a.header.Get("Content-Type") != get.header.Get("Content-Type") {
				t.Errorf("%d %v, want as %d %v", a.status, a.header, get.status, get.header)
			}
		}
	})
	t.Run("every answer has an id of its own", func(t *testing.T) {
		seen := map[string]bool{}
		for _, path := range []string{"/partners", "/partners", "/nothing", "/partners?x=1"} {
			id := r.ask(viewer, http.MethodGet, path, "").header.Get("X-Request-Id")
			if uuid.Validate(id) != nil || seen[id] {
				t.Errorf("%s: %q", path, id)
			}
			seen[id] = true
		}
	})
	t.Run("one that fails on our side is found in the log by it", func(t *testing.T) {
		r := newRig(t)
		r.get(accounts.Admin, "/users", &struct{}{})
		if _, err := r.pool.Exec(t.Context(), `alter table audit_entry rename to gone; alter table account rename to gone_too`); err != nil {
			t.Fatal(err)
		}
		a := r.ask(r.tokens[accounts.Admin], http.MethodGet, "/users", "")
		id := a.header.Get("X-Request-Id")
		if a.status != http.StatusInternalServerError || !strings.Contains(a.body, id) || !strings.Contains(r.log.String(), "request_id="+id) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestAccept(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		accept string
		taken  bool
	}{
		{"application/json", true}, {"*/*", true}, {"*", true}, {"application/*;q=0.1, text/html", true}, {"APPLICATION/JSON", true},
		{"text/html, */*;q=0.8", true}, {"application/json; charset=utf-8", true}, {";;;", true}, {"", true},
		{"text/html", false}, {"application/json;q=0", false}, {"application/json;q=0, */*", false}, {"image/*, text/plain", false},
	} {
		a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/partners", "", "Accept", c.accept)
		if taken := a.status == http.StatusOK; taken != c.taken {
			t.Errorf("Accept %q: %d", c.accept, a.status)
		}
		if !c.taken && (a.status != http.StatusNotAcceptable || a.problem(t).Type != "not-acceptable") {
			t.Errorf("Accept %q: %d %s", c.accept, a.status, a.body)
		}
	}
	if a := r.ask("", http.MethodGet, "/partners", "", "Accept", "text/html"); a.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", a.status)
	}
}

// A body is held against the schema that the document shows: what Go's reader of
// JSON would let pass is told, with its place.
func TestBodiesAreAsDescribed(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ name, body, key, detail string }{
		{"null is no value", `{"person":"p","role":null,"label":"l"}`, "role", "null is not one of viewer, consumer, operator, approver, admin"},
		{"keys are spelt as they are", `{"Person":"p","role":"viewer","label":"l"}`, "", "person is missing"},
		{"what is needed is there", `{}`, "", "person is missing"},
		{"a key that nobody knows", `{"person":"p","role":"viewer","label":"l","expires":"1h"}`, "", `"expires" is not known here`},
		{"another type", `{"person":["p"],"role":"viewer","label":"l"}`, "person", `["p"] is not of type string`},
		{"an empty name", `{"person":"","role":"viewer","label":"l"}`, "person", "0 characters, but at least 1 must be"},
		{"a role of another word", `{"person":"p","role":"root","label":"l"}`, "role", `"root" is not one of viewer, consumer, operator, approver, admin`},
		{"a time of another form", `{"person":"p","role":"viewer","label":"l","expires_at":"tomorrow"}`, "expires_at", `"tomorrow" is no date-time`},
		{"no object", `[]`, "", "[] is not of type object"},
		{"a NUL", `{"person":"p\u0000","role":"viewer","label":"l"}`, "person", "holds a NUL, which is no text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := r.ask(r.tokens[accounts.Admin], http.MethodPost, "/tokens", c.body, "Content-Type", "application/json")
			p := a.problem(t)
			if a.status != http.StatusBadRequest || p.Type != "bad-body" || len(p.Errors) == 0 || p.Errors[0].Key != c.key || p.Errors[0].Detail != c.detail || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("%d %+v", a.status, p)
			}
		})
	}
	t.Run("a key that stands twice is refused by every route that takes JSON", func(t *testing.T) {
		d, err := openAPIDocument()
		if err != nil {
			t.Fatal(err)
		}
		parameter := regexp.MustCompile(`\{[a-z_]+\}`)
		asked := 0
		for _, rt := range Routes {
			op := d.operations[rt.Method+" "+rt.Path]
			if op == nil || op.RequestBody == nil {
				continue
			}
			if _, ok := op.RequestBody.Content["application/json"]; !ok {
				continue
			}
			asked++
			path := parameter.ReplaceAllString(strings.ReplaceAll(rt.Path, "{partner}", "acme"), uuid.NewString())
			a := r.ask(r.tokens[accounts.Admin], rt.Method, path, `{"note": {"x": 1, "y": [{"x": 1, "x": 2}]}}`, "Content-Type", "application/json")
			p := a.problem(t)
			if a.status != http.StatusBadRequest || p.Type != "bad-body" || len(p.Errors) != 1 || p.Errors[0].Key != "note.y[1].x" || !strings.Contains(p.Detail, "note.y[1].x stands twice") {
				t.Errorf("%s %s: %d %s", rt.Method, rt.Path, a.status, a.body)
			}
		}
		if asked < 12 {
			t.Errorf("%d routes take JSON", asked)
		}
	})
	t.Run("an integer may be written as 1.0", func(t *testing.T) {
		a := r.ask(r.tokens[accounts.Admin], http.MethodPost, "/imports/"+uuid.NewString()+"/rows", `{"first_row":1.0,"rows":[]}`, "Content-Type", "application/json")
		if a.status != http.StatusNotFound {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	for name, body := range map[string]string{"no JSON": `{`, "two values": `{} {}`, "a brace too many": `{"person":"p. viewer","role":"viewer","label":"l"}}`, "a bracket behind it": `{"person":"p. viewer","role":"viewer","label":"l"}] {`, "nothing": ``, "bytes that are no UTF-8": "{\"person\":\"\xff\"}"} {
		if a := r.ask(r.tokens[accounts.Admin], http.MethodPost, "/tokens", body, "Content-Type", "application/json"); a.status != http.StatusBadRequest || a.problem(t).Type != "bad-body" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
