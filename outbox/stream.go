package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/lease"
)

// Sink is where a subscription's events go. It may get an event again that it has: the
// event's id is the same each time.
type Sink struct {
	// Send hands over events of one partner, in order, and gives how many of them,
	// from the first on, have certainly arrived; err says why not all. An error that
	// is ErrRefused: the target will not have the first of the rest, which counts
	// towards its being set aside. ErrGone: it wants nothing any more, and the
	// subscription is paused. Any other: it is tried again for as long as it takes.
	Send func(ctx context.Context, batch []*Record) (sent int, log []Attempt, err error)
	// Batch is how many events Send takes at once; 0 is 1.
	Batch int
	// Rest is how long a partner's events are gathered after something was sent; behind
	// a full batch the next is sent at once.
	Rest time.Duration
	// Close ends what the sink holds open; nil: nothing.
	Close func()
}

// Errors of a Sink.
var (
	ErrRefused = errors.New("the target refuses the event")
	ErrGone    = errors.New("the target wants nothing any more")
)

// RetryError is a failure with the time after which the target wants to be asked again.
type RetryError struct {
	Err   error
	After time.Duration
}

// Error gives the failure.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap gives the failure.
func (e *RetryError) Unwrap() error { return e.Err }

// Attempt is one line of the delivery log.
type Attempt struct {
	Event   uuid.UUID     `json:"event_id"`
	At      time.Time     `json:"at"`
	Status  int           `json:"status"` // what the target answered, as its protocol counts; 0 is nothing
	Took    time.Duration `json:"-"`
	Failure string        `json:"failure,omitempty"` // "" is done
	Answer  string        `json:"answer,omitempty"`  // the beginning of it
}

// Streams brings the events of one subscription to its sink: each partner's in order,
// the next only when the one before it arrived or was set aside, and no partner waiting
// for another. Its Source is for lease.Workers.
type Streams struct {
	Pool     *pgxpool.Pool
	Spec     Spec
	Sink     Sink
	Partners func() []string // all that are configured
	NewID    func() uuid.UUID
	Log      *slog.Logger
	Hook     func(point string) // of fault tests; nil otherwise

	First time.Duration // before the second attempt, doubled each time; 0 is a second
	Most  time.Duration // between two; 0 is five minutes
	Hold  time.Duration // how long one piece goes on while others wait; 0 is five seconds

	Sent func(partner string, n int) // counts; nil: nobody does
}

// readAhead is how many events are read at once for a sink that takes few.
const readAhead = 100

// Source is the work of the streams.
func (s *Streams) Source() lease.Source {
	return lease.Source{Name: "subscription " + s.Spec.Name, Due: s.due, Take: s.take}
}

// partners gives whose events the subscription wants.
func (s *Streams) partners() []string {
	if len(s.Spec.Partners) == 0 {
		return s.Partners()
	}
	return slices.DeleteFunc(slices.Clone(s.Partners()), func(p string) bool { return !slices.Contains(s.Spec.Partners, p) })
}

