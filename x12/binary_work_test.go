package x12

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// spooled is text in a file.
func spooled(t *testing.T, text []byte) *edi.Payload {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "spool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	p := edi.File(f, int64(len(text)))
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// QUIRK: a set of nothing but BIN once had a block of 32 KiB read for each of them,
// only to be forgotten when its length showed where the text goes on.
func TestBinaryIsReadOnce(t *testing.T) {
	for name, unit := range map[string]string{
		"nothing but short BIN":               "BIN*1*~~",
		"empty ones":                          "BIN*0*~",
		"BDS":                                 "BDS*ASC*3*~*~~",
		"BIN between ordinary ones":           "BIN*3*a~b~N1*ST*NAME~N1*BY*NAME~PER*IC*SOMEBODY~",
		"BIN a block apart":                   "BIN*3*a~b~" + strings.Repeat("N1*ST*NAME~", 3100),
		"data as large as a block":            "BIN*40000*" + strings.Repeat("~*", 20000) + "~",
		"lengths that are not to be believed": "BIN*999999*a~",
	} {
		t.Run(name, func(t *testing.T) {
			n := max(300_000/len(unit), 4)
			text := interchange(group("1", fmt.Sprintf("ST*810*0001~%sSE*%d*0001~", strings.Repeat(unit, n), n+2)))
			list, _ := splitAll(t, Reader{}, text)
			for chunk, p := range map[int]*edi.Payload{0: edi.Bytes([]byte(text)), 4096: spooled(t, []byte(text))} {
				s := Reader{chunk: chunk}.pass(p, list[0], nil)
				if err := s.Read(list[0].Offset, s.segments, s.finish); err != nil {
					t.Fatal(err)
				}
				if most := 12 * int64(len(text)); s.Lex.Indexed > most {
					t.Errorf("%d bytes were looked at in a text of %d", s.Lex.Indexed, len(text))
				}
				s.End()
			}
			lex := edi.NewLexer(list[0].Delimiters, nil)
			m := list[0].Messages[0]
			body(lex, []byte(text[m.Offset:m.Offset+m.Length]), m.Offset, list[0].Delimiters)
			if most := 12 * m.Length; lex.Indexed > most {
				t.Errorf("%d bytes were looked at to read a set of %d again", lex.Indexed, m.Length)
			}
		})
	}
}
