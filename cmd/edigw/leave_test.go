package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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
	t.Run("folders are told apart by a number that they keep", func(t *testing.T) {
		seen := map[string]string{}
		for _, dir := range []string{dir, other, filepath.Join(dir, "made", "with a\nname")} {
			label, err := localLabel(dir)
			if err != nil || seen[label] != "" || utf8.RuneCountInString(label) > 60 || printable(label) != label {
				t.Errorf("%q, %v", label, err)
			}
			if again, err := localLabel(dir); err != nil || again != label {
				t.Errorf("%q, then %q, %v", label, again, err)
			}
			seen[label] = dir
		}
	})
	t.Run("a number that cannot be read is told, and what to do", func(t *testing.T) {
		file := filepath.Join(dir, "folder")
		for _, text := range []string{"", "xyz", "00"} {
			writeText(t, file, []byte(text))
			if _, err := localLabel(dir); err == nil || !strings.Contains(err.Error(), file+": holds no number") || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
