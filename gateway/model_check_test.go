package gateway_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// keyView is a key as both sides show it.
type keyView struct {
	Epoch    int
	Current  string
	Hold     int16
	Variants []variantView
	Carried  []string
}

type variantView struct {
	Digest, State string
	Epoch         int
	I1, Alert     bool
	Answer        string
	Messages      []string
}

func (w *world) name(d [32]byte) string {
	if n := w.names[d]; n != "" {
		return n
	}
	return hex.EncodeToString(d[:4])
}

func (w *world) answerView(a gateway.Answer) string {
	if a == 0 {
		a = gateway.ToldTryAgain
	}
	return fmt.Sprintf("%d %s", a, a.Told().Word)
}

// views shows every key of the model.
func (w *world) views() map[string]keyView {
	all := map[string]keyView{}
	for _, k := range w.keys {
		x := keyView{Epoch: k.epoch, Current: w.name(k.current.sha), Hold: k.holds()}
		for _, v := range k.variants {
			y := variantView{Digest: w.name(v.sha), State: v.state, Epoch: v.epoch, I1: v.byI1, Alert: v.alert != nil, Answer: w.answerView(v.answer)}
			for _, m := range v.messages {
				y.Messages = append(y.Messages, w.messageView(m.sha, m.fate, m.attempts, m.revision))
			}
			x.Variants = append(x.Variants, y)
		}
		all[k.id] = x
	}
	for _, t := range w.ids {
		x := keyView{Current: w.name(t.payloads[0].sha)}
		for _, p := range t.payloads {
			if p.state == "quarantined" {
				x.Hold = 1
			}
			x.Variants = append(x.Variants, variantView{Digest: w.name(p.sha), State: p.state, Alert: p.alert != nil, Answer: w.answerView(p.answer)})
		}
		for _, c := range t.carried {
			x.Carried = append(x.Carried, c.key+" "+w.name(c.sha))
		}
		slices.Sort(x.Carried)
		all[t.id] = x
	}
	return all
}

// messageView: a revision counts where something was refused or dead, attempts
// where it is dead or pending.
func (w *world) messageView(d [32]byte, fate string, attempts int, revision [2]int32) string {
	s := w.name(d) + " " + fate
	if isDead(fate) || fate == pending {
		s += fmt.Sprintf(" attempts %d", attempts)
	}
	if isDead(fate) || fate == refused || fate == refusedWith {
		s += fmt.Sprintf(" revision %v", revision)
	}
	return s
}

var fates = map[dedup.Fate]string{0: "", dedup.Posted: posted, dedup.Absorbed: absorbed, dedup.Held: held, dedup.RefusedMsg: refused, dedup.DeadMsg: dead,
	dedup.Pending: pending, dedup.Discarded: discarded, dedup.HeldClosed: heldClosed, dedup.WithOthers: refusedWith, dedup.DeadWithOne: deadWith}

// rows shows every key of the database.
func (w *world) rows(keys map[dedup.Ref]*dedup.Key) map[string]keyView {
	all := map[string]keyView{}
	for r, k := range keys {
		x := keyView{Epoch: int(k.Epoch), Current: w.name(k.Current().SHA256), Hold: k.Hold()}
		for _, v := range k.Variants {
			y := variantView{Digest: w.name(v.SHA256), State: v.State.String(), Epoch: int(v.Epoch), I1: v.ViaPurge, Alert: v.AlertID != [16]byte{}, Answer: w.answerView(gateway.Answer(v.Answer))}
			if k.Kind == dedup.Interchange {
				for i := range v.Messages {
					m := &v.Messages[i]
					y.Messages = append(y.Messages, w.messageView(m.SHA256, fates[m.Fate], int(m.Attempts), [2]int32{m.Revision.Partner, m.Revision.Rules}))
				}
			}
			x.Variants = append(x.Variants, y)
		}
		for _, c := range k.Carried {
			x.Carried = append(x.Carried, c.ID+" "+w.name(c.SHA256))
		}
		slices.Sort(x.Carried)
		all[r.ID] = x
	}
	return all
}

// counts are the rows of the other tables, as sorted lines.
type counts struct {
	Documents, Alerts, Events []string
	Guards, Contents, Journal int
	Orphans, Unkept           int // guards without document, acknowledgements without row
	Jobs                      int
	Hold                      map[string]int16
}

