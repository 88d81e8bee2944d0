package edifact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

const (
	unb3 = "UNB+UNOC:3+S:14+R:14+261129:1015+REF'"
	unh1 = "UNH+1+INVOIC:D:96A:UN'"
	ung1 = "UNG+INVOIC+S:14+R:14+261129:1015+G1+UN+D:96A'"
)

func TestScanFindings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing wrong": {message("BGM+380+1+9'", 3), nil},
		"leading zeros of counts are noted": {
			unb3 + unh1 + "UNT+0002+1'UNZ+00001+REF'", []string{"note 12 leading-zeros @0 2 UNT 1.1"}},
		"UNT counts its own and UNH": {message("BGM+380'", 2), []string{"error 29 unt-count-mismatch @0 3 UNT 1.1"}},
		"a count that is no number":  {unb3 + unh1 + "UNT+X+1'UNZ+1+REF'", []string{"error 37 unt-count-mismatch @0 2 UNT 1.1"}},
		"a count beyond all measure": {unb3 + unh1 + "UNT+99999999999999999999+1'UNZ+1+REF'", []string{"error 37 unt-count-mismatch @0 2 UNT 1.1"}},
		"a count left out":           {unb3 + unh1 + "UNT++1'UNZ+1+REF'", []string{"error 13 unt-count-mismatch @0 2 UNT 1.1"}},
		"UNT names another message":  {unb3 + unh1 + "UNT+2+2'UNZ+1+REF'", []string{"error 28 unt-reference-mismatch @0 2 UNT 2.1"}},
		"UNT names none":             {unb3 + unh1 + "UNT+2'UNZ+1+REF'", []string{"error 13 unt-reference-mismatch @0 2 UNT 2.1"}},
		"UNZ counts messages":        {unb3 + unh1 + "UNT+2+1'UNZ+2+REF'", []string{"error 29 unz-count-mismatch 4 UNZ 1.1"}},
		"UNZ names another interchange": {
			unb3 + unh1 + "UNT+2+1'UNZ+1+REG'", []string{"error 28 unz-reference-mismatch 4 UNZ 2.1"}},
		"references compare without trailing blanks": {
			unb3 + "UNH+1  +INVOIC:D:96A:UN'UNT+2+1 'UNZ+1+REF '", nil},
		"an empty interchange": {unb3 + "UNZ+0+REF'", []string{"error 32 interchange-empty 2 UNZ 0.0"}},
		"no UNZ":               {unb3 + unh1 + "UNT+2+1'", []string{"error 13 unz-missing 3  0.0"}},
		"no UNZ, and UNT cut off": {unb3 + unh1 + "BGM+380'DTM+13",
			[]string{"error 13 unt-missing @0 4 UNT 0.0", "error 13 unz-missing 4  0.0"}},
		"no final terminator": {strings.TrimSuffix(message("", 2), "'") + "\r\n", []string{"warning  terminator-missing 4  0.0"}},
		"a release character at the end": {strings.TrimSuffix(message("", 2), "'") + "?",
			[]string{"error 22 release-at-end 4  0.0", "error 28 unz-reference-mismatch 4 UNZ 2.1", "warning  terminator-missing 4  0.0"}},
		"user segments before UNH": {unb3 + "BGM+380'DTM+1'" + unh1 + "UNT+2+1'UNZ+1+REF'",
			[]string{"error 33 segment-outside-message 2 BGM 0.0"}},
		"user segments between messages": {unb3 + unh1 + "UNT+2+1'LIN+1'UNH+2+INVOIC:D:96A:UN'UNT+2+2'UNZ+2+REF'",
			[]string{"error 33 segment-outside-message 4 LIN 0.0"}},
		"UNT without UNH": {unb3 + "UNT+2+1'UNZ+0+REF'",
			[]string{"error 13 unh-missing 2 UNT 0.0", "error 32 interchange-empty 3 UNZ 0.0"}},
		"two UNH in a row": {unb3 + unh1 + "UNH+2+INVOIC:D:96A:UN'UNT+2+2'UNZ+2+REF'",
			[]string{"error 13 unt-missing @0 2 UNT 0.0"}},
		"UNZ in the middle of a message": {unb3 + unh1 + "BGM+380'UNZ+1+REF'", []string{"error 13 unt-missing @0 3 UNT 0.0"}},
		"UNH without reference and type": {unb3 + "UNH'UNT+2'UNZ+1+REF'",
			[]string{"error 13 unh-incomplete @0 1 UNH 1.1", "error 13 unh-incomplete @0 1 UNH 2.1"}},
		"a message reference twice": {unb3 + unh1 + "UNT+2+1'" + unh1 + "BGM+380'UNT+3+1'UNZ+2+REF'",
			[]string{"error 26 message-reference-duplicate @1 1 UNH 1.1"}},
		"the same reference in two groups is another message": {
			unb3 + ung1 + unh1 + "UNT+2+1'UNE+1+G1'" + strings.Replace(ung1, "G1", "G2", 1) + unh1 + "UNT+2+1'UNE+1+G2'UNZ+2+REF'", nil},
		"one group reference twice": {
			unb3 + ung1 + unh1 + "UNT+2+1'UNE+1+G1'" + ung1 + "UNH+2+INVOIC'UNT+2+2'UNE+1+G1'UNZ+2+REF'", []string{"error 26 group-reference-duplicate #1 6 UNG 5.1"}},
		"UNE counts and names": {unb3 + ung1 + unh1 + "UNT+2+1'UNE+2+G2'UNZ+1+REF'",
			[]string{"error 28 une-reference-mismatch #0 5 UNE 2.1", "error 29 une-count-mismatch #0 5 UNE 1.1"}},
		"an empty group": {unb3 + ung1 + "UNE+0+G1'UNZ+1+REF'", []string{"error 32 group-empty #0 3 UNE 0.0", "error 32 interchange-empty 4 UNZ 0.0"}},
		"UNE missing":    {unb3 + ung1 + unh1 + "UNT+2+1'UNZ+1+REF'", []string{"error 13 une-missing #0 5 UNE 0.0"}},
		"UNG missing":    {unb3 + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", []string{"error 13 ung-missing 4 UNE 0.0"}},
		"a group without reference": {unb3 + "UNG+INVOIC+S+R+261129:1015'" + unh1 + "UNT+2+1'UNE+1'UNZ+1+REF'",
			[]string{"error 13 group-reference-missing #0 2 UNG 5.1"}},
		"a message after a group": {unb3 + ung1 + unh1 + "UNT+2+1'UNE+1+G1'UNH+2+INVOIC'UNT+2+2'UNZ+1+REF'",
			[]string{"error 30 groups-and-messages-mixed 6 UNH 0.0"}},
		"a group after a message": {unb3 + unh1 + "UNT+2+1'" + ung1 + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'",
			[]string{"error 30 groups-and-messages-mixed 4 UNG 0.0"}},
		"two types in one group": {unb3 + ung1 + unh1 + "UNT+2+1'UNH+2+DESADV:D:96A:UN'UNT+2+2'UNE+2+G1'UNZ+1+REF'",
			[]string{"warning 31 group-mixed-types #0 1 UNH 2.1"}},
		"syntax version 9": {strings.Replace(message("", 2), "UNOC:3", "UNOC:9", 1), []string{"error 2 syntax-version-unsupported 1 UNB 1.2"}},
		"an unknown syntax identifier": {strings.Replace(message("", 2), "UNOC:3", "IATA:1", 1),
			[]string{"warning 2 syntax-identifier-unknown 1 UNB 1.1"}},
		"UTF-16":                                          {strings.NewReplacer("UNOC:3", "UNOW:4::8", "+261129:", "+20261129:").Replace(message("", 2)), []string{"error 46 encoding-unsupported 1 UNB 1.4"}},
		"UNB's date of six digits in version 4":           {strings.Replace(message("", 2), "UNOC:3", "UNOY:4", 1), []string{"warning 40 unb-date-length 1 UNB 4.1"}},
		"of eight before it":                              {strings.Replace(message("", 2), "+261129:", "+20261129:", 1), []string{"warning 39 unb-date-length 1 UNB 4.1"}},
		"no date":                                         {strings.Replace(message("", 2), "261129:1015", "261329:1015", 1), []string{"warning 12 unb-date-invalid 1 UNB 4.1"}},
		"UNG's date of six digits in version 4":           {unb4 + ung1 + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", []string{"warning 40 ung-date-length #0 2 UNG 4.1"}},
		"UNG's of eight before it":                        {unb3 + strings.Replace(ung1, "+261129:", "+20261129:", 1) + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", []string{"warning 39 ung-date-length #0 2 UNG 4.1"}},
		"UNG's that is none":                              {unb3 + strings.Replace(ung1, "+261129:", "+261329:", 1) + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", []string{"warning 12 ung-date-invalid #0 2 UNG 4.1"}},
		"none in UNG before version 4":                    {unb3 + strings.Replace(ung1, "+261129:1015", "+", 1) + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", []string{"warning 12 ung-date-invalid #0 2 UNG 4.1"}},
		"none in UNG in version 4":                        {unb4 + strings.Replace(ung1, "+261129:1015", "+", 1) + unh1 + "UNT+2+1'UNE+1+G1'UNZ+1+REF'", nil},
		"a repetition separator that is the decimal mark": {"UNA:+.?.'" + unb4 + unh1 + "UNT+2+1'UNZ+1+REF'", []string{"error 20 una-invalid 1 UNA 0.0"}},
		"that separates elements too":                     {"UNA:+.?+'" + unb4 + unh1 + "UNT+2+1'UNZ+1+REF'", []string{"error 20 una-invalid 1 UNA 0.0"}},
		"that is a line end":                              {"UNA:+.?\n'" + unb4 + unh1 + "UNT+2+1'UNZ+1+REF'", []string{"error 20 una-invalid 1 UNA 0.0"}},
		"that is a letter":                                {"UNA:+.?A'" + unb4 + unh1 + "UNT+2+1'UNZ+1+REF'", []string{"error 20 una-invalid 1 UNA 0.0"}},
		"that is the decimal mark before version 4, which has none": {"UNA:+.?.'" + message("", 2), nil},
		"a blank for none": {"UNA:+.? '" + unb4 + unh1 + "UNT+2+1'UNZ+1+REF'", nil},
		"a reference too long": {strings.ReplaceAll(message("", 2), "REF", "REF456789012345"),
			[]string{"warning 39 unb-too-long 1 UNB 5.1"}},
		"empty segments":                          {message("'BGM+380'\r\n'", 3), []string{"note  empty-segment 0  0.0"}},
		"a tag that is none":                      {message("bgm+380'", 3), []string{"error 12 tag-invalid @0 2 bgm 0.0"}},
		"a tag with a released separator":         {message("LIN?+1'", 3), []string{"error 12 tag-invalid @0 2 LIN?+1 0.0"}},
		"a tag torn by a line break":              {message("BG\r\nM+380'", 3), []string{"error 12 tag-invalid @0 2 BG\r\nM 0.0", "warning 21 line-break 2 BG\r\nM 0.0"}},
		"blanks and line breaks between segments": {strings.ReplaceAll(message("BGM+380'", 3), "'", "'  \t\r\n\r\n"), []string{"note 21 blanks-between-segments 0  0.0"}},
		"line ends alone":                         {strings.ReplaceAll(message("BGM+380'", 3), "'", "'\r\n"), nil},
		"END and ISA may be user segments":        {message("ISA+1'END+1'IEA'", 5), nil},
		"UNB, UNZ and ISA in the data are data": {
			message("FTX+AAI+++UNB+UNZ+1+UNA:+. ?'UNB+ISA'", 3), nil},
		"a release that is not needed": {message("COM+support?@x.example:EM'", 3), []string{"warning  release-unneeded 2 COM 1.1"}},
		"a package before version 4":   {strings.Replace(message("", 2), "UNZ+1", "UNO+P+++5'UNZ+'UNP+5+P'UNZ+1", 1), []string{"error 15 package-not-supported 4 UNO 0.0"}},
		"UNS is no trailer":            {message("UNS+S'", 3), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			ic := one(t, Reader{}, c.text)
			if d := cmp.Diff(c.want, findings(ic)); d != "" {
				t.Fatalf("%s\n%s", c.text, d)
			}
		})
	}
}

// TestTolerance sends what is let pass by default under settings that refuse it.
func TestTolerance(t *testing.T) {
	for name, c := range map[string]struct {
		strict edi.Tolerance
		text   string
		want   []string
	}{
		"a byte order mark": {edi.Tolerance{RefuseByteOrderMark: true}, "\r\n\xEF\xBB\xBF\r\n" + message("", 2),
			[]string{"error 21 byte-order-mark 0  0.0"}},
		"empty lines": {edi.Tolerance{RefuseBlankLines: true}, strings.ReplaceAll(message("", 2), "'", "'\n\n"),
			[]string{"error 21 blanks-between-segments 0  0.0"}},
		"one line end is none": {edi.Tolerance{RefuseBlankLines: true}, strings.ReplaceAll(message("", 2), "'", "'\n"), nil},
		"a padded sender": {edi.Tolerance{RefuseUnpadded: true}, strings.Replace(message("", 2), "+S:14", "+S  :14", 1),
			[]string{"error 12 padded-identifier 1 UNB 2.1"}},
		"a padded reference": {edi.Tolerance{RefuseUnpadded: true}, strings.Replace(message("", 2), "+REF'", "+REF '", 1),
			[]string{"error 12 padded-identifier 1 UNB 5.1"}},
		"leading zeros": {edi.Tolerance{RefuseLeadingZeros: true}, unb3 + unh1 + "UNT+0002+1'UNZ+00001+REF'",
			[]string{"error 12 leading-zeros 4 UNZ 1.1", "error 12 leading-zeros @0 2 UNT 1.1"}},
		"a count of nothing": {edi.Tolerance{RefuseLeadingZeros: true}, unb3 + "UNZ+0+REF'", []string{"error 32 interchange-empty 2 UNZ 0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			if d := cmp.Diff(c.want, findings(one(t, Reader{Tolerance: c.strict}, c.text))); d != "" {
				t.Fatalf("%q\n%s", c.text, d)
			}
			for _, f := range findings(one(t, Reader{}, c.text)) {
				if c.want[0] != f && !strings.HasPrefix(f, "note ") {
					t.Fatalf("%q by default: %s", c.text, f)
				}
			}
		})
	}
	t.Run("empty lines are counted alike however the text is cut into blocks", func(t *testing.T) {
		text := strings.ReplaceAll(message(strings.Repeat("FTX+AAI+++"+strings.Repeat("x", 97)+"'", 2000), 2002), "'", "'\r\n\r\n")
		want := one(t, Reader{}, text).Errors
		spool := spooled(t, []byte(text))
		for chunk := range 10 {
			all, _ := readAll(t, Reader{chunk: 5000 + chunk}, spool, nil)
			if d := cmp.Diff(want, all[0].Errors); d != "" || len(want) != 1 {
				t.Fatalf("pieces of %d bytes: %s", 5000+chunk, d)
			}
		}
	})
}

func TestScan(t *testing.T) {
	t.Run("groups and messages are filled", func(t *testing.T) {
		text := unb3 + ung1 + unh1 + "BGM+380'UNT+3+1'UNH+2+INVOIC:D:96A:UN:EAN008'UNT+2+2'UNE+2+G1'UNZ+1+REF'"
		ic := one(t, Reader{}, text)
		wantGroups := []edi.Group{{FunctionalID: "INVOIC", Sender: edi.Party{ID: "S", Qualifier: "14"}, Recipient: edi.Party{ID: "R", Qualifier: "14"},
			Reference: "G1", Date: "20261129", Time: "1015", Agency: "UN", Version: "D:96A", Offset: int64(len(unb3)), Messages: 2}}
		if d := cmp.Diff(wantGroups, ic.Groups); d != "" {
			t.Error(d)
		}
		m := ic.Messages[1]
		if got := text[m.Offset : m.Offset+m.Length]; got != "UNH+2+INVOIC:D:96A:UN:EAN008'UNT+2+2'" {
			t.Error(got)
		}
		want := edi.MessageType{Type: "INVOIC", Version: "D", Release: "96A", Agency: "UN", AssociationCode: "EAN008"}
		if d := cmp.Diff(want, *m.Type); d != "" {
			t.Error(d)
		}
		if ic.MessageReference(1) != "G1/2" || m.Segments != 2 || ic.Segments != 9 || !ic.Complete {
			t.Error(ic.MessageReference(1), m.Segments, ic.Segments, ic.Complete)
		}
	})
	t.Run("the visitor sees each message once, with its errors, and its error ends the scan", func(t *testing.T) {
		text := unb3 + unh1 + "BGM+380+A?'B'UNT+9+1'UNH+2+INVOIC'BGM+381'UNT+3+2'UNZ+2+REF'"
		var got []string
		p := edi.Bytes([]byte(text))
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		enough := errors.New("enough")
		err = Reader{}.Scan(p, ic, func(i int, b *edi.Body) error {
			got = append(got, fmt.Sprint(i, b.Segment(1).Get(1, 1), b.Segment(1).Get(2, 1), len(ic.MessageErrors[i]), string(b.Raw()[:5])))
			if i == 1 {
				return enough
			}
			return nil
		})
		if err != enough {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"0380A'B1UNH+1", "13810UNH+2"}, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("a message reference may repeat where the partner's cannot be relied on", func(t *testing.T) {
		ic := one(t, Reader{UnreliableMessageReferences: true}, unb3+unh1+"UNT+2+1'"+unh1+"UNT+2+1'UNZ+2+REF'")
		if d := cmp.Diff([]string{}, findings(ic)); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("the same text has its findings in the same order", func(t *testing.T) {
		text := "UNB+UNOC:3+" + strings.Repeat("S", 40) + ":14+" + strings.Repeat("R", 40) + ":14+261129:1015+REF'" + unh1 + "UNT+2+1'UNZ+1+REF'"
		first := one(t, Reader{}, text)
		if len(first.Errors) != 2 {
			t.Fatal(first.Errors)
		}
		for range 30 {
			if d := cmp.Diff(first.Errors, one(t, Reader{}, text).Errors); d != "" {
				t.Fatal(d)
			}
		}
	})
	t.Run("more findings than are kept still refuse every message", func(t *testing.T) {
		var b strings.Builder
		b.WriteString(unb3)
		for i := range edi.MaxRefused + 5 {
			fmt.Fprintf(&b, "UNH+%d+INVOIC'UNT+3+%d'", i, i)
		}
		fmt.Fprintf(&b, "UNZ+%d+REF'", edi.MaxRefused+5)
		ic := one(t, Reader{}, b.String())
		if len(ic.MessageErrors) != edi.MaxRefused || !ic.Refused(edi.MaxRefused-1) || !ic.Refused(edi.MaxRefused+1) || ic.DroppedErrors == 0 {
			t.Fatal(len(ic.MessageErrors), ic.Errors)
		}
	})
	t.Run("references are told apart among very many", func(t *testing.T) {
		var r edi.References
		messages := make([]edi.Message, 0, 5000)
		for i := range 5000 {
			messages = append(messages, edi.Message{Reference: fmt.Sprint(i % 4000), Group: -1})
			want := -1
			if i >= 4000 {
				want = i - 4000
			}
			if got := r.Add(messages, i); got != want {
				t.Fatalf("message %d: %d, want %d", i, got, want)
			}
		}
	})
	t.Run("a message larger than the limit is refused and not read further", func(t *testing.T) {
		text := message("FTX+AAI+++"+strings.Repeat("x", 5000)+"'", 3)
		ic := one(t, Reader{maxMessage: 2000}, text)
		if d := cmp.Diff([]string{"error 18 message-too-large 1 UNH 0.0"}, findings(ic)); d != "" {
			t.Fatal(d)
		}
		if other := one(t, Reader{maxMessage: 2000}, strings.Replace(text, "xx'", "xy'", 1)); other.ContentSHA256 == ic.ContentSHA256 {
			t.Fatal("two texts that were not read have one content digest")
		}
	})
}

func TestScansDoNotShareState(t *testing.T) {
	texts := []string{message("FTX+A?'B'LIN+1'", 4), strings.NewReplacer("+", "*", "'", "~", ":", "|").Replace("UNA|*.? ~" + message("FTX+A'LIN+2'", 4)), message("", 9)}
	type result struct {
		content [32]byte
		values  string
	}
	scan := func(text string) (r result) {
		p := edi.Bytes([]byte(text))
		ic, err := Reader{}.Split(p, 0)
		if err == nil {
			err = Reader{}.Scan(p, ic, func(_ int, b *edi.Body) error {
				for _, s := range b.Segments {
					r.values += s.Tag() + s.Get(1, 1) + " "
				}
				return nil
			})
		}
		if err != nil {
			r.values = err.Error()
			return r
		}
		r.content = ic.ContentSHA256
		return r
	}
	var want []result
	for _, text := range texts {
		want = append(want, scan(text))
	}
	done := make(chan string)
	for g := range 4 {
		go func() {
			for k := range 300 {
				i := (g + k) % len(texts)
				if got := scan(texts[i]); got != want[i] {
					done <- fmt.Sprintf("%v, want %v", got, want[i])
					return
				}
			}
			done <- ""
		}()
	}
	for range 4 {
		if fault := <-done; fault != "" {
			t.Error(fault)
		}
	}
}
