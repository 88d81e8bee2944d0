package structure

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestFormatFaults(t *testing.T) {
	const head = "syntax edifact\ndirectory D 96A\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `t.txt:0: there is no line "syntax edifact" or "syntax x12"`},
		{"no directory", "syntax edifact\n", `t.txt:1: there is no line "directory …"`},
		{"another syntax", "syntax tradacoms\n", `t.txt:1: syntax is edifact or x12, not "tradacoms"`},
		{"a release is missing", "syntax edifact\ndirectory D\n", `t.txt:2: an EDIFACT directory has version and release: directory D 96A`},
		{"the order", "element 1004 an..3\n", `t.txt:1: "element" comes before the lines "syntax" and "directory"`},
		{"two directories", head + "directory D 01B\n", `t.txt:3: a second line "directory": a file describes one`},
		{"an unknown word", head + "loop N1\n", `t.txt:3: "loop" is none of syntax, directory, message, segment, composite, element, codes`},
		{"nothing behind a word", head + "segment\n", `t.txt:3: "segment" needs something behind it`},
		{"a tag too long", head + "segment BGMX\n", `t.txt:3: "BGMX" is no segment tag: two or three characters`},
		{"twice", head + "element 1 a1\n\nelement 1 a2\n", `t.txt:5: element 1 was described in line 3 already`},
		{"a message twice", head + "message A\nBGM M 1\nend\nmessage A\nBGM M 1\nend\n", `t.txt:6: message A was described in line 3 already`},
		{"no end", head + "message INVOIC\n  BGM M 1\n", `t.txt:4: the file ends before the "end" of a message`},
		{"an empty message", head + "message INVOIC\nend\n", `t.txt:4: message INVOIC has no segments`},
		{"half a row", head + "message INVOIC\n  BGM M\nend\n", `t.txt:4: a row is "TAG M|C max", "group NAME M|C max" or "end"`},
		{"a status", head + "message INVOIC\n  BGM X 1\nend\n", `t.txt:4: "X" is neither M nor C`},
		{"a maximum", head + "message INVOIC\n  BGM M 1000000001\nend\n", `t.txt:4: "1000000001" is no maximum: a number from 1, or *`},
		{"a group without trigger", head + "message INVOIC\n  group 1 C 9\n    RFF C 1\n  end\nend\n", `t.txt:4: group 1 must begin with its trigger, a segment M 1`},
		{"a trigger that repeats", head + "message INVOIC\n  group 1 C 9\n    RFF M 2\n  end\nend\n", `t.txt:4: group 1 must begin with its trigger, a segment M 1`},
		{"a group in front of a group", head + "message INVOIC\n group 1 C 9\n group 2 M 1\n RFF M 1\n end\n end\nend\n", `t.txt:4: group 1 must begin with its trigger, a segment M 1`},
		{"groups without bottom", head + "message INVOIC\n" + strings.Repeat("group 1 C 9\nRFF M 1\n", 30), `t.txt:42: groups stand deeper than 20`},
		{"an element nobody describes", head + "segment BGM 1004\n", `t.txt:3: element 1004 is not described: there is no line "element 1004 …"`},
		{"a component nobody describes", head + "segment BGM C002\ncomposite C002 1001\n", `t.txt:4: element 1001 is not described: there is no line "element 1001 …"`},
		{"an empty composite", head + "segment BGM C002\ncomposite C002\n", `t.txt:4: composite C002 has no components`},
		{"a format", head + "segment BGM 1004\nelement 1004 x..35\n", `t.txt:4: element 1004 has format "x..35", which is none of a, n and an with a length`},
		{"a length", head + "segment BGM 1004\nelement 1004 an..\n", `t.txt:4: element 1004 has format "an..", whose length is no number`},
		{"repetitions", head + "segment BGM 1004*x\nelement 1004 an3\n", `t.txt:3: "1004*x": behind * stands how often it may be repeated`},
		{"a condition", head + "segment BGM 1004 : P01\nelement 1004 an3\n", `t.txt:3: "P01" is no condition: a letter and two digits for each of two or more elements, as P0304`},
		{"a condition's kind", head + "segment BGM 1004 : X0101\nelement 1004 an3\n", `t.txt:3: condition "X0101" begins with none of P, R, E, C and L`},
		{"a condition's element", head + "segment BGM 1004 : P0102\nelement 1004 an3\n", `t.txt:3: condition "P0102" names element "02" of a segment of 1`},
		{"X12's type", "syntax x12\ndirectory 004010\nsegment BIG 373\nelement 373 DATE 8\n", `t.txt:4: element 373 has type "DATE", which is none of AN, ID, N0 to N9, R, DT, TM and B`},
		{"X12's length", "syntax x12\ndirectory 004010\nsegment BIG 373\nelement 373 DT 8..6\n", `t.txt:4: element 373 has length "8..6", which is no number and no two of them`},
		{"X12's half", "syntax x12\ndirectory 004010\nsegment BIG 373\nelement 373 DT\n", `t.txt:4: element 373 needs a type and a length: ID 2..3`},
		{"a line without end", head + "#" + strings.Repeat("x", maxLine), `t.txt:3: the line is longer than 65536 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := new(Tables).With("t.txt", strings.NewReader(c.text))
			var fault *FormatError
			if !errors.As(err, &fault) {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(c.want, fault.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesAreLaidOverOthers(t *testing.T) {
	const dtm = "UNH+1+INVOIC:D:96A:UN:EAN008'BGM+380+1'UNT+3+1'" // no DTM, UNS, MOA
	add := func(t *testing.T, tables *Tables, text string) *Tables {
		t.Helper()
		more, err := tables.With("more.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return more
	}
	missing := func(tags ...string) (list []string) {
		for _, tag := range tags {
			list = append(list, "13 segment-missing 2 "+tag)
		}
		return list
	}
	builtIn := builtInTables(t)
	own := add(t, builtIn, "syntax edifact\ndirectory D 96A EAN008\nmessage INVOIC\nBGM M 1\nMOA M 1\nend\n")
	for _, c := range []struct {
		name   string
		tables *Tables
		as     string
		want   []string
	}{
		{"what is built in", builtIn, "INVOIC D 96A EAN008", missing("DTM", "UNS", "MOA")},
		{"a guide, for messages that name it", own, "INVOIC D 96A EAN008", missing("MOA")},
		{"and for no others", own, "INVOIC D 96A", missing("DTM", "UNS", "MOA")},
		{"a message that it does not describe", own, "DESADV D 96A EAN008", nil},
		{"a guide takes its segments from the directory that it stands in",
			add(t, own, "syntax edifact\ndirectory D 96A\nsegment BGM C002 1004 1225!\n"), "INVOIC D 96A EAN008",
			append([]string{"13 element-missing 2 BGM 3"}, missing("MOA")...)},
		{"and its own first", add(t, add(t, own, "syntax edifact\ndirectory D 96A\nsegment BGM C002 1004 1225!\n"),
			"syntax edifact\ndirectory D 96A EAN008\nsegment BGM C002 1004\n"), "INVOIC D 96A EAN008", missing("MOA")},
		{"lists of codes", add(t, own, "syntax edifact\ndirectory D 96A EAN008\ncodes 1001 381 383\n"), "INVOIC D 96A EAN008",
			append([]string{"12 element-code 2 BGM 1 1"}, missing("MOA")...)},
		{"another syntax of that name changes nothing", add(t, own, "syntax x12\ndirectory D 96A EAN008\nmessage INVOIC\nBGM M 1\nend\n"),
			"INVOIC D 96A EAN008", missing("MOA")},
		{"a release of one's own", add(t, builtIn, "syntax edifact\ndirectory D 07A\nmessage INVOIC\nBGM M 1\nUNS M 1\nend\n"),
			"INVOIC D 07A", missing("UNS")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, c.tables, c.as, dtm)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a partner's guide, whatever its messages name", func(t *testing.T) {
		ic := &edi.Interchange{Syntax: "edifact", Messages: []edi.Message{{Type: &edi.MessageType{Type: "INVOIC", Version: "D", Release: "96A"}}}}
		b := edi.NewBody([]byte(dtm), 0, 1, edifactDelimiters, nil)
		var got []string
		for _, e := range own.Checker(edi.Tolerance{Guide: "EAN008"})(ic, 0, b) {
			got = append(got, e.Severity.String()+" "+said(e))
		}
		if diff := cmp.Diff([]string{"warning 13 segment-missing 2 MOA"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzFormat(f *testing.F) {
	names, err := builtIn.ReadDir("tables")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		b, err := builtIn.ReadFile("tables/" + n.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b[:min(len(b), 2000)]))
	}
	f.Add("syntax x12\ndirectory 004010\nmessage 810\nBIG M 1\ngroup N1 O *\nN1 M 1\nend\nend\nsegment BIG 373! C001*5 : P0102\nelement 373 DT 8\ncomposite C001 373 373!\ncodes 373 1 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		tables, err := new(Tables).With("t.txt", strings.NewReader(text))
		if (tables == nil) != (err != nil) {
			t.Fatalf("%v and %v", tables, err)
		}
	})
}

// FuzzCheck has any text judged as any message: it must end, with findings whose
// places are within it.
func FuzzCheck(f *testing.F) {
	tables, err := BuiltIn()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("UNH+1+INVOIC:D:96A:UN'BGM+380+1+9'DTM+137:20260102:102'NAD+SU'COM+1:TE'LIN+1'QTY+47:?'1'UNS+S'MOA+77:1'UNT+3+1'")
	f.Add("UNH+1'CPS'PAC'PCI'GIN+BJ+1'LIN'QTY'CPS'UNT'")
	f.Add("ST*810*1~BIG*20260102*1~N1*ST~IT1**x*EA~SAC*C~TDS*1~SE*3*1~")
	f.Add("ST*856*1~BSN*00*1*20260102*2460~HL*1**S~HL*2*1*O~LM*1~SE*3*1~")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"INVOIC D 96A", "DESADV D 01B", "INVOIC D 14B", "810 004010", "856 005010"} {
			syntax, m, d := typed(name)
			b := edi.NewBody([]byte(text), 0, 1, d, nil)
			ic := &edi.Interchange{Syntax: syntax, Messages: []edi.Message{{Type: m}}}
			found := tables.Check(ic, 0, b, edi.SeverityError, "")
			agree(t, tables.message(syntax, m, ""), b)
			if len(found) > MaxFindings {
				t.Fatalf("%d findings", len(found))
			}
			for _, e := range found {
				if e.Offset < 0 || e.Offset > int64(len(text)) || e.Standard == "" && e.Code != "element-date" || e.Text == "" || e.Segment < 1 || e.Segment > b.Len() {
					t.Fatalf("%+v in %d bytes", e, len(text))
				}
			}
		}
	})
}

// agree holds plain against walk: what the one lets pass, the other must find
// nothing in.
func agree(t *testing.T, m *message, b *edi.Body) {
	t.Helper()
	for _, p := range stands(m) {
		table := p.it.segment
		if table == nil {
			continue
		}
		for i := range b.Segments {
			if s := &b.Segments[i]; string(s.RawTag()) == table.tag && table.plain(s) {
				c := check{m: m, severity: edi.SeverityError, body: b, at: i}
				if c.walk(s, table); len(c.found) > 0 {
					t.Fatalf("plain lets %q pass: %v", s.Raw(), c.found[0])
				}
			}
		}
	}
}
