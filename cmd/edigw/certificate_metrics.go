package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/partners"
)

// certificateCollector tells when partners' certificates end: for each purpose when
// the last one does that follows without a gap, so that a successor beside the old
// one counts.
type certificateCollector struct {
	partners func() []*partners.Partner
	now      func() time.Time
}

var certificateExpiry = prometheus.NewDesc("edigw_certificate_expiry_timestamp_seconds",
	"From when on the partner has no certificate for the purpose, Unix time.", []string{"partner", "purpose"}, nil)

// Describe implements prometheus.Collector.
func (c certificateCollector) Describe(to chan<- *prometheus.Desc) { to <- certificateExpiry }

// Collect implements prometheus.Collector.
func (c certificateCollector) Collect(to chan<- prometheus.Metric) {
	now := c.now()
	for _, p := range c.partners() {
		if !p.Active {
			continue
		}
		for _, e := range p.Ends(now) {
			to <- prometheus.MustNewConstMetric(certificateExpiry, prometheus.GaugeValue, float64(e.At.Unix()), p.ID, e.Purpose)
		}
	}
}
