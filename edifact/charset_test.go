package edifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// value reads the text of FTX 4.1 under a syntax identifier.
func value(t *testing.T, r Reader, id, raw string) (text string, found []string) {
	t.Helper()
	source := strings.Replace(message("FTX+AAI+++"+raw+"'", 3), "UNOC:3", id, 1)
	if strings.Contains(id, ":4") { // 0017 has eight digits then
		source = strings.Replace(source, "+261129:", "+20261129:", 1)
	}
	all, faults := readAll(t, r, edi.Bytes([]byte(source)), func(_ *edi.Interchange, _ int, b *edi.Body) { text = b.Segment(1).Get(4, 1) })
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return text, findings(all[0])
}

func TestCharsets(t *testing.T) {
	invalid := "error 21 character-invalid @0 2 FTX 4.1"
	for name, c := range map[string]struct {
		reader   Reader
		id, raw  string
		text     string
		findings []string
	}{
		"UNOA, capital letters":                {Reader{}, "UNOA:2", "WERK 7", "WERK 7", nil},
		"UNOA, lower case is kept":             {Reader{}, "UNOA:2", "Werk_7", "Werk_7", []string{"warning 21 outside-level-a 2 FTX 4.1"}},
		"UNOB, lower case":                     {Reader{}, "UNOB:2", "Werk 7", "Werk 7", nil},
		"UNOA has no umlaut":                   {Reader{}, "UNOA:2", "M\xFCLLER", "MüLLER", []string{invalid}},
		"UNOB has none either":                 {Reader{}, "UNOB:2", "M\xFCller", "Müller", []string{invalid}},
		"UNOB under a default set":             {Reader{Tolerance: edi.Tolerance{DefaultCharset: "iso-8859-15"}}, "UNOB:2", "\xA4", "€", []string{"warning  charset-assumed 2 FTX 4.1"}},
		"UNOC":                                 {Reader{}, "UNOC:3", "M\xFCller", "Müller", nil},
		"UNOC with Windows-1252":               {Reader{}, "UNOC:3", "5 \x80", "5 €", []string{"warning 21 windows-1252 2 FTX 4.1"}},
		"UNOC with a C1 control":               {Reader{}, "UNOC:3", "\x81\xFC", "\u0081ü", []string{"warning 21 windows-1252 2 FTX 4.1"}},
		"UNOC that looks like UTF-8":           {Reader{}, "UNOC:3", "M\xC3\xBCller", "MÃ¼ller", []string{"warning  looks-like-utf-8 2 FTX 4.1"}},
		"and is read so by the partner's word": {Reader{Tolerance: edi.Tolerance{Charset: "UTF-8"}}, "UNOC:3", "M\xC3\xBCller", "Müller", nil},
		"UNOD":                                 {Reader{}, "UNOD:3", "\xA3\xF3d\xBC", "Łódź", nil},
		"UNOE":                                 {Reader{}, "UNOE:3", "\xBC\xD8\xE0", "Мир", nil},
		"UNOF":                                 {Reader{}, "UNOF:3", "\xC1\xE8", "Αθ", nil},
		"UNOF where nothing is defined":        {Reader{}, "UNOF:3", "\xFF", "\uFFFD", []string{invalid}},
		"UNOK":                                 {Reader{}, "UNOK:3", "\xDD\xFD", "İı", nil},
		"UNOL":                                 {Reader{}, "UNOL:3", "\xA4", "€", nil},
		"UNOW":                                 {Reader{}, "UNOW:4", "Zażółć", "Zażółć", nil},
		"UNOY":                                 {Reader{}, "UNOY:4", "港口物流", "港口物流", nil},
		"UNOY with a lone byte":                {Reader{}, "UNOY:4", "a\xFCb", "a\uFFFDb", []string{invalid}},
		"UNOY, cut in mid character":           {Reader{}, "UNOY:4", "港\xE5\x8F", "港\uFFFD", []string{invalid}},
		"UNOY with U+FFFD itself":              {Reader{}, "UNOY:4", "\uFFFD", "\uFFFD", nil},
		"0133 = 7 wins over UNOC":              {Reader{}, "UNOC:4::7", "ü", "ü", nil},
		"0133 = 3":                             {Reader{}, "UNOC:4::3", "\x81", "ü", nil},
		"UNOX without escapes":                 {Reader{}, "UNOX:3", "ABC", "ABC", nil},
		"UNOX with escapes":                    {Reader{}, "UNOX:3", "\x1B$B0!\x1B(B", "\x1B$B0!\x1B(B", []string{"error 2 code-extension-unsupported 2 FTX 4.1"}},
		"an unknown set with umlauts":          {Reader{}, "ANSI:1", "\xFC", "ü", []string{invalid, "warning 2 syntax-identifier-unknown 1 UNB 1.1"}},
		"the same under a default set":         {Reader{Tolerance: edi.Tolerance{DefaultCharset: "UNOC"}}, "ANSI:1", "\xFC", "ü", []string{"warning  charset-assumed 2 FTX 4.1"}},
		"NUL":                                  {Reader{}, "UNOC:3", "a\x00b", "a\x00b", []string{invalid}},
		"another control character":            {Reader{}, "UNOC:3", "a\tb", "a\tb", []string{"warning 21 control-character 2 FTX 4.1"}},
		"a line break in a text":               {Reader{}, "UNOC:3", "a\r\nb", "a\r\nb", []string{"warning 21 line-break 2 FTX 4.1"}},
		"blanks around a text stay":            {Reader{}, "UNOC:3", " a ", " a ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.findings == nil {
				c.findings = []string{}
			}
			text, found := value(t, c.reader, c.id, c.raw)
			if d := cmp.Diff(c.text, text); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.findings, found); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("characters of the envelope are checked too", func(t *testing.T) {
		ic := one(t, Reader{}, strings.Replace(strings.Replace(message("", 2), "UNOC:3", "UNOB:3", 1), "+S:", "+M\xFCller:", 1))
		if d := cmp.Diff([]string{"error 21 character-invalid 1 UNB 2.1"}, findings(ic)); d != "" {
			t.Fatal(d)
		}
		if ic.Sender.ID != "Müller" {
			t.Fatal(ic.Sender)
		}
	})
	t.Run("names that settings may use", func(t *testing.T) {
		for name, want := range map[string]bool{"UNOC": true, "utf-8": true, "Windows-1252": true, "": false, "EBCDIC": false} {
			if KnownCharset(name) != want {
				t.Errorf("%q: not %v", name, want)
			}
		}
	})
}
