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
)

// Querier is what Load needs: a pool or a connection.
type Querier interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

var _ Querier = (*pgxpool.Pool)(nil)

// columns is a set of rows as parallel arrays, so that one statement writes any
// number of them. The driver encodes these types without reflection.
type columns struct {
	partner, id            []string
	kind                   []int16
	epoch                  []int32
	current                pgtype.FlatArray[[]byte]
	hold                   []int16
	purgeOn                pgtype.FlatArray[pgtype.Date]
	carried                pgtype.FlatArray[pgtype.Text]
	sha, content           pgtype.FlatArray[[]byte]
	version, state         []int16
	variantEpoch           []int32
	via, answer            []int16
	messages               pgtype.FlatArray[[]byte]
	delivery               pgtype.FlatArray[pgtype.UUID]
	payload, ack, alert    pgtype.FlatArray[pgtype.UUID]
	payloadMonth, ackMonth pgtype.FlatArray[pgtype.Date]
	offset, length         []int64
}

func (c *columns) variant(v *Variant) {
	c.sha = append(c.sha, digest(v.SHA256, v.NoDigest))
	c.content = append(c.content, digest(v.Content, v.ContentVersion == 0))
	c.version = append(c.version, v.ContentVersion)
	c.state = append(c.state, int16(v.State))
	c.variantEpoch = append(c.variantEpoch, v.Epoch)
	c.via = append(c.via, flag(v.ViaPurge))
	c.answer = append(c.answer, v.Answer)
	c.messages = append(c.messages, v.inRow())
	c.delivery = append(c.delivery, id(v.DeliveryID))
	c.payload, c.payloadMonth = append(c.payload, id(v.Payload.ID)), append(c.payloadMonth, month(v.Payload.Month))
	c.offset, c.length = append(c.offset, v.Offset), append(c.length, v.Length)
	c.ack, c.ackMonth = append(c.ack, id(v.Ack.ID)), append(c.ackMonth, month(v.Ack.Month))
	c.alert = append(c.alert, id(v.AlertID))
}

func (c *columns) key(k *Key) {
	c.partner, c.id = append(c.partner, k.Partner), append(c.id, k.ID)
	c.kind, c.epoch = append(c.kind, int16(k.Kind)), append(c.epoch, k.Epoch)
	c.current = append(c.current, k.currentDigest())
	c.hold, c.purgeOn = append(c.hold, k.Hold()), append(c.purgeOn, month(k.PurgeOn))
	c.carried = append(c.carried, k.carried())
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
	var c columns
	for _, k := range keys {
		c.key(k)
	}
	b.Queue(`
		insert into inbox (partner_id, message_id, kind, epoch, current_sha256, hold, purge_on, carried,
			payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer, messages,
			delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id)
		select partner_id, message_id, kind, epoch, current_sha256, hold, purge_on, string_to_array(carried, e'\n'),
			payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer, messages,
			delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id
		from unnest($1::text[], $2::text[], $3::int2[], $4::int4[], $5::bytea[], $6::int2[], $7::date[], $8::text[],
			$9::bytea[], $10::bytea[], $11::int2[], $12::int2[], $13::int4[], $14::int2[], $15::int2[], $16::bytea[],
			$17::uuid[], $18::uuid[], $19::date[], $20::int8[], $21::int8[], $22::uuid[], $23::date[], $24::uuid[])
			as c (partner_id, message_id, kind, epoch, current_sha256, hold, purge_on, carried,
			payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer, messages,
			delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id)
		order by partner_id collate "C", message_id collate "C"
		on conflict do nothing
		returning partner_id, message_id`,
		c.partner, c.id, c.kind, c.epoch, c.current, c.hold, c.purgeOn, c.carried,
		c.sha, c.content, c.version, c.state, c.variantEpoch, c.via, c.answer, c.messages,
		c.delivery, c.payload, c.payloadMonth, c.offset, c.length, c.ack, c.ackMonth, c.alert,
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
		dest := append([]any{&k.Partner, &k.ID, &k.Kind, &k.Epoch, &current, &k.FirstAt, &k.LastAt, &k.PurgeOn, &k.drift, &carried}, row.fields()...)
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
	var add columns
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
				add.partner, add.id = append(add.partner, k.Partner), append(add.id, k.ID)
				add.variant(v)
			case v.dirty:
				queueVariant(b, k, v)
			}
		}
	}
	if len(add.id) == 0 {
		return
	}
	b.Queue(`
		insert into variant (partner_id, message_id, payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer,
			messages, delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id, first_at)
		select partner_id, message_id, payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer,
			messages, delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id, clock_timestamp()
		from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::int2[], $6::int2[], $7::int4[], $8::int2[], $9::int2[],
			$10::bytea[], $11::uuid[], $12::uuid[], $13::date[], $14::int8[], $15::int8[], $16::uuid[], $17::date[], $18::uuid[])
			as v (partner_id, message_id, payload_sha256, content_sha256, content_version, state, variant_epoch, via, answer,
			messages, delivery_id, payload_id, payload_month, payload_offset, payload_length, ack_id, ack_month, alert_id)`,
		add.partner, add.id, add.sha, add.content, add.version, add.state, add.variantEpoch, add.via, add.answer,
		add.messages, add.delivery, add.payload, add.payloadMonth, add.offset, add.length, add.ack, add.ackMonth, add.alert)
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
