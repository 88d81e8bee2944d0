package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
)

// MaxImportRows is how many rows are imported in one transaction at most.
const MaxImportRows = 5000

// NotTheNextRow is the error for rows of an import that are not its next ones:
// another run, or the answer that was lost, has brought it further.
type NotTheNextRow struct {
	Rows     int64 // of the file that are done
	Finished bool
}

// Error says where the import is.
func (e *NotTheNextRow) Error() string {
	if e.Finished {
		return fmt.Sprintf("the import is finished with %d rows", e.Rows)
	}
	return fmt.Sprintf("row %d is the next one of the import", e.Rows+1)
}

// ImportRows are some rows of a file, in its order.
type ImportRows struct {
	First int64 // of the file, from 1
	Rows  []ImportRow
	Last  bool // nothing follows
}

// Importer imports what a former gateway has processed: keys that count as
// accepted, and numbers of documents that the guard absorbs.
type Importer struct {
	Partner func(id string) *partners.Partner
	Now     func() time.Time
}

// ImportTx imports the next rows of an import. It takes the locks of the import,
// of keys and of guard keys, in this order, and waits for deliveries that hold
// one. The error is a *NotTheNextRow if they are not the next ones, and
// dedup.ErrNoImport if there is no such import.
//
// A key that is there already stays as it is. A row that is faulty is told, and
// leaves nothing. ErrBusy means that a delivery holds a key for longer than the
// wait.
func (i Importer) ImportTx(ctx context.Context, tx pgx.Tx, id uuid.UUID, rows ImportRows) (dedup.Import, []ImportFault, error) {
	im, err := dedup.LockImportTx(ctx, tx, id)
	if err != nil {
		return im, nil, err
	}
	if rows.First != im.Rows+1 || !im.Finished.IsZero() {
		return im, nil, &NotTheNextRow{im.Rows, !im.Finished.IsZero()}
	}
	c := chunk{id: id, now: i.Now().UTC(), rows: make([]rowOf, len(rows.Rows))}
	c.read(rowReader{i.Partner, c.now}, rows)
	if err := c.write(ctx, tx, im.DryRun); isBusy(err) { // a delivery holds one of the keys
		return im, nil, ErrBusy
	} else if err != nil {
		return im, nil, fmt.Errorf("import rows from %d on: %w", rows.First, err)
	}
	im.Rows += int64(len(rows.Rows))
	im.Counts.Add(c.counts())
	if rows.Last {
		im.Finished = c.now
	}
	return im, c.faults, im.ProgressTx(ctx, tx)
}

// fateOf is what becomes of a row.
type fateOf int

const (
	rowKnown fateOf = iota
	rowAdded
	rowDiffers
	rowFaulty
	rowExpired
)

// rowOf is a row on its way.
type rowOf struct {
	says known
	key  *dedup.Key // that it claims, if it does
	fate fateOf

	there bool // a dry run found the key
}

// chunk are the rows of one transaction.
type chunk struct {
	id     uuid.UUID
	now    time.Time
	rows   []rowOf
	faults []ImportFault

	keys    []*dedup.Key         // each once, sorted
	byRef   map[dedup.Ref]*rowOf // the row that brings it
	guards  []*dedup.Guard       // each once, sorted
	firstAt []time.Time          // beside guards
	byGuard map[dedup.GuardRef]*rowOf
}

// read reads the rows, and gathers what they claim.
func (c *chunk) read(x rowReader, rows ImportRows) {
	c.byRef, c.byGuard = map[dedup.Ref]*rowOf{}, map[dedup.GuardRef]*rowOf{}
	type guard struct {
		*dedup.Guard
		at time.Time
	}
	var guards []guard
	today := day(c.now)
	for i := range rows.Rows {
		r := &c.rows[i]
		var err error
		if r.says, err = x.read(&rows.Rows[i]); err != nil {
			var f *errRow
			if !errors.As(err, &f) {
				f = &errRow{"", err.Error()}
			}
			r.fate = rowFaulty
			c.faults = append(c.faults, ImportFault{rows.First + int64(i), f.column, f.text})
			continue
		}
		if r.says.kind != 0 {
			k := c.key(r)
			if !k.PurgeOn.After(today) {
				r.fate = rowExpired
				continue
			}
			r.key = k
			if c.byRef[k.Ref] == nil { // else it stands twice in these rows
				c.byRef[k.Ref] = r
				c.keys = append(c.keys, k)
			}
			continue
		}
		purge := guardPurge(r.says.at, r.says.window)
		if !purge.After(today) {
			r.fate = rowExpired
			continue
		}
		for _, g := range r.says.guards {
			ref := dedup.GuardRef{Partner: rows.Rows[i].Partner, Key: g}
			if c.byGuard[ref] == nil {
				c.byGuard[ref] = r
				guards = append(guards, guard{&dedup.Guard{GuardRef: ref, Imported: true, PurgeOn: purge}, r.says.at})
			}
		}
	}
	slices.SortFunc(c.keys, func(a, b *dedup.Key) int { return a.Compare(b.Ref) })
	slices.SortFunc(guards, func(a, b guard) int { return a.GuardRef.Compare(b.GuardRef) })
	for _, g := range guards {
		c.guards, c.firstAt = append(c.guards, g.Guard), append(c.firstAt, g.at)
	}
}

