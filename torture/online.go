package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// violation is something that no outcome allows.
type violation struct {
	invariant string // of docs/reference/outcomes.md: "2", or what else was promised
	text      string
	key       ref // whose history shows it; zero for none
}

// findings are the violations of a run.
type findings struct {
	mu   sync.Mutex
	list []violation
	seen map[string]int
}

const told = 20 // violations of one kind that are told in full

// add notes a violation; of those of one kind only the first are kept.
func (f *findings) add(invariant string, key ref, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[string]int{}
	}
	f.seen[invariant+format]++
	if f.seen[invariant+format] <= told {
		f.list = append(f.list, violation{invariant, fmt.Sprintf(format, args...), key})
	}
}

func (f *findings) count() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.seen {
		n += k
	}
	return n
}

// online judges each answer as it comes: what may be said at all, about these
// bytes, by this partner's settings; and whether what it acknowledges is in the
// database already.
type online struct {
	run *run
}

// legal is one kind of answer that docs/reference/outcomes.md and the problems
// of plain HTTP allow.
type legal struct {
	status   int
	problem  string   // name of its type, "" for a receipt
	outcomes []string // of the whole delivery
	verdicts []string
	when     func(p *partner) bool // by the settings of the owner of one of its interchanges; nil: always
}

var (
	effects    = []string{"first", "retry", "re-evaluation", "correction", "completion", "mixed"}
	anyVerdict = append([]string{"duplicate", "drift"}, effects...)
	none       = []string{""}
)

var legals = []legal{
	{201, "", []string{"accepted"}, effects, nil},
	{201, "", []string{"partly"}, effects, func(p *partner) bool { return p.acceptance == "message" }},
	{200, "", []string{"accepted"}, []string{"duplicate"}, nil},
	{200, "", []string{"partly"}, []string{"duplicate"}, func(p *partner) bool { return p.acceptance == "message" }},
	{202, "", []string{"received"}, anyVerdict, func(p *partner) bool { return p.deferred }},
	{202, "", []string{"quarantined"}, []string{"drift", "duplicate", "mixed"}, func(p *partner) bool { return p.onDrift == "hold" }},
	{202, "", []string{"dead"}, anyVerdict, func(p *partner) bool { return p.onDead == "hold" }},
	{422, "invalid-interchange", []string{"rejected"}, anyVerdict, nil},
	{422, "payload-drift", []string{"quarantined"}, []string{"drift", "duplicate", "mixed"}, func(p *partner) bool { return p.onDrift == "reject" }},
	{422, "not-processed", []string{"dead"}, anyVerdict, func(p *partner) bool { return p.onDead == "refuse" }},
	{422, "replaced", []string{"rejected"}, []string{"duplicate", "mixed"}, nil},
	{403, "sender-not-allowed", []string{"rejected"}, []string{"first", "duplicate", "mixed"}, nil},
	{503, "try-again", []string{"dead"}, anyVerdict, func(p *partner) bool { return p.onDead == "refuse" }},

	{400, "digest-mismatch", none, none, nil},
	{400, "incomplete-body", none, none, nil},
	{401, "unauthorized", none, none, nil},
	{408, "request-timeout", none, none, nil},
	{409, "in-progress", none, none, nil},
	{503, "too-many-at-once", none, none, nil},
	{503, "unavailable", none, none, nil},
}

// see judges a delivery that has ended.
func (o *online) see(d *delivery) {
	if d.err != nil {
		return
	}
	add := func(invariant, format string, args ...any) {
		key := ref{}
		if len(d.contents) > 0 {
			key = d.contents[0].key()
		}
		o.run.findings.add(invariant, key, format+"; %s: %s", append(args, d, cutText(d.body))...)
	}
	problem := d.receipt.Type[strings.LastIndexByte(d.receipt.Type, '/')+1:]
	if !slices.ContainsFunc(legals, func(l legal) bool { return l.allows(d, problem) }) {
		add("answers", "no outcome allows this answer")
	}
	if (d.status == 409 || d.status == 503) && !d.retryAfter {
		add("answers", "it says try again and not when")
	}
	for _, inside := range []string{"SQLSTATE", "duplicate key", "constraint", "pgx", "postgres", "goroutine"} {
		if strings.Contains(d.body, inside) {
			add("answers", "the answer tells of the inside (%s)", inside)
		}
	}
	if want := map[string]int{badToken: 401, badDigest: 400, foreign: 403}[d.faulty]; d.faulty != "" && d.final() && d.status != want {
		add("7", "it had to be refused with %d", want)
	}
	if d.receipt.PayloadSHA256 != "" && d.receipt.PayloadSHA256 != hexOf(d.digest()) {
		add("3", "the answer is for other bytes, %.8s", d.receipt.PayloadSHA256)
	}
	if n := len(d.receipt.items); n > 0 && n != len(d.contents) && !(n == 1 && d.transportDrift()) {
		add("answers", "the answer has %d parts", n)
	}
	for i, it := range d.receipt.items {
		if d.keyed(i) && it.PayloadSHA256 != hexOf(d.contents[i].digest) {
			add("3", "part %d of the answer is for other bytes, %.8s", i+1, it.PayloadSHA256)
		}
	}
	o.committed(d, add)
}

func (l *legal) allows(d *delivery, problem string) bool {
	if l.status != d.status || l.problem != problem || !slices.Contains(l.outcomes, d.receipt.Outcome) || !slices.Contains(l.verdicts, d.verdict) {
		return false
	}
	if l.when == nil || d.transportDrift() && l.when(d.sender) {
		return true
	}
	return slices.ContainsFunc(d.contents, func(c *content) bool { return l.when(c.owner) })
}

// committed asks the database, past every proxy, whether the delivery that was
// just answered is there: no acknowledgement leaves before its COMMIT. A database
// that is away says nothing.
func (o *online) committed(d *delivery, add func(string, string, ...any)) {
	if !d.final() || d.verdict == "" || d.verdict == "duplicate" || d.n%2 == 0 {
		return
	}
	id, err := uuid.Parse(d.deliveryID)
	if err != nil {
		add("2", "the answer names no delivery")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var there bool
	err = o.run.machine.site.Pool.QueryRow(ctx, `
		select exists (select from delivery where partner_id = $1 and delivery_id = $2)`, d.sender.id(), id).Scan(&there)
	if err == nil && !there {
		add("2", "it was answered, and is not in the database")
	}
}

func cutText(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return strings.TrimSpace(s)
}
