package dedup

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// Due is a key as the purge sees it. Whether it may go is judged by who asks, by the
// windows that are in force.
type Due struct {
	Ref
	Kind    Kind
	LastAt  time.Time
	PurgeOn time.Time
	Hold    int16 // bits Hold…: what forbids purging it
	Legal   bool  // a person holds it
	Alert   bool  // an alert is open that no bit tells of
	Carried []Last
	Lost    bool // an interchange that it carried is not here any more
}

// Last is when an interchange was delivered last that a transport key carried.
type Last struct {
	Partner string
	At      time.Time
}

// dueDay is the day before which the days of keys have passed; the others take the day from
// who judges. A repeat moves a key's day once in 24 hours (QueueLastDelivery): its last
// delivery may have been a day later than the row says.
const dueDay = `((now() at time zone 'utc')::date - 1)`

// What is asked of a key. Interchanges that a transport id carried stand in it as lines
// of partner, key and digest.
const dueColumns = `
	i.partner_id, i.message_id, i.kind, i.last_at, i.purge_on, i.hold,
	exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id),
	exists (select from drift_alert a where a.partner_id = i.partner_id and a.message_id = i.message_id and a.state in ('open', 'in_review', 'awaiting_approval')),
	(select coalesce(array_agg(c.partner_id), '{}') from unnest(i.carried) as l join inbox c
		on c.partner_id = split_part(l, e'\t', 1) collate "C" and c.message_id = split_part(l, e'\t', 2) collate "C"),
	(select coalesce(array_agg(c.last_at), '{}') from unnest(i.carried) as l join inbox c
		on c.partner_id = split_part(l, e'\t', 1) collate "C" and c.message_id = split_part(l, e'\t', 2) collate "C"),
	coalesce(cardinality(i.carried), 0)`

func (d *Due) scan(row interface{ Scan(...any) error }) error {
	var partners []string
	var at []time.Time
	var carried int
	*d = Due{}
	if err := row.Scan(&d.Partner, &d.ID, &d.Kind, &d.LastAt, &d.PurgeOn, &d.Hold, &d.Legal, &d.Alert, &partners, &at, &carried); err != nil {
		return err
	}
	for i, p := range partners {
		d.Carried = append(d.Carried, Last{p, at[i]})
	}
	d.Lost = carried > len(partners)
	return nil
}

func collectDue(rows pgx.Rows, err error, what string) ([]Due, error) {
	if err == nil {
		var list []Due
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Due, err error) { return d, d.scan(row) })
		if err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", what, err)
}

// TakeDue locks keys whose day has passed and on which nothing is held, past those that
// somebody works on: it waits for nobody, so that the order of its locks matters to none.
// What is told of them is read by a following statement: the one that locks sees a hold, or
// an alert, that was committed since it began as not there. Today is the day that they are
// judged by: one that is due by another would be given again and again.
func TakeDue(ctx context.Context, tx pgx.Tx, today time.Time, limit int) ([]Due, error) {
	rows, err := tx.Query(ctx, `
		select i.partner_id, i.message_id
		from inbox i
		where i.hold = 0 and i.purge_on < $2::date - 1
		order by i.purge_on limit $1
		for update of i skip locked`, limit, today)
	return locked(ctx, tx, rows, err)
}

// locked reads keys that were locked.
func locked(ctx context.Context, tx pgx.Tx, rows pgx.Rows, err error) ([]Due, error) {
	if err != nil {
		return nil, fmt.Errorf("lock keys that are due: %w", err)
	}
	refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Ref, err error) { return r, row.Scan(&r.Partner, &r.ID) })
	if err != nil {
		return nil, fmt.Errorf("lock keys that are due: %w", err)
	}
	if len(refs) == 0 {
		return nil, nil
	}
	partners, ids := split(refs)
	rows, err = tx.Query(ctx, `
		select `+dueColumns+`
		from unnest($1::text[], $2::text[]) with ordinality as k (partner_id, message_id, n)
			join inbox i on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"
		order by k.n`, partners, ids)
	return collectDue(rows, err, "read keys that are due")
}

