package as2

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

func TestDeliverer(t *testing.T) {
	var got []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("AS2-From"), r.Header.Get("Message-ID"), string(body))
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	p := rules(func(p *partners.Partner) { p.AS2.MDNHosts = []string{host} })
	d := &Deliverer{Client: server.Client(), Partner: func(id string) *partners.Partner {
		if id == p.ID {
			return p
		}
		return nil
	}}
	step := func(partner, address string) *outbox.Step {
		body, err := json.Marshal(outbox.ReceiptBody{Type: "MDN", Address: address, ContentType: "multipart/report; boundary=b", Fields: [][2]string{{"AS2-From", "NORDHAFEN-AS2"}, {"Message-ID", "<1@edigw>"}}, Content: []byte("--b--")})
		if err != nil {
			t.Fatal(err)
		}
		return outbox.NewStep(outbox.Effect{Partner: partner}, outbox.Caused{Body: body}, nil)
	}
	t.Run("an MDN is posted with its header, and any 2xx has it", func(t *testing.T) {
		for _, status = range []int{200, 202, 204} {
			got = nil
			if err := d.Target().Send(context.Background(), step("talquist", server.URL+"/mdn?a=b")); err != nil {
				t.Fatal(status, err)
			}
			if diff := cmp.Diff([]string{"/mdn?a=b", "multipart/report; boundary=b", "NORDHAFEN-AS2", "<1@edigw>", "--b--"}, got); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("anything else is tried again: it may be what a proxy says", func(t *testing.T) {
		for _, status = range []int{301, 400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 500, 503} {
			if err := d.Target().Send(context.Background(), step("talquist", server.URL)); !errors.Is(err, outbox.ErrNotDone) || errors.Is(err, outbox.ErrFinal) {
				t.Errorf("%d: %v", status, err)
			}
		}
	})
	t.Run("no connection is made to a host that is not allowed any more, or for nobody", func(t *testing.T) {
		got = nil
		p.AS2.MDNHosts = nil
		for _, id := range []string{"talquist", "nobody"} {
			if err := d.Target().Send(context.Background(), step(id, server.URL)); !errors.Is(err, ErrNoHost) || !errors.Is(err, outbox.ErrNotDone) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("it is tried for more than 25 hours", func(t *testing.T) {
		target := d.Target()
		total, pause := target.First, target.First
		for range target.Attempts - 1 {
			total += pause
			pause = min(2*pause, target.Most)
		}
		if total.Hours() < 25 {
			t.Errorf("%v", total)
		}
	})
}
