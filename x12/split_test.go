package x12

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestLeads(t *testing.T) {
	for text, want := range map[string]bool{
		good(): true, "\ufeff" + good(): true, "\r\n \x00" + good(): true, "GS*IN*A": true, "ST|810|1": true, "ISA\x1d00": true,
		"": false, "ISA": false, "ISA 00": false, "ISAAC": false, "STORY": false, "ST A": false, "UNB+UNOC": false, "<ISA*": false, "isa*00*": false,
	} {
		if got := Leads([]byte(text)); got != want {
			t.Errorf("%.20q leads: %v, want %v", text, got, want)
		}
	}
}

// boundsChunk is what edi.Bounds reads at a time.
const boundsChunk = 64 << 10

func TestSplit(t *testing.T) {
	t.Run("the envelope is read", func(t *testing.T) {
		list, faults := splitAll(t, Reader{}, "\ufeff\n"+strings.ReplaceAll(good(), "*0*P*", "*1*T*")+"\r\n\t")
		if len(list) != 1 || faults[0] != nil {
			t.Fatalf("%d interchanges, %v", len(list), faults)
		}
		ic := list[0]
		want := edi.Interchange{Syntax: "x12", SyntaxVersion: "00401", Sender: edi.Party{ID: "TALQUIST", Qualifier: "ZZ"},
			Recipient: edi.Party{ID: "NORDHAFEN", Qualifier: "ZZ"}, ControlReference: "000000116", Date: "20261129", Time: "1015", Test: true, AckRequested: true,
			Delimiters: edi.Delimiters{Element: '*', Component: '>', Terminator: '~', Explicit: true},
			Offset:     4, Length: int64(len(good())), PayloadSHA256: sha256.Sum256([]byte(strings.ReplaceAll(good(), "*0*P*", "*1*T*")))}
		if d := cmp.Diff(want, *ic); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("delimiters", func(t *testing.T) {
		for name, c := range map[string]struct {
			text string
			want edi.Delimiters
		}{
			"as usual":                 {good(), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}},
			"repetition from 00402 on": {header00501, edi.Delimiters{Element: '*', Component: ':', Repetition: '^', Terminator: '~'}},
			"U in 00501 is none":       {strings.Replace(header00501, "^", "U", 1), edi.Delimiters{Element: '*', Component: ':', Terminator: '~'}},
			"a blank in 00501 is none": {strings.Replace(header00501, "^", " ", 1), edi.Delimiters{Element: '*', Component: ':', Terminator: '~'}},
			"^ in 00401 is none":       {strings.Replace(header00401, "*U*", "*^*", 1), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}},
			"one character twice":      {strings.Replace(header00501, "^", ":", 1), edi.Delimiters{Element: '*', Component: ':', Terminator: '~'}},
			"line feed":                {strings.ReplaceAll(good(), "~", "\n"), edi.Delimiters{Element: '*', Component: '>', Terminator: '\n'}},
			"CR LF":                    {strings.ReplaceAll(good(), "~", "\r\n"), edi.Delimiters{Element: '*', Component: '>', Terminator: '\r'}},
			"CR LF behind each ~":      {strings.ReplaceAll(good(), "~", "~\r\n"), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}},
			"information separators":   {strings.NewReplacer("*", "\x1d", ">", "\x1f", "~", "\x1c").Replace(good()), edi.Delimiters{Element: 0x1D, Component: 0x1F, Terminator: 0x1C}},
			"a bar and an apostrophe":  {strings.NewReplacer("*", "|", "~", "'").Replace(good()), edi.Delimiters{Element: '|', Component: '>', Terminator: '\''}},
			"0x85":                     {strings.ReplaceAll(good(), "~", "\x85"), edi.Delimiters{Element: '*', Component: '>', Terminator: 0x85}},
			"blank before ~":           {strings.Replace(good(), "~", " ~", 1), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}},
			"tab as element separator": {strings.ReplaceAll(good(), "*", "\t"), edi.Delimiters{Element: '\t', Component: '>', Terminator: '~'}},
			"elements without padding": {short(), edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}},
		} {
			list, faults := splitAll(t, Reader{}, c.text)
			if len(list) != 1 || faults[0] != nil {
				t.Errorf("%s: %d interchanges, %v", name, len(list), faults)
				continue
			}
			c.want.Explicit = true
			if d := cmp.Diff(c.want, list[0].Delimiters); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	})
	t.Run("an ISA without padding has the key of one with it", func(t *testing.T) {
		a, b := read(t, Reader{}, good()), read(t, Reader{}, short())
		if a.Sender != b.Sender || a.Recipient != b.Recipient || a.ControlReference != b.ControlReference {
			t.Errorf("%v %v %s, want %v %v %s", b.Sender, b.Recipient, b.ControlReference, a.Sender, a.Recipient, a.ControlReference)
		}
	})
	t.Run("what gives no delimiters or cannot be identified is refused", func(t *testing.T) {
		for name, c := range map[string]struct{ text, code, standard string }{
			"ISA16 missing, line ends":    {strings.ReplaceAll(strings.Replace(good(), ">~", "~", 1), "~", "~\n"), "isa-malformed", "027"},
			"ISA16 missing":               {strings.Replace(good(), ">~", "~", 1), "isa-malformed", "004"},
			"terminator missing":          {strings.Replace(good(), ">~", ">", 1), "isa-malformed", "004"},
			"component is a letter":       {strings.Replace(good(), ">~", "A~", 1), "isa-malformed", "027"},
			"component is the separator":  {strings.Replace(good(), ">~", "*~", 1), "isa-malformed", "027"},
			"terminator is the separator": {strings.Replace(good(), ">~", ">*", 1), "isa-malformed", "004"},
			"terminator of several bytes": {strings.ReplaceAll(good(), "~", "…"), "isa-malformed", "004"},
			"wrapped inside ISA":          {wrap(good(), 80), "isa-malformed", "022"},
			"cut off":                     {header00401[:60], "isa-malformed", "022"},
			"cut off before ISA16":        {header00401[:104], "isa-malformed", "027"},
			"cut off before the end":      {header00401[:105], "isa-malformed", "004"},
			"no sender":                   {strings.Replace(good(), "TALQUIST       ", "               ", 1), "isa-incomplete", "006"},
			"no recipient":                {strings.Replace(good(), "NORDHAFEN      ", "               ", 1), "isa-incomplete", "008"},
			"no control number":           {strings.Replace(good(), "*000000116*0", "*         *0", 1), "isa-incomplete", "018"},
			"NUL in the sender":           {strings.Replace(good(), "TALQUIST ", "TALQUIST\x00", 1), "isa-malformed", "022"},
			"GS without ISA":              {good()[106:], "isa-missing", ""},
			"no EDI":                      {"hello, world", edi.CodeText, ""},
		} {
			list, faults := splitAll(t, Reader{}, c.text)
			if len(list) == 0 || faults[0] == nil {
				t.Errorf("%s: accepted", name)
				continue
			}
			if faults[0].Code != c.code || faults[0].Standard != c.standard || faults[0].Severity != edi.SeverityError {
				t.Errorf("%s: %s %q, want %s %q: %v", name, faults[0].Code, faults[0].Standard, c.code, c.standard, faults[0])
			}
		}
	})
}

