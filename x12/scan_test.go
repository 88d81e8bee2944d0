package x12

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestScan(t *testing.T) {
	t.Run("groups, sets, counts", func(t *testing.T) {
		text := interchange(group("1", invoice("0001"), invoice("0002")), group("2", invoice("0001")))
		list, _ := splitAll(t, Reader{}, text)
		ic := list[0]
		var seen []string
		err := Reader{}.Scan(edi.Bytes([]byte(text)), ic, func(i int, b *edi.Body) error {
			seen = append(seen, fmt.Sprintf("%d %s %s %d", i, b.Segment(0).Get(2, 1), b.Segment(b.Len()-1).Tag(), b.Segment(b.Len()-1).Number))
			if string(b.Raw()) != text[ic.Messages[i].Offset:ic.Messages[i].Offset+ic.Messages[i].Length] {
				t.Errorf("set %d is %q", i, b.Raw())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"0 0001 SE 4", "1 0002 SE 4", "2 0001 SE 4"}, seen); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string(nil), findings(ic)); d != "" {
			t.Errorf("a sound interchange has findings:\n%s", d)
		}
		if len(ic.Groups) != 2 || ic.Groups[0].Messages != 2 || ic.Groups[0].Included != 2 || ic.Segments != 18 || !ic.Complete || ic.MessageReference(2) != "2/0001" {
			t.Errorf("%+v, %d segments", ic.Groups, ic.Segments)
		}
		want := edi.MessageType{Type: "810", Release: "004010", Agency: "X"}
		if d := cmp.Diff(want, *ic.Messages[2].Type); d != "" || ic.Messages[0].Type != ic.Messages[1].Type {
			t.Errorf("types (-want +got):\n%s", d)
		}
	})
	t.Run("the error of visit ends it", func(t *testing.T) {
		list, _ := splitAll(t, Reader{}, good())
		stop := errors.New("enough")
		if err := (Reader{}).Scan(edi.Bytes([]byte(good())), list[0], func(int, *edi.Body) error { return stop }); err != stop {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the implementation convention is read from ST03 or GS08", func(t *testing.T) {
		for _, text := range []string{
			strings.Replace(good(), "X*004010~", "X*004010X999A1~", 1),
			strings.Replace(strings.Replace(good(), "X*004010~", "X*004010~", 1), "ST*810*0001~", "ST*810*0001*004010X999A1~", 1),
		} {
			if got := *read(t, Reader{}, text).Messages[0].Type; got.Release != "004010" || got.AssociationCode != "X999A1" {
				t.Errorf("%+v", got)
			}
		}
	})
}

// edits are what a test changes in a text: old, new.
func edited(t testing.TB, text string, edits ...string) string {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("%q is not in the text", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

func TestFindings(t *testing.T) {
	two := interchange(group("1", invoice("0001"), invoice("0002")), group("2", invoice("0003")))
	ta1 := "TA1*000000099*261128*0900*A*000~"
	for name, c := range map[string]struct {
		text  string
		edits []string
		want  []string
	}{
		"unpadded ISA":                      {short(), nil, []string{"I warning 022 isa-width @ 1 ISA 2", "I warning 018 isa-control-number-short @ 1 ISA 13"}},
		"blank before the terminator":       {good(), []string{">~", "> ~"}, []string{"I warning 004 terminator-blank @ 1 ISA 16"}},
		"control version":                   {good(), []string{"*00401*", "*99999*"}, []string{"I error 017 isa-version-unsupported @ 1 ISA 12"}},
		"U from 00402 on":                   {good(), []string{"*00401*", "*00501*"}, []string{"I warning 026 repetition-separator-unusable @ 1 ISA 11"}},
		"ISA13 no number":                   {good(), []string{"000000116*0", "REF000116*0", "1*000000116~", "1*REF000116~"}, []string{"I error 018 isa-control-number-invalid @ 1 ISA 13"}},
		"ISA09 no date":                     {good(), []string{"*261129*", "*261329*"}, []string{"I warning 014 isa-date-invalid @ 1 ISA 9"}},
		"ISA10 no time":                     {good(), []string{"*1015*U", "*2515*U"}, []string{"I warning 015 isa-time-invalid @ 1 ISA 10"}},
		"ISA14 neither":                     {good(), []string{"*0*P*", "*2*P*"}, []string{"I warning 019 isa-acknowledgement-request-invalid @ 1 ISA 14"}},
		"ISA15 information":                 {good(), []string{"*0*P*", "*0*I*"}, []string{"I error 020 isa-usage-unsupported @ 1 ISA 15"}},
		"ISA15 unknown":                     {good(), []string{"*0*P*", "*0*X*"}, []string{"I error 020 isa-usage-invalid @ 1 ISA 15"}},
		"sender's qualifier":                {good(), []string{"*ZZ*TALQUIST", "*  *TALQUIST"}, []string{"I warning 005 isa-qualifier-invalid @ 1 ISA 5"}},
		"recipient's qualifier":             {good(), []string{"*ZZ*NORDHAFEN", "*Z *NORDHAFEN"}, []string{"I warning 007 isa-qualifier-invalid @ 1 ISA 7"}},
		"IEA01 wrong":                       {good(), []string{"IEA*1*", "IEA*2*"}, []string{"I error 021 iea-count-mismatch @ 8 IEA 1"}},
		"IEA01 with zeros":                  {good(), []string{"IEA*1*", "IEA*00001*"}, []string{"I note leading-zeros @ 8 IEA 1"}},
		"IEA01 missing":                     {good(), []string{"IEA*1*", "IEA**"}, []string{"I error 021 iea-count-mismatch @ 8 IEA 1"}},
		"IEA01 no number":                   {good(), []string{"IEA*1*", "IEA*one*"}, []string{"I error 021 iea-count-mismatch @ 8 IEA 1"}},
		"IEA02 wrong":                       {good(), []string{"IEA*1*000000116", "IEA*1*000000117"}, []string{"I error 001 iea-reference-mismatch @ 8 IEA 2"}},
		"IEA02 without zeros":               {good(), []string{"IEA*1*000000116", "IEA*1*116"}, []string{"I warning iea-reference-mismatch @ 8 IEA 2"}},
		"IEA02 missing":                     {good(), []string{"IEA*1*000000116", "IEA*1"}, []string{"I error 001 iea-reference-mismatch @ 8 IEA 2"}},
		"no IEA":                            {good(), []string{"IEA*1*000000116~", ""}, []string{"I error 023 iea-missing @ 7"}},
		"no last terminator":                {strings.TrimSuffix(good(), "~"), nil, []string{"I warning terminator-missing @ 8"}},
		"two IEA":                           {good(), []string{"IEA*", "GE*1*1~IEA*"}, []string{"I error 022 gs-missing @ 8 GE"}},
		"only a TA1":                        {interchange(), []string{"IEA", ta1 + "IEA"}, []string{"I note ta1-received @ 2 TA1"}},
		"only a TA1, counted":               {interchange(), []string{"IEA*0", ta1 + "IEA*1"}, []string{"I note ta1-received @ 2 TA1", "I note iea-count-mismatch @ 3 IEA 1"}},
		"a TA1 before GS":                   {good(), []string{"GS*", ta1 + "GS*"}, []string{"I note ta1-received @ 2 TA1"}},
		"a TA1 behind GS":                   {good(), []string{"ST*810", ta1 + "ST*810"}, []string{"G1 error segment-outside-message @ 3 TA1"}},
		"nothing at all":                    {interchange(), nil, []string{"I error 024 interchange-empty @ 2 IEA"}},
		"requests to a network":             {good(), []string{"GS*", "ISB*1~ISE*200601*0515*04~GS*"}, []string{"I note network-request @ 2 ISB", "I note network-request @ 3 ISE"}},
		"a release character":               {good(), []string{"GS*", "ISX*?~GS*"}, []string{"I error 022 isx-unsupported @ 2 ISX 1"}},
		"ISX without one":                   {good(), []string{"GS*", "ISX**UTF-8~GS*"}, nil},
		"GE01 wrong refuses its group":      {two, []string{"GE*2*1", "GE*3*1"}, []string{"G1 error 5 ge-count-mismatch @ 11 GE 1"}},
		"GE02 wrong refuses its group":      {two, []string{"GE*1*2", "GE*1*3"}, []string{"G2 error 4 ge-reference-mismatch @ 17 GE 2"}},
		"no GE":                             {two, []string{"GE*2*1~", ""}, []string{"G1 error 3 ge-missing @ 11 GS"}},
		"no GS":                             {good(), []string{"GS*IN*TALQUIST*NORDHAFEN*20261129*1015*116*X*004010~", "", "IEA*1", "IEA*0"}, []string{"I error 022 gs-missing @ 2 ST", "I error 022 gs-missing @ 6 GE", "I error 024 interchange-empty @ 7 IEA"}},
		"GS06 missing":                      {good(), []string{"1015*116*X", "1015**X", "GE*1*116", "GE*1"}, []string{"G1 error 6 gs-control-number-invalid @ 2 GS 6"}},
		"GS06 twice":                        {two, []string{"1015*2*X", "1015*1*X", "GE*1*2", "GE*1*1"}, []string{"G2 error 19 gs-control-number-duplicate @ 12 GS 6"}},
		"GS01 missing":                      {good(), []string{"GS*IN", "GS*"}, []string{"G1 error 1 gs-incomplete @ 2 GS 1", "M1 warning functional-id-mismatch @ 1 ST 1"}},
		"GS08 missing":                      {good(), []string{"X*004010~", "X~"}, []string{"G1 error 2 gs-version-invalid @ 2 GS 8"}},
		"GS04 short":                        {good(), []string{"*20261129*", "*261129*"}, nil},
		"GS04 no date":                      {good(), []string{"*20261129*", "*20261329*"}, []string{"G1 warning gs-date-invalid @ 2 GS 4"}},
		"a group without sets":              {interchange(group("1")), nil, []string{"G1 error 5 group-empty @ 3 GE"}},
		"SE01 wrong":                        {two, []string{"SE*4*0002", "SE*5*0002"}, []string{"M2 error 4 se-count-mismatch @ 4 SE 1"}},
		"SE02 wrong":                        {two, []string{"SE*4*0002", "SE*4*0003"}, []string{"M2 error 3 se-reference-mismatch @ 4 SE 2"}},
		"SE02 without zeros":                {two, []string{"SE*4*0002", "SE*4*2"}, []string{"M2 warning se-reference-mismatch @ 4 SE 2"}},
		"no SE":                             {two, []string{"SE*4*0001~", ""}, []string{"M1 error 2 se-missing @ 4 SE"}},
		"no SE before GE":                   {two, []string{"SE*4*0003~", ""}, []string{"M3 error 2 se-missing @ 4 SE"}},
		"no ST":                             {two, []string{"ST*810*0002~", "", "GE*2*1", "GE*1*1"}, []string{"G1 error segment-outside-message @ 7 BIG", "G1 error st-missing @ 9 SE"}},
		"ST01 missing":                      {good(), []string{"ST*810", "ST*"}, []string{"M1 error 6 st-incomplete @ 1 ST 1"}},
		"ST02 missing":                      {good(), []string{"ST*810*0001", "ST*810", "SE*4*0001", "SE*4"}, []string{"M1 error 7 st-incomplete @ 1 ST 2"}},
		"ST02 short":                        {good(), []string{"ST*810*0001", "ST*810*1", "SE*4*0001", "SE*4*1"}, []string{"M1 warning 7 st-control-number-length @ 1 ST 2"}},
		"ST02 twice in a group":             {two, []string{"ST*810*0002", "ST*810*0001", "SE*4*0002", "SE*4*0001"}, []string{"M2 error 23 message-reference-duplicate @ 1 ST 2"}},
		"ST02 twice in two groups":          {two, []string{"ST*810*0003", "ST*810*0001", "SE*4*0003", "SE*4*0001"}, nil},
		"a set of another kind":             {good(), []string{"ST*810", "ST*856"}, []string{"M1 warning functional-id-mismatch @ 1 ST 1"}},
		"a tag that is none":                {good(), []string{"TDS*", "tds*"}, []string{"M1 error 1 tag-invalid @ 3 tds"}},
		"a tag of four":                     {good(), []string{"TDS*", "TDSX*"}, []string{"M1 error 1 tag-invalid @ 3 TDSX"}},
		"a tag of one":                      {good(), []string{"TDS*", "T*"}, []string{"M1 error 1 tag-invalid @ 3 T"}},
		"an empty tag":                      {good(), []string{"TDS*", "*"}, []string{"M1 error 1 tag-invalid @ 3"}},
		"a segment between groups":          {two, []string{"GS*IN*TALQUIST*NORDHAFEN*20261129*1015*2", "REF*A~GS*IN*TALQUIST*NORDHAFEN*20261129*1015*2"}, []string{"I error 022 segment-outside-message @ 12 REF"}},
		"empty segments":                    {good(), []string{"ST*810", "~~ST*810"}, []string{"I note empty-segment @ 0"}},
		"NUL":                               {good(), []string{"INV-1", "INV\x00"}, []string{"M1 error 6 character-invalid @ 2 BIG 2"}},
		"a control character":               {good(), []string{"INV-1", "INV\x07"}, []string{"I warning control-character @ 2 BIG 2"}},
		"a line break in a value":           {good(), []string{"INV-1", "INV\r\n1"}, []string{"I warning line-break @ 2 BIG 2"}},
		"a carriage return alone in one":    {good(), []string{"INV-1", "INV\r1"}, []string{"I warning line-break @ 2 BIG 2"}},
		"UTF-8":                             {good(), []string{"INV-1", "Müller"}, nil},
		"Latin-1":                           {good(), []string{"INV-1", "M\xfcller"}, []string{"I warning charset-assumed @ 2 BIG 2"}},
		"BIN with delimiters in it":         {interchange(group("1", set("275", "0001", "BIN*17*a~SE*2*1~b\x00\xff*IEA*"))), []string{"GS*IN", "GS*PI"}, nil},
		"BDS with delimiters in it":         {interchange(group("1", set("275", "0001", "BDS*ASC*5*a~b~c"))), nil, nil},
		"BIN of a wrong length":             {interchange(group("1", set("275", "0001", "BIN*9*abc"))), nil, []string{"M1 error 7 binary-length @ 2 BIN 1"}},
		"BIN of a length beyond everything": {interchange(group("1", set("275", "0001", "BIN*99999999999999999999*abc"))), nil, []string{"M1 error 7 binary-length @ 2 BIN 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, findings(read(t, Reader{}, edited(t, c.text, c.edits...)))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What is forgiven, a partner's settings can have refused.
func TestTolerance(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		refuse  edi.Tolerance
		forgave string
		refused string
	}{
		"byte order mark": {"\ufeff" + good(), edi.Tolerance{RefuseByteOrderMark: true}, "I note 022 byte-order-mark @ 0", "I error 022 byte-order-mark @ 0"},
		"blank lines":     {strings.ReplaceAll(good(), "~", "~\n\n"), edi.Tolerance{RefuseBlankLines: true}, "I note 022 blanks-between-segments @ 0", "I error 022 blanks-between-segments @ 0"},
		"unpadded ISA":    {edited(t, short(), "*116*0", "*000000116*0"), edi.Tolerance{RefuseUnpadded: true}, "I warning 022 isa-width @ 1 ISA 2", "I error 022 isa-width @ 1 ISA 2"},
		"leading zeros":   {edited(t, good(), "SE*4*", "SE*004*"), edi.Tolerance{RefuseLeadingZeros: true}, "M1 note leading-zeros @ 4 SE 1", "M1 error 4 leading-zeros @ 4 SE 1"},
	} {
		for r, want := range map[*Reader]string{{}: c.forgave, {Tolerance: c.refuse}: c.refused} {
			got := findings(read(t, *r, c.text))
			if d := cmp.Diff([]string{want}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	}
}

func TestRefusal(t *testing.T) {
	two := interchange(group("1", invoice("0001"), invoice("0002")), group("2", invoice("0003")))
	refused := func(edits ...string) []bool {
		ic := read(t, Reader{}, edited(t, two, edits...))
		out := make([]bool, len(ic.Messages))
		for i := range out {
			out[i] = ic.Refused(i)
		}
		return out
	}
	t.Run("an error of a set refuses that set", func(t *testing.T) {
		if d := cmp.Diff([]bool{false, true, false}, refused("SE*4*0002", "SE*5*0002")); d != "" {
			t.Error(d)
		}
	})
	t.Run("an error of a group refuses its sets", func(t *testing.T) {
		if d := cmp.Diff([]bool{true, true, false}, refused("GE*2*1", "GE*1*1")); d != "" {
			t.Error(d)
		}
	})
	t.Run("an error of the interchange refuses all", func(t *testing.T) {
		if d := cmp.Diff([]bool{true, true, true}, refused("IEA*2", "IEA*1")); d != "" {
			t.Error(d)
		}
	})
}

func TestContentDigest(t *testing.T) {
	base := read(t, Reader{}, good()).ContentSHA256
	for name, text := range map[string]string{
		"line breaks":                 strings.ReplaceAll(good(), "~", "~\r\n"),
		"other delimiters":            strings.NewReplacer("*", "|", ">", ":", "~", "\n").Replace(good()),
		"prepared at another time":    edited(t, good(), "*261129*1015*U", "*261130*0900*U", "*20261129*1015*", "*20261130*0900*"),
		"empty elements at the end":   edited(t, good(), "TDS*10000~", "TDS*10000***~"),
		"without the last terminator": strings.TrimSuffix(good(), "~"),
	} {
		if read(t, Reader{}, text).ContentSHA256 != base {
			t.Errorf("%s changed the content", name)
		}
	}
	for name, edit := range map[string][]string{
		"a total": {"TDS*10000", "TDS*10001"}, "the usage": {"*0*P*", "*0*T*"}, "the sender": {"*ZZ*TALQUIST ", "*ZZ*TALQUISTS"},
		"a group's number": {"*116*X", "*117*X"}, "an element more": {"TDS*10000~", "TDS*10000**1~"},
	} {
		if read(t, Reader{}, edited(t, good(), edit...)).ContentSHA256 == base {
			t.Errorf("%s did not change the content", name)
		}
	}
	t.Run("one text in two character sets", func(t *testing.T) {
		if read(t, Reader{}, edited(t, good(), "INV-1", "Müller")).ContentSHA256 != read(t, Reader{}, edited(t, good(), "INV-1", "M\xfcller")).ContentSHA256 {
			t.Error("it has two contents")
		}
	})
}

func TestLimits(t *testing.T) {
	t.Run("a set that is too large is refused and not read further", func(t *testing.T) {
		text := interchange(group("1", invoice("0001"), set("810", "0002", strings.Repeat("NTE**"+strings.Repeat("x", 500)+"~", 20)+"TDS*1")))
		for _, chunk := range []int{64, 1000, 0} {
			ic := read(t, Reader{maxMessage: 4096, chunk: chunk}, text)
			if d := cmp.Diff([]string{"I error 024 message-too-large @ 1 ST"}, findings(ic)); d != "" {
				t.Errorf("in pieces of %d (-want +got):\n%s", chunk, d)
			}
			if !ic.Refused(0) || ic.ContentSHA256 == ([32]byte{}) {
				t.Error("it is not refused as a whole")
			}
		}
	})
	t.Run("a BIN that is longer than a set may be is refused", func(t *testing.T) {
		text := interchange(group("1", set("275", "0001", "BIN*9000*"+strings.Repeat("~", 9000))))
		ic := read(t, Reader{maxMessage: 4096}, text)
		if d := cmp.Diff([]string{"I error 024 message-too-large @ 1 ST"}, findings(ic)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// Whether a payload is in memory or in a spool, and in which pieces it is read,
// changes nothing.
func TestWindows(t *testing.T) {
	text := interchange(group("1", invoice("0001"), set("275", "0002", "BIN*300*"+strings.Repeat("~SE*1~", 50), "NTE**"+strings.Repeat("x", 300), "BDS*ASC*4*~*~*", "REF*A")), group("2", invoice("0001")))
	want := read(t, Reader{}, text)
	if d := cmp.Diff([]string(nil), findings(want)); d != "" {
		t.Fatal(d)
	}
	path := filepath.Join(t.TempDir(), "spool")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{1, 2, 7, 64, 106, 107, 311, 4096} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p := edi.File(f, int64(len(text)))
		r := Reader{chunk: chunk}
		ic, err := r.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []string
		if err := r.Scan(p, ic, func(_ int, b *edi.Body) error { bodies = append(bodies, values(b)); return nil }); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, ic); d != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", chunk, d)
		}
		again := r.Again(p, ic)
		for i := range bodies {
			b, err := again(i)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(bodies[i], values(b)); d != "" {
				t.Errorf("set %d, read again (-want +got):\n%s", i, d)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// values are the segments of a body with their values told apart.
func values(b *edi.Body) string {
	var s strings.Builder
	for i := range b.Segments {
		fmt.Fprintf(&s, "%d %s", b.Segments[i].Number, b.Segments[i].Tag())
		for v := range b.Segments[i].Values() {
			if v.Element > 0 {
				fmt.Fprintf(&s, " %d.%d.%d=%q", v.Element, v.Repetition, v.Component, v.Text)
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func TestCharset(t *testing.T) {
	for _, c := range []struct{ charset, sent, want string }{
		{"", "Müller", "Müller"}, {"", "M\xfcller", "Müller"}, {"", "\x80 10", "€ 10"}, {"UTF-8", "Müller", "Müller"}, {"UTF-8", "M\xfcller", "M\uFFFDller"},
		{"ISO-8859-1", "Müller", "MÃ¼ller"}, {"WINDOWS-1252", "M\xfcller", "Müller"}, {"windows-1252", "\x81", "\u0081"},
	} {
		r := Reader{Tolerance: edi.Tolerance{Charset: c.charset}}
		text := edited(t, good(), "INV-1", c.sent)
		list, _ := splitAll(t, r, text)
		var got string
		if err := r.Scan(edi.Bytes([]byte(text)), list[0], func(_ int, b *edi.Body) error { got = b.Segment(1).Get(2, 1); return nil }); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%q under %q is read as %q, want %q", c.sent, c.charset, got, c.want)
		}
	}
	t.Run("what is no UTF-8 is refused where the settings say UTF-8", func(t *testing.T) {
		got := findings(read(t, Reader{Tolerance: edi.Tolerance{Charset: "UTF-8"}}, edited(t, good(), "INV-1", "M\xfcller")))
		if d := cmp.Diff([]string{"M1 error 6 character-invalid @ 2 BIG 2"}, got); d != "" {
			t.Error(d)
		}
	})
}

// A segment costs no allocation. The buffers of a pass do, each time the garbage
// collector has emptied the pool that they are kept in, and they grow with the text.
func TestAllocations(t *testing.T) {
	scan := func(segments int) float64 {
		text := interchange(group("1", set("810", "0001", strings.Repeat("IT1*1*10*EA*10.00**VN*TQ-100~", segments)+"TDS*10000")))
		p := edi.Bytes([]byte(text))
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(5, func() {
			if err := (Reader{}).Scan(p, ic, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	const segments = 20_000
	few, many := scan(10), scan(segments)
	if many > few+segments/100 {
		t.Errorf("%v allocations for 10 segments, %v for %d", few, many, segments)
	}
}

// Lines that were cut wherever their end fell, through ISA, tags and values.
func TestLineWraps(t *testing.T) {
	r := Reader{Tolerance: edi.Tolerance{LineWraps: true}}
	text := interchange(group("1", invoice("0001"), set("810", "0002", "BIG*20261127*INV-2", "NTE**A TEXT WITH BLANKS  IN IT", "TDS*5")), group("2", invoice("0001")))
	want := read(t, Reader{}, text)
	for _, width := range []int{7, 40, 80, 104, 105, 106, 107} {
		wrapped := wrap(text, width)
		ic := read(t, r, wrapped+"\r\n")
		if ic.Offset != 0 || ic.Length != int64(len(wrapped)) || !ic.Complete || ic.ContentSHA256 != want.ContentSHA256 || ic.ControlReference != want.ControlReference {
			t.Fatalf("at %d: %d bytes of %d, %v", width, ic.Length, len(wrapped), findings(ic))
		}
		if d := cmp.Diff([]string{"I note lines-wrapped @ 0"}, findings(ic)); d != "" {
			t.Errorf("at %d (-want +got):\n%s", width, d)
		}
		p := edi.Bytes([]byte(wrapped))
		var bodies []string
		if err := r.Scan(p, ic, func(i int, b *edi.Body) error {
			bodies = append(bodies, values(b))
			if m := ic.Messages[i]; !strings.HasPrefix(unwrapped(wrapped[m.Offset:][:m.Length]), "ST*810*") || !strings.HasSuffix(wrapped[m.Offset:][:m.Length], "~") {
				t.Errorf("at %d: set %d is %q", width, i, wrapped[m.Offset:][:m.Length])
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		again := r.Again(p, ic)
		for i := range bodies {
			b, err := again(i)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(bodies[i], values(b)); d != "" {
				t.Errorf("at %d: set %d, read again (-want +got):\n%s", width, i, d)
			}
		}
	}
	t.Run("a text that is not wrapped is read as ever", func(t *testing.T) {
		for _, text := range []string{text, strings.ReplaceAll(text, "~", "~\r\n"), strings.ReplaceAll(text, "~", "\n")} {
			ic := read(t, r, text)
			if d := cmp.Diff([]string(nil), findings(ic)); d != "" || ic.ContentSHA256 != want.ContentSHA256 {
				t.Errorf("%s", d)
			}
		}
	})
	t.Run("lines of several lengths are refused", func(t *testing.T) {
		broken := edited(t, text, "A TEXT WITH", "A TEXT\nWITH", "INV-2", "INV\n-2", "TDS*5", "TD\nS*5")
		if d := cmp.Diff([]string{"I error 022 lines-wrapped-unevenly @ 0"}, findings(read(t, r, broken))); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("several interchanges are told apart", func(t *testing.T) {
		list, faults := splitAll(t, r, wrap(good(), 80)+"\n"+wrap(cutIEA(good()), 80)+"\n"+wrap(good(), 80))
		if len(list) != 3 || faults[0] != nil || faults[1] != nil || faults[2] != nil {
			t.Errorf("%d interchanges, %v", len(list), faults)
		}
	})
}

func unwrapped(text string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(text) }
