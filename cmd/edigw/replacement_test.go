//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Each FILE stands in a folder of its own: a device would be that of the machine.
func TestAnExportReplacesFilesAlone(t *testing.T) {
	var text, count = "{}\n", "1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { counted(text, count)(w) }))
	defer server.Close()
	export := func(args ...string) ran {
		t.Helper()
		return edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, append([]string{"documents", "export"}, args...)...)
	}
	mode := func(path string) fs.FileMode {
		t.Helper()
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Mode()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	alone := func(name string) {
		t.Helper()
		if files, err := os.ReadDir("."); err != nil || len(files) != 1 || files[0].Name() != name {
			t.Errorf("%v %v", files, err)
		}
	}
	t.Run("a pipe stays one, and what is written comes out of it", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(syscall.Mkfifo("pipe", 0o600))
		got := make(chan string, 1)
		go func() {
			b, err := os.ReadFile("pipe")
			if err != nil {
				t.Error(err)
			}
			got <- string(b)
		}()
		if r := export("-o", "pipe"); r.code != exitOK || r.out != "" || r.stderr != "pipe: 1 document\n" {
			t.Errorf("exit %d: %q %q", r.code, r.out, r.stderr)
		}
		if mode("pipe").Type() != fs.ModeNamedPipe {
			t.Fatalf("it is %v", mode("pipe"))
		}
		if b := <-got; b != text {
			t.Errorf("%q", b)
		}
		alone("pipe")
	})
	t.Run("into a pipe it is told that it is not all", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(syscall.Mkfifo("pipe", 0o600))
		f, err := os.OpenFile("pipe", os.O_RDWR, 0)
		must(err)
		count = "2"
		defer func() { count = "1"; must(f.Close()) }()
		if r := export("-o", "pipe"); r.code != exitFailed || !strings.Contains(r.stderr, "what was written is not all of it: the gateway sent 2 documents, but 1 line came") {
			t.Errorf("exit %d: %q %q", r.code, r.out, r.stderr)
		}
	})
	t.Run("a link stays one, and the file behind it is replaced", func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(t.TempDir())
		file := filepath.Join(dir, "all.jsonl")
		must(os.WriteFile(file, []byte("of yesterday"), 0o600))
		must(os.Symlink(file, "latest"))
		if r := export("-o", "latest"); r.code != exitOK || mode("latest").Type() != fs.ModeSymlink || read(t, file) != text {
			t.Errorf("exit %d: %s; %v, %q", r.code, r.stderr, mode("latest"), read(t, file))
		}
		alone("latest")
		must(os.Remove(file))
		if r := export("-o", "latest"); r.code != exitUsage || !strings.Contains(r.stderr, "is a link to what is not there") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("a folder is refused", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(os.Mkdir("folder", 0o700))
		if r := export("-o", "folder"); r.code != exitUsage || !strings.Contains(r.stderr, "is a folder: name a file in it") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("a file keeps its mode, and a new one gets that of any new file", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(os.WriteFile("beside", nil, 0o666))
		usual := mode("beside")
		must(os.Remove("beside"))
		if r := export("-o", "all.jsonl"); r.code != exitOK || mode("all.jsonl") != usual {
			t.Errorf("exit %d: %s; %v, want %v", r.code, r.stderr, mode("all.jsonl"), usual)
		}
		for _, m := range []fs.FileMode{0o640, 0o664, 0o600} {
			must(os.Chmod("all.jsonl", m))
			if r := export("-o", "all.jsonl"); r.code != exitOK || mode("all.jsonl") != m {
				t.Errorf("exit %d: %s; %v, want %v", r.code, r.stderr, mode("all.jsonl"), m)
			}
		}
		alone("all.jsonl")
	})
	t.Run("- is standard output", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if r := export("-o", "-"); r.code != exitOK || r.out != text || r.stderr != "1 document\n" {
			t.Errorf("exit %d: %q %q", r.code, r.out, r.stderr)
		}
		if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
			t.Errorf("%v %v", files, err)
		}
	})
	t.Run("the name of a format is none of a file, unless it has a folder before it", func(t *testing.T) {
		t.Chdir(t.TempDir())
		for _, name := range []string{"json", "csv", "table"} {
			if r := export("-o", name); r.code != exitUsage || !strings.Contains(r.stderr, name+" is the name of a format") {
				t.Errorf("exit %d: %s", r.code, r.stderr)
			}
		}
		if r := export("-o", "./json"); r.code != exitOK || read(t, "json") != text {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
		alone("json")
	})
	t.Run("a file that is standard output is written as that", func(t *testing.T) {
		t.Chdir(t.TempDir())
		must(os.WriteFile("log", []byte("before\n"), 0o600))
		out, err := os.OpenFile("log", os.O_WRONLY|os.O_APPEND, 0)
		must(err)
		var stderr strings.Builder
		env := lookup([]string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"})
		code := Run(t.Context(), []string{"documents", "export", "-o", "log"}, strings.NewReader(""), out, &stderr, env)
		must(out.Close())
		if code != exitOK || read(t, "log") != "before\n"+text {
			t.Errorf("exit %d: %s; %q", code, stderr.String(), read(t, "log"))
		}
	})
}

func TestAPipeThatNobodyReadsEndsWithTheCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := placeOf(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.openStream(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0) // lets go of whoever waits
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
}
