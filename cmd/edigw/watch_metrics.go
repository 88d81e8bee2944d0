package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// watchMetrics are what a watch measures. It is a client and may run where no gateway
// does, so it shows them itself: on a listener, or in a file for node_exporter's textfile
// collector, which a run that ends at once has nothing else for.
type watchMetrics struct {
	registry *prometheus.Registry
	file     string

	files    *prometheus.CounterVec // partner, outcome
	troubled *prometheus.CounterVec // partner
	waiting  *prometheus.GaugeVec   // partner
	oldest   *prometheus.GaugeVec   // partner
	looked   *prometheus.GaugeVec   // partner
}

// metricsPlace gives the path of the file that is written again and again. What is none
// is refused: each writing would put a file in its place.
func metricsPlace(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	p, err := placeOf(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("--metrics-file: %w", err)
	case file == "-" || !p.file():
		return "", usage("--metrics-file: %s is no file", file)
	}
	return p.path, nil
}

func newWatchMetrics(file string) *watchMetrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Name: "edigw_watch_" + name, Help: help}
	}
	m := &watchMetrics{
		registry: prometheus.NewRegistry(), file: file,
		files:    prometheus.NewCounterVec(prometheus.CounterOpts(opts("files_total", "Files sent, by what became of them: archived, refused, or kept to be sent again.")), []string{"partner", "outcome"}),
		troubled: prometheus.NewCounterVec(prometheus.CounterOpts(opts("troubled_total", "Times that a file or folder could not be looked at.")), []string{"partner"}),
		waiting:  prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("waiting", "Files that lie in the folder or are on their way.")), []string{"partner"}),
		oldest:   prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("oldest_timestamp_seconds", "When this run first saw the file that has waited longest, Unix time; 0 if none waits.")), []string{"partner"}),
		looked:   prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("last_look_timestamp_seconds", "When the folder was last looked into without an error, Unix time.")), []string{"partner"}),
	}
	m.registry.MustRegister(m.files, m.troubled, m.waiting, m.oldest, m.looked)
	return m
}

// follow has the series of a partner be there from the start, so that what is counted
// later is seen to grow.
func (m *watchMetrics) follow(partner string) {
	for _, fate := range []dropFate{dropArchived, dropRefused, dropKept} {
		m.files.WithLabelValues(partner, fate.String())
	}
	m.troubled.WithLabelValues(partner)
}

// look notes what a folder holds after it was looked into.
func (m *watchMetrics) look(f *dropFolder, now time.Time, err error) {
	if err == nil {
		m.looked.WithLabelValues(f.partner).Set(float64(now.Unix()))
	}
	m.holds(f)
}

// holds notes what waits in a folder: what lies there, and what was taken.
func (m *watchMetrics) holds(f *dropFolder) {
	var oldest time.Time
	note := func(since time.Time) {
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	for _, o := range f.seen {
		note(o.since)
	}
	for _, since := range f.held {
		note(since)
	}
	at := 0.0
	if !oldest.IsZero() {
		at = float64(oldest.Unix())
	}
	m.waiting.WithLabelValues(f.partner).Set(float64(len(f.seen) + len(f.held)))
	m.oldest.WithLabelValues(f.partner).Set(at)
}

// leave forgets what a folder holds that is followed no more; what was counted stays.
func (m *watchMetrics) leave(partner string) {
	for _, g := range []*prometheus.GaugeVec{m.waiting, m.oldest, m.looked} {
		g.DeleteLabelValues(partner)
	}
}

// write replaces the file, where there is one.
func (m *watchMetrics) write() error {
	if m.file == "" {
		return nil
	}
	if err := prometheus.WriteToTextfile(m.file, m.registry); err != nil {
		return fmt.Errorf("--metrics-file: %w", err)
	}
	return nil
}

// writeEvery writes the file again and again until the context ends.
func (w *watch) writeEvery(ctx context.Context, every time.Duration) {
	if w.metrics.file == "" {
		return
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := w.metrics.write(); err != nil {
				w.log.Error("metrics are not written", "err", err)
			}
		}
	}
}

// serve shows the metrics at /metrics of an address, until stop.
func (m *watchMetrics) serve(address string) (at string, stop func() error, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, usage("--metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return l.Addr().String(), func() error {
		err := s.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
