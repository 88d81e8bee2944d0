package rate

import (
	"bytes"
	"encoding/gob"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// generated has the generator post to h.
func generated(t *testing.T, h http.HandlerFunc, p posting) (f figures, err error) {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	var in, out bytes.Buffer
	p.URL, p.Clients = s.URL+"/as2", 3
	if err := gob.NewEncoder(&in).Encode(p); err != nil {
		t.Fatal(err)
	}
	if err := generate(&in, &out, func(b []byte) bool { return string(b) == "taken" }); err != nil {
		return f, err
	}
	return f, gob.NewDecoder(&out).Decode(&f)
}

func messages(bodies ...string) (list []Message) {
	for _, b := range bodies {
		list = append(list, Message{Header: http.Header{"AS2-From": {"BRENNHOLM"}}, Body: []byte(b)})
	}
	return list
}

func TestTheGenerator(t *testing.T) {
	t.Run("each message is sent once, and those that are put off again", func(t *testing.T) {
		var mu sync.Mutex
		came := map[string]int{}
		f, err := generated(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.URL.Path != "/as2" || r.Header.Get("AS2-From") != "BRENNHOLM" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			mu.Lock()
			came[string(body)]++
			first := came[string(body)] == 1
			mu.Unlock()
			if first && string(body) == "b" {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "taken") // who does not read it fails itself
		}, posting{Messages: messages("a", "b", "c", "d", "e")})
		if err != nil || f.Messages != 5 || f.TryAgain != 1 || f.Took <= 0 {
			t.Errorf("%+v, %v", f, err)
		}
		if came["a"] != 1 || came["b"] != 2 || len(came) != 5 {
			t.Errorf("%v have come", came)
		}
	})
	t.Run("a receiver that ends its connections without saying so is dialled anew", func(t *testing.T) {
		f, err := generated(t, func(w http.ResponseWriter, r *http.Request) {
			conn, to, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			_, _ = to.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntaken") // as above
			_ = to.Flush()
			_ = conn.Close()
		}, posting{Fresh: true, Messages: messages("a", "b", "c", "d", "e", "f", "g")})
		if err != nil || f.Messages != 7 {
			t.Errorf("%+v, %v", f, err)
		}
	})
	t.Run("an answer that is not positive ends it, and is told", func(t *testing.T) {
		_, err := generated(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "refused: the certificate") // as above
		}, posting{Messages: messages("a")})
		if err == nil || !strings.Contains(err.Error(), "refused: the certificate") {
			t.Errorf("%v", err)
		}
	})
}

func TestTheTable(t *testing.T) {
	// On each core one of ours a second, in half a second of processor time; two of theirs.
	of := func(rate int, program time.Duration) measurements {
		return measurements{{figures: figures{Messages: rate, Took: time.Second, CPU: time.Millisecond}, program: time.Duration(rate) * program}}
	}
	told := func(bar, times float64) string {
		var b bytes.Buffer
		r := result{load: Load{Name: "4 KB", Bar: bar, Times: times, Invoices: 2}, crypto: []time.Duration{time.Second}, single: []float64{7}, least: []time.Duration{time.Second / 2},
			receivers: []measurements{of(int(cores()), time.Second/2), of(int(cores())*2, time.Second)}}
		if err := r.print(&b, []Receiver{{Name: "edigw"}, {Name: "peer"}}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	t.Run("the most is a message a core in the time of its cryptography and of its invoices", func(t *testing.T) {
		if text := told(1.9, 0); !strings.Contains(text, "1000000 µs for the least there is to write of its 2 invoices") || !strings.Contains(text, "edigw reaches 2.00 of the most; the bar is 1.90: reached") {
			t.Error(text)
		}
	})
	t.Run("of what nobody has to write no share is told", func(t *testing.T) {
		if text := told(0, 0.5); strings.Contains(text, "cryptography") || strings.Contains(text, "reaches") || !strings.Contains(text, "edigw is 0.50 times as fast as peer; the bar is 0.5: reached") {
			t.Error(text)
		}
	})
	t.Run("a bar that is missed is told", func(t *testing.T) {
		if text := told(2.1, 0.6); !strings.Contains(text, "the bar is 2.10: MISSED") || !strings.Contains(text, "edigw is 0.50 times as fast as peer; the bar is 0.6: MISSED") {
			t.Error(text)
		}
	})
}
