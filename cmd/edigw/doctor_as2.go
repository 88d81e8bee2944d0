package main

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// as2 looks for what partners over AS2 would be refused for, on our side.
func (d *doctor) as2(ctx context.Context, pool *pgxpool.Pool) {
	store := &partners.Store{Pool: pool}
	list, err := store.List(ctx)
	if err != nil {
		d.ill("AS2", "try again", "%v", err)
		return
	}
	organisations, err := store.Organisations(ctx)
	if err != nil {
		d.ill("AS2", "try again", "%v", err)
		return
	}
	ours, err := (&keys.Store{Pool: pool}).List(ctx)
	if err != nil {
		d.ill("AS2", "try again", "%v", err)
		return
	}
	now, ill, over := time.Now(), 0, map[string]bool{}
	for _, p := range list {
		if !p.Active || len(p.AS2.Names) == 0 {
			continue
		}
		over[p.Organisation] = true
		if p.AS2.SignatureRequired && len(p.CertificatesFor(partners.AS2Sign, now)) == 0 {
			d.ill("AS2", "add its certificate with purposes: [as2_sign]", "partner %s has to sign, and has no certificate for as2_sign that holds now: whatever it sends is refused", p.ID)
			ill++
		}
	}
	for _, o := range organisations {
		if !over[o.ID] {
			continue
		}
		if len(o.AS2.Names) == 0 {
			d.ill("AS2", "say as2: {names: […]} in its configuration", "organisation %s has partners over AS2, and no AS2 name: whatever they send is nobody's", o.ID)
			ill++
		}
		for _, of := range []struct{ purpose, without string }{
			{keys.AS2Sign, "its MDNs are not signed, and who requires that is refused"},
			{keys.AS2Decrypt, "what is encrypted is told to come again, by 503"},
		} {
			if !slices.ContainsFunc(ours, func(k *keys.Key) bool {
				return k.Organisation == o.ID && (k.Signs(of.purpose, now) || k.Opens(of.purpose, now))
			}) {
				d.ill("AS2", "make one with `edigw keys create`", "organisation %s has no key for %s that holds now: %s", o.ID, of.purpose, of.without)
				ill++
			}
		}
	}
	if ill == 0 && len(over) > 0 {
		d.well("AS2", "names, keys and certificates are there")
	}
}
