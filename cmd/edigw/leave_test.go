package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/pgtest"
)

func TestADataFolderHasOneToken(t *testing.T) {
	people := &accounts.Store{Pool: pgtest.New(t)}
	var clock gateway.Clock
	if err := clock.Measure(t.Context(), people.Pool); err != nil {
		t.Fatal(err)
	}
	dir, other := t.TempDir(), t.TempDir()
	var last *started
	start := func(dir string) string {
		t.Helper()
		last = &started{log: slog.New(slog.DiscardHandler), admin: &administration{clock: &clock}}
		last.access.URL, last.access.Ingress = "http://[::]:8081", "http://127.0.0.1:8080"
		if err := last.leaveAccess(&app{ctx: t.Context(), grammar: &grammar{DataDir: dir}}, people); err != nil {
			t.Fatal(err)
		}
		at, err := readLocalAccess(dir)
		if err != nil || at.URL != "http://127.0.0.1:8081" {
			t.Fatalf("%+v, %v", at, err)
		}
		return at.Token
	}
	valid := func() int {
		t.Helper()
		list, err := people.ListTokens(t.Context(), accounts.TokenFilter{State: accounts.TokenValid})
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range list {
			if token.Expires == nil {
				t.Errorf("%q never ends", token.Label)
			}
		}
		return len(list)
	}
	first := start(dir)
	start(other)
	t.Run("a start after it has the same", func(t *testing.T) {
		if start(dir) != first || valid() != 2 {
			t.Errorf("%d hold", valid())
		}
	})
	t.Run("where its file is gone, cut short or of another folder there is a new one, and the old one is revoked", func(t *testing.T) {
		file := localAccessFile(dir)
		for _, break_ := range []func() error{
			func() error { return os.Remove(file) },
			func() error { return os.Truncate(file, 5) },
			func() error {
				text, err := os.ReadFile(localAccessFile(other))
				return errors.Join(err, os.WriteFile(file, text, 0o600))
			},
		} {
			before := first
			if err := break_(); err != nil {
				t.Fatal(err)
			}
			if first = start(dir); first == before || valid() != 2 {
				t.Errorf("%d hold", valid())
			}
			if _, err := people.Authenticate(t.Context(), before); !errors.Is(err, accounts.ErrNotAuthenticated) {
				t.Errorf("the one before: %v", err)
			}
		}
	})
	t.Run("a gateway that runs prolongs it while its file is there", func(t *testing.T) {
		if err := last.prolongAccess(t.Context(), localAccessFile(dir), people); err != nil {
			t.Error(err)
		}
		if err := os.Remove(localAccessFile(dir)); err != nil {
			t.Fatal(err)
		}
		if err := last.prolongAccess(t.Context(), localAccessFile(dir), people); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without its file: %v", err)
		}
	})
	t.Run("folders are told apart by their label, however long", func(t *testing.T) {
		seen := map[string]bool{}
		for _, dir := range []string{"/a", "/a/b", "/" + strings.Repeat("x", 100), "/" + strings.Repeat("x", 99) + "y", "/a\nb"} {
			label, err := localLabel(dir)
			if err != nil || seen[label] || len(label) > 60 || printable(label) != label {
				t.Errorf("%q, %v", label, err)
			}
			seen[label] = true
		}
		relative, err := localLabel(".")
		here, _ := filepath.Abs(".") // the label says if it fails
		absolute, other := localLabel(here)
		if err != nil || other != nil || relative != absolute {
			t.Errorf("%q and %q", relative, absolute)
		}
	})
}
