package main

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// expiryWatch tells, as events, of the certificates of partners and of our keys that end
// and that none follows.
type expiryWatch struct {
	pool     *pgxpool.Pool
	partners func() []*partners.Partner
	keys     func(context.Context) ([]*keys.Key, error)
	now      func() time.Time
	newID    func() uuid.UUID
	log      *slog.Logger
}

// expiryLook is how often it is looked; the days before an end are counted in days.
const expiryLook = time.Hour

// run looks at once, then again and again.
func (w expiryWatch) run(ctx context.Context) {
	t := time.NewTicker(expiryLook)
	defer t.Stop()
	for {
		if _, err := w.tell(ctx); err != nil && ctx.Err() == nil {
			w.log.Error("it is not told which certificates end", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// tell tells what is due now, and gives how much.
func (w expiryWatch) tell(ctx context.Context) (int, error) {
	now := w.now()
	list := partnersExpiring(w.partners(), now)
	all, err := w.keys(ctx)
	if err != nil {
		return 0, err
	}
	return outbox.TellExpiring(ctx, w.pool, append(list, keysExpiring(all, now)...), now, w.newID)
}

// partnersExpiring gives the ends of active partners' certificates.
func partnersExpiring(list []*partners.Partner, now time.Time) (ends []outbox.Expiry) {
	for _, p := range list {
		if !p.Active {
			continue
		}
		for _, end := range p.Ends(now) {
			for _, c := range p.Certificates {
				if c.Label == end.Label && c.X509 != nil {
					ends = alsoEnds(ends, outbox.Expiry{Whose: p.ID, Label: c.Label, Fingerprint: sha256.Sum256(c.X509.Raw), At: end.At,
						Month: journal.Month(now, p.Retention.Payloads)}, end.Purpose)
				}
			}
		}
	}
	return ends
}

// keysKept is how long an event of a key of ours is kept.
const keysKept = 90 * 24 * time.Hour

// keysExpiring gives the ends of our keys' certificates.
func keysExpiring(list []*keys.Key, now time.Time) (ends []outbox.Expiry) {
	list = slices.DeleteFunc(slices.Clone(list), func(k *keys.Key) bool { return k.Retired != nil })
	for _, end := range keys.Ends(list, now) {
		for _, k := range list {
			if k.Organisation != end.Organisation || k.Label != end.Label {
				continue
			}
			last := k.Present(end.At.Add(-time.Second)).Leaf()
			ends = alsoEnds(ends, outbox.Expiry{Whose: k.Organisation, Ours: true, Label: k.Label, Fingerprint: sha256.Sum256(last.Raw), At: end.At,
				Month: journal.Month(now, keysKept)}, end.Purpose)
		}
	}
	return ends
}

// alsoEnds adds the end for a purpose: what ends for several at once is one end.
func alsoEnds(ends []outbox.Expiry, e outbox.Expiry, purpose string) []outbox.Expiry {
	for i := range ends {
		if ends[i].Whose == e.Whose && ends[i].Ours == e.Ours && ends[i].Fingerprint == e.Fingerprint && ends[i].At.Equal(e.At) {
			ends[i].Purposes = append(ends[i].Purposes, purpose)
			return ends
		}
	}
	e.Purposes = []string{purpose}
	return append(ends, e)
}

// whoseEvents gives whose events there may be: partners', and our organisations', whose
// keys end.
func whoseEvents(list []*partners.Partner) (ids []string) {
	for _, p := range list {
		ids = append(ids, p.ID, p.Organisation)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
