package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is measured is measured on messages that are opened, and on no others.
func TestEveryMessageIsOpened(t *testing.T) {
	for _, size := range []int{1, 5000} {
		dir, other := t.TempDir(), t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		if err := content(at("content"), size); err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{dir, other} {
			if err := certify(t.Context(), func(name string) string { return filepath.Join(d, name) }); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range measurements {
			t.Run(m.name, func(t *testing.T) {
				if _, err := run(t.Context(), "openssl", m.making(at)...); err != nil {
					t.Fatal(err)
				}
				if err := ours(m.work, []string{at("message"), at("certificate"), at("key")}); err != nil {
					t.Error(err)
				}
				// A wrong key pads CBC well once in 256 times.
				for try := 0; ours(m.work, []string{at("message"), filepath.Join(other, "certificate"), filepath.Join(other, "key")}) == nil; try++ {
					if try == 5 {
						t.Fatal("it is opened by another key")
					}
				}
			})
		}
	}
	if err := ours("guess", []string{os.DevNull, os.DevNull, os.DevNull}); err == nil {
		t.Error("nobody knows how to guess")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{2, 1}, 2}} {
		if got := median(c.list); got != c.want {
			t.Errorf("of %v it is %v, want %v", c.list, got, c.want)
		}
	}
}
