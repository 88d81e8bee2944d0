package gateway

import (
	"io"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
)

// unprovedAtOnce bounds the deliveries in this process whose sender is not proved yet: AS2
// and AS4 tell by a signature who sends, which is verified when the body was read.
const unprovedAtOnce = 256

// copiesUnproved are how many copies of one large message are read at once while none of
// them is proved: its id is anybody's to use, and the genuine one must not be shut out.
const copiesUnproved = 4

// unprovedMemory bounds the bytes that are held in memory of what these have sent.
const unprovedMemory = 96 << 20

// Entry is a delivery that was let into this process under a partner's name. Until it
// is proved it is nobody's: the partner's own deliveries have the room they had. A nil one
// is of a process that lets in all.
type Entry struct {
	gateway *Gateway
	partner *partners.Partner
	address string
	cut     func()
	leave   func() // of the partner's own share; nil until it is proved

	place, memory *Guest
	files         *Guest // of the spool's, once something was taken in
	taken         []*Spooled
}

// AdmitUnproved lets a delivery in that says to be from p, before its body is read; not
// ok while there is no room. address is whose it is on the network.
func (g *Gateway) AdmitUnproved(p *partners.Partner, address string) (*Entry, bool) {
	a := &g.admission
	a.known(p)
	e := &Entry{gateway: g, partner: p, address: address,
		place:  a.unproved.Enter(p, address, int64(shareOf(p, unprovedAtOnce)), unprovedAtOnce),
		memory: a.memory.Enter(p, address, int64(shareOf(p, unprovedMemory)), unprovedMemory)}
	if !e.place.Take(1) {
		e.leaveCrowds()
		return nil, false
	}
	return e, true
}

func (e *Entry) guests() []*Guest {
	if e.files == nil {
		return []*Guest{e.place, e.memory}
	}
	return []*Guest{e.place, e.memory, e.files}
}

// MayGo tells that the body is being read; cut ends that, when others need the room.
func (e *Entry) MayGo(cut func()) {
	if e == nil {
		return
	}
	e.cut = cut
	for _, u := range e.guests() {
		u.MayGo(cut)
	}
}

// Stays tells that the body was read.
func (e *Entry) Stays() { e.MayGo(nil) }

// Take is s.Take for what is read of the delivery, beside what was taken in of it before.
// Neither memory nor files are the partner's until the delivery is proved; ErrCrowded
// tells that others need them.
func (e *Entry) Take(s *Spool, p *partners.Partner, r io.Reader, expect, limit int64, beside ...*Spooled) (*Spooled, error) {
	if e == nil || e.leave != nil {
		return s.Take(p, r, expect, limit, beside...)
	}
	if e.files == nil {
		e.files = s.enter(p, e.address)
		e.files.MayGo(e.cut)
	}
	in := &Spooled{spool: s, guest: e.files, Blank: true}
	if err := in.take(&held{r, e.memory, orDefault(s.Threshold, DefaultSpoolThreshold)}, expect, limit); err != nil {
		return nil, err
	}
	e.taken = append(e.taken, in)
	return in, nil
}

// held counts what is read into memory, which is what comes first.
type held struct {
	from  io.Reader
	guest *Guest
	left  int64 // bytes that are still held in memory
}

// Read implements io.Reader.
func (h *held) Read(b []byte) (int, error) {
	n, err := h.from.Read(b)
	if k := min(int64(n), h.left); k > 0 {
		if !h.guest.Take(k) {
			return 0, ErrCrowded
		}
		h.left -= k
	}
	return n, err
}

// Proved makes the delivery one of the partner's; not ok while it has its share here.
func (e *Entry) Proved() (ok bool) {
	if e == nil || e.leave != nil {
		return true
	}
	if e.leave, ok = e.gateway.Admit(e.partner); !ok {
		return false
	}
	for _, in := range e.taken {
		in.belongTo(e.partner)
	}
	e.leaveCrowds()
	return true
}

// Leave gives the place back. A second time it does nothing.
func (e *Entry) Leave() {
	if e == nil {
		return
	}
	e.leaveCrowds()
	if e.leave != nil {
		e.leave()
		e.leave = nil
	}
}

func (e *Entry) leaveCrowds() {
	for _, u := range e.guests() {
		u.Leave()
	}
}

// ReserveUnproved is Reserve for a copy whose sender is not proved: a few of these are
// read beside each other.
func (g *Gateway) ReserveUnproved(partner, key string) (release func(), ok bool) {
	return g.flight.reserve(dedup.Ref{Partner: partner, ID: key}, copiesUnproved)
}
