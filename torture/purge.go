package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// purged is where a purge notes, in its own transaction, what it removed: the
// checker has to know which keys may be gone.
const purged = `
	create schema torture;
	create table torture.purged (partner_id text collate "C" not null, message_id text collate "C" not null)`

var errPassedBy = errors.New("another transaction has one of the keys, or something is held under it")

// purge forgets the keys, as a purge does by docs/reference/outcomes.md: those on
// which nothing is held, locked in key order, past what another transaction has.
// It takes all of them or none, so that the key of a transport id goes with what
// it carried.
func (r *run) purge(keys ...ref) {
	slices.SortFunc(keys, func(a, b ref) int {
		if c := strings.Compare(a.partner, b.partner); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	for range 8 {
		for _, k := range keys {
			r.ledger.ask(&act{key: k, person: "purge", decision: "purge", asked: time.Now()}) // its end is not known: status 0
		}
		if r.purgeOnce(keys) == nil {
			return
		}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r *run) purgeOnce(keys []ref) error {
	ctx, cancel := context.WithTimeout(r.ctx, 5*time.Second)
	defer cancel()
	return pgx.BeginFunc(ctx, r.machine.site.Pool, func(tx pgx.Tx) error {
		for _, k := range keys {
			var one int
			err := tx.QueryRow(ctx, `
				select 1 from inbox where partner_id = $1 and message_id = $2 and hold = 0 for update skip locked`, k.partner, k.id).Scan(&one)
			if errors.Is(err, pgx.ErrNoRows) {
				return errPassedBy
			}
			if err != nil {
				return err
			}
		}
		for _, k := range keys {
			for _, sql := range []string{
				`delete from variant where partner_id = $1 and message_id = $2`,
				`delete from message_state where partner_id = $1 and message_id = $2`,
				`delete from inbox where partner_id = $1 and message_id = $2`,
				`insert into torture.purged (partner_id, message_id) values ($1, $2)`,
			} {
				if _, err := tx.Exec(ctx, sql, k.partner, k.id); err != nil {
					return fmt.Errorf("purge %s: %w", k, err)
				}
			}
		}
		return nil
	})
}

// drain has the workers do what is still pending, without waiting for the times
// to which it was put off, and says so if it does not end.
func (r *run) drain() error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	left := -1
	for {
		err := r.machine.site.Pool.QueryRow(ctx, `
			with hurried as (update job set due_at = now() where due_at > now() and lease_id is null)
			select count(*) from job`).Scan(&left)
		if err == nil && left == 0 {
			return nil
		}
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-ctx.Done():
			r.findings.add("liveness", ref{}, "%d deferred payloads are still pending after %v", left, patience)
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}
