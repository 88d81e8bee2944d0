//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners"
)

// deferredSite is a site whose partners have their invoices processed by workers
// and handed over.
func deferredSite(t *testing.T, count int) *site {
	t.Helper()
	s := newSite(t, count)
	text := strings.ReplaceAll(partnersYAML(count), "types: [INVOIC]\n", "types: [INVOIC]\nprocessing: deferred\nhand_over: folder\n")
	specs, err := partners.Reader{}.Read("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(context.Background(), s.pool, func(tx pgx.Tx) error {
		store := partners.Store{Pool: s.pool}
		_, err := store.Apply(context.Background(), tx, specs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p *program) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// jobs is how many payloads of the partner wait for a worker.
func (p partner) jobs(t testing.TB, pool *pgxpool.Pool) int {
	t.Helper()
	return p.rows(t, pool)["job"]
}

// processed waits until nothing of the partner waits for a worker, and checks that
// each document was posted once.
func (p partner) processed(t testing.TB, pool *pgxpool.Pool, invoices int) {
	t.Helper()
	eventually(t, "the work is done", func() bool { return p.jobs(t, pool) == 0 })
	if rows := p.rows(t, pool); rows["document"] != invoices || rows["document_key"] != invoices || rows["message_state"] != 0 {
		t.Errorf("%v, want %d documents", rows, invoices)
	}
	p.eachOnce(t, pool)
}

// The points at which a worker is killed, and whether its work is then done.
var workerPoints = []struct {
	point string
	done  bool
}{
	{"job taken", false},
	{"job prepared", false},
	{"job first document", false},
	{"job last document", false},
	{"job before commit", false},
	{"job commit answered", true},
}

// worker is the environment of a process that works: leases short enough to run out
// in a test.
func worker(fault string) []string {
	env := []string{"EDIGW_WORK_LEASE=1s", "EDIGW_WORKERS=1"}
	if fault != "" {
		env = append(env, "EDIGW_FAULT="+fault)
	}
	return env
}

// TestKillWorker kills the process that works on a deferred message. What it was
// acknowledged for is posted once, by another process.
func TestKillWorker(t *testing.T) {
	t.Parallel()
	const invoices = 3
	site := deferredSite(t, len(workerPoints)**runs)
	receiver := start(t, site.url, "EDIGW_WORKERS=0")
	for _, at := range workerPoints {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", at.point, n+1), func(t *testing.T) {
				p := site.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				first := p.mustSend(t, receiver, payload, "key")
				first.is(t, http.StatusAccepted, "first")
				if p.jobs(t, site.pool) != 1 {
					t.Fatal("no work was left")
				}
				start(t, site.url, worker(at.point+"=kill")...).killed(t)
				if done := p.jobs(t, site.pool) == 0; done != at.done {
					t.Errorf("the work is done: %v, want %v", done, at.done)
				}
				again := p.mustSend(t, receiver, payload, "key")
				again.is(t, http.StatusAccepted, "duplicate")
				second := start(t, site.url, worker("")...)
				p.processed(t, site.pool, invoices)
				after := p.mustSend(t, receiver, payload, "key")
				after.is(t, http.StatusAccepted, "duplicate")
				if !strings.Contains(after.body, "UCI+REF1") {
					t.Errorf("no functional acknowledgement after the work: %s", after.body)
				}
				second.noPanic(t)
			})
		}
	}
	receiver.noPanic(t)
}

// TestSleepingWorker stops a worker with SIGSTOP until another has taken its lease
// and done the work, then lets it go on.
func TestSleepingWorker(t *testing.T) {
	t.Parallel()
	const invoices = 2
	points := []string{"job taken", "job prepared"}
	site := deferredSite(t, len(points)**runs)
	receiver := start(t, site.url, "EDIGW_WORKERS=0")
	for _, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := site.partner(t)
				p.mustSend(t, receiver, p.interchange("REF1", numbers(invoices)...), "").is(t, http.StatusAccepted, "first")
				sleeper := start(t, site.url, worker(point+"=stop:1s")...)
				sleeper.reached(t, point, 1)
				sleeper.signal(t, syscall.SIGSTOP)
				other := start(t, site.url, worker("")...)
				p.processed(t, site.pool, invoices)
				other.kill(t)
				sleeper.signal(t, syscall.SIGCONT)
				eventually(t, "it finds that its lease was taken", func() bool { return strings.Contains(sleeper.said(), "another worker has taken it") })
				p.processed(t, site.pool, invoices)
				sleeper.noPanic(t)
			})
		}
	}
}

