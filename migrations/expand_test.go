package migrations_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/pgtest"
)

// contracted are the differences between two schemas that the program before
// survives although they take something away, by the file that makes them, with the
// reason why it does.
var contracted = map[string]map[string]string{}

// firstRelease is the last file that no gateway with deliveries ran before.
const firstRelease = "00006_decisions.sql"

var indexOn = regexp.MustCompile(`(?i)create\s+(?:unique\s+)?index\s+(concurrently\s+)?\w+\s+on\s+(\w+)`)

var indexKept = regexp.MustCompile(`(?i)create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)`)

// attached reports whether a file makes an index a partition's, which cannot be dropped
// then; migrations.IndexPartitions makes it anew.
func attached(text, index string) bool {
	return strings.Contains(text, "attach partition "+index+";")
}

// TestMigrationsOnlyAdd applies the files one by one, and holds each schema against
// the one before it: while a release is rolled out, the program before runs on it.
func TestMigrationsOnlyAdd(t *testing.T) {
	files := os.DirFS(".")
	names, err := fs.Glob(files, "0*.sql")
	if err != nil || len(names) < 2 {
		t.Fatalf("%v, %v", names, err)
	}
	pool := pgtest.Pool(t, pgtest.EmptyURL(t))
	applied := fstest.MapFS{}
	before := shape{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		applied[name] = &fstest.MapFile{Data: text}
		if err := migrations.UpFrom(t.Context(), pool, applied, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		for _, m := range indexKept.FindAllStringSubmatch(string(text), -1) {
			if !attached(string(text), m[1]) {
				t.Errorf("%s: %s may be there and not be valid, where this was broken off: drop index concurrently if exists %s; before it, and no if not exists", name, m[1], m[1])
			}
		}
		for _, m := range indexOn.FindAllStringSubmatch(string(text), -1) {
			if _, there := before["table "+m[2]]; there && name > firstRelease && m[1] == "" {
				t.Errorf("%s: an index on %s, which was there, stops deliveries while it is made: create it concurrently, in a file of its own with -- +goose NO TRANSACTION", name, m[2])
			}
		}
		after := shapeOf(t, pool)
		for _, fault := range before.lostIn(after) {
			if contracted[name][fault] == "" {
				t.Errorf("%s: %s: the program before fails on it; expand first, contract in a later release (CONTRIBUTING.md)", name, fault)
			}
		}
		before = after
	}
}

// shape is what a program relies on: facts about tables, each with what it is.
type shape map[string]string

func shapeOf(t *testing.T, pool *pgxpool.Pool) shape {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		with ours as (
			select c.oid, c.relname::text as name from pg_class c
			where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname !~ '^goose')
		select 'table ' || o.name, '' from ours o
		union all
		select 'column ' || o.name || '.' || a.attname, format_type(a.atttypid, a.atttypmod) || coalesce(' collate ' || c.collname, '')
			|| case when a.attgenerated <> '' then ' generated' else '' end
			|| case when not a.attnotnull then ', may be null' when d.oid is not null then ', has a default' else ', must be given' end
		from ours o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
			left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
			left join pg_collation c on c.oid = a.attcollation and c.collname <> 'default'
		union all
		select 'rule ' || o.name || ': ' || pg_get_constraintdef(k.oid), '' from ours o join pg_constraint k on k.conrelid = o.oid
		union all
		select 'rule ' || o.name || ': ' || regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', 'unique '), ''
		from ours o join pg_index i on i.indrelid = o.oid and i.indisunique
			and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
		union all
		select 'rule ' || o.name || ': trigger ' || g.tgname, '' from ours o join pg_trigger g on g.tgrelid = o.oid and not g.tgisinternal`)
	if err != nil {
		t.Fatal(err)
	}
	s := shape{}
	var fact, is string
	if _, err := pgx.ForEachRow(rows, []any{&fact, &is}, func() error { s[fact] = is; return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

var ofTable = regexp.MustCompile(`^(?:table|column|rule) (\w+)`)

// lostIn tells what a program written for s misses in after, or is refused by it.
func (s shape) lostIn(after shape) (faults []string) {
	for _, fact := range slices.Sorted(maps.Keys(s)) {
		kind, name, _ := strings.Cut(fact, " ")
		is, stays := after[fact]
		switch {
		case kind == "rule" && !stays && (strings.Contains(name, "PRIMARY KEY") || strings.Contains(strings.ToLower(name), "unique")):
			// on conflict names it
			faults = append(faults, "rule "+name+" is gone")
		case kind == "rule":
		case !stays:
			faults = append(faults, fact+" is gone")
		case is != s[fact] && !looser(s[fact], is):
			faults = append(faults, fmt.Sprintf("%s was %s and is %s", fact, s[fact], is))
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(after)) {
		if _, had := s[fact]; had {
			continue
		}
		table := ofTable.FindStringSubmatch(fact)[1]
		if _, had := s["table "+table]; !had {
			continue // of a new table, which the program before does not know
		}
		switch {
		case strings.HasPrefix(fact, "rule"):
			faults = append(faults, fact+" is new on a table that was there")
		case strings.HasPrefix(fact, "column") && strings.HasSuffix(after[fact], "must be given"):
			faults = append(faults, fact+" is new and must be given")
		}
	}
	return faults
}

// looser reports whether a column of the same type may now be left out where it
// had to be given. A column that was never null stays so for those who read it.
func looser(was, is string) bool {
	a, ok := strings.CutSuffix(was, ", must be given")
	b, got := strings.CutSuffix(is, ", has a default")
	return ok && got && a == b
}

func TestWhatIsTakenAwayIsSeen(t *testing.T) {
	const base = `create table a (id text collate "C" primary key, n int not null, m int, d int not null default 1);`
	for name, c := range map[string]struct {
		sql  string
		want []string
	}{
		"a column that may be left out, a table, an index, a default": {`alter table a add column x int, add column y int not null default 0, alter column n set default 3; create index on a (n); create table b (id int primary key);`, nil},
		"a table dropped":                 {`drop table a;`, []string{"column a.d is gone", "column a.id is gone", "column a.m is gone", "column a.n is gone", "rule a: PRIMARY KEY (id) is gone", "table a is gone"}},
		"a column dropped":                {`alter table a drop column m;`, []string{"column a.m is gone"}},
		"a column renamed":                {`alter table a rename column m to k;`, []string{"column a.m is gone"}},
		"a column of another type":        {`alter table a alter column m type bigint;`, []string{"column a.m was integer, may be null and is bigint, may be null"}},
		"another collation":               {`alter table a alter column id type text collate "POSIX";`, []string{`column a.id was text collate C, must be given and is text collate POSIX, must be given`}},
		"a column that must be given":     {`alter table a add column x int not null;`, []string{"column a.x is new and must be given"}},
		"a column that must be given now": {`alter table a alter column m set not null;`, []string{"column a.m was integer, may be null and is integer, must be given"}},
		"a column that may be null now":   {`alter table a alter column n drop not null;`, []string{"column a.n was integer, must be given and is integer, may be null"}},
		"a default dropped":               {`alter table a alter column d drop default;`, []string{"column a.d was integer, has a default and is integer, must be given"}},
		"a unique index":                  {`create unique index on a (m);`, []string{"rule a: unique btree (m) is new on a table that was there"}},
		"a check":                         {`alter table a add check (n > 0);`, []string{"rule a: CHECK ((n > 0)) is new on a table that was there"}},
		"a foreign key":                   {`create table b (id int primary key); alter table a add foreign key (m) references b (id);`, []string{"rule a: FOREIGN KEY (m) REFERENCES b(id) is new on a table that was there"}},
		"another primary key":             {`alter table a drop constraint a_pkey; alter table a add primary key (id, n);`, []string{"rule a: PRIMARY KEY (id) is gone", "rule a: PRIMARY KEY (id, n) is new on a table that was there"}},
	} {
		t.Run(name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.EmptyURL(t))
			if _, err := pool.Exec(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			before := shapeOf(t, pool)
			if _, err := pool.Exec(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, before.lostIn(shapeOf(t, pool))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
