package dedup

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/columns"
)

// Querier is what Load needs: a pool or a connection.
type Querier interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

var _ Querier = (*pgxpool.Pool)(nil)

// rowColumns are rows of inbox, or of variant, column by column, so that one
// statement writes any number of them.
type rowColumns struct {
	partner, id            columns.Column
	kind, epoch            columns.Column
	current, hold          columns.Column
	purgeOn, carried       columns.Column
	sha, content           columns.Column
	version, state         columns.Column
	variantEpoch           columns.Column
	via, answer            columns.Column
	messages, delivery     columns.Column
	payload, ack, alert    columns.Column
	payloadMonth, ackMonth columns.Column
	offset, length         columns.Column
}

func (c *rowColumns) variant(v *Variant) {
	c.sha.Bytes(digest(v.SHA256, v.NoDigest))
	c.content.Bytes(digest(v.Content, v.ContentVersion == 0))
	c.version.Int2(v.ContentVersion)
	c.state.Int2(int16(v.State))
	c.variantEpoch.Int4(v.Epoch)
	c.via.Int2(flag(v.ViaPurge))
	c.answer.Int2(v.Answer)
	c.messages.Bytes(v.inRow())
	c.delivery.UUID(v.DeliveryID)
	c.payload.UUID(v.Payload.ID)
	c.payloadMonth.Date(v.Payload.Month)
	c.offset.Int8(v.Offset)
	c.length.Int8(v.Length)
	c.ack.UUID(v.Ack.ID)
	c.ackMonth.Date(v.Ack.Month)
	c.alert.UUID(v.AlertID)
}

func (c *rowColumns) key(k *Key) {
	c.partner.Text(k.Partner)
	c.id.Text(k.ID)
	c.kind.Int2(int16(k.Kind))
	c.epoch.Int4(k.Epoch)
	c.current.Bytes(k.currentDigest())
	c.hold.Int2(k.Hold())
	c.purgeOn.Date(k.PurgeOn)
	if carried := k.carried(); carried.Valid {
		c.carried.Text(carried.String)
	} else {
		c.carried.Null()
	}
	c.variant(k.Variants[0])
}

func (k *Key) currentDigest() []byte {
	if k.current == nil || k.current == k.Variants[0] {
		return nil
	}
	return k.current.SHA256[:]
}

// carried packs the interchanges into one text: tabs between partner, key and
// digest, line feeds between them; neither character can stand in a key (arrays
// of arrays cannot be unnested).
func (k *Key) carried() pgtype.Text {
	if len(k.Carried) == 0 {
		return pgtype.Text{}
	}
	var s strings.Builder
	for i, r := range k.Carried {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(r.Partner + "\t" + r.ID + "\t" + hex.EncodeToString(r.SHA256[:]))
	}
	return pgtype.Text{String: s.String(), Valid: true}
}

// QueueClaim claims keys, which must be new, sorted by Ref and without repeats,
// in one statement. Each key holds exactly its first variant. inserted is called
// with every key that was free; the others exist, and their rows are to be
// locked. A second claimer of the same key waits here for the first to end.
func QueueClaim(b *pgx.Batch, keys []*Key, inserted func(Ref)) {
	var c rowColumns
	for _, k := range keys {
		c.key(k)
	}
	columns.Queue(b, `
		insert into inbox (partner_id, message_id, kind, epoch, current_sha256, hold, purge_on, carried,
			payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer, messages,
			delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id)
		select unnest($1::text[]), unnest($2::text[]), unnest($3::int2[]), unnest($4::int4[]), unnest($5::bytea[]), unnest($6::int2[]),
			unnest($7::date[]), string_to_array(unnest($8::text[]), e'\n'), unnest($9::bytea[]), unnest($10::bytea[]), unnest($11::int2[]),
			unnest($12::int2[]), unnest($13::int4[]), unnest($14::int2[]), unnest($15::int2[]), unnest($16::bytea[]),
			unnest($17::uuid[]), unnest($18::uuid[]), unnest($19::date[]), unnest($20::int8[]), unnest($21::int8[]), unnest($22::uuid[]),
			unnest($23::date[]), unnest($24::uuid[])
		on conflict do nothing
		returning partner_id, message_id`,
		&c.partner, &c.id, &c.kind, &c.epoch, &c.current, &c.hold, &c.purgeOn, &c.carried,
		&c.sha, &c.content, &c.version, &c.state, &c.variantEpoch, &c.via, &c.answer, &c.messages,
		&c.delivery, &c.payload, &c.payloadMonth, &c.offset, &c.length, &c.ack, &c.ackMonth, &c.alert,
	).Query(func(rows pgx.Rows) error {
		var r Ref
		_, err := pgx.ForEachRow(rows, []any{&r.Partner, &r.ID}, func() error {
			inserted(r)
			return nil
		})
		return err
	})
}

