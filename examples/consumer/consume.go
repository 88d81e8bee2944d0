package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema.sql
var schema string

// prepare makes the tables that are not there.
func prepare(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	return nil
}

// consumer has each event's effect once.
type consumer struct {
	pool     *pgxpool.Pool
	document func(ctx context.Context, id string) (document, error) // from edigw's API; errNotKept
}

// errNotKept: edigw has the document no longer, and never will.
var errNotKept = errors.New("the document is no longer kept")

// consume does what an event asks for, if that was not done before. also is done in
// the same transaction, whether it was or not; nil for nothing.
//
// Two copies at once: the second waits in its insert for the first to end. If that
// is committed, the second finds the id and does nothing; if it is rolled back, the
// second is the one.
func (c *consumer) consume(ctx context.Context, e event, also func(pgx.Tx) error) error {
	effect, err := c.effectOf(ctx, e) // before the transaction: nothing waits for the network in it
	if err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `insert into consumed_event (event_id) values ($1) on conflict do nothing`, e.ID)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			if err := effect(tx); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(tx)
	})
	if err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	return nil
}

// effectOf says what an event causes. What does not concern us causes nothing, and
// is kept like the rest: a type that is added later shall not stop us.
func (c *consumer) effectOf(ctx context.Context, e event) (func(tx pgx.Tx) error, error) {
	nothing := func(pgx.Tx) error { return nil }
	if e.Type != documentCreated && e.Type != documentSuperseded {
		return nothing, nil
	}
	var data of
	if err := json.Unmarshal(e.Data, &data); err != nil || data.Document == "" {
		return nil, fmt.Errorf("%s without a document: %s", e.Type, e.Data)
	}
	if e.Type == documentSuperseded {
		state := "replaced"
		if data.Cancelled {
			state = "cancelled"
		}
		return func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `update payable set state = $2 where document_id = $1`, data.Document, state)
			return err
		}, nil
	}
	d, err := c.document(ctx, data.Document)
	if errors.Is(err, errNotKept) { // to ask again would stop all that follows, for good
		slog.Error("an event without effect: look for its document elsewhere", "event", e.ID, "partner", e.Partner, "document", data.Document, "err", err)
		return nothing, nil
	}
	if err != nil {
		return nil, err
	}
	// One that does not stand any more is left out: what ended it may have been told
	// already, and would not be told again.
	if d.Class != "invoice" || !d.Live {
		return nothing, nil
	}
	return func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			insert into payable (document_id, partner, number, amount, currency, state)
			values ($1, $2, $3, $4::numeric, $5, 'due')`,
			d.ID, e.Partner, d.Number, cmp.Or(d.Totals.Payable, d.Totals.TaxInclusive, "0"), d.Currency)
		return err
	}, nil
}
