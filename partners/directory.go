package partners

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edigw/edigw/edi"
)

// Directory is what the hot path knows of partners: a snapshot in memory, read
// without a lock and swapped whole. Before the first Load it knows nobody.
//
// Paused partners are found like active ones, so that the answer can say so:
// whoever authenticates one must look at Partner.Active.
type Directory struct {
	Store *Store
	Every time.Duration // how often Watch looks; 0 is a second
	Log   *slog.Logger  // nil is slog.Default

	loading sync.Mutex // of loads: an older one never replaces a newer
	current atomic.Pointer[view]
}

// view is never changed once it is in use.
type view struct {
	counter       int64
	partners      map[string]*Partner
	bySender      map[Identifier]*Partner
	byAS2         map[as2Pair]*Partner
	byAS4         map[as4Pair]*Partner
	tokens        map[[32]byte]Token
	organisations map[string]map[Identifier]bool
}

// Load reads the configuration and swaps it in.
func (d *Directory) Load(ctx context.Context) error {
	d.loading.Lock()
	defer d.loading.Unlock()
	c, err := d.Store.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("load partners: %w", err)
	}
	v := &view{
		counter:       c.counter,
		partners:      map[string]*Partner{},
		bySender:      map[Identifier]*Partner{},
		byAS2:         map[as2Pair]*Partner{},
		byAS4:         map[as4Pair]*Partner{},
		tokens:        map[[32]byte]Token{},
		organisations: map[string]map[Identifier]bool{},
	}
	now := d.Store.now()
	for id, p := range c.partners {
		v.partners[id] = p.value(now)
		for _, address := range p.spec.Identifiers {
			v.bySender[address] = v.partners[id]
		}
		if o := c.organisations[p.spec.Organisation]; o != nil {
			v.partners[id].AS2 = p.spec.AS2.over(o.AS2.Names)
			for _, from := range p.spec.AS2.Names {
				for _, to := range o.AS2.Names {
					v.byAS2[as2Pair{from, to}] = v.partners[id]
				}
			}
		}
		if p.spec.AS4.Profile != AS4None {
			v.byAS4[p.spec.AS4.pair()] = v.partners[id]
		}
	}
	for _, t := range c.tokens {
		if t.Revoked == nil {
			v.tokens[t.SHA256] = t
		}
	}
	for id, o := range c.organisations {
		v.organisations[id] = map[Identifier]bool{}
		for _, address := range o.Identifiers {
			v.organisations[id][address] = true
		}
	}
	d.current.Store(v)
	return nil
}

// Reload is Load for a process that has just applied: it need not wait for
// Watch to notice.
func (d *Directory) Reload(ctx context.Context) error { return d.Load(ctx) }

// Watch loads again whenever the configuration's counter has moved, until ctx
// ends. While the database is away the last snapshot stays, and one line is
// logged when it goes and when it is back.
func (d *Directory) Watch(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(d.Every, time.Second))
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := d.look(ctx)
		if ctx.Err() != nil {
			return
		}
		log := d.Log
		if log == nil {
			log = slog.Default()
		}
		switch {
		case err != nil && !failing:
			log.Error("partners may be out of date", "error", err)
		case err == nil && failing:
			log.Info("partners are up to date again")
		}
		failing = err != nil
	}
}

// look loads if the counter moved. It gives up in time for the next look.
func (d *Directory) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var counter int64
	if err := d.Store.Pool.QueryRow(ctx, `select counter from configuration`).Scan(&counter); err != nil {
		return fmt.Errorf("read configuration counter: %w", err)
	}
	if v := d.current.Load(); v != nil && v.counter == counter {
		return nil
	}
	return d.Load(ctx)
}

// Partner finds a partner by its id; nil if there is none.
func (d *Directory) Partner(id string) *Partner {
	if v := d.current.Load(); v != nil {
		return v.partners[id]
	}
	return nil
}

// Partners gives all partners, by id.
func (d *Directory) Partners() []*Partner {
	v := d.current.Load()
	if v == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(v.partners), func(a, b *Partner) int { return cmp.Compare(a.ID, b.ID) })
}

// ByToken finds whose token plain is. ok is false if it is nobody's, has
// expired or was revoked; which of these is not told apart.
func (d *Directory) ByToken(plain string) (p *Partner, ok bool) {
	v := d.current.Load()
	if v == nil {
		return nil, false
	}
	// The map is asked for the digest, from whose timing nothing can be learned
	// about a token; the comparison that decides takes the same time always.
	sum := sha256.Sum256([]byte(plain))
	t, found := v.tokens[sum]
	equal := subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1
	if !found || !equal || (t.Expires != nil && !d.Store.now().Before(*t.Expires)) {
		return nil, false
	}
	return v.partners[t.Partner], true
}

// BySender finds whose interchange address p is; nil if it is nobody's.
//
// The qualifier is part of the address: 0007 and ISA05 say whose code it is, so
// the same digits under 14 and under ZZZ are two addresses.
//
// QUIRK: partners change qualifiers between test and production, leave them
// out, and write ZZ in X12 and ZZZ in EDIFACT. Nothing is guessed from that: a
// partner that uses two addresses lists both.
func (d *Directory) BySender(p edi.Party) *Partner {
	if v := d.current.Load(); v != nil {
		return v.bySender[Identifier{Qualifier: p.Qualifier, ID: p.ID}]
	}
	return nil
}

// IsOurs reports whether p is an address of the organisation. One that declares
// no identifiers takes every recipient as its own; an unknown one has none.
func (d *Directory) IsOurs(organisation string, p edi.Party) bool {
	v := d.current.Load()
	if v == nil {
		return false
	}
	ids, known := v.organisations[organisation]
	return known && (len(ids) == 0 || ids[Identifier{Qualifier: p.Qualifier, ID: p.ID}])
}

// MaySpeakFor reports whether transport, which is authenticated, may deliver
// interchanges whose sender is owner: itself, or one it speaks for. A paused
// partner delivers nothing, and nobody delivers for it.
func (d *Directory) MaySpeakFor(transport, owner *Partner) bool {
	if transport == nil || owner == nil || !transport.Active || !owner.Active {
		return false
	}
	return transport.ID == owner.ID || slices.Contains(transport.SpeaksFor, owner.ID)
}
