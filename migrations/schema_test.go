package migrations_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
	"github.com/google/go-cmp/cmp"
)

var write = flag.Bool("write", false, "write schema.sql instead of comparing it (make schema)")

// TestSchemaIsFresh compares schema.sql, which shows people the result of all
// migrations, with what pg_dump says of a database that was just migrated.
func TestSchemaIsFresh(t *testing.T) {
	bin, err := embeddedpg.Bin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "pg_dump"), "--schema-only", "--no-owner", "--no-privileges",
		"--exclude-table=goose_db_version", "--exclude-table=goose_db_version_id_seq", pgtest.URL(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, stderr.String())
	}
	got := normalise(out)
	if *write {
		if err := os.WriteFile("schema.sql", got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatalf("%v (run `make schema`)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema.sql is not what the migrations make: run `make schema` (-file +database)\n%s", diff)
	}
}

var (
	comments = regexp.MustCompile(`(?m)^--.*\n`)
	settings = regexp.MustCompile(`(?m)^(SET|SELECT pg_catalog\.set_config|\\restrict|\\unrestrict).*\n`)
	blanks   = regexp.MustCompile(`\n{2,}`)
)

// normalise leaves out what differs between versions of pg_dump.
func normalise(dump []byte) []byte {
	dump = comments.ReplaceAll(dump, nil)
	dump = settings.ReplaceAll(dump, nil)
	dump = blanks.ReplaceAll(dump, []byte("\n\n"))
	head := "-- What the migrations make: written by `make schema`, not by hand, and never executed.\n\n"
	return append([]byte(head), append(bytes.TrimSpace(dump), '\n')...)
}
