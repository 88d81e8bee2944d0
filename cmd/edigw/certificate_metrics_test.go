package main

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/partners"
)

func TestCertificateExpiryIsMeasured(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	lasts := func(label string, from, until int) *partners.Certificate {
		return &partners.Certificate{Label: label, Purposes: []string{partners.TLSClient}, X509: &x509.Certificate{NotBefore: now.AddDate(0, 0, from), NotAfter: now.AddDate(0, 0, until).Add(-time.Second)}}
	}
	r := prometheus.NewRegistry()
	r.MustRegister(certificateCollector{now: func() time.Time { return now }, partners: func() []*partners.Partner {
		return []*partners.Partner{
			{ID: "acme", Active: true, Certificates: []*partners.Certificate{lasts("old", -10, 10), lasts("new", 5, 100)}},
			{ID: "bolt", Certificates: []*partners.Certificate{lasts("paused", -10, 10)}},
		}
	}})
	found, err := r.Gather()
	if err != nil || len(found) != 1 || len(found[0].Metric) != 1 {
		t.Fatalf("%v %v, want the active partner's alone", found, err)
	}
	if m := found[0].Metric[0]; m.GetGauge().GetValue() != float64(now.AddDate(0, 0, 100).Unix()) || m.Label[0].GetValue() != "acme" || m.Label[1].GetValue() != partners.TLSClient {
		t.Errorf("%v, want the end of the successor", m)
	}
}
