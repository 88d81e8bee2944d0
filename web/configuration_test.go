package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/partners"
)

func TestAPartnerIsChangedOnWhatItIs(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	patch := func(body string, headers ...string) answer {
		return r.ask(admin, "PATCH", "/partners/acme", body, append([]string{"Content-Type", "application/merge-patch+json"}, headers...)...)
	}
	tag := r.ask(admin, "GET", "/partners/acme", "").header.Get("ETag")
	if tag != `"1"` {
		t.Fatalf("ETag is %s", tag)
	}
	for name, c := range map[string]struct {
		headers []string
		status  int
		problem string
	}{
		"on nothing":             {nil, 428, "precondition-required"},
		"on another revision":    {[]string{"If-Match", `"7"`}, 412, "changed-meanwhile"},
		"on anything":            {[]string{"If-Match", "*"}, 400, "bad-parameter"},
		"on a tag without marks": {[]string{"If-Match", "1"}, 400, "bad-parameter"},
		"on a weak tag":          {[]string{"If-Match", `W/"1"`}, 400, "bad-parameter"},
		"on two tags":            {[]string{"If-Match", `"1", "2"`}, 400, "bad-parameter"},
	} {
		t.Run(name+" nothing is changed", func(t *testing.T) {
			a := patch(`{"attempts": 9}`, c.headers...)
			if a.status != c.status || !strings.Contains(a.body, ProblemBase+c.problem) {
				t.Errorf("%d %s", a.status, a.body)
			}
			if got := r.ask(admin, "GET", "/partners/acme", "").header.Get("ETag"); got != tag {
				t.Errorf("it is at %s", got)
			}
		})
	}
	t.Run("on what it is, it changes, and says to what", func(t *testing.T) {
		a := patch(`{"attempts": 9, "retention": {"payloads": "60d"}}`, "If-Match", tag)
		var told struct {
			Changes partners.Changes `json:"changes"`
		}
		if err := json.Unmarshal([]byte(a.body), &told); err != nil || a.status != 200 {
			t.Fatalf("%d %s %v", a.status, a.body, err)
		}
		want := partners.Changes{{Kind: "Partner", ID: "acme", Revision: 2, Cause: "changed", Fields: []partners.FieldChange{
			{Key: "attempts", Before: "5", After: "9"}, {Key: "retention.payloads", Before: `"90d"`, After: `"60d"`}}}}
		if diff := cmp.Diff(want, told.Changes); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("who was slower is told, and undoes nothing", func(t *testing.T) {
		if a := patch(`{"attempts": 3}`, "If-Match", tag); a.status != 412 || !strings.Contains(a.body, "at revision 2, not 1") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("a fault of a setting names it", func(t *testing.T) {
		if a := patch(`{"attemps": 3}`, "If-Match", `"2"`); a.status != 422 || !strings.Contains(a.body, "did you mean attempts?") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("restored, it is what it was under a revision of its own", func(t *testing.T) {
		if a := r.ask(admin, "POST", "/partners/acme/revisions/1/restore", ""); a.status != 200 || !strings.Contains(a.body, `"revision": 3`) {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := r.ask(admin, "GET", "/partners/acme/revisions/2", ""); !strings.Contains(a.body, `"attempts": 9`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("what is exported changes nothing when it is applied", func(t *testing.T) {
		text := r.ask(admin, "GET", "/configuration", "").body
		for _, path := range []string{"POST /configuration/diff", "PUT /partners"} {
			method, path, _ := strings.Cut(path, " ")
			if a := r.ask(admin, method, path, text, "Content-Type", "application/yaml"); a.status != 200 || !strings.Contains(a.body, `"changes": []`) {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
	})
	t.Run("digests of tokens are told to nobody who may not export", func(t *testing.T) {
		digest := strings.Repeat("ab", 32)
		text := r.ask(admin, "GET", "/configuration?partner=acme", "").body
		text = strings.Replace(text, "tokens: []", `tokens: [{label: a, sha256: "`+digest+`"}]`, 1)
		if a := r.ask(admin, "PUT", "/partners", text, "Content-Type", "application/yaml"); a.status != 200 || !strings.Contains(a.body, digest) {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for _, path := range []string{"/partners/acme", "/partners/acme/revisions", "/partners/acme/revisions/4"} {
			if a := r.ask(r.tokens[accounts.Viewer], "GET", path, ""); a.status != 200 || strings.Contains(a.body, digest) {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		if a := r.ask(r.tokens[accounts.Approver], "GET", "/configuration", ""); a.status != 403 {
			t.Errorf("%d", a.status)
		}
	})
}
