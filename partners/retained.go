package partners

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// WindowChange is how long a window that was made shorter goes on as it was: whoever
// did it by mistake has so long to take it back before anything goes.
const WindowChange = 7 * 24 * time.Hour

func (s RetentionSpec) windows() Retention {
	return Retention{
		DedupWindow:      s.DedupWindow.Duration(),
		RetryWindow:      s.RetryWindow.Duration(),
		Payloads:         s.Payloads.Duration(),
		Acknowledgements: s.Acknowledgements.Duration(),
		Quarantine:       s.Quarantine.Duration(),
		Deliveries:       s.Deliveries.Duration(),
		Invoices:         s.Documents.Invoice.Duration(),
		Despatches:       s.Documents.Despatch.Duration(),
		OtherDocuments:   s.Documents.Other.Duration(),
		LegalHold:        s.LegalHold,
	}
}

// Retained is how long what is kept of a partner is kept.
type Retained struct {
	Set     Retention // as it is written now
	InForce Retention // each window the longest of the last WindowChange
	From    time.Time // when all of Set is in force; zero where it is
	history []dated   // the oldest first
}

type dated struct {
	from time.Time
	Retention
}

// Ever gives the windows that the partner has and ever had, each once, and the longest that
// were in force in the grace of a change: what is kept of it was written, or moved, by one
// of them.
func (r *Retained) Ever() []Retention {
	list := []Retention{r.InForce}
	for _, d := range r.history {
		if !slices.Contains(list, d.Retention) {
			list = append(list, d.Retention)
		}
	}
	return list
}

// With is what would be in force under other windows, once their grace has passed.
func (r *Retained) With(set Retention) *Retained {
	return &Retained{Set: set, InForce: set, history: r.history}
}

// longer makes each window at least what it is in o. A class of documents that is kept
// for good has no longer one.
func (r *Retention) longer(o Retention) {
	for _, w := range []struct{ mine, other *time.Duration }{
		{&r.DedupWindow, &o.DedupWindow}, {&r.RetryWindow, &o.RetryWindow}, {&r.Payloads, &o.Payloads},
		{&r.Acknowledgements, &o.Acknowledgements}, {&r.Quarantine, &o.Quarantine}, {&r.Deliveries, &o.Deliveries},
	} {
		*w.mine = max(*w.mine, *w.other)
	}
	for _, w := range []struct{ mine, other *time.Duration }{
		{&r.Invoices, &o.Invoices}, {&r.Despatches, &o.Despatches}, {&r.OtherDocuments, &o.OtherDocuments},
	} {
		if *w.mine != 0 && *w.other != 0 {
			*w.mine = max(*w.mine, *w.other)
		} else {
			*w.mine = 0
		}
	}
}

// Retentions are the windows of all partners at one moment of the database, of those
// that were removed as they were last.
type Retentions struct {
	Now      time.Time // the database's
	Counter  int64     // of the configuration
	Partners map[string]*Retained
}

// ErrUnknownRetention: a retention that is stored says what this program does not
// understand, as one of a newer program's may. What it means for the rest is not known
// either, so that nothing may be purged by it.
var ErrUnknownRetention = errors.New("a stored retention has a setting that this program does not know")

// Retentions reads the windows. The error wraps ErrUnknownRetention where one of them
// cannot be read whole.
func (s *Store) Retentions(ctx context.Context) (*Retentions, error) {
	r := &Retentions{Partners: map[string]*Retained{}}
	err := s.atOnce(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `select now(), counter from configuration`).Scan(&r.Now, &r.Counter); err != nil {
			return fmt.Errorf("read configuration counter: %w", err)
		}
		rows, err := tx.Query(ctx, `
			select partner_id, applied_at, coalesce(spec->>'preset', ''), spec->'retention'
			from partner_revision order by partner_id, revision`)
		if err := r.take(rows, err); err != nil {
			return err
		}
		// A partner that stands here without a revision is from before there were any.
		rows, err = tx.Query(ctx, `
			select p.partner_id, p.applied_at, coalesce(p.spec->>'preset', ''), p.spec->'retention'
			from partner p
			where not exists (select from partner_revision r where r.partner_id = p.partner_id)`)
		return r.take(rows, err)
	})
	if err != nil {
		return nil, fmt.Errorf("read retentions: %w", err)
	}
	for _, p := range r.Partners {
		p.settle(r.Now)
	}
	return r, nil
}

