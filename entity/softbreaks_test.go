package entity

import (
	"bufio"
	"io"
	"mime/quotedprintable"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// whole decodes quoted-printable with each line held whole.
func whole(t *testing.T, text string) string {
	t.Helper()
	got, err := io.ReadAll(quotedprintable.NewReader(bufio.NewReaderSize(strings.NewReader(text), len(text)+1)))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestLongLines(t *testing.T) {
	full := strings.Repeat("x", codedLine)
	for name, text := range map[string]string{
		"an interchange in one line":                       strings.Repeat("UNB+UNOC:3=2B'", 100_000),
		"coded bytes alone":                                strings.Repeat("=C3=A9", 50_000) + "\r\n" + strings.Repeat("=c3=a9", 50_000),
		"a coded byte on each side of the break":           full[2:] + "=41=42=43",
		"an = that codes nothing on each side of it":       full[1:] + "=zz=zz",
		"a soft break where it is broken":                  full + "=\r\nx",
		"a soft break where it is broken, and no more":     full + "=\r\n",
		"an = at the end of all, where it is broken":       full + "=",
		"a line end where it is broken":                    full + "\r\nx",
		"blanks that end a line where it is broken":        full + strings.Repeat(" \t", 100) + "\r\nx",
		"blanks that do not":                               full + strings.Repeat(" \t", 100) + "x",
		"blanks at the end of all":                         full + "   ",
		"blanks on each side of a soft break":              full + "  =\r\n  x",
		"bytes that ought to be coded":                     strings.Repeat("\xff\xc3\xa9", 10_000),
		"lines that are short, with all that may be in it": "a=3Db=\r\nc  \r\n=\r\n\t=41 \n=zz",
	} {
		t.Run(name+" is read as if it were held whole", func(t *testing.T) {
			want := whole(t, text)
			for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
				d, err := Decoder("quoted-printable", from)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(d)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWhatReadingTakes(t *testing.T) {
	read := func(body string) (took uint64) {
		m, err := NewReader(strings.NewReader(body), "b")
		if err != nil {
			t.Fatal(err)
		}
		return allocated(func() {
			for {
				p, err := m.Next()
				if err == io.EOF {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				from, err := p.Decoded()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, from); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("a hundred small parts of quoted-printable take some kilobytes each", func(t *testing.T) {
		const parts = 100
		took := read(strings.Repeat("--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx\r\n", parts) + "--b--")
		if took > parts*64<<10 {
			t.Errorf("they took %d bytes", took)
		}
	})
	t.Run("a line of quoted-printable takes no more than a short one", func(t *testing.T) {
		took := read("--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat("=41", 1<<20) + "\r\n--b--")
		if took > 256<<10 {
			t.Errorf("it took %d bytes", took)
		}
	})
	t.Run("a header that is folded as often as it may be is read in little more than itself", func(t *testing.T) {
		took := read("--b\r\nX: y\r\n" + strings.Repeat(" "+strings.Repeat("z", maxPartHeader/maxFolds-8)+"\r\n", maxFolds) + "\r\nx\r\n--b--")
		if took > 8*maxPartHeader {
			t.Errorf("it took %d bytes", took)
		}
	})
}