// QueueLock locks the rows of refs, sorted, and calls found for each that is
// there. What they say is to be read by a following statement: a read in this
// one would show them as they were before the wait.
func QueueLock(b *pgx.Batch, refs []Ref, found func(Ref)) {
	partners, ids := split(refs)
	b.Queue(`
		select i.partner_id, i.message_id
		from inbox i join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"
		order by i.partner_id, i.message_id
		for update of i`, partners, ids,
	).Query(func(rows pgx.Rows) error {
		var r Ref
		_, err := pgx.ForEachRow(rows, []any{&r.Partner, &r.ID}, func() error {
			found(r)
			return nil
		})
		return err
	})
}

type variantRow struct {
	sha, content, messages []byte
	state, via             int16
	delivery, payload      pgtype.UUID
	ack, alert             pgtype.UUID
	payloadMonth, ackMonth pgtype.Date
	v                      Variant
}

func (r *variantRow) fields() []any {
	return []any{&r.sha, &r.content, &r.v.ContentVersion, &r.state, &r.v.Epoch, &r.via, &r.v.Answer, &r.messages,
		&r.delivery, &r.payload, &r.payloadMonth, &r.v.Offset, &r.v.Length, &r.ack, &r.ackMonth, &r.alert}
}

func (r *variantRow) variant() (*Variant, error) {
	v := r.v
	copy(v.SHA256[:], r.sha)
	v.NoDigest = r.sha == nil
	copy(v.Content[:], r.content)
	v.State, v.ViaPurge = State(r.state), r.via == 1
	v.Payload, v.Ack = stored(r.payload, r.payloadMonth), stored(r.ack, r.ackMonth)
	v.DeliveryID, v.AlertID = r.delivery.Bytes, r.alert.Bytes
	return &v, v.fromRow(r.messages)
}

// scanKeys reads keys; partly: with some of their variants only.
func scanKeys(rows pgx.Rows, keys map[Ref]*Key, partly bool) error {
	defer rows.Close()
	for rows.Next() {
		k := Key{partly: partly}
		var row variantRow
		var current []byte
		var carried *string
		dest := append([]any{&k.Partner, &k.ID, &k.Kind, &k.Epoch, &current, &k.FirstAt, &k.LastAt, &k.PurgeOn, &k.drift, &k.message, &carried}, row.fields()...)
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		v, err := row.variant()
		if err != nil {
			return fmt.Errorf("key %s of %s: %w", k.ID, k.Partner, err)
		}
		k.Variants = []*Variant{v}
		if carried != nil {
			for line := range strings.SplitSeq(*carried, "\n") {
				p, rest, _ := strings.Cut(line, "\t")
				id, sum, _ := strings.Cut(rest, "\t")
				c := Carried{Ref: Ref{p, id}}
				if _, err := hex.Decode(c.SHA256[:], []byte(sum)); err != nil {
					return fmt.Errorf("key %s of %s: carried: %w", k.ID, k.Partner, err)
				}
				k.Carried = append(k.Carried, c)
			}
		}
		if current != nil { // a further variant, read next
			k.current = &Variant{SHA256: [32]byte(current)}
		}
		keys[k.Ref] = &k
	}
	return rows.Err()
}

func scanVariants(rows pgx.Rows, keys map[Ref]*Key) error {
	defer rows.Close()
	for rows.Next() {
		var r Ref
		var row variantRow
		var firstAt time.Time // only sorts
		if err := rows.Scan(append(append([]any{&r.Partner, &r.ID}, row.fields()...), &firstAt)...); err != nil {
			return err
		}
		k := keys[r]
		if k == nil { // inserted between the two statements of an unlocked read
			continue
		}
		v, err := row.variant()
		if err != nil {
			return fmt.Errorf("variant of key %s of %s: %w", r.ID, r.Partner, err)
		}
		if n := len(k.Variants); n > 0 && k.Variants[n-1].SHA256 == v.SHA256 && k.partly { // asked for twice
			continue
		}
		k.Variants = append(k.Variants, v)
		if k.current != nil && k.current.SHA256 == v.SHA256 {
			k.current = v
		}
	}
	return rows.Err()
}

