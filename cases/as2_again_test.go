package cases_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/pgtest"
)

// another is a second process on the same database, which waits for locks as long as is
// said: the program has 2s.
func (r *rig) another(lockTimeout string) *rig {
	r.t.Helper()
	config := r.pool.Config().ConnConfig
	url := fmt.Sprintf("%s&lock_timeout=%s", config.ConnString(), lockTimeout)
	if !strings.Contains(config.ConnString(), "?") {
		url = fmt.Sprintf("%s?lock_timeout=%s", config.ConnString(), lockTimeout)
	}
	o := &rig{t: r.t, pool: pgtest.Pool(r.t, url), directory: r.directory, later: r.later, spool: r.spool}
	log := slog.New(slog.NewTextHandler(&lockedWriter{w: &o.log, mu: &o.mu}, nil))
	o.gateway = o.newGateway(log, r.clock)
	o.url = o.serve(o.gateway, log)
	return o
}

// empty expects that nothing at all is kept.
func (r *rig) empty(when string) {
	r.t.Helper()
	for table, n := range r.tables() {
		if n != 0 {
			r.t.Errorf("%s: %d rows in %s", when, n, table)
		}
	}
}

// tables counts what is kept of deliveries, in every table that names a partner and is
// no configuration.
func (r *rig) tables() map[string]int {
	r.t.Helper()
	r.later.Flush(r.t.Context())
	rows, err := r.pool.Query(r.t.Context(), `
		select c.relname::text
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'partner_id' and not a.attisdropped
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname not in ('partner', 'partner_identifier', 'partner_revision', 'partner_token', 'control_number') -- numbers are leased, and gaps are legal`)
	if err != nil {
		r.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 10 {
		r.t.Fatal(names, err)
	}
	found := map[string]int{}
	for _, name := range names {
		found[name] = r.count(`select count(*) from ` + pgx.Identifier{name}.Sanitize())
	}
	return found
}

// comesAgain expects to be told to, without an MDN.
func (r *rig) comesAgain(m *mdn) {
	r.t.Helper()
	if r.told(m, told503, ""); m.header.Get("Retry-After") == "" {
		r.t.Error("it is not told when")
	}
}

// TestAS2WhileOthersAreAtWork has a message meet locks that others hold past the wait:
// 503 without an MDN, nothing kept, and in the end one effect.
func TestAS2WhileOthersAreAtWork(t *testing.T) {
	t.Parallel()
	good := invoic("1", "R-1", "100.00")
	t.Run("another process is claiming its keys", func(t *testing.T) {
		r := newRig(t, unsignedAS2)
		second := r.another("50ms")
		reached, release := r.hold(nil)
		first := make(chan *mdn, 1)
		go func() { first <- r.post("a", asksSigned, good) }()
		<-reached
		second.comesAgain(second.post("a", asksSigned, good))
		second.comesAgain(second.post("b", asksSigned, good)) // its interchange alone is known
		r.empty("the first is not committed")
		release()
		one := <-first
		r.told(one, asSigned, "")
		r.same(one, second.post("a", asksSigned, good))
		r.told(second.post("b", asksSigned, good), asSigned, "")
		r.postedOnce("R-1")
	})
	t.Run("another process holds a key that is known: a repeat waits for nobody, a drift comes again", func(t *testing.T) {
		r := newRig(t, unsignedAS2)
		second := r.another("50ms")
		first := r.post("a", asksMDN, good)
		r.told(first, positive, "")
		tx, err := r.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `select from inbox for update`); err != nil {
			t.Fatal(err)
		}
		r.same(first, second.post("a", asksMDN, good))
		changed := invoic("1", "R-1", "200.00")
		before := r.tables()
		second.comesAgain(second.post("b", asksMDN, changed))
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := r.tables(); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("what was told to come again left rows:\n%v\n%v", before, after)
		}
		second.brings("b", changed, "T1 I13", negative)
	})
	t.Run("another process is posting the same document under another reference", func(t *testing.T) {
		r := newRig(t, unsignedAS2)
		second := r.another("50ms")
		reached, release := r.hold(nil)
		first := make(chan *mdn, 1)
		go func() { first <- r.post("a", asksMDN, good) }()
		<-reached
		second.comesAgain(second.post("b", asksMDN, invoic("2", "R-1", "100.00")))
		release()
		r.told(<-first, positive, "")
		second.brings("b", invoic("2", "R-1", "100.00"), "T1 I1b", positive)
		r.postedOnce("R-1")
	})
}

