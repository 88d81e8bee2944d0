package main

import (
	"crypto/sha256"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

func TestWhatIsToldToEnd(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	until := func(days int) time.Time { return now.AddDate(0, 0, days) }
	leaf := func(raw string, from, to time.Time) *x509.Certificate {
		return &x509.Certificate{Raw: []byte(raw), NotBefore: from, NotAfter: to.Add(-time.Second)}
	}
	certificate := func(label string, to time.Time, purposes ...string) *partners.Certificate {
		return &partners.Certificate{Label: label, Purposes: purposes, AnyUsage: true, X509: leaf(label, until(-300), to)}
	}
	told := func(list []outbox.Expiry) (text []string) {
		for _, e := range list {
			line := e.Whose + " " + e.Label
			for _, p := range e.Purposes {
				line += " " + p
			}
			text = append(text, line+" "+e.At.Format(time.DateOnly))
		}
		return text
	}
	t.Run("of a partner, where none follows", func(t *testing.T) {
		list := []*partners.Partner{
			{ID: "acme", Active: true, Certificates: []*partners.Certificate{certificate("old", until(5), partners.AS2Sign, partners.AS2Encrypt), certificate("new", until(200), partners.AS2Sign)}},
			{ID: "bolt", Certificates: []*partners.Certificate{certificate("b", until(5), partners.AS2Sign)}}, // he is not active
			{ID: "cord", Active: true, Certificates: []*partners.Certificate{certificate("c", until(6), partners.AS4Sign, partners.AS4Encrypt)}},
		}
		got := partnersExpiring(list, now)
		want := []string{"acme new as2_sign 2027-06-19", "acme old as2_encrypt 2026-12-06", "cord c as4_sign as4_encrypt 2026-12-07"}
		if diff := cmp.Diff(want, told(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got[1].Fingerprint != sha256.Sum256([]byte("old")) {
			t.Error("another certificate's fingerprint")
		}
	})
	t.Run("of our keys, where neither a certificate nor a key follows", func(t *testing.T) {
		key := func(label string, purposes []string, ends ...time.Time) *keys.Key {
			k := &keys.Key{Organisation: "north", Label: label, Purposes: purposes, From: until(-300)}
			for _, to := range ends {
				k.Certificates = append(k.Certificates, keys.Certificate{Chain: []*x509.Certificate{leaf(label+to.String(), until(-300), to)}, From: until(-300)})
			}
			return k
		}
		retired := until(-1)
		gone := key("gone", []string{partners.AS2Sign}, until(900))
		gone.Retired = &retired
		list := []*keys.Key{gone, key("signing", []string{partners.AS2Sign}, until(4), until(40)), key("tls", []string{partners.TLSClient}, until(3))}
		want := []string{"north signing as2_sign 2027-01-10", "north tls tls_client 2026-12-04"}
		if diff := cmp.Diff(want, told(keysExpiring(list, now))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestEventsOfKeysGoToSubscriptions(t *testing.T) {
	got := whoseEvents([]*partners.Partner{{ID: "bolt", Organisation: "north"}, {ID: "acme", Organisation: "north"}})
	if diff := cmp.Diff([]string{"acme", "bolt", "north"}, got); diff != "" {
		t.Error(diff)
	}
}
