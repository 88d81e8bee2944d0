package keys

import (
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Ring is what a running gateway signs and decrypts with: every key that is not
// retired, opened, in memory. It is read without a lock and swapped whole; Watch
// keeps it up to date while `edigw keys` changes keys. Before the first Load it
// holds none.
//
// A key that was opened once stays open while the process runs, even if it was
// sealed anew meanwhile under a master key that this process does not have.
type Ring struct {
	Store *Store
	Every time.Duration // how often Watch looks; 0 is a second
	Log   *slog.Logger  // nil is slog.Default

	loading sync.Mutex // of loads: an older one never replaces a newer
	current atomic.Pointer[bunch]
}

// bunch is never changed once it is in use.
type bunch struct {
	stamp   string
	hanging []*hanging
}

// hanging is a key in the ring.
type hanging struct {
	*Key
	private crypto.Signer // nil where err says why
	err     error         // why it cannot be opened with the master keys of this process
}

// Load reads all keys and swaps them in. What cannot be opened is no error: Closed
// tells it.
func (r *Ring) Load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	return r.load(ctx)
}

func (r *Ring) load(ctx context.Context) error {
	stamp, err := r.Store.stamp(ctx) // first, so that a change meanwhile is seen as one
	if err != nil {
		return err
	}
	list, sealed, err := query(ctx, r.Store.Pool, `where retired_at is null order by organisation_id, use_from desc, key_id desc`)
	if err != nil {
		return err
	}
	before := map[uuid.UUID]*hanging{}
	if b := r.current.Load(); b != nil {
		for _, h := range b.hanging {
			before[h.ID] = h
		}
	}
	b := &bunch{stamp: stamp}
	for i, k := range list {
		h := &hanging{Key: k}
		h.private, h.err = r.Store.unseal(k, sealed[i])
		old := before[k.ID]
		if h.err != nil && (old == nil || old.err == nil || old.err.Error() != h.err.Error()) {
			r.log().ErrorContext(ctx, "a private key cannot be opened", "organisation", k.Organisation, "key", k.Label, "for", strings.Join(k.Purposes, " "),
				"still_open", old != nil && old.private != nil, "error", h.err, "see", "docs/how-to/keys.md")
		}
		if h.private == nil && old != nil && old.SPKI == k.SPKI {
			h.private = old.private
		}
		b.hanging = append(b.hanging, h)
	}
	r.current.Store(b)
	return nil
}

// stamp tells one state of all keys from another: which versions of their rows
// there are. So it sees what any program changes.
func (s *Store) stamp(ctx context.Context) (stamp string, err error) {
	err = s.Pool.QueryRow(ctx, `
		select coalesce(string_agg(version, ' ' order by version), '') from (
			select key_id::text || '.' || xmin::text from private_key
			union all
			select key_id::text || ':' || xmin::text from private_key_certificate) as v (version)`).Scan(&stamp)
	if err != nil {
		return "", fmt.Errorf("look whether keys have changed: %w", err)
	}
	return stamp, nil
}

// Watch loads again whenever a key has changed, until ctx ends. While the database
// is away the last keys stay, and one line is logged when it goes and when it is
// back.
func (r *Ring) Watch(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(r.Every, time.Second))
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.Refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil && !failing:
			r.log().Error("private keys may be out of date", "error", err)
		case err == nil && failing:
			r.log().Info("private keys are up to date again")
		}
		failing = err != nil
	}
}

// Refresh loads if anything changed, for who cannot wait for Watch to notice. It
// gives up after ten seconds.
func (r *Ring) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r.loading.Lock()
	defer r.loading.Unlock()
	stamp, err := r.Store.stamp(ctx)
	if err != nil {
		return err
	}
	if b := r.current.Load(); b != nil && b.stamp == stamp {
		return nil
	}
	return r.load(ctx)
}

func (r *Ring) log() *slog.Logger {
	if r.Log != nil {
		return r.Log
	}
	return slog.Default()
}

func (r *Ring) hanging() []*hanging {
	if b := r.current.Load(); b != nil {
		return b.hanging
	}
	return nil
}

// Signing is a key with what it shows of itself. Key.ID names it in journals.
type Signing struct {
	*Key
	crypto.Signer
	Chain []*x509.Certificate // its own certificate, whose Raw is the DER, then the issuers
}

