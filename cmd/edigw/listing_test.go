package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pagesOf serves a list of n things, in pages as they are asked for, and fails the
// page that begins with the item broken.
func pagesOf(t *testing.T, n, broken int, item func(i int) string) (url string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.RawQuery)
		q := r.URL.Query()
		limit, err := strconv.Atoi(q.Get("limit"))
		if err != nil {
			t.Errorf("asked with %s", r.URL.RawQuery)
		}
		from := 0
		if at := q.Get("cursor"); at != "" {
			if from, err = strconv.Atoi(at); err != nil {
				t.Error(err)
			}
		}
		if broken > 0 && from >= broken {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"title":"The database does not answer","status":503}`)
			return
		}
		var items []string
		for i := from; i < min(n, from+limit); i++ {
			items = append(items, item(i))
		}
		next := ""
		if from+limit < n {
			next = fmt.Sprintf(`,"next":"%d"`, from+limit)
		}
		fmt.Fprintf(w, `{"items":[%s]%s}`+"\n", strings.Join(items, ","), next)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestPagesAreFollowed(t *testing.T) {
	partner := func(i int) string { return fmt.Sprintf(`{"id":"p%04d","state":"active"}`, i) }
	delivery := func(i int) string { return fmt.Sprintf(`{"partner":"acme","message_id":"k%d"}`, i) }
	ask := func(url string, args ...string) ran {
		return edigw(t, "", []string{"EDIGW_API=" + url, "EDIGW_TOKEN=t"}, args...)
	}
	t.Run("partners are listed to the last, as rows and as JSON", func(t *testing.T) {
		url, asked := pagesOf(t, 1201, 0, partner)
		r := ask(url, "partners", "list", "--state", "active")
		if lines := strings.Count(r.out, "\n"); r.code != exitOK || lines != 1202 || !strings.Contains(r.out, "p1200") || r.stderr != "" {
			t.Errorf("exit %d, %d lines: %s", r.code, lines, r.stderr)
		}
		want := []string{"limit=500&state=active", "cursor=500&limit=500&state=active", "cursor=1000&limit=500&state=active"}
		if !slices.Equal(*asked, want) {
			t.Errorf("asked %q", *asked)
		}
		var all struct {
			Items []struct{ ID string }
			Next  string
		}
		if err := json.Unmarshal([]byte(ask(url, "partners", "list", "-o", "json").out), &all); err != nil || len(all.Items) != 1201 || all.Items[1200].ID != "p1200" || all.Next != "" {
			t.Errorf("%v, %d items", err, len(all.Items))
		}
	})
	t.Run("a limit gives one page, and says how to go on", func(t *testing.T) {
		url, _ := pagesOf(t, 30, 0, partner)
		if r := ask(url, "partners", "list", "--limit", "10", "--cursor", "10"); strings.Count(r.out, "\n") != 11 || !strings.Contains(r.out, "p0019") || !strings.Contains(r.stderr, "--cursor 20") {
			t.Errorf("%s%s", r.out, r.stderr)
		}
	})
	t.Run("the journal is a page, or with --all every one", func(t *testing.T) {
		url, asked := pagesOf(t, 120, 0, delivery)
		if r := ask(url, "messages", "list"); strings.Count(r.out, "\n") != 51 || !strings.Contains(r.stderr, "add --cursor 50, or --all") {
			t.Errorf("%s%s", r.out, r.stderr)
		}
		if r := ask(url, "messages", "list", "--all"); strings.Count(r.out, "\n") != 121 || r.stderr != "" {
			t.Errorf("%s%s", r.out, r.stderr)
		}
		if len(*asked) != 4 {
			t.Errorf("asked %q", *asked)
		}
	})
	t.Run("nothing is an empty list", func(t *testing.T) {
		url, _ := pagesOf(t, 0, 0, partner)
		if r := ask(url, "partners", "list", "-o", "json"); r.out != `{"items":[]}`+"\n" {
			t.Errorf("%q", r.out)
		}
	})
	t.Run("where a page fails the command does, and its JSON is no whole", func(t *testing.T) {
		url, _ := pagesOf(t, 1201, 500, partner)
		r := ask(url, "partners", "list", "-o", "json")
		if r.code != exitFailed || json.Valid([]byte(r.out)) || !strings.Contains(r.stderr, "does not answer") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := ask(url, "partners", "list"); r.code != exitFailed || r.out != "" {
			t.Errorf("exit %d: %s", r.code, r.out)
		}
	})
}
