package habits

import (
	"slices"
	"time"
)

// Rhythm is when something arrived: the hours in which anything did, since 1970, ascending.
// A burst of a hundred files is one hour.
type Rhythm []int64

// Span is a time in which nobody could have been heard.
type Span struct{ From, To time.Time }

const (
	hoursOfWeek = 7 * 24
	keepHours   = 26 * hoursOfWeek // half a year, where enough of it is known
	mostHours   = 640
	fewest      = 6 // hours in which something came, from which a rhythm is learned
	shortest    = 14 * 24
	farthest    = 400 * 24
	quickest    = 4 // hours: nobody is silent sooner
)

// hear takes an arrival.
func (r *Rhythm) hear(at time.Time) {
	h := at.Unix() / 3600
	if i, there := slices.BinarySearch(*r, h); !there {
		*r = slices.Insert(*r, i, h)
	}
	old := (*r)[:max(0, len(*r)-4*fewest)] // at least so many stay
	i, _ := slices.BinarySearch(old, h-keepHours)
	*r = (*r)[max(i, len(*r)-mostHours):]
}

// Usual is what a rhythm says of the next arrival.
type Usual struct {
	At time.Time // by when the next one is usual
	By time.Time // by when it is that nobody has been heard for so long
}

// expect says when the next arrival is due after from; false where too little is known.
//
// Time is counted in arrivals: an hour of the week in which something usually comes is long,
// a Sunday on which nothing ever did is short, so that nights, weekends and a rhythm of
// weeks need no rule of their own. A partner is silent when that time is half as long again
// as (nearly) every pause there was, and somewhat more of one who keeps no rhythm and of whom
// few are known.
func (r Rhythm) expect(from time.Time, down []Span) (Usual, bool) {
	if len(r) < fewest || r[len(r)-1]-r[0] < shortest {
		return Usual{}, false
	}
	rate := r.rates()
	closed := closedHours(down)
	pauses := make([]float64, 0, len(r)-1)
	for i := 1; i < len(r); i++ {
		p := 0.0
		for h := r[i-1] + 1; h <= r[i]; h++ {
			if !closed(h) {
				p += rate[h%hoursOfWeek]
			}
		}
		pauses = append(pauses, p)
	}
	slices.Sort(pauses)
	n := len(pauses)
	usual := pauses[n/2]
	most := pauses[n-1-n/50]
	spread := min(1, most/usual-1) // of a clockwork 0
	limit := most*1.5 + 0.25 + spread*(0.25+float64(fewest)/float64(n))

	var u Usual
	start := from.Unix() / 3600
	sum := 0.0
	for h := start + 1; h <= start+farthest; h++ {
		if closed(h) {
			continue
		}
		sum += rate[h%hoursOfWeek]
		end := time.Unix((h+1)*3600, 0).UTC()
		if u.At.IsZero() && sum >= usual {
			u.At = end
		}
		if sum >= limit && h-start >= quickest {
			u.By = end
			return u, true
		}
	}
	return u, false
}

// rates gives for each hour of the week how often something came in it, from 1970 on a
// Thursday. An hour has a part of its neighbours, since nobody is on time, and each a share
// of two arrivals, which hides the hours of the week of whom little is heard, and tells
// little of him who is heard each hour.
func (r Rhythm) rates() (rate [hoursOfWeek]float64) {
	weeks := float64(r[len(r)-1]-r[0]+hoursOfWeek) / hoursOfWeek
	mean := float64(len(r)) / weeks / hoursOfWeek
	even := 2 * weeks / float64(len(r)) // weeks of which nothing is known but the mean
	for _, h := range r {
		rate[(h-1)%hoursOfWeek] += 0.25
		rate[h%hoursOfWeek] += 0.5
		rate[(h+1)%hoursOfWeek] += 0.25
	}
	for i := range rate {
		rate[i] = (rate[i] + even*mean) / (weeks + even)
	}
	return rate
}

// afterOutage is how long after we are back nobody is expected yet: who could not reach us
// tries again later.
const afterOutage = time.Hour

// closedHours tells the hours in which we could not be reached.
func closedHours(down []Span) func(int64) bool {
	hours := map[int64]bool{}
	for _, s := range down {
		for h := s.From.Unix() / 3600; h*3600 < s.To.Add(afterOutage).Unix(); h++ {
			hours[h] = true
		}
	}
	return func(h int64) bool { return hours[h] }
}

// fixed is when a partner is silent that is to be heard every so often: time in which we
// could not be reached does not count.
func fixed(from time.Time, every time.Duration, down []Span) time.Time {
	by := from.Add(every)
	for _, s := range down { // ascending
		start := latest(s.From, from)
		if end := s.To.Add(afterOutage); end.After(from) && start.Before(by) {
			by = by.Add(end.Sub(start))
		}
	}
	return by
}
