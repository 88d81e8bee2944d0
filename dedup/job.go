package dedup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Job is the work that a payload with pending messages waits for. Its row stands
// from the transaction that made them pending to the one that leaves none.
type Job struct {
	Ref
	SHA256   [32]byte
	Lease    uuid.UUID     // who has it; zero: nobody, or one who gave it back
	DueAt    time.Time     // next try; of one that is being done, the end of its lease
	DueIn    time.Duration // until DueAt, by the database's clock; negative: it is due
	Failures int           // runs that failed
	Passing  int           // runs in a row that failed on what passes: no attempts
	Lost     int           // leases that ran out: whoever had it has died
	Failure  string        // the last one, in words
	Since    time.Time
}

// QueueJobs makes the jobs of payloads that have pending messages now, due at once.
// The keys' rows are locked, or claimed.
func QueueJobs(b *pgx.Batch, jobs []Job) {
	n := len(jobs)
	if n == 0 {
		return
	}
	partner, message, sha := make([]string, n), make([]string, n), make(pgtype.FlatArray[[]byte], n)
	for i := range jobs {
		partner[i], message[i], sha[i] = jobs[i].Partner, jobs[i].ID, jobs[i].SHA256[:]
	}
	b.Queue(`
		insert into job (partner_id, message_id, payload_sha256)
		select partner_id, message_id, payload_sha256
		from unnest($1::text[], $2::text[], $3::bytea[]) as j (partner_id, message_id, payload_sha256)`, partner, message, sha)
}

// QueueJobLock locks a job's row and reads it; found is not called where there is
// none. The key's row is locked before it, and whoever takes jobs skips what is
// locked: so nobody waits here but for a renewal.
func QueueJobLock(b *pgx.Batch, r Ref, sha [32]byte, found func(*Job)) {
	b.Queue(`
		select `+jobColumns+` from job j
		where j.partner_id = $1 and j.message_id = $2 and j.payload_sha256 = $3
		for update`, r.Partner, r.ID, sha[:],
	).Query(func(rows pgx.Rows) error {
		jobs, err := pgx.CollectRows(rows, scanJob)
		for _, j := range jobs {
			found(j)
		}
		return err
	})
}

// QueueJobEnd ends a job, whose row is locked.
func QueueJobEnd(b *pgx.Batch, r Ref, sha [32]byte) {
	b.Queue(`delete from job where partner_id = $1 and message_id = $2 and payload_sha256 = $3`, r.Partner, r.ID, sha[:])
}

// QueueJobFailed puts off a job, whose row is locked, after a run that failed and
// was counted; passing is how many failed in a row on what should have passed.
func QueueJobFailed(b *pgx.Batch, r Ref, sha [32]byte, after time.Duration, failure string, passing int) {
	b.Queue(`
		update job set due_at = now() + $4, lease_id = null, failures = failures + 1, failure = left($5, 1000), passing = least($6::int, 32767)
		where partner_id = $1 and message_id = $2 and payload_sha256 = $3`, r.Partner, r.ID, sha[:], after, failure, passing)
}

// jobColumns are those of job j that scanJob reads.
const jobColumns = `j.partner_id, j.message_id, j.payload_sha256, j.lease_id, j.due_at, j.due_at - now(), j.failures, j.passing, j.lost, j.failure, j.since`

func scanJob(row pgx.CollectableRow) (*Job, error) {
	var j Job
	var sha []byte
	var lease pgtype.UUID
	err := row.Scan(&j.Partner, &j.ID, &sha, &lease, &j.DueAt, &j.DueIn, &j.Failures, &j.Passing, &j.Lost, &j.Failure, &j.Since)
	if err != nil {
		return nil, err
	}
	j.SHA256, j.Lease = [32]byte(sha), lease.Bytes
	return &j, nil
}

// Jobs is the work on pending messages.
type Jobs struct {
	Pool *pgxpool.Pool
}

// Due gives the partners of whom a job may be taken, in order: one look into the
// index for each partner that has jobs, however many it has.
func (s Jobs) Due(ctx context.Context) ([]string, error) {
	rows, err := s.Pool.Query(ctx, `
		with recursive first (partner_id, due_at) as (
			(select partner_id, due_at from job order by partner_id, due_at limit 1)
			union all
			select n.partner_id, n.due_at
			from first f cross join lateral (
				select j.partner_id, j.due_at from job j where j.partner_id > f.partner_id order by j.partner_id, j.due_at limit 1) as n)
		select partner_id from first where due_at <= now()`)
	if err != nil {
		return nil, fmt.Errorf("look for jobs that are due: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for jobs that are due: %w", err)
	}
	return list, nil
}

