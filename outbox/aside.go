package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/edigw/edigw/lease"
)

type commandTag = pgconn.CommandTag

// AsideState is how an event beside its stream stands.
type AsideState int16

// The states of an event beside its stream. One that was sent is no longer there.
const (
	ToBeSent AsideState = iota + 1 // a person asked for it
	SetAside                       // the target would not have it: for a person
)

// String gives the state's word.
func (s AsideState) String() string {
	switch s {
	case ToBeSent:
		return "to_be_sent"
	case SetAside:
		return "set_aside"
	}
	return fmt.Sprintf("state %d", int16(s))
}

// Aside is an event beside its stream.
type Aside struct {
	Partner      string     `json:"partner"`
	Subscription string     `json:"subscription"`
	Event        uuid.UUID  `json:"event_id"`
	State        AsideState `json:"-"`
	Attempts     int        `json:"attempts"`
	Failure      string     `json:"failure,omitempty"`
	Since        time.Time  `json:"since"`
}

// asideAtOnce is how many events are sent again before a stream goes on.
const asideAtOnce = 20

// sendAgain sends single events that a person asked for, each on its own: what one
// meets keeps neither the others nor the stream.
func (p *passing) sendAgain(ctx context.Context) error {
	s := p.streams
	rows, err := s.Pool.Query(ctx, `
		select event_id, attempts from subscription_event
		where partner_id = $1 and subscription = $2 and state = 1 and due_at <= now()
		order by since, event_id limit $3`, p.partner, s.Spec.Name, asideAtOnce)
	if err != nil {
		return fmt.Errorf("read what is to be sent again to %s: %w", p, err)
	}
	type again struct {
		ID       uuid.UUID
		Attempts int
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[again])
	if err != nil {
		return fmt.Errorf("read what is to be sent again to %s: %w", p, err)
	}
	for _, a := range list {
		r, err := readOne(ctx, s.Pool, p.partner, a.ID)
		var log []Attempt
		if err == nil {
			_, log, err = s.Sink.Send(ctx, []*Record{r})
		} else if !errors.Is(err, ErrNoSuchEvent) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.sentAgain(ctx, a.ID, a.Attempts, log, err); err != nil {
			return err
		}
	}
	return nil
}

// sentAgain notes what became of one.
func (p *passing) sentAgain(ctx context.Context, id uuid.UUID, attempts int, log []Attempt, why error) error {
	var b pgx.Batch
	var lost *bool
	switch {
	case why == nil:
		lost = p.queue(&b, `
			delete from subscription_event
			where partner_id = $1 and subscription = $2 and event_id = $4
				and exists (select from subscription_stream t where t.partner_id = $1 and t.subscription = $2 and t.lease_id = $3)`, id)
	default:
		state := ToBeSent
		if errors.Is(why, ErrRefused) || errors.Is(why, ErrGone) || errors.Is(why, ErrNoSuchEvent) {
			state = SetAside
		}
		lost = p.queue(&b, `
			update subscription_event set state = $5, attempts = attempts + 1, failure = left($6, 1000), due_at = now() + $7
			where partner_id = $1 and subscription = $2 and event_id = $4
				and exists (select from subscription_stream t where t.partner_id = $1 and t.subscription = $2 and t.lease_id = $3)`,
			id, state, firstLine(why), lease.Backoff(attempts+1, time.Second, 5*time.Minute))
	}
	p.queueLog(&b, log)
	return p.send(ctx, &b, lost)
}

// ResendTx has one event sent to a subscription, whether it was before or not: once, as
// soon as the stream is taken. ErrNoSubscription, ErrNoSuchEvent.
func ResendTx(ctx context.Context, tx pgx.Tx, name, partner string, event uuid.UUID) error {
	var month time.Time
	err := tx.QueryRow(ctx, `select purge_month from outbox where partner_id = $1 and event_id = $2`, partner, event).Scan(&month)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoSuchEvent
	}
	if err != nil {
		return fmt.Errorf("resend %s: %w", event, err)
	}
	return onSubscription(ctx, tx, name, `
		insert into subscription_event as e (partner_id, subscription, event_id, event_month, state)
		select $2, name, $3, $4, 1 from subscription where name = $1
		on conflict (partner_id, subscription, event_id) do update set state = 1, attempts = 0, due_at = now()`, partner, event, month)
}

