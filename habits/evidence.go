package habits

import "time"

// Evidence is what all deliveries of a partner came to.
type Evidence struct {
	Deliveries int64     `json:"deliveries"`
	Days       int       `json:"days"` // on which something came, UTC
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`

	Transport   Repeats `json:"transport"`   // under the same transport id
	Interchange Repeats `json:"interchange"` // of the same interchange
	Reused      Reuse   `json:"reused"`      // control references with another content
	Rhythm      Rhythm  `json:"rhythm,omitempty"`
}

// Repeats are copies of what was received before.
type Repeats struct {
	Count   int64     `json:"count"`
	Longest int64     `json:"longest"` // seconds between the first delivery and a copy
	At      time.Time `json:"at"`      // of that copy
}

func (r *Repeats) add(gap time.Duration, at time.Time) {
	if gap < 0 {
		return // a copy that was journalled before the first one was
	}
	r.Count++
	if s := int64(gap / time.Second); s > r.Longest || r.At.IsZero() {
		r.Longest, r.At = s, at
	}
}

// Reuse is control references that came again with another content. Within a week it is
// no cycle, but a mistake, a change, or a reference that says nothing.
type Reuse struct {
	Soon     int64     `json:"soon"`     // within a week
	Count    int64     `json:"count"`    // after more than that
	Shortest int64     `json:"shortest"` // seconds since the last delivery before, of Count
	At       time.Time `json:"at"`
}

const soon = 7 * 24 * time.Hour

func (r *Reuse) add(gap time.Duration, at time.Time) {
	if gap < soon {
		r.Soon++
		return
	}
	r.Count++
	if s := int64(gap / time.Second); r.Shortest == 0 || s < r.Shortest {
		r.Shortest, r.At = s, at
	}
}

// delivered counts a delivery; one of several interchanges is one.
func (e *Evidence) delivered(at time.Time) {
	e.Deliveries++
	if e.First.IsZero() {
		e.First = at
	}
	if e.Last.UTC().Format(time.DateOnly) != at.UTC().Format(time.DateOnly) || e.Days == 0 {
		e.Days++
	}
	e.Last = latest(e.Last, at)
	e.Rhythm.hear(at)
}

// isCopy reports whether a verdict (gateway.Verdict) says that the same was received before.
func isCopy(verdict string) bool {
	return verdict == "duplicate" || verdict == "retry" || verdict == "re-evaluation"
}

// isOther reports whether a verdict says that something else was received under the key.
func isOther(verdict string) bool { return verdict == "drift" || verdict == "reuse" }