// Take leases the partner's job that is due longest to lease, for term; nil where
// none is due.
func (s Jobs) Take(ctx context.Context, partner string, lease uuid.UUID, term time.Duration) (*Job, error) {
	rows, err := s.Pool.Query(ctx, `
		with due as materialized ( -- once, whatever the plan: a subquery may be run again for each row
			select message_id, payload_sha256 from job
			where partner_id = $1 and due_at <= now()
			order by due_at limit 1
			for update skip locked)
		update job as j set lease_id = $2, due_at = now() + $3, lost = least(j.lost + (j.lease_id is not null)::int, 32767)
		from due
		where j.partner_id = $1 and j.message_id = due.message_id and j.payload_sha256 = due.payload_sha256
		returning `+jobColumns, partner, lease, term)
	if err != nil {
		return nil, fmt.Errorf("take a job of %s: %w", partner, err)
	}
	j, err := pgx.CollectExactlyOneRow(rows, scanJob)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take a job of %s: %w", partner, err)
	}
	return j, nil
}

// Renew makes the lease of j last for term from now, and reports whether it is
// still j's. One whose row is locked is being ended, and needs no more time.
func (s Jobs) Renew(ctx context.Context, j *Job, term time.Duration) (kept bool, err error) {
	var b pgx.Batch
	b.Queue(`
		update job set due_at = now() + $5
		where (partner_id, message_id, payload_sha256) in (
			select partner_id, message_id, payload_sha256 from job
			where partner_id = $1 and message_id = $2 and payload_sha256 = $3 and lease_id = $4
			for update skip locked)`, j.Partner, j.ID, j.SHA256[:], j.Lease, term)
	b.Queue(`
		select exists (select from job where partner_id = $1 and message_id = $2 and payload_sha256 = $3 and lease_id = $4)`,
		j.Partner, j.ID, j.SHA256[:], j.Lease).QueryRow(func(row pgx.Row) error { return row.Scan(&kept) })
	if err := s.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return false, fmt.Errorf("renew the lease of %s: %w", j.ID, err)
	}
	return kept, nil
}

// PutOff gives back a job of which a run failed on what passes, to be taken after a
// while. Where the lease is no longer j's nothing happens.
func (s Jobs) PutOff(ctx context.Context, j *Job, after time.Duration, failure string) error {
	_, err := s.Pool.Exec(ctx, `
		update job set due_at = now() + $5, lease_id = null, passing = least(passing + 1, 32767), failure = left($6, 1000)
		where partner_id = $1 and message_id = $2 and payload_sha256 = $3 and lease_id = $4`, j.Partner, j.ID, j.SHA256[:], j.Lease, after, failure)
	if err != nil {
		return fmt.Errorf("put off the job on %s: %w", j.ID, err)
	}
	return nil
}

// Return gives back a job that was not done, to be taken at once. It is no failed
// run. Where the lease is no longer j's nothing happens.
func (s Jobs) Return(ctx context.Context, j *Job) error {
	_, err := s.Pool.Exec(ctx, `
		update job set due_at = now(), lease_id = null
		where partner_id = $1 and message_id = $2 and payload_sha256 = $3 and lease_id = $4`, j.Partner, j.ID, j.SHA256[:], j.Lease)
	if err != nil {
		return fmt.Errorf("give back the job on %s: %w", j.ID, err)
	}
	return nil
}

// Drop ends a job under whose payload nothing is pending, and reports whether it
// was there, with j's lease.
func (s Jobs) Drop(ctx context.Context, j *Job) (bool, error) {
	tag, err := s.Pool.Exec(ctx, `delete from job where partner_id = $1 and message_id = $2 and payload_sha256 = $3 and lease_id = $4`,
		j.Partner, j.ID, j.SHA256[:], j.Lease)
	if err != nil {
		return false, fmt.Errorf("drop the job on %s: %w", j.ID, err)
	}
	return tag.RowsAffected() > 0, nil
}

// Of reads the jobs on payloads under keys of a partner.
func (s Jobs) Of(ctx context.Context, partner string, messageIDs []string) ([]*Job, error) {
	rows, err := s.Pool.Query(ctx, `
		select `+jobColumns+` from job j
		where j.partner_id = $1 and j.message_id = any($2)
		order by j.message_id, j.payload_sha256`, partner, messageIDs)
	if err != nil {
		return nil, fmt.Errorf("read jobs of %s: %w", partner, err)
	}
	jobs, err := pgx.CollectRows(rows, scanJob)
	if err != nil {
		return nil, fmt.Errorf("read jobs of %s: %w", partner, err)
	}
	return jobs, nil
}

// Waiting is how much work waits of one partner.
type Waiting struct {
	Partner string
	Jobs    int
	Failed  int           // of them, that failed at least once
	Oldest  time.Duration // since the oldest was received
}

// Waiting counts the jobs there are, by partner.
func (s Jobs) Waiting(ctx context.Context) ([]Waiting, error) {
	rows, err := s.Pool.Query(ctx, `
		select partner_id, count(*), count(*) filter (where failures > 0 or passing > 0), now() - min(since)
		from job group by partner_id order by partner_id`)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Waiting, err error) {
		return w, row.Scan(&w.Partner, &w.Jobs, &w.Failed, &w.Oldest)
	})
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	return list, nil
}
