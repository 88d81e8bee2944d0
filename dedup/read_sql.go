package dedup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// variantColumns are those of variant v that scanVariants reads.
const variantColumns = `v.partner_id, v.message_id,
			v.payload_sha256, v.content_sha256, v.content_version, v.state, v.variant_epoch, v.via, v.answer, v.messages,
			v.delivery_id, v.payload_id, v.payload_month, v.payload_offset, v.payload_length, v.ack_id, v.ack_month, v.alert_id`

// QueueRead reads the keys that exist among refs, with all their variants, into
// keys; QueueMessages, after it, the message records that do not stand with them.
func QueueRead(b *pgx.Batch, refs []Ref, keys map[Ref]*Key) {
	partners, ids := split(refs)
	queueKeys(b, partners, ids, keys, false)
	b.Queue(`
		select `+variantColumns+`, v.first_at
		from variant v join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			on v.partner_id = k.partner_id collate "C" and v.message_id = k.message_id collate "C"
		order by first_at, payload_sha256`, partners, ids,
	).Query(func(rows pgx.Rows) error { return scanVariants(rows, keys) })
}

// Asked is a digest that is looked for under a key, of a payload or of its content.
type Asked struct {
	Ref
	SHA256 [32]byte
}

// QueueReadFor is QueueRead for a delivery: of the variants that are quarantined
// or refused, of which a constant control reference makes one with every file, it
// reads only those that the delivery may be: asked are, for each key, digests of
// payloads and, where they are known, of contents. All others are read, the current
// one among them: a drift becomes that by a decision only, which ends its being one.
// Every row of the outcome table fits as it does after QueueRead:
//   - whether a drift is open says the row of the key (Key.Hold);
//   - where the first variant came by row I1 and none stands, none came by another
//     row: it would have been row I9, and have been read.
//
// The work does not grow with the number of drifts. The branches of the second
// statement are kept from being joined in another order: a plan that walks through
// all variants of a key looks cheap to statistics made of other keys.
func QueueReadFor(b *pgx.Batch, refs []Ref, asked []Asked, keys map[Ref]*Key) {
	partners, ids := split(refs)
	var partner, id []string
	var sum [][]byte
	for i := range asked {
		partner, id, sum = append(partner, asked[i].Partner), append(id, asked[i].ID), append(sum, asked[i].SHA256[:])
	}
	queueKeys(b, partners, ids, keys, true)
	b.Queue(`
		select `+variantColumns+`, v.first_at
		from unnest($1::text[], $2::text[]) as k (partner_id, message_id) cross join lateral (
			select `+variantColumns+`, v.first_at from variant v
			where v.partner_id = k.partner_id collate "C" and v.message_id = k.message_id collate "C" and v.state not in (6, 7)
			offset 0) as v
		union all
		select `+variantColumns+`, v.first_at
		from unnest($3::text[], $4::text[], $5::bytea[]) as k (partner_id, message_id, sha256) cross join lateral (
			select `+variantColumns+`, v.first_at from variant v
			where v.partner_id = k.partner_id collate "C" and v.message_id = k.message_id collate "C" and v.payload_sha256 = k.sha256 and v.state in (6, 7)
			limit 1) as v
		union all
		select `+variantColumns+`, v.first_at
		from unnest($3::text[], $4::text[], $5::bytea[]) as k (partner_id, message_id, sha256) cross join lateral (
			select `+variantColumns+`, v.first_at from variant v
			where v.partner_id = k.partner_id collate "C" and v.message_id = k.message_id collate "C" and v.content_sha256 = k.sha256 and v.state = 7
			limit 1) as v
		order by first_at, payload_sha256`, partners, ids, partner, id, sum,
	).Query(func(rows pgx.Rows) error { return scanVariants(rows, keys) })
}

// fewKeys are asked for one by one: the plan of a statement about one key is kept,
// while one that joins a list is planned anew each time, which costs more than it
// does.
const fewKeys = 8

// QueueKeys reads the keys that exist among refs, each with its first variant
// alone, which stands in its row: all there is of a key nobody knows, and all that
// the repeat of a first variant needs.
func QueueKeys(b *pgx.Batch, refs []Ref, keys map[Ref]*Key) {
	if len(refs) > fewKeys {
		partners, ids := split(refs)
		queueKeys(b, partners, ids, keys, true)
		return
	}
	for _, r := range refs {
		b.Queue(`
			select `+keyColumns+`
			from inbox i
			where i.partner_id = $1 and i.message_id = $2`, r.Partner, r.ID,
		).Query(func(rows pgx.Rows) error { return scanKeys(rows, keys, true) })
	}
}

// keyColumns are those of key i that scanKeys reads.
const keyColumns = `i.partner_id, i.message_id, i.kind, i.epoch, i.current_sha256, i.first_at, i.last_at, i.purge_on, i.hold & 1 <> 0, i.hold & 2 <> 0,
			array_to_string(i.carried, e'\n'),
			i.payload_sha256, i.content_sha256, i.content_version, i.state, i.variant_epoch, i.via, i.answer, i.messages,
			i.delivery_id, i.payload_id, i.payload_month, i.payload_offset, i.payload_length, i.ack_id, i.ack_month, i.alert_id`

func queueKeys(b *pgx.Batch, partners, ids []string, keys map[Ref]*Key, partly bool) {
	b.Queue(`
		select `+keyColumns+`
		from inbox i join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"`, partners, ids,
	).Query(func(rows pgx.Rows) error { return scanKeys(rows, keys, partly) })
}

// Load reads keys without a lock: for look-ups and screens, never to decide
// anything but row I2.
func Load(ctx context.Context, q Querier, refs []Ref) (map[Ref]*Key, error) {
	keys := make(map[Ref]*Key, len(refs))
	if len(refs) == 0 {
		return keys, nil
	}
	var b pgx.Batch
	QueueRead(&b, refs, keys)
	return keys, readAll(ctx, q, &b, keys)
}

// LoadFor is Load that reads as QueueReadFor does.
func LoadFor(ctx context.Context, q Querier, refs []Ref, asked []Asked) (map[Ref]*Key, error) {
	keys := make(map[Ref]*Key, len(refs))
	if len(refs) == 0 {
		return keys, nil
	}
	var b pgx.Batch
	QueueReadFor(&b, refs, asked, keys)
	return keys, readAll(ctx, q, &b, keys)
}

func readAll(ctx context.Context, q Querier, b *pgx.Batch, keys map[Ref]*Key) error {
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("load keys: %w", err)
	}
	var more pgx.Batch
	if QueueMessages(&more, keys) {
		if err := q.SendBatch(ctx, &more).Close(); err != nil {
			return fmt.Errorf("load message states: %w", err)
		}
	}
	return nil
}
