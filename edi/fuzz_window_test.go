package edi

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzWindow: a text that comes in pieces from a spool is cut as it is at once, each
// segment at its place, and no more of it is held than the largest segment and what is
// read at a time.
func FuzzWindow(f *testing.F) {
	for _, s := range []string{"UNH+1+INVOIC:D:96A:UN'BGM+380+1?'2'UNT+3+1'", "A+??'B+???''", " '\r\n'\x00", "?", "A?", "A+b:c*d"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(9))
	}
	file, err := os.Create(filepath.Join(f.TempDir(), "spool"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := file.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, raw []byte, chunk uint8) {
		if len(raw) > 4<<10 || chunk == 0 {
			return
		}
		if _, err := file.WriteAt(raw, 0); err != nil {
			t.Fatal(err)
		}
		want := placed(NewBody(raw, 0, 1, defaults, nil).Segments)
		largest, end := 0, int64(0)
		for _, s := range want {
			largest, end = max(largest, int(s.End-end)), s.End
		}
		largest = max(largest, len(raw)-int(end)) // blanks behind the last one
		w := NewWindow(File(file, int64(len(raw))), 0, int64(len(raw)), int(chunk))
		l := NewLexer(defaults, nil)
		var got []placedSegment
		by := 0
		for {
			if err := w.Slide(by); err != nil {
				t.Fatal(err)
			}
			l.Window(w.Raw, w.At)
			for l.Lex(1) {
			}
			if !w.More() {
				break
			}
			got = append(got, placed(l.Segments)...)
			by = l.Drop(len(l.Segments))
			if held := len(w.Raw) - by; held > largest {
				t.Fatalf("%d bytes are held of %q, whose largest segment has %d", held, raw, largest)
			}
		}
		l.End()
		if got = append(got, placed(l.Segments)...); !reflect.DeepEqual(want, got) {
			t.Fatalf("%q in pieces of %d (-at once +in pieces):\n%s", raw, chunk, cmp.Diff(want, got))
		}
		if most := 2 * (2*largest + 2*int(chunk)); cap(w.Raw) > most {
			t.Fatalf("the window has %d bytes, more than %d", cap(w.Raw), most)
		}
	})
}

// placedSegment is a segment with all its values and its place.
type placedSegment struct {
	Offset, End int64
	Terminated  bool
	Values      []Value
}

func placed(segments []Segment) (all []placedSegment) {
	for _, s := range segments {
		p := placedSegment{Offset: s.Offset(), End: s.End(), Terminated: s.Terminated(), Values: []Value{{Text: s.Get(0, 1)}}}
		for v := range s.Values() {
			p.Values = append(p.Values, v)
		}
		all = append(all, p)
	}
	return all
}
