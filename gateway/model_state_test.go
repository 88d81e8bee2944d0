package gateway_test

import (
	"encoding/hex"
	"time"

	"github.com/edigw/edigw/gateway"
)

// The model restates outcomes.md in plain values: no database, no code of the
// gateway but the words for verdicts and answers. Every action is done to it and
// to a gateway on a real database, and both must agree.

// world is all that the model knows.
type world struct {
	settings
	now      time.Time
	fails    map[string]bool // document numbers the handlers fail on
	keys     map[string]*modelKey
	ids      map[string]*modelID
	guards   map[string]*modelGuard
	alerts   []*modelAlert
	drifted  []driftedDocument
	events   map[string]int // by type
	journal  int            // rows
	revision [2]int32       // of the partner's configuration and of the gateway's rules
	all      [2]int32       // of the whole configuration, and the rules
	names    map[[32]byte]string
}

// settings are those of outcomes.md that the model varies.
type settings struct {
	acceptance, onDrift, onDead                  string
	attempts                                     int
	absorb                                       []string
	controlReference, messageReference           string
	transportID, onInvoice, onDespatch, driftAck string
	types, deferred                              []string // deferred: types
	reuse, strangers, uci8                       bool     // strangers: the stranger's address is the partner's
	receiptAction                                int
	earlier                                      []string // earlier settings of control_reference, newest first
}

// Fates of a message. "with" ones are sound, and share the fate of another.
const (
	posted      = "posted"
	absorbed    = "absorbed"
	held        = "held"
	heldClosed  = "held, closed"
	refused     = "refused"
	refusedWith = "refused with another"
	discarded   = "discarded"
	dead        = "dead"
	deadWith    = "dead with another"
	pending     = "pending"
)

func effective(fate string) bool {
	return fate == posted || fate == absorbed || fate == held || fate == heldClosed
}

func isDead(fate string) bool { return fate == dead || fate == deadWith }

func isRefused(fate string) bool { return fate == refused || fate == refusedWith || fate == discarded }

type modelMessage struct {
	sha      [32]byte
	fate     string // "" of a drift's: not judged
	attempts int    // failed runs of its handler on these bytes under the key, in its epoch
	revision [2]int32
}

type modelVariant struct {
	sent     *sending // nil where imported
	sha      [32]byte
	noDigest bool
	content  string // "" where a fixture made it: no payload is kept
	adopted  bool   // imported, and its digest came later
	state    string
	epoch    int
	byI1     bool
	decided  bool // a decision or a policy put it where it is
	byHand   bool // a decision
	messages []modelMessage
	answer   gateway.Answer // the last acknowledgement; 0 if it only ever got 503
	item     []byte         // its bytes, nil where they are not kept
	version  int            // counts acknowledgements
	alert    *modelAlert
}

type modelKey struct {
	id       string
	epoch    int
	current  *modelVariant
	variants []*modelVariant
	aged     bool // last delivered longer ago than reuse_after
}

// modelID is a transport id with every digest it carried.
type modelID struct {
	id       string
	payloads []*modelPayload
	carried  []carried
}

type carried struct {
	key string
	sha [32]byte
}

type modelPayload struct {
	sha    [32]byte
	state  string // accepted: processed or refused under the id; quarantined, refused: a drift; imported
	answer gateway.Answer
	body   []byte // the answer as it left; nil: not kept
	parts  []modelPart
	alert  *modelAlert

	noDigest bool // imported, and its digest has not come yet
}

// modelPart is what an id keeps of one interchange it carried.
type modelPart struct {
	sha      [32]byte
	again    bool // never judged under this id: its drift was closed by another delivery
	keyless  bool
	revision [2]int32 // of a keyless one
	answer   gateway.Answer
	item     []byte
	variant  *modelVariant
	version  int
}

type modelAlert struct {
	kind, key, state string
	digests          [][32]byte
	receptions       int
	documents        int
	purged           bool // class original_purged
	copies           int  // documents that said the same under another number since
}

// driftedDocument is what a document of a drift says, its number aside.
type driftedDocument struct {
	says  string
	alert *modelAlert
}

func (k *modelKey) find(d [32]byte) *modelVariant {
	if k == nil {
		return nil
	}
	for _, v := range k.variants {
		if !v.noDigest && v.sha == d {
			return v
		}
	}
	return nil
}

func (i *modelID) find(d [32]byte) *modelPayload {
	if i == nil {
		return nil
	}
	for _, p := range i.payloads {
		if !p.noDigest && p.sha == d {
			return p
		}
	}
	return nil
}

// imported gives what a former gateway received under the id, as long as nobody
// knows which bytes those were.
func (i *modelID) imported() *modelPayload {
	for _, p := range i.payloads {
		if p.noDigest {
			return p
		}
	}
	return nil
}

func positive(a gateway.Answer) bool {
	s := a.Told().HTTP
	return s >= 200 && s < 300
}

// judgeState is the state of a variant that was judged: outcomes.md, States.
func judgeState(ms []modelMessage) string {
	var effect, no, died, waits bool
	for _, m := range ms {
		effect = effect || effective(m.fate)
		no = no || isRefused(m.fate)
		died = died || isDead(m.fate)
		waits = waits || m.fate == pending
	}
	switch {
	case waits:
		return "received"
	case effect && !no && !died:
		return "accepted"
	case effect:
		return "partly"
	case died:
		return "dead"
	}
	return "rejected"
}

// standing gives what stands under k. What an imported variant holds is not
// known, so it stands by itself and nothing fits it.
func (k *modelKey) standing() map[[32]byte]bool {
	s := map[[32]byte]bool{}
	for _, v := range k.variants {
		if v.epoch != k.epoch || v.state == "superseded" {
			continue
		}
		if v.sent == nil {
			s[sha("imported "+k.id)] = true
		}
		for _, m := range v.messages {
			if effective(m.fate) || m.fate == pending || isDead(m.fate) && positive(v.answer) {
				s[m.sha] = true
			}
		}
	}
	return s
}

// fits reports whether every standing message stands among d byte for byte.
func (k *modelKey) fits(d [][32]byte) bool {
	s := k.standing()
	for _, m := range d {
		delete(s, m)
	}
	return len(s) == 0
}

// holds gives the reasons not to purge or re-use k: bits as in the inbox.
func (k *modelKey) holds() (h int16) {
	for _, v := range k.variants {
		if v.state == "quarantined" {
			h |= 1
		}
		for _, m := range v.messages {
			switch {
			case m.fate == held:
				h |= 2
			case m.fate == pending:
				h |= 4
			case isDead(m.fate):
				h |= 8
			}
		}
	}
	return h
}

// key names s under a setting of control_reference.
func (s *sending) key(controlReference string) string {
	if controlReference == "unreliable" {
		d := s.digest()
		return "sha256:" + hex.EncodeToString(d[:])
	}
	sender := ownAddress
	if s.stranger {
		sender = strangerAddress
	}
	k := "unb:" + sender + ":14:9520002000019:14:" + s.ref
	if controlReference == "unique_per_day" {
		k += ":20" + s.date
	}
	return k
}