// key is the inbox row that a row claims: what is known by its digest is accepted,
// what is not becomes so with the delivery that brings one.
func (c *chunk) key(r *rowOf) *dedup.Key {
	k := dedup.NewKey(r.says.key, r.says.kind, r.says.at, purgeOn(r.says.at, r.says.window))
	v := &dedup.Variant{NoDigest: true, State: dedup.Imported, Answer: int16(ToldAccepted), DeliveryID: c.id}
	if d := r.says.digest; d != nil {
		v.SHA256, v.NoDigest, v.State = *d, false, dedup.Accepted
	}
	k.Add(v)
	return k
}

// write claims keys, then guard keys; a dry run looks whether they are there.
func (c *chunk) write(ctx context.Context, tx pgx.Tx, dry bool) error {
	var claim, look pgx.Batch
	if !dry && len(c.keys) > 0 {
		dedup.QueueImportedKeys(&claim, c.keys, func(r dedup.Ref) { c.byRef[r].fate = rowAdded })
		if err := tx.SendBatch(ctx, &claim).Close(); err != nil {
			return err
		}
	}
	c.lookKeys(&look)
	if dry {
		c.lookGuards(&look)
	} else if len(c.guards) > 0 {
		dedup.QueueImportedGuards(&look, c.guards, c.firstAt, func(r dedup.GuardRef) { c.byGuard[r].fate = rowAdded })
	}
	if look.Len() > 0 {
		if err := tx.SendBatch(ctx, &look).Close(); err != nil {
			return err
		}
	}
	if dry {
		c.wouldAdd()
	}
	return nil
}

// lookKeys asks what is there of the keys that were not added.
func (c *chunk) lookKeys(b *pgx.Batch) {
	var asked []*dedup.Key
	var rows []*rowOf
	for i := range c.rows {
		if r := &c.rows[i]; r.key != nil && r.fate == rowKnown {
			asked, rows = append(asked, r.key), append(rows, r)
		}
	}
	if len(asked) == 0 {
		return
	}
	dedup.QueueKnown(b, asked, func(i int, differs bool) {
		rows[i].there = true
		if differs {
			rows[i].fate = rowDiffers
		}
	})
}

// lookGuards asks which guard keys are there, and forgets them.
func (c *chunk) lookGuards(b *pgx.Batch) {
	if len(c.guards) > 0 {
		dedup.QueueKnownGuards(b, c.guards, func(r dedup.GuardRef) { delete(c.byGuard, r) })
	}
}

// wouldAdd gives the rows of a dry run the fate that they would have.
func (c *chunk) wouldAdd() {
	for i := range c.rows {
		r := &c.rows[i]
		if r.key == nil || r.there {
			continue
		}
		switch first := c.byRef[r.key.Ref]; {
		case first == r:
			r.fate = rowAdded
		case r.says.digest != nil && first.says.digest != nil && *r.says.digest != *first.says.digest:
			r.fate = rowDiffers
		}
	}
	for _, r := range c.byGuard {
		r.fate = rowAdded
	}
}

func (c *chunk) counts() (n dedup.ImportCounts) {
	for i := range c.rows {
		switch c.rows[i].fate {
		case rowKnown:
			n.Known++
		case rowAdded:
			n.Added++
		case rowDiffers:
			n.Differs++
		case rowFaulty:
			n.Faulty++
		case rowExpired:
			n.Expired++
		}
	}
	return n
}
