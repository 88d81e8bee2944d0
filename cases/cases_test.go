package cases_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/journal"
)

// situation is one numbered case of ../shared/cases.
type situation struct {
	number int
	words  string // what is sent
	does   string // what edigw does; where the case allows several outcomes, the one chosen
	tries  []try
	left   []left // what of it is not run here, and why
}

// left is a file of a situation that is not sent here; the whole procedure, for
// a situation without files, has the name "-".
type left struct {
	file, why string
}

// Reasons to leave a file out.
const (
	// The purge of keys comes with their retention.
	purge = "Nothing is purged yet"
)

// try begins on an empty database.
type try struct {
	name     string
	settings string // further lines of talquist's configuration
	steps    []step
	run      func(*testing.T, *rig) // for what is no sequence of deliveries
	files    []string               // that run sends
}

// step is one delivery and what has to come of it.
type step struct {
	send     string        // file in testdata
	edit     []string      // old, new: changes to it
	by       string        // partner, else talquist
	id       string        // Idempotency-Key, else the file's name
	settings string        // applied before
	aged     time.Duration // by which what came before is older
	want     []string      // answer.lines
	stored   []string      // rig.stored after it; nil: as before
	mended   string        // verdict of the mended copy, else correction
	mend     []string      // old, new: the mended copy, which goes through under the same ids
}

// table is every situation, by number.
func table() []situation {
	return slices.SortedFunc(slices.Values(slices.Concat(envelopes, characters, duplicates, business, operations, overAS2, overTheWire)),
		func(a, b situation) int { return a.number - b.number })
}

func TestCases(t *testing.T) {
	for _, s := range table() {
		for i, y := range s.tries {
			name := fmt.Sprintf("%02d %s", s.number, s.words)
			if y.name != "" {
				name += ", " + y.name
			} else if i > 0 {
				t.Fatalf("case %d: a second try without a name", s.number)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, y.settings)
				for _, p := range y.steps {
					r.step(p)
				}
				if y.run != nil {
					y.run(t, r)
				}
			})
		}
	}
}

// input is a file of testdata, changed as the pairs say. Of a raw HTTP request
// it is the payload.
func input(t testing.TB, file string, edit ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".http" {
		b = payload(t, b)
	}
	for i := 0; i < len(edit); i += 2 {
		if !bytes.Contains(b, []byte(edit[i])) {
			t.Fatalf("%s holds no %q", file, edit[i])
		}
		b = bytes.ReplaceAll(b, []byte(edit[i]), []byte(edit[i+1]))
	}
	return b
}

// step sends, looks at what came of it, and then at what must be true of
// whatever is sent.
func (r *rig) step(p step) {
	r.t.Helper()
	if p.settings != "" {
		r.settings(p.settings)
	}
	if p.aged > 0 {
		r.age(p.aged)
	}
	q := request{by: p.by, id: p.id, body: input(r.t, p.send, p.edit...)}
	if q.id == "" {
		q.id = p.send
	}
	want := p.stored
	if want == nil {
		want = r.stored()
	}
	a := send(r.t, r.url, q)
	if d := gocmp.Diff(p.want, a.lines(r.t)); d != "" {
		r.t.Fatalf("%s was answered (-want +got):\n%s\n%s", p.send, d, a.body)
	}
	if d := gocmp.Diff(want, r.stored()); d != "" {
		r.t.Fatalf("after %s is stored (-want +got):\n%s", p.send, d)
	}
	r.always(q, a)
	if p.mend == nil {
		return
	}
	q.body = input(r.t, p.send, append(slices.Clone(p.edit), p.mend...)...)
	if a := send(r.t, r.url, q); a.status != 201 || a.verdict() != cmp.Or(p.mended, "correction") {
		r.t.Fatalf("%s, mended, was answered %v\n%s", p.send, a.lines(r.t), a.body)
	}
	if len(r.stored()) == 0 {
		r.t.Fatalf("%s, mended, posted nothing", p.send)
	}
}

// always holds for whatever was sent: no failure of ours shows, the bytes are
// kept as they came, and the same bytes again change nothing and are told the
// same, at once, under the same id, under another, and under none.
func (r *rig) always(q request, a *answer) {
	r.t.Helper()
	never(r.t, a)
	r.kept(q, a)
	before := r.state()
	repeat := func(id string) *answer {
		again := q
		again.id = id
		got := send(r.t, r.url, again)
		never(r.t, got)
		if want := replay(a.status); got.status != want {
			r.t.Fatalf("the same bytes under id %q were answered %d, want %d: %s", id, got.status, want, got.body)
		}
		if d := gocmp.Diff(before, r.state()); d != "" {
			r.t.Fatalf("the same bytes under id %q changed (-before +after):\n%s", id, d)
		}
		return got
	}
	if got := repeat(q.id); !bytes.Equal(got.body, a.body) || got.header.Get("Idempotent-Replayed") != "true" {
		r.t.Fatalf("a repeat was answered other than the first:\n%s\n%s", a.body, got.body)
	}
	for _, id := range []string{"another than " + q.id, ""} {
		if d := gocmp.Diff(a.receipt, repeat(id).receipt); d != "" {
			r.t.Fatalf("under id %q it was answered other than under %q:\n%s", id, q.id, d)
		}
	}
}

// replay is the status of a repeat.
func replay(status int) int {
	if status == 201 {
		return 200
	}
	return status
}

// state is what a repeat must leave as it is. Of a repeated drift operators are
// told, with the alert.
func (r *rig) state() []string {
	return append(r.stored(), fmt.Sprintf("%d interchange keys, %d events, %d alerts",
		r.count(`select count(*) from inbox where kind = 2`), r.count(`select count(*) from outbox where type <> 'alert.joined'`), r.count(`select count(*) from drift_alert`)))
}

// never is what no answer may be, or say.
func never(t testing.TB, a *answer) {
	t.Helper()
	if a.status >= 500 && a.status != 503 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	for _, inner := range []string{"SQLSTATE", "duplicate key", "violates", "pgx", "panic", "goroutine"} {
		if bytes.Contains(a.body, []byte(inner)) {
			t.Fatalf("an answer tells of our insides: %s", a.body)
		}
	}
}

// kept reads back from the journal what was sent.
func (r *rig) kept(q request, a *answer) {
	r.t.Helper()
	j := journal.Reader{Pool: r.pool}
	r.later.Flush(r.t.Context())
	rows, err := j.List(r.t.Context(), journal.Filter{Partners: []string{"talquist", "second"}, Limit: 500})
	if err != nil {
		r.t.Fatal(err)
	}
	again := a.verdict() == "duplicate" || a.verdict() == "re-evaluation" // kept with the delivery it repeats
	for _, d := range rows {
		if d.Payload == nil || d.ID.String() != a.header.Get("Edigw-Delivery") && !again {
			continue
		}
		b, err := j.Payload(r.t.Context(), d.Partner, *d.Payload, *d.PayloadIn, 0, d.Bytes)
		switch {
		case err == nil && (bytes.Equal(b, q.body) || again && bytes.Contains(b, q.body)):
			return
		case !again:
			r.t.Fatalf("the payload was not kept as it came: %v", err)
		}
	}
	r.t.Fatalf("no payload was kept of %s", strings.Join(a.lines(r.t), "; "))
}
