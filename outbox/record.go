package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Place is where an event stands in the order of its partner's events: by the
// transaction that wrote it, then by its id. What is committed later never comes
// before what was read, since only events of transactions are read that no running
// one can precede.
type Place struct {
	XID uint64
	ID  uuid.UUID
}

// String gives the place as a cursor writes it.
func (p Place) String() string { return strconv.FormatUint(p.XID, 10) + "-" + p.ID.String() }

// ParsePlace reads what String gives.
func ParsePlace(s string) (p Place, err error) {
	xid, id, _ := strings.Cut(s, "-")
	if p.XID, err = strconv.ParseUint(xid, 10, 64); err != nil {
		return p, fmt.Errorf("%q is no place of an event", s)
	}
	if p.ID, err = uuid.Parse(id); err != nil {
		return p, fmt.Errorf("%q is no place of an event", s)
	}
	return p, nil
}

// Record is an event or notice as it was written.
type Record struct {
	Partner string
	ID      uuid.UUID
	Place   Place
	Month   time.Time // of purge
	Kind    string
	Type    string
	Subject string
	At      time.Time
	Body    json.RawMessage // nil where it was not asked for
}

// readAfter reads a partner's events in order, from the first after the place that can
// be told of; of those whose type is none of types only where they stand.
func readAfter(ctx context.Context, pool *pgxpool.Pool, partner string, after Place, types []string, limit int) ([]*Record, error) {
	rows, err := pool.Query(ctx, `
		select event_id, xid, purge_month, kind, type, subject, created_at, case when type = any($4) then body end
		from outbox
		where partner_id = $1 and (xid, event_id) > ($2, $3) and xid < pg_snapshot_xmin(pg_current_snapshot())
		order by xid, event_id limit $5`, partner, after.XID, after.ID, types, limit)
	if err != nil {
		return nil, fmt.Errorf("read the events of %s: %w", partner, err)
	}
	defer rows.Close()
	list := make([]*Record, 0, min(limit, 64))
	for rows.Next() {
		r := &Record{Partner: partner}
		if err := rows.Scan(&r.ID, &r.Place.XID, &r.Month, &r.Kind, &r.Type, &r.Subject, &r.At, &r.Body); err != nil {
			return nil, fmt.Errorf("read the events of %s: %w", partner, err)
		}
		r.Place.ID = r.ID
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the events of %s: %w", partner, err)
	}
	return list, nil
}

// readOne reads one event by id. month is where it stands, if that is known.
func readOne(ctx context.Context, pool *pgxpool.Pool, partner string, id uuid.UUID) (*Record, error) {
	rows, err := pool.Query(ctx, `
		select event_id, xid, purge_month, kind, type, subject, created_at, body
		from outbox where partner_id = $1 and event_id = $2`, partner, id)
	if err != nil {
		return nil, fmt.Errorf("read event %s: %w", id, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Record, error) {
		r := &Record{Partner: partner}
		err := row.Scan(&r.ID, &r.Place.XID, &r.Month, &r.Kind, &r.Type, &r.Subject, &r.At, &r.Body)
		r.Place.ID = r.ID
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read event %s: %w", id, err)
	}
	if len(list) == 0 {
		return nil, ErrNoSuchEvent
	}
	return list[0], nil
}

// TypePrefix stands before a type in CloudEvents.
const TypePrefix = "io.edigw."

// CloudEventType is the media type of AppendCloudEvent's bytes (CloudEvents 1.0.2,
// JSON event format §3).
const CloudEventType = "application/cloudevents+json"

// AppendCloudEvent appends the event in CloudEvents' JSON format (1.0.2 §2): the same
// bytes each time, whoever asks. partnerid is an extension attribute, which a consumer
// orders and routes by.
func (r *Record) AppendCloudEvent(b []byte) []byte {
	b = append(b, `{"specversion":"1.0","id":"`...)
	b = append(b, r.ID.String()...)
	b = append(b, `","source":"/partners/`...)
	b = append(b, r.Partner...) // [a-z0-9._-], nothing to escape
	b = append(b, `","type":"`+TypePrefix...)
	b = append(b, r.Type...)
	b = append(b, `","subject":`...)
	b = appendString(b, r.Subject)
	b = append(b, `,"time":"`...)
	b = r.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","partnerid":"`...)
	b = append(b, r.Partner...)
	b = append(b, `","datacontenttype":"application/json","data":`...)
	if len(r.Body) == 0 {
		return append(b, `null}`...)
	}
	b = append(b, r.Body...)
	return append(b, '}')
}

// appendString writes s as a JSON string; what is plain is copied.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // never: a string is always written
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
