package habits

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// silentTold is the body of partner.silent and partner.heard.
type silentTold struct {
	SilentSince *time.Time `json:"silent_since"`
	Heard       *time.Time `json:"heard_at,omitempty"` // the last delivery; of partner.heard the one that ended it
	ExpectedBy  *time.Time `json:"expected_by,omitempty"`
	Setting     string     `json:"silence"`
	Because     string     `json:"because,omitempty"` // why a silence ended that no delivery did
	Words       string     `json:"words"`
}

func (w *Watcher) silentEvent(p *partners.Partner, h *habit, id uuid.UUID) outbox.Event {
	heard := "nothing was ever received from him"
	if h.Heard != nil {
		heard = "the last delivery came " + stamp(*h.Heard)
	}
	return outbox.Event{Partner: p.ID, ID: id, Month: eventMonth(w.Now(), p), Kind: outbox.KindEvent, Type: outbox.PartnerSilent, Subject: p.ID,
		Data: silentTold{SilentSince: utc(h.SilentSince), Heard: utc(h.Heard), ExpectedBy: utc(h.ExpectedBy), Setting: h.Silence,
			Words: fmt.Sprintf("%s is silent: something was to come by %s, and %s", p.ID, stamp(*h.ExpectedBy), heard)}}
}

func (w *Watcher) heardEvent(p *partners.Partner, h *habit, at time.Time, because string) outbox.Event {
	words := fmt.Sprintf("%s was heard again %s, after a silence that was told %s", p.ID, stamp(at), stamp(*h.SilentSince))
	if because != "" {
		words = fmt.Sprintf("%s is no longer taken for silent: %s", p.ID, because)
	}
	return outbox.Event{Partner: p.ID, ID: w.NewID(), Month: eventMonth(w.Now(), p), Kind: outbox.KindEvent, Type: outbox.PartnerHeard, Subject: p.ID,
		Data: silentTold{SilentSince: utc(h.SilentSince), Heard: utc(h.Heard), Setting: wordOf(p), Because: because, Words: words}}
}

// gapTold is the body of sequence.gap and sequence.gap_closed.
type gapTold struct {
	*Gap
	Words string `json:"words"`
}

func gapEvent(g *Gap, id uuid.UUID, month time.Time) outbox.Event {
	return outbox.Event{Partner: g.Partner, ID: id, Month: month, Kind: outbox.KindEvent, Type: outbox.SequenceGap, Subject: g.Partner + "/" + g.ID.String(),
		Data: gapTold{g, fmt.Sprintf("%s sent %s and then %s: %s did not come", g.Partner, g.Before, g.After, listed(g.Missing))}}
}

func closedEvent(g *Gap, id uuid.UUID, month time.Time) outbox.Event {
	words := fmt.Sprintf("%s of %s came %s", listed(g.References), g.Partner, stamp(*g.Closed))
	if g.Cause == Dismissed {
		words = fmt.Sprintf("%s of %s did not come; %s closed the gap: %s", listed(g.Missing), g.Partner, g.By, g.Reason)
	}
	return outbox.Event{Partner: g.Partner, ID: id, Month: month, Kind: outbox.KindEvent, Type: outbox.SequenceGapClosed, Subject: g.Partner + "/" + g.ID.String(),
		Data: gapTold{g, words}}
}

// listed names a few references, and how many more there are.
func listed(refs []string) string {
	const most = 5
	if len(refs) <= most {
		return strings.Join(refs, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(refs[:most], ", "), len(refs)-most)
}

func queueEvent(ctx context.Context, tx pgx.Tx, e outbox.Event) error {
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e}); err != nil {
		return err
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("tell %s of %s: %w", e.Type, e.Partner, err)
	}
	return nil
}

func eventMonth(now time.Time, p *partners.Partner) time.Time {
	return journal.Month(now, p.Retention.Payloads)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
