package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// State is where an effect outside the database stands.
type State int16

// The states of an effect. Started is committed before the target is reached; what
// is found in it later is reconciled, never repeated blindly.
const (
	Pending State = iota + 1
	Started       // the target may have been reached
	Done
	GivenUp // it was certainly not done, and no attempt is left: for an operator
	Unknown // nobody knows whether it was done: for an operator
)

var stateNames = [...]string{"", "pending", "started", "done", "given_up", "unknown"}

// String gives the state's word.
func (s State) String() string {
	if s > 0 && int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", int16(s))
}

// StateOf gives the state of a word; 0 if there is none.
func StateOf(word string) State {
	for s, name := range stateNames {
		if name == word && s > 0 {
			return State(s)
		}
	}
	return 0
}

// Effect is one thing an event causes at one target. The event's id is its
// idempotency key.
type Effect struct {
	Partner  string     `json:"partner"`
	Event    uuid.UUID  `json:"event_id"`
	Target   string     `json:"target"`
	Month    time.Time  `json:"-"` // where the event stands
	State    State      `json:"-"`
	DueAt    time.Time  `json:"-"` // next try; of one that is being done, the end of its lease
	Lease    uuid.UUID  `json:"-"`
	Place    string     `json:"-"`        // of the target, where it was started; "" is nowhere yet
	Attempts int        `json:"attempts"` // that failed
	Failure  string     `json:"failure,omitempty"`
	Created  time.Time  `json:"created_at"`
	Started  *time.Time `json:"started_at,omitempty"`
	Ended    *time.Time `json:"ended_at,omitempty"`
}

// effectColumns are those of effect e that scanEffect reads.
const effectColumns = `e.partner_id, e.event_id, e.target, e.event_month, e.state, e.due_at, e.lease_id, e.place, e.attempts, e.failure, e.created_at, e.started_at, e.ended_at`

func scanEffect(row pgx.CollectableRow, more ...any) (*Effect, error) {
	var e Effect
	var lease pgtype.UUID
	err := row.Scan(append([]any{&e.Partner, &e.Event, &e.Target, &e.Month, &e.State, &e.DueAt, &lease, &e.Place, &e.Attempts, &e.Failure, &e.Created, &e.Started, &e.Ended}, more...)...)
	e.Lease = lease.Bytes
	return &e, err
}

// queueEffects makes the effects of events that have targets.
func queueEffects(b *pgx.Batch, events []Event) {
	var partner, target []string
	var id pgtype.FlatArray[pgtype.UUID]
	var month pgtype.FlatArray[pgtype.Date]
	for _, e := range events {
		for _, t := range e.Targets {
			partner, target = append(partner, e.Partner), append(target, t)
			id, month = append(id, pgtype.UUID{Bytes: e.ID, Valid: true}), append(month, pgtype.Date{Time: e.Month, Valid: true})
		}
	}
	if len(target) == 0 {
		return
	}
	b.Queue(`
		insert into effect (partner_id, event_id, target, event_month)
		select partner_id, event_id, target, event_month
		from unnest($1::text[], $2::uuid[], $3::text[], $4::date[]) as e (partner_id, event_id, target, event_month)`, partner, id, target, month)
}

// Effects reads effects.
type Effects struct {
	Pool *pgxpool.Pool
}

// EffectFilter narrows List; empty fields do not.
type EffectFilter struct {
	Partner, Target string
	States          []State
	Before          *EffectRef // cursor: those before it
	Limit           int
}

// EffectRef names an effect.
type EffectRef struct {
	Partner string
	Event   uuid.UUID
	Target  string
}

// List gives effects, the latest events first.
func (s Effects) List(ctx context.Context, f EffectFilter) ([]*Effect, error) {
	if f.Before == nil {
		f.Before = &EffectRef{Event: uuid.Max, Partner: "\U0010ffff"}
	}
	rows, err := s.Pool.Query(ctx, `
		select `+effectColumns+` from effect e
		where ($1 = '' or e.partner_id = $1) and ($2 = '' or e.target = $2)`+inStates(f.States)+`
			and (e.event_id, e.partner_id, e.target) < ($3, $4, $5)
		order by e.event_id desc, e.partner_id desc, e.target desc limit $6`,
		f.Partner, f.Target, f.Before.Event, f.Before.Partner, f.Before.Target, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list effects: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Effect, error) { return scanEffect(row) })
	if err != nil {
		return nil, fmt.Errorf("list effects: %w", err)
	}
	return list, nil
}

// inStates is the condition that an effect is in one of the states. They stand in the
// text, so that the indexes serve that hold the few effects which are not done.
func inStates(list []State) string {
	if len(list) == 0 {
		return ""
	}
	n := make([]string, len(list))
	for i, s := range list {
		n[i] = strconv.Itoa(int(s))
	}
	return ` and e.state in (` + strings.Join(n, ", ") + `)`
}

// Standing is how many effects stand in a state that is no end.
type Standing struct {
	Target string
	State  State
	Count  int
	Oldest time.Duration // since the oldest was caused
}

