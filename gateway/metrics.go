package gateway

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// UnknownPartner is the partner label of whoever could not be authenticated.
// Every other value of that label is a partner's id from the configuration, so
// that no stranger can make new time series.
const UnknownPartner = "unknown"

// Metrics are what receiving is measured by. A nil *Metrics measures nothing.
type Metrics struct {
	Inflight   *prometheus.GaugeVec // by transport
	SpoolBytes prometheus.Gauge     // for Spool.Gauge

	deliveries *prometheus.CounterVec
	verdicts   *prometheus.CounterVec
	rejections *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	last       *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them with r.
func NewMetrics(r prometheus.Registerer, version string) (*Metrics, error) {
	m := &Metrics{
		Inflight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "edigw_inflight", Help: "Deliveries being received now.",
		}, []string{"transport"}),
		SpoolBytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "edigw_spool_bytes", Help: "Bytes of large payloads in spool files now.",
		}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edigw_deliveries_total", Help: "Deliveries answered, by what the partner was told; tested, busy, crowded, refused and failed have no receipt.",
		}, []string{"transport", "partner", "outcome"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edigw_verdicts_total", Help: "Deliveries with a receipt, by what they were: first, duplicate, drift and so on.",
		}, []string{"transport", "verdict"}),
		rejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "edigw_rejections_total", Help: "Deliveries answered negatively, by reason and by whose they were, or whose name they used.",
		}, []string{"transport", "partner", "reason"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edigw_receive_seconds", Help: "Time from the request's header to the answer, of authenticated deliveries.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"transport"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "edigw_partner_last_delivery_timestamp_seconds", Help: "When the partner's last delivery with a receipt was answered, Unix time.",
		}, []string{"partner"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edigw_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit(), "go": runtime.Version()},
	})
	build.Set(1)
	for _, c := range []prometheus.Collector{m.Inflight, m.SpoolBytes, m.deliveries, m.verdicts, m.rejections, m.seconds, m.last, build} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Enter counts a delivery in, and gives what counts it out.
func (m *Metrics) Enter(transport string) (leave func()) {
	if m == nil {
		return func() {}
	}
	g := m.Inflight.WithLabelValues(transport)
	g.Inc()
	return g.Dec
}

// Count counts a delivery that was answered at the time now.
func (m *Metrics) Count(l *Line, now time.Time) {
	if m == nil {
		return
	}
	m.deliveries.WithLabelValues(l.Transport, l.Partner, l.Outcome()).Inc()
	if reason := l.reason(); reason != "" {
		m.rejections.WithLabelValues(l.Transport, l.named(), reason).Inc()
	}
	if l.Partner == UnknownPartner {
		return // how fast strangers are turned away would drown the rest
	}
	m.seconds.WithLabelValues(l.Transport).Observe(l.Took.Seconds())
	if l.Receipt != nil {
		m.verdicts.WithLabelValues(l.Transport, string(l.Receipt.Verdict)).Inc()
		m.last.WithLabelValues(l.Partner).Set(float64(now.UnixMilli()) / 1000)
	}
}

// Reject counts something under a configured partner's name that is no delivery, and is
// not believed: an MDN of nobody's.
func (m *Metrics) Reject(transport, partner, reason string) {
	if m != nil {
		m.rejections.WithLabelValues(transport, partner, reason).Inc()
	}
}

// named is the partner whose a delivery was or, where nobody has proved to be one, whose
// name it used: a signature that does not hold is a matter of that partner's.
func (l *Line) named() string {
	if l.Partner == UnknownPartner && l.Claimed != "" {
		return l.Claimed
	}
	return l.Partner
}

// reason says why an answer was negative, in words of a fixed list; "" for a
// positive one and for failures of ours.
func (l *Line) reason() string {
	if l.Receipt != nil {
		return l.Receipt.Answer.Told().Problem
	}
	if r := (*Rejection)(nil); l.Reason == "" && errors.As(l.Err, &r) {
		return r.Reason
	}
	return l.Reason
}

func commit() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
