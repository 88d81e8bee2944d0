package habits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// Gap is numbers of a series that did not come: lost files.
type Gap struct {
	Partner    string     `json:"partner"`
	ID         uuid.UUID  `json:"gap_id"`
	Series     string     `json:"series"`
	Test       bool       `json:"test"`
	References []string   `json:"references"` // all that were missing
	Missing    []string   `json:"missing"`    // those that still are
	Before     string     `json:"before"`     // the neighbours
	After      string     `json:"after"`
	Since      time.Time  `json:"since"` // when the one behind it came
	Opened     time.Time  `json:"opened_at"`
	Closed     *time.Time `json:"closed_at,omitempty"`
	Cause      string     `json:"cause,omitempty"` // arrived or dismissed
	By         string     `json:"closed_by,omitempty"`
	Reason     string     `json:"reason,omitempty"`

	numbers, missing []int64
	width            int16
	touched          bool
}

// The causes of a gap's end.
const (
	Arrived   = "arrived"
	Dismissed = "dismissed"
)

const gapColumns = `partner_id, gap_id, series, test, numbers, missing, width, before, after, since, opened_at, closed_at, cause, closed_by, reason`

func scanGap(row pgx.CollectableRow) (*Gap, error) {
	var g Gap
	err := row.Scan(&g.Partner, &g.ID, &g.Series, &g.Test, &g.numbers, &g.missing, &g.width, &g.Before, &g.After, &g.Since, &g.Opened, &g.Closed, &g.Cause, &g.By, &g.Reason)
	g.name()
	return &g, err
}

// name writes the numbers as references.
func (g *Gap) name() {
	g.References, g.Missing = []string{}, []string{}
	for _, n := range g.numbers {
		g.References = append(g.References, written(g.Series, n, int(g.width)))
	}
	for _, n := range g.missing {
		g.Missing = append(g.Missing, written(g.Series, n, int(g.width)))
	}
	g.Since, g.Opened = g.Since.UTC(), g.Opened.UTC()
	if g.Closed != nil {
		at := g.Closed.UTC()
		g.Closed = &at
	}
}

// came takes a number out of what is missing; with the last one the gap is closed.
func (g *Gap) came(n int64, at time.Time) {
	g.missing = slices.DeleteFunc(g.missing, func(m int64) bool { return m == n })
	g.touched = true
	if len(g.missing) == 0 {
		g.Closed, g.Cause = &at, Arrived
	}
	g.name()
}

type gaps []*Gap

// of gives the open gap in which a reference is missing.
func (list gaps) of(r Reference) *Gap {
	for _, g := range list {
		if g.Series == r.Series && g.Closed == nil && slices.Contains(g.missing, r.Number) {
			return g
		}
	}
	return nil
}

