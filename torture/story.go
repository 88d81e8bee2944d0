package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// story is what one partner sends for one purpose, in an order that makes sense
// to him. What it does is the seed's and the number's alone, but for how often he
// has to send again.
type story struct {
	*run
	n       int
	rng     *rand.Rand
	partner *partner
	made    int // references and numbers
	mu      sync.Mutex
	ids     int
}

// kinds of stories, with how often each is told.
var kinds = []struct {
	name   string
	weight int
	tell   func(*story)
}{
	{"sent, and sent again", 75, (*story).plain},
	{"many copies at once", 14, (*story).burst},
	{"a known reference with other content", 14, (*story).drift},
	{"two contents of a reference at once", 6, (*story).driftAtOnce},
	{"a transport id used for another payload", 7, (*story).transportDrift},
	{"refused, mended and sent again", 12, (*story).mended},
	{"the handler fails", 9, (*story).dead},
	{"a known document", 12, (*story).known},
	{"several interchanges in one payload", 7, (*story).several},
	{"a VAN sends for another", 7, (*story).van},
	{"what must be turned away", 5, (*story).turnedAway},
	{"purged, and sent again", 7, (*story).purged},
}

// tell tells story n.
func (r *run) tellStory(n int) {
	s := &story{run: r, n: n, rng: rand.New(rand.NewPCG(r.seed, uint64(n)))}
	owners := len(r.company) - 2 // the VANs stand last
	s.partner = r.company[s.rng.IntN(owners)]
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	at := s.rng.IntN(total)
	for _, k := range kinds {
		if at -= k.weight; at < 0 {
			k.tell(s)
			return
		}
	}
}

// reference gives a control reference of this story: UNB 0020 holds 14
// characters.
func (s *story) reference() string {
	s.made++
	return strconv.FormatInt(int64(s.n), 36) + "." + strconv.Itoa(s.made)
}

// id gives a transport id that was not used.
func (s *story) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("id-%d-%d", s.n, s.ids)
}

// maybeID gives one, or none.
func (s *story) maybeID() string {
	if s.rng.IntN(4) == 0 {
		return ""
	}
	return s.id()
}

// invoices gives one to three new ones.
func (s *story) invoices() []invoice {
	list := make([]invoice, 1+s.rng.IntN(3))
	for i := range list {
		s.made++
		list[i] = invoice{number: fmt.Sprintf("RG-%d-%d", s.n, s.made), amount: 1000 + s.rng.IntN(90000)}
	}
	return list
}

// fresh is a new interchange of the story's partner.
func (s *story) fresh(invoices ...invoice) *content {
	if len(invoices) == 0 {
		invoices = s.invoices()
	}
	return newContent(s.partner, s.partner.address(), s.reference(), invoices...)
}

// altered is the interchange again under its reference, with other amounts, or
// other invoices altogether.
func (s *story) altered(c *content) *content {
	var list []invoice
	for _, m := range c.messages {
		v := m.invoice
		v.wrong = false
		v.amount += 1 + s.rng.IntN(500)
		list = append(list, v)
	}
	switch s.rng.IntN(4) {
	case 0: // one of the messages stays as it was
		list[0] = c.messages[0].invoice
		if len(list) == 1 {
			list[0].amount++
		}
	case 1:
		list = s.invoices()
	}
	return newContent(c.owner, c.owner.address(), c.reference, list...)
}

// until sends until the answer stands, as a partner does who keeps trying: some
// of them under a new id each time.
func (s *story) until(sh shipment, seed uint64) *delivery {
	rng := rand.New(rand.NewPCG(s.seed^seed, uint64(s.n)))
	renews := sh.id != "" && rng.IntN(3) == 0
	begun := time.Now()
	for wait := 20; ; wait = min(wait*2, 600) {
		d := s.deliver(sh)
		if d.final() {
			return d
		}
		if s.ctx.Err() != nil {
			return d
		}
		if time.Since(begun) > patience {
			s.findings.add("liveness", sh.contents[0].key(), "not answered in %v; at last %s: %s", patience, d, cutText(d.body))
			return d
		}
		if renews {
			sh.id = s.id()
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(time.Duration(wait/2+rng.IntN(wait)) * time.Millisecond):
		}
	}
}

