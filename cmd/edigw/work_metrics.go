package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/targets"
)

// workCollector tells what waits to be done after COMMIT, in all processes.
type workCollector struct {
	pool *pgxpool.Pool
	fail func(error)
}

var (
	deferredWaiting = prometheus.NewDesc("edigw_deferred_waiting", "Payloads with pending messages, of all processes.", nil, nil)
	deferredFailed  = prometheus.NewDesc("edigw_deferred_failed", "Payloads with pending messages of which a run has failed, of all processes.", nil, nil)
	deferredOldest  = prometheus.NewDesc("edigw_deferred_oldest_seconds", "Since the oldest payload with pending messages was received; 0 if there is none.", nil, nil)
	effectsWaiting  = prometheus.NewDesc("edigw_effects_waiting", "Effects outside the database that are still to happen, of all processes.", []string{"target"}, nil)
	effectsStuck    = prometheus.NewDesc("edigw_effects_stuck", "Effects outside the database that wait for an operator.", []string{"target"}, nil)
	effectsOldest   = prometheus.NewDesc("edigw_effects_oldest_seconds", "Since the oldest effect that is still to happen was caused; 0 if there is none.", []string{"target"}, nil)

	driftOpen   = prometheus.NewDesc("edigw_drift_open", "Drift that nobody has decided, of all processes.", []string{"class", "severity"}, nil)
	driftOldest = prometheus.NewDesc("edigw_drift_oldest_seconds", "Since the oldest drift was opened that nobody has decided; 0 if there is none.", nil, nil)
	deadLetters = prometheus.NewDesc("edigw_dead_letters", "Keys under which a message is dead, of all processes.", nil, nil)

	acknowledgementsWaiting = prometheus.NewDesc("edigw_acknowledgements_waiting", "Functional acknowledgements that are still on their way, of all processes.", []string{"by"}, nil)
	acknowledgementsStuck   = prometheus.NewDesc("edigw_acknowledgements_stuck", "Functional acknowledgements that were given up, or of which nobody knows whether they arrived.", []string{"by"}, nil)
	acknowledgementsOldest  = prometheus.NewDesc("edigw_acknowledgements_oldest_seconds", "Since the oldest functional acknowledgement was written that is still on its way; 0 if there is none.", []string{"by"}, nil)
)

// collectTime bounds what a scrape asks of the database.
const collectTime = 3 * time.Second

// Describe implements prometheus.Collector.
func (c workCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{deferredWaiting, deferredFailed, deferredOldest, effectsWaiting, effectsStuck, effectsOldest,
		driftOpen, driftOldest, deadLetters, acknowledgementsWaiting, acknowledgementsStuck, acknowledgementsOldest} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Where the database does not answer the
// series are missing, the others not.
func (c workCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64) { to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	of := func(d *prometheus.Desc, label string, v float64) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, label)
	}
	waiting, err := dedup.Jobs{Pool: c.pool}.Waiting(ctx)
	if err == nil {
		jobs, failed, oldest := 0, 0, time.Duration(0)
		for _, w := range waiting {
			jobs, failed, oldest = jobs+w.Jobs, failed+w.Failed, max(oldest, w.Oldest)
		}
		gauge(deferredWaiting, float64(jobs))
		gauge(deferredFailed, float64(failed))
		gauge(deferredOldest, oldest.Seconds())
	}
	open, err2 := outbox.Effects{Pool: c.pool}.Open(ctx)
	if err2 == nil {
		told := effectsByTarget(open)
		for target, t := range told {
			of(effectsWaiting, target, float64(t.waiting))
			of(effectsStuck, target, float64(t.stuck))
			of(effectsOldest, target, t.oldest.Seconds())
		}
		for by, target := range outbox.AcknowledgementTargets {
			of(acknowledgementsWaiting, by, float64(told[target].waiting))
			of(acknowledgementsStuck, by, float64(told[target].stuck))
			of(acknowledgementsOldest, by, told[target].oldest.Seconds())
		}
	}
	drift, err3 := dedup.Alerts{Pool: c.pool}.Undecided(ctx)
	if err3 == nil {
		oldest := time.Duration(0)
		for _, d := range drift {
			to <- prometheus.MustNewConstMetric(driftOpen, prometheus.GaugeValue, float64(d.Count), d.Class, d.Severity)
			oldest = max(oldest, d.Oldest)
		}
		gauge(driftOldest, oldest.Seconds())
	}
	dead, err4 := dedup.DeadKeys(ctx, c.pool)
	if err4 == nil {
		gauge(deadLetters, float64(dead))
	}
	if err := errors.Join(err, err2, err3, err4); err != nil {
		c.fail(err)
	}
}

// effectsStanding is how the effects of one target stand.
type effectsStanding struct {
	waiting, stuck int
	oldest         time.Duration // of those that wait
}

// effectsByTarget gives how effects stand at each target there is: where nothing is open
// too, so that an alarm ends.
func effectsByTarget(open []outbox.Standing) map[string]effectsStanding {
	by := map[string]effectsStanding{targets.FolderName: {}, as2.MDNTarget: {}}
	for _, target := range outbox.AcknowledgementTargets {
		by[target] = effectsStanding{}
	}
	for _, x := range open {
		t := by[x.Target]
		if x.State == outbox.Pending || x.State == outbox.Started {
			t.waiting, t.oldest = t.waiting+x.Count, max(t.oldest, x.Oldest)
		} else {
			t.stuck += x.Count
		}
		by[x.Target] = t
	}
	return by
}
