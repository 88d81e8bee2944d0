package httpin_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestShare(t *testing.T) {
	t.Run("a partner that has its share of deliveries is told to come again, its body unread", func(t *testing.T) {
		in := serve(t, func(in *ingress) {
			in.Admit = func(*partners.Partner) (func(), bool) { return nil, false }
		})
		a := in.post(t, "acme", strings.NewReader(interchange))
		if a.Status != http.StatusServiceUnavailable || a.problem(t) != "too-many-at-once" || a.Header.Get("Retry-After") == "" {
			t.Errorf("got %+v", a)
		}
		if n := len(in.deliveries()); n != 0 {
			t.Errorf("%d deliveries were received", n)
		}
		if line := in.line(t); line["outcome"] != "crowded" || line["level"] != "WARN" || line["partner"] != "acme" {
			t.Errorf("logged %v", line)
		}
	})
	t.Run("a place is given back once, however the delivery ends", func(t *testing.T) {
		for name, c := range map[string]struct {
			body, digest string
			receive      error
		}{
			"accepted":            {body: interchange},
			"refused":             {body: " "},
			"not what it says":    {body: interchange, digest: "sha-256=:AAAA:"},
			"crowded further on":  {body: interchange, receive: gateway.ErrCrowded},
			"failed":              {body: interchange, receive: errors.New("the database is away")},
			"its first copy runs": {body: interchange, receive: gateway.ErrBusy},
		} {
			t.Run(name, func(t *testing.T) {
				var admitted, left atomic.Int64
				in := serve(t, func(in *ingress) {
					in.Admit = func(p *partners.Partner) (func(), bool) {
						if p.ID != "acme" {
							t.Errorf("asked for %s", p.ID)
						}
						admitted.Add(1)
						return func() { left.Add(1) }, true
					}
					in.Receive = func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
						if left.Load() != 0 {
							t.Error("the place was given back while the delivery is received")
						}
						if c.receive != nil {
							return nil, c.receive
						}
						return accept(d)
					}
				})
				headers := []string{}
				if c.digest != "" {
					headers = append(headers, "Content-Digest", c.digest)
				}
				in.post(t, "acme", strings.NewReader(c.body), headers...)
				in.line(t)
				if admitted.Load() != 1 || left.Load() != 1 {
					t.Errorf("let in %d times, out %d times", admitted.Load(), left.Load())
				}
			})
		}
	})
	t.Run("large bodies of one partner leave room for another's", func(t *testing.T) {
		hold, held := make(chan struct{}), make(chan struct{}, 1)
		in := serve(t, func(in *ingress) {
			in.Spool.Threshold, in.Spool.Cap = 10, 1000
			in.Receive = func(_ context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
				if d.Filename == "first" {
					held <- struct{}{}
					<-hold
				}
				return accept(d)
			}
		})
		large := strings.Repeat("x", 400)
		first := make(chan answer, 1)
		go func() {
			first <- in.post(t, "acme", strings.NewReader(large), "Content-Disposition", "attachment; filename=first")
		}()
		<-held
		if a := in.post(t, "acme", strings.NewReader(large)); a.Status != http.StatusServiceUnavailable || a.problem(t) != "too-many-at-once" {
			t.Errorf("more than its share: %+v", a)
		}
		if a := in.post(t, "brack", strings.NewReader(large), "Authorization", "Bearer "+brackToken); a.Status != http.StatusCreated {
			t.Errorf("another partner: %+v", a)
		}
		close(hold)
		if a := <-first; a.Status != http.StatusCreated {
			t.Errorf("the first: %+v", a)
		}
	})
}