// patience is how long a partner sends again before he complains. It covers a
// PostgreSQL that is killed several times in a row.
const patience = 90 * time.Second

// send sends contents until they are answered.
func (s *story) send(id string, contents ...*content) *delivery {
	return s.until(shipment{sender: s.partner, contents: contents, id: id}, s.rng.Uint64())
}

// atOnce sends all of them at once, each until it is answered.
func (s *story) atOnce(shipments ...shipment) []*delivery {
	list := make([]*delivery, len(shipments))
	var wg sync.WaitGroup
	for i, sh := range shipments {
		seed := s.rng.Uint64()
		wg.Go(func() { list[i] = s.until(sh, seed) })
	}
	wg.Wait()
	return list
}

// copies are n shipments of the same: under one id, new ones, or none.
func (s *story) copies(n int, id string, contents ...*content) []shipment {
	var list []shipment
	for range n {
		sh := shipment{sender: s.partner, contents: contents, id: id}
		switch s.rng.IntN(3) {
		case 0:
			sh.id = s.id()
		case 1:
			sh.id = s.maybeID()
		}
		list = append(list, sh)
	}
	return list
}

// again sends what was answered some more times.
func (s *story) again(d *delivery, most int) {
	for _, sh := range s.copies(1+s.rng.IntN(most), d.id, d.contents...) {
		s.until(sh, s.rng.Uint64())
	}
}

func (s *story) plain() {
	d := s.send(s.maybeID(), s.fresh())
	if d.final() && !d.taken() {
		s.findings.add("outcome", d.contents[0].key(), "a sound new interchange is not accepted: %s: %s", d, cutText(d.body))
	}
	s.again(d, 2)
}

func (s *story) burst() {
	c := s.fresh()
	for _, d := range s.atOnce(s.copies(3+s.rng.IntN(6), s.id(), c)...) {
		if d.final() && !d.taken() {
			s.findings.add("outcome", c.key(), "a copy of a sound interchange is not accepted: %s: %s", d, cutText(d.body))
		}
	}
	s.again(s.send("", c), 2)
}

func (s *story) drift() {
	a := s.send(s.maybeID(), s.fresh())
	b := s.altered(a.contents[0])
	id := s.maybeID()
	if s.rng.IntN(4) == 0 {
		id = a.id
	}
	d := s.send(id, b)
	if d.final() && (len(d.receipt.items) == 0 || d.receipt.items[0].Alert == "") {
		s.findings.add("outcome", b.key(), "another content of a known reference is no drift: %s: %s", d, cutText(d.body))
		return
	}
	s.again(d, 2)
	if s.rng.IntN(5) < 3 {
		s.rule(d, b, "keep_original", "replace", "process_as_new", "complete", "reject_and_notify")
	}
	s.atOnce(append(s.copies(2, a.id, a.contents[0]), s.copies(2, d.id, b)...)...)
	if s.rng.IntN(3) == 0 {
		var list []invoice
		for _, m := range a.contents[0].messages {
			list = append(list, m.invoice)
		}
		s.underNewReference(list)
	}
}

// rule has one operator or two at once decide about the drift that an answer
// tells of, sometimes while further copies come in.
func (s *story) rule(d *delivery, c *content, choices ...string) {
	if !d.final() || len(d.receipt.items) == 0 {
		return
	}
	alert, key := d.receipt.items[0].Alert, c.key()
	if d.transportDrift() {
		key = d.transportKey()
	}
	digest := [32]byte{}
	if s.rng.IntN(2) == 0 {
		digest = c.digest
		if d.transportDrift() {
			digest = d.digest()
		}
	}
	var wg sync.WaitGroup
	for person := range 1 + s.rng.IntN(2) {
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), uint64(person)))
		choice := choices[s.rng.IntN(len(choices))]
		wg.Go(func() { s.decide(rng, alert, key, digest, choice, person) })
	}
	if s.rng.IntN(3) == 0 {
		s.atOnce(s.copies(2, d.id, d.contents...)...)
	}
	wg.Wait()
}

