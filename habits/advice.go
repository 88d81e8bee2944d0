package habits

import (
	"fmt"
	"math"
	"time"

	"github.com/edigw/edigw/partners"
)

// Advice is a setting that the evidence speaks for.
type Advice struct {
	Setting string `json:"setting"`
	Now     string `json:"now"`
	Suggest string `json:"suggest"`
	Because string `json:"because"`
}

// Warning is a setting that the evidence contradicts.
type Warning struct {
	Setting string `json:"setting"`
	Text    string `json:"text"`
}

// Less than that proves nothing of a partner's habits.
const (
	fewestDeliveries = 30
	fewestDays       = 10
)

// cycle is how long it takes until a number is used again: what was seen, or what the
// numbers that wrapped come to.
type cycle struct {
	days    float64
	because string
}

// cycleOf gives the shortest cycle that was seen; false: none was.
func cycleOf(e *Evidence, series map[string]*Series) (c cycle, ok bool) {
	if e.Reused.Count > 0 {
		c.days = time.Duration(e.Reused.Shortest*int64(time.Second)).Hours() / 24
		c.because = fmt.Sprintf("a control reference was used again after %s (on %s; %d were)", days(c.days), e.Reused.At.Format(time.DateOnly), e.Reused.Count)
		ok = true
	}
	for _, s := range series {
		for _, w := range s.Wraps {
			if !ok || w.Days < c.days {
				c.days = w.Days
				c.because = fmt.Sprintf("control references began anew behind %d on %s: each is used again after %s", w.Numbers, w.At.Format(time.DateOnly), days(c.days))
				ok = true
			}
		}
	}
	return c, ok
}

// advise says what the evidence speaks for and what it contradicts. Where it is too thin
// both are empty, and rests says so.
func advise(p *partners.Partner, e *Evidence, series map[string]*Series) (advice []Advice, warnings []Warning) {
	if e.Deliveries < fewestDeliveries || e.Days < fewestDays {
		return nil, nil
	}
	dedup, retry, reuse := inDays(p.Retention.DedupWindow), inDays(p.Retention.RetryWindow), inDays(p.Policy.ReuseAfter)
	suggest := func(setting string, now int, want int, because string) {
		if now != want {
			advice = append(advice, Advice{setting, window(now), window(want), because})
		}
	}
	warn := func(setting, format string, args ...any) {
		warnings = append(warnings, Warning{setting, fmt.Sprintf(format, args...)})
	}

	longest, seen := e.Transport, "under the same transport id"
	if e.Interchange.Longest > longest.Longest || longest.Count == 0 {
		longest, seen = e.Interchange, "of the same interchange"
	}
	repeat := float64(longest.Longest) / 86400
	need := 0 // days that cover the longest repeat, with a margin
	repeated := fmt.Sprintf("the longest repeat came after %s (%s, on %s; %d repeats of transport ids and %d of interchanges were seen)",
		days(repeat), seen, longest.At.Format(time.DateOnly), e.Transport.Count, e.Interchange.Count)
	if longest.Count > 0 {
		need = int(math.Ceil(repeat*1.5)) + 1
	}
	c, again := cycleOf(e, series)

	if need > 0 {
		if need > retry {
			suggest("retry_window", retry, need, repeated)
		}
		if need > dedup {
			suggest("dedup_window", dedup, need, repeated)
		}
		if float64(retry) < repeat {
			warn("retry_window", "it is %s, and %s", window(retry), repeated)
		}
		if float64(dedup) < repeat {
			warn("dedup_window", "it is %s, and %s: a repeat as late would be processed anew", window(dedup), repeated)
		} else if dedup < need {
			warn("dedup_window", "it is %s, and %s: that leaves too little margin", window(dedup), repeated)
		}
		if reuse > 0 && float64(reuse) < repeat {
			warn("reuse_after", "it is %s, and %s: changed content that comes as late would be taken for a new interchange", window(reuse), repeated)
		}
	}
	switch {
	case again && c.days < 2 && p.Policy.ControlReference == "unique":
		advice = append(advice, Advice{"control_reference", p.Policy.ControlReference, "unique_per_day", c.because})
	case again:
		within := int(math.Floor(c.days * 0.8))
		if reuse > 0 && float64(reuse) > c.days {
			warn("reuse_after", "it is %s, and %s: a number that is used again before is a drift", window(reuse), c.because)
		}
		if reuse == 0 && float64(dedup) > c.days && p.Policy.ControlReference == "unique" {
			warn("dedup_window", "it is %s and reuse_after is off, and %s: numbers will meet keys that still stand, and be drifts", window(dedup), c.because)
		}
		if within > need && within > 0 && p.Policy.ControlReference == "unique" {
			if reuse == 0 || float64(reuse) > c.days || float64(reuse) < repeat {
				suggest("reuse_after", reuse, within, c.because)
			}
		} else if p.Policy.ControlReference == "unique" && within <= need {
			advice = append(advice, Advice{"control_reference", p.Policy.ControlReference, "unique_per_day", c.because + ", and " + repeated + ": the day has to tell them apart"})
		}
	}
	if r := e.Reused; r.Soon >= 5 && r.Soon*5 > e.Deliveries && p.Policy.ControlReference != "unreliable" {
		advice = append(advice, Advice{"control_reference", p.Policy.ControlReference, "unreliable",
			fmt.Sprintf("%d of %d deliveries had another content under a control reference of the same week: it says nothing", r.Soon, e.Deliveries)})
	}
	return advice, warnings
}

// rests says on what advice rests.
func rests(e *Evidence) string {
	if e.Deliveries == 0 {
		return "nothing was received yet"
	}
	text := fmt.Sprintf("%d deliveries on %d days, from %s to %s", e.Deliveries, e.Days, e.First.Format(time.DateOnly), e.Last.Format(time.DateOnly))
	if e.Deliveries < fewestDeliveries || e.Days < fewestDays {
		text += fmt.Sprintf(": too few for advice, which takes %d deliveries on %d days", fewestDeliveries, fewestDays)
	}
	return text
}

func inDays(d time.Duration) int { return int(d / (24 * time.Hour)) }

func window(n int) string { return partners.Days(n).String() }

// days writes a time in the unit that fits.
func days(d float64) string {
	switch {
	case d >= 2:
		return fmt.Sprintf("%.0f days", d)
	case d*24 >= 2:
		return fmt.Sprintf("%.0f hours", d*24)
	}
	return fmt.Sprintf("%.0f minutes", d*24*60)
}
