package dedup

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/edigw/edigw/columns"
)

// GuardRef names a business document of a partner, whatever interchange brings
// it: see documents.Document.GuardKey.
type GuardRef struct {
	Partner string
	Key     [32]byte
}

// Compare orders guard keys as the database does.
func (g GuardRef) Compare(o GuardRef) int {
	return cmp.Or(cmp.Compare(g.Partner, o.Partner), bytes.Compare(g.Key[:], o.Key[:]))
}

// Guard is a row of document_key: every content posted under the document's
// identity, with the document that holds it.
type Guard struct {
	GuardRef
	Contents  [][32]byte
	Documents []uuid.UUID // beside Contents
	MessageID string
	Stamp     string // interchange date and reference of the newest revision
	Imported  bool   // known from a former gateway by number alone
	PurgeOn   time.Time

	// Ends says which of Documents stand no more, or never stood since they are
	// cancellations. Whoever read the guard fills it from the documents.
	Ends map[uuid.UUID]End

	dirty bool
}

// End is why a document of a guard does not stand.
type End struct {
	Superseded, Cancelled bool
	Decided               bool   // cancelled by a person, not by a document of the partner
	Cancellation          bool   // it is one, of another document
	Stamp                 string // of the interchange that cancelled it, where that is known
}

// Find gives the place of the document that holds this content: of several that do,
// the one in force, else the last.
func (g *Guard) Find(content [32]byte) (i int, ok bool) {
	at := -1
	for i, c := range g.Contents {
		if c == content && (at < 0 || !g.InForce(at)) {
			at = i
		}
	}
	return at, at >= 0
}

// Stands reports whether document i is neither replaced nor cancelled, and is not a
// cancellation.
func (g *Guard) Stands(i int) bool {
	_, ended := g.Ends[g.Documents[i]]
	return !ended
}

// InForce reports whether what document i says holds: it stands, or cancelled what
// stood, and nothing was posted since.
func (g *Guard) InForce(i int) bool {
	end, ended := g.Ends[g.Documents[i]]
	return !ended || end.Cancellation && !end.Superseded && i == len(g.Documents)-1
}

// Standing gives the document that was posted last of those that stand.
func (g *Guard) Standing() (uuid.UUID, bool) {
	for i, d := range slices.Backward(g.Documents) {
		if g.Stands(i) {
			return d, true
		}
	}
	return uuid.Nil, false
}

// Newest is the stamp of whatever happened last to the document: its newest
// revision, or its cancellation.
func (g *Guard) Newest() string {
	newest := g.Stamp
	for _, end := range g.Ends {
		newest = max(newest, end.Stamp)
	}
	return newest
}

// Over notes why a document stands no more.
func (g *Guard) Over(document uuid.UUID, end End) {
	if g.Ends == nil {
		g.Ends = map[uuid.UUID]End{}
	}
	g.Ends[document] = end
}

// Latest is the document posted last under this identity.
func (g *Guard) Latest() uuid.UUID { return g.Documents[len(g.Documents)-1] }

// Post adds a further content or revision.
func (g *Guard) Post(content [32]byte, document uuid.UUID, stamp string) {
	g.Contents, g.Documents = append(g.Contents, content), append(g.Documents, document)
	g.Stamp = max(g.Stamp, stamp)
	g.dirty = true
}

// Changed reports whether a content or revision was added.
func (g *Guard) Changed() bool { return g.dirty }

// PostStale adds a revision that came after a newer one, which stays the latest.
func (g *Guard) PostStale(content [32]byte, document uuid.UUID) {
	last := len(g.Documents) - 1
	g.Contents, g.Documents = slices.Insert(g.Contents, last, content), slices.Insert(g.Documents, last, document)
	g.dirty = true
}

// KeepUntil moves the guard's purge date, never back.
func (g *Guard) KeepUntil(day time.Time) {
	if day.After(g.PurgeOn) {
		g.PurgeOn, g.dirty = day, true
	}
}

// guardBatch bounds the parameters of one guard statement; the statements
// follow each other in the one order.
const guardBatch = 20_000