// ResendAllTx has all events of a subscription sent again that were set aside, of one
// partner or of all, and gives how many.
func ResendAllTx(ctx context.Context, tx pgx.Tx, name, partner string) (int64, error) {
	tag, err := tx.Exec(ctx, `
		update subscription_event set state = 1, attempts = 0, due_at = now()
		where subscription = $1 and state = 2 and ($2 = '' or partner_id = $2)`, name, partner)
	if err != nil {
		return 0, fmt.Errorf("resend what %s would not have: %w", name, err)
	}
	return tag.RowsAffected(), nil
}

// DismissTx gives up an event that was set aside; ErrNotSetAside.
func DismissTx(ctx context.Context, tx pgx.Tx, name, partner string, event uuid.UUID) error {
	tag, err := tx.Exec(ctx, `delete from subscription_event where partner_id = $1 and subscription = $2 and event_id = $3 and state = 2`, partner, name, event)
	if err != nil {
		return fmt.Errorf("dismiss %s: %w", event, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotSetAside
	}
	return nil
}

// AsideFilter narrows Asides; empty fields do not.
type AsideFilter struct {
	Partner, Subscription string
	Before                *Aside // cursor: those before it
	Limit                 int
}

// Asides lists the events that stand beside their streams, the latest first.
func (s Subscriptions) Asides(ctx context.Context, f AsideFilter) ([]*Aside, error) {
	if f.Before == nil {
		f.Before = &Aside{Event: uuid.Max, Partner: "\U0010ffff"}
	}
	rows, err := s.Pool.Query(ctx, `
		select partner_id, subscription, event_id, state, attempts, failure, since
		from subscription_event
		where ($1 = '' or partner_id = $1) and ($2 = '' or subscription = $2) and (event_id, partner_id, subscription) < ($3, $4, $5)
		order by event_id desc, partner_id desc, subscription desc limit $6`,
		f.Partner, f.Subscription, f.Before.Event, f.Before.Partner, f.Before.Subscription, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list what was set aside: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Aside, error) {
		var a Aside
		return &a, row.Scan(&a.Partner, &a.Subscription, &a.Event, &a.State, &a.Attempts, &a.Failure, &a.Since)
	})
	if err != nil {
		return nil, fmt.Errorf("list what was set aside: %w", err)
	}
	return list, nil
}

// Attempts gives the delivery log of one event, the latest first, some hundred at most.
func (s Subscriptions) Attempts(ctx context.Context, partner string, event uuid.UUID) ([]LoggedAttempt, error) {
	rows, err := s.Pool.Query(ctx, `
		select subscription, event_id, at, status, took_ms, failure, answer
		from subscription_attempt where partner_id = $1 and event_id = $2
		order by attempt_id desc limit 500`, partner, event)
	if err != nil {
		return nil, fmt.Errorf("delivery log of %s: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a LoggedAttempt, err error) {
		return a, row.Scan(&a.Subscription, &a.Event, &a.At, &a.Status, &a.TookMS, &a.Failure, &a.Answer)
	})
	if err != nil {
		return nil, fmt.Errorf("delivery log of %s: %w", event, err)
	}
	return list, nil
}

// LoggedAttempt is an attempt as the delivery log keeps it.
type LoggedAttempt struct {
	Subscription string `json:"subscription"`
	Attempt
	TookMS int `json:"took_ms"`
}

// attemptsKept is how long the delivery log goes back.
const attemptsKept = 30 * 24 * time.Hour

// ForgetAttempts deletes what is older in the delivery log, some thousand at a time.
func (s Subscriptions) ForgetAttempts(ctx context.Context) (n int64, err error) {
	for {
		tag, err := s.Pool.Exec(ctx, `
			delete from subscription_attempt a using (
				select partner_id, attempt_id from subscription_attempt where at < now() - $1::interval order by at limit 5000) as old
			where a.partner_id = old.partner_id and a.attempt_id = old.attempt_id`, attemptsKept)
		if err != nil {
			return n, fmt.Errorf("forget old attempts: %w", err)
		}
		if n += tag.RowsAffected(); tag.RowsAffected() < 5000 {
			return n, nil
		}
	}
}

// Event reads one event; ErrNoSuchEvent.
func (f Feed) Event(ctx context.Context, partner string, id uuid.UUID) (*Record, error) {
	return readOne(ctx, f.Pool, partner, id)
}
