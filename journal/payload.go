package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/edigw/edigw/columns"
	"github.com/edigw/edigw/edi"
)

// ChunkSize is the size of a stored chunk of a payload, in bytes.
const ChunkSize = 1 << 20

// Execer is what WritePayload needs of a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

const insertChunk = `insert into payload (partner_id, payload_id, seq, purge_month, body) values ($1, $2, $3, $4, $5)`

// QueuePayload queues a payload that is in memory, in chunks.
func QueuePayload(b *pgx.Batch, partner string, payload uuid.UUID, month time.Time, body []byte) {
	for seq := 0; seq == 0 || len(body) > 0; seq++ {
		n := min(len(body), ChunkSize)
		b.Queue(insertChunk, partner, payload, seq, month, body[:n])
		body = body[n:]
	}
}

// Chunk is a stored piece of a payload.
type Chunk struct {
	Partner string
	ID      uuid.UUID
	Seq     int32
	Month   time.Time
	Body    []byte
}

// QueueChunks writes chunks of several payloads in one statement.
func QueueChunks(b *pgx.Batch, chunks []Chunk) {
	if len(chunks) == 0 {
		return
	}
	var partner, id, seq, month, body columns.Column
	for _, c := range chunks {
		partner.Text(c.Partner)
		id.UUID(c.ID)
		seq.Int4(c.Seq)
		month.Date(c.Month)
		body.Bytes(c.Body)
	}
	columns.Queue(b, `
		insert into payload (partner_id, payload_id, seq, purge_month, body)
		select unnest($1::text[]), unnest($2::uuid[]), unnest($3::int4[]), unnest($4::date[]), unnest($5::bytea[])`,
		&partner, &id, &seq, &month, &body)
}

// WritePayload writes length bytes from offset of a spooled payload chunk by chunk
// in tx, holding one chunk in memory.
func WritePayload(ctx context.Context, tx Execer, partner string, payload uuid.UUID, month time.Time, p *edi.Payload, offset, length int64) error {
	buf := make([]byte, ChunkSize)
	for seq, off := 0, offset; off < offset+length; seq++ {
		n := min(int64(ChunkSize), offset+length-off)
		if _, err := io.ReadFull(p.Reader(off, n), buf[:n]); err != nil {
			return fmt.Errorf("read spool: %w", err)
		}
		if _, err := tx.Exec(ctx, insertChunk, partner, payload, seq, month, buf[:n]); err != nil {
			return fmt.Errorf("store payload: %w", err)
		}
		off += n
	}
	return nil
}

// QueueRelease moves a payload from the partition held to the month of its purge,
// for itself, its evidence, and the rows of the deliveries that brought it. A chunk
// costs as much as writing it did.
func QueueRelease(b *pgx.Batch, partner string, payload uuid.UUID, to time.Time, deliveries []uuid.UUID) {
	b.Queue(`update payload set purge_month = $4 where partner_id = $1 and payload_id = $2 and purge_month = $3`, partner, payload, Held, to)
	b.Queue(`update evidence set purge_month = $4 where partner_id = $1 and payload_id = $2 and purge_month = $3`, partner, payload, Held, to)
	b.Queue(`
		update delivery set payload_month = $4
		where partner_id = $1 and delivery_id = any($5) and payload_id = $2 and payload_month = $3`, partner, payload, Held, to, deliveries)
}

// ErrPurged: the payload or acknowledgement is no longer kept.
var ErrPurged = errors.New("no longer kept: its retention has passed")

// Rower is a pool, a connection or a transaction.
type Rower interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// ReadPayload gives length bytes from offset of a stored payload; the month
// makes the look-up prune. Where it stands in another month, since a retention changed or
// a legal hold came, it is read from there. ErrPurged if it is gone.
func ReadPayload(ctx context.Context, q Rower, partner string, payload uuid.UUID, month time.Time, offset, length int64) ([]byte, error) {
	body, err := readPayload(ctx, q, partner, payload, month, offset, length)
	if !errors.Is(err, ErrPurged) {
		return body, err
	}
	now, err := monthOf(ctx, q, partner, payload)
	if err != nil {
		return nil, err
	}
	return readPayload(ctx, q, partner, payload, now, offset, length)
}

// monthOf looks for a payload in all months. ErrPurged if it is in none.
func monthOf(ctx context.Context, q Rower, partner string, payload uuid.UUID) (time.Time, error) {
	rows, err := q.Query(ctx, `select purge_month from payload where partner_id = $1 and payload_id = $2 and seq = 0`, partner, payload)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for a payload: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return time.Time{}, fmt.Errorf("look for a payload: %w", err)
	}
	if len(found) == 0 {
		return time.Time{}, ErrPurged
	}
	return found[0], nil
}

func readPayload(ctx context.Context, q Rower, partner string, payload uuid.UUID, month time.Time, offset, length int64) ([]byte, error) {
	first, last := offset/ChunkSize, (offset+max(length, 1)-1)/ChunkSize
	rows, err := q.Query(ctx, `
		select body from payload
		where partner_id = $1 and payload_id = $2 and purge_month = $3 and seq between $4 and $5
		order by seq`, partner, payload, month, first, last)
	if err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	body := make([]byte, 0, length)
	skip, n := offset-first*ChunkSize, 0
	var chunk []byte
	_, err = pgx.ForEachRow(rows, []any{&chunk}, func() error {
		n++
		part := chunk
		if skip > 0 {
			part, skip = part[min(skip, int64(len(part))):], 0
		}
		body = append(body, part[:min(int64(len(part)), length-int64(len(body)))]...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read payload: %w", err)
	}
	if n == 0 || int64(len(body)) < length {
		return nil, ErrPurged
	}
	return body, nil
}

// PayloadReader reads length bytes from offset of a stored payload with one chunk in
// memory, each in a statement of its own, so that none lasts as long as the payload
// is large. Its Read gives ErrPurged where a chunk is gone.
func PayloadReader(ctx context.Context, q Rower, partner string, payload uuid.UUID, month time.Time, offset, length int64) io.Reader {
	return &chunkReader{ctx: ctx, q: q, partner: partner, payload: payload, month: month, at: offset, left: length}
}

type chunkReader struct {
	ctx     context.Context // of this one reading
	q       Rower
	partner string
	payload uuid.UUID
	month   time.Time
	at      int64 // of what is read next
	left    int64
	chunk   []byte // read and not given yet
}

func (r *chunkReader) Read(b []byte) (int, error) {
	if len(r.chunk) == 0 {
		if r.left <= 0 {
			return 0, io.EOF
		}
		n := min(r.left, ChunkSize-r.at%ChunkSize)
		body, err := ReadPayload(r.ctx, r.q, r.partner, r.payload, r.month, r.at, n)
		if err != nil {
			return 0, err
		}
		r.chunk, r.at, r.left = body, r.at+n, r.left-n
	}
	n := copy(b, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func madeMeanwhile(err error) bool {
	var pg *pgconn.PgError
	// 42P07 duplicate_table, 23505 on pg_class or pg_type, 42P17 when another
	// process made an overlapping one, 23514 when rows of that month stand in the
	// default partition.
	return errors.As(err, &pg) && (pg.Code == "42P07" || pg.Code == "23505" || pg.Code == "42P17" || pg.Code == "23514")
}
