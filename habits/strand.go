package habits

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Series is what was seen of one series of references: strands of numbers that are
// counted, and what fits none of them.
//
// A sender may count several things in one series, a counter for each of its sub-addresses
// say, or begin anew at a new year: each is a strand. Numbers at random make none.
type Series struct {
	Strands []*Strand `json:"strands,omitempty"`
	Loose   []Seen    `json:"loose,omitempty"` // arrivals that fit no strand, the latest ones
	Width   int       `json:"width,omitempty"`
	Wraps   []Wrap    `json:"wraps,omitempty"` // the latest ones
	Numbers int       `json:"numbers"`         // that came
	Late    []int64   `json:"late,omitempty"`  // seconds by which numbers came behind a later one, the latest ones
}

// Strand is numbers that follow each other.
type Strand struct {
	Low   int64     `json:"low"`  // the first that was seen of this round
	Head  int64     `json:"head"` // the highest
	Step  int64     `json:"step"`
	Since time.Time `json:"since"` // of Low
	Last  time.Time `json:"last"`  // of the latest arrival
	Wait  []Missing `json:"wait,omitempty"`
}

// Seen is a number that came.
type Seen struct {
	N  int64     `json:"n"`
	At time.Time `json:"at"`
}

// Missing is a number that did not come in its turn and still may.
type Missing struct {
	N      int64     `json:"n"`
	At     time.Time `json:"at"` // when the one behind it came
	Before int64     `json:"before"`
	After  int64     `json:"after"`
}

// Wrap is a strand that began anew: its numbers are used again.
type Wrap struct {
	At      time.Time `json:"at"`
	Numbers int64     `json:"numbers"` // the highest before it began anew
	Days    float64   `json:"days"`    // from one use of a number to the next
}

const (
	learnFrom  = 12  // numbers from which a strand is learned
	restartBy  = 4   // numbers that follow each other where a series is known to count
	keepLoose  = 24  //
	reach      = 60  // steps ahead that are a gap; what lies farther begins anew
	keepLate   = 40  //
	keepWraps  = 8   //
	keepStrand = 6   //
	keepWait   = 300 // of a strand
)

// How long a number may be missing before it is: as late as numbers of this series were,
// between these bounds.
const (
	shortestSettle = 30 * time.Minute
	longestSettle  = 48 * time.Hour
)

// Counts reports whether the sender is seen to count.
func (s *Series) Counts() bool { return len(s.Strands) > 0 }

// add takes an arrival, in the order of arrival. back: the number was one that was waited
// for. What is known already changes nothing.
func (s *Series) add(n int64, width int, at time.Time) {
	s.Numbers++
	if dated(n, at) {
		return
	}
	s.Width = max(s.Width, width)
	for _, x := range s.Strands { // what is waited for first: another strand may be near
		if i := slices.IndexFunc(x.Wait, func(m Missing) bool { return m.N == n }); i >= 0 {
			s.late(at.Sub(x.Wait[i].At))
			x.Wait = slices.Delete(x.Wait, i, i+1)
			x.Last = at
			s.first(x)
			return
		}
	}
	for _, x := range s.Strands {
		if ahead := n - x.Head; ahead > 0 && ahead <= reach*x.Step && ahead%x.Step == 0 {
			x.advance(n, at)
			s.first(x)
			return
		}
	}
	for _, x := range s.Strands {
		if top := x.wraps(n); top > 0 {
			s.wrapped(x, top, at)
			x.around(n, top, at)
			s.first(x)
			return
		}
	}
	for _, x := range s.Strands {
		if n <= x.Head && n >= max(x.Low, x.Head-reach*x.Step) { // came already
			x.Last = at
			return
		}
	}
	s.loose(n, at)
}

// dated reports whether a number holds the day it came on, or the one before: numbers of
// two days do not follow each other.
func dated(n int64, at time.Time) bool {
	digits := strconv.FormatInt(n, 10)
	for _, day := range []time.Time{at, at.AddDate(0, 0, -1)} {
		if strings.Contains(digits, day.UTC().Format("060102")) {
			return true
		}
	}
	return false
}

// first puts the strand that was used last first: where two are near each other, it is
// the one that goes on.
func (s *Series) first(x *Strand) {
	i := slices.Index(s.Strands, x)
	copy(s.Strands[1:i+1], s.Strands[:i])
	s.Strands[0] = x
}

func (s *Series) late(d time.Duration) {
	if d > 0 {
		s.Late = append(s.Late, int64(d/time.Second))
		s.Late = s.Late[max(0, len(s.Late)-keepLate):]
	}
}

// Settle is how long a number may be missing before it is lost: twice as long as numbers
// usually were that came late. One that came late alone of all teaches nothing: it was lost
// and sent again.
func (s *Series) Settle() time.Duration {
	late := slices.Sorted(slices.Values(s.Late))
	late = late[:max(0, len(late)-1-len(late)/8)]
	if len(late) == 0 {
		return shortestSettle
	}
	return min(max(shortestSettle, 2*time.Duration(late[len(late)-1])*time.Second), longestSettle)
}

// advance moves the head to n; what lies between is missing.
func (x *Strand) advance(n int64, at time.Time) {
	x.missing(x.Head+x.Step, n, x.Head, n, at)
	x.Head, x.Last = n, at
}

// missing notes the numbers from, from+step, … below to.
func (x *Strand) missing(from, to, before, after int64, at time.Time) {
	for m := from; m < to; m += x.Step {
		x.Wait = append(x.Wait, Missing{N: m, At: at, Before: before, After: after})
	}
	x.Wait = x.Wait[max(0, len(x.Wait)-keepWait):]
}

