package gateway

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/edigw/edigw/dedup"
)

// rooms share out the memory that deliveries fill between prepare and COMMIT: with
// their documents, and with what a drift is compared with. Without a bound one
// partner with its share of deliveries, each of the size up to which documents are
// kept, would fill 16 GB.
//
// A delivery takes room for all of it before it is prepared, so that none waits for
// more while it holds some, and holds neither a connection nor a processor
// meanwhile. A partner that has nothing here may take its whole share, whatever its
// delivery weighs; no one weighs more. Partners that wait take turns. Whoever finds
// the whole full keeps those behind waiting too, since it would never fit between
// smaller ones, but for those that are small enough to make no difference.
type rooms struct {
	mu    sync.Mutex
	total int64 // bytes; 0: not known yet
	used  int64
	by    map[string]*roomShare
	queue turns[*room]
}

// roomShare is what a partner has.
type roomShare struct {
	bytes   int64
	waiting int
}

// room is what a delivery has, or waits for.
type room struct {
	partner string
	share   int64 // of its partner
	bytes   int64
	given   chan struct{} // closed when it has it
}

const (
	// noLimit is the memory limit where the process has none.
	noLimit = 192 << 20
	// keptTimes is what a payload of one byte fills where its documents are kept,
	// itself and the rows that are sent among it: 5.9 for an INVOIC's documents.
	keptTimes = 8
	// streamed is what a delivery fills whose documents are not kept, beside a
	// streamedPart of its payload: the states of its messages.
	streamed, streamedPart = 8 << 20, 16
	// comparedTimes is what a byte of two compared interchanges fills, text and
	// segments: 9.5 until their difference is told.
	comparedTimes = 12
	// smallParts of all the room pass by who waits for more.
	smallParts = 64
)

// whole is all the room there is, in bytes. r.mu is held.
func (g *Gateway) whole() int64 {
	if g.rooms.total == 0 {
		g.rooms.total = g.Memory
	}
	if g.rooms.total == 0 {
		limit := debug.SetMemoryLimit(-1)
		if limit == math.MaxInt64 {
			limit = noLimit
		}
		g.rooms.total = max(1, limit/2)
	}
	return g.rooms.total
}

// weighs is what a delivery fills while parts are prepared and written, in bytes.
func (g *Gateway) weighs(in *intake, parts []*part) int64 {
	size := in.Payload.Size()
	n := size * keptTimes
	if size > g.retained() {
		n = streamed + size/streamedPart
	}
	compared, before := int64(0), map[dedup.Ref]int64{}
	for _, p := range parts {
		with := before[p.key] // may become what it is compared with
		if original := p.differsFrom(in.keys[p.key]); original != nil {
			with = max(with, original.Length)
		}
		if with > 0 {
			compared = max(compared, min(p.ic.Length, compareLimit)+min(with, compareLimit))
		}
		before[p.key] = max(before[p.key], p.ic.Length)
	}
	return n + compared*comparedTimes
}

// enterRoom waits until there is room for what in is to be prepared for. Where it
// has too little, since it started again and has become a drift meanwhile, say, it
// takes more if there is, and does not wait for it.
func (g *Gateway) enterRoom(ctx context.Context, in *intake, parts []*part) error {
	if in.mayWait == nil || len(parts) == 0 { // an operator waits for it
		return nil
	}
	r := &g.rooms
	r.mu.Lock()
	share := int64(shareOf(in.Partner, int(g.whole())))
	x := &room{partner: in.Partner.ID, share: share, bytes: min(g.weighs(in, parts), share), given: make(chan struct{})}
	if in.room != nil {
		defer r.mu.Unlock()
		return r.enlarge(in.room, x.bytes)
	}
	here := r.of(x.partner)
	here.waiting++
	r.queue.push(x.partner, x)
	r.serve()
	r.mu.Unlock()

	since, late := time.Now(), time.NewTimer(*in.mayWait)
	defer late.Stop()
	var err error
	select {
	case <-x.given:
	case <-late.C:
		err = ErrCrowded
	case <-ctx.Done():
		err = fmt.Errorf("wait for room: %w", ctx.Err())
	}
	*in.mayWait = max(0, *in.mayWait-time.Since(since))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.queue.remove(x.partner, x) {
		here.waiting--
		r.serve() // those behind it may pass
		return err
	}
	in.room = x // it may have come at the last moment
	return nil
}

// enlarge gives what has room as much as it needs. r.mu is held.
func (r *rooms) enlarge(has *room, need int64) error {
	more := room{partner: has.partner, share: has.share, bytes: need - has.bytes}
	switch {
	case more.bytes <= 0:
		return nil
	case !r.fits(&more):
		return ErrCrowded
	}
	r.count(has.partner, more.bytes)
	has.bytes = need
	return nil
}

// leaveRoom gives back what the delivery has.
func (g *Gateway) leaveRoom(in *intake) {
	if in.room == nil {
		return
	}
	r := &g.rooms
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(in.room.partner, -in.room.bytes)
	in.room = nil
	r.serve()
}

// serve gives room to whose turn it is. r.mu is held.
func (r *rooms) serve() {
	for {
		full := false
		x, ok := r.queue.next(func(partner string) bool {
			x := r.queue.first(partner)
			if full && x.bytes > r.total/smallParts || !r.inShare(x) {
				return false
			}
			if r.fits(x) {
				return true
			}
			full = true
			return false
		})
		if !ok {
			return
		}
		r.count(x.partner, x.bytes)
		r.by[x.partner].waiting--
		close(x.given)
	}
}

func (r *rooms) inShare(x *room) bool { return r.of(x.partner).bytes+x.bytes <= x.share }

func (r *rooms) fits(x *room) bool { return r.inShare(x) && r.used+x.bytes <= r.total }

// count adds n bytes to what a partner has. r.mu is held.
func (r *rooms) count(partner string, n int64) {
	r.used += n
	r.of(partner).bytes += n
}

func (r *rooms) of(partner string) *roomShare {
	here := r.by[partner]
	if here == nil {
		if r.by == nil {
			r.by = map[string]*roomShare{}
		}
		here = &roomShare{}
		r.by[partner] = here
	}
	return here
}

// taken gives what each partner has.
func (r *rooms) taken() map[string]roomShare {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := map[string]roomShare{}
	for partner, here := range r.by {
		taken[partner] = *here
	}
	return taken
}
