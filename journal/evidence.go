package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
	"github.com/edigw/edigw/edi"
)

// Stretch says that bytes of the payload belong into an exhibit.
type Stretch struct {
	At     int64 `json:"at"`     // before this byte of what is stored of the exhibit
	Offset int64 `json:"offset"` // in the payload
	Length int64 `json:"length"`
}

// Exhibit is a piece of what proves who sent a payload.
type Exhibit struct {
	Name      string
	MediaType string
	Stretches []Stretch // in order; of the payload whose evidence it is
	Body      *edi.Payload
}

// Evidence are the exhibits of a stored payload.
type Evidence struct {
	Partner  string
	Payload  uuid.UUID
	Month    time.Time
	Exhibits []Exhibit
}

const insertExhibit = `
	insert into evidence (partner_id, payload_id, exhibit, seq, purge_month, name, media_type, stretches, body)
	select unnest($1::text[]), unnest($2::uuid[]), unnest($3::int2[]), unnest($4::int4[]), unnest($5::date[]), unnest($6::text[]), unnest($7::text[]),
		unnest($8::jsonb[]), unnest($9::bytea[])`

// exhibitRows are rows of evidence on their way.
type exhibitRows struct {
	partner, payload, exhibit, seq, month, name, mediaType, stretches, body columns.Column
	n                                                                       int
}

func (r *exhibitRows) add(e *Evidence, i, seq int, chunk []byte) error {
	x := &e.Exhibits[i]
	r.n++
	r.partner.Text(e.Partner)
	r.payload.UUID(e.Payload)
	r.exhibit.Int2(int16(i))
	r.seq.Int4(int32(seq))
	r.month.Date(e.Month)
	r.name.Text(clean(x.Name, maxText))
	r.mediaType.Text(clean(x.MediaType, maxText))
	if len(x.Stretches) == 0 || seq > 0 {
		r.stretches.Null()
	} else {
		r.stretches.Marshal(x.Stretches)
	}
	r.body.Bytes(chunk)
	return columns.Err(&r.stretches)
}

func (r *exhibitRows) queue(b *pgx.Batch) {
	if r.n > 0 {
		columns.Queue(b, insertExhibit, &r.partner, &r.payload, &r.exhibit, &r.seq, &r.month, &r.name, &r.mediaType, &r.stretches, &r.body)
	}
}

// QueueEvidence writes evidence that is in memory, in one statement.
func QueueEvidence(b *pgx.Batch, list []*Evidence) error {
	var rows exhibitRows
	for _, e := range list {
		for i := range e.Exhibits {
			body, err := e.Exhibits[i].Body.Slice(0, e.Exhibits[i].Body.Size())
			if err != nil {
				return err
			}
			for seq := 0; seq == 0 || len(body) > 0; seq++ {
				n := min(len(body), ChunkSize)
				if body == nil {
					body = []byte{}
				}
				if err := rows.add(e, i, seq, body[:n:n]); err != nil {
					return fmt.Errorf("store evidence: %w", err)
				}
				body = body[n:]
			}
		}
	}
	rows.queue(b)
	return nil
}

// EvidenceSender is what WriteEvidence needs of a transaction.
type EvidenceSender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// WriteEvidence writes evidence chunk by chunk in tx, holding one chunk in memory.
func WriteEvidence(ctx context.Context, tx EvidenceSender, e *Evidence) error {
	buf := make([]byte, ChunkSize)
	for i := range e.Exhibits {
		body := e.Exhibits[i].Body
		for seq, off := 0, int64(0); seq == 0 || off < body.Size(); seq++ {
			n := min(int64(ChunkSize), body.Size()-off)
			if _, err := io.ReadFull(body.Reader(off, n), buf[:n]); err != nil {
				return fmt.Errorf("read spool: %w", err)
			}
			var rows exhibitRows
			if err := rows.add(e, i, seq, buf[:n]); err != nil {
				return fmt.Errorf("store evidence: %w", err)
			}
			var b pgx.Batch
			rows.queue(&b)
			if err := tx.SendBatch(ctx, &b).Close(); err != nil {
				return fmt.Errorf("store evidence: %w", err)
			}
			off += n
		}
	}
	return nil
}

