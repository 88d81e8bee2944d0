package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestUnstalled(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/full":
			<-release
		case "/halt":
			_, _ = io.WriteString(w, "half of ") // the client's end shows it
			_ = http.NewResponseController(w).Flush()
			<-release
		default:
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil || n == 0 {
				return // its sender broke off
			}
			_, _ = io.WriteString(w, "whole") // the client's end shows it
		}
	}))
	defer s.Close()
	defer close(release)
	client := func(still time.Duration) *http.Client {
		return &http.Client{Transport: unstalled{http.DefaultTransport, still}}
	}
	stalled := func(t *testing.T, err error) {
		t.Helper()
		if e := (*stalledError)(nil); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	}
	t.Run("an upload that the other side takes no more of is broken off", func(t *testing.T) {
		_, err := client(200*time.Millisecond).Post(s.URL+"/full", "text/plain", bottomless{})
		stalled(t, err)
	})
	t.Run("an answer that stands still is broken off", func(t *testing.T) {
		resp, err := client(100 * time.Millisecond).Get(s.URL + "/halt")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		stalled(t, err)
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a slow body goes through, however long it takes in all", func(t *testing.T) {
		body, more := io.Pipe()
		go func() {
			for range 10 {
				time.Sleep(100 * time.Millisecond)
				if _, err := io.WriteString(more, "x"); err != nil {
					break // the test sees that no answer came
				}
			}
			_ = more.Close() // it never fails
		}()
		resp, err := client(900*time.Millisecond).Post(s.URL, "text/plain", body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "whole" {
			t.Errorf("%q, %v", text, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a gateway that is not there is told as such", func(t *testing.T) {
		gone := httptest.NewServer(nil)
		gone.Close()
		_, err := client(time.Minute).Get(gone.URL)
		if e := (*stalledError)(nil); err == nil || errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	})
}

// bottomless is a body that fills every buffer on the way.
type bottomless struct{}

func (bottomless) Read(p []byte) (int, error) { return len(p), nil }

// hanging is a gateway that makes tokens, and answers no upload of the partner h1
// until it is released.
func hanging(t *testing.T) (at string, hung <-chan struct{}, release func()) {
	t.Helper()
	held, came := make(chan struct{}), make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/tokens") && r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"token":"edigw_p_x"}`) // the watcher's log shows it
			return
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
			return
		case strings.HasPrefix(r.URL.Path, "/in/h1"):
			came <- struct{}{}
			<-held
		}
		_, _ = io.Copy(io.Discard, r.Body) // the watcher's log shows it
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"outcome":"accepted"}`) // the watcher's log shows it
	}))
	t.Cleanup(s.Close)
	return s.URL, came, func() { close(held) }
}

func TestWatchKeepsPartnersApart(t *testing.T) {
	at, hung, release := hanging(t)
	drops := t.TempDir()
	for _, partner := range []string{"acme", "h1", "h2"} {
		if err := os.Mkdir(filepath.Join(drops, partner), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A folder that cannot be worked with is one more neighbour.
	if err := os.Symlink("../acme", filepath.Join(drops, "h2", "error")); err != nil {
		t.Fatal(err)
	}
	drop(t, filepath.Join(drops, "h2"), "1.edi", "x")
	drop(t, filepath.Join(drops, "h1"), "1.edi", "1", "2.edi", "2", "3.edi", "3")
	end := startWatch(t, drops, "--api", at, "--token", "edigw_t_x", "--ingress", at, "--settle", "10ms", "--poll", "10ms", "--jobs", "2")
	<-hung
	<-hung
	archived := func(partner, name string) bool {
		_, err := os.Stat(filepath.Join(drops, partner, archiveOf(time.Now()), name))
		return err == nil
	}
	for _, name := range []string{"a.edi", "b.edi"} { // one after the other: the second is seen while h1 hangs as well
		drop(t, filepath.Join(drops, "acme"), name, name)
		waitFor(t, func() bool { return archived("acme", name) })
	}
	// And a partner who comes while another hangs.
	if err := os.Mkdir(filepath.Join(drops, "late"), 0o755); err != nil {
		t.Fatal(err)
	}
	drop(t, filepath.Join(drops, "late"), "c.edi", "c")
	waitFor(t, func() bool { return archived("late", "c.edi") })
	// A folder that is made anew is followed anew.
	if err := os.Rename(filepath.Join(drops, "late"), filepath.Join(drops, ".was-late")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(drops, "late"), 0o755); err != nil {
		t.Fatal(err)
	}
	drop(t, filepath.Join(drops, "late"), "d.edi", "d")
	waitFor(t, func() bool { return archived("late", "d.edi") })
	if archived("h1", "1.edi") || archived("h1", "2.edi") {
		t.Error("nothing hung")
	}
	release()
	waitFor(t, func() bool { return archived("h1", "1.edi") && archived("h1", "2.edi") && archived("h1", "3.edi") })
	if code, log := end(); code != 0 || !strings.Contains(log, "is a link") {
		t.Errorf("exit %d\n%s", code, log)
	}
	if list := tree(t, filepath.Join(drops, "h2")); len(list) != 2 {
		t.Errorf("%v", list)
	}
}
