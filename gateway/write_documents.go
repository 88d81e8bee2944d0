package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/outbox"
)

// documentsAtOnce bounds the documents that are queued at a time, with their
// events.
const documentsAtOnce = 500

// bytesAtOnce bounds the messages of those, which may be large: as documents and as
// columns they fill twenty times as much.
const bytesAtOnce = 1 << 20

// documentWriter queues the documents of a delivery, and sends them where they
// become many.
type documentWriter struct {
	g         *Gateway
	s         *session
	pl        *plan
	revisions map[uuid.UUID]revisionRow
	rows      []documents.Row // of one partner
	queued    int             // since the last were sent
	bytes     int64           // of their messages
}

// writeDocuments writes the documents of every message to be posted: from
// memory, or for a large delivery by reading it a second time.
func (g *Gateway) writeDocuments(ctx context.Context, s *session, pl *plan) error {
	w := &documentWriter{g: g, s: s, pl: pl, revisions: pl.revisions()}
	posted := 0
	for _, r := range pl.results {
		posted += len(r.posts)
		if err := w.write(ctx, r); err != nil {
			return err
		}
	}
	for _, x := range pl.supersede {
		if x.cancel {
			documents.QueueCancel(s.batch, x.partner, []uuid.UUID{x.old}, x.new, x.stamp, x.sent)
		} else {
			documents.QueueSupersede(s.batch, x.partner, []uuid.UUID{x.old}, x.new, x.stamp)
		}
	}
	if posted == 0 {
		return nil
	}
	return s.point(ctx, "last document")
}

func (w *documentWriter) write(ctx context.Context, r *result) error {
	if len(r.posts) == 0 {
		return nil
	}
	add := func(i int, d *documents.Document) error { return w.add(ctx, r, i, d) }
	if !r.p.retained {
		if err := w.g.documentsOf(r.p, r.posts, add); err != nil {
			return err
		}
		return w.queue(ctx, r)
	}
	for _, i := range r.posts {
		if err := add(int(i), r.p.docs[i]); err != nil {
			return err
		}
	}
	return w.queue(ctx, r)
}

func (w *documentWriter) add(ctx context.Context, r *result, i int, d *documents.Document) error {
	row := r.documentRow(w.pl.in.now, i, d)
	if rev, ok := w.revisions[d.ID]; ok {
		row.Revision, row.Supersedes, row.SupersededBy, row.CancelledBy = rev.number, rev.supersedes, rev.supersededBy, rev.cancelledBy
	}
	w.rows = append(w.rows, row)
	w.g.tellCreated(w.pl, r, i)
	w.bytes += r.p.ic.Messages[i].Length
	if len(w.rows) == documentsAtOnce || w.bytes >= bytesAtOnce {
		return w.queue(ctx, r)
	}
	return nil
}

// queue queues the rows, which are of r's partner.
func (w *documentWriter) queue(ctx context.Context, r *result) error {
	rows := w.rows
	if len(rows) == 0 {
		return nil
	}
	w.rows = w.rows[:0]
	w.queued += len(rows)
	if err := w.s.queueDocuments(ctx, r.p.owner.ID, rows); err != nil {
		return err
	}
	if w.queued < documentsAtOnce && w.bytes < bytesAtOnce {
		return nil
	}
	if err := outbox.QueueEvents(w.s.batch, w.pl.created); err != nil {
		return err
	}
	w.queued, w.bytes, w.pl.created = 0, 0, w.pl.created[:0]
	return w.s.flush(ctx)
}

// queueDocuments queues rows in one statement a table; a fault test can stop
// after the first document.
func (s *session) queueDocuments(ctx context.Context, partner string, rows []documents.Row) error {
	if s.hook != nil && len(rows) > 0 {
		if err := documents.Queue(s.batch, partner, rows[:1]); err != nil {
			return err
		}
		if err := s.point(ctx, "first document"); err != nil {
			return err
		}
		rows = rows[1:]
	}
	return documents.Queue(s.batch, partner, rows)
}

// documentCreated is what the event of that name says.
type documentCreated struct {
	Document      uuid.UUID `json:"document_id"`
	MessageID     string    `json:"message_id"`
	Type          string    `json:"type"`
	Class         string    `json:"class"`
	MessageSHA256 string    `json:"message_sha256"`
}

// tellCreated tells of message i's document.
func (g *Gateway) tellCreated(pl *plan, r *result, i int) {
	if r.p.ic.Test {
		return
	}
	var targets []string
	if to := r.p.owner.Policy.HandOver; to != "" && to != "none" {
		targets = []string{to}
	}
	pl.created = append(pl.created, outbox.Event{Targets: targets, Partner: r.key.Partner, ID: g.NewID(), Month: month(pl.in.now, r.p.owner, r.p.owner.Retention.Payloads),
		Kind: outbox.KindEvent, Type: outbox.DocumentCreated, Subject: r.key.Partner + "/" + r.key.ID,
		Data: documentCreated{documentID(r.p.base, i), r.key.ID, r.p.ic.Messages[i].Type.Type, classes[r.p.judged[i].class], hexOf(r.variant.Messages[i].SHA256)}})
}

// documentRow is the row of message i's document, the first of its identity.
func (r *result) documentRow(now time.Time, i int, d *documents.Document) documents.Row {
	if len(r.p.elsewhere) > 0 {
		d.KeepElsewhere(r.p.elsewhere[i])
	}
	return documents.Row{Document: d, State: documents.StateLive, MessageID: r.key.ID, Epoch: int(r.variant.Epoch),
		MessageSHA256: r.variant.Messages[i].SHA256, MessageReference: r.p.ic.MessageReference(i), MessageIndex: i,
		Stamp: documents.Stamp(r.p.ic, i), Revision: 1, PurgeOn: r.documentEnds(now, d)}
}

// documentEnds is the day on which a document may go; nil: it is kept. A legal hold is
// looked at on that day.
func (r *result) documentEnds(now time.Time, d *documents.Document) *time.Time {
	keep := r.p.owner.Retention.Document(d.Class)
	if keep == 0 {
		return nil
	}
	on := purgeOn(now, keep)
	return &on
}

type revisionRow struct {
	number                                int
	supersedes, supersededBy, cancelledBy *uuid.UUID
}

// revisions says how the documents of this delivery stand to earlier ones.
func (pl *plan) revisions() map[uuid.UUID]revisionRow {
	rows := map[uuid.UUID]revisionRow{}
	for _, x := range slices.Concat(pl.again, pl.supersede) {
		row := revisionRow{number: x.number, supersedes: &x.old}
		if x.cancel {
			row.cancelledBy = &x.new // a cancellation is no document that counts
		}
		rows[x.new] = row
	}
	for _, x := range pl.stale {
		rows[x.old] = revisionRow{number: x.number, supersededBy: &x.new}
	}
	return rows
}