func (s *Streams) due(ctx context.Context) ([]string, error) {
	rows, err := s.Pool.Query(ctx, `
		select p.id
		from subscription s cross join unnest($2::text[]) as p (id)
			left join subscription_stream t on t.partner_id = p.id and t.subscription = s.name
		where s.name = $1 and s.paused_at is null and t.paused_at is null and (t.due_at is null or t.due_at <= now()) and `+mayLeave+`
			and (exists (select from subscription_event e where e.partner_id = p.id and e.subscription = s.name and e.state = 1 and e.due_at <= now())
				or (select true from outbox o where o.partner_id = p.id -- in order, or the plan goes through all that he ever had
					and (o.xid, o.event_id) > (coalesce(t.xid, s.from_xid), coalesce(t.event_id, '00000000-0000-0000-0000-000000000000'))
					and o.xid < pg_snapshot_xmin(pg_current_snapshot())
					order by o.xid, o.event_id limit 1))`, s.Spec.Name, s.partners())
	if err != nil {
		return nil, fmt.Errorf("look for events of subscription %s: %w", s.Spec.Name, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for events of subscription %s: %w", s.Spec.Name, err)
	}
	return list, nil
}

// take leases a partner's stream, which begins where the subscription does.
func (s *Streams) take(ctx context.Context, partner string, term time.Duration) (lease.Piece, error) {
	p := &passing{streams: s, partner: partner, term: term, lease: s.NewID()}
	for range 2 {
		err := s.Pool.QueryRow(ctx, `
			with due as materialized (
				select t.xid from subscription_stream t
				where t.partner_id = $2 and t.subscription = $1 and t.due_at <= now() and t.paused_at is null
					and exists (select from subscription s where s.name = $1 and s.paused_at is null) and `+mayLeave+`
				for update of t skip locked)
			update subscription_stream as t set lease_id = $3, due_at = now() + $4
			from due
			where t.partner_id = $2 and t.subscription = $1
			returning t.xid, t.event_id, t.attempts, t.refusals`, s.Spec.Name, partner, p.lease, term).Scan(&p.at.XID, &p.at.ID, &p.attempts, &p.refusals)
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("take the events of %s: %w", partner, err)
		}
		tag, err := s.Pool.Exec(ctx, `
			insert into subscription_stream (partner_id, subscription, xid, event_id)
			select $2, name, from_xid, '00000000-0000-0000-0000-000000000000' from subscription where name = $1 and paused_at is null and `+mayLeave+`
			on conflict do nothing`, s.Spec.Name, partner)
		if err != nil {
			return nil, fmt.Errorf("begin the events of %s: %w", partner, err)
		}
		if tag.RowsAffected() == 0 {
			return nil, nil
		}
	}
	return nil, nil
}

// passing is one partner's stream that was taken.
type passing struct {
	streams            *Streams
	partner            string
	lease              uuid.UUID
	term               time.Duration
	at                 Place // up to it everything was sent or set aside
	attempts, refusals int   // of what is next
}

// String names the stream.
func (p *passing) String() string { return p.partner + " at " + p.streams.Spec.Name }

func (p *passing) reached(point string) {
	if p.streams.Hook != nil {
		p.streams.Hook(point)
	}
}

// Do sends what is to be sent again, then the events in order, for some seconds or
// until there are no more.
func (p *passing) Do(ctx context.Context) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = p.failed(ctx, nil, fmt.Errorf("panic: %v\n%s", e, debug.Stack()))
		}
	}()
	s := p.streams
	if err := p.sendAgain(ctx); err != nil {
		return err
	}
	hold, types := s.Hold, s.Spec.Wants()
	if hold == 0 {
		hold = 5 * time.Second
	}
	for since := time.Now(); ; {
		list, full, err := p.gather(ctx, types)
		if err != nil {
			return err // the lease runs out
		}
		if len(list) == 0 {
			return p.rest(ctx, 0)
		}
		sent, err := p.pass(ctx, list, since.Add(hold))
		if err != nil || p.lease == uuid.Nil { // it was put off, and the lease ended
			return err
		}
		if sent && s.Sink.Rest > 0 && !full {
			return p.rest(ctx, s.Sink.Rest)
		}
		if time.Since(since) > hold {
			return p.rest(ctx, 0)
		}
	}
}

// pass sends what was read, batch by batch, and moves on behind each. It reports
// whether anything was sent.
func (p *passing) pass(ctx context.Context, list []*Record, until time.Time) (any bool, err error) {
	size := max(p.streams.Sink.Batch, 1)
	for len(list) > 0 {
		var batch []*Record
		n := 0
		for n < len(list) && len(batch) < size {
			if list[n].Body != nil {
				batch = append(batch, list[n])
			}
			n++
		}
		for n < len(list) && list[n].Body == nil { // what nobody wants is passed with it
			n++
		}
		if len(batch) == 0 {
			return any, p.moved(ctx, list[n-1].Place, 0, nil)
		}
		p.reached("events read")
		sent, log, err := p.streams.Sink.Send(ctx, batch)
		p.reached("events sent")
		if err != nil {
			if ctx.Err() != nil {
				return any, context.Cause(ctx)
			}
			if sent > 0 {
				p.attempts, p.refusals = 0, 0
				if err := p.moved(ctx, batch[sent-1].Place, sent, nil); err != nil {
					return any, err
				}
			}
			on, err := p.stuck(ctx, batch[sent], log, err)
			if !on || err != nil {
				return any, err
			}
			return true, nil // set aside: what follows is read anew
		}
		any, p.attempts, p.refusals = true, 0, 0
		if err := p.moved(ctx, list[n-1].Place, len(batch), log); err != nil {
			return any, err
		}
		list = list[n:]
		if time.Now().After(until) || p.streams.Sink.Rest > 0 {
			break
		}
	}
	return any, nil
}