// TestAS2WithoutDatabase loses the connection at each point before COMMIT, of messages
// whose MDN is in the response and of those where it is brought: 503 without one, and
// nothing kept. Then the message goes through.
func TestAS2WithoutDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, "as2: {names: [TALQUIST-AS2], signature: optional, mdn_hosts: [mdn.talquist.example]}\n")
	good := invoic("1", "R-1", "100.00")
	later := asksSigned + "Receipt-Delivery-Option: http://mdn.talquist.example/\r\n"
	for _, lost := range []string{"begin", "claim", "first document", "last document", "acknowledgement", "before commit"} {
		r.gateway.Hook = func(point string) { // of both tries: what fails in a group goes alone
			if point == lost {
				r.cut()
			}
		}
		r.comesAgain(r.post("a", asksSigned, good))
		r.comesAgain(r.post("b", later, good))
		r.empty("lost at " + lost)
	}
	r.gateway.Hook = nil
	first := r.post("a", asksSigned, good)
	r.told(first, asSigned, "")
	r.same(first, r.post("a", asksSigned, good))
	if m := r.post("b", later, good); m.status != http.StatusNoContent || r.count(`select count(*) from effect where target = 'as2-mdn'`) != 1 {
		t.Errorf("an MDN that is to be brought: %s", m)
	}
	r.postedOnce("R-1")
}

// TestAS2WithoutDisk has no room for a body: 503 without an MDN, nothing kept, and then
// the message goes through.
func TestAS2WithoutDisk(t *testing.T) {
	t.Parallel()
	good := invoic("1", "R-1", "100.00")
	for name, spool := range map[string]func(dir string) *gateway.Spool{
		"the folder is gone": func(dir string) *gateway.Spool {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
			return &gateway.Spool{Dir: dir, Threshold: 100}
		},
		"the spool is full": func(dir string) *gateway.Spool { return &gateway.Spool{Dir: dir, Threshold: 100, Cap: 10} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, unsignedAS2)
			whole := r.as2.Spool
			r.as2.Spool = spool(t.TempDir())
			r.comesAgain(r.post("a", asksMDN, good))
			r.empty(name)
			r.as2.Spool = whole
			r.brings("a", good, "T1 I1b", positive)
			r.postedOnce("R-1")
		})
	}
}

// TestAS2CopiesAtOnce sends 32 copies of one message at once to two processes: one
// effect; to each the one MDN or "try again", after which the retry gets it.
func TestAS2CopiesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, unsignedAS2)
	second := r.another("2s")
	good := invoic("1", "R-1", "100.00")
	const copies = 32
	answers := make(chan *mdn, copies)
	for i := range copies {
		to := r
		if i%2 == 0 {
			to = second
		}
		go func() { answers <- to.post("a", asksSigned, good) }()
	}
	var one *mdn
	for range copies {
		switch m := <-answers; {
		case m.status == http.StatusServiceUnavailable:
			r.comesAgain(m)
		case one == nil:
			one = m
			r.told(one, asSigned, "")
		case !bytes.Equal(one.body, m.body):
			t.Errorf("two MDNs of one message:\n%s\n%s", one.body, m.body)
		}
	}
	if one == nil {
		t.Fatal("no copy has its MDN")
	}
	for range copies {
		r.same(one, second.post("a", asksSigned, good))
	}
	r.postedOnce("R-1")
}
