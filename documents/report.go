package documents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Reported is what the program that reads the documents, an ERP, says it did with
// one. The zero value: it has said nothing.
type Reported string

// What may be reported. Refused also takes back what was posted there.
const (
	Taken   Reported = "taken"   // read, and kept there
	Posted  Reported = "posted"  // in its books
	Paid    Reported = "paid"    // and paid
	Refused Reported = "refused" // not taken there, or reversed
)

// Reports is everything that may be reported, in the order in which it comes about.
var Reports = []Reported{Taken, Posted, Paid, Refused}

// InBooks reports whether replacing or cancelling the document here would leave the
// books with what no longer stands.
func (r Reported) InBooks() bool { return r == Posted || r == Paid }

// Report is the last one of a document.
type Report struct {
	Is   Reported  `json:"is"`
	At   time.Time `json:"at"`
	By   string    `json:"by"` // person
	Note string    `json:"note,omitempty"`
}

// ErrReport is wrapped where a report does not fit what is known of the document;
// the text says why. Nothing was changed.
var ErrReport = errors.New("the report does not fit")

const maxNote = 500 // characters

// ReportTx notes in tx what was done with a document. The same again is taken and
// changes nothing, which changed tells; a step back is refused, and so is posting
// what was replaced or cancelled here: who reports it has not seen that yet. The
// error wraps ErrNotFound or ErrReport.
func ReportTx(ctx context.Context, tx pgx.Tx, partner string, id uuid.UUID, r Report) (changed bool, err error) {
	if !slices.Contains(Reports, r.Is) {
		return false, fmt.Errorf("%w: %q is none of %s", ErrReport, r.Is, joined(Reports))
	}
	if len([]rune(r.Note)) > maxNote {
		return false, fmt.Errorf("%w: the note has more than %d characters", ErrReport, maxNote)
	}
	var was Reported
	var state State
	var over bool
	err = tx.QueryRow(ctx, `
select report, state, superseded_by is not null or cancelled_by is not null
from document
where partner_id = $1 and document_id = $2
for update`, partner, id).Scan(&was, &state, &over)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, fmt.Errorf("document %s of %s: %w", id, partner, ErrNotFound)
	case err != nil:
		return false, fmt.Errorf("report on document %s: %w", id, err)
	case was == r.Is:
		return false, nil
	case r.Is == Refused:
	case state != StateLive || over:
		return false, fmt.Errorf("%w: document %s does not stand any more; read it again, and report it refused where it was taken", ErrReport, id)
	case was != Refused && slices.Index(Reports, r.Is) < slices.Index(Reports, was):
		return false, fmt.Errorf("%w: document %s is %s already; what is reversed is reported as refused first", ErrReport, id, was)
	}
	_, err = tx.Exec(ctx, `
update document set report = $3, reported_at = now(), reported_by = $4, report_note = $5
where partner_id = $1 and document_id = $2`, partner, id, r.Is, r.By, r.Note)
	if err != nil {
		return false, fmt.Errorf("report on document %s: %w", id, err)
	}
	return true, nil
}

func joined(list []Reported) string {
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// QueueInBooks locks documents, in order, and calls each for those that are in the
// books of who reads them. Until tx ends nobody reports anything else of them.
func QueueInBooks(b *pgx.Batch, partner string, ids []uuid.UUID, each func(id uuid.UUID, number string, r Report)) {
	b.Queue(`
select document_id, number, report, coalesce(reported_at, now()), reported_by
from document
where partner_id = $1 and document_id = any($2)
order by document_id
for update`, partner, ids).Query(func(rows pgx.Rows) error {
		var id uuid.UUID
		var number string
		var r Report
		_, err := pgx.ForEachRow(rows, []any{&id, &number, &r.Is, &r.At, &r.By}, func() error {
			if r.Is.InBooks() {
				each(id, number, r)
			}
			return nil
		})
		return err
	})
}
