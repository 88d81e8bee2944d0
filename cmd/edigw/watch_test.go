package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answering is an ingress that answers each file as its text says, by the first
// word, and keeps what it was sent.
type answering struct {
	mu   sync.Mutex
	keys map[string][]string // texts, and the ids under which they came
	busy map[string]int      // how often 503 is still to be answered
	at   string
}

func newAnswering(t *testing.T) *answering {
	t.Helper()
	a := &answering{keys: map[string][]string{}, busy: map[string]int{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		text := string(b)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.keys[text] = append(a.keys[text], r.Header.Get("Idempotency-Key"))
		word, _, _ := strings.Cut(text, " ")
		switch {
		case r.URL.Path != "/in/acme":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"title":"The partner's credentials are needed"}`) // a client that is gone sees nothing
		case word == "bad":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"type":"https://edigw.dev/problems/invalid-interchange","title":"The interchange was not accepted","detail":"UNT says 5.",`+
				`"errors":[{"severity":"error","message":"UNT says 5, there are 6.","message_reference":"1","location":{"offset":812,"segment":6,"tag":"UNT","element":1}}]}`)
		case word == "busy" && a.busy[text] < 2:
			a.busy[text]++
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"title":"Nothing can be received at the moment"}`)
		default:
			w.Header().Set("Edigw-Verdict", "first")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"outcome":"accepted"}`)
		}
	}))
	t.Cleanup(s.Close)
	a.at = s.URL
	return a
}

func (a *answering) sent(text string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.keys[text])
}

// watchOnce runs `edigw watch DIR --once` and gives what it did.
func watchOnce(t *testing.T, a *answering, dir string, args ...string) ran {
	t.Helper()
	return edigw(t, "", []string{"EDIGW_PARTNER_TOKEN=edigw_p_x", "EDIGW_DATA_DIR=" + t.TempDir()},
		append([]string{"watch", dir, "--partner", "acme", "--ingress", a.at, "--once", "--settle", "10ms"}, args...)...)
}

// startWatch runs `edigw watch DIR` until end, which gives its code and its log.
func startWatch(t *testing.T, dir string, args ...string) (end func() (int, string)) {
	t.Helper()
	log := &buffer{}
	stop := startWatchInto(t, log, dir, args...)
	return func() (int, string) { return stop(), log.String() }
}

// startWatchInto does so and writes the log where it can be read meanwhile.
func startWatchInto(t *testing.T, log *buffer, dir string, args ...string) (end func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	env := lookup([]string{"HOME=" + t.TempDir(), "EDIGW_DATA_DIR=" + t.TempDir()})
	go func() { code <- Run(ctx, append([]string{"watch", dir}, args...), nil, io.Discard, log, env) }()
	return func() int {
		stop()
		return <-code
	}
}

