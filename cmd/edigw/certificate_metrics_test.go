package main

import (
	"context"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
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

func TestKeyExpiryIsMeasured(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	key := func(label string, days int) *keys.Key {
		return &keys.Key{Organisation: "north", Label: label, Purposes: []string{keys.AS2Sign}, From: now.AddDate(0, 0, -10),
			Certificates: []keys.Certificate{{Chain: []*x509.Certificate{{NotBefore: now.AddDate(0, 0, -10), NotAfter: now.AddDate(0, 0, days).Add(-time.Second)}}, From: now.AddDate(0, 0, -10)}}}
	}
	retired := key("retired", 500)
	retired.Retired = &now
	gather := func(list []*keys.Key, err error) (values map[string]float64, failed error) {
		t.Helper()
		r := prometheus.NewRegistry()
		r.MustRegister(keyCollector{now: func() time.Time { return now }, fail: func(err error) { failed = err },
			keys: func(context.Context) ([]*keys.Key, error) { return list, err }})
		found, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		values = map[string]float64{}
		for _, f := range found {
			for _, m := range f.Metric {
				values[m.Label[0].GetValue()+" "+m.Label[1].GetValue()] = m.GetGauge().GetValue()
			}
		}
		return values, failed
	}
	t.Run("the end is that of the last key that is in use", func(t *testing.T) {
		got, err := gather([]*keys.Key{key("2026", 10), key("2027", 100), retired}, nil)
		if diff := cmp.Diff(map[string]float64{"north as2_sign": float64(now.AddDate(0, 0, 100).Unix())}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("where the database does not answer the series are missing, and the log says so", func(t *testing.T) {
		gone := errors.New("gone")
		if got, err := gather(nil, gone); len(got) != 0 || !errors.Is(err, gone) {
			t.Errorf("%v %v", got, err)
		}
	})
}
