package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watched gives the series of a text for Prometheus, times as a word.
func watched(text string) (list []string) {
	stamp := regexp.MustCompile(` 1(\.\d+)?e\+09$`)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "edigw_watch_") {
			list = append(list, stamp.ReplaceAllString(line, " TIME"))
		}
	}
	slices.Sort(list)
	return list
}

func TestWatchMeasuresIntoAFile(t *testing.T) {
	a, dir := newAnswering(t), t.TempDir()
	file := filepath.Join(t.TempDir(), "edigw.prom")
	drop(t, dir, "1.edi", "good 1", "2.edi", "good 2", "3.edi", "bad 3", "4.edi", "busy 4")
	if r := watchOnce(t, a, dir, "--retries", "0", "--metrics-file", file); r.code != exitPartly {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`edigw_watch_files_total{outcome="archived",partner="acme"} 2`,
		`edigw_watch_files_total{outcome="kept",partner="acme"} 1`,
		`edigw_watch_files_total{outcome="refused",partner="acme"} 1`,
		`edigw_watch_last_look_timestamp_seconds{partner="acme"} TIME`,
		`edigw_watch_oldest_timestamp_seconds{partner="acme"} TIME`,
		`edigw_watch_troubled_total{partner="acme"} 0`,
		`edigw_watch_waiting{partner="acme"} 1`,
	}
	if diff := cmp.Diff(want, watched(string(text))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	t.Run("a file that cannot be written is told before anything is sent", func(t *testing.T) {
		drop(t, dir, "5.edi", "good 5")
		if r := watchOnce(t, a, dir, "--metrics-file", filepath.Join(dir, "nowhere", "x.prom")); r.code != exitFailed || !strings.Contains(r.stderr, "--metrics-file") || len(a.sent("good 5")) != 0 {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	})
	t.Run("a link to it stays one, and what is no file is refused before anything is sent", func(t *testing.T) {
		link, pipe := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "pipe")
		if err := errors.Join(os.Symlink(file, link), os.Remove(file), os.WriteFile(file, nil, 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
			t.Fatal(err)
		}
		watchOnce(t, a, dir, "--retries", "0", "--metrics-file", link)
		if st, err := os.Lstat(link); err != nil || st.Mode().Type() != os.ModeSymlink || !strings.Contains(read(t, file), "edigw_watch_") {
			t.Errorf("%v %v %q", err, st, read(t, file))
		}
		drop(t, dir, "6.edi", "good 6")
		for _, name := range []string{pipe, "-", "json", t.TempDir()} {
			if r := watchOnce(t, a, dir, "--metrics-file", name); r.code != exitUsage || !strings.Contains(r.stderr, "--metrics-file: "+name+" is ") || len(a.sent("good 6")) != 0 {
				t.Errorf("%s: exit %d\n%s", name, r.code, r.stderr)
			}
		}
		if st, err := os.Lstat(pipe); err != nil || st.Mode().Type() != os.ModeNamedPipe {
			t.Errorf("%v %v", err, st)
		}
	})
	t.Run("a listener is nothing for a run that ends at once", func(t *testing.T) {
		if r := watchOnce(t, a, dir, "--metrics-listen", "127.0.0.1:0"); r.code != exitUsage {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	})
}

func TestWatchMeasuresForPrometheus(t *testing.T) {
	a, dir, log := newAnswering(t), t.TempDir(), &buffer{}
	drop(t, dir, "1.edi", "good 1", "2.edi.part", "half")
	end := startWatchInto(t, log, dir, "--partner", "acme", "--partner-token", "edigw_p_x", "--ingress", a.at, "--settle", "10ms", "--poll", "10ms", "--metrics-listen", "127.0.0.1:0")
	want := []string{
		`edigw_watch_files_total{outcome="archived",partner="acme"} 1`,
		`edigw_watch_files_total{outcome="kept",partner="acme"} 0`,
		`edigw_watch_files_total{outcome="refused",partner="acme"} 0`,
		`edigw_watch_last_look_timestamp_seconds{partner="acme"} TIME`,
		`edigw_watch_oldest_timestamp_seconds{partner="acme"} 0`,
		`edigw_watch_troubled_total{partner="acme"} 0`,
		`edigw_watch_waiting{partner="acme"} 0`,
	}
	at := regexp.MustCompile(`at=(http://\S+)`)
	var got []string
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until) && !slices.Equal(got, want); time.Sleep(10 * time.Millisecond) {
		m := at.FindStringSubmatch(log.String())
		if m == nil {
			continue
		}
		resp, err := http.Get(m[1])
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		got = watched(string(text))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if code := end(); code != exitOK {
		t.Errorf("exit %d\n%s", code, log)
	}
}