// openGaps gives the open gaps of series, and locks them: a person may dismiss one.
func openGaps(ctx context.Context, tx pgx.Tx, partner string, series []string) (gaps, error) {
	rows, err := tx.Query(ctx, `
		select `+gapColumns+` from sequence_gap
		where partner_id = $1 and series = any($2) and closed_at is null
		order by gap_id
		for update`, partner, series)
	if err != nil {
		return nil, fmt.Errorf("read gaps: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanGap)
	if err != nil {
		return nil, fmt.Errorf("read gaps: %w", err)
	}
	return list, nil
}

// write writes what has become of a gap, and tells its end.
func (w *Watcher) write(ctx context.Context, tx pgx.Tx, p *partners.Partner, g *Gap) error {
	_, err := tx.Exec(ctx, `update sequence_gap set missing = $3, closed_at = $4, cause = $5 where partner_id = $1 and gap_id = $2`,
		g.Partner, g.ID, g.missing, g.Closed, g.Cause)
	if err != nil {
		return fmt.Errorf("write gap %s: %w", g.ID, err)
	}
	if g.Closed == nil || g.Test {
		return nil
	}
	return queueEvent(ctx, tx, closedEvent(g, w.NewID(), eventMonth(w.Now(), p)))
}

// miss opens gaps for the numbers of a partner that have had their time. The inbox is asked
// whether they did come: the journal may have shown one too late to be read.
func (w *Watcher) miss(ctx context.Context, p *partners.Partner, now time.Time) error {
	return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		if _, err := lockHabit(ctx, tx, p.ID, now); err != nil { // one at a time changes a partner's series
			return err
		}
		rows, err := tx.Query(ctx, `select series, state from habit_series where partner_id = $1 and due_at <= $2`, p.ID, now)
		if err != nil {
			return fmt.Errorf("read series: %w", err)
		}
		due, err := collectSeries(rows)
		if err != nil {
			return err
		}
		for name, s := range due {
			for _, list := range s.due(now) {
				if err := w.open(ctx, tx, p, name, s.Width, list, now); err != nil {
					return err
				}
			}
			if err := writeSeries(ctx, tx, p.ID, name, s, time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Watcher) open(ctx context.Context, tx pgx.Tx, p *partners.Partner, name string, width int, list []Missing, now time.Time) error {
	since := list[0].At
	if now.Sub(since) > oldestGap {
		return nil
	}
	keys := make([]string, len(list))
	for i, m := range list {
		keys[i] = keyOf(name, m.N, width)
	}
	there, err := dedup.SeenSince(ctx, tx, p.ID, keys, since.Add(-longestSettle))
	if err != nil {
		return err
	}
	g := &Gap{Partner: p.ID, ID: w.NewID(), Series: name, Test: isTest(name), width: int16(width), Since: since, Opened: now,
		Before: written(name, list[0].Before, width), After: written(name, list[0].After, width)}
	for i, m := range list {
		if !there[keys[i]] {
			g.numbers = append(g.numbers, m.N)
		}
	}
	if len(g.numbers) == 0 {
		return nil
	}
	g.missing = g.numbers
	g.name()
	_, err = tx.Exec(ctx, `
		insert into sequence_gap (partner_id, gap_id, series, test, numbers, missing, width, before, after, since, opened_at)
		values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10)`,
		g.Partner, g.ID, g.Series, g.Test, g.numbers, g.width, g.Before, g.After, g.Since, g.Opened)
	if err != nil {
		return fmt.Errorf("open a gap: %w", err)
	}
	if g.Test {
		return nil // test interchanges cause no events
	}
	return queueEvent(ctx, tx, gapEvent(g, w.NewID(), eventMonth(now, p)))
}

// Store reads habits and gaps for people: the API, the metrics, the command line.
type Store struct {
	Pool *pgxpool.Pool
}

// GapFilter narrows Gaps. Zero fields take everything.
type GapFilter struct {
	Partner string
	State   string // open, closed
	Before  *GapRef
	Limit   int
}

// GapRef names a gap.
type GapRef struct {
	Partner string
	ID      uuid.UUID
}

// Gaps lists gaps, the latest first.
func (s Store) Gaps(ctx context.Context, f GapFilter) ([]*Gap, error) {
	var id *uuid.UUID
	var partner string
	if f.Before != nil {
		id, partner = &f.Before.ID, f.Before.Partner
	}
	rows, err := s.Pool.Query(ctx, `
		select `+gapColumns+` from sequence_gap
		where ($1 = '' or partner_id = $1 collate "C") and ($2 = '' or (closed_at is null) = ($2 = 'open'))
			and ($3::uuid is null or (gap_id, partner_id) < ($3, $4 collate "C"))
		order by gap_id desc, partner_id desc
		limit $5`, f.Partner, f.State, id, partner, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list gaps: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanGap)
	if err != nil {
		return nil, fmt.Errorf("list gaps: %w", err)
	}
	return list, nil
}

// Dismiss closes an open gap by hand: nothing was lost, or it is known what became of it.
// ErrNoGap.
func Dismiss(p *partners.Partner, id uuid.UUID, person, reason string, now time.Time, event uuid.UUID) outbox.Change {
	return func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			update sequence_gap set closed_at = $3, cause = 'dismissed', closed_by = $4, reason = $5
			where partner_id = $1 and gap_id = $2 and closed_at is null
			returning `+gapColumns, p.ID, id, now, person, strings.TrimSpace(reason))
		if err != nil {
			return fmt.Errorf("dismiss gap %s: %w", id, err)
		}
		g, err := pgx.CollectExactlyOneRow(rows, scanGap)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoGap
		}
		if err != nil {
			return fmt.Errorf("dismiss gap %s: %w", id, err)
		}
		if g.Test {
			return nil
		}
		return queueEvent(ctx, tx, closedEvent(g, event, eventMonth(now, p)))
	}
}
