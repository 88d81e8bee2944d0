package edifact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// asMapped is a message as a mapping sees it.
func asMapped(b *edi.Body) []string {
	var all []string
	for _, s := range b.Segments {
		var v strings.Builder
		v.WriteString(s.Tag())
		for x := range s.Values() {
			v.WriteString("|" + x.Text)
		}
		l := s.Location(1, 1)
		all = append(all, v.String(), l.Tag, string(rune('0'+l.Segment%10)), string(rune('0'+l.Offset%10)))
	}
	return all
}

func TestAgain(t *testing.T) {
	text := benchInterchange(600 << 10)
	text = append([]byte("UNA:+.? '\n"), text...)
	path := filepath.Join(t.TempDir(), "spooled")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, p := range map[string]*edi.Payload{"in memory": edi.Bytes(text), "spooled": edi.File(f, int64(len(text)))} {
		t.Run(name, func(t *testing.T) {
			ic, err := Reader{}.Split(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			var want [][]string
			if err := (Reader{}).Scan(p, ic, func(_ int, b *edi.Body) error { want = append(want, asMapped(b)); return nil }); err != nil {
				t.Fatal(err)
			}
			if len(want) < 100 {
				t.Fatalf("%d messages: the text is too small to show anything", len(want))
			}
			again := Reader{}.Again(p, ic)
			for _, i := range append([]int{len(want) - 1, 0}, indexes(len(want))...) {
				b, err := again(i)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want[i], asMapped(b)); diff != "" {
					t.Fatalf("message %d: %s", i, diff)
				}
			}
		})
	}
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
