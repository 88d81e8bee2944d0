package edi

import (
	"bytes"
	"crypto/sha256"
	"os"
	"testing"
)

// A digest that was told shows by being another than that of the bytes.
func TestBoundsTakeAKnownDigest(t *testing.T) {
	told := [32]byte{1, 2, 3}
	long := bytes.Repeat([]byte("FTX+AAI+++one of many segments'\n"), 2*boundsChunk/32)
	whole := append(append([]byte("UNB+UNOC:3+A+B+261128:0914+1'"), long...), "UNZ+0+1'"...)
	find := func(t *testing.T, p *Payload) *Interchange {
		t.Helper()
		f := Bounds{Payload: p, Delimiters: defaults, Blank: &[256]bool{'\n': true}, Look: &[256]bool{'U': true}}
		f.Segment = func(b []byte, _, _ int64) error {
			f.Last = bytes.HasPrefix(b, []byte("UNZ"))
			return nil
		}
		ic := &Interchange{}
		if err := f.Find(ic, int64(bytes.IndexByte(whole, '\'')+1)); err != nil {
			t.Fatal(err)
		}
		return ic
	}
	spooled := func(t *testing.T, b []byte) *Payload {
		t.Helper()
		f, err := os.CreateTemp(t.TempDir(), "spool")
		if err != nil {
			t.Fatal(err)
		}
		p := File(f, int64(len(b)))
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
		return p
	}
	payloads := map[string]func(*testing.T, []byte) *Payload{
		"in memory":  func(_ *testing.T, b []byte) *Payload { return Bytes(b) },
		"in a spool": spooled,
	}
	for where, payload := range payloads {
		for _, c := range []struct {
			name   string
			behind string
			told   bool
			want   [32]byte
		}{
			{"the interchange is all of it", "", true, told},
			{"nothing is known", "", false, sha256.Sum256(whole)},
			{"a line break stands behind it", "\r\n", true, sha256.Sum256(whole)},
			{"another interchange stands behind it", "UNB+UNOC:3+A+B+261128:0914+2'UNZ+0+2'", true, sha256.Sum256(whole)},
		} {
			t.Run(where+", "+c.name, func(t *testing.T) {
				p := payload(t, append(bytes.Clone(whole), c.behind...))
				if c.told {
					p.Hashed(told)
				}
				if ic := find(t, p); ic.PayloadSHA256 != c.want || ic.Length != int64(len(whole)) {
					t.Errorf("digest %x, length %d; want %x, %d", ic.PayloadSHA256, ic.Length, c.want, len(whole))
				}
			})
		}
	}
}
