package infoset_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/infoset"
)

// inUTF16 is text in UTF-16, the high byte of each unit at first.
func inUTF16(text string, bigEndian bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if bigEndian {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

func TestEncodings(t *testing.T) {
	const declared = `<?xml version="1.0" encoding="UTF-16"?>`
	want := "start :größe\ntext \"für 5 € \U0001F69A\"\nend :größe\n"
	element := func(euro string) string { return "<größe>für 5 " + euro + " &#x1F69A;</größe>" }
	latin := strings.NewReplacer("ö", "\xf6", "ß", "\xdf", "ü", "\xfc")
	for name, in := range map[string]string{
		"UTF-16, the high byte first, with a mark":    inUTF16("\ufeff"+declared+element("€"), true),
		"UTF-16, the low byte first, with a mark":     inUTF16("\ufeff"+declared+"<größe>für 5 € \U0001F69A</größe>", false),
		"UTF-16 with a mark and no declaration":       inUTF16("\ufeff"+element("€"), false),
		"UTF-16 without a mark, as RFC 2781 names it": inUTF16(`<?xml version="1.0" encoding="utf-16le"?>`+element("€"), false),
		"ISO-8859-1": `<?xml version='1.0' encoding='iso-8859-1'?>` + latin.Replace(element("&#8364;")),
		"ISO-8859-15, which has a euro of its own": `<?xml version='1.0' encoding='ISO-8859-15'?>` + latin.Replace(element("\xa4")),
		"windows-1252, which has it elsewhere":     "<?xml version='1.0'\r\nencoding='windows-1252' standalone='yes'?>\r\n" + latin.Replace(element("\x80")),
		"UTF-8, as it is without all that":         element("€"),
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"whole": strings.NewReader(in), "in bytes": iotest.OneByteReader(strings.NewReader(in)), "with its end": iotest.DataErrReader(strings.NewReader(in))} {
				got, err := told(r, infoset.Payload)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
	t.Run("a long text, which does not come at once", func(t *testing.T) {
		long := strings.Repeat("ä€\U0001F69A", 20_000)
		got, err := told(strings.NewReader(inUTF16("\ufeff<a>"+long+"</a>", true)), infoset.Payload)
		if want := fmt.Sprintf("start :a\ntext %q\nend :a\n", long); err != nil || got != want {
			t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
		}
	})
	for _, c := range []struct{ in, want string }{
		{inUTF16("\ufeff"+`<?xml version="1.0" encoding="UTF-8"?><a/>`, true), `line 1, byte 40: the document is UTF-16BE, and declares the encoding "UTF-8"`},
		{"\xfe\xff\x00<\x00a\x00>\xd8\x3d\x00<", "line 1, byte 2: the text is not UTF-16BE"},
		{"\xfe\xff\x00<\x00a\x00>\xd8", "line 1, byte 2: the text is not UTF-16BE"},
		{`<?xml version="1.0" encoding="ISO-8859-7"?><a>` + "\xae</a>", "line 1, byte 46: the text is not ISO-8859-7"},
		{`<?xml version="1.0" encoding="Shift_JIS"?><a/>`, `line 1, byte 42: the encoding "Shift_JIS" is not read, only UTF-8, UTF-16 and those of one byte a character`},
		{`<?xml version="1.0" encoding="UTF-16"?><a/>`, `line 1, byte 39: the encoding "UTF-16" is declared, and the document does not begin as it would`},
		{"\xff\xfe\x00\x00<\x00\x00\x00", "line 1, byte 0: the document is neither UTF-8 nor UTF-16, nor does it extend ASCII"},
	} {
		t.Run(c.want, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				if _, err := told(r, infoset.Payload); err == nil || err.Error() != c.want {
					t.Errorf("got  %v\nwant %s", err, c.want)
				}
			}
		})
	}
}
