package dedup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kind tells transport keys from interchange keys.
type Kind int16

// The two levels of keys.
const (
	Transport   Kind = 1
	Interchange Kind = 2
)

// Ref names a key: the owner and the key string.
type Ref struct {
	Partner, ID string
}

// Compare orders refs as the database does: both columns are collate "C".
func (r Ref) Compare(o Ref) int {
	return cmp.Or(strings.Compare(r.Partner, o.Partner), strings.Compare(r.ID, o.ID))
}

// SortRefs sorts and removes repeats: the one lock order.
func SortRefs(refs []Ref) []Ref {
	slices.SortFunc(refs, Ref.Compare)
	return slices.Compact(refs)
}

// Hold bits say what forbids purging a key.
const (
	HoldDrift   int16 = 1
	HoldMessage int16 = 2
	HoldPending int16 = 4
	HoldDead    int16 = 8
)

// Stored points at bytes kept by the journal, and the month they are purged in.
type Stored struct {
	ID    uuid.UUID
	Month time.Time
}

// Key is an inbox row with all its variants.
type Key struct {
	Ref
	Kind    Kind
	Epoch   int32
	FirstAt time.Time
	LastAt  time.Time
	PurgeOn time.Time
	Carried []Carried // transport keys: the interchanges carried under it
	// Variants in order of arrival; the first stands in the inbox row itself.
	Variants []*Variant
	current  *Variant

	fresh, dirty, own bool
	quiet             bool // what changes is no delivery
	partly, drift     bool // read with some of its variants only; a drift was open then
	message           bool // a message was held when it was read
}

// Partly reports whether QueueReadFor read the key: other variants of it may be
// quarantined or refused. A delivery may add one and leave those as they are; who
// would end an open drift reads the key whole.
func (k *Key) Partly() bool { return k.partly }

// HoldsMessage reports whether a message under the key is held, or was when the key
// was read: its records may stand elsewhere.
func (k *Key) HoldsMessage() bool { return k.message || k.Hold()&HoldMessage != 0 }

// NewKey makes a key that has no row yet.
func NewKey(r Ref, kind Kind, now, purgeOn time.Time) *Key {
	return &Key{Ref: r, Kind: kind, FirstAt: now, LastAt: now, PurgeOn: purgeOn, fresh: true, own: true}
}

// New reports whether the key has no row yet.
func (k *Key) New() bool { return k.fresh }

// FromClaim reports whether the key was made by this delivery.
func (k *Key) FromClaim() bool { return k.own }

// Claimed marks a new key as inserted: what changes from now on is an update.
func (k *Key) Claimed() { k.fresh, k.dirty = false, len(k.Variants) > 1 }

// Adopted marks a new key whose row was claimed by an earlier decision of the
// same transaction: all of it is written over.
func (k *Key) Adopted() { k.fresh, k.dirty = false, true }

// Changed reports whether a key that has a row is to be written.
func (k *Key) Changed() bool { return !k.fresh && k.dirty }

// Variant is one digest seen under a key.
type Variant struct {
	SHA256         [32]byte
	NoDigest       bool // imported without one
	Content        [32]byte
	ContentVersion int16
	State          State
	Epoch          int32
	ViaPurge       bool  // quarantined by row I1
	Answer         int16 // gateway.Answer
	Messages       []MessageState
	DeliveryID     uuid.UUID
	Payload        Stored
	Offset, Length int64 // of the interchange in that payload
	Ack            Stored
	AlertID        uuid.UUID // zero: none

	fresh, dirty bool
	elsewhere    int  // message records in message_state; 0: all of them in the row
	unwritten    bool // they changed since they were read, or are new
}

// Current is the variant that stands for the key now.
func (k *Key) Current() *Variant {
	if k.current != nil {
		return k.current
	}
	if len(k.Variants) > 0 {
		return k.Variants[0]
	}
	return nil
}

// SetCurrent makes v the current variant.
func (k *Key) SetCurrent(v *Variant) {
	if k.Current() != v {
		k.current, k.dirty = v, true
	}
}

// Find gives the variant with digest d in any epoch.
func (k *Key) Find(d [32]byte) *Variant {
	for _, v := range k.Variants {
		if !v.NoDigest && v.SHA256 == d {
			return v
		}
	}
	return nil
}

// Imported gives a variant known from a former gateway whose digest is not yet
// known.
func (k *Key) Imported() *Variant {
	for _, v := range k.Variants {
		if v.NoDigest {
			return v
		}
	}
	return nil
}

// Add appends a new variant.
func (k *Key) Add(v *Variant) *Variant {
	v.fresh, v.unwritten = true, true
	k.Variants = append(k.Variants, v)
	k.dirty = true
	return v
}

// Touch marks v for writing.
func (k *Key) Touch(v *Variant) { v.dirty, v.unwritten, k.dirty = true, true, true }

// Delivered notes one more delivery: the windows of re-use and purge count from
// it. It is written with what else changes; where nothing does, QueueLastDelivery
// writes it.
func (k *Key) Delivered(at, purgeOn time.Time) {
	k.LastAt = at
	if purgeOn.After(k.PurgeOn) {
		k.PurgeOn = purgeOn
	}
}

// Quietly says that what changes in the key is no delivery: its windows go on.
func (k *Key) Quietly() { k.quiet = true }

// NextEpoch begins a new epoch with v in it.
func (k *Key) NextEpoch(v *Variant) {
	k.Epoch++
	v.Epoch = k.Epoch
	k.SetCurrent(v)
	k.dirty = true
}

// Carried is an interchange that came under a transport key.
type Carried struct {
	Ref
	SHA256 [32]byte
}

// Carry notes that an interchange came under this transport key.
func (k *Key) Carry(c Carried) {
	if !slices.Contains(k.Carried, c) {
		k.Carried = append(k.Carried, c)
		k.dirty = true
	}
}

// Hold derives what forbids purging the key.
func (k *Key) Hold() int16 {
	var h int16
	if k.partly && k.drift {
		h |= HoldDrift
	}
	for _, v := range k.Variants {
		if v.State == Quarantined {
			h |= HoldDrift
		}
		for i := range v.Messages {
			switch v.Messages[i].Fate {
			case Held:
				h |= HoldMessage
			case Pending:
				h |= HoldPending
			case DeadMsg, DeadWithOne:
				h |= HoldDead
			}
		}
	}
	return h
}

// Attempts is how often the handler of each message under the key has failed in
// its current epoch, whatever became of the message since.
func (k *Key) Attempts() map[[32]byte]uint8 {
	n := map[[32]byte]uint8{}
	for _, v := range k.Variants {
		if v.Epoch != k.Epoch {
			continue
		}
		for i := range v.Messages {
			if m := &v.Messages[i]; m.Attempts > 0 {
				n[m.SHA256] = max(n[m.SHA256], m.Attempts)
			}
		}
	}
	return n
}
