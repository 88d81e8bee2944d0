package purge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// Step is what went of a partner of one kind, or what stayed for one reason.
type Step struct {
	Partner string `json:"partner,omitempty"`
	Kind    string `json:"kind"`             // keys, variants, guards, payloads, …
	Reason  string `json:"reason,omitempty"` // why they stayed; "": they went
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"` // of the columns as they are stored; headers of rows and indexes are extra
}

// Kinds are what may go, as reports call it.
var Kinds = []string{
	"keys", "variants", "message_states", "alerts", "drift_copies", "guards", "sent_acknowledgements", "answers",
	"documents", "document_lines", "document_packages", "payloads", "evidence", "acknowledgements", "deliveries", "events",
}

// States of a run.
const (
	Running = "running"
	Done    = "done"
	Refused = "refused" // nothing was done: Report.Reason says why
	Failed  = "failed"
	Stopped = "stopped" // by a pause, the end of the process, or another node that took the lease
)

// Report is what a run did.
type Report struct {
	ID      uuid.UUID  `json:"run_id"`
	Started time.Time  `json:"started_at"`
	Ended   *time.Time `json:"ended_at,omitempty"`
	State   string     `json:"state"`
	Node    string     `json:"node"`
	By      string     `json:"started_by,omitempty"` // "" is the gateway itself
	Resumes *uuid.UUID `json:"resumes,omitempty"`    // a run that was cut off
	Reason  string     `json:"reason,omitempty"`
	Steps   []Step     `json:"steps"`
}

// tally adds up what goes and what stays.
type tally map[Step]months.Has // Step without Rows and Bytes

func (t tally) add(partner, kind, reason string, h months.Has) {
	if h.Rows == 0 {
		return
	}
	k := Step{Partner: partner, Kind: kind, Reason: reason}
	was := t[k]
	t[k] = months.Has{Rows: was.Rows + h.Rows, Bytes: was.Bytes + h.Bytes}
}

func (t tally) goes(has map[string]map[string]months.Has) {
	for partner, kinds := range has {
		for kind, h := range kinds {
			t.add(partner, kind, "", h)
		}
	}
}

// steps lists a tally by partner, kind and reason.
func (t tally) steps() []Step {
	list := make([]Step, 0, len(t))
	for _, k := range slices.SortedFunc(maps.Keys(t), compareSteps) {
		h := t[k]
		k.Rows, k.Bytes = h.Rows, h.Bytes
		list = append(list, k)
	}
	return list
}

func compareSteps(a, b Step) int {
	return cmp.Or(cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
}

// note writes what a transaction did into the run's report, in that transaction: what the
// report says is what was committed.
func (t tally) note(ctx context.Context, tx pgx.Tx, run uuid.UUID) error {
	if len(t) == 0 {
		return nil
	}
	var partner, kind, reason []string
	var rows, bytes []int64
	for _, s := range t.steps() { // in order: two transactions never wait for each other
		partner, kind, reason = append(partner, s.Partner), append(kind, s.Kind), append(reason, s.Reason)
		rows, bytes = append(rows, s.Rows), append(bytes, s.Bytes)
	}
	if _, err := tx.Exec(ctx, `
		insert into purge_step as s (run_id, partner_id, kind, reason, rows, bytes)
		select $1, unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::bigint[]), unnest($6::bigint[])
		on conflict (run_id, partner_id, kind, reason) do update set rows = s.rows + excluded.rows, bytes = s.bytes + excluded.bytes`,
		run, partner, kind, reason, rows, bytes); err != nil {
		return fmt.Errorf("note what went: %w", err)
	}
	return nil
}

// Reports gives the last runs, the latest first, with what they did.
func (p *Purger) Reports(ctx context.Context, before time.Time, limit int) ([]Report, error) {
	if before.IsZero() {
		before = time.Now().AddDate(1000, 0, 0)
	}
	rows, err := p.Pool.Query(ctx, `
		select run_id, started_at, ended_at, state, node, started_by, resumes, reason
		from purge_run where started_at < $1 order by started_at desc limit $2`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list purge runs: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Report, err error) {
		return r, row.Scan(&r.ID, &r.Started, &r.Ended, &r.State, &r.Node, &r.By, &r.Resumes, &r.Reason)
	})
	if err != nil {
		return nil, fmt.Errorf("list purge runs: %w", err)
	}
	for i := range list {
		if list[i].Steps, err = p.stepsOf(ctx, list[i].ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (p *Purger) stepsOf(ctx context.Context, run uuid.UUID) ([]Step, error) {
	rows, err := p.Pool.Query(ctx, `
		select partner_id, kind, reason, rows, bytes from purge_step where run_id = $1 order by partner_id, kind, reason`, run)
	if err != nil {
		return nil, fmt.Errorf("read purge run %s: %w", run, err)
	}
	steps, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Step, err error) {
		return s, row.Scan(&s.Partner, &s.Kind, &s.Reason, &s.Rows, &s.Bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("read purge run %s: %w", run, err)
	}
	return steps, nil
}

// reportsKept is how long reports of runs are kept.
const reportsKept = `interval '400 days'`

// forgetReports deletes reports that are older, and never this run's.
func (w *run) forgetReports(ctx context.Context) error {
	if _, err := w.Pool.Exec(ctx, `
		with old as (delete from purge_run where started_at < now() - `+reportsKept+` and run_id <> $1 returning run_id)
		delete from purge_step where run_id in (select run_id from old)`, w.id); err != nil {
		return fmt.Errorf("forget purge runs: %w", err)
	}
	return nil
}
