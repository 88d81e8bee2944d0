package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// crowd is a Crowd of ten, of which one partner's are six, and who had to go.
type crowd struct {
	gateway.Crowd
	gone []string
}

func (c *crowd) enter(name, partner, address string) *gateway.Guest {
	var p *partners.Partner
	if partner != "" {
		p = &partners.Partner{ID: partner}
	}
	u := c.Enter(p, address, 6, 10)
	u.MayGo(func() { c.gone = append(c.gone, name) })
	return u
}

// takes has somebody take n, and holds who had to go for it.
func (c *crowd) takes(t *testing.T, u *gateway.Guest, n int64, want bool, gone ...string) {
	t.Helper()
	c.gone = nil
	if got := u.Take(n); got != want {
		t.Errorf("taking %d: %v, want %v", n, got, want)
	}
	if diff := cmp.Diff(gone, c.gone); diff != "" {
		t.Errorf("who had to go:\n%s", diff)
	}
}

func TestCrowd(t *testing.T) {
	t.Run("who came first from where most came from goes first", func(t *testing.T) {
		c := &crowd{}
		c.takes(t, c.enter("genuine", "acme", "192.0.2.1"), 1, true)
		for i := range 5 {
			c.takes(t, c.enter(fmt.Sprint("storm ", i), "acme", "192.0.2.9"), 1, true)
		}
		c.takes(t, c.enter("a second genuine one", "acme", "192.0.2.1"), 1, true, "storm 0")
		c.takes(t, c.enter("storm 5", "acme", "192.0.2.9"), 1, true, "storm 1")
		c.takes(t, c.enter("another partner's", "bolt", "192.0.2.2"), 1, true)
	})
	t.Run("other names do not help: where most came from is what counts", func(t *testing.T) {
		c := &crowd{}
		for i := range 5 {
			for _, name := range []string{"acme", "bolt"} {
				c.takes(t, c.enter(fmt.Sprint(name, i), name, "192.0.2.9"), 1, true)
			}
		}
		c.takes(t, c.enter("genuine", "corn", "192.0.2.1"), 1, true, "acme0")
		c.takes(t, c.enter("genuine", "acme", "192.0.2.2"), 1, true, "bolt0")
	})
	t.Run("from one address the largest goes, of equal ones the oldest", func(t *testing.T) {
		c := &crowd{}
		c.takes(t, c.enter("large", "", "192.0.2.9"), 7, true)
		small := c.enter("small", "", "192.0.2.9")
		c.takes(t, small, 2, true)
		c.takes(t, c.enter("also small", "", "192.0.2.9"), 2, true, "large")
		c.takes(t, small, 6, true)
		c.takes(t, small, 1, false)
		c.takes(t, c.enter("the last", "", "192.0.2.1"), 1, true, "small")
	})
	t.Run("who has more than all others does not have them go", func(t *testing.T) {
		c := &crowd{}
		c.takes(t, c.enter("genuine", "", "192.0.2.1"), 2, true)
		storm := c.enter("storm", "", "192.0.2.9")
		c.takes(t, storm, 8, true)
		c.takes(t, storm, 1, false)
	})
	t.Run("who took nothing gives nothing back", func(t *testing.T) {
		c := &crowd{}
		c.enter("it", "acme", "192.0.2.1").Leave()
		c.takes(t, c.enter("another", "acme", "192.0.2.1"), 6, true)
	})
	t.Run("who was read whole stays, and has room again when it leaves", func(t *testing.T) {
		c := &crowd{}
		var all []*gateway.Guest
		for range 6 {
			u := c.enter("read", "acme", "192.0.2.9")
			c.takes(t, u, 1, true)
			u.Stays()
			all = append(all, u)
		}
		c.takes(t, c.enter("a seventh", "acme", "192.0.2.9"), 1, false)
		late := c.enter("late", "acme", "192.0.2.1")
		c.takes(t, late, 1, true) // from where none has come
		late.Stays()
		later := c.enter("later", "acme", "192.0.2.2")
		c.takes(t, later, 1, false)
		all[0].Leave()
		all[0].Leave()
		c.takes(t, later, 1, true)
		c.takes(t, c.enter("the last", "acme", "192.0.2.3"), 1, true, "later")
		later.Leave() // it had to go
		c.takes(t, later, 1, false)
	})
}

func TestUnproved(t *testing.T) {
	r := newRig(t)
	p := r.by["acme"]
	var entries []*gateway.Entry
	enter := func(address string, cut func()) *gateway.Entry {
		t.Helper()
		e, ok := r.AdmitUnproved(p, address)
		if !ok {
			t.Fatal("it was not let in")
		}
		e.MayGo(cut)
		entries = append(entries, e)
		return e
	}
	cuts := 0
	for range 600 { // more than all of the partner's own places
		enter("192.0.2.9", func() { cuts++ })
	}
	if unproved := r.has("edigw_partner_unproved", "acme", ""); cuts != 600-unproved || unproved > 256 {
		t.Errorf("%d are here, %d had to go", unproved, cuts)
	}
	genuine := enter("192.0.2.1", func() { t.Error("the genuine one had to go") })
	for range 600 {
		enter("192.0.2.9", func() { cuts++ })
	}
	genuine.Stays()
	if !genuine.Proved() || r.has("edigw_partner_deliveries", "acme", "") != 1 {
		t.Error("it is not the partner's when it is proved")
	}
	leave, ok := r.Admit(p) // over HTTP, who is known at once
	if !ok {
		t.Fatal("what uses the partner's name keeps the partner out")
	}
	leave()
	genuine.Leave()
	for _, e := range entries {
		e.Leave()
	}
	if n, m := r.has("edigw_partner_unproved", "acme", ""), r.has("edigw_partner_deliveries", "acme", ""); n != 0 || m != 0 {
		t.Errorf("%d and %d are still here", n, m)
	}
}

