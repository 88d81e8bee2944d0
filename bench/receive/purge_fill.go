package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// fill writes messages of the last years as a gateway would have left them: of each a key
// of its transport and one of its interchange, its guard, and its payload, acknowledgement,
// delivery and events in months that have passed. Of every thousand some have to stay: a
// drift is open, a message is dead, a person holds it, an alert is open, an acknowledgement
// or an event is on its way.
func (x *purging) fill(ctx context.Context) error {
	messages := max(x.b.keys/2, 1000)
	since := time.Now()
	for _, sql := range []string{
		`create function pg_temp.id7(n bigint, k int) returns uuid language sql immutable as $$
			select encode(substring(int8send((extract(epoch from timestamptz '2024-03-01') * 1000)::bigint + n), 3, 6)
				|| substring(decode(md5(n::text || '/' || k), 'hex'), 1, 10), 'hex')::uuid $$`,
		`create function pg_temp.partner(n bigint) returns text language sql immutable as $$ select 'partner' || lpad((n % ` + fmt.Sprint(purgePartners) + `)::text, 4, '0') $$`,
		`create temp table m as
			select n, pg_temp.partner(n) as partner_id, 'unb:past:14:us:14:' || lpad(n::text, 14, '0') as key, 'http:nordhafen:past-' || lpad(n::text, 12, '0') as tkey,
				(date_trunc('month', now() at time zone 'utc') - make_interval(months => 1 + (n % 2)::int))::date as month,
				now() - interval '500 days' - make_interval(secs => (n % 5000000)) as at,
				case when n % 1000 = 7 then 'drift' when n % 1000 = 107 then 'dead' when n % 1000 = 207 then 'legal' when n % 1000 = 307 then 'alert'
					when n % 1000 = 407 then 'ack' when n % 1000 = 507 then 'event' else '' end as stays
			from generate_series(1, ` + fmt.Sprint(messages) + `::bigint) as n`,
		`do $$ declare t text; m date; begin
			foreach t in array array['payload', 'evidence', 'acknowledgement', 'delivery', 'outbox'] loop
				for m in select distinct month from m loop
					execute format('create table if not exists %I partition of %I for values from (%L) to (%L)', t || to_char(m, '_YYYYMM'), t, m, m + interval '1 month');
				end loop;
			end loop; end $$`,
		// 2 is accepted, 6 quarantined, 5 dead; messages of one, posted.
		`insert into inbox (partner_id, message_id, kind, first_at, last_at, purge_on, hold, payload_sha256, content_sha256, content_version, state, answer, messages, delivery_id, payload_id, payload_month, payload_length, ack_id, ack_month)
			select partner_id, key, 2, at, at, (at + interval '400 days')::date, case stays when 'drift' then 1 when 'dead' then 8 else 0 end, sha256(key::bytea), sha256(key::bytea), 1, 2, 1, substring(sha256(key::bytea) || sha256(key::bytea), 1, 44),
				pg_temp.id7(n, 1), pg_temp.id7(n, 2), month, 900, pg_temp.id7(n, 3), month from m`,
		`insert into inbox (partner_id, message_id, kind, first_at, last_at, purge_on, carried, payload_sha256, state, answer, messages, delivery_id, payload_id, payload_month, payload_length, ack_id, ack_month)
			select partner_id, tkey, 1, at, at, (at + interval '400 days')::date, array[partner_id || e'\t' || key || e'\t' || encode(sha256(key::bytea), 'hex')], sha256(key::bytea), 2, 1, '',
				pg_temp.id7(n, 1), pg_temp.id7(n, 2), month, 900, pg_temp.id7(n, 4), month from m`,
		`insert into document_key (partner_id, document_key, contents, document_ids, message_id, first_at, purge_on)
			select partner_id, sha256(key::bytea), sha256(key::bytea), array[pg_temp.id7(n, 5)], key, at - interval '400 days', (at + interval '400 days')::date from m`,
		`insert into payload (partner_id, payload_id, seq, purge_month, body)
			select partner_id, pg_temp.id7(n, 2), 0, month, decode(repeat(md5(n::text), 4), 'hex') || repeat('LIN+1++9520000001018:EN', 36)::bytea from m`,
		`insert into acknowledgement (partner_id, ack_id, purge_month, answer) select partner_id, pg_temp.id7(n, 3), month, repeat('{"verdict": "first"}', 20)::bytea from m`,
		`insert into acknowledgement (partner_id, ack_id, purge_month, receipt) select partner_id, pg_temp.id7(n, 4), month, repeat('{"receipt": "first"}', 30)::bytea from m`,
		`insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, payload_sha256, verdict, outcome, bytes, payload_id, payload_month, ack_id, ack_month)
			select partner_id, pg_temp.id7(n, 1), 0, month, at, 'http', tkey, key, sha256(key::bytea), 'first', 'accepted', 900, pg_temp.id7(n, 2), month, pg_temp.id7(n, 3), month from m`,
		`insert into outbox (partner_id, event_id, purge_month, kind, type, subject, body)
			select partner_id, pg_temp.id7(n, 6), month, 'event', 'message.received', key, jsonb_build_object('message_id', key) from m`,
		`insert into legal_hold (partner_id, message_id, reason, held_by) select partner_id, key, 'audit', 'bench' from m where stays = 'legal'`,
		`insert into drift_alert (partner_id, alert_id, kind, message_id, state, class, severity, digests)
			select partner_id, pg_temp.id7(n, 7), 'interchange', key, case stays when 'alert' then 'open' when 'drift' then 'open' else 'resolved' end, 'business', 'high', array[sha256(key::bytea)]
			from m where stays in ('alert', 'drift') or n % 100 = 1`,
		`insert into effect (partner_id, event_id, target, event_month, state) select partner_id, pg_temp.id7(n, 6), 'folder', month, 4 from m where stays in ('ack', 'event')`,
		`insert into functional_acknowledgement (partner_id, event_id, event_month, reference, type, by, message_id, payload_sha256)
			select partner_id, pg_temp.id7(n, 6), month, n::text, 'CONTRL', 'folder', key, sha256(key::bytea) from m where stays = 'ack' or n % 10 = 3`,
		`drop table m`,
	} {
		// One connection: what it makes is its own.
		if err := x.step(ctx, sql); err != nil {
			return err
		}
	}
	x.close()
	for _, sql := range []string{`vacuum (freeze, analyze)`, `checkpoint`} {
		if _, err := x.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	var size string
	if err := x.pool.QueryRow(ctx, `select pg_size_pretty(pg_database_size(current_database()))`).Scan(&size); err != nil {
		return err
	}
	fmt.Printf("%d keys of %d messages, and all of theirs: %s, filled in %.0f s\n", 2*messages, messages, size, time.Since(since).Seconds())
	return nil
}

func (x *purging) step(ctx context.Context, sql string) (err error) {
	if x.filling == nil {
		if x.filling, err = x.pool.Acquire(ctx); err != nil {
			return err
		}
		if _, err := x.filling.Exec(ctx, `set synchronous_commit = off; set statement_timeout = 0`); err != nil {
			return err
		}
	}
	since := time.Now()
	if _, err := x.filling.Exec(ctx, sql); err != nil {
		return fmt.Errorf("fill: %w\n%s", err, sql)
	}
	fmt.Fprintf(os.Stderr, "\rfilling, %.0f s ", time.Since(since).Seconds())
	return nil
}

func (x *purging) close() {
	if x.filling != nil {
		_ = x.filling.Conn().Close(context.Background()) // with what it set
		x.filling.Release()
		x.filling = nil
	}
}

// kept counts what has to stay, by why.
func (x *purging) kept(ctx context.Context) (map[string]int64, error) {
	kept := map[string]int64{}
	for what, sql := range map[string]string{
		"keys of open drifts":             `select count(*) from inbox where hold & 1 <> 0`,
		"keys of dead messages":           `select count(*) from inbox where hold & 8 <> 0`,
		"keys that a person holds":        `select count(*) from inbox i join legal_hold h using (partner_id, message_id)`,
		"keys of open alerts":             `select count(distinct (a.partner_id, a.message_id)) from drift_alert a join inbox i using (partner_id, message_id) where a.state = 'open'`,
		"keys whose answer is on its way": `select count(*) from functional_acknowledgement f join effect e using (partner_id, event_id) join inbox i using (partner_id, message_id) where e.state <> 3`,
		"events on their way":             `select count(*) from effect e join outbox o on o.partner_id = e.partner_id and o.event_id = e.event_id and o.purge_month = e.event_month where e.state <> 3`,
		"payloads of drifts, dead and held": `select count(*) from inbox i join payload p on p.partner_id = i.partner_id and p.payload_id = i.payload_id
			where i.kind = 2 and (i.hold <> 0 or exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id))`,
		"deliveries of messages that are held":       `select count(*) from delivery d join legal_hold h using (partner_id, message_id)`,
		"acknowledgements of messages that are held": `select count(*) from legal_hold h join inbox i using (partner_id, message_id) join acknowledgement a on a.partner_id = i.partner_id and a.ack_id = i.ack_id`,
		"guards of keys that stay":                   `select count(*) from document_key g join inbox i on i.partner_id = g.partner_id and i.message_id = g.message_id where i.hold <> 0 or exists (select from legal_hold h where h.partner_id = i.partner_id and h.message_id = i.message_id)`,
	} {
		n, err := x.site.Count(ctx, sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		kept[what] = n
	}
	return kept, nil
}