// stuck deals with an event that did not arrive; on: it was set aside.
func (p *passing) stuck(ctx context.Context, r *Record, log []Attempt, why error) (on bool, err error) {
	s := p.streams
	switch {
	case errors.Is(why, ErrGone):
		s.Log.Error("a subscription is paused: its target wants nothing any more", "subscription", s.Spec.Name, "err", why)
		if err := (Subscriptions{s.Pool}).stop(ctx, s.Spec.Name, firstLine(why)); err != nil {
			return false, err
		}
	case errors.Is(why, ErrRefused):
		if p.refusals++; p.refusals >= s.Spec.Refusals {
			if all, err := p.refusesAll(ctx); all || err != nil {
				return false, errors.Join(err, p.failed(ctx, log, why))
			}
			s.Log.Error("an event is set aside: the target will not have it", "subscription", s.Spec.Name, "partner", p.partner, "event", r.ID, "type", r.Type, "err", why)
			return true, p.setAside(ctx, r, log, why)
		}
	}
	return false, p.failed(ctx, log, why)
}

// setAsideMost is how many events are set aside without one that arrived: behind them the
// target is taken to refuse everything.
const setAsideMost = 5

// refusesAll pauses the subscription where its target has taken nothing, of any partner's,
// since the last few events were set aside: the fault is the target's, and not that of
// each event, which a person would have to look at.
func (p *passing) refusesAll(ctx context.Context) (bool, error) {
	s := p.streams
	var n int
	if err := s.Pool.QueryRow(ctx, `
		select count(*) from subscription_event e
		where e.subscription = $1 and e.state = 2
			and e.since > coalesce((select max(t.sent_at) from subscription_stream t where t.subscription = $1), '-infinity')`, s.Spec.Name).Scan(&n); err != nil {
		return false, fmt.Errorf("count what %s would not have: %w", s.Spec.Name, err)
	}
	if n < setAsideMost {
		return false, nil
	}
	reason := fmt.Sprintf("the target has refused %d events one after the other and taken none: mend it, resume, and resend what was set aside", n)
	s.Log.Error("a subscription is paused: its target refuses everything", "subscription", s.Spec.Name, "set_aside", n)
	return true, Subscriptions{s.Pool}.stop(ctx, s.Spec.Name, reason)
}

// moved notes that everything up to a place has arrived.
func (p *passing) moved(ctx context.Context, to Place, sent int, log []Attempt) error {
	var b pgx.Batch
	lost := p.queue(&b, `
		update subscription_stream set xid = $4, event_id = $5, sent = sent + $6, sent_at = case when $6 > 0 then now() else sent_at end,
			attempts = 0, refusals = 0, failure = '', failing_since = null
		where partner_id = $1 and subscription = $2 and lease_id = $3`, to.XID, to.ID, sent)
	p.queueLog(&b, log)
	if err := p.send(ctx, &b, lost); err != nil {
		return err
	}
	p.at = to
	if sent > 0 && p.streams.Sent != nil {
		p.streams.Sent(p.partner, sent)
	}
	return nil
}

// setAside leaves an event behind that the target will not have, for a person.
func (p *passing) setAside(ctx context.Context, r *Record, log []Attempt, why error) error {
	var b pgx.Batch
	lost := p.queue(&b, `
		with moved as (
			update subscription_stream set xid = $4, event_id = $5, attempts = 0, refusals = 0, failure = '', failing_since = null
			where partner_id = $1 and subscription = $2 and lease_id = $3
			returning partner_id, subscription)
		insert into subscription_event as e (partner_id, subscription, event_id, event_month, state, attempts, failure)
		select partner_id, subscription, $5, $6, 2, $7, left($8, 1000) from moved
		on conflict (partner_id, subscription, event_id) do update set state = 2, attempts = e.attempts + excluded.attempts, failure = excluded.failure`,
		r.Place.XID, r.ID, r.Month, p.attempts+1, firstLine(why))
	p.queueLog(&b, log)
	if err := p.send(ctx, &b, lost); err != nil {
		return err
	}
	p.at, p.attempts, p.refusals = r.Place, 0, 0
	return nil
}