// NotBegun gives since when, at most, the effects of a target have been due that
// nobody has begun with; 0 if there is none.
func (s Effects) NotBegun(ctx context.Context, target string) (since time.Duration, err error) {
	err = s.Pool.QueryRow(ctx, `
		select coalesce(max(now() - due_at), interval '0')
		from effect where target = $1 and state = 1 and attempts = 0 and due_at <= now()`, target).Scan(&since)
	if err != nil {
		return 0, fmt.Errorf("look for effects that nobody begins with: %w", err)
	}
	return since, nil
}

// Open counts the effects that are not done.
func (s Effects) Open(ctx context.Context) ([]Standing, error) {
	rows, err := s.Pool.Query(ctx, `
		select target, state, count(*), now() - min(created_at) from effect where state in (1, 2) group by target, state
		union all
		select target, state, count(*), now() - min(created_at) from effect where state in (4, 5) group by target, state`)
	if err != nil {
		return nil, fmt.Errorf("count effects: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x Standing, err error) {
		return x, row.Scan(&x.Target, &x.State, &x.Count, &x.Oldest)
	})
	if err != nil {
		return nil, fmt.Errorf("count effects: %w", err)
	}
	return list, nil
}

// ErrNotStuck: the effect is not one that waits for an operator.
var ErrNotStuck = errors.New("no such effect waits for an operator")

// QueueResolve ends by hand what waits for an operator: done, or to be repeated
// from the start. An acknowledgement or a receipt may also be repeated where it was
// sent, or waits for its next try or for what the partner says of it; of these the
// target may be left out, since each leaves by one. resolved is called with the state it had and its target, and not where
// there is nothing to resolve.
func QueueResolve(b *pgx.Batch, r EffectRef, repeat bool, resolved func(was State, target string)) {
	b.Queue(`
		update effect as e set state = case when $4 then 1 else 3 end, lease_id = null, attempts = 0, due_at = now(),
			ended_at = case when $4 then null else now() end
		from (
			select partner_id, event_id, target, state from effect
			where partner_id = $1 and event_id = $2
				and (target = $3 and state in (4, 5)
					or (target = $3 or $3 = '') and $4 and (state <> 2 or lease_id is null) and (target like 'acknowledgement-%' or target = '`+MDNTarget+`'))
			for update) as was
		where e.partner_id = was.partner_id and e.event_id = was.event_id and e.target = was.target
		returning was.state, was.target`, r.Partner, r.Event, r.Target, repeat,
	).Query(func(rows pgx.Rows) error {
		var was State
		var target string
		_, err := pgx.ForEachRow(rows, []any{&was, &target}, func() error {
			resolved(was, target)
			return nil
		})
		return err
	})
	if repeat { // at once, whatever was put off; last: a relay locks it behind its effect
		b.Queue(`
			delete from effect_pause as p using effect as e
			where e.partner_id = $1 and e.event_id = $2 and ($3 = '' or e.target = $3) and p.partner_id = e.partner_id and p.target = e.target`, r.Partner, r.Event, r.Target)
	}
}

// Forget deletes the effects that are done and whose event is purged, some thousand
// at a time; those that wait for a person stay.
func (s Effects) Forget(ctx context.Context) (n int64, err error) {
	for {
		tag, err := s.Pool.Exec(ctx, `
			with old as (
				select partner_id, event_id, target from effect
				where state = 3 and event_month < date_trunc('month', now() at time zone 'utc')::date
				order by event_month limit 5000
				for update skip locked),
			tried as (
				delete from effect_attempt a using old
				where a.partner_id = old.partner_id and a.event_id = old.event_id and a.target = old.target)
			delete from effect e using old
			where e.partner_id = old.partner_id and e.event_id = old.event_id and e.target = old.target`)
		if err != nil {
			return n, fmt.Errorf("forget effects that are done: %w", err)
		}
		if n += tag.RowsAffected(); tag.RowsAffected() < 5000 {
			return n, nil
		}
	}
}

// Caused is what is known of the event of an effect.
type Caused struct {
	Type    string
	Subject string
	Body    json.RawMessage
	At      time.Time
}

// caused reads the event of e; ErrNoEvent where it is no longer kept.
func (s Effects) caused(ctx context.Context, e *Effect) (*Caused, error) {
	var c Caused
	err := s.Pool.QueryRow(ctx, `
		select type, subject, body, created_at from outbox
		where partner_id = $1 and event_id = $2 and purge_month = $3`, e.Partner, e.Event, e.Month).Scan(&c.Type, &c.Subject, &c.Body, &c.At)
	if errors.Is(err, pgx.ErrNoRows) { // or it went to another month since the effect was taken
		err = s.Pool.QueryRow(ctx, `
			select type, subject, body, created_at from outbox
			where partner_id = $1 and event_id = $2`, e.Partner, e.Event).Scan(&c.Type, &c.Subject, &c.Body, &c.At)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoEvent
	}
	if err != nil {
		return nil, fmt.Errorf("read event %s: %w", e.Event, err)
	}
	return &c, nil
}

// ErrNoEvent: the event that caused an effect is no longer kept.
var ErrNoEvent = errors.New("the event is no longer kept")
