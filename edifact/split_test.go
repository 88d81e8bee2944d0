package edifact

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestLeads(t *testing.T) {
	for head, want := range map[string]bool{
		"UNA:+.? 'UNB+": true, "UNB+UNOC:3": true, "\xEF\xBB\xBFUNB+": true, "\r\n \x00\tUNA:+.? '": true, "UNB\x1DUNOB": true,
		"UNH+1+INVOIC": true, "UIB+UNOA": true,
		"": false, "UNB": false, "UNBO": false, "ISA*00*": false, "<xml/>": false, "xUNB+": false, "unb+": false,
	} {
		if Leads([]byte(head)) != want {
			t.Errorf("%q: not %v", head, want)
		}
	}
}

// boundsChunk is what edi.Bounds reads at a time.
const boundsChunk = 64 << 10

func TestSplitHeader(t *testing.T) {
	t.Run("everything UNB says", func(t *testing.T) {
		ic := one(t, Reader{}, "UNB+UNOC:3+S :14 :X+R:ZZZ+261129:1015+REF 1 +PW:AA+APP+A+1+AGREED+1'"+unh1+"UNT+2+1'UNZ+1+REF 1'")
		got := edi.Interchange{Syntax: ic.Syntax, SyntaxID: ic.SyntaxID, SyntaxVersion: ic.SyntaxVersion, Sender: ic.Sender, Recipient: ic.Recipient,
			ControlReference: ic.ControlReference, ApplicationReference: ic.ApplicationReference, Agreement: ic.Agreement,
			Date: ic.Date, Time: ic.Time, Test: ic.Test, AckRequested: ic.AckRequested}
		want := edi.Interchange{Syntax: "edifact", SyntaxID: "UNOC", SyntaxVersion: "3", Sender: edi.Party{ID: "S", Qualifier: "14"},
			Recipient: edi.Party{ID: "R", Qualifier: "ZZZ"}, ControlReference: "REF 1", ApplicationReference: "APP", Agreement: "AGREED",
			Date: "20261129", Time: "1015", Test: true, AckRequested: true}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("dates", func(t *testing.T) {
		for sent, want := range map[string]string{"261129": "20261129", "20261129": "20261129", "991231": "19991231", "700101": "19700101",
			"690101": "20690101", "261301": "", "2611": "", "26112A": "", "": ""} {
			ic := one(t, Reader{}, strings.Replace(message("", 2), "261129", sent, 1))
			if ic.Date != want {
				t.Errorf("%q: %q, want %q", sent, ic.Date, want)
			}
		}
	})
	t.Run("kinds of test in version 4 are all tests", func(t *testing.T) {
		for sent, want := range map[string]bool{"": false, "0": false, "1": true, "2": true, "3": true, "4": true, "5": true, "6": false, "X": false} {
			if testIndicator(sent) != want {
				t.Errorf("%q: not %v", sent, want)
			}
		}
	})
	t.Run("a released separator in the reference", func(t *testing.T) {
		if ic := one(t, Reader{}, strings.ReplaceAll(message("", 2), "REF", "A?'B?+C")); ic.ControlReference != "A'B+C" {
			t.Fatal(ic.ControlReference)
		}
	})
}

func TestUNA(t *testing.T) {
	body := func(una, between, id string) string {
		return una + between + "UNB+" + id + "+S:14+R:14+20261129:1015+REF'UNH+1+INVOIC:D:96A:UN'FTX+A*B'UNT+3+1'UNZ+1+REF'"
	}
	repetitions := func(text string) (n int) {
		_, faults := readAll(t, Reader{}, edi.Bytes([]byte(text)), func(_ *edi.Interchange, _ int, b *edi.Body) { n = b.Segment(1).Repetitions(1) })
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return n
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"version 3 has no repetition, whatever UNA says": {body("UNA:+.?*'", "", "UNOC:3"), 1},
		"version 4 has the one UNA names":                {body("UNA:+.?*'", "", "UNOC:4"), 2},
		"version 4 with a blank in UNA has none":         {body("UNA:+.? '", "", "UNOC:4"), 1},
		"version 4 without UNA has the asterisk":         {body("", "", "UNOC:4"), 2},
		"version 3 without UNA has none":                 {body("", "", "UNOC:3"), 1},
		"a line break behind UNA":                        {body("UNA:+.? '", "\r\n", "UNOC:3"), 1},
		"blanks behind UNA":                              {body("UNA:+.? '", "  \n ", "UNOC:3"), 1},
		"UNA without its reserved blank":                 {body("UNA:+.?'", "", "UNOC:3"), 1},
		"the same before a line break":                   {body("UNA:+.?'", "\r\n", "UNOC:3"), 1},
		"a byte order mark before and behind":            {body("\xEF\xBB\xBFUNA:+.? '", "\xEF\xBB\xBF", "UNOC:3"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := repetitions(c.text); got != c.want {
				t.Fatalf("%d repetitions, want %d", got, c.want)
			}
		})
	}
	t.Run("a blank as release character is none", func(t *testing.T) {
		text := "UNA:+.  'UNB+UNOC:3+S+R+261129:1015+REF'UNH+1+INVOIC'FTX+a?'UNT+3+1'UNZ+1+REF'"
		_, faults := readAll(t, Reader{}, edi.Bytes([]byte(text)), func(ic *edi.Interchange, _ int, b *edi.Body) {
			if got := b.Segment(1).Get(1, 1); got != "a?" || ic.Delimiters.Release != 0 {
				t.Errorf("%q", got)
			}
		})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
	})
	t.Run("a line feed as terminator", func(t *testing.T) {
		text := strings.ReplaceAll("UNA:+.? 'UNB+UNOC:3+S+R+261129:1015+REF'UNH+1+INVOIC'UNT+2+1'UNZ+1+REF'", "'", "\n")
		if d := cmp.Diff([]string{}, findings(one(t, Reader{}, text))); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("level B's own characters", func(t *testing.T) {
		text := strings.NewReplacer("+", "\x1D", ":", "\x1F", "'", "\x1C").Replace(strings.Replace(message("BGM+380+A'", 3), "UNOC:3", "UNOB:2", 1))
		if d := cmp.Diff([]string{}, findings(one(t, Reader{}, text))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestSplitRefusals(t *testing.T) {
	good := message("", 2)
	for name, c := range map[string]struct {
		text string
		want []string // code, offset, length
		good int
	}{
		"no UNB":                        {"UNH+1+INVOIC'UNT+2+1'", []string{"unb-missing 0+21"}, 0},
		"UNA alone":                     {"UNA:+.? '", []string{"unb-missing 0+9"}, 0},
		"UNA and something else":        {"UNA:+.? 'XYZ+1'", []string{"unb-missing 0+15"}, 0},
		"UNA too short":                 {"UNA:+", []string{"una-invalid 0+5"}, 0},
		"UNA with a letter":             {"UNAx+.? '" + good, []string{"una-invalid 0+9"}, 1},
		"UNA with one character twice":  {"UNA++.? '" + good, []string{"una-invalid 0+9"}, 1},
		"another separator than UNB's":  {"UNA:*.? '" + good, []string{fmt.Sprintf("unb-malformed 0+%d", 9+len(good))}, 0},
		"UNB without terminator":        {"UNB+UNOC:3+S+R+261129:1015+REF", []string{"unb-malformed 0+30"}, 0},
		"an address beyond all measure": {strings.Replace(good, "R:14", strings.Repeat("R", 257)+":14", 1), []string{fmt.Sprintf("unb-malformed 0+%d", len(good)+256)}, 0},
		"UNB that never ends":           {"UNB+UNOC:3+" + strings.Repeat("x", 5000) + "'" + good, []string{"unb-malformed 0+5012"}, 1},
		"no sender":                     {strings.Replace(good, "+S:14", "+", 1), []string{fmt.Sprintf("unb-incomplete 0+%d", len(good)-4)}, 0},
		"no recipient":                  {strings.Replace(good, "+R:14", "+", 1), []string{fmt.Sprintf("unb-incomplete 0+%d", len(good)-4)}, 0},
		"no reference":                  {strings.Replace(good, "+REF", "+", 1), []string{fmt.Sprintf("unb-incomplete 0+%d", len(good)-3)}, 0},
		"interactive":                   {"UIB+UNOA:3+x'UIZ+x'", []string{"interactive-not-supported 0+19"}, 0},
		"a wrapped envelope":            {strings.Replace(good, "R:14", "R\n:14", 1), []string{fmt.Sprintf("unb-malformed 0+%d", len(good)+1)}, 0},
		"a NUL in a qualifier (0007)":   {strings.Replace(good, "R:14", "R:1\x004", 1), []string{fmt.Sprintf("unb-malformed 0+%d", len(good)+1)}, 0},
		"a NUL in routing (0008)":       {strings.Replace(good, "R:14", "R:14:\x00", 1), []string{fmt.Sprintf("unb-malformed 0+%d", len(good)+2)}, 0},
		"a control in 0026 and in 0032": {strings.Replace(good, "+REF'", "+REF++A\x07'", 1) + strings.Replace(good, "+REF'", "+REF+++++\x01'", 1), []string{fmt.Sprintf("unb-malformed 0+%d", len(good)+4), fmt.Sprintf("unb-malformed %d+%d", len(good)+4, len(good)+6)}, 0},
		"text before":                   {"spool header\n" + good, []string{"text-before-interchange 0+13"}, 1},
		"text behind":                   {good + "\n\x1A\n", []string{fmt.Sprintf("end-of-file-mark %d+2", len(good)+1)}, 1},
		"Ctrl-Z between":                {good + "\x1A" + good, []string{fmt.Sprintf("end-of-file-mark %d+1", len(good))}, 2},
		"text between":                  {good + "\r\n-- \r\n" + good, []string{fmt.Sprintf("text-before-interchange %d+5", len(good)+2)}, 2},
		"nothing but text":              {"hello", []string{"text-before-interchange 0+5"}, 0},
		"a terminator before UNA":       {"'UNA:+.? '\n" + good, []string{"text-before-interchange 0+1"}, 1},
		"blanks":                        {" \r\n\x00", nil, 0},
		"nothing":                       {"", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := edi.Bytes([]byte(c.text))
			var got []string
			good, at := 0, int64(0)
			for {
				ic, err := Reader{}.Split(p, at)
				if ic == nil {
					break
				}
				if fault := edi.AsError(err); fault != nil {
					got = append(got, fmt.Sprintf("%s %d+%d", fault.Code, ic.Offset, ic.Length))
				} else if err == nil {
					good++
				}
				at = ic.Offset + ic.Length
			}
			if d := cmp.Diff(c.want, got); d != "" || good != c.good {
				t.Fatalf("%d good, want %d\n%s", good, c.good, d)
			}
		})
	}
}

func TestSplitBounds(t *testing.T) {
	good := message("BGM+380'", 3)
	t.Run("the digest is of the bytes from UNA or UNB through the last terminator", func(t *testing.T) {
		for _, una := range []string{"", "UNA:+.? '"} {
			ic := one(t, Reader{}, "\xEF\xBB\xBF\n"+una+good+"\r\n\r\n")
			if ic.PayloadSHA256 != sha256.Sum256([]byte(una+good)) || ic.Offset != 4 || ic.Length != int64(len(una+good)) {
				t.Error(ic.Offset, ic.Length)
			}
		}
	})
	t.Run("an interchange without UNZ ends at the next header", func(t *testing.T) {
		cut := good[:strings.Index(good, "UNZ")]
		isa := "ISA*00*          *00*          *ZZ*A              *ZZ*B              *261129*1015*U*00401*000000001*0*P*>~"
		for _, next := range []string{good, "UNA:+.? '" + good, "\n" + good, isa} {
			p := edi.Bytes([]byte(cut + next))
			ic, err := Reader{}.Split(p, 0)
			if err != nil || ic.Length != int64(len(cut)) {
				t.Errorf("%d of %d, %v", ic.Length, len(cut), err)
			}
		}
	})
	t.Run("the object of a package is skipped by its length", func(t *testing.T) {
		with := strings.Replace(good, "UNZ+1", "UNO+P+1:D+13:x+12'UNZ+'UNB+'??UNP+12+P'UNZ+1", 1)
		all, _ := readAll(t, Reader{}, edi.Bytes([]byte(with+good)), nil)
		if len(all) != 2 || all[0].Length != int64(len(with)) {
			t.Fatal(len(all), all[0].Length)
		}
	})
	t.Run("bounds do not depend on where chunks end", func(t *testing.T) {
		for pad := boundsChunk - 200; pad < boundsChunk+60; pad++ {
			text := message("FTX+AAI+++"+strings.Repeat("x", pad)+"??'A+?'???''", 4)
			ic := one(t, Reader{}, text+"  \n")
			if ic.Length != int64(len(text)) || len(ic.Errors) > 0 || ic.PayloadSHA256 != sha256.Sum256([]byte(text)) {
				t.Fatal(pad, ic.Length, len(text), ic.Errors)
			}
		}
	})
}
