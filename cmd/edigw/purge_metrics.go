package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/purge"
)

// registerPurge makes the metrics of the purge: how it stands in the database, and what this
// process removed.
func registerPurge(registry prometheus.Registerer, p *purge.Purger, fail func(error)) error {
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "edigw_purge_rows_total", Help: "Rows that purges of this process removed."}, []string{"kind"})
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "edigw_purge_bytes_total", Help: "Bytes of those rows' columns, as they were stored."}, []string{"kind"})
	for _, kind := range purge.Kinds {
		rows.WithLabelValues(kind)
		bytes.WithLabelValues(kind)
	}
	p.Gone = func(s purge.Step) {
		rows.WithLabelValues(s.Kind).Add(float64(s.Rows))
		bytes.WithLabelValues(s.Kind).Add(float64(s.Bytes))
	}
	for _, c := range []prometheus.Collector{rows, bytes, purgeCollector{p, fail}} {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// purgeCollector tells how the purge stands, of all processes.
type purgeCollector struct {
	purger *purge.Purger
	fail   func(error)
}

var (
	purgeRunning = prometheus.NewDesc("edigw_purge_running", "1 while a process purges, else 0.", nil, nil)
	purgePaused  = prometheus.NewDesc("edigw_purge_paused", "1 while a person has the purge paused, else 0.", nil, nil)
	purgeRefused = prometheus.NewDesc("edigw_purge_refused", "1 while the purge refuses to run until a person has looked, else 0.", nil, nil)
	purgeFailed  = prometheus.NewDesc("edigw_purge_failed", "1 where the last run of the purge failed, else 0.", nil, nil)
	purgeSuccess = prometheus.NewDesc("edigw_purge_last_success_timestamp_seconds", "When the last run ended that did all that was due, Unix time; 0 before the first.", nil, nil)
	purgeTook    = prometheus.NewDesc("edigw_purge_last_run_seconds", "How long the run lasted that ended last.", nil, nil)
	purgeLate    = prometheus.NewDesc("edigw_purge_oldest_due_seconds", "Since the day has passed of the key that is due longest; 0 if none is.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c purgeCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{purgeRunning, purgePaused, purgeRefused, purgeFailed, purgeSuccess, purgeTook, purgeLate} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Where the database does not answer the series
// are missing.
func (c purgeCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	s, err := c.purger.Standing(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64) { to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	is := func(d *prometheus.Desc, b bool) {
		if b {
			gauge(d, 1)
		} else {
			gauge(d, 0)
		}
	}
	is(purgeRunning, s.Run != nil)
	is(purgePaused, s.PausedAt != nil)
	is(purgeRefused, s.Refuses())
	is(purgeFailed, s.Last == purge.Failed)
	success := 0.0
	if !s.Success.IsZero() {
		success = float64(s.Success.UnixMilli()) / 1000
	}
	gauge(purgeSuccess, success)
	gauge(purgeTook, s.Took.Seconds())
	gauge(purgeLate, s.Late.Seconds())
}