func drop(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tree lists the files below dir, the day of the archive as DAY.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if rest, ok := strings.CutPrefix(rel, "archive/"); ok {
				rel = "archive/DAY" + rest[len("2026/11/30"):]
			}
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWatch(t *testing.T) {
	t.Run("what is accepted is archived with its receipt, what is refused stands in error with the reason", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		drop(t, dir, "1.edi", "good 1", "2.edi", "bad 2", "3.edi", "busy 3", "4.edi.filepart", "x", "5.tmp", "x", ".6.edi", "x")
		if r := watchOnce(t, a, dir); r.code != exitPartly {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		want := []string{".6.edi", "4.edi.filepart", "5.tmp", "archive/DAY/1.edi", "archive/DAY/1.edi.receipt.json", "archive/DAY/3.edi", "archive/DAY/3.edi.receipt.json",
			"error/2.edi", "error/2.edi.reason.txt"}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
		if keys := a.sent("busy 3"); len(keys) != 3 || keys[0] != keys[2] {
			t.Errorf("it was tried under %v", keys)
		}
		wantReason := "2.edi was not accepted.\n\nThe interchange was not accepted\nUNT says 5.\n\n- error: UNT says 5, there are 6.\n  message 1, segment 6 (UNT), element 1, byte 812\n\n" +
			"Status 422, https://edigw.dev/problems/invalid-interchange\n"
		if diff := cmp.Diff(wantReason, read(t, filepath.Join(dir, "error", "2.edi.reason.txt"))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the same content has the same id under any name, and other content under a name has another", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		drop(t, dir, "1.edi", "good 1", "2.edi", "good 1")
		watchOnce(t, a, dir)
		drop(t, dir, "1.edi", "good 2")
		watchOnce(t, a, dir)
		if keys := a.sent("good 1"); len(keys) != 2 || keys[0] != keys[1] || keys[0] == a.sent("good 2")[0] {
			t.Errorf("%v, then %v", keys, a.sent("good 2"))
		}
		want := []string{"archive/DAY/1-2.edi", "archive/DAY/1-2.edi.receipt.json", "archive/DAY/1.edi", "archive/DAY/1.edi.receipt.json", "archive/DAY/2.edi", "archive/DAY/2.edi.receipt.json"}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a gateway that is not there, or does not know us, keeps every file", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		drop(t, dir, "1.edi", "good 1")
		r := edigw(t, "", []string{"EDIGW_PARTNER_TOKEN=edigw_p_x", "EDIGW_DATA_DIR=" + t.TempDir()},
			"watch", dir, "--partner", "bolt", "--ingress", a.at, "--once", "--settle", "0s", "--retries", "0")
		if r.code != exitFailed || !strings.Contains(r.stderr, "The partner's credentials are needed") {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		if list := tree(t, dir); len(list) != 2 || !strings.HasSuffix(list[1], "/1/1.edi") {
			t.Errorf("%v", list)
		}
		if r := watchOnce(t, a, dir); r.code != 0 || !strings.Contains(r.stderr, "taken over from a watcher that died") {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		if diff := cmp.Diff([]string{"archive/DAY/1.edi", "archive/DAY/1.edi.receipt.json"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("with --ready a file waits for its mark, and the mark goes with it", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		drop(t, dir, "1.edi", "good 1", "2.edi", "good 2", "2.edi.ready", "")
		if r := watchOnce(t, a, dir, "--ready"); r.code != 0 {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		if diff := cmp.Diff([]string{"1.edi", "archive/DAY/2.edi", "archive/DAY/2.edi.receipt.json"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a link is not followed", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, "1.edi")); err != nil {
			t.Fatal(err)
		}
		if r := watchOnce(t, a, dir); r.code != 0 || len(a.keys) != 0 {
			t.Errorf("exit %d, sent %v", r.code, a.keys)
		}
	})
	t.Run("a file that grows is left until it lies still", func(t *testing.T) {
		f, err := openFolder(t.TempDir(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.root.Close() }() // it was read only
		f.settle = time.Second
		now := time.Now()
		at := func(after time.Duration, want ...string) {
			t.Helper()
			names, err := f.still(now.Add(after))
			if diff := cmp.Diff(want, names); diff != "" || err != nil {
				t.Errorf("after %s: %v %s", after, err, diff)
			}
		}
		drop(t, f.path, "1.edi", "a")
		at(0)
		at(900 * time.Millisecond)
		drop(t, f.path, "1.edi", "ab")
		at(1100 * time.Millisecond)
		at(2 * time.Second)
		at(2100*time.Millisecond, "1.edi")
	})
	t.Run("two watchers at once send every file once", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		want := []string{}
		for _, n := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			drop(t, dir, n, "good "+n)
			want = append(want, "archive/DAY/"+n, "archive/DAY/"+n+".receipt.json")
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if r := watchOnce(t, a, dir); r.code != 0 {
					t.Errorf("exit %d\n%s", r.code, r.stderr)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
		for text, keys := range a.keys {
			if len(keys) != 1 {
				t.Errorf("%s was sent %d times", text, len(keys))
			}
		}
	})
	t.Run("a folder that its watcher is making is let alone, and one that was left so is cleared away", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		making, left := filepath.Join(dir, ".edigw/processing/.new"), filepath.Join(dir, ".edigw/processing/.old")
		for _, path := range []string{making, left} {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(left, time.Time{}, time.Now().Add(-2*makingTakes)); err != nil {
			t.Fatal(err)
		}
		if r := watchOnce(t, a, dir); r.code != 0 {
			t.Fatalf("exit %d\n%s", r.code, r.stderr)
		}
		if _, err := os.Stat(making); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
	})
	t.Run("it goes on until it is told to stop, and leaves nothing behind", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		end := startWatch(t, dir, "--partner", "acme", "--partner-token", "x", "--ingress", a.at, "--settle", "10ms", "--poll", "10ms")
		drop(t, dir, "1.edi", "good 1")
		waitFor(t, func() bool { return slices.Contains(tree(t, dir), "archive/DAY/1.edi") })
		drop(t, dir, "2.edi", "good 2")
		waitFor(t, func() bool { return slices.Contains(tree(t, dir), "archive/DAY/2.edi") })
		if code, log := end(); code != 0 {
			t.Errorf("exit %d\n%s", code, log)
		}
		if list := tree(t, dir); len(list) != 4 {
			t.Errorf("%v", list)
		}
	})
}

func TestWatchAgainstAGateway(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	dir := t.TempDir()
	for _, partner := range []string{"acme", "nobody", "archive.d"} {
		if err := os.Mkdir(filepath.Join(dir, partner), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	drop(t, filepath.Join(dir, "acme"), "1.edi", read(t, "testdata/invoice.edi"), "2.edi", read(t, "testdata/changed.edi"))
	drop(t, filepath.Join(dir, "nobody"), "3.edi", "x")
	r := g.do("watch", dir, "--once", "--settle", "10ms", "--jobs", "1")
	if r.code != exitPartly || !strings.Contains(r.stderr, "files are left where they are") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	if r := g.do("watch", dir, "--once", "--settle", "10ms"); r.code != exitFailed {
		t.Errorf("exit %d, with a file of nobody left\n%s", r.code, r.stderr)
	}
	want := []string{"acme/archive", "acme/error/2.edi", "acme/error/2.edi.reason.txt", "nobody/3.edi"}
	got := tree(t, dir)
	for i := range got {
		if strings.HasPrefix(got[i], "acme/archive/") {
			got[i] = "acme/archive"
		}
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Error(diff)
	}
	if reason := read(t, filepath.Join(dir, "acme", "error", "2.edi.reason.txt")); !strings.Contains(reason, "before it as") && !strings.Contains(reason, "as alert ") {
		t.Errorf("%s", reason)
	}
	var p struct {
		Tokens []struct {
			Revoked *time.Time `json:"revoked_at"`
		}
	}
	if g.must(&p, "partners", "show", "acme", "-o", "json"); len(p.Tokens) != 1 || p.Tokens[0].Revoked == nil {
		t.Errorf("%+v", p.Tokens)
	}
}

func TestWatchLinks(t *testing.T) {
	// links gives a folder of two partners, one of which lays a link in its own.
	links := func(t *testing.T, name, to string) (a *answering, drops string) {
		a, drops = newAnswering(t), t.TempDir()
		for _, partner := range []string{"acme", "h1"} {
			if err := os.Mkdir(filepath.Join(drops, partner), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		drop(t, filepath.Join(drops, "acme"), "1.edi", "bad 1", "2.edi", "good 2")
		if err := os.MkdirAll(filepath.Dir(filepath.Join(drops, "acme", name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(drops, "acme", name)); err != nil {
			t.Fatal(err)
		}
		return a, drops
	}
	day := time.Now().UTC().Format("2006/01/02")
	for _, l := range []struct{ name, to string }{
		{"error", "../h1"},
		{"archive", "../h1"},
		{".edigw", "../h1"},
		{".edigw/processing", "../../h1"},
		{"archive/" + day[:4], "../../h1"},
		{"archive/" + day, "../../../../h1"},
		{"error", "."},   // what is refused would be dropped again
		{"archive", "."}, // and what was accepted
		{".edigw", "."},
		{"error", "../nobody"},
	} {
		t.Run("a link "+strings.ReplaceAll(l.name, day, "archive/DAY")+" to "+l.to+" moves no file to where it leads", func(t *testing.T) {
			a, drops := links(t, l.name, l.to)
			r := watchOnce(t, a, filepath.Join(drops, "acme"))
			if r.code != exitFailed || !strings.Contains(r.stderr, "is a link") {
				t.Errorf("exit %d\n%s", r.code, r.stderr)
			}
			if list := tree(t, filepath.Join(drops, "h1")); len(list) > 0 {
				t.Errorf("the neighbour has %v", list)
			}
			for _, name := range []string{"1.edi", "2.edi"} {
				if _, err := os.Lstat(filepath.Join(drops, "acme", name)); err != nil {
					t.Errorf("%v\n%s", err, r.stderr)
				}
			}
			if len(a.keys) > 0 {
				t.Errorf("sent %v", a.keys)
			}
			if err := os.Remove(filepath.Join(drops, "acme", l.name)); err != nil {
				t.Fatal(err)
			}
			if r := watchOnce(t, a, filepath.Join(drops, "acme")); r.code != exitPartly || len(a.sent("good 2")) != 1 {
				t.Errorf("without the link exit %d\n%s", r.code, r.stderr)
			}
		})
	}
	t.Run("a link that is laid while a file is taken leads nowhere either", func(t *testing.T) {
		_, drops := links(t, "error", "../h1")
		f, err := openFolder(filepath.Join(drops, "acme"), "acme")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.root.Close() }() // nothing of it is needed
		if err := f.root.Rename("1.edi", "error/1.edi"); err == nil {
			t.Error("it was moved out of the folder")
		}
		if _, err := f.writeNew("error/1.edi.reason.txt", []byte("x")); err == nil {
			t.Error("a reason was written outside the folder")
		}
		if list := tree(t, filepath.Join(drops, "h1")); len(list) > 0 {
			t.Errorf("the neighbour has %v", list)
		}
	})
	t.Run("a reason is not written through a link, nor read from a pipe", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		drop(t, dir, "1.edi", "bad 1", "2.edi", "bad 2", ".kept", "")
		if err := os.Mkdir(filepath.Join(dir, "error"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "error", "2.edi.reason.txt"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../.kept", filepath.Join(dir, "error", "1.edi.reason.txt")); err != nil {
			t.Fatal(err)
		}
		r := watchOnce(t, a, dir)
		want := []string{".kept", "error/1-2.edi", "error/1-2.edi.reason.txt", "error/1.edi.reason.txt", "error/2-2.edi", "error/2-2.edi.reason.txt", "error/2.edi.reason.txt"}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" || read(t, filepath.Join(dir, ".kept")) != "" {
			t.Errorf("%s\n%s", diff, r.stderr)
		}
	})
}

func TestWatchLongNames(t *testing.T) {
	t.Run("a name of any length that can be is archived, refused and told of", func(t *testing.T) {
		a, dir := newAnswering(t), t.TempDir()
		var lengths []int
		for n := 236; n <= 255; n++ {
			for _, what := range []string{"good", "bad"} {
				name := what + strings.Repeat("n", n-len(what)-4) + ".edi"
				drop(t, dir, name, fmt.Sprintf("%s %d", what, n))
				lengths = append(lengths, len(name))
			}
		}
		drop(t, dir, "zz.edi", "good behind them")
		r := watchOnce(t, a, dir)
		if list := tree(t, dir); r.code != exitPartly || len(list) != 2*len(lengths)+2 {
			t.Errorf("exit %d, %d files %v\n%s", r.code, len(list), list, r.stderr)
		}
		for _, path := range tree(t, dir) {
			if !strings.HasPrefix(path, "archive/DAY/") && !strings.HasPrefix(path, "error/") {
				t.Errorf("%s is left\n%s", path, r.stderr)
			}
		}
	})
	t.Run("a name that fits stays, and one that does not keeps its extension and has a digest", func(t *testing.T) {
		long := strings.Repeat("ü", 125) + ".edi"
		for _, c := range []struct {
			name string
			n    int
			want string
		}{
			{"1.edi", 1, "1.edi"},
			{"1.edi", 2, "1-2.edi"},
			{strings.Repeat("n", 238) + ".edi", 1, strings.Repeat("n", 238) + ".edi"},
			{long, 1, strings.Repeat("ü", 110) + "-" + digestOf(long) + ".edi"},
			{long, 12, strings.Repeat("ü", 109) + "-" + digestOf(long) + "-12.edi"},
		} {
			got := fitting(c.name, c.n, ".receipt.json")
			if diff := cmp.Diff(c.want, got); diff != "" || len(got)+len(".receipt.json") > 255 {
				t.Errorf("%d bytes: %s", len(got), diff)
			}
		}
		if fitting("a"+long, 1, "") == fitting("b"+long[1:], 1, "") {
			t.Error("two long names became one")
		}
	})
}

// digestOf is what a shortened name has of the whole.
func digestOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
