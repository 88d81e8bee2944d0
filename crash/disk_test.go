//go:build linux

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
)

// Case 96: no room for the database, or for the spool. Nothing is acknowledged
// while nothing can be stored; the program stays up, says that it is not ready
// and does not flood its log; when there is room again every resend has its
// effect once.

// volume is a small file system, if this user may mount one.
func volume(t *testing.T, megabytes int) (dir string, ok bool) {
	t.Helper()
	dir = filepath.Join(pgtest.Dir(t), "volume")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", megabytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return "", false
	}
	if err != nil {
		t.Fatalf("mount a volume of %d MB: %v", megabytes, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir, true
}

// fill leaves no room on a volume until it is told to give it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "balloon")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for block := 1 << 20; block >= 1<<12; {
		if _, err = f.Write(make([]byte, block)); err != nil {
			block /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill %s: %v", dir, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// newSiteIn is newSite with the server's folder elsewhere, other binaries and
// settings.
func newSiteIn(t *testing.T, dir, bin string, settings map[string]string, count int) *site {
	t.Helper()
	stopped, from := pgtest.Server(t)
	pgtest.Stop(t, stopped)
	// cp keeps owners and modes.
	if out, err := exec.Command("cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the cluster: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := &site{dir: dir, settings: settings}
	var err error
	if s.server, err = embeddedpg.Start(context.Background(), embeddedpg.Options{DataDir: dir, Bin: bin, Settings: settings}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pgtest.Stop(t, s.server) }) // the one that was started last
	s.url = s.server.URL()
	s.pool = pgtest.Pool(t, s.url)
	s.connect(t, count)
	return s
}

// small are settings for a server that has little room.
var small = map[string]string{"min_wal_size": "32MB", "max_wal_size": "48MB", "shared_buffers": "16MB", "autovacuum": "off"}

func TestDatabaseFull(t *testing.T) {
	t.Parallel()
	for n := range *runs {
		if dir, ok := volume(t, 160); ok {
			run(t, fmt.Sprintf("its volume is full/%d", n+1), func(t *testing.T) {
				site := newSiteIn(t, filepath.Join(dir, "pg"), "", small, 4)
				gateway := start(t, site.url)
				free := fill(t, dir)
				full(t, site, gateway, func() {
					free()
				})
			})
			run(t, fmt.Sprintf("its volume is full, and the write-ahead log needs more/%d", n+1), func(t *testing.T) {
				site := newSiteIn(t, filepath.Join(dir, "pg-wal"), "", small, 4)
				gateway := start(t, site.url)
				free := fill(t, dir)
				for range 100 { // until the server panics
					if _, err := site.pool.Exec(context.Background(), `select pg_logical_emit_message(false, 'fill', repeat('x', 1000000))`); err != nil {
						break
					}
				}
				full(t, site, gateway, func() {
					free()
					pgtest.Stop(t, site.server)
					site.again(t)
				})
			})
		} else {
			t.Log("mounting is refused here: a limit on the size of files stands for a full volume")
		}
		run(t, fmt.Sprintf("its files may not grow/%d", n+1), func(t *testing.T) {
			site := newSiteIn(t, filepath.Join(pgtest.Dir(t), "pg"), limited(t), small, 4)
			gateway := start(t, site.url)
			for _, width := range []int{1500, 300, 1} { // wider ones would be compressed
				for range 2 { // the second finds no room that the first left
					_, err := site.pool.Exec(context.Background(), `
						insert into document (partner_id, document_id, class, type_code, number, state, message_id, message_sha256)
						select 'fill', gen_random_uuid(), 'generic', '', repeat('x', $1), 'live', '', '' from generate_series(1, 200000)`, width)
					if err == nil {
						t.Fatal("the limit on the size of files does not hold")
					}
				}
			}
			full(t, site, gateway, func() {
				pgtest.Stop(t, site.server)
				site.again(t)
			})
		})
	}
}

// limited is a folder with PostgreSQL binaries under a limit on file sizes that
// the write-ahead log just keeps.
func limited(t *testing.T) string {
	t.Helper()
	bin, err := embeddedpg.Bin()
	if err != nil {
		t.Fatal(err)
	}
	dir := pgtest.Dir(t)
	if err := os.Symlink(filepath.Join(bin, "initdb"), filepath.Join(dir, "initdb")); err != nil {
		t.Fatal(err)
	}
	// POSIX sh counts in blocks of 512 bytes.
	script := fmt.Sprintf("#!/bin/sh\nulimit -S -f %d\nexec %s \"$@\"\n", 16<<20/512, filepath.Join(bin, "postgres"))
	if err := os.WriteFile(filepath.Join(dir, "postgres"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// full sends while nothing can be stored, makes room, and sends again.
func full(t *testing.T, site *site, gateway *program, room func()) {
	t.Helper()
	const invoices, sent = 3, 5
	before := strings.Count(gateway.said(), "\n")
	senders := []partner{site.partner(t), site.partner(t)}
	for _, p := range senders {
		for range sent {
			a := p.mustSend(t, gateway, p.interchange("REF1", numbers(invoices)...), "key")
			if a.status != http.StatusServiceUnavailable {
				t.Fatalf("%d, want 503: %s", a.status, a.body)
			}
			a.tryAgain(t)
		}
	}
	if got := gateway.ready(t); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz says %d, want 503", got)
	}
	if lines := strings.Count(gateway.said(), "\n") - before; lines > 3*sent*len(senders) {
		t.Errorf("%d lines in the log for %d deliveries", lines, sent*len(senders))
	}
	room()
	site.reconnect(t)
	for _, p := range senders {
		p.nothing(t, site.pool)
		p.retry(t, gateway, p.interchange("REF1", numbers(invoices)...), "key").is(t, http.StatusCreated, "first")
		p.once(t, site.pool, invoices, "key")
	}
	if got := gateway.ready(t); got != http.StatusOK {
		t.Errorf("/readyz says %d, want 200", got)
	}
	gateway.noPanic(t)
}

func TestSpoolFull(t *testing.T) {
	t.Parallel()
	site := newSite(t, 3**runs)
	for n := range *runs {
		spools := map[string]func(t *testing.T) (dir string, fill func() (free func())){
			"its folder is gone": func(t *testing.T) (string, func() func()) {
				dir := filepath.Join(t.TempDir(), "spool")
				mkdir := func() {
					if err := os.Mkdir(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				mkdir()
				return dir, func() func() {
					if err := os.Remove(dir); err != nil { // empty: what is in it has no name
						t.Fatal(err)
					}
					return mkdir
				}
			},
		}
		if dir, ok := volume(t, 4); ok {
			spools["its volume is full"] = func(t *testing.T) (string, func() func()) {
				return dir, func() func() { return fill(t, dir) }
			}
		}
		for name, spool := range spools {
			run(t, fmt.Sprintf("%s/%d", name, n+1), func(t *testing.T) {
				dir, fill := spool(t)
				p := site.partner(t)
				large, little := p.long("REF1", "RG-1", 1500<<10), p.interchange("REF2", "RG-2")
				gateway := start(t, site.url, "EDIGW_SPOOL_DIR="+dir)
				free := fill()
				for range 3 {
					a := p.mustSend(t, gateway, large, "key")
					if a.status != http.StatusServiceUnavailable {
						t.Fatalf("%d, want 503: %s", a.status, a.body)
					}
					a.tryAgain(t)
				}
				p.nothing(t, site.pool)
				p.mustSend(t, gateway, little, "").is(t, http.StatusCreated, "first")
				free()
				p.retry(t, gateway, large, "key").is(t, http.StatusCreated, "first")
				p.mustSend(t, gateway, large, "key").is(t, http.StatusOK, "duplicate")
				if rows := p.rows(t, site.pool); rows["document"] != 2 {
					t.Errorf("posted %d documents, want 2", rows["document"])
				}
				p.eachOnce(t, site.pool)
				left, err := os.ReadDir(dir)
				if err != nil || len(left) > 0 {
					t.Errorf("the spool holds %v, %v", left, err)
				}
				gateway.noPanic(t)
			})
		}
	}
}

// long is an interchange with one invoice of about that many bytes.
func (p partner) long(reference, number string, size int) string {
	note := "FTX+AAI+++" + strings.Repeat("x", 500) + "'"
	count := size / len(note)
	s := p.interchange(reference, number)
	s = strings.Replace(s, "NAD+SU", strings.Repeat(note, count)+"NAD+SU", 1)
	return strings.Replace(s, "UNT+15+", fmt.Sprintf("UNT+%d+", 15+count), 1)
}