func (r *Retentions) take(rows pgx.Rows, err error) error {
	if err != nil {
		return err
	}
	var partner, preset string
	var from time.Time
	var stored []byte
	_, err = pgx.ForEachRow(rows, []any{&partner, &from, &preset, &stored}, func() error {
		spec := DefaultsOf(preset).Retention
		if stored != nil {
			d := json.NewDecoder(bytes.NewReader(stored))
			d.DisallowUnknownFields()
			if err := d.Decode(&spec); err != nil {
				return fmt.Errorf("%w: partner %s: %w", ErrUnknownRetention, partner, err)
			}
		}
		p := r.Partners[partner]
		if p == nil {
			p = &Retained{}
			r.Partners[partner] = p
		}
		if n := len(p.history); n == 0 || p.history[n-1].Retention != spec.windows() {
			p.history = append(p.history, dated{from, spec.windows()})
		}
		return nil
	})
	return err
}

// settle says what is in force at now: of each window the longest that was written in
// the time of grace, and a legal hold that stood in it.
func (p *Retained) settle(now time.Time) {
	last := p.history[len(p.history)-1]
	p.Set, p.InForce = last.Retention, last.Retention
	for i, d := range p.history[:len(p.history)-1] {
		if ended := p.history[i+1].from; ended.After(now.Add(-WindowChange)) {
			before := p.InForce
			p.InForce.longer(d.Retention)
			p.InForce.LegalHold = p.InForce.LegalHold || d.LegalHold // taken away by mistake, it holds on as long
			if p.InForce != before || p.InForce != p.Set {
				p.From = ended.Add(WindowChange)
			}
		}
	}
	if p.InForce == p.Set {
		p.From = time.Time{}
	}
}

// Counter gives the number that every change of the configuration moves.
func Counter(ctx context.Context, q rowQuerier) (n int64, err error) {
	if err := q.QueryRow(ctx, `select counter from configuration`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read configuration counter: %w", err)
	}
	return n, nil
}

// First gives the windows under which the partner's first rows were written.
func (r *Retained) First() Retention { return r.history[0].Retention }

// Spec gives windows as a configuration says them.
func (r Retention) Spec() RetentionSpec {
	days := func(d time.Duration) Days { return Days(d / (24 * time.Hour)) }
	return RetentionSpec{DedupWindow: days(r.DedupWindow), RetryWindow: days(r.RetryWindow), Payloads: days(r.Payloads), Acknowledgements: days(r.Acknowledgements),
		Quarantine: days(r.Quarantine), Deliveries: days(r.Deliveries), LegalHold: r.LegalHold,
		Documents: DocumentsRetention{Invoice: days(r.Invoices), Despatch: days(r.Despatches), Other: days(r.OtherDocuments)}}
}

// Origins says of each window where its value is from: "partner", or "default" where it is
// the one that there is without being written.
func (r *Retained) Origins() map[string]string {
	origins := map[string]string{}
	was, is := Defaults().Retention.windows(), r.Set
	for name, same := range map[string]bool{
		"dedup_window": is.DedupWindow == was.DedupWindow, "retry_window": is.RetryWindow == was.RetryWindow, "payloads": is.Payloads == was.Payloads,
		"acknowledgements": is.Acknowledgements == was.Acknowledgements, "quarantine": is.Quarantine == was.Quarantine, "deliveries": is.Deliveries == was.Deliveries,
		"documents.invoice": is.Invoices == was.Invoices, "documents.despatch": is.Despatches == was.Despatches, "documents.other": is.OtherDocuments == was.OtherDocuments,
		"legal_hold": is.LegalHold == was.LegalHold,
	} {
		if origins[name] = "partner"; same {
			origins[name] = "default"
		}
	}
	return origins
}

// RetentionWith gives a partner's windows as a merge patch of its `retention` would have
// them, judged as if it had been written; nothing is changed. The error wraps ErrUnknown, or
// is Faults.
func (s *Store) RetentionWith(ctx context.Context, partner string, patch []byte) (Retention, error) {
	c, err := s.snapshotOf(ctx, partner)
	if err != nil {
		return Retention{}, err
	}
	if !json.Valid(patch) {
		return Retention{}, Faults{{Key: "retention", Text: "must be a JSON object of windows, like {\"payloads\": \"60d\"}"}}
	}
	spec, err := c.partners[partner].spec.patched(append(append([]byte(`{"retention":`), patch...), '}'))
	if err != nil {
		return Retention{}, err
	}
	return spec.Retention.windows(), nil
}