// short is good with an ISA whose elements are not padded.
func short() string {
	return "ISA*00**00**ZZ*TALQUIST*ZZ*NORDHAFEN*261129*1015*U*00401*116*0*P*>~" + good()[106:]
}

// wrap breaks text into lines of n bytes.
func wrap(text string, n int) string {
	var b strings.Builder
	for len(text) > n {
		b.WriteString(text[:n] + "\r\n")
		text = text[n:]
	}
	return b.String() + text
}

func TestSeveralInterchanges(t *testing.T) {
	edifact := "UNB+UNOC:3+A+B+261129:1015+1'UNZ+0+1'"
	for name, c := range map[string]struct {
		text string
		want []string // lengths, or codes
	}{
		"two":                                 {good() + good(), []string{good(), good()}},
		"with blanks between":                 {good() + "\r\n \t" + good(), []string{good(), good()}},
		"of different delimiters":             {good() + strings.NewReplacer("*", "|", "~", "\n").Replace(good()) + good(), []string{good(), strings.NewReplacer("*", "|", "~", "\n").Replace(good()), good()}},
		"the first without IEA":               {cutIEA(good()) + good(), []string{cutIEA(good()), good()}},
		"the last without terminator":         {good() + strings.TrimSuffix(good(), "~"), []string{good(), strings.TrimSuffix(good(), "~")}},
		"EDIFACT behind it":                   {good() + edifact, []string{good(), edi.CodeText}},
		"EDIFACT behind one without IEA":      {cutIEA(good()) + edifact, []string{cutIEA(good()), edi.CodeText}},
		"text between":                        {good() + "-- end of file --\n" + good(), []string{good(), edi.CodeText, good()}},
		"text before":                         {"HELLO\n" + good(), []string{edi.CodeText, good()}},
		"ISA and IEA in the data are data":    {strings.Replace(good(), "INV-1", "IEA*1*ISA*00*", 1), []string{strings.Replace(good(), "INV-1", "IEA*1*ISA*00*", 1)}},
		"a broken one does not hide the next": {strings.Replace(good(), ">~", "A~", 1) + good(), []string{"isa-malformed", good()}},
	} {
		list, faults := splitAll(t, Reader{}, c.text)
		var got []string
		for i, ic := range list {
			if faults[i] != nil {
				got = append(got, faults[i].Code)
			} else {
				got = append(got, c.text[ic.Offset:ic.Offset+ic.Length])
			}
			if ic.PayloadSHA256 != sha256.Sum256([]byte(c.text[ic.Offset:ic.Offset+ic.Length])) {
				t.Errorf("%s: the digest of interchange %d is not of its bytes", name, i)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func cutIEA(text string) string { return text[:strings.Index(text, "IEA*")] }

// A spooled payload is read in pieces, whose edges no result may depend on.
func TestSplitOfASpool(t *testing.T) {
	long := interchange(group("1", invoice("0001"), set("810", "0002", "BIN*200*"+strings.Repeat("~IEA*1~ISA", 20), "NTE**"+strings.Repeat("x", 2*boundsChunk))))
	for pad := range 3 {
		text := strings.Repeat(" ", boundsChunk-106-pad) + long + "\n" + good()
		f, err := os.Create(filepath.Join(t.TempDir(), "spool"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		p := edi.File(f, int64(len(text)))
		for from, want := range map[int64]string{0: long, int64(len(text) - len(good())): good()} {
			ic, err := Reader{}.Split(p, from)
			if err != nil {
				t.Fatal(err)
			}
			if got := text[ic.Offset : ic.Offset+ic.Length]; got != want || ic.PayloadSHA256 != sha256.Sum256([]byte(want)) {
				t.Errorf("%d bytes at %d, want %d", len(got), ic.Offset, len(want))
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
