package gateway

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/partners"
)

func TestSpool(t *testing.T) {
	take := func(t *testing.T, s *Spool, text string, limit int64) *Spooled {
		t.Helper()
		// A byte at a time, and the end on its own.
		in, err := s.Take(nil, iotest.OneByteReader(strings.NewReader(text)), -1, limit)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	spool := func(t *testing.T) *Spool { return &Spool{Dir: t.TempDir(), Threshold: 10, Cap: 25} }

	t.Run("small is in memory, large in a file, and both read alike", func(t *testing.T) {
		for _, text := range []string{"", "0123456789", "0123456789a", "0123456789abcdefghijklmno"} {
			s := spool(t)
			in := take(t, s, text, 25)
			got, err := io.ReadAll(in.Payload.Reader(0, in.Payload.Size()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text, string(got)); diff != "" {
				t.Error(diff)
			}
			if in.SHA256 != sha256.Sum256([]byte(text)) {
				t.Errorf("the digest of %q is wrong", text)
			}
			used := int64(0)
			if len(text) > 10 {
				used = int64(len(text))
			}
			if s.used.Load() != used {
				t.Errorf("%d bytes are used for %q", s.used.Load(), text)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			if s.used.Load() != 0 {
				t.Errorf("%d bytes are used when %q is closed", s.used.Load(), text)
			}
		}
	})

	t.Run("the cap is for all together, and given back", func(t *testing.T) {
		s := spool(t)
		first := take(t, s, "0123456789abc", 100)
		for _, expect := range []int64{-1, 13} {
			if _, err := s.Take(nil, strings.NewReader("0123456789abc"), expect, 100); !errors.Is(err, ErrSpoolFull) {
				t.Errorf("got %v", err)
			}
		}
		if s.used.Load() != 13 {
			t.Errorf("%d bytes are used", s.used.Load())
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := take(t, s, "0123456789abc", 100).Close(); err != nil {
			t.Error(err)
		}
	})

	t.Run("a partner with several payloads has its share, one alone all of it", func(t *testing.T) {
		s := &Spool{Dir: t.TempDir(), Threshold: 1, Cap: 100}
		acme, bolt := &partners.Partner{ID: "acme", Share: 30}, &partners.Partner{ID: "bolt"}
		give := func(p *partners.Partner, bytes int, expect int64) (*Spooled, error) {
			return s.Take(p, strings.NewReader(strings.Repeat("x", bytes)), expect, 100)
		}
		closed := func(in *Spooled, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		closed(give(acme, 90, -1))
		first, err := give(acme, 20, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, expect := range []int64{-1, 11} {
			if _, err := give(acme, 11, expect); !errors.Is(err, ErrSpoolShare) {
				t.Errorf("more than its share: %v", err)
			}
		}
		closed(give(acme, 10, 10))
		closed(give(bolt, 80, 80))
		closed(first, nil)
		closed(give(acme, 31, 31))
		if len(s.by) != 0 || s.used.Load() != 0 {
			t.Errorf("%d partners have files, of %d bytes", len(s.by), s.used.Load())
		}
	})

	t.Run("the payloads of one delivery are one: alone it may fill the spool, beside another it has the share", func(t *testing.T) {
		s := &Spool{Dir: t.TempDir(), Threshold: 1, Cap: 100}
		acme := &partners.Partner{ID: "acme", Share: 30}
		give := func(bytes int, beside ...*Spooled) (*Spooled, error) {
			return s.Take(acme, strings.NewReader(strings.Repeat("x", bytes)), -1, 100, beside...)
		}
		var mine []*Spooled
		for _, bytes := range []int{40, 30, 20} {
			in, err := give(bytes, mine...)
			if err != nil {
				t.Fatal(err)
			}
			mine = append(mine, in)
		}
		if _, err := give(11, mine...); !errors.Is(err, ErrSpoolFull) {
			t.Errorf("more than the cap: %v", err)
		}
		if _, err := give(5); !errors.Is(err, ErrSpoolShare) {
			t.Errorf("another delivery: %v", err)
		}
		for _, in := range mine[1:] {
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		other, err := s.Take(&partners.Partner{ID: "acme", Share: 60}, strings.NewReader(strings.Repeat("x", 15)), -1, 100)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := give(5, mine[0]); !errors.Is(err, ErrSpoolShare) {
			t.Errorf("beside another delivery: %v", err)
		}
		for _, in := range []*Spooled{mine[0], other} {
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(s.by) != 0 || s.used.Load() != 0 {
			t.Errorf("%d partners have files, of %d bytes", len(s.by), s.used.Load())
		}
	})

	t.Run("what is too large is not taken, wherever that shows", func(t *testing.T) {
		for _, c := range []struct {
			text          string
			expect, limit int64
		}{{"0123456", 7, 6}, {"0123456", -1, 6}, {"0123456789abc", -1, 12}, {"0123456789abcdef", -1, 12}} {
			s := spool(t)
			if _, err := s.Take(nil, strings.NewReader(c.text), c.expect, c.limit); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%+v: %v", c, err)
			}
			if s.used.Load() != 0 {
				t.Errorf("%+v: %d bytes are used", c, s.used.Load())
			}
		}
	})

	t.Run("an error of the reader comes out as it is", func(t *testing.T) {
		broken := errors.New("cable cut")
		for _, sent := range []int{0, 5, 20} {
			s := spool(t)
			_, err := s.Take(nil, io.MultiReader(strings.NewReader(strings.Repeat("x", sent)), iotest.ErrReader(broken)), -1, 100)
			if err != broken {
				t.Errorf("after %d bytes: %v", sent, err)
			}
			if s.used.Load() != 0 {
				t.Errorf("after %d bytes: %d are used", sent, s.used.Load())
			}
		}
	})

	t.Run("blank is blank in memory and in a file", func(t *testing.T) {
		for text, want := range map[string]bool{"": true, " \r\n": true, strings.Repeat(" ", 20): true, " x": false, strings.Repeat(" ", 15) + "x": false} {
			in := take(t, spool(t), text, 25)
			if in.Blank != want {
				t.Errorf("%q: %v", text, in.Blank)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	})

	t.Run("a file has no name, however it is made", func(t *testing.T) {
		for name, make := range map[string]func(string) (*os.File, error){"unnamed": unnamed, "createAndUnlink": createAndUnlink} {
			dir := t.TempDir()
			f, err := make(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("x")); err != nil {
				t.Error(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 0 {
				t.Errorf("%s: the folder holds %v, %v", name, entries, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})

	t.Run("a length that is a lie costs little", func(t *testing.T) {
		buf, err := readUpTo(strings.NewReader(""), 1<<20, 1<<20)
		if err != io.EOF || cap(buf) > 64<<10 {
			t.Errorf("%d bytes were set aside, %v", cap(buf), err)
		}
	})
}
