package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Subscription is somebody who is told of events and notices, and how he stands.
type Subscription struct {
	Spec
	Revision int        `json:"revision"` // counts changes of the spec
	Paused   *time.Time `json:"paused_at,omitempty"`
	PausedBy string     `json:"paused_by,omitempty"` // "" where the gateway did it
	Reason   string     `json:"reason,omitempty"`
	Failure  string     `json:"failure,omitempty"` // why a process cannot open its target
	Created  time.Time  `json:"created_at"`
	Changed  time.Time  `json:"changed_at"`
}

// Subscriptions keeps who is told, and reads how far each has come.
type Subscriptions struct {
	Pool *pgxpool.Pool
}

// Errors of what a person asks for.
var (
	ErrNoSubscription = errors.New("there is no subscription of that name")
	ErrNoSuchEvent    = errors.New("there is no such event, or it is no longer kept")
	ErrNotSetAside    = errors.New("no such event was set aside")
)

const subscriptionColumns = `s.spec, s.revision, s.paused_at, s.paused_by, s.reason, s.failure, s.created_at, s.changed_at`

func scanSubscription(row pgx.CollectableRow) (*Subscription, error) {
	var s Subscription
	var spec []byte
	if err := row.Scan(&spec, &s.Revision, &s.Paused, &s.PausedBy, &s.Reason, &s.Failure, &s.Created, &s.Changed); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(spec, &s.Spec); err != nil {
		return nil, fmt.Errorf("stored subscription: %w", err)
	}
	return &s, nil
}

// List gives all subscriptions by name.
func (s Subscriptions) List(ctx context.Context) ([]*Subscription, error) {
	rows, err := s.Pool.Query(ctx, `select `+subscriptionColumns+` from subscription s order by s.name`)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanSubscription)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	return list, nil
}

// Get gives one; ErrNoSubscription.
func (s Subscriptions) Get(ctx context.Context, name string) (*Subscription, error) {
	rows, err := s.Pool.Query(ctx, `select `+subscriptionColumns+` from subscription s where s.name = $1`, name)
	if err != nil {
		return nil, fmt.Errorf("subscription %s: %w", name, err)
	}
	sub, err := pgx.CollectExactlyOneRow(rows, scanSubscription)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoSubscription
	}
	if err != nil {
		return nil, fmt.Errorf("subscription %s: %w", name, err)
	}
	return sub, nil
}

// PutTx makes a subscription, or changes it, in tx. A new one begins where its From
// says; a changed one goes on where it stands. It reports whether anything changed. The
// error is a SpecFault where the spec is wrong.
func PutTx(ctx context.Context, tx pgx.Tx, spec Spec) (changed bool, err error) {
	if err := spec.Complete(); err != nil {
		return false, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return false, fmt.Errorf("subscription %s: %w", spec.Name, err)
	}
	tag, err := tx.Exec(ctx, `
		insert into subscription as s (name, spec, from_xid)
		values ($1, $2, case when $3 then '0'::xid8 else pg_snapshot_xmin(pg_current_snapshot()) end)
		on conflict (name) do update set spec = $2, revision = s.revision + 1, failure = '', changed_at = now()
		where s.spec <> $2`, spec.Name, text, spec.From == FromBeginning)
	if err != nil {
		return false, fmt.Errorf("subscription %s: %w", spec.Name, err)
	}
	return tag.RowsAffected() > 0, nil
}

// DeleteTx ends a subscription with all it knew; ErrNoSubscription. Its delivery log stays
// as long as every other: it tells what was sent where, and may be millions of rows.
func DeleteTx(ctx context.Context, tx pgx.Tx, name string) error {
	for _, sql := range []string{
		`delete from subscription where name = $1`,
		`delete from subscription_stream where subscription = $1`,
		`delete from subscription_event where subscription = $1`,
	} {
		tag, err := tx.Exec(ctx, sql, name)
		if err != nil {
			return fmt.Errorf("delete subscription %s: %w", name, err)
		}
		if tag.RowsAffected() == 0 && sql == `delete from subscription where name = $1` {
			return ErrNoSubscription
		}
	}
	return nil
}

