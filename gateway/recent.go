package gateway

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

// recent keeps what was accepted lately as the database holds it, so that a plain
// repeat is answered without asking it: retries come within minutes, in floods
// where an acknowledgement was lost on the way. It only holds what rows T3 and I2
// answer: what is accepted stays so, and so does its answer, whatever is decided
// about other variants. A decision about a message that is held changes the answer
// of its own: such a variant is not kept.
type recent struct {
	mu    sync.Mutex
	by    map[recentKey]*remembered
	order []recentKey // oldest first
	bytes int64
}

// recentKey is a payload under its transport id, or under the key of its only
// interchange.
type recentKey struct {
	ref    dedup.Ref
	digest [32]byte
}

type remembered struct {
	keys  map[dedup.Ref]*dedup.Key
	acks  map[uuid.UUID]*journal.Acknowledgement
	until time.Time
	bytes int64
}

const (
	rememberedFor = 30 * time.Minute // far below every retention, whose purge other processes may do
	rememberedAt  = 64 << 10         // bytes of one delivery's keys and answers at most
	keyBytes      = 1 << 10          // of a key beside its messages, about
)

func (in *intake) recentKey() (recentKey, bool) {
	switch {
	case in.key.ID != "":
		return recentKey{in.key, in.SHA256}, true
	case len(in.parts) == 1 && in.parts[0].key.ID != "":
		return recentKey{in.parts[0].key, in.SHA256}, true
	}
	return recentKey{}, false
}

// remember keeps a delivery that was accepted, with the answers that were stored
// or read. Others are left to the database.
func (g *Gateway) remember(in *intake) {
	key, ok := in.recentKey()
	if g.Recent == 0 || !ok || !in.plain() || len(in.keys) > 1+len(in.parts) {
		return
	}
	for _, k := range in.keys {
		if k.HoldsMessage() {
			return
		}
	}
	m := &remembered{keys: in.keys, acks: maps.Clone(in.acks), until: in.now.Add(rememberedFor)}
	for _, a := range in.written {
		m.acks[a.ID] = a
	}
	for _, r := range in.ackRefs() {
		if m.acks[r.ID] == nil {
			return
		}
	}
	for _, a := range m.acks {
		m.bytes += int64(len(a.Receipt) + len(a.Answer) + len(a.Functional) + len(a.Binding) + a.Fields.Size())
	}
	for _, k := range m.keys {
		m.bytes += keyBytes + int64(len(k.Variants[0].Messages))*44
	}
	if m.bytes <= rememberedAt {
		g.recent.keep(key, m, g.Recent)
	}
}

func (x *recent) keep(key recentKey, m *remembered, most int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.by == nil {
		x.by = map[recentKey]*remembered{}
	}
	if old := x.by[key]; old != nil {
		x.bytes += m.bytes - old.bytes
		x.by[key] = m
		return
	}
	x.by[key], x.order, x.bytes = m, append(x.order, key), x.bytes+m.bytes
	for x.bytes > most && len(x.order) > 0 {
		x.bytes -= x.by[x.order[0]].bytes
		delete(x.by, x.order[0])
		x.order = x.order[1:]
	}
}

func (x *recent) find(key recentKey) *remembered {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.by[key]
}

// remembered answers a plain repeat from memory; nil if it is none.
func (g *Gateway) remembered(ctx context.Context, in *intake) (*Receipt, error) {
	key, ok := in.recentKey()
	if g.Recent == 0 || !ok {
		return nil, nil
	}
	m := g.recent.find(key)
	if m == nil || in.now.After(m.until) {
		return nil, nil
	}
	for _, p := range in.parts {
		if p.key.ID == "" || len(p.earlier(in.now)) > 0 {
			return nil, nil
		}
	}
	in.keys, in.acks = m.keys, m.acks
	if !in.plain() {
		return nil, nil
	}
	return g.repeat(ctx, in)
}
