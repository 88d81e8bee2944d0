package dedup

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// messagesInRow is how many message records stand in the row of their variant.
// Those of a variant with more stand in message_state, in pieces of as many.
const messagesInRow = 10_000

// countRecord is the length of what the column messages holds instead: their
// number, big-endian. No number of records has this length.
const countRecord = 4

// inRow is the column messages of v.
func (v *Variant) inRow() []byte {
	n := len(v.Messages)
	if v.Messages == nil {
		n = v.elsewhere
	}
	if n <= messagesInRow {
		return PackMessages(v.Messages)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(n))
}

// fromRow reads the column messages.
func (v *Variant) fromRow(b []byte) (err error) {
	if len(b) == countRecord {
		v.elsewhere = int(binary.BigEndian.Uint32(b))
		return nil
	}
	v.Messages, err = UnpackMessages(b)
	return err
}

// QueueMessages reads the message records that do not stand in their variant's
// row, of variants that were read without them, and reports whether there are
// any. Until then Find and State are all that may be asked of such a variant.
func QueueMessages(b *pgx.Batch, keys map[Ref]*Key) (queued bool) {
	for _, k := range keys {
		for _, v := range k.Variants {
			if v.elsewhere == 0 || v.Messages != nil {
				continue
			}
			queued = true
			b.Queue(`
				select records from message_state
				where partner_id = $1 and message_id = $2 and payload_sha256 = $3
				order by seq`, k.Partner, k.ID, v.SHA256[:],
			).Query(func(rows pgx.Rows) error {
				ms := make([]MessageState, 0, v.elsewhere)
				var records []byte
				_, err := pgx.ForEachRow(rows, []any{&records}, func() error {
					piece, err := UnpackMessages(records)
					ms = append(ms, piece...)
					return err
				})
				if err == nil && len(ms) != v.elsewhere {
					err = fmt.Errorf("key %s of %s: %d message records, want %d", k.ID, k.Partner, len(ms), v.elsewhere)
				}
				v.Messages = ms
				return err
			})
		}
	}
	return queued
}

// WriteMessages writes the message records that do not stand in their variant's
// row, of new and touched variants, piece by piece. The keys' rows must be locked
// in tx, or claimed.
func WriteMessages(ctx context.Context, tx Execer, keys map[Ref]*Key) error {
	for _, k := range keys {
		for _, v := range k.Variants {
			if !v.unwritten || len(v.Messages) <= messagesInRow {
				continue
			}
			seq := 0
			for piece := range slices.Chunk(v.Messages, messagesInRow) {
				_, err := tx.Exec(ctx, `
					insert into message_state (partner_id, message_id, payload_sha256, seq, records) values ($1, $2, $3, $4, $5)
					on conflict (partner_id, message_id, payload_sha256, seq) do update set records = excluded.records
					where message_state.records <> excluded.records`, k.Partner, k.ID, v.SHA256[:], seq, PackMessages(piece))
				if err != nil {
					return fmt.Errorf("write message states of %s: %w", k.ID, err)
				}
				seq++
			}
			v.unwritten, v.elsewhere = false, len(v.Messages)
		}
	}
	return nil
}

// Execer is what WriteMessages needs of a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}
