package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/web"
)

type outgoingCommand struct {
	Show    outgoingShow    `cmd:"" help:"Whether anything may leave, and what would."`
	Hold    outgoingHold    `cmd:"" help:"Let nothing leave; what is on its way still arrives."`
	Confirm outgoingConfirm `cmd:"" help:"Let leave what is held, after a restore or by hand."`
}

// outgoing is how what leaves stands, as the API tells it.
type outgoing struct {
	outbox.Hold
	Waiting []outbox.Waiting `json:"waiting"`
}

// tell writes it; would is what stands before what waits.
func (o *outgoing) tell(a *app, would string) error {
	text := "What leaves is not held.\n"
	if o.Held {
		text = "Nothing leaves"
		if o.Since != nil {
			text += ", since " + clock(*o.Since)
		}
		text += ", by " + cmp.Or(o.By, "the gateway") + ": " + printable(o.Reason) + ".\n"
	}
	if len(o.Waiting) == 0 {
		would = "Nothing waits.\n"
	}
	if _, err := fmt.Fprint(a.stdout, text, would); err != nil || len(o.Waiting) == 0 {
		return err
	}
	var rows [][]string
	for _, w := range o.Waiting {
		to, state, count := "subscription "+w.Subscription, "", strconv.Itoa(w.Count)
		if w.Subscription == "" {
			to = "target " + w.Target
		}
		if w.Paused {
			state = "paused, and stays so"
		}
		if w.More {
			count += " or more"
		}
		rows = append(rows, []string{to, count, (time.Duration(w.Oldest) * time.Second).String(), state})
	}
	return a.table([]string{"TO", "WAITING", "OLDEST", ""}, rows)
}

type outgoingShow struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

func (c *outgoingShow) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var o outgoing
	text, err := api.ask(a, http.MethodGet, "/outgoing", nil, nil, &o)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(text)
	}
	return o.tell(a, "What waits to leave:\n")
}

type outgoingHold struct {
	Reason string `required:"" placeholder:"TEXT" help:"Why; it is shown, and stands in the audit log."`
	connection
}

func (c *outgoingHold) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var o outgoing
	if _, err := api.ask(a, http.MethodPost, "/outgoing/hold", nil, map[string]string{"reason": c.Reason}, &o); err != nil {
		return err
	}
	return o.tell(a, "What waits to leave:\n")
}

type outgoingConfirm struct {
	Note string `required:"" placeholder:"TEXT" help:"How you know that it may leave from here; it stands in the audit log."`
	connection
}

func (c *outgoingConfirm) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var o outgoing
	if _, err := api.ask(a, http.MethodPost, "/outgoing/confirm", nil, map[string]string{"note": c.Note}, &o); err != nil {
		return err
	}
	return o.tell(a, "This leaves now:\n")
}

// outgoingFlags say what a start does to what leaves.
type outgoingFlags struct {
	HoldOutgoing bool `setting:"" help:"Let nothing leave from this start on until a person confirms it: for a backup of the files of a cluster, which cannot be told from its original."`
}

// lookAgain is how often a running process asks whether the database was replaced beneath
// it; the statements that take ask it each time.
const lookAgain = time.Minute

// prepareOutgoing finds out, before anything may leave, whether this is the database that
// others are to hear of.
func (s *started) prepareOutgoing(ctx context.Context, f outgoingFlags, registry *prometheus.Registry) error {
	o := outbox.Outgoing{Pool: s.database.pool}
	if f.HoldOutgoing {
		if err := o.Hold(ctx, "it was started with --hold-outgoing"); err != nil {
			return err
		}
	}
	if _, err := o.Look(ctx); err != nil {
		return err
	}
	sees, err := o.SeesCluster(ctx)
	if err != nil {
		return err
	}
	if !sees {
		s.log.Warn("a database that is brought into another cluster with its files is not noticed; a restored dump is", "because", "this role may not execute pg_control_system()")
	}
	tellHeld(ctx, s.log, o)
	return registry.Register(outgoingCollector{o, func(err error) { s.log.Warn("whether anything may leave is missing in the metrics", "err", err) }})
}

// tellHeld logs that nothing leaves, where it is so.
func tellHeld(ctx context.Context, log *slog.Logger, o outbox.Outgoing) {
	h, err := o.Standing(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			log.Error("whether anything may leave is not known", "err", err)
		}
	case h.Held:
		log.Error("nothing leaves: no event, no acknowledgement, no document that is handed over", "because", h.Reason, "since", h.Since,
			"do", "edigw outgoing show, then edigw outgoing confirm")
	}
}

// watchOutgoing looks again and again, and repeats that nothing leaves.
func watchOutgoing(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) {
	o := outbox.Outgoing{Pool: pool}
	t := time.NewTicker(lookAgain)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		was, err := o.Look(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("whether the database was replaced is not known", "err", err)
		}
		if was || n%60 == 0 {
			tellHeld(ctx, log, o)
		}
	}
}

// mayLeave is a line of /readyz: deliveries are taken all the same.
func mayLeave(pool *pgxpool.Pool) web.Check {
	return web.Check{Name: "outgoing", Only: true, Run: func(ctx context.Context) error {
		h, err := outbox.Outgoing{Pool: pool}.Standing(ctx)
		if err == nil && h.Held {
			err = errors.New("nothing leaves: " + h.Reason + " (`edigw outgoing show`)")
		}
		return err
	}}
}

// outgoingCollector tells whether anything may leave.
type outgoingCollector struct {
	outgoing outbox.Outgoing
	fail     func(error)
}

var outgoingHeld = prometheus.NewDesc("edigw_outgoing_held", "1 while nothing leaves, in any process, until a person confirms it; else 0.", nil, nil)

// Describe implements prometheus.Collector.
func (c outgoingCollector) Describe(to chan<- *prometheus.Desc) { to <- outgoingHeld }

// Collect implements prometheus.Collector. Where the database does not answer the series
// is missing.
func (c outgoingCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	h, err := c.outgoing.Standing(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	held := 0.0
	if h.Held {
		held = 1
	}
	to <- prometheus.MustNewConstMetric(outgoingHeld, prometheus.GaugeValue, held)
}

// outgoing looks whether anything may leave, and reports it.
func (d *doctor) outgoing(ctx context.Context, pool *pgxpool.Pool) (may bool) {
	h, err := outbox.Outgoing{Pool: pool}.Standing(ctx)
	switch {
	case err != nil:
		d.ill("outgoing", "try again", "%v", err)
	case h.Held:
		d.ill("outgoing", "`edigw outgoing show` says what would leave; `edigw outgoing confirm` lets it", "nothing leaves: %s", h.Reason)
	default:
		d.well("outgoing", "what leaves is not held")
		return true
	}
	return false
}
