//go:build linux

package crash_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// keys is how many keys the import takes over; `make import-keys` takes a million.
var keys = flag.Int("keys", 20_000, "how many keys are imported")

// former is what a former gateway has processed of a partner: a file of keys, in
// turns an interchange with its digest, one without, and a document's number.
type former struct {
	p    partner
	path string
	rows int
}

func (f former) reference(n int) string { return fmt.Sprintf("OLD%d", n) }
func (f former) number(n int) string    { return fmt.Sprintf("F-%d", n) }
func (f former) text(n int) string      { return f.p.interchange(f.reference(n), f.number(n)) }

// key is that of row n, of an interchange.
func (f former) key(n int) string {
	return "unb:" + f.p.address() + ":14:9520002000019:14:" + f.reference(n)
}

func newFormer(t *testing.T, p partner, rows int) former {
	t.Helper()
	f := former{p: p, path: filepath.Join(t.TempDir(), "former.csv"), rows: rows}
	file, err := os.Create(f.path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, "partner;kind;message_id;payload_sha256;class;type;number;date;issuer;issuer_scheme")
	for n := range rows {
		switch n % 3 {
		case 0:
			fmt.Fprintf(w, "%s;interchange;%s;;;;;;;\n", p.id(), f.key(n))
		case 1:
			fmt.Fprintf(w, "%s;interchange;%s;%x;;;;;;\n", p.id(), f.key(n), sha256.Sum256([]byte(f.text(n))))
		default:
			fmt.Fprintf(w, "%s;document;;;invoice;380;%s;2026-11-27;%s;0088\n", p.id(), f.number(n), p.address())
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// stopAt keeps an import from going beyond row n, of an interchange: somebody
// has claimed its key and does not end. It gives what ends him.
func (f former) stopAt(t *testing.T, s *site, n int) (end func()) {
	t.Helper()
	n -= n % 3
	tx, err := s.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(context.Background(), `
		insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
		values ($1, $2, 2, '2099-01-01', 2, 1, '', gen_random_uuid())`, f.p.id(), f.key(n))
	if err != nil {
		t.Fatal(err)
	}
	end = func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	}
	t.Cleanup(end) // else the pool waits for it for ever
	return end
}

// imported gives how many rows of the file are done, and added.
func (f former) imported(t *testing.T, s *site) (done, added int) {
	t.Helper()
	err := s.pool.QueryRow(context.Background(), `select rows_done, added from key_import`).Scan(&done, &added)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return done, added
}

// comesTo waits until an import is in the chunk before row n, as long as a slow
// machine takes for that many.
func (f former) comesTo(t *testing.T, s *site, n int, said *heard) {
	t.Helper()
	for end := time.Now().Add(patience + time.Duration(n)*time.Millisecond); ; time.Sleep(20 * time.Millisecond) {
		done, _ := f.imported(t, s)
		if done+5000 >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the import does not come to row %d: %d are done\n%s", n, done, said)
		}
	}
}

// importing runs `edigw import keys` as a process of its own.
func (f former) importing(t *testing.T, dataDir string) (cmd *exec.Cmd, said *heard) {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	said = &heard{}
	cmd = exec.Command(path, "import", "keys", f.path, "--data-dir", dataDir)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test broke off
	})
	return cmd, said
}

// heard is what a process has said so far.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// hold keeps everybody from the import, as the request of a run that was killed
// does until the database has ended it. It gives what ends that.
func (f former) hold(t *testing.T, s *site) (end func()) {
	t.Helper()
	tx, err := s.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	end = func() { _ = tx.Rollback(context.Background()) }
	t.Cleanup(end)
	if _, err := tx.Exec(context.Background(), `select from key_import for update`); err != nil {
		t.Fatal(err)
	}
	return end
}

// TestImport kills the client in the middle of an import, then the gateway in the
// middle of the next run, and then has the partner repeat what was imported.
func TestImport(t *testing.T) {
	t.Parallel()
	run(t, "an import goes on where it was killed", func(t *testing.T) {
		site := newSite(t, 1)
		f := newFormer(t, site.partner(t), *keys)
		dataDir := t.TempDir()
		gateway := startIn(t, dataDir, "EDIGW_DATABASE_URL="+site.url)
		half := func(done, of int) bool { return done > 0 && done < of }

		end := f.stopAt(t, site, f.rows/2+1)
		client, said := f.importing(t, dataDir)
		f.comesTo(t, site, f.rows/2, said)
		if err := client.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := client.Wait(); err == nil {
			t.Fatalf("it was not killed:\n%s", said)
		}
		first, added := f.imported(t, site)
		if !half(first, f.rows) || added != first {
			t.Fatalf("%d of %d rows are done, %d added", first, f.rows, added)
		}
		end()

		end = f.stopAt(t, site, f.rows-2)
		begun := time.Now()
		letGo := f.hold(t, site)
		client, said = f.importing(t, dataDir)
		eventually(t, "the second run is told that the import is held", func() bool { return strings.Contains(said.String(), "trying again in") })
		letGo()
		f.comesTo(t, site, f.rows, said)
		t.Logf("%.0f rows a second", float64(f.rows-first)/time.Since(begun).Seconds())
		gateway.kill(t)
		if done, _ := f.imported(t, site); !half(done, f.rows) {
			t.Fatalf("%d of %d rows are done", done, f.rows)
		}
		end()
		gateway = startIn(t, dataDir, "EDIGW_DATABASE_URL="+site.url)
		if err := client.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		for _, want := range []string{fmt.Sprintf("going on behind row %d of %d\n", first, f.rows), "trying again in", fmt.Sprintf("%d  added\n", f.rows)} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("%q is missing in\n%s", want, said)
			}
		}
		if done, added := f.imported(t, site); done != f.rows || added != f.rows {
			t.Errorf("%d of %d rows are done, %d added", done, f.rows, added)
		}
		rows := f.p.rows(t, site.pool)
		if guards := (f.rows) / 3; rows["inbox"] != f.rows-guards || rows["document_key"] != guards {
			t.Errorf("%d keys and %d guards of %d rows", rows["inbox"], rows["document_key"], f.rows)
		}
		f.repeated(t, gateway)
		if rows := f.p.rows(t, site.pool); rows["document"] != 0 {
			t.Errorf("%d documents were posted again", rows["document"])
		}
	})
}

// repeated has the partner send what was imported once more, and other content
// under the same numbers.
func (f former) repeated(t *testing.T, to *program) {
	t.Helper()
	for _, at := range []int{0, f.rows / 2, f.rows - 4} {
		n := at - at%3
		other := func(n int) string { return f.p.amounts(f.reference(n), "200.00", f.number(n)) }

		f.p.mustSend(t, to, f.text(n), "").is(t, http.StatusCreated, "duplicate") // I8b
		f.p.mustSend(t, to, f.text(n), "").is(t, http.StatusOK, "duplicate")
		f.p.mustSend(t, to, other(n), "").is(t, http.StatusUnprocessableEntity, "drift")

		f.p.mustSend(t, to, other(n+1), "").is(t, http.StatusUnprocessableEntity, "drift") // its digest was imported
		f.p.mustSend(t, to, f.text(n+1), "").is(t, http.StatusOK, "duplicate")

		f.p.mustSend(t, to, f.text(n+2), "").is(t, http.StatusCreated, "first") // the guard absorbs it
	}
}
