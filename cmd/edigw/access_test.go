package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/web"
)

// doors is a gateway in which something of everything is there, and the keys that
// people and strangers try on it.
type doors struct {
	*gatewayUnderTest
	db        *pgxpool.Pool
	there     map[string]string // for each name in a path, something that is there
	roles     map[accounts.Role]string
	strangers map[string][]string // Authorization headers that prove nobody
	partner   map[string]string   // tokens for the ingress, by partner
	requests  map[string]exampleRequest
}

// exampleRequest is the body that the API's document gives as an example.
type exampleRequest struct{ contentType, body string }

func newDoors(t *testing.T) *doors {
	d := &doors{gatewayUnderTest: serveGateway(t, "--event-workers", "0"), roles: map[accounts.Role]string{}, partner: map[string]string{}, requests: map[string]exampleRequest{}}
	d.db = connected(t, d.url)
	d.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	d.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	if r := d.do("ingest", "testdata/changed.edi", "--partner", "acme"); r.code != exitFailed {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	d.issueTokens()
	d.issueStrangers()
	d.readRequests()
	begin := d.requests["POST /imports"]
	if a := d.ask("POST", d.at.URL+web.Prefix+"/imports", begin.contentType, begin.body, "Bearer "+d.roles[accounts.Admin]); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	erp := d.requests["PUT /subscriptions/{subscription}"]
	if a := d.ask("PUT", d.at.URL+web.Prefix+"/subscriptions/erp", erp.contentType, erp.body, "Bearer "+d.roles[accounts.Admin]); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	d.there = map[string]string{
		"organisation": "north", "revision": "1",
		"partner": "acme", "message_id": key, "label": "spare", "person": "dora", "token_id": d.spareToken(),
		"event_id": d.one(`select event_id::text from outbox where partner_id = 'acme' limit 1`), "subscription": "erp",
		"import_id":   d.one(`select import_id::text from key_import`),
		"alert_id":    d.one(`select alert_id::text from drift_alert`),
		"document_id": d.one(`select document_id::text from document`),
		"run_id":      d.one(`insert into purge_run (run_id, state, node, ended_at) values (gen_random_uuid(), 'done', 'here', now()) returning run_id::text`),
		"gap_id": d.one(`
			insert into sequence_gap (partner_id, gap_id, series, test, numbers, missing, width, before, after, since, opened_at)
			values ('acme', gen_random_uuid(), 'unb:a:14:b:14:#', false, '{2}', '{2}', 0, '1', '3', now(), now())
			returning gap_id::text`),
		"delivery_id": d.one(`
			insert into delivery
			select (jsonb_populate_record(d, jsonb_build_object('delivery_id', gen_random_uuid(), 'verdict', 'refused'))).*
			from delivery d where partner_id = 'acme' and payload_id is not null limit 1
			returning delivery_id::text`),
	}
	return d
}

// one asks the database for one value.
func (d *doors) one(sql string) (value string) {
	d.t.Helper()
	if err := d.db.QueryRow(d.t.Context(), sql).Scan(&value); err != nil {
		d.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// issueTokens makes a person and a token of each role, and tokens of partners.
func (d *doors) issueTokens() {
	for _, role := range accounts.Roles {
		person := "a " + string(role)
		d.must(nil, "users", "add", person, "--role", string(role))
		d.roles[role] = strings.TrimSpace(d.must(nil, "tokens", "create", "--person", person, "--role", string(role)).out)
	}
	d.partner["acme"] = strings.TrimSpace(d.must(nil, "partners", "token", "acme", "--label", "own").out)
	d.must(nil, "partners", "token", "acme", "--label", "spare")
	other := "kind: Partner\nid: bolt\nname: Bolt\norganisation: north\nidentifiers: [{qualifier: \"14\", id: \"9520001000027\"}]\n"
	if r := edigw(d.t, other, []string{"EDIGW_DATA_DIR=" + d.dir}, "partners", "apply", "-f", "-"); r.code != 0 {
		d.t.Fatal(r.stderr)
	}
	d.partner["bolt"] = strings.TrimSpace(d.must(nil, "partners", "token", "bolt", "--label", "own").out)
}

// issueStrangers collects what does not prove anybody.
func (d *doors) issueStrangers() {
	people := &accounts.Store{Pool: d.db}
	token := func(person string, s *accounts.Store, expires time.Time) (string, accounts.Token) {
		plain, made, err := s.FirstToken(d.t.Context(), accounts.Identity{Person: "test", Role: accounts.Admin}, accounts.NewToken{Person: person, Role: accounts.Admin, Label: "x", Expires: expires})
		if err != nil {
			d.t.Fatal(err)
		}
		return plain, made
	}
	revoked, made := token("rita", people, time.Time{})
	d.must(nil, "tokens", "revoke", made.ID.String())
	expired, _ := token("eva", &accounts.Store{Pool: d.db, Now: func() time.Time { return time.Now().Add(-2 * time.Hour) }}, time.Now().Add(-time.Hour))
	disabled, _ := token("dan", people, time.Time{})
	d.must(nil, "users", "disable", "dan")
	valid := d.roles[accounts.Admin]
	d.strangers = map[string][]string{
		"no token":                      nil,
		"an empty header":               {""},
		"a scheme without a token":      {"Bearer"},
		"another scheme":                {"Token " + valid},
		"the token alone":               {valid},
		"the token as a password":       {"Basic " + basicAuth("admin", valid)},
		"a malformed token":             {"Bearer edigw_t_x"},
		"a token cut short":             {"Bearer " + valid[:len(valid)-1]},
		"a token with something behind": {"Bearer " + valid + "x"},
		"a very long token":             {"Bearer " + accounts.TokenPrefix + strings.Repeat("x", 10_000)},
		"bytes that are no text":        {"Bearer " + accounts.TokenPrefix + "\xff\xfe"},
		"a revoked token":               {"Bearer " + revoked},
		"an expired token":              {"Bearer " + expired},
		"a disabled person's token":     {"Bearer " + disabled},
		"a partner's token":             {"Bearer " + d.partner["acme"]},
		"two tokens at once":            {"Bearer " + valid, "Bearer " + d.roles[accounts.Viewer]},
	}
}

// spareToken is one that nobody needs.
func (d *doors) spareToken() string {
	var made struct {
		ID string `json:"token_id"`
	}
	d.must(nil, "users", "add", "dora", "--role", "viewer")
	d.must(&made, "tokens", "create", "--person", "dora", "--role", "viewer", "-o", "json")
	return made.ID
}

// readRequests takes the example of each request from the document as it is served.
func (d *doors) readRequests() {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	status, text := d.get(web.Prefix + "/openapi.json")
	if err := json.Unmarshal([]byte(text), &document); err != nil || status != http.StatusOK {
		d.t.Fatalf("%d: %v", status, err)
	}
	for path, item := range document.Paths {
		for method, raw := range item {
			var op struct {
				RequestBody *struct {
					Content map[string]struct{ Example json.RawMessage }
				}
			}
			if method == "parameters" || json.Unmarshal(raw, &op) != nil || op.RequestBody == nil {
				continue
			}
			name := strings.ToUpper(method) + " " + path
			for contentType, media := range op.RequestBody.Content {
				body := string(media.Example)
				var plain string
				if json.Unmarshal(media.Example, &plain) == nil { // text that is not JSON stands in it as a string
					body = plain
				}
				if body == "" {
					d.t.Errorf("%s: openapi.yaml gives no example of the request: what could be sent here?", name)
				}
				d.requests[name] = exampleRequest{contentType, body}
			}
		}
	}
}

// path fills in the names of a route's path: with what is there, or with what is not.
func (d *doors) path(rt web.Route, isThere bool) string {
	parts := strings.Split(rt.Path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value, known := d.there[name]
		if !known {
			d.t.Fatalf("%s %s: say in newDoors what {%s} may be", rt.Method, rt.Path, name)
		}
		if !isThere {
			value = "nothing"
			if strings.HasSuffix(name, "_id") && name != "message_id" {
				value = uuid.NewString()
			}
		}
		parts[i] = url.PathEscape(value)
	}
	return strings.Join(parts, "/")
}

// toldAnswer is an answer without what differs between any two.
type toldAnswer struct {
	Status int
	Header http.Header
	Body   string
}

func (d *doors) ask(method, at, contentType, body string, authorization ...string) toldAnswer {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	r.Header["Authorization"] = authorization
	return d.send(r)
}

func (d *doors) send(r *http.Request) toldAnswer {
	d.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		d.t.Fatal(err)
	}
	resp.Header.Del("Date")
	resp.Header.Del("X-Request-Id")
	return toldAnswer{resp.StatusCode, resp.Header, string(text)}
}

// problemType is the type of the problem that an answer tells.
func (a toldAnswer) problemType(t *testing.T) string {
	t.Helper()
	var p struct{ Type string }
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d with Content-Type %q is no problem: %s", a.Status, a.Header.Get("Content-Type"), a.Body)
	}
	return p.Type[strings.LastIndexByte(p.Type, '/')+1:]
}

// rows digests every row of every table of ours. When a token was last seen is
// noted by the minute, and what runs beside has leases: neither is an effect.
func (d *doors) rows(t *testing.T) map[string]string {
	t.Helper()
	names, err := d.db.Query(t.Context(), `
		select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, name := range tables {
		digests[name] = d.one(`select count(*) || ' ' || coalesce(md5(string_agg(r, '' order by r)), '')
			from (select (to_jsonb(x) - 'last_used_at' - 'seen_at')::text as r from ` + pgx.Identifier{name}.Sanitize() + ` x) rows`)
	}
	return digests
}

func TestWhoMayDoWhat(t *testing.T) {
	d := newDoors(t)
	api := d.at.URL + web.Prefix
	for _, role := range accounts.Roles { // so that each was used within this minute
		d.ask("GET", api+"/openapi.json?x", "", "", "Bearer "+d.roles[role])
	}
	before := d.rows(t)

	for _, rt := range web.Routes {
		name := rt.Method + " " + rt.Path
		is, isNot, sent := api+d.path(rt, true), api+d.path(rt, false), d.requests[name]
		// Four requests that must not be told apart by whoever may not ask.
		asked := func(authorization ...string) []toldAnswer {
			return []toldAnswer{
				d.ask(rt.Method, is, sent.contentType, sent.body, authorization...),
				d.ask(rt.Method, isNot, sent.contentType, sent.body, authorization...),
				d.ask(rt.Method, is+"?nonsense=1", "text/plain", "nonsense", authorization...),
				d.ask(rt.Method, isNot, "", "", authorization...),
			}
		}
		same := func(t *testing.T, answers []toldAnswer) toldAnswer {
			t.Helper()
			for _, a := range answers[1:] {
				if diff := cmp.Diff(answers[0], a); diff != "" {
					t.Errorf("the answers tell what is there:\n%s", diff)
				}
			}
			return answers[0]
		}
		t.Run(name, func(t *testing.T) {
			bodies := map[string][]string{}
			for _, who := range slices.Sorted(maps.Keys(d.strangers)) {
				if rt.Role == "" {
					if a := d.ask(rt.Method, is, "", "", d.strangers[who]...); a.Status != http.StatusOK {
						t.Errorf("%s: %d, but it is open to all", who, a.Status)
					}
					continue
				}
				a := same(t, asked(d.strangers[who]...))
				if a.Status != http.StatusUnauthorized || a.problemType(t) != "not-authenticated" || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), `Bearer realm="edigw"`) {
					t.Errorf("%s: %d %s, WWW-Authenticate %q", who, a.Status, a.Body, a.Header.Get("WWW-Authenticate"))
				}
				bodies[a.Body] = append(bodies[a.Body], who)
			}
			if len(bodies) > 1 {
				t.Errorf("strangers are told apart: %v", slices.Collect(maps.Values(bodies)))
			}
			for _, role := range accounts.Roles {
				token := "Bearer " + d.roles[role]
				if rt.Role == "" || role.AtLeast(rt.Role) {
					// Whoever may is told what is wrong with the request; nothing is done.
					if a := d.ask(rt.Method, is+"?nonsense=1", sent.contentType, sent.body, token); a.Status != http.StatusBadRequest || a.problemType(t) != "unknown-parameter" {
						t.Errorf("%s may, but is told %d %s", role, a.Status, a.Body)
					}
					continue
				}
				a := same(t, asked(token))
				want := `Bearer realm="edigw", error="insufficient_scope", scope="` + string(rt.Role) + `"`
				if a.Status != http.StatusForbidden || a.problemType(t) != "not-allowed" || a.Header.Get("WWW-Authenticate") != want {
					t.Errorf("%s may not, but is told %d %s, WWW-Authenticate %q", role, a.Status, a.Body, a.Header.Get("WWW-Authenticate"))
				}
			}
		})
	}
	if diff := cmp.Diff(before, d.rows(t)); diff != "" {
		t.Errorf("requests that were refused wrote rows:\n%s", diff)
	}

	// What the document gives as an example is taken, or refused for what it asks.
	for _, rt := range web.Routes {
		name := rt.Method + " " + rt.Path
		sent := d.requests[name]
		least := rt.Role
		if least == "" {
			least = accounts.Roles[0]
		}
		t.Run(name+" as its document says", func(t *testing.T) {
			at, token := api+d.path(rt, true), "Bearer "+d.roles[least]
			a := d.ask(rt.Method, at, sent.contentType, sent.body, token)
			if a.Status == http.StatusPreconditionRequired {
				r, err := http.NewRequestWithContext(t.Context(), rt.Method, at, strings.NewReader(sent.body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{"Authorization": {token}, "Content-Type": {sent.contentType}, "If-Match": {d.ask("GET", at, "", "", token).Header.Get("ETag")}}
				a = d.send(r)
			}
			if a.Status >= 300 && a.Status != http.StatusNotFound && a.Status != http.StatusConflict && a.Status != http.StatusUnprocessableEntity {
				t.Errorf("the example, sent by a %s: %d %s", least, a.Status, a.Body)
			}
		})
	}
}

// basicAuth is the credentials of RFC 7617.
func basicAuth(user, password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestTheIngressIsForPartners(t *testing.T) {
	d := newDoors(t)
	invoice := read(t, "testdata/invoice.edi")
	before := d.rows(t)
	own := d.strangers
	delete(own, "a partner's token")
	delete(own, "two tokens at once")
	for role, token := range d.roles {
		own["a token for the API of a "+string(role)] = []string{"Bearer " + token}
	}
	own["another partner's token"] = []string{"Bearer " + d.partner["bolt"]}
	own["another partner's token as a password"] = []string{"Basic " + basicAuth("acme", d.partner["bolt"])}
	own["two tokens, the partner's among them"] = []string{"Bearer " + d.partner["bolt"], "Bearer " + d.partner["acme"]}
	var first *toldAnswer
	for _, who := range slices.Sorted(maps.Keys(own)) {
		t.Run(who, func(t *testing.T) {
			for _, path := range []string{"/in/acme", "/in/nobody", "/in/bolt%20"} {
				a := d.ask("POST", d.at.Ingress+path, "application/edifact", invoice, own[who]...)
				if first == nil {
					first = &a
				}
				if diff := cmp.Diff(*first, a); diff != "" {
					t.Errorf("%s is answered unlike others:\n%s", path, diff)
				}
			}
		})
	}
	if first.Status != http.StatusUnauthorized || first.problemType(t) != "unauthorized" || len(first.Header.Values("WWW-Authenticate")) != 2 {
		t.Errorf("%d %v %s", first.Status, first.Header, first.Body)
	}
	t.Run("no row is written for a stranger", func(t *testing.T) {
		if diff := cmp.Diff(before, d.rows(t)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a partner's token proves nothing on another's path", func(t *testing.T) {
		for partner, token := range d.partner {
			for _, path := range []string{"acme", "bolt"} {
				a := d.ask("POST", d.at.Ingress+"/in/"+path, "application/edifact", " ", "Bearer "+token)
				if want := map[bool]int{true: http.StatusBadRequest, false: http.StatusUnauthorized}[path == partner]; a.Status != want {
					t.Errorf("%s on /in/%s: %d %s, want %d", partner, path, a.Status, a.Body, want)
				}
			}
		}
	})
}

// A partner whose door is closed is told what a stranger is.
func TestAPausedPartnerIsAStranger(t *testing.T) {
	d := newDoors(t)
	paused := strings.Replace(read(t, "testdata/partners.yaml"), "name: ACME\n", "name: ACME\nstate: paused\n", 1)
	if r := edigw(t, paused, []string{"EDIGW_DATA_DIR=" + d.dir}, "partners", "apply", "-f", "-"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	invoice := read(t, "testdata/invoice.edi")
	stranger := d.ask("POST", d.at.Ingress+"/in/acme", "application/edifact", invoice, "Bearer x")
	for _, token := range []string{d.partner["acme"], d.partner["bolt"]} {
		if diff := cmp.Diff(stranger, d.ask("POST", d.at.Ingress+"/in/acme", "application/edifact", invoice, "Bearer "+token)); diff != "" {
			t.Error(diff)
		}
	}
}
