package purge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ErrNoRun: there is no run of that id, or no report of it any more.
var ErrNoRun = errors.New("there is no such run")

// Runs lists runs, the latest first, those that began before one. The steps of each are
// those of all partners together: there may be ten thousand.
func (p *Purger) Runs(ctx context.Context, before uuid.UUID, limit int) ([]Report, error) {
	rows, err := p.Pool.Query(ctx, `
		select run_id, started_at, ended_at, state, node, started_by, resumes, reason
		from purge_run
		where $1::uuid = '00000000-0000-0000-0000-000000000000' or (started_at, run_id) < (select b.started_at, b.run_id from purge_run b where b.run_id = $1::uuid)
		order by started_at desc, run_id desc limit $2`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list purge runs: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanRun)
	if err != nil {
		return nil, fmt.Errorf("list purge runs: %w", err)
	}
	of := map[uuid.UUID]*Report{}
	ids := make([]uuid.UUID, len(list))
	for i := range list {
		list[i].Steps = []Step{}
		ids[i], of[list[i].ID] = list[i].ID, &list[i]
	}
	rows, err = p.Pool.Query(ctx, `
		select run_id, kind, reason, sum(rows)::bigint, sum(bytes)::bigint
		from purge_step where run_id = any($1) group by run_id, kind, reason order by run_id, kind, reason`, ids)
	if err != nil {
		return nil, fmt.Errorf("read what purge runs did: %w", err)
	}
	var run uuid.UUID
	var s Step
	if _, err := pgx.ForEachRow(rows, []any{&run, &s.Kind, &s.Reason, &s.Rows, &s.Bytes}, func() error {
		of[run].Steps = append(of[run].Steps, s)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read what purge runs did: %w", err)
	}
	return list, nil
}

func scanRun(row pgx.CollectableRow) (r Report, err error) {
	return r, row.Scan(&r.ID, &r.Started, &r.Ended, &r.State, &r.Node, &r.By, &r.Resumes, &r.Reason)
}

// Get gives a run with its steps by partner. The error wraps ErrNoRun where there is none.
func (p *Purger) Get(ctx context.Context, run uuid.UUID) (*Report, error) {
	rows, err := p.Pool.Query(ctx, `
		select run_id, started_at, ended_at, state, node, started_by, resumes, reason from purge_run where run_id = $1`, run)
	if err != nil {
		return nil, fmt.Errorf("read purge run %s: %w", run, err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRun)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("run %s: %w", run, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("read purge run %s: %w", run, err)
	}
	r.Steps, err = p.stepsOf(ctx, run)
	return &r, err
}

// Standing is how the purge stands, for who watches.
type Standing struct {
	State
	Last    string        // state of the run that began last; "" where there was none
	LastWas time.Time     // when it began
	Took    time.Duration // of the run that ended last
	Success time.Time     // when the last one ended that did all; zero: none did
	Late    time.Duration // since the day has passed of the key that is due longest
	Now     time.Time     // the database's
}

// Refuses reports whether nothing is purged until a person has done something.
func (s *Standing) Refuses() bool { return s.JumpedFrom != nil || s.Last == Refused }

// tryAgain is how long after a run that did not do all the next one begins by itself.
const tryAgain = time.Hour

// Due reports whether a run is to begin by itself where one is to every so often. One that
// a node did not live to end is gone on with at once.
func (s *Standing) Due(every time.Duration) bool {
	since := s.Now.Sub(s.LastWas)
	switch {
	case s.Run != nil, s.PausedAt != nil:
		return false
	case s.Last == "", s.Last == Running, since < 0: // since: the clock was set back
		return true
	case s.Last == Done:
		return since >= every
	}
	return since >= min(every, tryAgain)
}

// Standing reads it.
func (p *Purger) Standing(ctx context.Context) (s Standing, err error) {
	if s.State, err = p.State(ctx); err != nil {
		return s, err
	}
	var took, late float64
	var was, success *time.Time
	err = p.Pool.QueryRow(ctx, `
		select now(),
			coalesce((select state from purge_run where started_at <= now() order by started_at desc, run_id desc limit 1), ''),
			(select max(started_at) from purge_run where started_at <= now()), -- none that a wrong clock has put into the future
			coalesce((select extract(epoch from ended_at - started_at) from purge_run where ended_at is not null and started_at <= now() order by started_at desc limit 1), 0)::float8,
			(select max(ended_at) from purge_run where state = 'done'),
			greatest(coalesce(extract(epoch from now() - ($1::date + 1)::timestamp at time zone 'utc'), 0), 0)::float8`, s.OldestDue,
	).Scan(&s.Now, &s.Last, &was, &took, &success, &late)
	if err != nil {
		return s, fmt.Errorf("read how the purge stands: %w", err)
	}
	if was != nil {
		s.LastWas = *was
	}
	if success != nil {
		s.Success = *success
	}
	s.Took, s.Late = time.Duration(took*float64(time.Second)), time.Duration(late*float64(time.Second))
	return s, nil
}
