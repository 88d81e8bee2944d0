package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
)

// rows are what the database holds when all is over.
type rows struct {
	keys      map[ref]*keyRow
	documents map[string]*documentRow // by id
	guards    []guardRow
	receipts  map[string]bool // partner and bytes of rendered receipts
	answers   map[string]bool // and of interchanges' parts
	acks      map[string]bool // ids, with their partner
	journal   []journalRow
	events    []eventRow
	alerts    map[string]*alertRow
	audit     map[string]int // decisions in the audit log, by alert
	payloads  map[string]string
	strays    map[string]int // what nothing refers to, by its words
	purged    map[ref]bool
}

type keyRow struct {
	ref
	kind     int16 // 1 is a transport key
	variants []*variantRow
}

type variantRow struct {
	digest             [32]byte
	state              dedup.State
	epoch              int32
	answer             int16
	messages           []dedup.MessageState
	delivery, ack      string
	payload            string
	offset, length     int64
	noDigest, noAnswer bool
}

type documentRow struct {
	id, partner, key, number, reference string
	sha256                              [32]byte
	epoch                               int32
	over                                bool // superseded or cancelled
}

type guardRow struct {
	partner, key string
	contents     int
	documents    []string
}

type journalRow struct {
	partner, delivery, transport, transportID, key, verdict, rule, ack string
	digest, outcome                                                    string
}

// worker is the transport of the journal's rows of workers.
const worker = "worker"

type eventRow struct {
	partner, kind, typ, document, key, delivery, alert, digest string
}

type alertRow struct {
	partner, kind, key, state, decision string
	digests                             []string
}

// read reads all of it.
func readRows(ctx context.Context, conn *pgx.Conn) (*rows, error) {
	r := &rows{keys: map[ref]*keyRow{}, documents: map[string]*documentRow{}, receipts: map[string]bool{}, answers: map[string]bool{},
		acks: map[string]bool{}, alerts: map[string]*alertRow{}, audit: map[string]int{}, payloads: map[string]string{}, strays: map[string]int{}, purged: map[ref]bool{}}
	for _, read := range []func(context.Context, *pgx.Conn) error{
		r.readKeys, r.readDocuments, r.readGuards, r.readAnswers, r.readJournal, r.readEvents, r.readAlerts, r.readPayloads, r.readStrays, r.readPurged,
	} {
		if err := read(ctx, conn); err != nil {
			return nil, fmt.Errorf("read what is left: %w", err)
		}
	}
	return r, nil
}

func each(ctx context.Context, conn *pgx.Conn, sql string, dest []any, row func() error) error {
	found, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(found, dest, row)
	return err
}

func (r *rows) readKeys(ctx context.Context, conn *pgx.Conn) error {
	var k ref
	var v variantRow
	var kind, state int16
	var digest, messages []byte
	var ack, payload *string
	dest := []any{&k.partner, &k.id, &kind, &digest, &state, &v.epoch, &v.answer, &messages, &v.delivery, &ack, &payload, &v.offset, &v.length}
	const columns = `payload_sha256, state, variant_epoch, answer, messages, delivery_id::text, ack_id::text, payload_id::text, payload_offset, payload_length`
	keep := func() error {
		w := v
		w.noDigest, w.state, w.noAnswer = digest == nil, dedup.State(state), ack == nil
		if digest != nil {
			w.digest = [32]byte(digest)
		}
		if ack != nil {
			w.ack = *ack
		}
		if payload != nil {
			w.payload = *payload
		}
		var err error
		if w.messages, err = dedup.UnpackMessages(messages); err != nil {
			return err
		}
		if r.keys[k] == nil {
			r.keys[k] = &keyRow{ref: k, kind: kind}
		}
		r.keys[k].variants = append(r.keys[k].variants, &w)
		return nil
	}
	if err := each(ctx, conn, `select partner_id, message_id, kind, `+columns+` from inbox`, dest, keep); err != nil {
		return err
	}
	return each(ctx, conn, `select partner_id, message_id, 0::int2, `+columns+` from variant`, dest, func() error {
		if r.keys[k] == nil {
			r.strays["further variants without their key"]++
			return nil
		}
		return keep()
	})
}

// find gives the variant of a digest, nil if there is none.
func (r *rows) find(k ref, digest [32]byte) *variantRow {
	if row := r.keys[k]; row != nil {
		for _, v := range row.variants {
			if v.digest == digest && !v.noDigest {
				return v
			}
		}
	}
	return nil
}

func (r *rows) readDocuments(ctx context.Context, conn *pgx.Conn) error {
	var d documentRow
	var sha []byte
	return each(ctx, conn, `
		select document_id::text, partner_id, message_id, number, message_reference, message_sha256, epoch, superseded_by is not null or cancelled_by is not null
		from document`, []any{&d.id, &d.partner, &d.key, &d.number, &d.reference, &sha, &d.epoch, &d.over}, func() error {
		row := d
		row.sha256 = [32]byte(sha)
		r.documents[d.id] = &row
		return nil
	})
}

func (r *rows) readGuards(ctx context.Context, conn *pgx.Conn) error {
	var g guardRow
	return each(ctx, conn, `select partner_id, encode(document_key, 'hex'), length(contents) / 32, document_ids::text[] from document_key`,
		[]any{&g.partner, &g.key, &g.contents, &g.documents}, func() error {
			row := g
			row.documents = slices.Clone(g.documents)
			r.guards = append(r.guards, row)
			return nil
		})
}

