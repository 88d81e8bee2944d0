package gateway

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// roomsOf is a gateway with so much memory for deliveries.
func roomsOf(bytes int64) *Gateway { return &Gateway{Memory: bytes} }

// roomFor is a delivery of size bytes that may not wait.
func roomFor(partner string, size int64) (*intake, []*part) {
	p := &part{key: dedup.Ref{Partner: partner, ID: "K"}, ic: &edi.Interchange{Length: size}}
	return &intake{Delivery: &Delivery{Partner: &partners.Partner{ID: partner}, Payload: edi.Bytes(make([]byte, size))}, parts: []*part{p}, mayWait: new(time.Duration)}, []*part{p}
}

func TestRooms(t *testing.T) {
	const mib = 1 << 20
	enter := func(t *testing.T, g *Gateway, partner string, size int64) (in *intake, ok bool) {
		t.Helper()
		in, parts := roomFor(partner, size)
		return in, g.enterRoom(t.Context(), in, parts) == nil
	}
	t.Run("a partner fills its share, and another has room", func(t *testing.T) {
		g := roomsOf(64 * mib)
		in := 0
		for range 100 {
			if _, ok := enter(t, g, "acme", mib); ok {
				in++
			}
		}
		if in != 32/keptTimes {
			t.Errorf("%d were let in", in)
		}
		if _, ok := enter(t, g, "bolt", mib); !ok {
			t.Error("another partner is kept waiting")
		}
		if g.rooms.used != int64(in+1)*keptTimes*mib {
			t.Errorf("%d bytes are taken", g.rooms.used)
		}
	})
	t.Run("one alone is let in however large it is, and none beside it", func(t *testing.T) {
		for name, size := range map[string]int64{"its documents are kept": 4 * mib, "it is streamed": 100 * mib} {
			g := roomsOf(16 * mib)
			in, ok := enter(t, g, "acme", size)
			if !ok {
				t.Fatalf("%s: it waits", name)
			}
			if _, ok := enter(t, g, "acme", 1); ok {
				t.Errorf("%s: another is let in beside it", name)
			}
			g.leaveRoom(in)
			if _, ok := enter(t, g, "acme", 1); !ok || g.rooms.used != keptTimes {
				t.Errorf("%s: it has left, and %d bytes are taken", name, g.rooms.used)
			}
		}
	})
	t.Run("what finds all of it full goes before what came later, unless that is small", func(t *testing.T) {
		g := roomsOf(64 * mib)
		var first []*intake
		for _, partner := range []string{"acme", "bolt"} {
			for range 3 {
				in, ok := enter(t, g, partner, mib)
				if !ok {
					t.Fatal("no room")
				}
				first = append(first, in)
			}
		}
		// 16 MiB are left.
		wait := func(partner string, size int64) chan error {
			in, parts := roomFor(partner, size)
			long, done := time.Hour, make(chan error, 1)
			in.mayWait = &long
			go func() { done <- g.enterRoom(t.Context(), in, parts) }()
			for g.rooms.taken()[partner].waiting == 0 && len(done) == 0 {
				time.Sleep(time.Millisecond)
			}
			return done
		}
		large := wait("cord", 3*mib)
		later := wait("dune", mib)
		if _, ok := enter(t, g, "echo", 1000); !ok {
			t.Error("a small one is kept waiting")
		}
		if len(later) > 0 {
			t.Error("a later one went first")
		}
		for _, in := range first[:4] {
			g.leaveRoom(in)
		}
		for _, done := range []chan error{large, later} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("what came to be a drift takes more if there is, and does not wait for it", func(t *testing.T) {
		g := roomsOf(64 * mib)
		in, parts := roomFor("acme", mib/2)
		if err := g.enterRoom(t.Context(), in, parts); err != nil {
			t.Fatal(err)
		}
		original := &dedup.Variant{SHA256: [32]byte{1}, Length: mib / 2}
		k := dedup.NewKey(parts[0].key, dedup.Interchange, time.Now(), time.Now())
		k.Add(original)
		in.keys = map[dedup.Ref]*dedup.Key{k.Ref: k}
		parts[0].ic.PayloadSHA256 = [32]byte{2}
		if err := g.enterRoom(t.Context(), in, parts); err != nil || g.rooms.used != mib/2*keptTimes+mib*comparedTimes {
			t.Errorf("%v, %d bytes are taken", err, g.rooms.used)
		}
		original.Length = 8 * mib
		beside, ok := enter(t, g, "acme", mib)
		if !ok {
			t.Fatal("no room beside it")
		}
		if err := g.enterRoom(t.Context(), in, parts); err == nil {
			t.Error("it got more than its partner's share")
		}
		g.leaveRoom(beside)
		if err := g.enterRoom(t.Context(), in, parts); err != nil || g.rooms.used != 32*mib {
			t.Errorf("alone: %v, %d bytes are taken", err, g.rooms.used)
		}
		g.leaveRoom(in)
		if diff := cmp.Diff(int64(0), g.rooms.used); diff != "" {
			t.Error(diff)
		}
	})
}
