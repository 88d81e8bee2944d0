package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ExpiryDays are the days before an end on which it is told, from the first on.
var ExpiryDays = []int{30, 7, 1}

// Expiry is the end of a certificate that none follows: from then on there is none for
// the purposes.
type Expiry struct {
	Whose       string // partner's id, or the organisation's
	Ours        bool   // it is of a key of the organisation's
	Label       string
	Purposes    []string
	Fingerprint [32]byte // SHA-256 of the certificate
	At          time.Time
	Month       time.Time // of purge of the event
}

// expiryTold is the event's body.
type expiryTold struct {
	Of          string    `json:"of"` // partner or organisation
	Label       string    `json:"label"`
	Purposes    []string  `json:"purposes"`
	Fingerprint string    `json:"sha256"`
	Ends        time.Time `json:"ends_at"`
	Days        int       `json:"days"`
	Words       string    `json:"words"`
}

// due gives the last of ExpiryDays that has come; 0 where none has, or the end is past.
func (e *Expiry) due(now time.Time) (days int) {
	left := e.At.Sub(now)
	if left <= 0 {
		return 0
	}
	for _, d := range ExpiryDays {
		if left <= time.Duration(d)*24*time.Hour {
			days = d
		}
	}
	return days
}

func (e *Expiry) event(id uuid.UUID, days int) Event {
	body := expiryTold{Of: "partner", Label: e.Label, Purposes: e.Purposes, Fingerprint: fmt.Sprintf("%x", e.Fingerprint), Ends: e.At.UTC(), Days: days}
	whose := "the certificate " + e.Label + " of " + e.Whose
	if e.Ours {
		body.Of, whose = "organisation", "the certificate of our key "+e.Label+" of "+e.Whose
	}
	body.Words = fmt.Sprintf("%s for %s ends %s, and none follows it", whose, strings.Join(e.Purposes, ", "), e.At.UTC().Format("2006-01-02 15:04:05Z"))
	return Event{Partner: e.Whose, ID: id, Month: e.Month, Kind: KindEvent, Type: CertificateExpiring, Subject: e.Whose + "/" + e.Label, Data: body}
}

// TellExpiring writes an event for each end that has come nearer than one of ExpiryDays,
// once for each of them, whoever asks and however often, and gives how many. An end that
// was put off is told again when it comes near again.
func TellExpiring(ctx context.Context, pool *pgxpool.Pool, list []Expiry, now time.Time, newID func() uuid.UUID) (n int, err error) {
	for i := range list {
		e := &list[i]
		days := e.due(now)
		if days == 0 {
			continue
		}
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, `
				insert into expiry_told as t (partner_id, fingerprint, days, not_after) values ($1, $2, $3, $4)
				on conflict (partner_id, fingerprint, days) do update set not_after = excluded.not_after, told_at = now()
				where t.not_after < excluded.not_after`, e.Whose, e.Fingerprint[:], days, e.At)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
			var b pgx.Batch
			if err := QueueEvents(&b, []Event{e.event(newID(), days)}); err != nil {
				return err
			}
			n++
			return tx.SendBatch(ctx, &b).Close()
		})
		if err != nil {
			return n, fmt.Errorf("tell that %s of %s ends: %w", e.Label, e.Whose, err)
		}
	}
	if _, err := pool.Exec(ctx, `delete from expiry_told where not_after < $1`, now.AddDate(0, 0, -30)); err != nil {
		return n, fmt.Errorf("forget ends that were told: %w", err)
	}
	return n, nil
}
