package as4_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

// What a repeat is told over AS4: the rows of docs/reference/outcomes.md that find a
// known interchange or a known MessageId.
func TestRepeatsOverAS4(t *testing.T) {
	const effects = `select (select count(*) from document) + (select count(*) from document_key) + (select count(*) from outbox where type like 'document.%')`
	good := interchange("REF1", "R-1", "100.00")
	bad := strings.Replace(good, "UNT+15", "UNT+99", 1)
	for _, c := range []struct {
		name, settings string
		before         string // sent as m0, if anything
		text           string
		fail           bool
		told           string
		posted         int
	}{
		{"accepted (I2)", "", "", good, false, "<nil>", 1},
		{"deferred (I3)", "---\nprocessing: deferred\n", "", good, false, "<nil>", 0},
		{"dead and told as received, all attempts used (I5)", "---\nattempts: 1\n", "", good, true, "<nil>", 0},
		{"dead and refused, all attempts used (I5)", "---\nattempts: 1\non_dead: refuse\n", "", good, true, as4.OtherError, 0},
		{"rejected (I6)", "", "", bad, false, as4.OtherError, 0},
		{"a drift that was refused (I7)", "", interchange("REF1", "R-9", "9.00"), good, false, as4.OtherError, 1},
		{"a drift that is held (I7)", "---\non_drift: hold\n", interchange("REF1", "R-9", "9.00"), good, false, "<nil>", 1},
		{"a drift of the MessageId (T2)", "", "", interchange("REF2", "R-2", "2.00"), false, as4.OtherError, 1},
	} {
		t.Run(c.name+": the same bytes have the same answer, signed anew or under another MessageId one that says the same", func(t *testing.T) {
			r := newRig(t, c.settings)
			r.fail = func(string) bool { return c.fail }
			id := "m1"
			switch {
			case c.before != "":
				r.received(r.compose(message("m0"), gzipped(c.before)))
			case strings.Contains(c.name, "MessageId"):
				r.received(r.compose(message(id), gzipped(good)))
			}
			composed := r.compose(message(id), gzipped(c.text))
			first := r.send(composed)
			if first.codes() != c.told {
				t.Fatalf("told %s, want %s\n%s", first.codes(), c.told, first.body)
			}
			rows := r.count(effects)
			for range 2 {
				if again := r.send(composed); !bytes.Equal(again.body, first.body) || again.Status != first.Status {
					t.Errorf("told\n%d %s\nthen\n%d %s", first.Status, first.body, again.Status, again.body)
				}
			}
			later := func(u *as4.UserMessage) { u.MessageInfo.Timestamp = u.MessageInfo.Timestamp.AddDate(0, 0, 1) }
			anew := []*as4.Composed{r.compose(message(id, later), gzipped(c.text))}
			if !strings.Contains(c.name, "T2") { // which is of this MessageId alone
				anew = append(anew, r.compose(message("m2"), gzipped(c.text)))
			}
			for _, other := range anew {
				for range 2 {
					if again := r.send(other); again.codes() != c.told || again.Receipt != first.Receipt {
						t.Errorf("%s: told %s, want %s\n%s", other.MessageID, again.codes(), c.told, again.body)
					}
				}
			}
			if n := r.count(effects); n != rows || r.posted() != c.posted {
				t.Errorf("%d documents, and %d rows of effects where there were %d", r.posted(), n, rows)
			}
		})
	}
}

