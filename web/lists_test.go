package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
)

// rawPage is any list, its items as they came.
type rawPage struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next"`
}

// threeOfAll makes three of all that there are lists of.
func threeOfAll(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	put := func(method, path, body, contentType string) {
		t.Helper()
		if a := r.ask(admin, method, path, body, "Content-Type", contentType); a.status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
		}
	}
	for _, name := range []string{"ACME 2", "ACME 3"} {
		put("PUT", "/partners", strings.Replace(configuration, "name: ACME", "name: "+name, 1), "application/yaml")
	}
	put("PUT", "/partners", "kind: Partner\nid: calm\norganisation: north\nstate: paused\ntypes: [ORDERS]\nidentifiers: [{id: CALM}]\n", "application/yaml")
	for _, name := range []string{"Nord", "Norden"} {
		put("PUT", "/partners", "kind: Organisation\nid: north\nname: "+name+"\n", "application/yaml")
	}
	for name, spec := range map[string]string{"one": `"types":["document.created"],"partners":["acme"],`, "two": "", "three": `"types":["drift.*"],`} {
		put("PUT", "/subscriptions/"+name, `{`+spec+`"webhook":{"url":"https://`+name+`.example/","secrets":["`+name+`"]}}`, "application/json")
	}
	for _, name := range []string{"a", "b", "c"} {
		begunImport(t, r, name)
	}
	return r
}

var threeOfEach = []string{"/partners", "/users", "/tokens", "/subscriptions", "/imports", "/partners/{partner}/revisions", "/organisations/{organisation}/revisions"}

func TestEveryListIsPaged(t *testing.T) {
	r := threeOfAll(t)
	for _, rt := range Routes {
		lists := rt.Method == http.MethodGet && slices.ContainsFunc(rt.Query, func(p Parameter) bool { return p.Kind == Limit })
		if !lists || rt.Path == "/events" { // the feed goes on for ever: its own tests
			continue
		}
		t.Run(rt.Path, func(t *testing.T) {
			path := strings.NewReplacer("{partner}", "acme", "{organisation}", "north", "{subscription}", "one").Replace(rt.Path)
			var whole rawPage
			r.get(accounts.Admin, path+"?limit=500", &whole)
			if whole.Next != "" {
				t.Errorf("there is more behind the last: %s", whole.Next)
			}
			if few := len(whole.Items); few < 3 && slices.Contains(threeOfEach, rt.Path) {
				t.Fatalf("%d items show no paging", few)
			}
			var stepped []json.RawMessage
			for next := ""; ; {
				var one rawPage
				at := path + "?limit=1"
				if next != "" {
					at += "&cursor=" + url.QueryEscape(next)
				}
				r.get(accounts.Admin, at, &one)
				stepped = append(stepped, one.Items...)
				if next = one.Next; next == "" || len(stepped) > len(whole.Items) {
					break
				}
			}
			if diff := cmp.Diff(texts(whole.Items), texts(stepped)); diff != "" {
				t.Errorf("one by one (+) they are others than on one page (-):\n%s", diff)
			}
			for _, query := range []string{"limit=0", "limit=-1", "limit=1000000000", "limit=99999999999999999999", "limit=1e2", "limit=", "limit=1&limit=2", "cursor=!", "nothing=1"} {
				a := r.ask(r.tokens[accounts.Admin], http.MethodGet, path+"?"+query, "")
				if a.status != http.StatusBadRequest || a.problem(t).Detail == "" {
					t.Errorf("%s: %d %s", query, a.status, a.body)
				}
			}
		})
	}
}

func texts(items []json.RawMessage) []string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = string(item)
	}
	return list
}

func TestListsAreFiltered(t *testing.T) {
	r := threeOfAll(t)
	admin := r.tokens[accounts.Admin]
	for _, do := range []struct{ path, body string }{{"/users/p.%20viewer/disable", ""}, {"/subscriptions/two/pause", "{}"}} {
		if a := r.ask(admin, http.MethodPost, do.path, do.body, "Content-Type", "application/json"); a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", do.path, a.status, a.body)
		}
	}
	if _, err := r.pool.Exec(t.Context(), `update api_token set expires_at = now() - interval '1 hour' where person = 'p. consumer'`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, field string
		want        []string
	}{
		{"/partners?organisation=north", "id", []string{"acme", "bolt", "calm"}},
		{"/partners?organisation=south", "id", nil},
		{"/partners?state=paused", "id", []string{"calm"}},
		{"/partners?identifier=CALM", "id", []string{"calm"}},
		{"/partners?identifier=14:9520001000010", "id", []string{"acme"}},
		{"/partners?identifier=9520001000010", "id", []string{"acme"}},
		{"/partners?identifier=9:9520001000010", "id", nil},
		{"/partners?type=ORDERS&state=paused", "id", []string{"calm"}},
		{"/partners?type=ORDERS&state=active", "id", nil},
		{"/users?role=admin", "person", []string{"p. admin"}},
		{"/users?state=disabled", "person", []string{"p. viewer"}},
		{"/users?state=active&role=viewer", "person", nil},
		{"/tokens?person=p.%20operator", "person", []string{"p. operator"}},
		{"/tokens?role=approver", "person", []string{"p. approver"}},
		{"/tokens?state=expired", "person", []string{"p. consumer"}},
		{"/tokens?state=revoked", "person", []string{"p. viewer"}},
		{"/tokens?state=valid", "person", []string{"p. admin", "p. approver", "p. operator"}},
		{"/subscriptions?state=paused", "name", []string{"two"}},
		{"/subscriptions?partner=acme", "name", []string{"one", "three", "two"}},
		{"/subscriptions?partner=bolt", "name", []string{"three", "two"}},
		{"/subscriptions?type=document.created", "name", []string{"one", "two"}},
		{"/subscriptions?type=drift.*", "name", []string{"three", "two"}},
		{"/imports?state=finished", "name", nil},
		{"/imports?state=unfinished&person=p.%20admin", "name", []string{"c.csv", "b.csv", "a.csv"}},
		{"/imports?file_sha256=" + strings.Repeat("0", 64), "name", nil},
	} {
		t.Run(c.path, func(t *testing.T) {
			var list struct{ Items []map[string]any }
			r.get(accounts.Admin, c.path, &list)
			var got []string
			for _, item := range list.Items {
				got = append(got, item[c.field].(string))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a type that there is not is said", func(t *testing.T) {
		a := r.ask(admin, http.MethodGet, "/subscriptions?type=document.made", "")
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.problem(t).Detail, "document.created") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a cursor of another list is refused, by those of names too", func(t *testing.T) {
		for _, from := range []string{"/partners", "/imports"} { // a name, and an id
			var page rawPage
			r.get(accounts.Admin, from+"?limit=1", &page)
			asked := 0
			for _, rt := range Routes {
				if path := strings.NewReplacer("{partner}", "acme", "{organisation}", "north", "{subscription}", "none").Replace(rt.Path); slices.ContainsFunc(rt.Query, func(p Parameter) bool { return p.Name == "cursor" }) && rt.Path != from {
					asked++
					if a := r.ask(admin, rt.Method, path+"?cursor="+page.Next, ""); a.status != http.StatusUnprocessableEntity || a.problem(t).Type != "bad-parameter" {
						t.Errorf("%s: %d %s", path, a.status, a.body)
					}
				}
			}
			if page.Next == "" || asked < 14 {
				t.Errorf("%s: next %q, %d lists", from, page.Next, asked)
			}
		}
	})
}
