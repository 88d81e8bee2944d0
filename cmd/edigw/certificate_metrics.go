package main

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
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

// keyCollector tells when the certificates of our own keys end, as certificateCollector
// does of partners': from then on MDNs and receipts are signed by nobody, and partners
// have none to encrypt to.
type keyCollector struct {
	keys func(context.Context) ([]*keys.Key, error)
	now  func() time.Time
	fail func(error)
}

var keyExpiry = prometheus.NewDesc("edigw_key_expiry_timestamp_seconds",
	"From when on the organisation has no key with a certificate for the purpose, Unix time.", []string{"organisation", "purpose"}, nil)

// Describe implements prometheus.Collector.
func (c keyCollector) Describe(to chan<- *prometheus.Desc) { to <- keyExpiry }

// Collect implements prometheus.Collector. Where the database does not answer the series
// are missing.
func (c keyCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTime)
	defer cancel()
	list, err := c.keys(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	list = slices.DeleteFunc(list, func(k *keys.Key) bool { return k.Retired != nil })
	for _, e := range keys.Ends(list, c.now()) {
		to <- prometheus.MustNewConstMetric(keyExpiry, prometheus.GaugeValue, float64(e.At.Unix()), e.Organisation, e.Purpose)
	}
}
