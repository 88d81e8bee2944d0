package habits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
)

// Report is what a partner's deliveries show of his habits.
type Report struct {
	Partner     string        `json:"partner"`
	Rests       string        `json:"rests_on"` // in words
	Deliveries  int64         `json:"deliveries"`
	Days        int           `json:"days"`
	First       *time.Time    `json:"first_at,omitempty"`
	Last        *time.Time    `json:"last_at,omitempty"`
	Transport   RepeatsReport `json:"transport_repeats"`
	Interchange RepeatsReport `json:"interchange_repeats"`
	Reused      ReuseReport   `json:"references_used_again"`
	Series      []SeriesSeen  `json:"series"`
	Silence     Silence       `json:"silence"`
	Advice      []Advice      `json:"advice"`
	Warnings    []Warning     `json:"warnings"`
}

// RepeatsReport is Repeats for people.
type RepeatsReport struct {
	Count   int64      `json:"count"`
	Longest int64      `json:"longest_seconds"`
	At      *time.Time `json:"longest_at,omitempty"`
}

// ReuseReport is Reuse for people.
type ReuseReport struct {
	Soon     int64      `json:"within_a_week"`
	Later    int64      `json:"later"`
	Shortest int64      `json:"shortest_seconds"`
	At       *time.Time `json:"shortest_at,omitempty"`
}

// SeriesSeen is a series of references that is counted, or seems not to be.
type SeriesSeen struct {
	Series  string    `json:"series"`
	Test    bool      `json:"test"`
	Counts  bool      `json:"counts"`
	Last    string    `json:"last,omitempty"` // the highest reference of what is counted
	Step    int64     `json:"step,omitempty"`
	Numbers int       `json:"numbers"`        // that came
	Settle  int64     `json:"settle_seconds"` // how long one may be missing
	LastAt  time.Time `json:"last_at"`
	Wraps   []Wrap    `json:"wraps,omitempty"`
}

// Silence is how a partner's silence stands.
type Silence struct {
	Setting     string     `json:"setting"`
	Hours       int        `json:"hours_known"` // in which something came, that the rhythm is learned from
	Heard       *time.Time `json:"heard_at,omitempty"`
	ExpectedAt  *time.Time `json:"expected_at,omitempty"`
	ExpectedBy  *time.Time `json:"expected_by,omitempty"`
	SilentSince *time.Time `json:"silent_since,omitempty"`
}

// mostShown are the series that a report names, the latest first.
const mostShown = 50

// Of gives a partner's habits.
func (s Store) Of(ctx context.Context, p *partners.Partner) (*Report, error) {
	rows, err := s.Pool.Query(ctx, `select `+habitColumns+` from habit where partner_id = $1`, p.ID)
	if err != nil {
		return nil, fmt.Errorf("read a habit: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanHabit)
	if err != nil {
		return nil, fmt.Errorf("read a habit: %w", err)
	}
	var h habit
	if len(list) > 0 {
		h = list[0]
	}
	rows, err = s.Pool.Query(ctx, `
		select series, state, last_at from habit_series where partner_id = $1
		order by state ? 'strands' desc, last_at desc limit $2`, p.ID, mostShown)
	if err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	series, at := map[string]*Series{}, map[string]time.Time{}
	if _, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (_ struct{}, err error) {
		var name string
		var x Series
		var last time.Time
		err = row.Scan(&name, &x, &last)
		series[name], at[name] = &x, last.UTC()
		return struct{}{}, err
	}); err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}

	e := &h.Evidence
	r := &Report{Partner: p.ID, Rests: rests(e), Deliveries: e.Deliveries, Days: e.Days, First: orNone(e.First), Last: orNone(e.Last),
		Transport:   RepeatsReport{e.Transport.Count, e.Transport.Longest, orNone(e.Transport.At)},
		Interchange: RepeatsReport{e.Interchange.Count, e.Interchange.Longest, orNone(e.Interchange.At)},
		Reused:      ReuseReport{e.Reused.Soon, e.Reused.Count, e.Reused.Shortest, orNone(e.Reused.At)},
		Silence:     Silence{wordOf(p), len(e.Rhythm), utc(h.Heard), utc(h.ExpectedAt), utc(h.ExpectedBy), utc(h.SilentSince)},
		Series:      []SeriesSeen{}, Advice: []Advice{}, Warnings: []Warning{}}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		x := series[name]
		seen := SeriesSeen{Series: name, Test: isTest(name), Counts: x.Counts(), Numbers: x.Numbers, Settle: int64(x.Settle() / time.Second), LastAt: at[name], Wraps: x.Wraps}
		if x.Counts() {
			seen.Last, seen.Step = written(name, x.Strands[0].Head, x.Width), x.Strands[0].Step
		}
		r.Series = append(r.Series, seen)
	}
	advice, warnings := advise(p, e, series)
	r.Advice, r.Warnings = append(r.Advice, advice...), append(r.Warnings, warnings...)
	return r, nil
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return utc(&t)
}

// Standing is how a partner's silence and gaps stand, for the metrics.
type Standing struct {
	Partner    string
	Silent     bool
	ExpectedBy *time.Time
	Gaps       int // open ones, without those of test interchanges
}

// Standings gives all of them that are known.
func (s Store) Standings(ctx context.Context) ([]Standing, error) {
	rows, err := s.Pool.Query(ctx, `
		select h.partner_id, h.silent_since is not null, h.expected_by, coalesce(g.count, 0)
		from habit h left join (
			select partner_id, count(*) as count from sequence_gap where closed_at is null and not test group by partner_id) as g on g.partner_id = h.partner_id`)
	if err != nil {
		return nil, fmt.Errorf("how partners' habits stand: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Standing])
	if err != nil {
		return nil, fmt.Errorf("how partners' habits stand: %w", err)
	}
	return list, nil
}