// ExhibitReader names an exhibit that is kept, and reads it whole: with the stretches of
// the payload where they belong.
type ExhibitReader struct {
	Name      string
	MediaType string
	io.Reader
}

// ReadEvidence gives the exhibits of a stored payload, each with one chunk in memory
// when it is read. There are none where the transport proves nothing, or no longer.
func ReadEvidence(ctx context.Context, q Rower, partner string, payload uuid.UUID, month time.Time) ([]ExhibitReader, error) {
	list, err := readEvidence(ctx, q, partner, payload, month)
	if err != nil || len(list) > 0 {
		return list, err
	}
	now, err := monthOf(ctx, q, partner, payload) // evidence stands where its payload does
	if errors.Is(err, ErrPurged) || err == nil && now.Equal(month) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readEvidence(ctx, q, partner, payload, now)
}

func readEvidence(ctx context.Context, q Rower, partner string, payload uuid.UUID, month time.Time) ([]ExhibitReader, error) {
	rows, err := q.Query(ctx, `
		select exhibit, name, media_type, stretches,
			(select sum(length(c.body)) from evidence c
				where c.partner_id = e.partner_id and c.payload_id = e.payload_id and c.purge_month = e.purge_month and c.exhibit = e.exhibit)
		from evidence e
		where partner_id = $1 and payload_id = $2 and purge_month = $3 and seq = 0
		order by exhibit`, partner, payload, month)
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	var list []ExhibitReader
	var n int16
	var name, mediaType string
	var raw []byte
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&n, &name, &mediaType, &raw, &size}, func() error {
		var stretches []Stretch
		if raw != nil {
			if err := json.Unmarshal(raw, &stretches); err != nil {
				return err
			}
		}
		of := exhibitOf{ctx: ctx, q: q, partner: partner, payload: payload, month: month, exhibit: n}
		list = append(list, ExhibitReader{name, mediaType, of.whole(stretches, size)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	return list, nil
}

// exhibitOf reads what is stored of one exhibit.
type exhibitOf struct {
	ctx     context.Context // of this one reading
	q       Rower
	partner string
	payload uuid.UUID
	month   time.Time
	exhibit int16
}

func (x exhibitOf) whole(stretches []Stretch, size int64) io.Reader {
	var parts []io.Reader
	at := int64(0)
	for _, s := range stretches {
		if s.At > at {
			parts = append(parts, &exhibitReader{exhibitOf: x, at: at, left: s.At - at})
			at = s.At
		}
		parts = append(parts, PayloadReader(x.ctx, x.q, x.partner, x.payload, x.month, s.Offset, s.Length))
	}
	parts = append(parts, &exhibitReader{exhibitOf: x, at: at, left: size - at})
	return io.MultiReader(parts...)
}

type exhibitReader struct {
	exhibitOf
	at    int64
	left  int64
	chunk []byte
}

func (r *exhibitReader) Read(b []byte) (int, error) {
	if len(r.chunk) == 0 {
		if r.left <= 0 {
			return 0, io.EOF
		}
		var body []byte
		rows, err := r.q.Query(r.ctx, `
			select body from evidence
			where partner_id = $1 and payload_id = $2 and purge_month = $3 and exhibit = $4 and seq = $5`,
			r.partner, r.payload, r.month, r.exhibit, r.at/ChunkSize)
		if err != nil {
			return 0, fmt.Errorf("read evidence: %w", err)
		}
		if body, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte]); err != nil {
			return 0, fmt.Errorf("read evidence: %w", err)
		}
		body = body[min(r.at%ChunkSize, int64(len(body))):]
		if len(body) == 0 {
			return 0, ErrPurged
		}
		body = body[:min(int64(len(body)), r.left)]
		r.chunk, r.at, r.left = body, r.at+int64(len(body)), r.left-int64(len(body))
	}
	n := copy(b, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}
