package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestPlantedBugs(t *testing.T) {
	all, err := bugs()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Errorf("%d bugs are planted, want ten at least", len(all))
	}
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		t.Run(b.name+" fits the sources", func(t *testing.T) {
			if _, err := b.apply(root); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadBug(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a bug that does not say what is wrong", "\n=== a.go\n<<<\nx\n>>>\ny\n", "does not say"},
		{"a bug without an edit", "something\n", "no edit"},
		{"an edit without a new text", "something\n\n=== a.go\n<<<\nx\n", "no new text"},
		{"an old text that is not there", "something\n\n=== go.mod\n<<<\nno such line\n>>>\ny\n", "stands 0 times"},
		{"an old text that stands twice", "something\n\n=== go.mod\n<<<\ngithub.com\n>>>\ny\n", "times in go.mod, not once"},
	} {
		t.Run(c.name+" is told", func(t *testing.T) {
			b, err := readBug("x", c.text)
			if err == nil {
				_, err = b.apply("..")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestShort(t *testing.T) {
	t.Run("a short seed violates nothing", func(t *testing.T) {
		var out bytes.Buffer
		if err := program(t.Context(), []string{"-size", "quick", "-from", "1", "-reports", t.TempDir()}, &out); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
		t.Log(out.String())
	})
	t.Run("a planted bug is found", func(t *testing.T) {
		var out bytes.Buffer
		if err := program(t.Context(), []string{"-size", "quick", "-planted", "acknowledge-before-commit", "-reports", t.TempDir()}, &out); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	})
}