// TestStoppingWorker ends a process that works on a deferred message in good order:
// it finishes it first.
func TestStoppingWorker(t *testing.T) {
	t.Parallel()
	const invoices = 2
	site := deferredSite(t, *runs)
	receiver := start(t, site.url, "EDIGW_WORKERS=0")
	for n := range *runs {
		run(t, fmt.Sprintf("it finishes what it has/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			p.mustSend(t, receiver, p.interchange("REF1", numbers(invoices)...), "").is(t, http.StatusAccepted, "first")
			stopping := start(t, site.url, worker("job prepared=stop:1s")...)
			stopping.reached(t, "job prepared", 1)
			stopping.terminate(t)
			stopping.ended(t)
			if p.jobs(t, site.pool) != 0 {
				t.Error("it left its work")
			}
			p.processed(t, site.pool, invoices)
		})
	}
}

// handedOver lists the files of a partner's documents, hidden ones too.
func (p partner) handedOver(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, p.id()))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if !e.IsDir() {
			list = append(list, e.Name())
		}
	}
	return list
}

// TestKillHandOver kills the process that hands a document over. One file is there
// in the end, whatever the process had come to.
func TestKillHandOver(t *testing.T) {
	t.Parallel()
	points := []string{"effect started", "file written", "before link", "effect sent"}
	site := deferredSite(t, 2*len(points)**runs)
	receiver := start(t, site.url, "EDIGW_WORKERS=1")
	for _, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p, dir := site.partner(t), t.TempDir()
				p.mustSend(t, receiver, p.interchange("REF1", numbers(1)...), "").is(t, http.StatusAccepted, "first")
				p.processed(t, site.pool, 1)
				start(t, site.url, append(worker(point+"=kill"), "EDIGW_HAND_OVER_DIR="+dir)...).killed(t)
				second := start(t, site.url, append(worker(""), "EDIGW_HAND_OVER_DIR="+dir)...)
				p.handedOnce(t, site, dir)
				second.noPanic(t)
				second.kill(t)
			})
			run(t, fmt.Sprintf("asleep at %s until another has done it/%d", point, n+1), func(t *testing.T) {
				p, dir := site.partner(t), t.TempDir()
				p.mustSend(t, receiver, p.interchange("REF1", numbers(1)...), "").is(t, http.StatusAccepted, "first")
				p.processed(t, site.pool, 1)
				sleeper := start(t, site.url, append(worker(point+"=stop:1s"), "EDIGW_HAND_OVER_DIR="+dir)...)
				sleeper.reached(t, point, 1)
				sleeper.signal(t, syscall.SIGSTOP)
				other := start(t, site.url, append(worker(""), "EDIGW_HAND_OVER_DIR="+dir)...)
				p.handedOnce(t, site, dir)
				p.takes(t, dir)
				other.kill(t)
				sleeper.signal(t, syscall.SIGCONT)
				eventually(t, "it finds that its lease was taken", func() bool { return strings.Contains(sleeper.said(), "another worker has taken it") })
				if list := p.handedOver(t, dir); len(list) != 0 {
					t.Errorf("handed over again after it was taken: %v", list)
				}
				sleeper.noPanic(t)
				sleeper.kill(t)
			})
		}
	}
}

// handedOnce waits until the partner's one effect is done, and checks that there is
// one whole file.
func (p partner) handedOnce(t testing.TB, site *site, dir string) {
	t.Helper()
	eventually(t, "the document is handed over", func() bool {
		var open int
		if err := site.pool.QueryRow(t.Context(), `select count(*) from effect where partner_id = $1 and state <> 3`, p.id()).Scan(&open); err != nil {
			t.Fatal(err)
		}
		return open == 0
	})
	list := p.handedOver(t, dir)
	if len(list) != 1 || !strings.HasSuffix(list[0], ".json") {
		t.Fatalf("files %v, want one", list)
	}
	text, err := os.ReadFile(filepath.Join(dir, p.id(), list[0]))
	if err != nil || !strings.Contains(string(text), `"number": "RG-1"`) || !strings.Contains(string(text), strings.TrimSuffix(list[0], ".json")) {
		t.Errorf("%v\n%s", err, text)
	}
}

// takes does what a reader does: it moves what it has read.
func (p partner) takes(t testing.TB, dir string) {
	t.Helper()
	for _, name := range p.handedOver(t, dir) {
		if err := os.Rename(filepath.Join(dir, p.id(), name), filepath.Join(dir, p.id(), "taken", name)); err != nil {
			t.Fatal(err)
		}
	}
}
