package httpin_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/httpin"
	"github.com/edigw/edigw/partners"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	acmeToken   = "edigw_p_acme"
	brackToken  = "edigw_p_brack"
	pausedToken = "edigw_p_paused"
	interchange = "UNB+UNOC:3+ACME:14+NORTH:14+261129:1015+R1'UNZ+0+R1'"
)

// ingress is a handler behind a real socket, with what it was given to receive.
type ingress struct {
	*httpin.Handler
	URL     string
	Address string
	Metrics *prometheus.Registry

	mu       sync.Mutex
	received []*gateway.Delivery
	payloads [][]byte
	log      bytes.Buffer
}

// serve starts an ingress that accepts everything; change may alter that.
func serve(t *testing.T, change func(*ingress)) *ingress {
	t.Helper()
	in := &ingress{Metrics: prometheus.NewRegistry()}
	metrics, err := gateway.NewMetrics(in.Metrics, "test")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*partners.Partner{
		acmeToken:   {ID: "acme", Active: true, Organisation: "north", Policy: partners.Policy{Acknowledge: "response"}},
		brackToken:  {ID: "brack", Active: true, Organisation: "north", Policy: partners.Policy{Acknowledge: "none"}},
		pausedToken: {ID: "paused", Organisation: "north"},
	}
	in.Handler = &httpin.Handler{
		ByToken: func(plain string) (*partners.Partner, bool) { p, ok := known[plain]; return p, ok },
		Partner: func(id string) *partners.Partner {
			for _, p := range known {
				if p.ID == id {
					return p
				}
			}
			return nil
		},
		Receive: func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) { return accept(d) },
		Spool:   &gateway.Spool{Dir: t.TempDir(), Gauge: metrics.SpoolBytes},
		Metrics: metrics,
		Now:     func() time.Time { return time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC) },
		Log:     slog.New(slog.NewJSONHandler(&locked{in: in}, nil)),
	}
	if change != nil {
		change(in)
	}
	inner := in.Handler.Receive
	in.Handler.Receive = func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
		payload, err := io.ReadAll(d.Payload.Reader(0, min(d.Payload.Size(), 4<<20)))
		if err != nil {
			return nil, err
		}
		in.mu.Lock()
		in.received, in.payloads = append(in.received, d), append(in.payloads, payload)
		in.mu.Unlock()
		return inner(ctx, d)
	}
	server := httptest.NewServer(httpin.Routes(in.Handler))
	t.Cleanup(server.Close)
	in.URL, in.Address = server.URL, server.Listener.Addr().String()
	return in
}

// accept is a gateway that has posted everything.
func accept(d *gateway.Delivery) (*gateway.Receipt, error) { return receipt(d, gateway.ToldAccepted) }

func receipt(d *gateway.Delivery, a gateway.Answer, items ...gateway.Item) (*gateway.Receipt, error) {
	r := &gateway.Receipt{
		Partner: d.Partner.ID, MessageID: d.TransportID, SHA256: d.SHA256, Answer: a, Items: items,
		Verdict: gateway.First, Delivery: uuid.MustParse("01900000-0000-7000-8000-000000000001"),
		Keys: []string{d.TransportID}, Rules: []string{"I1b"},
	}
	var err error
	r.Rendered, err = d.Render(r)
	return r, err
}

type locked struct{ in *ingress }

func (l *locked) Write(b []byte) (int, error) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.log.Write(b)
}

// deliveries are those that reached Receive.
func (in *ingress) deliveries() []*gateway.Delivery {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.received
}

// line waits for the log line of the one delivery there was.
func (in *ingress) line(t *testing.T) map[string]any {
	t.Helper()
	for range 200 {
		in.mu.Lock()
		text := in.log.String()
		in.mu.Unlock()
		if n := strings.Count(text, "\n"); n > 1 {
			t.Fatalf("more than one line:\n%s", text)
		} else if n == 1 {
			line := map[string]any{}
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			return line
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no log line was written")
	return nil
}

// answer is a response that was read.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

func (a answer) problem(t *testing.T) string {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type is %q, not a problem: %s", got, a.Body)
	}
	var p struct {
		Type          string
		Title, Detail string
		Status        int
	}
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	if p.Status != a.Status || p.Title == "" || p.Detail == "" {
		t.Errorf("a problem says its status, title and detail: %s", a.Body)
	}
	return strings.TrimPrefix(p.Type, httpin.ProblemBase)
}

// post sends body to a partner; headers are alternating names and values. An
// empty value of Authorization leaves that out.
func (in *ingress) post(t *testing.T, partner string, body io.Reader, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, in.URL+"/in/"+partner, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+acmeToken)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	if a := request.Header["Authorization"]; len(a) == 2 {
		request.Header["Authorization"] = a[1:]
		if a[1] == "" {
			request.Header.Del("Authorization")
		}
	}
	return do(t, request)
}

func do(t *testing.T, request *http.Request) answer {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, response)
}

func read(t *testing.T, response *http.Response) answer {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// wire is a raw connection: what is written is what is sent.
type wire struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func (in *ingress) dial(t *testing.T) *wire {
	t.Helper()
	c, err := net.Dial("tcp", in.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // often closed already
	return &wire{c, t, bufio.NewReader(c)}
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w, format, args...); err != nil {
		w.t.Fatal(err)
	}
}

// head sends a request up to its body.
func (w *wire) head(headers ...string) {
	w.t.Helper()
	w.send("POST /in/acme HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", acmeToken, strings.Join(headers, "\r\n"))
}

func (w *wire) answer() answer {
	w.t.Helper()
	if err := w.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	response, err := http.ReadResponse(w.r, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return read(w.t, response)
}

// closed reports whether the other side closes the connection.
func (w *wire) closed() bool {
	w.t.Helper()
	if err := w.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	_, err := w.r.ReadByte()
	timeout, ok := err.(net.Error)
	return err != nil && (!ok || !timeout.Timeout())
}
