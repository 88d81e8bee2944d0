package web

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// ownCertificate is a certificate of its own issue, in base64.
func ownCertificate(t *testing.T) string {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, c, c, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

func TestAPartnerIsTried(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	own := ownCertificate(t)
	yaml := r.ask(admin, "GET", "/configuration?partner=acme", "").body
	yaml = strings.Replace(yaml, "certificates: []", "certificates: [{label: a, certificate: \""+own+"\", purposes: [as2_sign]}]", 1)
	if a := r.ask(admin, "PUT", "/partners", yaml, "Content-Type", "application/yaml"); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	try := func(body string) tried {
		t.Helper()
		a := r.ask(r.tokens[accounts.Operator], "POST", "/partners/acme/test", body, "Content-Type", "application/json")
		var told tried
		if err := json.Unmarshal([]byte(a.body), &told); err != nil || a.status != 200 {
			t.Fatalf("%d %s %v", a.status, a.body, err)
		}
		return told
	}
	t.Run("a certificate is looked up for every purpose", func(t *testing.T) {
		for _, p := range try(`{"certificate":"` + own + `"}`).Certificate.Purposes {
			if p.Taken != (p.Purpose == partners.AS2Sign) || p.Taken != (p.Label == "a") || p.Taken != (p.Reason == "") {
				t.Errorf("%+v", p)
			}
		}
	})
	t.Run("a payload is judged as a delivery, and stays unknown", func(t *testing.T) {
		text := invoice{reference: "1", number: "RE-1", total: "119.00"}.text()
		body := `{"payload":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`
		for range 2 {
			if d := try(body).Delivery; d.Status != 201 || d.Verdict != gateway.First || d.Outcome != "accepted" {
				t.Errorf("%+v", d)
			}
		}
		r.receive("acme", "", text)
		if d := try(body).Delivery; d.Status != 200 || d.Verdict != gateway.Duplicate {
			t.Errorf("when it has come: %+v", d)
		}
		other := strings.Replace(text, "119.00", "120.00", 2)
		if d := try(`{"payload":"` + base64.StdEncoding.EncodeToString([]byte(other)) + `"}`).Delivery; d.Status != 422 || d.Verdict != gateway.Drift {
			t.Errorf("other content: %+v", d)
		}
		var list struct{ Items []any }
		if r.get(accounts.Viewer, "/drift", &list); len(list.Items) != 0 {
			t.Errorf("a drift was opened: %v", list.Items)
		}
	})
	t.Run("a paused partner is refused whatever it sends", func(t *testing.T) {
		if a := r.ask(admin, "PATCH", "/partners/acme", `{"state":"paused"}`, "Content-Type", "application/merge-patch+json", "If-Match", r.ask(admin, "GET", "/partners/acme", "").header.Get("ETag")); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if told := try(`{"payload":"VU5C"}`); told.State != "paused" || told.Delivery.Status != 401 {
			t.Errorf("%+v", told)
		}
	})
}

func TestTheConfigurationIsAppliedOnWhatItIs(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	put := func(text string, headers ...string) answer {
		return r.ask(admin, "PUT", "/partners", text, append([]string{"Content-Type", "application/yaml"}, headers...)...)
	}
	tag := r.ask(admin, "GET", "/configuration", "").header.Get("ETag")
	const acme = "kind: Partner\nid: acme\nname: ACME\norganisation: north\n"
	if diff := r.ask(admin, "POST", "/configuration/diff", acme, "Content-Type", "application/yaml").header.Get("ETag"); diff != tag || len(tag) < 3 {
		t.Errorf("the export is of %s, the difference of %s", tag, diff)
	}
	t.Run("without If-Match it is applied on whatever there is", func(t *testing.T) {
		if a := put(acme + "http: {tokens: [{label: a, sha256: " + strings.Repeat("ab", 32) + "}]}\non_drift: hold\n"); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("with the tag of before it is not, and says who changed what", func(t *testing.T) {
		a := put(acme+"attempts: 3\n", "If-Match", tag)
		p := a.problem(t)
		if a.status != 412 || p.Type != "changed-meanwhile" || len(p.Errors) != 1 || p.Errors[0].Key != "Partner acme" || !strings.Contains(p.Errors[0].Detail, "on_drift: reject → hold") {
			t.Errorf("%d %s", a.status, a.body)
		}
		if strings.Contains(a.body, "abab") {
			t.Errorf("the digest of a token stands in it: %s", a.body)
		}
	})
	for _, odd := range []string{"3", `W/"3"`, "*", `"3", "4"`, `"x"`, `"-1"`} {
		if a := put(acme, "If-Match", odd); a.status != 400 || a.problem(t).Type != "bad-parameter" {
			t.Errorf("%s: %d %s", odd, a.status, a.body)
		}
	}
	t.Run("with the present tag it is", func(t *testing.T) {
		tag := r.ask(admin, "GET", "/configuration?partner=acme", "").header.Get("ETag")
		if a := put(acme+"attempts: 3\n", "If-Match", tag); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

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
		"on an empty list":       {[]string{"If-Match", ""}, 412, "changed-meanwhile"},
		"on a tag without marks": {[]string{"If-Match", "1"}, 400, "bad-parameter"},
		"on a weak tag":          {[]string{"If-Match", `W/"1"`}, 400, "bad-parameter"},
		"on a tag with a sign":   {[]string{"If-Match", `"+1"`}, 400, "bad-parameter"},
		"on a tag with a zero":   {[]string{"If-Match", `"01"`}, 400, "bad-parameter"},
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
	t.Run("what was exported is taken, however many partners there are", func(t *testing.T) {
		text := r.ask(admin, "GET", "/configuration", "").body + strings.Repeat("---\n"+strings.Repeat("# nothing\n", 10000), 60)
		for path, method := range map[string]string{"/configuration/diff": "POST", "/partners": "PUT"} {
			if a := r.ask(admin, method, path, text, "Content-Type", "application/yaml"); a.status != 200 || !strings.Contains(a.body, `"changes": []`) {
				t.Errorf("%s: %d %.300s", path, a.status, a.body)
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
