package as2

import "sync/atomic"

// memory bounds what large messages that are opened hold together.
type memory struct{ used atomic.Int64 }

// smallMessage is the size up to which a message is not counted: those are bounded by
// how many deliveries are let in.
const smallMessage = 1 << 20

// take reserves n bytes of limit; not ok where that many are not free.
func (m *memory) take(n, limit int64) (leave func(), ok bool) {
	if n <= smallMessage {
		return func() {}, true
	}
	if m.used.Add(n) > limit {
		m.used.Add(-n)
		return nil, false
	}
	return func() { m.used.Add(-n) }, true
}
