package as2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// memory shares out what large messages that are opened hold together. Who sends them is
// not proved yet: anybody may use the name of a partner, and fills the share of that one.
//
// A partner has its share, and one message of a partner that has nothing else here may
// need more: all but a reserve, which is for those who need little. A message pays first
// for what it will need most often, and waits for that while it holds nothing but its
// body in the spool. The partner who has the least goes first, and of a partner's the
// address that has the least: a stranger who fills the share delays the partner itself by
// one message of his.
type memory struct {
	mu      sync.Mutex
	used    int64
	by      map[string]*partnerMemory
	from    map[string]int64 // bytes, by address; none where there are none
	waiting []*claim         // in the order of arrival
}

// partnerMemory is what a partner's messages have. It stays: partners are as many as are
// configured.
type partnerMemory struct {
	bytes    int64
	messages int // that have any
}

const (
	// smallMessage is what a message may need without being counted, in bytes: such are
	// bounded by how many deliveries are let in.
	smallMessage = 1 << 20
	// reservePart of all memory is the reserve, and frugalPart of that what a partner may
	// have who is given some of it.
	reservePart, frugalPart = 8, 4
	// memoryWait is how long a message waits for memory, like its delivery for its turn.
	memoryWait = 2 * time.Second
)

// Errors of taking memory.
var (
	// ErrNoRoom: others have the memory that the message needs.
	ErrNoRoom = errors.New("others that are opened have the memory")
	// ErrTooMuch: the message needs more than one may have.
	ErrTooMuch = errors.New("the message needs more memory than one may have")
)

// mostOfOne is what one message may have of so many bytes of memory.
func mostOfOne(total int64) int64 { return max(smallMessage, total-total/reservePart) }

// claim is what one message has, or waits for.
type claim struct {
	of           *memory
	has          *partnerMemory
	address      string
	total, share int64 // of all, and of its partner
	paid, needed int64
	asks         int64
	given        chan struct{} // closed when it has what it waits for
}

// open gives a message from an address memory of n bytes to begin with. It waits for its turn, so long
// as l allows; the error is then gateway.ErrCrowded.
func (m *memory) open(ctx context.Context, p *partners.Partner, address string, n int64, l Limits) (*claim, error) {
	share := int64(p.Share)
	if share == 0 {
		share = partners.DefaultShare
	}
	c := &claim{of: m, address: address, total: l.Memory, share: (l.Memory*share + 99) / 100, asks: n, given: make(chan struct{})}
	m.mu.Lock()
	if m.by == nil {
		m.by, m.from = map[string]*partnerMemory{}, map[string]int64{}
	}
	if m.by[p.ID] == nil {
		m.by[p.ID] = &partnerMemory{}
	}
	c.has = m.by[p.ID]
	m.waiting = append(m.waiting, c)
	m.serve()
	m.mu.Unlock()

	late := time.NewTimer(l.Wait)
	defer late.Stop()
	err := error(nil)
	select {
	case <-c.given:
		return c, nil
	case <-late.C:
		err = gateway.ErrCrowded
	case <-ctx.Done():
		err = fmt.Errorf("wait for memory: %w", ctx.Err())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.waiting, c); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
		return nil, err
	}
	return c, nil // it came at the last moment
}

// need takes n bytes more, of what was paid first: ErrNoRoom, ErrTooMuch. It does not
// wait, since it holds what others wait for.
func (c *claim) need(n int64) error {
	m := c.of
	m.mu.Lock()
	defer m.mu.Unlock()
	switch needed := c.needed + n; {
	case counted(needed) > mostOfOne(c.total):
		return ErrTooMuch
	case needed > c.paid && !m.fits(c, needed):
		return ErrNoRoom
	default:
		m.pay(c, max(c.paid, needed))
		c.needed = needed
		return nil
	}
}

// close gives all of it back.
func (c *claim) close() {
	m := c.of
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pay(c, 0)
	m.serve()
}

// serve gives memory to those who wait and for whom there is some. m.mu is held.
func (m *memory) serve() {
	for {
		next := -1
		for i, c := range m.waiting {
			if (next < 0 || m.before(c, m.waiting[next])) && m.fits(c, c.asks) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		c := m.waiting[next]
		m.waiting = slices.Delete(m.waiting, next, next+1)
		m.pay(c, c.asks)
		close(c.given)
	}
}

// before reports whether a is given memory before b, which came earlier.
func (m *memory) before(a, b *claim) bool {
	return cmp.Or(cmp.Compare(a.has.bytes, b.has.bytes), cmp.Compare(m.from[a.address], m.from[b.address])) < 0
}

// fits reports whether a message may have so many bytes in all. m.mu is held.
func (m *memory) fits(c *claim, bytes int64) bool {
	more, alone := counted(bytes)-counted(c.paid), c.has.messages == 0 || c.has.messages == 1 && counted(c.paid) > 0
	reserve := c.total / reservePart
	switch {
	case more <= 0:
		return true
	case c.has.bytes+more > c.share && !alone, m.used+more > c.total:
		return false
	}
	return m.used+more <= c.total-reserve || c.has.bytes+more <= reserve/frugalPart
}

// pay makes what a message has so many bytes. m.mu is held.
func (m *memory) pay(c *claim, bytes int64) {
	before, after := counted(c.paid), counted(bytes)
	m.used += after - before
	c.has.bytes += after - before
	if m.from[c.address] += after - before; m.from[c.address] == 0 {
		delete(m.from, c.address)
	}
	switch {
	case before == 0 && after > 0:
		c.has.messages++
	case before > 0 && after == 0:
		c.has.messages--
	}
	c.paid = bytes
}

// counted is what counts of so many bytes.
func counted(bytes int64) int64 {
	if bytes <= smallMessage {
		return 0
	}
	return bytes
}