// PagesDue hands on every key whose day has passed, whatever is held on it, in pages of one
// statement: of one moment, and a page in memory.
func PagesDue(ctx context.Context, tx pgx.Tx, today time.Time, page int, each func([]Due) error) error {
	return months.Pages(ctx, tx, `select `+dueColumns+` from inbox i where i.purge_on < $1::date - 1`, []any{today}, page, scanKey, each)
}

// PagesOf does so with all keys of a partner.
func PagesOf(ctx context.Context, tx pgx.Tx, partner string, page int, each func([]Due) error) error {
	return months.Pages(ctx, tx, `select `+dueColumns+` from inbox i where i.partner_id = $1`, []any{partner}, page, scanKey, each)
}

func scanKey(row pgx.CollectableRow) (d Due, err error) { return d, d.scan(row) }

// PageOf locks keys of a partner in order, those after one, past those that somebody
// works on: their days are set anew.
func PageOf(ctx context.Context, tx pgx.Tx, partner, after string, limit int) ([]Due, error) {
	rows, err := tx.Query(ctx, `
		select i.partner_id, i.message_id
		from inbox i
		where i.partner_id = $1 and i.message_id > $2
		order by i.message_id limit $3
		for update of i skip locked`, partner, after, limit)
	return locked(ctx, tx, rows, err)
}

// PurgeOn sets the days of keys, which must be locked.
func PurgeOn(ctx context.Context, tx pgx.Tx, refs []Ref, days []time.Time) error {
	if len(refs) == 0 {
		return nil
	}
	partners, ids := split(refs)
	_, err := tx.Exec(ctx, `
		update inbox i set purge_on = k.day
		from unnest($1::text[], $2::text[], $3::date[]) as k (partner_id, message_id, day)
		where i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C" and i.purge_on <> k.day`, partners, ids, days)
	if err != nil {
		return fmt.Errorf("set the days of keys: %w", err)
	}
	return nil
}

// hanging is what goes with a key. Alerts that are open keep their key.
var hanging = []struct{ kind, table string }{
	{"variants", "variant"},
	{"message_states", "message_state"},
	{"alerts", "drift_alert"},
}

