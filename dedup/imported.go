package dedup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/columns"
)

// Import is a file of keys that a former gateway has processed, and how far it
// was read: a row of key_import.
type Import struct {
	ID         uuid.UUID
	FileSHA256 [32]byte
	Name       string // of the file
	Person     string // who imports
	DryRun     bool   // nothing is written but this row
	Started    time.Time
	Finished   time.Time // zero: not yet
	Rows       int64     // of the file that are done, in its order
	Counts     ImportCounts
}

// ImportCounts says what became of the rows that are done. Each row is one of
// these.
type ImportCounts struct {
	Added   int64 `json:"added"`
	Known   int64 `json:"known"`   // the key is there already
	Differs int64 `json:"differs"` // it is there, with another digest than the row's
	Faulty  int64 `json:"faulty"`
	Expired int64 `json:"expired"` // its window has passed
}

// Add counts what became of more rows.
func (c *ImportCounts) Add(o ImportCounts) {
	c.Added += o.Added
	c.Known += o.Known
	c.Differs += o.Differs
	c.Faulty += o.Faulty
	c.Expired += o.Expired
}

// ErrNoImport is given for an import that is not there.
var ErrNoImport = errors.New("there is no such import")

// BeginImportTx notes a file that is to be imported, or gives the import that
// knows it: begun or done before. With again a finished one is read from its
// start: its counts begin anew, what it added is known then. A dry run is always
// a new one. opened: rows are to come from the first one on.
func BeginImportTx(ctx context.Context, tx pgx.Tx, im Import, again bool) (_ Import, opened bool, err error) {
	tag, err := tx.Exec(ctx, `
		insert into key_import (import_id, file_sha256, name, person, dry_run, started_at)
		values ($1, $2, $3, $4, $5, $6)
		on conflict do nothing`, im.ID, im.FileSHA256[:], im.Name, im.Person, im.DryRun, im.Started)
	if err != nil {
		return im, false, fmt.Errorf("begin import of %s: %w", im.Name, err)
	}
	if tag.RowsAffected() == 1 {
		return im, true, nil
	}
	old, err := scanImport(tx.QueryRow(ctx, selectImport+` where file_sha256 = $1 and not dry_run for update`, im.FileSHA256[:]))
	if err != nil || !again || old.Finished.IsZero() {
		return old, false, err
	}
	old.Name, old.Person, old.Started, old.Finished, old.Rows, old.Counts = im.Name, im.Person, im.Started, time.Time{}, 0, ImportCounts{}
	_, err = tx.Exec(ctx, `
		update key_import set name = $2, person = $3, started_at = $4, finished_at = null, rows_done = 0,
			added = 0, known = 0, differs = 0, faulty = 0, expired = 0
		where import_id = $1`, old.ID, old.Name, old.Person, old.Started)
	if err != nil {
		return old, false, fmt.Errorf("begin import of %s again: %w", im.Name, err)
	}
	return old, true, nil
}

// LockImportTx locks an import: its rows are taken one chunk after the other.
func LockImportTx(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Import, error) {
	return scanImport(tx.QueryRow(ctx, selectImport+` where import_id = $1 for update`, id))
}

// ProgressTx writes how far an import is, which must be locked.
func (im *Import) ProgressTx(ctx context.Context, tx pgx.Tx) error {
	c := im.Counts
	_, err := tx.Exec(ctx, `
		update key_import set rows_done = $2, added = $3, known = $4, differs = $5, faulty = $6, expired = $7, finished_at = $8
		where import_id = $1`, im.ID, im.Rows, c.Added, c.Known, c.Differs, c.Faulty, c.Expired, timeOrNil(im.Finished))
	if err != nil {
		return fmt.Errorf("note the progress of import %s: %w", im.ID, err)
	}
	return nil
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

const selectImport = `
	select import_id, file_sha256, name, person, dry_run, started_at, finished_at, rows_done, added, known, differs, faulty, expired
	from key_import`

func scanImport(row pgx.Row) (im Import, err error) {
	var sha []byte
	var finished *time.Time
	c := &im.Counts
	err = row.Scan(&im.ID, &sha, &im.Name, &im.Person, &im.DryRun, &im.Started, &finished, &im.Rows, &c.Added, &c.Known, &c.Differs, &c.Faulty, &c.Expired)
	if errors.Is(err, pgx.ErrNoRows) {
		return im, ErrNoImport
	}
	if err != nil {
		return im, fmt.Errorf("read import: %w", err)
	}
	im.FileSHA256, im.Started = [32]byte(sha), im.Started.UTC()
	if finished != nil {
		im.Finished = finished.UTC()
	}
	return im, nil
}

// ImportFilter narrows Imports; empty fields do not.
type ImportFilter struct {
	Person     string    // who began it
	State      string    // "unfinished" or "finished"
	FileSHA256 []byte    // of the file
	Before     uuid.UUID // cursor: those that began before it
	Limit      int
}

// Imports gives imports, the latest first.
func (s Inbox) Imports(ctx context.Context, f ImportFilter) ([]Import, error) {
	rows, err := s.Pool.Query(ctx, selectImport+`
		where ($1 = '00000000-0000-0000-0000-000000000000'::uuid or import_id < $1)
			and ($2 = '' or person = $2) and ($3 = '' or ($3 = 'finished') = (finished_at is not null)) and ($4::bytea is null or file_sha256 = $4)
		order by import_id desc limit $5`, f.Before, f.Person, f.State, f.FileSHA256, f.Limit)
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Import, error) { return scanImport(row) })
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	return list, nil
}

