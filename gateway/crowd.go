package gateway

import (
	"sync"

	"github.com/edigw/edigw/partners"
)

// Crowd holds what takes room before it is known who sent it: anybody can be in it, under
// anybody's name. It keeps no place for the one who came first, who may be there to take
// it: while it is full, whoever comes has another one go that is still being sent. That is
// one from the address that has most, there the largest, and of equal ones the oldest: a
// sender that is quick is through before it is its turn.
//
// The zero value works.
type Crowd struct {
	mu     sync.Mutex
	size   int64
	by     map[string]int64 // by partner
	guests []*Guest         // in the order in which they came
}

// Guest is who is in a Crowd.
type Guest struct {
	crowd   *Crowd
	partner string // whose name it uses; "" while it has used none
	share   int64  // of those who use it together
	most    int64  // of all together
	address string
	size    int64
	alone   bool   // where nobody else has anything, it may have all
	cut     func() // ends the sending; nil while it cannot be displaced
	gone    bool
}

// Enter lets somebody in from an address, who takes nothing yet. All together take most,
// and those who use the name of p take share; without p there is no such bound.
func (c *Crowd) Enter(p *partners.Partner, address string, share, most int64) *Guest {
	u := &Guest{crowd: c, share: share, most: most, address: address}
	if p != nil {
		u.partner = p.ID
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guests = append(c.guests, u)
	return u
}

// Take takes n more; not ok where there is no room, and none that can be made.
func (u *Guest) Take(n int64) (ok bool) {
	c := u.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.gone {
		return false
	}
	u.size += n // it counts among its address's: it may be its own turn to go
	defer func() {
		if !ok {
			u.size -= n
		}
	}()
	if u.partner != "" && !c.room(u, true, u.share, func() int64 { return c.by[u.partner] + n }) ||
		!c.room(u, false, u.most, func() int64 { return c.size + n }) {
		return false
	}
	c.size += n
	if u.partner != "" {
		if c.by == nil {
			c.by = map[string]int64{}
		}
		c.by[u.partner] += n
	}
	return true
}

// room makes room for a newcomer where more than most would be taken. Where none can be
// made, since nobody is being sent, a quarter more is for addresses from which hardly any
// have come. c.mu is held.
func (c *Crowd) room(newcomer *Guest, ofPartner bool, most int64, taken func() int64) bool {
	for taken() > most {
		if newcomer.alone && taken() == newcomer.size {
			return true
		}
		if c.displace(newcomer, ofPartner) {
			continue
		}
		return c.from(newcomer, ofPartner)[newcomer.address] <= max(1, most/16) && taken() <= most+max(1, most/4)
	}
	return true
}

// from gives what each address takes; of those who use the newcomer's name, where it is
// that one's room that is full.
func (c *Crowd) from(newcomer *Guest, ofPartner bool) map[string]int64 {
	from := map[string]int64{}
	for _, u := range c.guests {
		if !ofPartner || u.partner == newcomer.partner {
			from[u.address] += u.size
		}
	}
	return from
}

// displace has one go, for a newcomer. c.mu is held.
func (c *Crowd) displace(newcomer *Guest, ofPartner bool) bool {
	from := c.from(newcomer, ofPartner)
	var next *Guest
	for _, u := range c.guests {
		if u == newcomer || u.cut == nil || u.size == 0 || ofPartner && u.partner != newcomer.partner {
			continue
		}
		if next == nil || from[u.address] > from[next.address] || from[u.address] == from[next.address] && u.size > next.size {
			next = u
		}
	}
	// Whoever has more than all others makes no room for itself by them.
	if next == nil || from[next.address] < from[newcomer.address] || next.address == newcomer.address && next.size < newcomer.size {
		return false
	}
	c.remove(next)
	next.cut()
	return true
}

// remove takes a guest out. c.mu is held.
func (c *Crowd) remove(u *Guest) {
	if u.gone {
		return
	}
	u.gone = true
	c.size -= u.size
	if u.partner != "" && u.size > 0 {
		if c.by[u.partner] -= u.size; c.by[u.partner] == 0 {
			delete(c.by, u.partner)
		}
	}
	for i, other := range c.guests {
		if other == u {
			c.guests = append(c.guests[:i], c.guests[i+1:]...)
			return
		}
	}
}

// MayGo tells that the guest is being sent, and what ends that. cut is called once at
// most, and must not wait.
func (u *Guest) MayGo(cut func()) {
	u.crowd.mu.Lock()
	defer u.crowd.mu.Unlock()
	u.cut = cut
}

// Stays tells that all of it was sent.
func (u *Guest) Stays() { u.MayGo(nil) }

// Leave gives back what it took. A second time it does nothing.
func (u *Guest) Leave() {
	u.crowd.mu.Lock()
	defer u.crowd.mu.Unlock()
	u.crowd.remove(u)
}

// of gives what those who use a partner's name take.
func (c *Crowd) of(partner string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[partner]
}