// wraps gives the number behind which n begins anew, where the head is near 9…9 and n near
// the beginning; else 0.
func (x *Strand) wraps(n int64) (top int64) {
	if n < 0 || n > reach*x.Step || x.Head <= 2*reach*x.Step {
		return 0
	}
	for top = 9; top < x.Head; top = top*10 + 9 {
	}
	if top-x.Head >= reach*x.Step {
		return 0
	}
	return top
}

// around goes past top to n.
func (x *Strand) around(n, top int64, at time.Time) {
	before := x.Head
	x.missing(x.Head+x.Step, top+1, before, n, at)
	start := n % x.Step
	if start == 0 && n > 0 {
		start = x.Step // whether 0 is used nobody knows
	}
	x.missing(start, n, before, n, at)
	x.Low, x.Head, x.Since, x.Last = n, n, at, at
}

// wrapped notes how long a round took: of one whose beginning was not seen what the part
// that was seen comes to.
func (s *Series) wrapped(x *Strand, top int64, at time.Time) {
	part := float64(x.Head-x.Low) / float64(top)
	if part < 0.2 {
		return
	}
	s.Wraps = append(s.Wraps, Wrap{At: at, Numbers: top, Days: at.Sub(x.Since).Hours() / 24 / min(1, part)})
	s.Wraps = s.Wraps[max(0, len(s.Wraps)-keepWraps):]
}

// loose takes a number that fits no strand, and makes a strand of those that fit each other.
func (s *Series) loose(n int64, at time.Time) {
	if slices.ContainsFunc(s.Loose, func(o Seen) bool { return o.N == n }) {
		return
	}
	s.Loose = append(s.Loose, Seen{n, at})
	s.Loose = s.Loose[max(0, len(s.Loose)-keepLoose):]
	need := learnFrom
	if s.Counts() {
		need = restartBy
	}
	x := strandOf(s.Loose, need)
	if x == nil {
		return
	}
	s.Loose = slices.DeleteFunc(s.Loose, func(o Seen) bool { return o.N >= x.Low && o.N <= x.Head })
	if i := slices.IndexFunc(s.Strands, func(old *Strand) bool { return x.Head < old.Head && old.Head-x.Low > reach }); i >= 0 && x.Low <= reach {
		s.wrapped(s.Strands[i], s.Strands[i].Head, at) // began anew before the end, at a new year say
	}
	s.Strands = append([]*Strand{x}, s.Strands...)
	s.Strands = s.Strands[:min(len(s.Strands), keepStrand)]
}

// strandOf gives the strand that the last need of list, or more, are of: nearly all follow
// each other by one step. nil: they do not.
func strandOf(list []Seen, need int) *Strand {
	if len(list) < need {
		return nil
	}
	newest := list[len(list)-1]
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b Seen) int { return compare(a.N, b.N) })
	// The run around the newest: neighbours no farther apart than a gap may be.
	at := slices.IndexFunc(sorted, func(o Seen) bool { return o.N == newest.N })
	step := commonStep(sorted)
	if step == 0 {
		return nil
	}
	near := func(a, b Seen) bool { d := b.N - a.N; return d%step == 0 && d <= step*int64(need)/2 }
	from, to := at, at+1
	for from > 0 && near(sorted[from-1], sorted[from]) {
		from--
	}
	for to < len(sorted) && near(sorted[to-1], sorted[to]) {
		to++
	}
	run := sorted[from:to]
	if len(run) < need {
		return nil
	}
	low, head := run[0], run[len(run)-1]
	if places := (head.N-low.N)/step + 1; places*4 > int64(len(run))*5 { // four of five came
		return nil
	}
	x := &Strand{Low: low.N, Head: head.N, Step: step, Since: low.At, Last: newest.At}
	rises := 0
	byTime := slices.Clone(run)
	slices.SortStableFunc(byTime, func(a, b Seen) int { return a.At.Compare(b.At) })
	for i := 1; i < len(byTime); i++ {
		if byTime[i].N > byTime[i-1].N {
			rises++
		}
	}
	if rises*4 < (len(run)-1)*3 { // a few numbers in any order are not counted
		return nil
	}
	for i := 1; i < len(run); i++ {
		x.missing(run[i-1].N+step, run[i].N, run[i-1].N, run[i].N, latest(run[i].At, run[i-1].At))
	}
	return x
}

// commonStep is the difference that stands most often between neighbours; 0 where none
// stands in half of the places.
func commonStep(sorted []Seen) int64 {
	count := map[int64]int{}
	best := int64(0)
	for i := 1; i < len(sorted); i++ {
		d := sorted[i].N - sorted[i-1].N
		if count[d]++; count[d] > count[best] || count[d] == count[best] && d < best {
			best = d
		}
	}
	if count[best]*2 < min(len(sorted)-1, restartBy) {
		return 0
	}
	return best
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// due takes the numbers that are missing longer than Settle at now, grouped by the gap they
// stand in.
func (s *Series) due(now time.Time) (gaps [][]Missing) {
	settle := s.Settle()
	for _, x := range s.Strands {
		var keep []Missing
		for _, m := range x.Wait {
			if m.At.Add(settle).After(now) {
				keep = append(keep, m)
				continue
			}
			if n := len(gaps); n > 0 && gaps[n-1][0].Before == m.Before && gaps[n-1][0].After == m.After {
				gaps[n-1] = append(gaps[n-1], m)
			} else {
				gaps = append(gaps, []Missing{m})
			}
		}
		x.Wait = keep
	}
	return gaps
}

// next is when the first of the numbers that are waited for has had its time; zero: none is.
func (s *Series) next() (at time.Time) {
	settle := s.Settle()
	for _, x := range s.Strands {
		for _, m := range x.Wait {
			if end := m.At.Add(settle); at.IsZero() || end.Before(at) {
				at = end
			}
		}
	}
	return at
}