// CountKeys says what would go with keys, by kind: they and what hangs on them.
func CountKeys(ctx context.Context, q months.Querier, refs []Ref) (map[string]map[string]months.Has, error) {
	has := map[string]map[string]months.Has{}
	partners, ids := split(refs)
	for _, h := range append(slices.Clone(hanging), struct{ kind, table string }{"keys", "inbox"}) {
		rows, err := q.Query(ctx, `
			select t.partner_id, count(*), sum(pg_column_size(t.*))::bigint
			from `+h.table+` t join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
				on t.partner_id = k.partner_id collate "C" and t.message_id = k.message_id collate "C"
			group by 1`, partners, ids)
		if err := add(has, h.kind, rows, err); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// DeleteKeys deletes keys, which must be locked, and what hangs on them, and says what
// that was.
func DeleteKeys(ctx context.Context, tx pgx.Tx, refs []Ref) (map[string]map[string]months.Has, error) {
	has := map[string]map[string]months.Has{}
	partners, ids := split(refs)
	for _, h := range append(slices.Clone(hanging), struct{ kind, table string }{"keys", "inbox"}) {
		rows, err := tx.Query(ctx, `
			with gone as (
				delete from `+h.table+` t using unnest($1::text[], $2::text[]) as k (partner_id, message_id)
				where t.partner_id = k.partner_id collate "C" and t.message_id = k.message_id collate "C"
				returning t.partner_id, pg_column_size(t.*) as bytes)
			select partner_id, count(*), sum(bytes)::bigint from gone group by 1`, partners, ids)
		if err := add(has, h.kind, rows, err); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// add adds up what rows say of each partner under a kind.
func add(has map[string]map[string]months.Has, kind string, rows pgx.Rows, err error) error {
	if err != nil {
		return fmt.Errorf("purge %s: %w", kind, err)
	}
	var partner string
	var n months.Has
	if _, err := pgx.ForEachRow(rows, []any{&partner, &n.Rows, &n.Bytes}, func() error {
		if has[partner] == nil {
			has[partner] = map[string]months.Has{}
		}
		was := has[partner][kind]
		has[partner][kind] = months.Has{Rows: was.Rows + n.Rows, Bytes: was.Bytes + n.Bytes}
		return nil
	}); err != nil {
		return fmt.Errorf("purge %s: %w", kind, err)
	}
	return nil
}

// DueGuard is a guard whose day has passed.
type DueGuard struct {
	GuardRef
	First time.Time
	Bytes int64
	Legal bool // of its interchange
	Key   *Due // of the interchange that brought its document first; nil: gone
}

const guardColumns = `
	g.partner_id, g.document_key, g.first_at, pg_column_size(g.*),
	exists (select from legal_hold h where h.partner_id = g.partner_id and h.message_id = g.message_id),
	i.kind, i.last_at, i.purge_on, i.hold,
	exists (select from drift_alert a where a.partner_id = i.partner_id and a.message_id = i.message_id and a.state in ('open', 'in_review', 'awaiting_approval')),
	i.message_id`

// guardKey joins the interchange that brought a guard's document.
const guardKey = `
	left join inbox i on i.partner_id = g.partner_id and i.message_id = g.message_id
		-- Of a reference that was used again since it is an earlier epoch that brought the document.
		and not (i.epoch > 0 and exists (
			select from variant v where v.partner_id = i.partner_id and v.message_id = i.message_id and v.variant_epoch = i.epoch and v.first_at > g.first_at))`

func (g *DueGuard) scan(row interface{ Scan(...any) error }) error {
	*g = DueGuard{}
	var key []byte
	var kind, hold *int16
	var last, on *time.Time
	var id *string
	var k Due
	if err := row.Scan(&g.Partner, &key, &g.First, &g.Bytes, &g.Legal, &kind, &last, &on, &hold, &k.Alert, &id); err != nil {
		return err
	}
	copy(g.Key32(), key)
	if id != nil {
		k.Ref, k.Kind, k.LastAt, k.PurgeOn, k.Hold, k.Legal = Ref{g.Partner, *id}, Kind(*kind), *last, *on, *hold, g.Legal
		g.Key = &k
	}
	return nil
}

// Key32 is where the digest stands that names the guard.
func (g *DueGuard) Key32() []byte { return g.GuardRef.Key[:] }

// TakeGuards locks guards whose day has passed, past those that somebody works on, and
// reads them by a following statement.
func TakeGuards(ctx context.Context, tx pgx.Tx, today time.Time, limit int) ([]DueGuard, error) {
	rows, err := tx.Query(ctx, `
		select g.partner_id, g.document_key from document_key g
		where g.purge_on < $1::date
		order by g.purge_on limit $2 for update of g skip locked`, today, limit)
	if err != nil {
		return nil, fmt.Errorf("take guards that are due: %w", err)
	}
	var partners []string
	var keys [][]byte
	var partner string
	var key []byte
	if _, err := pgx.ForEachRow(rows, []any{&partner, &key}, func() error {
		partners, keys = append(partners, partner), append(keys, bytes.Clone(key))
		return nil
	}); err != nil {
		return nil, fmt.Errorf("take guards that are due: %w", err)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err = tx.Query(ctx, `
		select `+guardColumns+`
		from unnest($1::text[], $2::bytea[]) as k (partner_id, document_key)
			join document_key g on g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key`+guardKey, partners, keys)
	if err != nil {
		return nil, fmt.Errorf("take guards that are due: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g DueGuard, err error) { return g, g.scan(row) })
	if err != nil {
		return nil, fmt.Errorf("take guards that are due: %w", err)
	}
	return list, nil
}

// PagesOfGuards hands on every guard whose day has passed, in pages of one statement.
func PagesOfGuards(ctx context.Context, tx pgx.Tx, today time.Time, page int, each func([]DueGuard) error) error {
	return months.Pages(ctx, tx, `select `+guardColumns+` from document_key g`+guardKey+` where g.purge_on < $1::date`, []any{today}, page, func(row pgx.CollectableRow) (g DueGuard, err error) { return g, g.scan(row) }, each)
}

// DeleteGuards deletes guards, which must be locked.
func DeleteGuards(ctx context.Context, tx pgx.Tx, refs []GuardRef) error {
	partners, keys := splitGuards(refs)
	if _, err := tx.Exec(ctx, `
		delete from document_key g using unnest($1::text[], $2::bytea[]) as k (partner_id, document_key)
		where g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key`, partners, keys); err != nil {
		return fmt.Errorf("purge guards: %w", err)
	}
	return nil
}

// GuardsOn sets the days of guards, which must be locked.
func GuardsOn(ctx context.Context, tx pgx.Tx, refs []GuardRef, days []time.Time) error {
	if len(refs) == 0 {
		return nil
	}
	partners, keys := splitGuards(refs)
	if _, err := tx.Exec(ctx, `
		update document_key g set purge_on = k.day
		from unnest($1::text[], $2::bytea[], $3::date[]) as k (partner_id, document_key, day)
		where g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key`, partners, keys, days); err != nil {
		return fmt.Errorf("set the days of guards: %w", err)
	}
	return nil
}

// copyKept is how long the content of a drift is compared with what comes.
const copyKept = `interval '90 days'`

// ForgetCopies deletes what was remembered of the contents of drifts that nothing is
// compared with any more; dry, it counts them.
func ForgetCopies(ctx context.Context, q months.Querier, dry bool) (map[string]map[string]months.Has, error) {
	has := map[string]map[string]months.Has{}
	sql := `
		with gone as (delete from drift_copy t where opened_at < now() - ` + copyKept + ` returning partner_id, pg_column_size(t.*) as bytes)
		select partner_id, count(*), sum(bytes)::bigint from gone group by 1`
	if dry {
		sql = `select partner_id, count(*), sum(pg_column_size(t.*))::bigint from drift_copy t where opened_at < now() - ` + copyKept + ` group by 1`
	}
	rows, err := q.Query(ctx, sql)
	return has, add(has, "drift_copies", rows, err)
}

// Placed is a key that keeps what is its own: something is held under it, or a person holds
// it.
type Placed struct {
	Ref
	Hold     int16
	Legal    bool
	Payloads []uuid.UUID // wherever they stand
	Acks     []uuid.UUID
}

// Keepers gives keys under which something is held, after one, with what is theirs. In
// which months that stands its tables say: a row points at where it stood first.
func Keepers(ctx context.Context, q months.Querier, after Ref, limit int) ([]Placed, error) {
	rows, err := q.Query(ctx, `
		with keeper as (
			(select partner_id, message_id from inbox where hold <> 0 and (partner_id, message_id) > ($1 collate "C", $2 collate "C") order by partner_id, message_id limit $3)
			union
			(select partner_id, message_id from legal_hold where (partner_id, message_id) > ($1 collate "C", $2 collate "C") order by partner_id, message_id limit $3)
			order by 1, 2 limit $3)
		select k.partner_id, k.message_id,
			coalesce((select hold from inbox i where i.partner_id = k.partner_id and i.message_id = k.message_id), 0),
			exists (select from legal_hold h where h.partner_id = k.partner_id and h.message_id = k.message_id),
			array(select payload_id from inbox i where i.partner_id = k.partner_id and i.message_id = k.message_id and payload_id is not null
				union select payload_id from variant v where v.partner_id = k.partner_id and v.message_id = k.message_id and payload_id is not null),
			array(select ack_id from inbox i where i.partner_id = k.partner_id and i.message_id = k.message_id and ack_id is not null
				union select ack_id from variant v where v.partner_id = k.partner_id and v.message_id = k.message_id and ack_id is not null)
		from keeper k order by 1, 2`, after.Partner, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read keys that keep what is theirs: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Placed, err error) {
		return p, row.Scan(&p.Partner, &p.ID, &p.Hold, &p.Legal, &p.Payloads, &p.Acks)
	})
	if err != nil {
		return nil, fmt.Errorf("read keys that keep what is theirs: %w", err)
	}
	return list, nil
}

// HeldElsewhere gives, by partner, the payloads of keys under which something is held that
// stand with what is held by no word of the key. They may be in any month, or gone.
func HeldElsewhere(ctx context.Context, q months.Querier) (map[string][]uuid.UUID, error) {
	rows, err := q.Query(ctx, `
		select partner_id, payload_id from inbox where hold <> 0 and payload_month <> '9999-01-01'
		union
		select v.partner_id, v.payload_id
		from inbox i join variant v on v.partner_id = i.partner_id and v.message_id = i.message_id
		where i.hold <> 0 and v.payload_month <> '9999-01-01'`)
	if err != nil {
		return nil, fmt.Errorf("read what keys hold: %w", err)
	}
	held := map[string][]uuid.UUID{}
	var partner string
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&partner, &id}, func() error {
		held[partner] = append(held[partner], id)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read what keys hold: %w", err)
	}
	return held, nil
}

// Keeps notes that payloads and acknowledgements of a key, which must be locked, stand
// with what is held.
func Keeps(ctx context.Context, tx pgx.Tx, p *Placed) error {
	for _, table := range []string{"inbox", "variant"} {
		if _, err := tx.Exec(ctx, `
			update `+table+` set payload_month = case when payload_id = any($3) then $5 else payload_month end,
				ack_month = case when ack_id = any($4) then $5 else ack_month end
			where partner_id = $1 and message_id = $2 and (payload_id = any($3) or ack_id = any($4))`, p.Partner, p.ID, append([]uuid.UUID{}, p.Payloads...), append([]uuid.UUID{}, p.Acks...), months.Held); err != nil { // arrays are never null: nothing would equal any of it
			return fmt.Errorf("keep what belongs to %s of %s: %w", p.ID, p.Partner, err)
		}
	}
	return nil
}

// HeldOf gives which of a partner's payloads and acknowledgements keys need that hold
// something, or that a person holds.
func HeldOf(ctx context.Context, q months.Querier, partner string, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := q.Query(ctx, `
		with keeper as (
			select message_id from inbox where partner_id = $1 and hold <> 0
			union select message_id from legal_hold where partner_id = $1),
		needed as (
			select unnest(array[i.payload_id, i.ack_id]) as id from keeper k join inbox i on i.partner_id = $1 and i.message_id = k.message_id
			union all
			select unnest(array[v.payload_id, v.ack_id]) from keeper k join variant v on v.partner_id = $1 and v.message_id = k.message_id)
		select distinct id from needed where id = any($2)`, partner, ids)
	if err != nil {
		return nil, fmt.Errorf("read what keys of %s need: %w", partner, err)
	}
	needed := map[uuid.UUID]bool{}
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error {
		needed[id] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what keys of %s need: %w", partner, err)
	}
	return needed, nil
}

// LockKey locks a key's row; false where it is gone.
func LockKey(ctx context.Context, tx pgx.Tx, r Ref) (bool, error) {
	tag, err := tx.Exec(ctx, `select from inbox where partner_id = $1 and message_id = $2 for update`, r.Partner, r.ID)
	if err != nil {
		return false, fmt.Errorf("lock %s of %s: %w", r.ID, r.Partner, err)
	}
	return tag.RowsAffected() == 1, nil
}

// HeldFor says in words what the bits of a key's hold forbid.
func HeldFor(hold int16) string {
	var words []string
	for _, h := range []struct {
		bit  int16
		word string
	}{{HoldDrift, "open_drift"}, {HoldMessage, "held_message"}, {HoldPending, "pending"}, {HoldDead, "dead_message"}} {
		if hold&h.bit != 0 {
			words = append(words, h.word)
		}
	}
	return strings.Join(words, "+")
}

// HeldRows is how many keys of a partner are due and held for the same.
type HeldRows struct {
	Partner string
	Hold    int16
	Rows    int64
}

// HeldDue counts keys whose day has passed and on which something is held.
func HeldDue(ctx context.Context, q months.Querier, today time.Time) ([]HeldRows, error) {
	rows, err := q.Query(ctx, `
		select partner_id, hold, count(*) from inbox
		where hold <> 0 and purge_on < $1::date - 1 group by 1, 2`, today)
	if err != nil {
		return nil, fmt.Errorf("count keys that are held: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h HeldRows, err error) {
		return h, row.Scan(&h.Partner, &h.Hold, &h.Rows)
	})
	if err != nil {
		return nil, fmt.Errorf("count keys that are held: %w", err)
	}
	return list, nil
}

// OldestDue is the earliest day that has passed of a key on which nothing is held.
func OldestDue(ctx context.Context, q months.Querier) (day *time.Time, err error) {
	if err := q.QueryRow(ctx, `
		select min(purge_on) from inbox where hold = 0 and purge_on < `+dueDay).Scan(&day); err != nil {
		return nil, fmt.Errorf("look for the key that is due longest: %w", err)
	}
	return day, nil
}

// KeptOf gives which of a partner's keys are held, by what stands under them or by a person.
func KeptOf(ctx context.Context, q months.Querier, refs []Ref) (map[Ref]bool, error) {
	partners, ids := split(refs)
	rows, err := q.Query(ctx, `
		select k.partner_id, k.message_id
		from unnest($1::text[], $2::text[]) as k (partner_id, message_id)
		where exists (select from inbox i where i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C" and i.hold <> 0)
			or exists (select from legal_hold h where h.partner_id = k.partner_id collate "C" and h.message_id = k.message_id collate "C")`, partners, ids)
	if err != nil {
		return nil, fmt.Errorf("read which keys are held: %w", err)
	}
	kept := map[Ref]bool{}
	var r Ref
	if _, err := pgx.ForEachRow(rows, []any{&r.Partner, &r.ID}, func() error {
		kept[r] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read which keys are held: %w", err)
	}
	return kept, nil
}

// LegallyHeld gives the keys of a partner that a person holds.
func LegallyHeld(ctx context.Context, q months.Querier, partner string) ([]string, error) {
	rows, err := q.Query(ctx, `select message_id from legal_hold where partner_id = $1`, partner)
	if err == nil {
		var ids []string
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("list legal holds of %s: %w", partner, err)
}

// PointedAt gives which of a partner's payloads keys say stand with what is held: they are
// released with their keys.
func PointedAt(ctx context.Context, q months.Querier, partner string, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := q.Query(ctx, `
		select payload_id from inbox where partner_id = $1 and payload_id = any($2) and payload_month = '9999-01-01'
		union
		select payload_id from variant where partner_id = $1 and payload_id = any($2) and payload_month = '9999-01-01'`, partner, ids)
	if err != nil {
		return nil, fmt.Errorf("read which payloads of %s are held: %w", partner, err)
	}
	found := map[uuid.UUID]bool{}
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		found[id] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read which payloads of %s are held: %w", partner, err)
	}
	return found, nil
}