// What nobody can be told yet: 503 with EBMS:0202, which is no acknowledgement.
func TestNotNowOverAS4(t *testing.T) {
	good := interchange("REF1", "R-1", "100.00")
	notNow := func(t *testing.T, r *rig, c *as4.Composed) {
		t.Helper()
		a := r.refused(c, as4.DeliveryFailure)
		if a.Status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || a.Receipt {
			t.Errorf("%d, Retry-After %q\n%s", a.Status, a.header.Get("Retry-After"), a.body)
		}
		for _, inside := range []string{"55P03", "lock", "spool", "postgres"} {
			if strings.Contains(strings.ToLower(a.Signal.Errors[0].Detail), inside) {
				t.Errorf("it tells of the inside: %s", a.body)
			}
		}
	}
	t.Run("another process holds a key past the wait (55P03): come again, and then the receipt", func(t *testing.T) {
		r := newRig(t, "")
		r.refused(r.compose(message("m1"), gzipped(strings.Replace(good, "UNT+15", "UNT+99", 1))), as4.OtherError)
		var database string
		if err := r.pool.QueryRow(t.Context(), `select current_database()`).Scan(&database); err != nil {
			t.Fatal(err)
		}
		if _, err := r.pool.Exec(t.Context(), `alter database `+pgx.Identifier{database}.Sanitize()+` set lock_timeout = '300ms'`); err != nil {
			t.Fatal(err)
		}
		r.pool.Reset()
		tx, err := r.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `select 1 from inbox for update`); err != nil {
			t.Fatal(err)
		}
		mended := r.compose(message("m1"), gzipped(good))
		keys, journalled := r.keys(), r.journal()
		notNow(t, r, mended)
		if r.posted() != 0 || r.keys() != keys || r.journal() != journalled {
			t.Errorf("%d documents, %d keys, %d journal rows", r.posted(), r.keys(), r.journal())
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.received(mended); r.posted() != 1 {
			t.Errorf("%d documents", r.posted())
		}
	})
	t.Run("the spool is full: come again, with nothing stored, and then the receipt", func(t *testing.T) {
		for name, c := range map[string]struct {
			spool *gateway.Spool
			text  string
		}{
			"of its part":    {&gateway.Spool{Threshold: 100, Cap: 200}, good},
			"of its payload": {&gateway.Spool{Threshold: 4 << 10, Cap: 8 << 10}, good + strings.Repeat("\r\n", 10<<10)},
		} {
			r := newRig(t, "")
			c.spool.Dir = t.TempDir()
			whole := r.handler.Spool
			r.handler.Spool = c.spool
			composed := r.compose(message("m1"), gzipped(c.text))
			notNow(t, r, composed)
			if r.keys()+r.posted()+r.journal() != 0 {
				t.Errorf("%s: %d keys, %d documents, %d journal rows", name, r.keys(), r.posted(), r.journal())
			}
			r.handler.Spool = whole
			if r.received(composed); r.posted() != 1 {
				t.Errorf("%s: %d documents", name, r.posted())
			}
		}
	})
	t.Run("beside another delivery a partner has its share of the spool, and alone all of it, whatever parts its message has", func(t *testing.T) {
		r := newRig(t, "")
		spool := &gateway.Spool{Dir: t.TempDir(), Threshold: 100, Cap: 8 << 10}
		r.handler.Spool = spool
		partner := r.directory.Partner("talquist")
		other, err := spool.Take(partner, strings.NewReader(strings.Repeat("x", 3<<10)), -1, 4<<10)
		if err != nil {
			t.Fatal(err)
		}
		two := r.compose(message("m1"), gzipped(good), as4.Bytes([]byte(interchange("REF2", "R-2", "2.00")+strings.Repeat("\r\n", 1<<10)), "application/edifact"))
		notNow(t, r, two)
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if r.received(two); r.posted() != 2 {
			t.Errorf("%d documents", r.posted())
		}
	})
	t.Run("the spool's volume is gone: come again, with nothing stored", func(t *testing.T) {
		r := newRig(t, "")
		r.handler.Spool = &gateway.Spool{Dir: t.TempDir() + "/gone", Threshold: 100}
		notNow(t, r, r.compose(message("m1"), gzipped(good)))
		if r.keys()+r.posted()+r.journal() != 0 {
			t.Errorf("%d keys, %d documents, %d journal rows", r.keys(), r.posted(), r.journal())
		}
	})
}
