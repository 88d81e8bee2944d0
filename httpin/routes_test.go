package httpin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	model "github.com/prometheus/client_model/go"

	"github.com/edigw/edigw/httpin"
)

func TestRoutes(t *testing.T) {
	in := serve(t, nil)

	t.Run("other methods are told which one", func(t *testing.T) {
		for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS", "PATCH"} {
			r, err := http.NewRequest(method, in.URL+"/in/acme", nil)
			if err != nil {
				t.Fatal(err)
			}
			a := do(t, r)
			if a.Status != 405 || a.Header.Get("Allow") != "POST" || a.problem(t) != "method-not-allowed" {
				t.Errorf("%s: %d, Allow %q, %s", method, a.Status, a.Header.Get("Allow"), a.Body)
			}
		}
	})

	t.Run("a name is the same however it is percent-encoded", func(t *testing.T) {
		post := func(path string) answer {
			r, err := http.NewRequest("POST", in.URL, strings.NewReader(interchange))
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Opaque = "//" + r.URL.Host + path // as it is written
			r.Header.Set("Authorization", "Bearer "+acmeToken)
			return do(t, r)
		}
		for _, path := range []string{"/in/ac%6De", "/in/ac%6de", "/%69%6E/%61%63%6d%65", "/in/acme"} {
			if a := post(path); a.Status != 201 && a.Status != 200 {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		for path, status := range map[string]int{
			"/in/acme%2F": 401, "/in%2Facme": 404, "/in/ac%256De": 401, "/in/acme%20": 401, "/in/%61cme%2fx": 401, "/in/%2E%2E": 401, "/in/acm%C3%A9": 401,
		} {
			if a := post(path); a.Status != status {
				t.Errorf("%s: %d, want %d: %s", path, a.Status, status, a.Body)
			}
		}
	})

	t.Run("other paths have one constant answer", func(t *testing.T) {
		var first answer
		for i, path := range []string{"/", "/in", "/in/", "/in/acme/", "/in/acme/x", "/metrics", "/api/v1/messages"} {
			r, err := http.NewRequest("POST", in.URL+path, strings.NewReader(interchange))
			if err != nil {
				t.Fatal(err)
			}
			a := do(t, r)
			a.Header.Del("Date")
			if i == 0 {
				first = a
			}
			if diff := cmp.Diff(first, a); diff != "" {
				t.Errorf("%s:\n%s", path, diff)
			}
		}
		if first.Status != 404 || first.problem(t) != "not-found" {
			t.Errorf("got %d %s", first.Status, first.Body)
		}
	})
}

// counted waits until a series has the value want: it is counted when the
// answer is out.
func (in *ingress) counted(t *testing.T, want float64, name string, labels ...string) {
	t.Helper()
	got := 0.0
	for range 200 {
		if got = in.count(t, name, labels...); got == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s%q is %v, not %v", name, labels, got, want)
}

// count gives the value of one series, 0 if there is none.
func (in *ingress) count(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	for _, m := range in.series(t, name) {
		matches := len(m.GetLabel()) == len(labels)/2
		for _, l := range m.GetLabel() {
			i := slices.Index(labels, l.GetName())
			matches = matches && i >= 0 && labels[i+1] == l.GetValue()
		}
		if matches {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}

func (in *ingress) series(t *testing.T, name string) []*model.Metric {
	t.Helper()
	families, err := in.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()
		}
	}
	return nil
}

func TestHTTP2(t *testing.T) {
	in := serve(t, nil)
	server := httptest.NewUnstartedServer(httpin.Routes(in.Handler))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	for _, c := range []struct {
		token  string
		status int
	}{{acmeToken, 201}, {"edigw_p_wrong", 401}, {acmeToken, 201}} {
		r, err := http.NewRequest("POST", server.URL+"/in/acme", zeros(3<<20))
		if err != nil {
			t.Fatal(err)
		}
		if c.status == 201 {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(interchange), zeros(3<<20)))
			r.ContentLength = -1
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a := read(t, response); a.Status != c.status || response.ProtoMajor != 2 {
			t.Errorf("got %d over %s: %s", a.Status, response.Proto, a.Body)
		}
	}
}