func (r *rows) readAnswers(ctx context.Context, conn *pgx.Conn) error {
	var partner, id string
	var receipt, answer []byte
	return each(ctx, conn, `select partner_id, ack_id::text, receipt, answer from acknowledgement`, []any{&partner, &id, &receipt, &answer}, func() error {
		r.acks[partner+" "+id] = true
		if receipt != nil {
			r.receipts[partner+" "+string(receipt)] = true
		} else {
			r.answers[partner+" "+string(answer)] = true
		}
		return nil
	})
}

func (r *rows) readJournal(ctx context.Context, conn *pgx.Conn) error {
	var j journalRow
	return each(ctx, conn, `
		select partner_id, delivery_id::text, transport, coalesce(transport_id, ''), coalesce(message_id, ''), verdict, rule, coalesce(ack_id::text, ''),
			coalesce(encode(payload_sha256, 'hex'), ''), outcome
		from delivery`, []any{&j.partner, &j.delivery, &j.transport, &j.transportID, &j.key, &j.verdict, &j.rule, &j.ack, &j.digest, &j.outcome}, func() error {
		r.journal = append(r.journal, j)
		return nil
	})
}

func (r *rows) readEvents(ctx context.Context, conn *pgx.Conn) error {
	var e eventRow
	return each(ctx, conn, `
		select partner_id, kind, type, coalesce(body->>'document_id', ''), coalesce(body->>'message_id', ''), coalesce(body->>'delivery_id', ''),
			coalesce(body->>'alert_id', ''), coalesce(body->>'payload_sha256', '')
		from outbox`, []any{&e.partner, &e.kind, &e.typ, &e.document, &e.key, &e.delivery, &e.alert, &e.digest}, func() error {
		r.events = append(r.events, e)
		return nil
	})
}

func (r *rows) readAlerts(ctx context.Context, conn *pgx.Conn) error {
	var id string
	var a alertRow
	err := each(ctx, conn, `
		select alert_id::text, partner_id, kind, message_id, state, decision, array(select encode(d, 'hex') from unnest(digests) as d) from drift_alert`,
		[]any{&id, &a.partner, &a.kind, &a.key, &a.state, &a.decision, &a.digests}, func() error {
			row := a
			row.digests = slices.Clone(a.digests)
			r.alerts[id] = &row
			return nil
		})
	if err != nil {
		return err
	}
	return each(ctx, conn, `select subject from audit_entry where action in ('drift.decided', 'drift.approved')`, []any{&id}, func() error {
		r.audit[id]++
		return nil
	})
}

func (r *rows) readPayloads(ctx context.Context, conn *pgx.Conn) error {
	var partner, id string
	var body []byte
	return each(ctx, conn, `select partner_id, payload_id::text, body from payload order by partner_id, payload_id, seq`, []any{&partner, &id, &body}, func() error {
		r.payloads[partner+" "+id] += string(body)
		return nil
	})
}

// strays are rows that only make sense beside others: what a transaction that was
// rolled back must not leave.
var strays = map[string]string{
	"documents without their key":                    `select count(*) from document d where not exists (select from inbox i where i.partner_id = d.partner_id and i.message_id = d.message_id) and not exists (select from torture.purged p where p.partner_id = d.partner_id and p.message_id = d.message_id)`,
	"lines without their document":                   `select count(*) from document_line l where not exists (select from document d where d.partner_id = l.partner_id and d.document_id = l.document_id)`,
	"documents without their lines":                  `select count(*) from document d where line_count <> (select count(*) from document_line l where l.partner_id = d.partner_id and l.document_id = d.document_id)`,
	"keys without their delivery":                    `select count(*) from inbox i where not exists (select from delivery d where d.partner_id = i.partner_id and d.delivery_id = i.delivery_id)`,
	"variants without their delivery":                `select count(*) from variant v where not exists (select from delivery d where d.partner_id = v.partner_id and d.delivery_id = v.delivery_id)`,
	"deliveries without the payload they name":       `select count(*) from delivery d where payload_id is not null and not exists (select from payload p where p.partner_id = d.partner_id and p.payload_id = d.payload_id)`,
	"payloads that no delivery and no variant names": `select count(*) from payload p where not exists (select from delivery d where d.partner_id = p.partner_id and d.payload_id = p.payload_id) and not exists (select from inbox i where i.partner_id = p.partner_id and i.payload_id = p.payload_id) and not exists (select from variant v where v.partner_id = p.partner_id and v.payload_id = p.payload_id)`,
	"alerts without their key":                       `select count(*) from drift_alert a where not exists (select from inbox i where i.partner_id = a.partner_id and i.message_id = a.message_id) and not exists (select from torture.purged p where p.partner_id = a.partner_id and p.message_id = a.message_id)`,
	"copies of drifts without their alert":           `select count(*) from drift_copy c where not exists (select from drift_alert a where a.partner_id = c.partner_id and a.alert_id = c.alert_id)`,
	"jobs without their key":                         `select count(*) from job j where not exists (select from inbox i where i.partner_id = j.partner_id and i.message_id = j.message_id)`,
	"prepared transactions":                          `select count(*) from pg_prepared_xacts`,
}

func (r *rows) readStrays(ctx context.Context, conn *pgx.Conn) error {
	var ask []string
	for words, sql := range strays {
		ask = append(ask, fmt.Sprintf("select '%s', (%s)", words, sql))
	}
	var words string
	var n int
	return each(ctx, conn, strings.Join(ask, " union all "), []any{&words, &n}, func() error {
		r.strays[words] += n
		return nil
	})
}

func (r *rows) readPurged(ctx context.Context, conn *pgx.Conn) error {
	var k ref
	return each(ctx, conn, `select partner_id, message_id from torture.purged`, []any{&k.partner, &k.id}, func() error {
		r.purged[k] = true
		return nil
	})
}