// GetImport gives one import. The error is ErrNoImport if there is none.
func (s Inbox) GetImport(ctx context.Context, id uuid.UUID) (Import, error) {
	return scanImport(s.Pool.QueryRow(ctx, selectImport+` where import_id = $1`, id))
}

// QueueImportedKeys claims keys of a former gateway as QueueClaim claims those of
// a delivery: sorted by Ref and without repeats, each with exactly its first
// variant. Their windows count from FirstAt and LastAt.
func QueueImportedKeys(b *pgx.Batch, keys []*Key, inserted func(Ref)) {
	var c rowColumns
	var firstAt, lastAt columns.Column
	for _, k := range keys {
		c.key(k)
		firstAt.Time(k.FirstAt)
		lastAt.Time(k.LastAt)
	}
	columns.Queue(b, `
		insert into inbox (partner_id, message_id, kind, epoch, hold, purge_on, payload_sha256, state, variant_epoch, answer, messages,
			delivery_id, first_at, last_at)
		select unnest($1::text[]), unnest($2::text[]), unnest($3::int2[]), unnest($4::int4[]), unnest($5::int2[]), unnest($6::date[]),
			unnest($7::bytea[]), unnest($8::int2[]), unnest($9::int4[]), unnest($10::int2[]), unnest($11::bytea[]), unnest($12::uuid[]),
			unnest($13::timestamptz[]), unnest($14::timestamptz[])
		on conflict do nothing
		returning partner_id, message_id`,
		&c.partner, &c.id, &c.kind, &c.epoch, &c.hold, &c.purgeOn, &c.sha, &c.state, &c.variantEpoch, &c.answer, &c.messages,
		&c.delivery, &firstAt, &lastAt,
	).Query(func(rows pgx.Rows) error {
		var r Ref
		_, err := pgx.ForEachRow(rows, []any{&r.Partner, &r.ID}, func() error {
			inserted(r)
			return nil
		})
		return err
	})
}

// QueueKnown tells which of keys are there, by their place, and whether one that
// has digests has none that is the key's own first one.
func QueueKnown(b *pgx.Batch, keys []*Key, found func(i int, differs bool)) {
	var partner, id, sha columns.Column
	for _, k := range keys {
		v := k.Variants[0]
		partner.Text(k.Partner)
		id.Text(k.ID)
		sha.Bytes(digest(v.SHA256, v.NoDigest))
	}
	columns.Queue(b, `
		select k.place,
			k.sha is not null and i.payload_sha256 is not null and i.payload_sha256 <> k.sha and not exists (
				select from variant v
				where v.partner_id = i.partner_id and v.message_id = i.message_id and v.payload_sha256 = k.sha)
		from inbox i join unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as k (partner_id, message_id, sha, place)
			on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C"`, &partner, &id, &sha,
	).Query(func(rows pgx.Rows) error {
		var place int
		var differs bool
		_, err := pgx.ForEachRow(rows, []any{&place, &differs}, func() error {
			found(place-1, differs)
			return nil
		})
		return err
	})
}

// QueueImportedGuards claims guard keys of documents that a former gateway has
// processed, known by their number alone: sorted and without repeats. firstAt
// stands beside guards.
func QueueImportedGuards(b *pgx.Batch, guards []*Guard, firstAt []time.Time, inserted func(GuardRef)) {
	for from := 0; from < len(guards); from += guardBatch {
		var partner, key, purgeOn, at columns.Column
		for i := from; i < min(from+guardBatch, len(guards)); i++ {
			partner.Text(guards[i].Partner)
			key.Bytes(guards[i].Key[:])
			purgeOn.Date(guards[i].PurgeOn)
			at.Time(firstAt[i])
		}
		columns.Queue(b, `
			insert into document_key (partner_id, document_key, contents, document_ids, imported, purge_on, first_at)
			select unnest($1::text[]), unnest($2::bytea[]), '', '{}', true, unnest($3::date[]), unnest($4::timestamptz[])
			on conflict do nothing
			returning partner_id, document_key`, &partner, &key, &purgeOn, &at,
		).Query(guardRefs(inserted))
	}
}

// QueueKnownGuards tells which guard keys are there.
func QueueKnownGuards(b *pgx.Batch, guards []*Guard, found func(GuardRef)) {
	for from := 0; from < len(guards); from += guardBatch {
		var partner, key columns.Column
		for _, g := range guards[from:min(from+guardBatch, len(guards))] {
			partner.Text(g.Partner)
			key.Bytes(g.Key[:])
		}
		columns.Queue(b, `
			select g.partner_id, g.document_key
			from document_key g join unnest($1::text[], $2::bytea[]) as k (partner_id, document_key)
				on g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key`, &partner, &key,
		).Query(guardRefs(found))
	}
}

func guardRefs(each func(GuardRef)) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var r GuardRef
		var key []byte
		_, err := pgx.ForEachRow(rows, []any{&r.Partner, &key}, func() error {
			r.Key = [32]byte(key)
			each(r)
			return nil
		})
		return err
	}
}
