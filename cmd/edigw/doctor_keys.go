package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners/keys"
)

// privateKeys looks whether our keys can be opened, and for purposes for which an
// organisation will soon have none.
func (d *doctor) privateKeys(ctx context.Context, pool *pgxpool.Pool, f masterFlags) {
	master, err := keys.ParseMaster(f.MasterKey, f.FormerMasterKeys...)
	if err != nil {
		d.ill("private keys", "see docs/how-to/keys.md", "%v", err)
		return
	}
	ring := &keys.Ring{Store: &keys.Store{Pool: pool, Master: master}, Log: slog.New(slog.DiscardHandler)}
	if err := ring.Load(ctx); err != nil {
		d.ill("private keys", "try again", "%v", err)
		return
	}
	list, err := ring.Store.List(ctx)
	if err != nil {
		d.ill("private keys", "try again", "%v", err)
		return
	}
	list = slices.DeleteFunc(list, func(k *keys.Key) bool { return k.Retired != nil })
	closed := ring.Closed()
	for _, k := range closed {
		d.ill("private keys", "give the master key with EDIGW_MASTER_KEY_FILE; if it is lost see docs/how-to/keys.md", "%v", k.Err)
	}
	ends, now := keys.Ends(list, time.Now()), time.Now()
	ill := len(closed)
	for _, e := range ends {
		switch {
		case e.At.After(now.Add(endsSoon)):
			continue
		case e.At.After(now):
			d.ill("private keys", "`edigw keys rotate` makes a successor, `edigw keys certify` gives a certificate", "%s has none for %s after %s", e.Organisation, e.Purpose, e.At.UTC().Format(time.RFC3339))
		default:
			d.ill("private keys", "`edigw keys rotate` makes a successor, `edigw keys certify` gives a certificate", "%s has none for %s that holds now; %q was the last", e.Organisation, e.Purpose, e.Label)
		}
		ill++
	}
	if ill == 0 && len(list) > 0 {
		d.well("private keys", "%d open, and hold for %s at least", len(list), endsSoon)
	}
}
