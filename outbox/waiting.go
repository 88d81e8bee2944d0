package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Waiting is what would leave for one target if it might.
type Waiting struct {
	Target       string  `json:"target,omitempty"`       // of effects, like folder; "" of a subscription
	Subscription string  `json:"subscription,omitempty"` // "" of effects
	Count        int     `json:"count"`
	More         bool    `json:"more,omitempty"` // there are more than were counted
	Oldest       float64 `json:"oldest_seconds"` // since the oldest was written
	Paused       bool    `json:"paused,omitempty"`
}

// countMost is how many of one partner's events are counted for a subscription.
const countMost = 10_000

// Waiting counts what would leave: effects by target, and events by subscription.
// partners are all that are configured.
func (o Outgoing) Waiting(ctx context.Context, partners []string) ([]Waiting, error) {
	standings, err := Effects(o).Open(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]*Waiting{}
	for _, s := range standings {
		if s.State != Pending && s.State != Started {
			continue
		}
		w := by[s.Target]
		if w == nil {
			w = &Waiting{Target: s.Target}
			by[s.Target] = w
		}
		w.Count, w.Oldest = w.Count+s.Count, max(w.Oldest, s.Oldest.Seconds())
	}
	list := []Waiting{}
	for _, w := range by {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b Waiting) int { return strings.Compare(a.Target, b.Target) })
	subscriptions, err := Subscriptions(o).List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range subscriptions {
		of := partners
		if len(s.Partners) > 0 {
			of = slices.DeleteFunc(slices.Clone(partners), func(p string) bool { return !slices.Contains(s.Partners, p) })
		}
		w := Waiting{Subscription: s.Name, Paused: s.Paused != nil}
		err := o.Pool.QueryRow(ctx, `
			select coalesce(sum(e.n), 0), coalesce(bool_or(e.n >= $4), false), coalesce(extract(epoch from now() - min(e.oldest)), 0)
			from subscription s cross join unnest($2::text[]) as p (id)
				left join subscription_stream t on t.partner_id = p.id and t.subscription = s.name
				cross join lateral (
					select count(*) as n, min(created_at) as oldest from (
						select o.created_at from outbox o
						where o.partner_id = p.id and (o.xid, o.event_id) > (coalesce(t.xid, s.from_xid), coalesce(t.event_id, $5)) and o.type = any($3)
						order by o.xid, o.event_id limit $4) as x) as e
			where s.name = $1`, s.Name, of, s.Wants(), countMost, uuid.Nil).Scan(&w.Count, &w.More, &w.Oldest)
		if err != nil {
			return nil, fmt.Errorf("count what subscription %s would be sent: %w", s.Name, err)
		}
		if w.Count > 0 {
			list = append(list, w)
		}
	}
	return list, nil
}
