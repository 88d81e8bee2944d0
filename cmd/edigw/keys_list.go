package main

import (
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// toldKey is a key as it is shown.
type toldKey struct {
	Organisation string            `json:"organisation"`
	Label        string            `json:"label"`
	ID           string            `json:"key_id"`
	Purposes     []string          `json:"purposes"`
	Algorithm    string            `json:"algorithm"`
	State        string            `json:"state,omitempty"`
	Fingerprint  string            `json:"sha256_fingerprint"` // of the certificate that it shows
	SPKI         string            `json:"spki_sha256"`
	Issuer       string            `json:"issuer"`
	From         time.Time         `json:"use_from"` // it signs
	Until        time.Time         `json:"use_until"`
	By           string            `json:"created_by"`
	Created      time.Time         `json:"created_at"`
	Retired      *time.Time        `json:"retired_at,omitempty"`
	Master       string            `json:"sealed_under"`
	Opens        *bool             `json:"opens,omitempty"` // with the master keys that are given
	Certificates []toldCertificate `json:"certificates"`
}

// toldCertificate is one that names the key, or did.
type toldCertificate struct {
	Fingerprint string    `json:"sha256_fingerprint"`
	Subject     string    `json:"subject"`
	Issuer      string    `json:"issuer"`
	Serial      string    `json:"serial"` // hex
	From        time.Time `json:"use_from"`
	NotAfter    time.Time `json:"not_after"`
	Shown       bool      `json:"shown"`
}

func tellKey(k *keys.Key) toldKey {
	now := time.Now()
	shown, leaf := k.Shown(now), k.Present(now).Leaf()
	t := toldKey{Organisation: k.Organisation, Label: k.Label, ID: k.ID.String(), Purposes: k.Purposes, Algorithm: k.Algorithm,
		Fingerprint: partners.Fingerprint(leaf), SPKI: hex.EncodeToString(k.SPKI[:]), Issuer: leaf.Issuer.String(),
		From: k.From.UTC(), Until: k.End().UTC(), By: k.By, Created: k.Created.UTC(), Retired: k.Retired, Master: hex.EncodeToString(k.Under)}
	for i := range k.Certificates {
		c := &k.Certificates[i]
		from, _ := c.Window()
		t.Certificates = append(t.Certificates, toldCertificate{partners.Fingerprint(c.Leaf()), c.Leaf().Subject.String(), c.Leaf().Issuer.String(),
			c.Leaf().SerialNumber.Text(16), from.UTC(), c.Leaf().NotAfter.UTC(), c == shown})
	}
	return t
}

type keysList struct {
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysList) Run(a *app) error {
	return c.with(a, func(s *keys.Store) error {
		list, err := s.List(a.ctx)
		if err != nil {
			return err
		}
		ring := &keys.Ring{Store: s, Log: slog.New(slog.DiscardHandler)} // what is closed is told below
		if err := ring.Load(a.ctx); err != nil {
			return err
		}
		closed := map[string]bool{}
		for _, k := range ring.Closed() {
			closed[k.ID.String()] = true
		}
		now := time.Now()
		items, rows := []toldKey{}, [][]string{}
		for _, k := range list {
			t := tellKey(k)
			t.State = keys.State(list, k, now)
			if opens := !closed[t.ID]; k.Retired == nil {
				t.Opens = &opens
				if !opens {
					t.State += "; cannot be opened"
				}
			}
			items = append(items, t)
			rows = append(rows, []string{t.Organisation, t.Label, strings.Join(t.Purposes, " "), t.Algorithm, t.State, shorten(t.Fingerprint, 24)})
		}
		if c.Output == "json" {
			return a.json(struct {
				Items []toldKey `json:"items"`
			}{items})
		}
		if err := a.table([]string{"ORGANISATION", "KEY", "FOR", "ALGORITHM", "STATE", "FINGERPRINT"}, rows); err != nil {
			return err
		}
		for _, k := range ring.Closed() {
			a.progress("%v; see docs/how-to/keys.md", k.Err)
		}
		return nil
	})
}
