package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/targets"
	"github.com/edigw/edigw/web"
)

// as2Flags are what AS2 does that is no partner's setting.
type as2Flags struct {
	UnknownAS2 string `setting:"" name:"unknown-as2" enum:"mdn,403" default:"mdn" help:"What is told to who sends under AS2 names that are nobody's: mdn, an unsigned MDN where one is asked for, or 403. Either way it is the same for all of them, and leaves nothing."`
	AS2Memory  int64  `setting:"" name:"as2-memory" placeholder:"BYTES" help:"Bytes that large messages may hold together while they are opened over AS2; one of them twice its size at least. A quarter of GOMEMLIMIT if left out, 1 GiB where that is not set."`
}

// as2Memory is what large messages that are opened may hold together, in bytes: what the
// setting says, else a quarter of what the heap was told to be held to, else the default.
func (c as2Flags) as2Memory() int64 {
	if c.AS2Memory > 0 {
		return c.AS2Memory
	}
	if _, given := os.LookupEnv("GOMEMLIMIT"); given {
		if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
			return limit / 4
		}
	}
	return as2.DefaultMemory
}

// as2Path is where partners send to.
const as2Path = "/as2"

// overAS2 is the transport.
func overAS2(c *serveCommand, g *gateway.Gateway, directory *partners.Directory, ring *keys.Ring, proxies proxy.Rule, clock *gateway.Clock, metrics *gateway.Metrics, s *started) *as2.Handler {
	return &as2.Handler{
		Notify: s.as2Acknowledgements(directory, clock, ring).Notify,
		ByName: directory.ByAS2, Client: proxies.Of, Receive: g.Receive, Admit: g.AdmitUnproved, Reserve: g.ReserveUnproved, Keys: keyring{ring, clock.Now}.as2Keys,
		Leads: leads(g.Formats), UnknownBy403: c.UnknownAS2 == "403", Spool: g.Spool, Limits: as2.Limits{MaxBody: c.MaxBody, Memory: c.as2Memory()}, Metrics: metrics, Now: clock.Now, Log: s.log,
	}
}

// triesAS2 is what the API asks for `partners test`: the message that the partner would
// send, made here, and foreseen.
func triesAS2(over *as2.Handler, store *partners.Store, g *gateway.Gateway) func(context.Context, *partners.Partner, []byte) (*web.TriedAS2, error) {
	return func(ctx context.Context, p *partners.Partner, payload []byte) (*web.TriedAS2, error) {
		organisations, err := store.Organisations(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(organisations, func(o partners.OrganisationSpec) bool { return o.ID == p.Organisation })
		if i < 0 || len(organisations[i].AS2.Names) == 0 {
			return &web.TriedAS2{Failure: "organisation " + p.Organisation + " has no AS2 name: whatever this partner sends is nobody's"}, nil
		}
		t, err := over.Try(ctx, p, organisations[i].AS2.Names[0], payload, g.Foresee)
		if err != nil {
			return &web.TriedAS2{Failure: err.Error()}, nil
		}
		return &web.TriedAS2{Steps: t.Steps, Disposition: t.Disposition, Signed: t.Signed, Errors: t.Errors, Sound: t.Sound}, nil
	}
}

// leads reports whether text begins an interchange of any format.
func leads(formats []gateway.Format) func([]byte) bool {
	return func(text []byte) bool {
		for _, f := range formats {
			if f.Leads(text) {
				return true
			}
		}
		return false
	}
}

// mdnWorkers bring MDNs at once, half of them for one partner at most.
const mdnWorkers = 4

// mdnTime bounds one request.
const mdnTime = 60 * time.Second

// prepareMDNs makes what brings asynchronous MDNs.
func (s *started) prepareMDNs(c workFlags, guard *targets.Guard, directory *partners.Directory, clock *gateway.Clock) {
	d := &as2.Deliverer{Partner: directory.Partner, Client: guard.Client(mdnTime)}
	target := d.Target()
	target.Failed = func(step *outbox.Step) *outbox.Event { return acknowledgementFailed(step, clock.NewID()) }
	relay := &outbox.Relay{Pool: s.database.pool, Target: target, NewID: clock.NewID, Log: s.log, Share: mdnWorkers / 2}
	s.workers = append(s.workers, &lease.Workers{Source: relay.Source(), Count: mdnWorkers, Term: c.WorkLease, Log: s.log})
}

// prepareAS2Acknowledgements makes what sends functional acknowledgements over AS2.
func (s *started) prepareAS2Acknowledgements(c workFlags, guard *targets.Guard, directory *partners.Directory, clock *gateway.Clock, ring *keys.Ring) {
	a := s.as2Acknowledgements(directory, clock, ring)
	a.Sender.Client = guard.Client(mdnTime)
	s.relayAcknowledgements(c, a.Target(), clock)
}

// as2Acknowledgements is what sends them, without its client, and takes the MDNs that come
// by themselves.
func (s *started) as2Acknowledgements(directory *partners.Directory, clock *gateway.Clock, ring *keys.Ring) *as2.Acknowledgements {
	awaited := outbox.Awaited{Pool: s.database.pool}
	return &as2.Acknowledgements{Type: targets.MediaType, Partner: directory.Partner, Sender: &as2.Sender{Keys: keyring{ring, clock.Now}.as2Keys, Now: clock.Now},
		Expect: awaited.Expect, Find: awaited.Find,
		Settle: func(ctx context.Context, step *outbox.Step, said error) error {
			return awaited.Settle(ctx, step, said, acknowledgementFailed(step, clock.NewID()))
		}}
}