// QueueGuards claims guard keys, sorted and without repeats, each with its first
// content. inserted is called with every key that was free.
func QueueGuards(b *pgx.Batch, guards []*Guard, inserted func(GuardRef)) {
	for part := range slices.Chunk(guards, guardBatch) {
		var partner, key, contents, document, messageID, stamp, purgeOn columns.Column
		for _, g := range part {
			partner.Text(g.Partner)
			key.Bytes(g.Key[:])
			contents.Bytes(g.Contents[0][:])
			document.UUID(g.Documents[0])
			messageID.Text(g.MessageID)
			stamp.Text(g.Stamp)
			purgeOn.Date(g.PurgeOn)
		}
		columns.Queue(b, `
			insert into document_key (partner_id, document_key, contents, document_ids, message_id, stamp, purge_on)
			select unnest($1::text[]), unnest($2::bytea[]), unnest($3::bytea[]), array[unnest($4::uuid[])], unnest($5::text[]), unnest($6::text[]),
				unnest($7::date[])
			on conflict do nothing
			returning partner_id, document_key`, &partner, &key, &contents, &document, &messageID, &stamp, &purgeOn,
		).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			var r GuardRef
			var k []byte
			for rows.Next() {
				if err := rows.Scan(&r.Partner, &k); err != nil {
					return err
				}
				r.Key = [32]byte(k)
				inserted(r)
			}
			return rows.Err()
		})
	}
}

// QueueGuardLock locks existing guard rows, sorted. QueueGuardRead, in a
// following statement, says what they hold.
func QueueGuardLock(b *pgx.Batch, refs []GuardRef) {
	for part := range slices.Chunk(refs, guardBatch) {
		partner, key := splitGuards(part)
		b.Queue(`
			select g.partner_id from document_key g
			join unnest($1::text[], $2::bytea[]) as k (partner_id, document_key)
				on g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key
			order by g.partner_id, g.document_key
			for update of g`, partner, key)
	}
}

// QueueGuardRead reads guard rows into guards.
func QueueGuardRead(b *pgx.Batch, refs []GuardRef, guards map[GuardRef]*Guard) {
	for part := range slices.Chunk(refs, guardBatch) {
		partner, key := splitGuards(part)
		b.Queue(`
			select g.partner_id, g.document_key, g.contents, g.document_ids, coalesce(g.message_id, ''), g.stamp, g.imported, g.purge_on
			from document_key g
			join unnest($1::text[], $2::bytea[]) as k (partner_id, document_key)
				on g.partner_id = k.partner_id collate "C" and g.document_key = k.document_key`, partner, key,
		).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				var g Guard
				var key, contents []byte
				if err := rows.Scan(&g.Partner, &key, &contents, &g.Documents, &g.MessageID, &g.Stamp, &g.Imported, &g.PurgeOn); err != nil {
					return err
				}
				g.Key = [32]byte(key)
				for c := range slices.Chunk(contents, 32) {
					g.Contents = append(g.Contents, [32]byte(c))
				}
				guards[g.GuardRef] = &g
			}
			return rows.Err()
		})
	}
}

// QueueGuardChanges writes contents added to existing guards.
func QueueGuardChanges(b *pgx.Batch, guards []*Guard) {
	for _, g := range guards {
		if !g.dirty {
			continue
		}
		contents := []byte{} // not null: an imported guard knows none
		for _, c := range g.Contents {
			contents = append(contents, c[:]...)
		}
		b.Queue(`
			update document_key set contents = $3, document_ids = $4, stamp = $5, purge_on = greatest(purge_on, $6)
			where partner_id = $1 and document_key = $2`,
			g.Partner, g.Key[:], contents, g.Documents, g.Stamp, g.PurgeOn)
	}
}

func splitGuards(refs []GuardRef) (partners []string, keys pgtype.FlatArray[[]byte]) {
	partners, keys = make([]string, len(refs)), make(pgtype.FlatArray[[]byte], len(refs))
	for i := range refs {
		partners[i], keys[i] = refs[i].Partner, refs[i].Key[:]
	}
	return partners, keys
}
