package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/targets"
)

// subscribeFlags say how this process tells others of events.
type subscribeFlags struct {
	EventWorkers int      `setting:"" default:"4" placeholder:"N" help:"Partners whose events are sent at once, for each subscription; 0 leaves them to other processes."`
	SecretsDir   string   `setting:"" placeholder:"DIR" help:"Folder with a file for each secret that a subscription names."`
	AllowTargets []string `setting:"" placeholder:"HOST,…" help:"Hosts, addresses and networks inside your own network that events and acknowledgements may be sent to, like erp.north.example,10.1.0.0/16."`
}

// guard keeps what this process sends from leading into the own network.
func (c subscribeFlags) guard() (*targets.Guard, error) {
	guard, err := targets.NewGuard(c.AllowTargets)
	if err != nil {
		return nil, usage("--allow-targets: %v", err)
	}
	return guard, nil
}

// prepareSubscriptions makes what brings events to subscriptions, and acknowledgements
// to partners, for startWork.
func (s *started) prepareSubscriptions(a *app, c subscribeFlags, w workFlags, guard *targets.Guard, directory *partners.Directory, clock *gateway.Clock, registry *prometheus.Registry) error {
	if c.EventWorkers < 0 {
		return usage("--event-workers must be 0 or more")
	}
	sent := prometheus.NewCounter(prometheus.CounterOpts{Name: "edigw_events_sent_total", Help: "Events and notices that arrived at subscriptions, from this process."})
	pool := s.database.pool
	if err := registry.Register(sent); err != nil {
		return err
	}
	if err := registry.Register(subscriptionCollector{outbox.Subscriptions{Pool: pool}, func(err error) { s.log.Warn("metrics of subscriptions are missing", "err", err) }}); err != nil {
		return err
	}
	secrets := targets.Secrets{Dir: c.SecretsDir, Env: a.env}
	if err := s.prepareAcknowledgements(w, secrets, guard, directory, clock); err != nil {
		return err
	}
	s.prepareMDNs(w, guard, directory, clock)
	s.prepareAS2Acknowledgements(w, guard, directory, clock, s.admin.ring)
	if c.EventWorkers == 0 {
		return nil
	}
	open := opener{secrets: secrets, guard: guard, now: clock.Now}
	s.runner = &outbox.Runner{Pool: pool, Open: open.sink, Partners: func() []string { return whoseEvents(directory.Partners()) }, NewID: clock.NewID, Log: s.log,
		Sent: func(_, _ string, n int) { sent.Add(float64(n)) }, Workers: c.EventWorkers}
	return nil
}

// opener makes the sink of a subscription.
type opener struct {
	secrets targets.Secrets
	guard   *targets.Guard
	now     func() time.Time
}

func (o *opener) sink(spec outbox.Spec) (outbox.Sink, error) {
	switch {
	case spec.Webhook != nil:
		timeout, err := time.ParseDuration(spec.Webhook.Timeout)
		if err != nil {
			return outbox.Sink{}, err
		}
		w := &targets.Webhook{URL: spec.Webhook.URL, Names: spec.Webhook.Secrets, Timeout: timeout, CA: spec.Webhook.CA, Secret: o.secrets.Secret, Guard: o.guard, Now: o.now}
		return w.Open()
	case spec.Kafka != nil:
		k := &targets.Kafka{Spec: *spec.Kafka, Secret: o.secrets.Secret, Guard: o.guard}
		return k.Open()
	case spec.Mail != nil:
		every, err := time.ParseDuration(spec.Mail.Every)
		if err != nil {
			return outbox.Sink{}, err
		}
		m := &targets.Mail{Spec: *spec.Mail, Every: every, Secret: o.secrets.Secret, Guard: o.guard, Now: o.now}
		return m.Open()
	}
	return outbox.Sink{}, fmt.Errorf("subscription %s says nothing of where to", spec.Name)
}

// change does something about subscriptions and writes its audit line.
func (s *administration) change(ctx context.Context, by accounts.Identity, e accounts.Entry, detail any, do outbox.Change) error {
	return s.act(ctx, by, e, func(tx pgx.Tx) (any, error) { return detail, do(ctx, tx) })
}

// subscriptionCollector tells how subscriptions stand, of all processes.
type subscriptionCollector struct {
	subscriptions outbox.Subscriptions
	fail          func(error)
}

var (
	eventStreamsFailing = prometheus.NewDesc("edigw_event_streams_failing", "Partners' events that a subscription's target does not take, of all processes.", nil, nil)
	eventsSetAside      = prometheus.NewDesc("edigw_events_set_aside", "Events that a subscription's target refused and that wait for a person.", nil, nil)
	eventsOldest        = prometheus.NewDesc("edigw_events_oldest_seconds", "Since the oldest event was written that a subscription has not come past; 0 if there is none.", nil, nil)
	subscriptionsShut   = prometheus.NewDesc("edigw_subscriptions_shut", "Subscriptions whose target cannot be opened.", nil, nil)
	subscriptionsPaused = prometheus.NewDesc("edigw_subscriptions_paused", "Subscriptions that are paused.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c subscriptionCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{eventStreamsFailing, eventsSetAside, eventsOldest, subscriptionsShut, subscriptionsPaused} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Where the database does not answer the
// series are missing.
func (c subscriptionCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	h, err := c.subscriptions.Health(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64) { to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(eventStreamsFailing, float64(h.Failing))
	gauge(eventsSetAside, float64(h.SetAside))
	gauge(eventsOldest, h.Oldest.Seconds())
	gauge(subscriptionsShut, float64(h.Shut))
	gauge(subscriptionsPaused, float64(h.Paused))
}