// failed puts the stream off, and ends the lease.
func (p *passing) failed(ctx context.Context, log []Attempt, why error) error {
	s := p.streams
	first, most := s.First, s.Most
	if first == 0 {
		first = time.Second
	}
	if most == 0 {
		most = 5 * time.Minute
	}
	p.attempts++
	wait := lease.Backoff(p.attempts, first, most)
	if later, ok := errors.AsType[*RetryError](why); ok {
		wait = max(wait, min(later.After, time.Hour))
	}
	s.Log.Warn("events were not taken", "subscription", s.Spec.Name, "partner", p.partner, "attempts", p.attempts, "again_in", wait, "err", why)
	var b pgx.Batch
	lost := p.queue(&b, `
		update subscription_stream set attempts = $4, refusals = $5, failure = left($6, 1000), failing_since = coalesce(failing_since, now()),
			due_at = now() + $7, lease_id = null
		where partner_id = $1 and subscription = $2 and lease_id = $3`, p.attempts, p.refusals, firstLine(why), wait)
	p.queueLog(&b, log)
	err := p.send(ctx, &b, lost)
	p.lease = uuid.Nil
	return err
}

// rest ends the lease; the stream is due again after a while.
func (p *passing) rest(ctx context.Context, after time.Duration) error {
	return p.write(ctx, `
		update subscription_stream set lease_id = null, due_at = now() + $4
		where partner_id = $1 and subscription = $2 and lease_id = $3`, after)
}

// Renew makes the lease last.
func (p *passing) Renew(ctx context.Context, term time.Duration) (bool, error) {
	err := p.write(ctx, `
		update subscription_stream set due_at = greatest(due_at, now() + $4)
		where partner_id = $1 and subscription = $2 and lease_id = $3`, term)
	if errors.Is(err, lease.ErrLost) {
		return false, nil
	}
	return err == nil, err
}

// Return gives the stream back as it stands.
func (p *passing) Return(ctx context.Context) error {
	if err := p.rest(ctx, 0); err != nil && !errors.Is(err, lease.ErrLost) {
		return err
	}
	return nil
}

func (p *passing) write(ctx context.Context, sql string, args ...any) error {
	var b pgx.Batch
	return p.send(ctx, &b, p.queue(&b, sql, args...))
}

// queue adds a statement that touches one row while the lease is this process's.
func (p *passing) queue(b *pgx.Batch, sql string, args ...any) *bool {
	lost := false
	b.Queue(sql, append([]any{p.partner, p.streams.Spec.Name, p.lease}, args...)...).Exec(func(tag commandTag) error {
		lost = tag.RowsAffected() == 0
		return nil
	})
	return &lost
}

func (p *passing) send(ctx context.Context, b *pgx.Batch, lost *bool) error {
	if err := p.streams.Pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("note how far the events of %s have come: %w", p, err)
	}
	if *lost {
		return lease.ErrLost
	}
	return nil
}

// queueLog writes the delivery log.
func (p *passing) queueLog(b *pgx.Batch, log []Attempt) {
	if len(log) == 0 {
		return
	}
	var id, event pgtype.FlatArray[pgtype.UUID]
	var at pgtype.FlatArray[time.Time]
	var status []int16
	var took []int32
	var failure, answer []string
	for _, a := range log {
		id, event = append(id, pgtype.UUID{Bytes: p.streams.NewID(), Valid: true}), append(event, pgtype.UUID{Bytes: a.Event, Valid: true})
		at, status, took = append(at, a.At), append(status, int16(a.Status)), append(took, int32(min(a.Took.Milliseconds(), 1<<31-1)))
		failure, answer = append(failure, storable(a.Failure)), append(answer, storable(a.Answer))
	}
	b.Queue(`
		insert into subscription_attempt (partner_id, subscription, attempt_id, event_id, at, status, took_ms, failure, answer)
		select $1, $2, unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::timestamptz[]), unnest($6::int2[]), unnest($7::int4[]),
			left(unnest($8::text[]), 1000), left(unnest($9::text[]), 1000)`,
		p.partner, p.streams.Spec.Name, id, event, at, status, took, failure, answer)
}
