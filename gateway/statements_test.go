package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// unlocated are the statements of the hot path that name no partner.
var unlocated = map[string]string{
	"begin isolation level read committed": "a transaction's begin",
	"begin":                                "a transaction's begin",
	"commit":                               "a transaction's end",
	"rollback":                             "a transaction's end",
	"select current_setting('synchronous_standby_names') <> ''": "whether COMMIT waits for a standby",
	"set local lock_timeout = '20ms'":                           "a setting of the transaction",
	"reset lock_timeout":                                        "a setting of the session",
	"savepoint document":                                        "finds the document that was refused",
	"release savepoint document":                                "finds the document that was refused",
	"rollback to savepoint document":                            "finds the document that was refused",
}

// tracer keeps each statement that is sent while it is on, with the parameters it
// was first sent with.
type tracer struct {
	mu     sync.Mutex
	on     bool
	sent   map[string][]any
	copied []pgx.TraceCopyFromStartData
}

func (x *tracer) keep(sql string, args []any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if sql = strings.TrimSpace(sql); x.on && x.sent[sql] == nil {
		x.sent[sql] = append([]any{}, args...)
	}
}

func (x *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	x.keep(d.SQL, d.Args)
	return ctx
}
func (x *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (x *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, q := range d.Batch.QueuedQueries {
		x.keep(q.SQL, q.Arguments)
	}
	return ctx
}
func (x *tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (x *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func (x *tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceCopyFromStartData) context.Context {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.on {
		x.copied = append(x.copied, d)
	}
	return ctx
}
func (x *tracer) TraceCopyFromEnd(context.Context, *pgx.Conn, pgx.TraceCopyFromEndData) {}

// during gives the new statements that were sent while f ran.
func (x *tracer) during(f func()) (sent int) {
	x.mu.Lock()
	before := len(x.sent)
	x.on = true
	x.mu.Unlock()
	f()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.on = false
	return len(x.sent) - before
}

// TestStatementsCarryThePartner looks at every statement that receiving really
// sends: a table that is distributed by partner_id must be told the partner by each.
func TestStatementsCarryThePartner(t *testing.T) {
	url := pgtest.URL(t)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	x := &tracer{sent: map[string][]any{}}
	config.ConnConfig.Tracer = x
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r := newRigOn(t, pool)
	everyWay(t, r, x)

	located := 0
	check := newLocator(t, pgtest.Pool(t, url))
	for _, sql := range slices.Sorted(maps.Keys(x.sent)) {
		if unlocated[sql] != "" {
			continue
		}
		located++
		for _, fault := range check.faults(t, sql, x.sent[sql]) {
			t.Errorf("%s in\n%s", fault, sql)
		}
	}
	for _, c := range x.copied {
		if !slices.Contains(c.ColumnNames, "partner_id") {
			t.Errorf("copy into %v names no partner_id: %v", c.TableName, c.ColumnNames)
		}
	}
	if located < 25 {
		t.Errorf("only %d statements were seen", located)
	}
}

// everyWay receives in every way there is.
func everyWay(t *testing.T, r *rig, x *tracer) {
	t.Helper()
	way := func(name string, f func()) {
		t.Helper()
		if n := x.during(f); n > 0 {
			t.Logf("%s: %d statements that were not seen before", name, n)
		}
	}
	is := func(id, payload string, verdict gateway.Verdict) {
		t.Helper()
		if rec, err := r.deliver("acme", id, payload); err != nil || rec.Verdict != verdict {
			t.Fatalf("got %+v, %v, want %s", rec, err, verdict)
		}
	}
	sound := interchange("R1", message{number: "N1"})
	way("a new message", func() { is("id-1", sound, gateway.First) })
	way("its repeat, from the database", func() {
		is("id-1", sound, gateway.Duplicate)
		is("id-2", sound, gateway.Duplicate)
		r.Later.Flush(t.Context())
	})
	way("its repeat, from memory", func() {
		r.Recent = 1 << 20
		is("id-1", sound, gateway.Duplicate)
		if n := x.during(func() { is("id-1", sound, gateway.Duplicate) }); n != 0 {
			t.Errorf("a repeat from memory sent %d statements", n)
		}
		r.Recent = 0
	})
	way("drift", func() {
		is("", interchange("R1", message{number: "N1", amount: "7.00"}), gateway.Drift)
		is("", interchange("R1", message{number: "N1", amount: "7.00"}), gateway.Drift)
		is("", interchange("R1", message{number: "N1", amount: "8.00"}), gateway.Drift)
	})
	way("a possible copy of a drift", func() { deliver(t, r, "", interchange("R1B", message{number: "N1B", amount: "7.00"})) })
	way("transport drift", func() {
		deliver(t, r, "id-1", interchange("R2", message{number: "N2"}))
		deliver(t, r, "id-1", interchange("R2", message{number: "N2"}))
		deliver(t, r, "id-3", interchange("R2", message{number: "N2"})) // closes it
	})
	way("correction and re-evaluation", func() {
		bad := interchange("R4", message{number: "N4", bad: "count"})
		is("", bad, gateway.First)
		is("", interchange("R4", message{number: "N4"}), gateway.Correction)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		is("", interchange("R5", message{number: "N5"}), gateway.First)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"INVOIC", "DESADV"} })
		is("", interchange("R5", message{number: "N5"}), gateway.Reevaluation)
	})
	way("retry of what was dead", func() {
		r.fail = func(number string) bool { return number == "N6" }
		is("id-6", interchange("R6", message{number: "N6"}), gateway.First)
		r.fail = nil
		is("id-6", interchange("R6", message{number: "N6"}), gateway.Retry)
	})
	way("completion", func() {
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		deliver(t, r, "", interchange("R7", message{number: "N7"}, message{number: "N8", bad: "count"}))
		deliver(t, r, "", interchange("R7", message{number: "N7"}, message{number: "N8"}))
		r.policy(func(p *partners.Policy) { p.Acceptance = "interchange" })
	})
	way("known documents: absorbed, held, replaced, cancelled", func() {
		deliver(t, r, "", interchange("R9", message{number: "N1"}))
		deliver(t, r, "", interchange("R10", message{number: "N1", amount: "9.00"}))
		for i, function := range []string{"5", "1"} {
			text := strings.ReplaceAll(interchangeFrom("9520001000010:14", "261130:1015", fmt.Sprintf("R11%d", i), message{number: "N1", amount: "11.00"}), "BGM+380+N1+9", "BGM+380+N1+"+function)
			deliver(t, r, "", text)
		}
	})
	r.exec(`alter table document add constraint no_n12 check (number <> 'N12')`)
	way("a document the database refuses", func() {
		deliver(t, r, "", interchange("R12", message{number: "N12"}))
	})
	way("despatch advices that name a logistic unit", func() {
		deliver(t, r, "", notices("U1", notice{number: "LS-U1", units: []string{pallet}}))
		deliver(t, r, "", notices("U2", notice{number: "LS-U2", units: []string{pallet}}))
	})
	way("several partners together", func() {
		everyone(t, 40, func(i int) error {
			ref := fmt.Sprintf("G%d", i)
			if i%2 == 0 {
				_, err := r.deliver("acme", "id-"+ref, interchange(ref, message{number: ref}))
				return err
			}
			_, err := r.deliver("bolt", "id-"+ref, interchangeFrom("9520001000027:14", "261129:1015", ref, message{number: ref}))
			return err
		})
	})
	way("a VAN's interchanges of several partners", func() {
		r.set("van", edi.Party{ID: "9520001000034", Qualifier: "14"}, func(p *partners.Partner) { p.SpeaksFor = []string{"acme", "bolt"} })
		both := interchange("V1", message{number: "V1"}) + interchangeFrom("9520001000027:14", "261129:1015", "V1", message{number: "V1"})
		if _, err := r.deliver("van", "van-1", both); err != nil {
			t.Fatal(err)
		}
		if _, err := r.deliver("van", "van-2", both); err != nil {
			t.Fatal(err)
		}
	})
	way("many interchanges, and many messages", func() {
		var many strings.Builder
		for i := range 12 {
			many.WriteString(interchange(fmt.Sprintf("M%d", i), message{number: fmt.Sprintf("M%d", i)}))
		}
		deliver(t, r, "id-many", many.String())
		deliver(t, r, "id-many", many.String())
	})
	way("a payload that is no interchange, one of a stranger's, one that failed verification", func() {
		deliver(t, r, "", "what is this?")
		deliver(t, r, "", interchangeFrom("9999999999999:14", "261129:1015", "X", message{number: "X"}))
		fault := &gateway.Delivery{Transport: "http", Partner: r.by["acme"], Payload: edi.Bytes([]byte(sound)), Received: time.Now(),
			Fault: &gateway.Rejection{Answer: gateway.ToldFaulty, Reason: "digest-mismatch"}}
		var told *gateway.Rejection
		if _, err := r.Receive(t.Context(), fault); !errors.As(err, &told) {
			t.Fatal(err)
		}
	})
	way("a payload that is not kept in memory", func() {
		spool := &gateway.Spool{Dir: t.TempDir(), Threshold: 10}
		text := interchange("F1", message{number: "F1"})
		in, err := spool.Take(nil, strings.NewReader(text), -1, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		r.Retained = 1
		_, err = r.Receive(t.Context(), &gateway.Delivery{Transport: "http", Partner: r.by["acme"], Payload: in.Payload, SHA256: in.SHA256, Received: time.Now(), Render: render})
		r.Retained = 0
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
	})
	r.exec(`update inbox set last_at = last_at - interval '3 days'`)
	way("a key that was received days ago", func() {
		is("id-2", sound, gateway.Duplicate)
		r.Later.Flush(t.Context())
	})
}

func deliver(t *testing.T, r *rig, id, payload string) {
	t.Helper()
	if _, err := r.deliver("acme", id, payload); err != nil {
		t.Fatal(err)
	}
}

// locator finds statements that do not tell the partner.
type locator struct {
	pool   *pgxpool.Pool
	tables []string // with a partner_id
}

func newLocator(t *testing.T, pool *pgxpool.Pool) *locator {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'partner_id' and not a.attisdropped
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 10 {
		t.Fatalf("%v, %v", tables, err)
	}
	return &locator{pool, tables}
}

var (
	tableIn  = regexp.MustCompile(`(?i)\b(?:from|join|into|update|using)\s+([a-z_]+)(?:\s+(?:as\s+)?([a-z_]+))?`)
	insertIn = regexp.MustCompile(`(?is)\binsert\s+into\s+([a-z_]+)\s*\(([^)]*)\)`)
)

func tablesOf(sql string, tables []string) (named []string) {
	for _, m := range tableIn.FindAllStringSubmatch(sql, -1) {
		if slices.Contains(tables, m[1]) {
			named = append(named, m[1])
		}
	}
	return named
}

// faults says where a statement does not tell the partner: in its text, and in the
// plan that the server makes of it.
func (l *locator) faults(t *testing.T, sql string, args []any) (faults []string) {
	t.Helper()
	inserts := map[string]bool{}
	for _, m := range insertIn.FindAllStringSubmatch(sql, -1) {
		if inserts[m[1]] = true; !regexp.MustCompile(`\bpartner_id\b`).MatchString(m[2]) {
			faults = append(faults, "an insert into "+m[1]+" names no partner_id")
		}
	}
	if strings.HasPrefix(strings.ToLower(sql), "insert") && len(inserts) == 0 {
		faults = append(faults, "an insert names no columns")
	}
	if len(tablesOf(sql, l.tables)) == 0 {
		faults = append(faults, "no table with a partner_id is named: say in this test why it is sent")
	}
	for _, m := range tableIn.FindAllStringSubmatch(sql, -1) {
		table, alias := m[1], m[2]
		if !slices.Contains(l.tables, table) || inserts[table] {
			continue
		}
		bare := `(^|[^.\w])partner_id\s*=\s*\$\d`
		with := fmt.Sprintf(`\b(%s|%s)\.partner_id\s*=|=\s*(%[1]s|%[2]s)\.partner_id\b`, table, alias)
		if alias == "" {
			with = fmt.Sprintf(`\b%s\.partner_id\s*=`, table)
		}
		if !regexp.MustCompile(bare + `|` + with).MatchString(sql) {
			faults = append(faults, "no condition on the partner_id of "+table)
		}
	}
	return append(faults, l.plan(t, sql, args)...)
}

// node is a node of a plan.
type node struct {
	Type     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Alias    string `json:"Alias"`
	Index    string `json:"Index Cond"`
	Recheck  string `json:"Recheck Cond"`
	Filter   string `json:"Filter"`
	Plans    []node `json:"Plans"`
}

// plan looks at every scan of a table of ours. Joins are made by nested loops
// here, as each row is then found by its own condition.
func (l *locator) plan(t *testing.T, sql string, args []any) (faults []string) {
	t.Helper()
	tx, err := l.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := tx.Exec(t.Context(), `set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_material = off`); err != nil {
		t.Fatal(err)
	}
	var text []byte
	if err := tx.QueryRow(t.Context(), "explain (verbose, format json) "+sql, args...).Scan(&text); err != nil {
		t.Fatalf("explain: %v\n%s", err, sql)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil {
		t.Fatal(err)
	}
	var walk func(n node)
	walk = func(n node) {
		// A partition is named as its table, and more.
		ours := slices.ContainsFunc(l.tables, func(table string) bool { return n.Relation == table || strings.HasPrefix(n.Relation, table+"_") })
		if ours && strings.HasSuffix(n.Type, "Scan") && n.Type != "Bitmap Index Scan" && !strings.Contains(n.Index+n.Recheck+n.Filter, "partner_id") {
			faults = append(faults, fmt.Sprintf("the plan has a %s of %s without its partner_id", n.Type, n.Relation))
		}
		for _, child := range n.Plans {
			walk(child)
		}
	}
	for _, p := range plans {
		walk(p.Plan)
	}
	return faults
}

func TestAStatementWithoutPartnerIsSeen(t *testing.T) {
	l := newLocator(t, pgtest.New(t))
	key := []any{[]string{"acme"}, []string{"unb:1"}}
	for _, c := range []struct {
		name, sql   string
		args        []any
		text, plans bool // where it shows
	}{
		{"a read by the key alone", `select state from inbox where message_id = $1`, []any{"unb:1"}, true, true},
		{"a read of everything", `select count(*) from drift_alert where state = 'open'`, nil, true, true},
		{"an update by an id that is unique", `update document set superseded_by = $2 where document_id = $1`, []any{"01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"}, true, true},
		{"a delete that joins by the key", `delete from variant v using unnest($1::text[], $2::text[]) as k (partner_id, message_id) where v.message_id = k.message_id`, key, true, true},
		{"one of two tables that are joined", `select a.state from drift_copy c join drift_alert a on a.alert_id = c.alert_id where c.partner_id = $1`, []any{"acme"}, true, true},
		{"a subquery", `select i.state from inbox i where i.partner_id = $1 and exists (select from variant v where v.message_id = i.message_id)`, []any{"acme"}, true, true},
		{"an insert", `insert into drift_copy (content, alert_id) select ''::bytea, gen_random_uuid()`, nil, true, false},
		{"a condition that is none", `select state from inbox where partner_id = $1 or true`, []any{"acme"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := l.faults(t, c.sql, c.args)
			inPlan := slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, "the plan") })
			inText := slices.ContainsFunc(faults, func(f string) bool { return !strings.HasPrefix(f, "the plan") })
			if inText != c.text || inPlan != c.plans {
				t.Errorf("in its text %v, in its plan %v: %v", inText, inPlan, faults)
			}
		})
	}
	t.Run("sound ones pass", func(t *testing.T) {
		for sql, args := range map[string][]any{
			`select i.state from inbox i join unnest($1::text[], $2::text[]) as k (partner_id, message_id) on i.partner_id = k.partner_id collate "C" and i.message_id = k.message_id collate "C" for update of i`: key,
			`update inbox set hold = 0 where partner_id = $1 and message_id = $2`:                                                   {"acme", "unb:1"},
			`insert into drift_copy (partner_id, content, alert_id) select $1, ''::bytea, gen_random_uuid() on conflict do nothing`: {"acme"},
		} {
			if faults := l.faults(t, sql, args); len(faults) > 0 {
				t.Errorf("%v in %s", faults, sql)
			}
		}
	})
}
