package entity_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/entity"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, raw, typ, encoding, body string }{
		{"a header, a blank line, a body", "Content-Type: application/EDIFACT\r\nContent-Transfer-Encoding: binary\r\n\r\nUNB'", "application/edifact", "binary", "UNB'"},
		{"lines that end by LF alone", "Content-Type: application/EDIFACT\n\nUNB'\n", "application/edifact", "", "UNB'\n"},
		{"a folded field", "Content-Type: application/EDIFACT;\r\n\tname=\"a b.edi\"\r\n\r\nx", "application/edifact", "", "x"},
		{"no header: the blank line comes first", "\r\nUNB'", "text/plain", "", "UNB'"},
		{"no header and no blank line", "UNB+UNOC:3+a+b'", "text/plain", "", "UNB+UNOC:3+a+b'"},
		{"a header alone", "Content-Type: application/xml", "application/xml", "", ""},
		{"a line in the header that is no field", "Content-Type: application/xml\r\nwhatever\r\n\r\nx", "application/xml", "", "x"},
		{"blanks before the colon", "Content-Type : application/xml\r\n\r\nx", "application/xml", "", "x"},
		{"the first of two fields counts", "Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n", "a/b", "", ""},
		{"a body of blank lines", "Content-Type: a/b\r\n\r\n\r\n\r\n", "a/b", "", "\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := entity.Parse([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			got := []string{e.ContentType().Word, e.Get("content-transfer-encoding"), string(e.Body), string(e.Raw)}
			if diff := cmp.Diff([]string{c.typ, c.encoding, c.body, c.raw}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("an interchange in one long line is a body, however long", func(t *testing.T) {
		raw := []byte("UNB+UNOC:3+a+b'" + strings.Repeat("x", 1<<20))
		e, err := entity.Parse(raw)
		if err != nil || len(e.Body) != len(raw) {
			t.Errorf("%v, %d bytes", err, len(e.Body))
		}
	})
	for name, raw := range map[string]string{
		"of too many bytes":  "Content-Type: " + strings.Repeat("x", 70<<10) + "\r\n\r\n",
		"of too many fields": strings.Repeat("A: b\r\n", 300) + "\r\n",
	} {
		t.Run("a header is bounded: "+name, func(t *testing.T) {
			if _, err := entity.Parse([]byte(raw)); !errors.Is(err, entity.ErrHeader) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHasHeader(t *testing.T) {
	for text, want := range map[string]bool{
		"Content-Type: application/EDIFACT\r\n\r\nUNB": true,
		"Date: today\r\ncontent-type: x/y\r\n\r\nUNB":  true,
		"MIME-Version: 1.0\n\n":                        true,
		"UNA:+.? '\r\nUNB+UNOC:3+a+b+c+d'":             false,
		"UNA:+.? 'UNB+UNOC:3+a+b+c+d'\r\n\r\n":         false,
		"ISA*00*          *00*          *ZZ*a":         false,
		"<?xml version=\"1.0\"?>":                      false,
		"\r\nContent-Type: application/EDIFACT\r\n":    false,
		" Content-Type: application/EDIFACT\r\n\r\n":   false,
		"":               false,
		"Subject: x\r\n": false,
	} {
		if got := entity.HasHeader([]byte(text)); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		name, value, word string
		parameters        map[string]string
	}{
		{"as RFC 2045 has it", `multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="b 1"`, "multipart/signed",
			map[string]string{"protocol": "application/pkcs7-signature", "micalg": "sha-256", "boundary": "b 1"}},
		{"values without quotation marks", `multipart/signed;protocol=application/pkcs7-signature;micalg=sha1;boundary=----=_Part_11_5.9`, "multipart/signed",
			map[string]string{"protocol": "application/pkcs7-signature", "micalg": "sha1", "boundary": "----=_Part_11_5.9"}},
		{"blanks in a value", `application/edifact; name=my file.edi`, "application/edifact", map[string]string{"name": "my file.edi"}},
		{"empty parameters, a word alone, and a semicolon at the end", `text/plain;; flowed; charset=utf-8;`, "text/plain", map[string]string{"charset": "utf-8"}},
		{"in quotation marks as a whole", `"multipart/report; report-type=disposition-notification;    boundary=\"x_1\""`, "multipart/report",
			map[string]string{"report-type": "disposition-notification", "boundary": "x_1"}},
		{"doubled quotation marks", `attachment; filename=""a b.edi""; size=3`, "attachment", map[string]string{"filename": "a b.edi", "size": "3"}},
		{"an empty value in quotation marks", `attachment; filename=""; size=3`, "attachment", map[string]string{"filename": "", "size": "3"}},
		{"a semicolon in quotation marks", `a/b; name="x;y=z"`, "a/b", map[string]string{"name": "x;y=z"}},
		{"escaped characters, and a path of Windows", `a/b; name="a \"b\" \\ c"; filename="C:\edi\out.txt"`, "a/b", map[string]string{"name": `a "b" \ c`, "filename": `C:\edi\out.txt`}},
		{"upper case and blanks around the sign", `Multipart/Mixed ; Boundary = abc`, "multipart/mixed", map[string]string{"boundary": "abc"}},
		{"a quotation mark that is not closed", `a/b; name="x`, "a/b", map[string]string{"name": "x"}},
		{"the first of two", `a/b; x=1; x=2`, "a/b", map[string]string{"x": "1"}},
		{"encoded, RFC 2231", `attachment; filename="plain"; filename*=UTF-8''S%C3%BCd%20%E2%82%AC.edi`, "attachment", map[string]string{"filename": "Süd €.edi"}},
		{"in pieces, RFC 2231", `attachment; filename*1*=%FC; filename*0*=iso-8859-1'de'S; filename*2="d.edi"`, "attachment", map[string]string{"filename": "Süd.edi"}},
		{"a comment", `text/plain (plain text); charset=us-ascii`, "text/plain", map[string]string{"charset": "us-ascii"}},
		{"nothing", ``, "", map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := entity.ParseValue(c.value)
			if v.Word != c.word {
				t.Errorf("got %q", v.Word)
			}
			if diff := cmp.Diff(c.parameters, v.Parameters); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilename(t *testing.T) {
	for _, c := range []struct{ name, disposition, typ, want string }{
		{"as it is", `attachment; filename="invoic.edi"`, "", "invoic.edi"},
		{"of the content type, where there is no other", `attachment`, `application/edifact; name=a b.edi`, "a b.edi"},
		{"a path", `attachment; filename="../../etc/cron.d/x"`, "", "x"},
		{"a path of Windows", `attachment; filename="C:\edi\out\a.edi"`, "", "a.edi"},
		{"nothing but a path", `attachment; filename=".."`, "", ""},
		{"words of RFC 2047", `attachment; filename="=?UTF-8?Q?S=C3=BCd?=.edi"`, "", "Süd.edi"},
		{"words of another character set", `attachment; filename="=?windows-1252?Q?=80?=.edi"`, "", "€.edi"},
		{"a path in words of RFC 2047", `attachment; filename="=?UTF-8?Q?..=2F..=2Fa?="`, "", "a"},
		{"bytes of Latin-1", "attachment; filename=\"S\xfcd.edi\"", "", "Süd.edi"},
		{"what is not printable", "attachment; filename=\"a\u202eb\x01.edi\"", "", "ab.edi"},
		{"longer than a label", `attachment; filename="` + strings.Repeat("ü", 300) + `"`, "", strings.Repeat("ü", 200)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := entity.Filename(c.disposition, c.typ); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A field of many folds was once copied for each of them: 60 KB cost 100 MB, and a
// message may have a hundred such headers.
func TestFoldsCostTheirBytes(t *testing.T) {
	header := []byte("A: b\r\n" + strings.Repeat(" c\r\n \t\r\n", 7000) + "D: e\r\n f\r\n\r\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := entity.Parse(header)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if want := "b" + strings.Repeat(" c", 7000); e.Get("A") != want || e.Get("D") != "e f" {
		t.Errorf("got %.20q, %d characters, and %q", e.Get("A"), len(e.Get("A")), e.Get("D"))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes of memory for a header of %d", n, len(header))
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, boundary, body string
		parts                []string
		open                 bool
	}{
		{"two parts", "b", "--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n", []string{"\r\none", "\r\ntwo"}, false},
		{"a preamble and an epilogue", "b", "Date: today\r\n\r\n--b\r\n\r\none\r\n--b--\r\n\r\n\r\n", []string{"\r\none"}, false},
		{"line ends that belong to the part stay", "b", "--b\r\n\r\none\r\n\r\n--b--", []string{"\r\none\r\n"}, false},
		{"LF alone", "b", "--b\n\none\n--b\n\ntwo\n--b--\n", []string{"\none", "\ntwo"}, false},
		{"LF in the part, CRLF before the boundary", "b", "--b\r\nA: b\r\n\r\none\ntwo\n\r\n--b--\r\n", []string{"A: b\r\n\r\none\ntwo\n"}, false},
		{"blanks behind the boundary", "b", "--b  \r\n\r\none\r\n--b-- \t\r\n", []string{"\r\none"}, false},
		{"the boundary in the middle of a line", "b", "--b\r\n\r\nx--b\r\n--b--", []string{"\r\nx--b"}, false},
		{"an inner boundary that begins like the outer one", "b", "--b\r\n\r\n--bb\r\nx\r\n--bb--\r\n--b--", []string{"\r\n--bb\r\nx\r\n--bb--"}, false},
		{"a boundary of odd characters", "=_?:'()+,-./ x", "--=_?:'()+,-./ x\r\n\r\none\r\n--=_?:'()+,-./ x--", []string{"\r\none"}, false},
		{"an empty part", "b", "--b\r\n--b--\r\n", []string{""}, false},
		{"no last boundary", "b", "--b\r\n\r\none\r\n--b\r\n\r\ntwo", []string{"\r\none", "\r\ntwo"}, true},
		{"cut off in the last line end", "b", "--b\r\n\r\none\r\n--b--\r", []string{"\r\none"}, false},
		{"something behind a carriage return is no line end", "b", "--b\r\n\r\none\r\n--b--\rtwo", []string{"\r\none\r\n--b--\rtwo"}, true},
		{"NUL bytes in a part", "b", "--b\r\n\r\n\x00\r\x00\n\x00\r\n--b--", []string{"\r\n\x00\r\x00\n\x00"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := entity.Split([]byte(c.body), c.boundary)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range m.Parts {
				got = append(got, string(p.Raw))
			}
			if diff := cmp.Diff(c.parts, got); diff != "" {
				t.Error(diff)
			}
			if m.Closed == c.open {
				t.Errorf("closed: %v", m.Closed)
			}
		})
	}
	t.Run("the boundary does not stand there", func(t *testing.T) {
		for _, body := range []string{"", "one", "--a\r\n", "--b"[:2]} {
			if _, err := entity.Split([]byte(body), "b"); !errors.Is(err, entity.ErrBoundary) {
				t.Errorf("%q: %v", body, err)
			}
		}
		if _, err := entity.Split([]byte("--\r\n"), ""); !errors.Is(err, entity.ErrBoundary) {
			t.Error("an empty boundary is one")
		}
	})
	t.Run("parts are bounded", func(t *testing.T) {
		if _, err := entity.Split([]byte(strings.Repeat("--b\r\n", 300)), "b"); !errors.Is(err, entity.ErrParts) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ encoding, body, want string }{
		{"", "a=3D\r\n", "a=3D\r\n"},
		{"binary", "\x00\xff", "\x00\xff"},
		{"8BIT", "ü", "ü"},
		{"base64", "VU5C\r\nJw==\r\n", "UNB'"},
		{" Base64 ; x", "VU5CJw", "UNB'"},
		{"quoted-printable", strings.Repeat("UNB=2BA'", 10_000) + "=\r\n'", strings.Repeat("UNB+A'", 10_000) + "'"},
		{"quoted-printable", "UNB=2B=\r\nA=\n'\r\n", "UNB+A'\r\n"},
	} {
		got, err := entity.Decode(c.encoding, []byte(c.body))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.encoding, got, err)
		}
	}
	for _, c := range [][2]string{{"base64", "VU5C!"}, {"base64", "V"}, {"uuencode", "x"}, {"quoted-printable", "a=\x00"}} {
		if _, err := entity.Decode(c[0], []byte(c[1])); !errors.Is(err, entity.ErrEncoding) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("--b\r\nA: c\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n"), "b")
	f.Add([]byte("x\n--b \n\none\n--b--"), "b")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		m, err := entity.Split(body, boundary)
		if err != nil {
			return
		}
		// Parts stand in the body, in order, each behind a boundary and before one.
		delimiter := "--" + strings.TrimRight(boundary, " ")
		at := 0
		for i, p := range m.Parts {
			for at <= len(body) && !bytes.HasPrefix(body[at:], []byte(delimiter)) {
				at++
			}
			at += len(delimiter)
			found := bytes.Index(body[min(at, len(body)):], p.Raw)
			if found < 0 {
				t.Fatalf("part %d is not in the body", i)
			}
			at += found + len(p.Raw)
			if len(p.Body) > len(p.Raw) || !bytes.HasSuffix(p.Raw, p.Body) {
				t.Fatalf("the body of part %d is not its end", i)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("Content-Type: a/b;\r\n name=\"=?utf-8?q?x?=\"\r\nContent-Transfer-Encoding: base64\r\n\r\nVU5CJw=="))
	f.Add([]byte("UNA:+.? '"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := entity.Parse(raw)
		if err != nil {
			return
		}
		if !bytes.Equal(e.Raw, raw) || !bytes.HasSuffix(raw, e.Body) {
			t.Fatal("bytes were changed")
		}
		name := e.Filename()
		if strings.ContainsAny(name, "/\x00\n") || name == ".." || len([]rune(name)) > 200 {
			t.Fatalf("file name %q", name)
		}
		if body, err := e.Decoded(); err == nil && len(body) > len(e.Body) {
			t.Fatalf("%d bytes became %d", len(e.Body), len(body))
		}
		entity.HasHeader(raw)
		entity.IsBase64(e.Body)
		if m, err := e.Multipart(); (err == nil) != (m != nil) {
			t.Fatalf("%v, %v", m, err)
		}
	})
}

func FuzzParseValue(f *testing.F) {
	f.Add(`multipart/signed; boundary="x"; name*0*=utf-8''a; name*1=b`)
	f.Add(`"a/b; c=\"d\""`)
	f.Fuzz(func(t *testing.T, s string) {
		v := entity.ParseValue(s)
		if strings.ToLower(v.Word) != v.Word {
			t.Fatalf("%q", v.Word)
		}
		// What was read can be written and read again.
		text := v.Word
		for name, value := range v.Parameters {
			if strings.ContainsAny(name, "*\"=; \t") || value == "" || !strings.HasPrefix(value, strings.Trim(value, `" `)) {
				return
			}
			text += "; " + name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		if strings.ContainsAny(v.Word, `"`) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		v.Doubt = "" // what it was is settled in writing
		if diff := cmp.Diff(v, entity.ParseValue(text)); diff != "" {
			t.Fatalf("%q written as %q:\n%s", s, text, diff)
		}
	})
}