func (w *world) counts() counts {
	c := counts{Journal: w.journal, Hold: map[string]int16{}}
	for _, g := range w.guards {
		c.Guards++
		c.Contents += len(g.rows)
		for _, d := range g.rows {
			c.Documents = append(c.Documents, documentLine(d.document, w.name(d.message), d.key, d.epoch, d.superseded, d.cancelled))
		}
	}
	for _, a := range w.alerts {
		c.Alerts = append(c.Alerts, alertLine(a.kind, a.key, a.state, a.receptions, len(a.digests), a.documents, a.copies, a.purged))
	}
	for _, k := range w.keys {
		for _, v := range k.variants {
			if v.state == "received" {
				c.Jobs++
			}
		}
	}
	for typ, n := range w.events {
		c.Events = append(c.Events, fmt.Sprint(typ, " ", n))
	}
	for id, k := range w.views() {
		c.Hold[id] = k.Hold
	}
	c.sort()
	return c
}

func (c *counts) sort() {
	slices.Sort(c.Documents)
	slices.Sort(c.Alerts)
	slices.Sort(c.Events)
}

func documentLine(document, message, key string, epoch int, superseded, cancelled bool) string {
	s := fmt.Sprintf("%s from %s of %s/%d", document, message, key, epoch)
	if superseded {
		s += ", superseded"
	}
	if cancelled {
		s += ", cancelled"
	}
	return s
}

func alertLine(kind, key, state string, receptions, digests, documents, copies int, purged bool) string {
	return fmt.Sprintf("%s %s %s: %d receptions, %d digests, %d documents, %d copies, original purged %v", kind, key, state, receptions, digests, documents, copies, purged)
}

// stored reads what the database holds of the partner, in one round trip. The
// tables that are partitioned by month, which cost most of the time, are only
// counted where all is asked for.
func (w *world) stored(ctx context.Context, r *rig, partner string, all bool) (map[string]keyView, counts, error) {
	c := counts{Hold: map[string]int16{}}
	keys := map[dedup.Ref]*dedup.Key{}
	var refs []dedup.Ref
	for id := range w.views() {
		refs = append(refs, dedup.Ref{Partner: partner, ID: id})
	}
	var b pgx.Batch
	dedup.QueueRead(&b, refs, keys)
	each := func(sql string, dest []any, row func()) {
		b.Queue(sql, partner).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, dest, func() error { row(); return nil })
			return err
		})
	}
	var s1, s2, s3 string
	var n1, n2, n3, n4 int
	var b1, b2 bool
	var digest []byte
	each(`select class || ' ' || number, message_sha256, message_id, epoch, superseded_by is not null, cancelled_by is not null
		from document where partner_id = $1 and state = 'live'`,
		[]any{&s1, &digest, &s2, &n1, &b1, &b2}, func() {
			c.Documents = append(c.Documents, documentLine(s1, w.name([32]byte(digest)), s2, n1, b1, b2))
		})
	each(`select kind, message_id, state, receptions, cardinality(digests), cardinality(documents),
			coalesce(jsonb_array_length(detail->'possible_copies'), 0), class = 'original_purged' from drift_alert where partner_id = $1`,
		[]any{&s1, &s2, &s3, &n1, &n2, &n3, &n4, &b1}, func() { c.Alerts = append(c.Alerts, alertLine(s1, s2, s3, n1, n2, n3, n4, b1)) })
	each(`select count(*), coalesce(sum(length(contents) / 32), 0), coalesce(sum(case when exists (
			select from unnest(document_ids) as i (id) where not exists (select from document d where d.partner_id = g.partner_id and d.document_id = i.id)) then 1 else 0 end), 0)
		from document_key g where partner_id = $1`, []any{&c.Guards, &c.Contents, &c.Orphans}, func() {})
	if all {
		each(`select type, count(*) from outbox where partner_id = $1 group by type`, []any{&s1, &n1}, func() { c.Events = append(c.Events, fmt.Sprint(s1, " ", n1)) })
		each(`select count(*) from delivery where partner_id = $1`, []any{&c.Journal}, func() {})
	}
	each(`select count(*) from job where partner_id = $1`, []any{&c.Jobs}, func() {})
	var hold int16
	each(`select message_id, hold from inbox where partner_id = $1`, []any{&s1, &hold}, func() { c.Hold[s1] = hold })
	err := r.Pool.SendBatch(ctx, &b).Close()
	c.sort()
	return w.rows(keys), c, err
}

// agree compares both sides.
func (m *machine) agree(t *rapid.T) { m.compare(t, false) }

func (m *machine) compare(t *rapid.T, all bool) {
	rows, have, err := m.stored(context.Background(), m.rig, m.partner, all)
	if err != nil {
		t.Fatal(err)
	}
	want := m.counts()
	if !all {
		want.Journal, want.Events = 0, nil
	}
	if views := m.views(); !reflect.DeepEqual(views, rows) { // cheaper than cmp where all is well
		t.Fatalf("the keys differ (-model +database):\n%s", cmp.Diff(views, rows))
	}
	if !reflect.DeepEqual(want, have) {
		t.Fatalf("the tables differ (-model +database):\n%s", cmp.Diff(want, have))
	}
}
