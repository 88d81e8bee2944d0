package as2

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

const mib = 1 << 20

// atOnce are limits under which nobody waits.
func atOnce(total int64) Limits {
	return Limits{Memory: total, Wait: time.Nanosecond}.withDefaults()
}

func TestMemory(t *testing.T) {
	acme, bolt, crux := &partners.Partner{ID: "acme"}, &partners.Partner{ID: "bolt"}, &partners.Partner{ID: "crux"}
	take := func(t *testing.T, m *memory, p *partners.Partner, n int64, l Limits) *claim {
		t.Helper()
		c, err := m.open(context.Background(), p, "", n, l)
		if err != nil && !errors.Is(err, gateway.ErrCrowded) {
			t.Fatal(err)
		}
		return c
	}
	t.Run("a partner fills its share, and another has room", func(t *testing.T) {
		m, l, in := &memory{}, atOnce(64*mib), 0
		for range 100 {
			if take(t, m, acme, 2*mib, l) != nil {
				in++
			}
		}
		if in != 16 || m.used != 32*mib {
			t.Errorf("%d were let in, with %d bytes", in, m.used)
		}
		if take(t, m, bolt, 20*mib, l) == nil {
			t.Error("another has none")
		}
	})
	t.Run("the share is what the partner's settings say", func(t *testing.T) {
		m, l, in := &memory{}, atOnce(64*mib), 0
		for range 100 {
			if take(t, m, &partners.Partner{ID: "acme", Share: 25}, 2*mib, l) != nil {
				in++
			}
		}
		if in != 8 {
			t.Errorf("%d were let in", in)
		}
	})
	t.Run("one message alone may have all but the reserve, which is for those who need little", func(t *testing.T) {
		m, l := &memory{}, atOnce(64*mib)
		large := take(t, m, acme, 56*mib, l)
		if large == nil {
			t.Fatal("it has none")
		}
		if take(t, m, acme, 2*mib, l) != nil {
			t.Error("another of the partner's has some beside it")
		}
		if take(t, m, bolt, 4*mib, l) != nil {
			t.Error("a large part of the reserve is taken at once")
		}
		if take(t, m, bolt, 2*mib, l) == nil || take(t, m, crux, 2*mib, l) == nil {
			t.Error("who needs little has none")
		}
		if take(t, m, bolt, 2*mib, l) != nil {
			t.Error("one partner has more of the reserve than its part")
		}
		large.close()
		if take(t, m, acme, 8*mib, l) == nil {
			t.Error("it is not given back")
		}
	})
	t.Run("what is needed beyond what was paid is taken, and nothing that cannot be had", func(t *testing.T) {
		m, l := &memory{}, atOnce(64*mib)
		c := take(t, m, acme, 4*mib, l)
		if err := errors.Join(c.need(2*mib), c.need(2*mib)); err != nil || m.used != 4*mib {
			t.Fatalf("%v, %d bytes", err, m.used)
		}
		if err := c.need(mib); err != nil || m.used != 5*mib {
			t.Errorf("%v, %d bytes", err, m.used)
		}
		if err := c.need(64 * mib); !errors.Is(err, ErrTooMuch) || m.used != 5*mib {
			t.Errorf("more than one may have: %v, %d bytes", err, m.used)
		}
		if take(t, m, bolt, 32*mib, l) == nil {
			t.Fatal("another has none")
		}
		if err := c.need(40 * mib); !errors.Is(err, ErrNoRoom) || m.used != 37*mib {
			t.Errorf("more than is left: %v, %d bytes", err, m.used)
		}
		c.close()
		if m.used != 32*mib {
			t.Errorf("%d bytes", m.used)
		}
	})
	t.Run("what is small is not counted, until it has become large", func(t *testing.T) {
		m, l := &memory{}, atOnce(64*mib)
		c := take(t, m, acme, mib, l)
		if m.used != 0 || c.need(mib) != nil || m.used != 0 || c.need(mib) != nil || m.used != 2*mib {
			t.Errorf("%d bytes", m.used)
		}
	})
	t.Run("who waits has it when it is given back, whoever has the least first", func(t *testing.T) {
		l := Limits{Memory: 64 * mib, Wait: time.Hour}.withDefaults()
		m := &memory{}
		if take(t, m, acme, 20*mib, l) == nil {
			t.Fatal("it has none")
		}
		large := take(t, m, crux, 32*mib, l)
		got := make(chan string, 4)
		wait := func(p *partners.Partner, behind int) {
			go func() {
				if c, err := m.open(context.Background(), p, "", 10*mib, l); err != nil || c == nil {
					got <- fmt.Sprint(err)
				}
				got <- p.ID
			}()
			for waiting := -1; waiting != behind; {
				m.mu.Lock()
				waiting = len(m.waiting)
				m.mu.Unlock()
			}
		}
		wait(acme, 1)
		wait(bolt, 2)
		m.mu.Lock()
		m.pay(large, 24*mib) // there is room for one of them
		m.serve()
		m.mu.Unlock()
		if who := <-got; who != "bolt" {
			t.Errorf("%s was first", who)
		}
		large.close()
		if who := <-got; who != "acme" {
			t.Errorf("%s was second", who)
		}
	})
	t.Run("a stranger who fills a partner's share goes behind the partner itself", func(t *testing.T) {
		l := Limits{Memory: 64 * mib, Wait: time.Hour}.withDefaults()
		m := &memory{}
		var forged []*claim
		for range 4 {
			c, err := m.open(t.Context(), acme, "203.0.113.5", 8*mib, l)
			if err != nil {
				t.Fatal(err)
			}
			forged = append(forged, c)
		}
		var order []string
		for i, address := range []string{"203.0.113.5", "203.0.113.5", "198.51.100.7"} {
			c := &claim{of: m, has: m.by["acme"], address: address, total: l.Memory, share: l.Memory / 2, asks: 8 * mib, given: make(chan struct{})}
			m.waiting = append(m.waiting, c)
			if m.serve(); len(m.waiting) != i+1 {
				t.Fatal("it does not wait")
			}
		}
		waiting := slices.Clone(m.waiting)
		for _, c := range forged[:3] {
			c.close()
			waiting = slices.DeleteFunc(waiting, func(c *claim) bool {
				given := !slices.Contains(m.waiting, c)
				if given {
					order = append(order, c.address)
				}
				return given
			})
		}
		if diff := cmp.Diff([]string{"198.51.100.7", "203.0.113.5", "203.0.113.5"}, order); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("who gives up has nothing", func(t *testing.T) {
		m := &memory{}
		large := take(t, m, acme, 56*mib, atOnce(64*mib))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.open(ctx, bolt, "", 40*mib, Limits{Memory: 64 * mib, Wait: time.Hour}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if large.close(); m.used != 0 || len(m.waiting) != 0 {
			t.Errorf("%d bytes, %d wait", m.used, len(m.waiting))
		}
	})
}

func TestMemoryOfMessages(t *testing.T) {
	noise := make([]byte, 3*mib)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	large, _ := wrap(t, Wrapping{Compress: true}, Composed{ContentType: "application/EDIFACT", Body: append([]byte("UNB+"), noise...)}, crypto.SHA256)
	bomb, _ := wrap(t, Wrapping{Compress: true}, Composed{ContentType: "application/EDIFACT", Body: append([]byte("UNB+"), make([]byte, 32*mib)...)}, crypto.SHA256)
	sparse := []byte("UNB+") // shrinks to a sixtieth: much, and not too much
	for i := range 3000 {
		sparse = fmt.Appendf(sparse, "%989s%x", "", noise[8*i:8*i+6])
	}
	packed, _ := wrap(t, Wrapping{Compress: true}, Composed{ContentType: "application/EDIFACT", Body: sparse}, crypto.SHA256)
	t.Run("what others have is told to come again, and all of it is given back", func(t *testing.T) {
		in := newIngress(t, unsigned)
		in.Limits = Limits{Memory: 64 * mib, Wait: time.Nanosecond}
		other, err := in.memory.open(t.Context(), &partners.Partner{ID: "other"}, "", 56*mib, in.Limits.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		if a := in.send(large); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || len(in.got) != 0 {
			t.Errorf("got %s", a.says())
		}
		if a := in.send(packed); a.status != http.StatusServiceUnavailable {
			t.Errorf("small as it comes, and large: got %s", a.says())
		}
		other.close()
		for name, c := range map[string]Composed{"large": large, "much compressed": packed} {
			if a := in.send(c); a.says() != "200 processed" {
				t.Errorf("%s: got %s %s", name, a.says(), a.report.Errors)
			}
		}
		if a := in.send(bomb); a.says() != "200 processed/error: decompression-failed" {
			t.Errorf("a bomb: got %s", a.says())
		}
		if n := in.memory.used; n != 0 {
			t.Errorf("%d bytes are still taken", n)
		}
	})
	t.Run("what is refused holds none while it is journalled", func(t *testing.T) {
		in := newIngress(t)
		held := int64(-1)
		in.Receive = func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
			held = in.memory.used
			return in.receive(ctx, d)
		}
		if a := in.send(large); a.says() != "200 processed/error: insufficient-message-security" || held != 0 {
			t.Errorf("got %s, with %d bytes held", a.says(), held)
		}
	})
	t.Run("what never has room is told to be too large, and not to come again", func(t *testing.T) {
		in := newIngress(t, unsigned)
		in.Limits = Limits{Memory: 5 * mib, Wait: time.Nanosecond}
		if a := in.send(large); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %s", a.says())
		}
		if a := in.send(packed); a.says() != "200 processed/error: decompression-failed" {
			t.Errorf("when it is decompressed: got %s", a.says())
		}
	})
	t.Run("what is decoded is counted, also layer by layer", func(t *testing.T) {
		line := append([]byte("UNB+"), bytes.Repeat([]byte("=41"), mib)...)
		text := append([]byte("Content-Type: application/EDIFACT\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"), line...)
		body := fmt.Appendf(nil, "--b\r\n%s\r\n--b\r\n%s\r\n--b--\r\n", text, text)
		taken := int64(0)
		o := &Opener{Partner: rules(unsigned), Room: func(n int64) error { taken += n; return nil }}
		m, err := o.Open(outerEntity(http.Header{"Content-Type": {"multipart/mixed; boundary=b"}}, body), Wanted{})
		if err != nil {
			t.Fatal(err)
		}
		if taken != int64(2*len(line)) || m.size() != int64(2*(mib+4)) {
			t.Errorf("%d bytes were taken for %d", taken, m.size())
		}
	})
}