// Signer gives the key that an organisation signs with, or connects with, for
// purpose at an instant: of those that sign then, the one that began last. The
// error wraps ErrUnknown where there is none, and ErrNoMaster where that one cannot
// be opened: it is never another's turn for that reason, since partners may have
// let the former certificate go.
func (r *Ring) Signer(organisation, purpose string, at time.Time) (*Signing, error) {
	if !signs(purpose) {
		return nil, fmt.Errorf("%s is no purpose of who signs or connects", purpose)
	}
	var next *hanging
	for _, h := range r.hanging() { // the one that begins last comes first
		switch {
		case h.Organisation != organisation || !h.used(purpose, at):
			continue
		case !h.Signs(purpose, at):
			next = h
			continue
		case h.private == nil:
			return nil, h.err
		}
		return &Signing{h.Key, h.private, h.Shown(at).Chain}, nil
	}
	if next != nil {
		return nil, fmt.Errorf("%w: %s has no key for %s at %s: %q %s", ErrUnknown, organisation, purpose, told(at), next.Label, next.why(at))
	}
	return nil, fmt.Errorf("%w: %s has no key for %s; `edigw keys create` makes one", ErrUnknown, organisation, purpose)
}

// Signers gives every key that an organisation signs with for purpose at an instant, the
// one that began last first, for who has to choose by what a partner can verify. Its
// errors are Signer's, also where one of several cannot be opened.
func (r *Ring) Signers(organisation, purpose string, at time.Time) (list []*Signing, err error) {
	if _, err := r.Signer(organisation, purpose, at); err != nil {
		return nil, err
	}
	for _, h := range r.hanging() {
		if h.Organisation != organisation || !h.Signs(purpose, at) {
			continue
		}
		if h.private == nil {
			return nil, h.err
		}
		list = append(list, &Signing{h.Key, h.private, h.Shown(at).Chain})
	}
	return list, nil
}

// why says why a key does not sign.
func (k *Key) why(at time.Time) string {
	if at.Before(k.From) {
		return "signs from " + told(k.From) + " on; `edigw keys sign-from` moves that"
	}
	if c := k.Next(at); c != nil {
		from, _ := c.Window()
		return "has a certificate from " + told(from) + " on"
	}
	return "has a certificate that ended " + told(k.Present(at).Leaf().NotAfter) + "; `edigw keys certify` gives it another, `edigw keys rotate` makes a successor"
}

// Opening is a key that partners may have encrypted to. Its Signer is an
// *rsa.PrivateKey, which is a crypto.Decrypter, or an *ecdsa.PrivateKey, which
// agrees on a key.
type Opening struct {
	*Key
	crypto.Signer
	Named *x509.Certificate // the certificate that the message named; nil of Decrypters
}

// Decrypters gives every key of an organisation that opens what is encrypted to it
// for purpose at an instant, the newest first, for messages that do not say which
// it is. Those that cannot be opened themselves are not among them.
func (r *Ring) Decrypters(organisation, purpose string, at time.Time) []*Opening {
	var list []*Opening
	for _, h := range r.hanging() {
		if h.Organisation == organisation && h.Opens(purpose, at) && h.private != nil {
			list = append(list, &Opening{h.Key, h.private, nil})
		}
	}
	return list
}

// Opener finds the key that a message is encrypted to, by any certificate that ever
// named it. The error wraps ErrUnknown where it is none of the organisation's that
// opens for purpose at that instant, which is the sender's fault, and ErrNoMaster
// where it is one that cannot be opened here, which is ours: the message is worth
// sending again.
func (r *Ring) Opener(organisation, purpose string, to Recipient, at time.Time) (*Opening, error) {
	for _, h := range r.hanging() {
		if h.Organisation != organisation || signs(purpose) || !slices.Contains(h.Purposes, purpose) {
			continue
		}
		named := h.Named(to)
		switch {
		case named == nil:
			continue
		case !h.Opens(purpose, at):
			return nil, fmt.Errorf("%w: %s is not used since %s", ErrUnknown, h.Key, told(*h.Until))
		case h.private == nil:
			return nil, h.err
		}
		return &Opening{h.Key, h.private, named}, nil
	}
	return nil, fmt.Errorf("%w: %s has no key for %s that the message names", ErrUnknown, organisation, purpose)
}

// Closed is a key that cannot be opened.
type Closed struct {
	*Key
	Err       error
	StillOpen bool // it was opened before, and is used until the process ends
}

// Closed gives the keys that the master keys of this process do not open.
func (r *Ring) Closed() []Closed {
	var list []Closed
	for _, h := range r.hanging() {
		if h.err != nil {
			list = append(list, Closed{h.Key, h.err, h.private != nil})
		}
	}
	return list
}

// Check says that some keys cannot be opened; nil where all can. It names none:
// whoever asks for the gateway's health may be a stranger.
func (r *Ring) Check(context.Context) error {
	closed := r.Closed()
	if len(closed) == 0 {
		return nil
	}
	text := "the master key does not open them"
	if !slices.ContainsFunc(closed, func(c Closed) bool { return errors.Is(c.Err, ErrNoMaster) }) {
		text = "they were changed in the database"
	}
	return fmt.Errorf("%d of %d private keys cannot be opened (%s): `edigw keys list` says which", len(closed), len(r.hanging()), text)
}
