package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edigw/edigw/accounts"
)

// What clients and the libraries under them do beside the API's own words.
func TestProtocol(t *testing.T) {
	r := newRig(t)
	admin := r.tokens[accounts.Admin]
	const body = `{"person":"p. viewer","role":"viewer","label":"l"}`
	t.Run("a body that is compressed is refused, and what is taken is said", func(t *testing.T) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ method, path, contentType string }{
			{"POST", "/tokens", "application/json"}, {"PUT", "/partners", "application/yaml"}, {"POST", "/configuration/diff", "application/yaml"},
		} {
			a := r.ask(admin, c.method, c.path, packed.String(), "Content-Type", c.contentType, "Content-Encoding", "gzip")
			if p := a.problem(t); a.status != http.StatusUnsupportedMediaType || p.Type != "bad-body" || !strings.Contains(p.Detail, "Content-Encoding: gzip") || a.header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%s: %d %v %+v", c.path, a.status, a.header, p)
			}
		}
		if a := r.ask(admin, "POST", "/tokens", body, "Content-Type", "application/json", "Content-Encoding", "identity"); a.status != http.StatusCreated {
			t.Errorf("identity: %d %s", a.status, a.body)
		}
	})
	t.Run("an answer is never compressed, whatever is asked for", func(t *testing.T) {
		if a := r.ask(admin, "GET", "/partners", "", "Accept-Encoding", "gzip, br"); a.header.Get("Content-Encoding") != "" || !strings.HasPrefix(a.body, "{") {
			t.Errorf("%v %s", a.header, a.body)
		}
	})
	t.Run("who waits to be told to go on is told, or why not, before the body is sent", func(t *testing.T) {
		s := httptest.NewServer(r.handler)
		defer s.Close()
		for token, want := range map[string]int{admin: http.StatusContinue, "edigw_t_nobody": http.StatusUnauthorized, r.tokens[accounts.Viewer]: http.StatusForbidden} {
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", token, len(body))
			in := bufio.NewReader(conn)
			status := func() int {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Fatal(err)
				}
				return resp.StatusCode
			}
			if got := status(); got != want {
				t.Errorf("%d, want %d", got, want)
			}
			if want == http.StatusContinue {
				fmt.Fprint(conn, strings.Replace(body, `"l"}`, `"m"}`, 1))
				if got := status(); got != http.StatusCreated {
					t.Errorf("behind the body: %d", got)
				}
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("a parameter that no route knows is refused by all of them", func(t *testing.T) {
		d, err := openAPIDocument()
		if err != nil {
			t.Fatal(err)
		}
		for _, rt := range Routes {
			op := d.operations[rt.Method+" "+rt.Path]
			path := strings.NewReplacer("{partner}", "acme", "{organisation}", "north", "{message_id}", "x", "{revision}", "1", "{label}", "l", "{subscription}", "s", "{person}", "p", "{name}", "n", "{section}", "s").Replace(rt.Path)
			for strings.Contains(path, "{") {
				from, to := strings.Index(path, "{"), strings.Index(path, "}")
				path = path[:from] + "00000000-0000-0000-0000-000000000001" + path[to+1:]
			}
			a := r.ask(admin, rt.Method, path+"?nothing=1", "{}", "Content-Type", "application/json")
			if p := a.problem(t); a.status != http.StatusBadRequest || p.Type != "unknown-parameter" || !strings.Contains(p.Detail, `"nothing"`) {
				t.Errorf("%s (%s): %d %s", op.OperationID, path, a.status, a.body)
			}
		}
	})
}
