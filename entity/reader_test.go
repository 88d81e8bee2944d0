package entity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// partRead is one part as a test sees it.
type partRead struct {
	ID      string
	Content string
}

func readParts(r io.Reader, boundary string) ([]partRead, error) {
	m, err := NewReader(r, boundary)
	if err != nil {
		return nil, err
	}
	var parts []partRead
	for {
		p, err := m.Next()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return parts, err
		}
		from, err := p.Decoded()
		if err != nil {
			return parts, err
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return parts, err
		}
		parts = append(parts, partRead{p.Get("content-id"), string(content)})
	}
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []partRead
	}{
		{"two parts, preamble and epilogue", "hello\r\n--b\r\nContent-ID: <1>\r\n\r\none\r\n--b\r\nContent-ID: <2>\r\n\r\ntwo\r\n\r\n--b--\r\nbye", []partRead{{"<1>", "one"}, {"<2>", "two\r\n"}}},
		{"a byte order mark before the first boundary", "\xef\xbb\xbf--b\r\nContent-ID: 1\r\n\r\none\r\n--b--", []partRead{{"1", "one"}}},
		{"a boundary within a long line of the preamble", strings.Repeat("x", readAhead) + "--b\r\nContent-ID: 2\r\n\r\ntwo\r\n--b\r\nContent-ID: 1\r\n\r\none\r\n--b--", []partRead{{"1", "one"}}},
		{"line feeds alone", "--b\nContent-ID: 1\n\none\n--b\nContent-ID: 2\n\n\xff\n\x00\n--b--\n", []partRead{{"1", "one"}, {"2", "\xff\n\x00"}}},
		{"content that begins like a boundary", "--b\r\n\r\nx\r\n--bb\r\n--b-\r\n-- b\r\n--b--", []partRead{{"", "x\r\n--bb\r\n--b-\r\n-- b"}}},
		{"blanks behind a boundary", "--b  \t\r\n\r\nx\r\n--b \r\n\r\ny\r\n--b--  ", []partRead{{"", "x"}, {"", "y"}}},
		{"parts without content", "--b\r\n\r\n\r\n--b\r\n\r\n--b--", []partRead{{"", ""}, {"", ""}}},
		{"no parts", "--b--\r\n", nil},
		{"folded fields in any case, a blank before the colon", "--b\r\ncOnTent-id :\r\n <1@x>\r\n\r\nx\r\n--b--", []partRead{{"<1@x>", "x"}}},
		{"fields that are folded more than once, and blank", "--b\r\nX: y\r\nContent-ID:\r\n <1\r\n\t@x>\r\n \r\nX: z\r\n\r\nx\r\n--b--", []partRead{{"<1 @x>", "x"}}},
		{"base64, with blanks", "--b\r\nContent-Transfer-Encoding: Base64\r\n\r\nb25l\r\n IHR3 bw==\r\n--b--", []partRead{{"", "one two"}}},
		{"base64 without its padding", "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nb25lIHR3bw\r\n--b--", []partRead{{"", "one two"}}},
		{"an inner boundary that begins like the outer one's, and closes", "--b\r\n\r\n--b--inner--\r\n--b--\t\r\n", []partRead{{"", "--b--inner--"}}},
		{"quoted-printable in a line that is long", "--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat("=41", 30_000) + "\r\n--b--", []partRead{{"", strings.Repeat("A", 30_000)}}},
		{"quoted-printable", "--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3Db=\r\nc\r\n--b--", []partRead{{"", "a=bc"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body))} {
				got, err := readParts(r, "b")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	t.Run("a part larger than what is read ahead", func(t *testing.T) {
		content := strings.Repeat("0123456789\r\n--x", 20_000)
		got, err := readParts(iotest.HalfReader(strings.NewReader("--b\r\n\r\n"+content+"\r\n--b\r\n\r\nend\r\n--b--")), "b")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]partRead{{"", content}, {"", "end"}}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReaderFaults(t *testing.T) {
	for _, c := range []struct{ name, boundary, body, says string }{
		{"a body that was cut within a part", "b", "--b\r\n\r\nx\r\n--", "was cut"},
		{"a body that was cut at a boundary", "b", "--b\r\n\r\nx\r\n--b", "was cut"},
		{"a body that was cut within a header", "b", "--b\r\nContent-ID: <1>", "was cut"},
		{"no boundary in the body", "b", "<S12:Envelope/>", "no part begins"},
		{"no boundary in the header", "", "--b--", "names no boundary"},
		{"a long boundary", strings.Repeat("b", maxBoundary+1), "--b--", "longer than 200 characters"},
		{"a long preamble", "b", strings.Repeat("x", 2*maxPreamble), "no part begins"},
		{"a long header", "b", "--b\r\n" + strings.Repeat("X: "+strings.Repeat("y", 100)+"\r\n", 200) + "\r\nz\r\n--b--", "longer than"},
		{"a long line in a header", "b", "--b\r\nX: " + strings.Repeat("y", 2*readAhead), "longer than"},
		{"a Content-ID twice", "b", "--b\r\nContent-ID: <1>\r\ncontent-id: <2>\r\n\r\nx\r\n--b--", "content-id twice"},
		{"a line that is no field", "b", "--b\r\nno field\r\n\r\nx\r\n--b--", "no field"},
		{"a header that begins folded", "b", "--b\r\n x: y\r\n\r\nx\r\n--b--", "folded"},
		{"an unknown transfer encoding", "b", "--b\r\nContent-Transfer-Encoding: uuencode\r\n\r\nx\r\n--b--", "uuencode"},
		{"base64 that is none", "b", "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nx*y\r\n--b--", "cannot be undone: base64"},
		{"base64 that was cut", "b", "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nb25lI\r\n--b--", "cannot be undone: base64"},
		{"base64 behind its padding", "b", "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nbw==bw==\r\n--b--", "behind its padding"},
		{"quoted-printable with blanks that do not end", "b", "--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + strings.Repeat(" ", 1<<13) + "x\r\n--b--", "quoted-printable: 2048 blanks or = stand one behind the other"},
		{"a header of many folds", "b", "--b\r\nX: y\r\n" + strings.Repeat(" \r\n", 5000) + "\r\nz\r\n--b--", "more than 200 folded lines"},
		{"quoted-printable that is none", "b", "--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=zz\x00\r\n--b--", "quoted-printable"},
	} {
		t.Run(c.name+" is a fault of the framing", func(t *testing.T) {
			_, err := readParts(strings.NewReader(c.body), c.boundary)
			misframed, ok := errors.AsType[*Misframed](err)
			if ok && misframed.Text != err.Error() || !ok && !errors.Is(err, ErrEncoding) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a fault that says %q", err, c.says)
			}
		})
	}
	t.Run("what the reader says is given as it is", func(t *testing.T) {
		broken := errors.New("the connection broke")
		_, err := readParts(io.MultiReader(strings.NewReader("--b\r\n\r\nx\r\ny"), iotest.ErrReader(broken)), "b")
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("--b\r\nContent-ID: <1>\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--"))
	f.Add([]byte("\xef\xbb\xbf--b\nA : b\n c\n\n--b--"))
	f.Add([]byte("--b\r\nContent-Transfer-Encoding: base64\r\n\r\nb25l\r\n--b--"))
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := readParts(bytes.NewReader(body), "b")
		slow, slowErr := readParts(iotest.OneByteReader(bytes.NewReader(body)), "b")
		if diff := cmp.Diff(whole, slow); diff != "" || (err == nil) != (slowErr == nil) {
			t.Fatalf("read at once and byte by byte differ: %v, %v\n%s", err, slowErr, diff)
		}
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, p := range whole {
			if strings.Contains("\n"+p.Content, "\n--b") {
				return // it was base64
			}
			fmt.Fprintf(&again, "--b\r\nContent-ID: %s\r\n\r\n%s\r\n", p.ID, p.Content)
		}
		again.WriteString("--b--")
		second, err := readParts(&again, "b")
		if diff := cmp.Diff(whole, second); err != nil || diff != "" {
			t.Fatalf("written again: %v\n%s", err, diff)
		}
	})
}