func (s *story) driftAtOnce() {
	a := s.fresh()
	b := s.altered(a)
	s.atOnce(append(s.copies(2, s.id(), a), s.copies(2, s.id(), b)...)...)
	s.atOnce(append(s.copies(1, "", a), s.copies(1, "", b)...)...)
}

func (s *story) transportDrift() {
	id := s.id()
	a, b := s.fresh(), s.fresh()
	other := shipment{sender: s.partner, contents: []*content{b}, id: id}
	if s.rng.IntN(3) == 0 { // whichever comes first has the id
		s.atOnce(shipment{sender: s.partner, contents: []*content{a}, id: id}, other)
	} else {
		s.until(shipment{sender: s.partner, contents: []*content{a}, id: id}, 0)
	}
	d := s.until(other, 0)
	switch s.rng.IntN(3) {
	case 0: // under an id of its own it goes through, and the alert closes
		s.send(s.id(), b)
		s.send(id, b)
	case 1:
		if d.transportDrift() {
			s.rule(d, b, "process", "reject")
		}
		s.send(id, b)
	}
	s.send(id, a)
}

func (s *story) mended() {
	list := s.invoices()
	for len(list) < 2 {
		list = append(list, s.invoices()...)
	}
	wrong := s.rng.IntN(len(list))
	list[wrong].wrong = true
	bad := s.fresh(list...)
	d := s.send(s.maybeID(), bad)
	s.again(d, 2)
	good := append([]invoice{}, list...)
	good[wrong].wrong = false
	contents := []*content{newContent(s.partner, s.partner.address(), bad.reference, good...)}
	if s.rng.IntN(3) == 0 { // mended twice, differently
		good = append([]invoice{}, good...)
		good[wrong].amount += 7
		contents = append(contents, newContent(s.partner, s.partner.address(), bad.reference, good...))
	}
	var all []shipment
	for _, c := range contents {
		id := s.maybeID()
		if s.rng.IntN(3) == 0 {
			id = d.id
		}
		all = append(all, s.copies(1+s.rng.IntN(2), id, c)...)
	}
	s.atOnce(all...)
	s.atOnce(append(s.copies(1, d.id, bad), s.copies(1, "", contents[0])...)...)
}

func (s *story) dead() {
	list := s.invoices()
	list[s.rng.IntN(len(list))].number = fmt.Sprintf("%s%d", deadly, s.n)
	c := s.fresh(list...)
	d := s.send(s.maybeID(), c)
	switch s.rng.IntN(4) {
	case 0:
		s.atOnce(s.copies(3, d.id, c)...)
	case 1:
		s.send(s.id(), s.altered(c))
	}
	for range s.rng.IntN(4) {
		s.again(d, 1)
	}
	if s.rng.IntN(2) == 0 {
		s.replay(rand.New(rand.NewPCG(s.rng.Uint64(), 1)), c, s.rng.IntN(4) == 0)
	}
	s.again(d, 2)
}

func (s *story) known() {
	list := s.invoices()
	a := s.fresh(list...)
	same := append([]invoice{}, list...)
	if s.rng.IntN(3) > 0 {
		same[0].amount++
	}
	b := s.fresh(append(same, s.invoices()...)...)
	if s.rng.IntN(3) == 0 {
		s.atOnce(append(s.copies(2, s.id(), a), s.copies(2, s.id(), b)...)...)
	} else {
		s.send(s.maybeID(), a)
	}
	d := s.send(s.maybeID(), b)
	if s.rng.IntN(3) > 0 {
		if alert := s.heldAlert(b.key()); alert != "" {
			choices := []string{"replace", "replace", "process_as_new", "keep_original", "reject_and_notify"}
			for person := range 1 + s.rng.IntN(2) {
				s.decide(rand.New(rand.NewPCG(s.rng.Uint64(), 2)), alert, b.key(), [32]byte{}, choices[s.rng.IntN(len(choices))], person)
			}
		}
	}
	s.again(d, 2)
	if s.rng.IntN(3) > 0 {
		s.underNewReference(list)
	}
}