// PauseTx stops a subscription, or of it one partner's events; what is on its way
// still arrives. ErrNoSubscription.
func PauseTx(ctx context.Context, tx pgx.Tx, name, partner, by, reason string) error {
	if partner == "" {
		return onSubscription(ctx, tx, name, `update subscription set paused_at = coalesce(paused_at, now()), paused_by = $2, reason = $3 where name = $1`, by, reason)
	}
	return onSubscription(ctx, tx, name, `
		insert into subscription_stream as t (partner_id, subscription, xid, event_id, paused_at, failure)
		select $2, s.name, s.from_xid, '00000000-0000-0000-0000-000000000000', now(), $3 from subscription s where s.name = $1
		on conflict (partner_id, subscription) do update set paused_at = coalesce(t.paused_at, now()), failure = $3`, partner, reason)
}

// ResumeTx lets it go on where it stands, at once. ErrNoSubscription.
func ResumeTx(ctx context.Context, tx pgx.Tx, name, partner string) error {
	if partner == "" {
		if err := onSubscription(ctx, tx, name, `update subscription set paused_at = null, paused_by = '', reason = '' where name = $1`); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `
		update subscription_stream set paused_at = case when $2 = '' then paused_at end, due_at = case when lease_id is null then now() else due_at end
		where subscription = $1 and ($2 = '' or partner_id = $2)`, name, partner)
	if err != nil {
		return fmt.Errorf("resume %s: %w", name, err)
	}
	return nil
}

// onSubscription runs a statement whose $1 is the name and that touches one row where
// there is one.
func onSubscription(ctx context.Context, tx pgx.Tx, name, sql string, args ...any) error {
	tag, err := tx.Exec(ctx, sql, append([]any{name}, args...)...)
	if err != nil {
		return fmt.Errorf("subscription %s: %w", name, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoSubscription
	}
	return nil
}

// note writes why this process cannot open the target; "" takes it back.
func (s Subscriptions) note(ctx context.Context, name string, revision int, failure string) error {
	_, err := s.Pool.Exec(ctx, `update subscription set failure = left($3, 1000) where name = $1 and revision = $2 and failure <> left($3, 1000)`, name, revision, failure)
	if err != nil {
		return fmt.Errorf("note the failure of subscription %s: %w", name, err)
	}
	return nil
}

// stop pauses a subscription whose target asked for it.
func (s Subscriptions) stop(ctx context.Context, name, reason string) error {
	_, err := s.Pool.Exec(ctx, `update subscription set paused_at = now(), paused_by = '', reason = left($2, 1000) where name = $1 and paused_at is null`, name, reason)
	if err != nil {
		return fmt.Errorf("pause subscription %s: %w", name, err)
	}
	return nil
}

// Stream is how far one partner's events have come at one subscription.
type Stream struct {
	Partner      string     `json:"partner"`
	Subscription string     `json:"subscription"`
	Sent         int64      `json:"sent"`
	SentAt       *time.Time `json:"sent_at,omitempty"`
	Attempts     int        `json:"attempts"` // that failed in a row
	Failure      string     `json:"failure,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	Next         *time.Time `json:"next_try,omitempty"` // where it failed
	Paused       *time.Time `json:"paused_at,omitempty"`
	SetAside     int        `json:"set_aside"`
	OldestUnsent *time.Time `json:"oldest_unsent_at,omitempty"` // of any type, since the subscription has not looked at it yet
}

// Streams gives those of a subscription, "" of all, by partner.
func (s Subscriptions) Streams(ctx context.Context, name string) ([]*Stream, error) {
	rows, err := s.Pool.Query(ctx, `
		select t.partner_id, t.subscription, t.sent, t.sent_at, t.attempts, t.failure, t.failing_since,
			case when t.attempts > 0 then t.due_at end, t.paused_at,
			(select count(*) from subscription_event e where e.partner_id = t.partner_id and e.subscription = t.subscription and e.state = 2),
			(select o.created_at from outbox o where o.partner_id = t.partner_id and (o.xid, o.event_id) > (t.xid, t.event_id) order by o.xid, o.event_id limit 1)
		from subscription_stream t
		where $1 = '' or t.subscription = $1
		order by t.subscription, t.partner_id`, name)
	if err != nil {
		return nil, fmt.Errorf("streams of %s: %w", name, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Stream, error) {
		var t Stream
		return &t, row.Scan(&t.Partner, &t.Subscription, &t.Sent, &t.SentAt, &t.Attempts, &t.Failure, &t.FailingSince, &t.Next, &t.Paused, &t.SetAside, &t.OldestUnsent)
	})
	if err != nil {
		return nil, fmt.Errorf("streams of %s: %w", name, err)
	}
	return list, nil
}