// stalled is a body of which no more comes, until it is cut.
type stalled struct {
	text io.Reader
	read chan struct{} // closed when all of it was read
	cut  chan struct{}
}

// Read implements io.Reader.
func (s *stalled) Read(b []byte) (int, error) {
	n, err := s.text.Read(b)
	if err == io.EOF {
		close(s.read)
		<-s.cut
		err = gateway.ErrCrowded
	}
	return n, err
}

func TestMemoryAndFilesOfWhatIsNotProved(t *testing.T) {
	r := newRig(t)
	p := r.by["acme"]
	for name, c := range map[string]struct {
		spool *gateway.Spool
		bytes int
		stall int // so many fill what is for one name
	}{
		"memory": {&gateway.Spool{}, 1 << 20, 48},
		"files":  {&gateway.Spool{Threshold: 1, Cap: 8 << 20}, 1 << 20, 2},
	} {
		t.Run(name+" is made room in by those of whom no more comes", func(t *testing.T) {
			c.spool.Dir = t.TempDir()
			var all sync.WaitGroup
			gone := make(chan error, 100)
			text := strings.Repeat("x", c.bytes)
			enter := func(address string) *gateway.Entry {
				e, ok := r.AdmitUnproved(p, address)
				if !ok {
					t.Fatal("not let in")
				}
				return e
			}
			for range c.stall {
				s := &stalled{strings.NewReader(text), make(chan struct{}), make(chan struct{})}
				e := enter("192.0.2.9")
				e.MayGo(sync.OnceFunc(func() { close(s.cut) }))
				all.Go(func() {
					defer e.Leave()
					_, err := e.Take(c.spool, p, s, -1, 2<<20)
					gone <- err
				})
				<-s.read
			}
			if len(gone) != 0 {
				t.Fatalf("%d had to go while there was room", len(gone))
			}
			genuine := enter("192.0.2.1")
			in, err := genuine.Take(c.spool, p, strings.NewReader(text), -1, 2<<20)
			if err != nil {
				t.Fatalf("the genuine one: %v", err)
			}
			if err := <-gone; !errors.Is(err, gateway.ErrCrowded) && !errors.Is(err, gateway.ErrSpoolShare) {
				t.Errorf("who had to go is told %v", err)
			}
			if !genuine.Proved() {
				t.Error("it is not the partner's")
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			genuine.Leave()
			// The others are cut by as many that come after them.
			for i := range c.stall {
				e := enter(fmt.Sprint("198.51.100.", i))
				if late, err := e.Take(c.spool, p, strings.NewReader(text), -1, 2<<20); err != nil {
					t.Errorf("one more: %v", err)
				} else if err := late.Close(); err != nil {
					t.Error(err)
				}
				defer e.Leave()
			}
			all.Wait()
		})
	}
}

func TestDeliveriesAtOnce(t *testing.T) {
	r := newRig(t)
	named := func(id string, share int) *partners.Partner { return &partners.Partner{ID: id, Share: share} }
	enter := func(p *partners.Partner) (n int) {
		for {
			if _, ok := r.Admit(p); !ok {
				return n
			}
			n++
		}
	}
	var got []int
	for _, p := range []*partners.Partner{named("one", 50), named("two", 50), named("three", 50), named("four", 50), named("five", 50), named("six", 50), named("seven", 50)} {
		got = append(got, enter(p))
	}
	if diff := cmp.Diff([]int{512, 256, 64, 64, 64, 64, 0}, got); diff != "" {
		t.Error(diff)
	}
	if n := enter(named("all", 100)); n != 0 {
		t.Errorf("%d are beyond what is taken in at once", n)
	}
}

func TestReserveUnproved(t *testing.T) {
	r := newRig(t)
	var releases []func()
	for i := range 4 {
		release, ok := r.ReserveUnproved("acme", "as2:ours:large")
		if !ok {
			t.Fatalf("copy %d of what is not proved keeps the others out", i)
		}
		releases = append(releases, release)
	}
	if _, ok := r.ReserveUnproved("acme", "as2:ours:large"); ok {
		t.Error("a fifth copy is read beside four")
	}
	if _, ok := r.ReserveUnproved("acme", "as2:ours:other"); !ok {
		t.Error("another message is kept out")
	}
	releases[0]()
	if _, ok := r.ReserveUnproved("acme", "as2:ours:large"); !ok {
		t.Error("none is let in when one is gone")
	}
}