// underNewReference sends invoices once more that may be replaced by now.
func (s *story) underNewReference(list []invoice) {
	s.again(s.send(s.maybeID(), s.fresh(list...)), 1)
}

// heldAlert finds the alert of what the document guard holds under a key: the
// answer does not tell it.
func (s *story) heldAlert(k ref) (alert string) {
	err := s.machine.site.Pool.QueryRow(s.ctx, `
		select alert_id::text from drift_alert where partner_id = $1 and message_id = $2 and kind = 'document'`, k.partner, k.id).Scan(&alert)
	if err != nil {
		return "" // none, or the database is away
	}
	return alert
}

func (s *story) several() {
	a, b := s.fresh(), s.fresh()
	if s.rng.IntN(2) == 0 {
		s.send(s.maybeID(), a)
	}
	all := []*content{a, b}
	if s.rng.IntN(3) == 0 {
		all = append(all, s.altered(a)) // the same reference twice: one after the other, in payload order
	}
	d := s.atOnce(s.copies(1+s.rng.IntN(3), s.id(), all...)...)[0]
	s.atOnce(append(s.copies(1, d.id, all...), s.copies(1, "", b)...)...)
}

func (s *story) van() {
	van := s.company[len(s.company)-2+s.rng.IntN(2)]
	owner := van.speaksFor[s.rng.IntN(len(van.speaksFor))]
	s.partner = owner
	c := s.fresh()
	through := shipment{sender: van, contents: []*content{c}, id: s.maybeID()}
	if s.rng.IntN(2) == 0 {
		s.atOnce(through, shipment{sender: owner, contents: []*content{c}, id: s.maybeID()})
	}
	s.until(through, 1)
	if s.rng.IntN(2) == 0 { // what it carries of several owners
		s.partner = van.speaksFor[s.rng.IntN(len(van.speaksFor))]
		through.contents = append(through.contents, s.fresh())
		through.id = s.id()
		s.until(through, 2)
	}
	s.until(through, 3)
	s.until(shipment{sender: owner, contents: []*content{c}, id: s.maybeID()}, 4)
}

// purged sends again what was forgotten in between, its transport id with it or
// not, while a copy comes in or not.
func (s *story) purged() {
	d := s.send(s.maybeID(), s.fresh())
	s.again(d, 1)
	keys := []ref{d.contents[0].key()}
	if d.id != "" && s.rng.IntN(3) > 0 {
		keys = append(keys, d.transportKey())
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.purge(keys...) })
	if s.rng.IntN(2) == 0 {
		s.atOnce(s.copies(2, d.id, d.contents...)...)
	}
	wg.Wait()
	s.again(d, 2)
	if s.rng.IntN(3) == 0 {
		s.send(s.maybeID(), s.altered(d.contents[0]))
	}
	if again := s.send(s.maybeID(), d.contents...); again.final() && !again.taken() && len(s.ledger.contents[keys[0]]) == 1 {
		s.findings.add("outcome", keys[0], "what was purged is not taken again: %s: %s", again, cutText(again.body))
	}
}

func (s *story) turnedAway() {
	switch s.rng.IntN(3) {
	case 0:
		c := s.fresh()
		s.atOnce(shipment{sender: s.partner, contents: []*content{c}, id: s.id(), faulty: badToken}, shipment{sender: s.partner, contents: []*content{c}, faulty: badToken})
	case 1:
		sh := shipment{sender: s.partner, contents: []*content{s.fresh()}, id: s.id(), faulty: badDigest}
		s.until(sh, 0)
		s.until(sh, 1)
	default:
		c := newContent(s.partner, stranger, s.reference(), s.invoices()...)
		sh := shipment{sender: s.partner, contents: []*content{c}, id: s.maybeID(), faulty: foreign}
		s.until(sh, 0)
		s.until(sh, 1)
	}
}
