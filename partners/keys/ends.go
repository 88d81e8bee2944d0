package keys

import (
	"slices"
	"strings"
	"time"
)

// End is when an organisation's certificates for one purpose end.
type End struct {
	Organisation string
	Purpose      string
	Label        string // of the key that ends last
	At           time.Time
}

// Ends says for each purpose that keys of list are for when the last of their
// certificates ends that follow each other from now on without a gap: from then on
// nobody signs, or partners have none to encrypt to. Where all have ended it is
// when the last did, and now where none has begun.
func Ends(list []*Key, now time.Time) (ends []End) {
	for _, k := range list {
		for _, p := range k.Purposes {
			if slices.ContainsFunc(ends, func(e End) bool { return e.Organisation == k.Organisation && e.Purpose == p }) {
				continue
			}
			ends = append(ends, endOf(list, k.Organisation, p, now))
		}
	}
	slices.SortFunc(ends, func(a, b End) int { return strings.Compare(a.Organisation+" "+a.Purpose, b.Organisation+" "+b.Purpose) })
	return ends
}

func endOf(list []*Key, organisation, purpose string, now time.Time) End {
	end, latest := End{Organisation: organisation, Purpose: purpose, At: now}, time.Time{}
	holds := func(k *Key, at time.Time) bool {
		return k.Organisation == organisation && k.Shown(at) != nil && (k.Signs(purpose, at) || k.Opens(purpose, at))
	}
	for _, k := range list {
		if k.Organisation == organisation && slices.Contains(k.Purposes, purpose) && k.End().After(latest) {
			latest, end.Label = k.End(), k.Label
		}
	}
	for moved := true; moved; {
		moved = false
		for _, k := range list {
			if !holds(k, end.At) {
				continue
			}
			_, until := k.Shown(end.At).Window()
			if k.Until != nil && k.Until.Before(until) {
				until = *k.Until
			}
			if until.After(end.At) {
				end.At, end.Label, moved = until, k.Label, true
			}
		}
	}
	if latest.Before(end.At) {
		end.At = latest
	}
	return end
}
