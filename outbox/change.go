package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Change is something a person asks for, to be done in the transaction that writes its
// audit line.
type Change func(ctx context.Context, tx pgx.Tx) error

// Put makes or changes a subscription; changed says afterwards whether it did.
func Put(spec Spec, changed *bool) Change {
	return func(ctx context.Context, tx pgx.Tx) (err error) {
		*changed, err = PutTx(ctx, tx, spec)
		return err
	}
}

// On does it only if the subscription is still at the revision that it was asked on;
// else the error is a *MovedError, or wraps ErrNoSubscription, and nothing is done.
func On(name string, revision int64, do Change) Change {
	return func(ctx context.Context, tx pgx.Tx) error {
		var now int64
		err := tx.QueryRow(ctx, `select revision from subscription where name = $1 for update`, name).Scan(&now)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ErrNoSubscription
		case err != nil:
			return fmt.Errorf("subscription %s: %w", name, err)
		case now != revision:
			return &MovedError{Name: name, On: revision, Now: now}
		}
		return do(ctx, tx)
	}
}

// MovedError says that a subscription is not what a change was made on.
type MovedError struct {
	Name    string
	On, Now int64 // revisions
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("subscription %s is at revision %d, not %d", e.Name, e.Now, e.On)
}

// Delete ends a subscription.
func Delete(name string) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return DeleteTx(ctx, tx, name) }
}

// Pause stops a subscription, or of it one partner's events.
func Pause(name, partner, by, reason string) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return PauseTx(ctx, tx, name, partner, by, reason) }
}

// Resume lets it go on.
func Resume(name, partner string) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return ResumeTx(ctx, tx, name, partner) }
}

// Resend has one event sent again.
func Resend(name, partner string, event uuid.UUID) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return ResendTx(ctx, tx, name, partner, event) }
}

// ResendAll has everything sent again that was set aside; n says afterwards how much.
func ResendAll(name, partner string, n *int64) Change {
	return func(ctx context.Context, tx pgx.Tx) (err error) {
		*n, err = ResendAllTx(ctx, tx, name, partner)
		return err
	}
}

// Dismiss gives up an event that was set aside.
func Dismiss(name, partner string, event uuid.UUID) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return DismissTx(ctx, tx, name, partner, event) }
}

// Health is how all subscriptions stand.
type Health struct {
	Streams  int           // that there are
	Failing  int           // of them, those whose next event was not taken
	SetAside int           // events that wait for a person
	Paused   int           // subscriptions
	Shut     int           // subscriptions whose target cannot be opened
	Oldest   time.Duration // since the oldest event was written that a stream stands before, of those not paused; 0 if there is none
}

// Health counts. The stream of a partner whom a subscription no longer names is left out:
// it stands where it stood, and goes on where he is named again.
func (s Subscriptions) Health(ctx context.Context) (h Health, err error) {
	err = s.Pool.QueryRow(ctx, `
		with wanted as (
			select t.partner_id, t.subscription, t.xid, t.event_id, t.attempts, t.paused_at
			from subscription_stream t join subscription s on s.name = t.subscription
			where coalesce(s.spec->'partners', '[]') = '[]' or s.spec->'partners' ? t.partner_id)
		select (select count(*) from wanted), (select count(*) from wanted where attempts > 0),
			(select count(*) from subscription_event where state = 2),
			(select count(*) from subscription where paused_at is not null), (select count(*) from subscription where failure <> ''),
			coalesce((select max(now() - o.created_at)
				from wanted t join subscription s on s.name = t.subscription and s.paused_at is null
					cross join lateral (select created_at from outbox o
						where o.partner_id = t.partner_id and (o.xid, o.event_id) > (t.xid, t.event_id) order by o.xid, o.event_id limit 1) as o
				where t.paused_at is null), interval '0')`).Scan(&h.Streams, &h.Failing, &h.SetAside, &h.Paused, &h.Shut, &h.Oldest)
	if err != nil {
		return h, fmt.Errorf("how subscriptions stand: %w", err)
	}
	return h, nil
}
