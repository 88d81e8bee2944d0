package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/accounts"
)

// raw sends text to an address as it is, and gives what is answered, with the
// connection. Its own deadline only ends a test that would hang.
func raw(t *testing.T, server *httptest.Server, text string) (*http.Response, string, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test is over
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body), from
}

func TestBodiesThatDoNotCome(t *testing.T) {
	r := newRig(t)
	r.api.unread, r.api.pace = 50*time.Millisecond, 50*time.Millisecond
	server := httptest.NewServer(r.api.Handler())
	defer server.Close()
	admin := "Authorization: Bearer " + r.tokens[accounts.Admin] + "\r\n"
	for _, c := range []struct {
		name, request, sent string
		status              int
		detail              string
	}{
		{"where there is nothing", "POST /anything HTTP/1.1\r\n", "", http.StatusNotFound, "there is nothing at"},
		{"to a question about health", "GET /livez HTTP/1.1\r\n", "", http.StatusOK, "ok"},
		{"to the metrics", "GET /metrics HTTP/1.1\r\n", "", http.StatusNotFound, ""},
		{"by a method that is not offered", "DELETE " + Prefix + "/partners HTTP/1.1\r\n", "", http.StatusMethodNotAllowed, "not offered"},
		{"without a token", "PUT " + Prefix + "/partners HTTP/1.1\r\n", "", http.StatusUnauthorized, "edigw tokens create"},
		{"to a route that takes none", "GET " + Prefix + "/partners HTTP/1.1\r\n" + admin, "", http.StatusOK, "acme"},
		{"to a route that waits for it", "PUT " + Prefix + "/partners HTTP/1.1\r\nContent-Type: application/yaml\r\n" + admin, "kind: ", http.StatusBadRequest, "the body stopped arriving"},
		{"beyond what is taken", "POST " + Prefix + "/tokens HTTP/1.1\r\nContent-Type: application/json\r\n" + admin, strings.Repeat(" ", maxBody+1), http.StatusRequestEntityTooLarge, "at most"},
	} {
		for _, length := range []string{"Content-Length: 100000\r\n", "Transfer-Encoding: chunked\r\n"} {
			sent := c.sent
			if strings.HasPrefix(length, "Transfer") && sent != "" {
				continue // the chunk's size would have to stand before it
			}
			t.Run("an answer waits for no body "+c.name+", "+strings.TrimSpace(length), func(t *testing.T) {
				response, body, from := raw(t, server, c.request+"Host: edigw\r\n"+length+"\r\n"+sent)
				if response.StatusCode != c.status || !strings.Contains(body, c.detail) {
					t.Errorf("%d %s", response.StatusCode, body)
				}
				if _, err := from.ReadByte(); err == nil {
					t.Error("something follows the answer")
				} else if slow, ok := err.(net.Error); ok && slow.Timeout() {
					t.Error("the connection is kept for a body that does not come")
				}
			})
		}
	}
}

func TestBodiesThatCome(t *testing.T) {
	a := &API{unread: 50 * time.Millisecond, pace: 100 * time.Millisecond}
	t.Run("the work after a body has no deadline of the body", func(t *testing.T) {
		server := httptest.NewServer(a.paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != "text" {
				t.Errorf("%q, %v", body, err)
			}
			select {
			case <-r.Context().Done():
				t.Errorf("ended: %v", r.Context().Err())
			case <-time.After(200 * time.Millisecond):
			}
			w.WriteHeader(http.StatusNoContent)
		})))
		defer server.Close()
		response, _, _ := raw(t, server, "POST / HTTP/1.1\r\nHost: edigw\r\nContent-Length: 4\r\n\r\ntext")
		if response.StatusCode != http.StatusNoContent || response.Close {
			t.Errorf("%d, closed: %v", response.StatusCode, response.Close)
		}
	})
	t.Run("a body that is longer than one pace arrives whole", func(t *testing.T) {
		got := make(chan int, 1)
		server := httptest.NewServer((&API{}).paced(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got <- len(body)
		})))
		defer server.Close()
		response, err := http.Post(server.URL, "text/plain", strings.NewReader(strings.Repeat("x", 3*paceBytes+1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if n := <-got; n != 3*paceBytes+1 {
			t.Errorf("%d bytes", n)
		}
	})
}