// QueueChanges writes what changed in keys that exist: their own columns, the
// first variant in them, changed further variants and new ones. The key's row
// must be locked.
func QueueChanges(b *pgx.Batch, keys []*Key) {
	var add rowColumns
	for _, k := range keys {
		if !k.dirty {
			continue
		}
		f := k.Variants[0]
		b.Queue(`
			update inbox set epoch = $3, current_sha256 = $4, hold = $5, carried = string_to_array($6, e'\n'), last_at = case when $24 then last_at else now() end,
				purge_on = case when kind = 1 then $7 else greatest(purge_on, $7) end, -- a transport key goes with the first of what it carried
				payload_sha256 = $8, content_sha256 = $9, content_version = $10, state = $11, variant_epoch = $12, via = $13, answer = $14,
				messages = $15, delivery_id = $16, payload_id = $17, payload_month = $18, payload_offset = $19, payload_length = $20,
				ack_id = $21, ack_month = $22, alert_id = $23
			where partner_id = $1 and message_id = $2`,
			k.Partner, k.ID, k.Epoch, k.currentDigest(), k.Hold(), k.carried(), k.PurgeOn,
			digest(f.SHA256, f.NoDigest), digest(f.Content, f.ContentVersion == 0), f.ContentVersion, int16(f.State), f.Epoch, flag(f.ViaPurge), f.Answer,
			f.inRow(), f.DeliveryID, id(f.Payload.ID), month(f.Payload.Month), f.Offset, f.Length,
			id(f.Ack.ID), month(f.Ack.Month), id(f.AlertID), k.quiet)
		for _, v := range k.Variants[1:] {
			switch {
			case v.fresh:
				add.partner.Text(k.Partner)
				add.id.Text(k.ID)
				add.variant(v)
			case v.dirty:
				queueVariant(b, k, v)
			}
		}
	}
	if add.id.Rows() == 0 {
		return
	}
	columns.Queue(b, `
		insert into variant (partner_id, message_id, payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer,
			messages, delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id, first_at)
		select unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]), unnest($4::bytea[]), unnest($5::int2[]), unnest($6::int2[]),
			unnest($7::int4[]), unnest($8::int2[]), unnest($9::int2[]), unnest($10::bytea[]), unnest($11::uuid[]), unnest($12::uuid[]),
			unnest($13::date[]), unnest($14::int8[]), unnest($15::int8[]), unnest($16::uuid[]), unnest($17::date[]), unnest($18::uuid[]),
			clock_timestamp()`,
		&add.partner, &add.id, &add.sha, &add.content, &add.version, &add.state, &add.variantEpoch, &add.via, &add.answer,
		&add.messages, &add.delivery, &add.payload, &add.payloadMonth, &add.offset, &add.length, &add.ack, &add.ackMonth, &add.alert)
}

func queueVariant(b *pgx.Batch, k *Key, v *Variant) {
	b.Queue(`
		update variant set content_sha256 = $4, content_version = $5, state = $6, variant_epoch = $7, via = $8, answer = $9, messages = $10,
			delivery_id = $11, payload_id = $12, payload_month = $13, payload_offset = $14, payload_length = $15,
			ack_id = $16, ack_month = $17, alert_id = $18
		where partner_id = $1 and message_id = $2 and payload_sha256 = $3`,
		k.Partner, k.ID, v.SHA256[:], digest(v.Content, v.ContentVersion == 0), v.ContentVersion, int16(v.State), v.Epoch, flag(v.ViaPurge), v.Answer,
		v.inRow(), v.DeliveryID, id(v.Payload.ID), month(v.Payload.Month), v.Offset, v.Length,
		id(v.Ack.ID), month(v.Ack.Month), id(v.AlertID))
}

// QueueDelete removes keys claimed in this transaction that turned out not to be
// used: no key is ever committed without its outcome.
func QueueDelete(b *pgx.Batch, refs []Ref) {
	partners, ids := split(refs)
	b.Queue(`
		delete from inbox i using unnest($1::text[], $2::text[]) as k (partner_id, message_id)
		where i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"`, partners, ids)
}

// QueueLastDelivery moves the purge date of keys that were delivered again, by
// as much as they are older, at most once a day: the window counts from the last
// delivery. They are locked in the one order; a key that somebody else holds is
// left out, and moves with its next repeat. A transport key keeps the date set at
// its own delivery, the least of what it carried: it must not outlive those, and
// they only move forward. One that carried nothing moves as others do.
func QueueLastDelivery(b *pgx.Batch, refs []Ref) {
	partners, ids := split(refs)
	b.Queue(`
		with older as (
			select i.partner_id, i.message_id
			from inbox i join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
				on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"
			where i.last_at < now() - interval '1 day'
			order by i.partner_id, i.message_id
			for update of i skip locked)
		update inbox i set last_at = now(),
			purge_on = case when i.kind = 1 and i.carried is not null then i.purge_on else i.purge_on + (now()::date - i.last_at::date) end
		from older
		where i.partner_id = older.partner_id and i.message_id = older.message_id`, partners, ids)
}

func split(refs []Ref) (partners, ids []string) {
	partners, ids = make([]string, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		partners[i], ids[i] = r.Partner, r.ID
	}
	return partners, ids
}

func stored(u pgtype.UUID, m pgtype.Date) Stored {
	if !u.Valid || !m.Valid {
		return Stored{}
	}
	return Stored{u.Bytes, m.Time}
}

func digest(d [32]byte, none bool) []byte {
	if none {
		return nil
	}
	return d[:]
}

// id is u as the driver encodes it without reflection; null for the zero UUID.
func id(u uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: u, Valid: u != uuid.Nil} }

func month(t time.Time) pgtype.Date { return pgtype.Date{Time: t, Valid: !t.IsZero()} }

func flag(b bool) int16 {
	if b {
		return 1
	}
	return 0
}
