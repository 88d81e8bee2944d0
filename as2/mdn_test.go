package as2

import (
	"bytes"
	"crypto"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"encoding/pem"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func given() MDN {
	return MDN{From: Name{"TALQUIST-AS2", "TALQUIST-AS2"}, To: Name{`Nordhafen "Port" AS2`, `"Nordhafen \"Port\" AS2"`}, Original: "<a@b>", Disposition: processed,
		MIC: MIC{[]byte{1, 2, 3}, "SHA1"}, Text: "The message was received."}
}

// answered is a rendered MDN as HTTP brings it.
func answered(r gateway.Rendered) *entity.Entity {
	return &entity.Entity{Body: bytes.Clone(r.Body), Fields: []entity.Field{{Name: "Content-Type", Value: r.ContentType}}}
}

func TestMDN(t *testing.T) {
	t.Run("an unsigned one, byte for byte", func(t *testing.T) {
		m := given()
		m.Disposition = Disposition{"processed", "error: unexpected-processing-error"}
		m.Errors = []string{"The segment BGM is missing.\r\nSend it – again."}
		r, err := m.Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		boundary := entity.ParseValue(r.ContentType).Get("boundary")
		want := strings.ReplaceAll(strings.ReplaceAll(`--B
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: 7bit

The message was received.

The segment BGM is missing.  Send it ? again.

--B
Content-Type: message/disposition-notification
Content-Transfer-Encoding: 7bit

Reporting-UA: edigw
Original-Recipient: rfc822; "Nordhafen \"Port\" AS2"
Final-Recipient: rfc822; "Nordhafen \"Port\" AS2"
Original-Message-ID: <a@b>
Disposition: automatic-action/MDN-sent-automatically; processed/error: unexpected-processing-error
Error: The segment BGM is missing.  Send it ? again.
Received-content-MIC: AQID, SHA1

--B--
`, "\n", "\r\n"), "B\r\n", boundary+"\r\n")
		want = strings.Replace(want, "--B--", "--"+boundary+"--", 1)
		if diff := cmp.Diff(want, string(r.Body)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]any{200, `multipart/report; report-type=disposition-notification; boundary="` + boundary + `"`}, []any{r.Status, r.ContentType}); diff != "" {
			t.Error(diff)
		}
		id := r.Fields[3].Value
		if diff := cmp.Diff("AS2-Version: 1.2\nAS2-From: \"Nordhafen \\\"Port\\\" AS2\"\nAS2-To: TALQUIST-AS2\nMessage-ID: "+id+
			"\nMIME-Version: 1.0\nSubject: Message Disposition Notification\nEDIINT-Features: multiple-attachments, AS2-Reliability\n", r.Fields.String()); diff != "" {
			t.Error(diff)
		}
		again, err := m.Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("made again it is another:\n%s", diff)
		}
	})
	for name, c := range map[string]struct {
		disposition Disposition
		line, want  string
	}{
		"processed":               {processed, "", "Disposition: automatic-action/MDN-sent-automatically; processed\r\n"},
		"a failure has its field": {Disposition{"failed", "failure: unsupported format"}, "Failure: It went wrong.", "Disposition: automatic-action/MDN-sent-automatically; failed/failure: unsupported format\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := given()
			m.Disposition, m.Errors = c.disposition, []string{"It went wrong."}
			r, err := m.Render(nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(r.Body, []byte(c.want)) || c.line != "" && !bytes.Contains(r.Body, []byte(c.line)) || c.line == "" && bytes.Contains(r.Body, []byte("Error:")) {
				t.Errorf("got %s", r.Body)
			}
		})
	}
	t.Run("lines are short, end in CRLF, and no field is folded, whatever is in it", func(t *testing.T) {
		m := given()
		m.Text = strings.Repeat("word ", 300) + strings.Repeat("x", 3000)
		m.Errors = []string{strings.Repeat("ü", 3000), strings.Repeat("a b", 1000)}
		m.Disposition.Modifier = "error: unexpected-processing-error"
		m.MIC = MIC{bytes.Repeat([]byte{7}, 64), "sha-512"}
		r, err := m.Render(nil)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(r.Body) {
			if len(line) > 998+1100 || !bytes.HasSuffix(line, []byte("\r\n")) || line[0] == ' ' || line[0] == '\t' {
				t.Errorf("%d bytes: %.60q", len(line), line)
			}
		}
		if !bytes.Contains(r.Body, []byte("Received-content-MIC: "+m.MIC.String()+"\r\n")) {
			t.Error("the check is not on one line")
		}
	})
	t.Run("a signed one is verified, and says the same", func(t *testing.T) {
		for name, c := range map[string]*pair{"RSA": known().us, "ECDSA": known().curve} {
			r, err := given().Render(signature(c))
			if err != nil {
				t.Fatal(err)
			}
			o := opener(rules(func(p *partners.Partner) { p.Certificates = []*partners.Certificate{certificate("us", c)} }))
			m, err := o.Open(answered(r), Wanted{})
			if err != nil || !m.Signed || m.Report == nil {
				t.Fatalf("%s: %+v, %v", name, m, err)
			}
			n, err := ParseReport(m.Report)
			if err != nil {
				t.Fatal(err)
			}
			want := &Notification{Original: "<a@b>", Disposition: processed, MIC: given().MIC, Reporter: "edigw", Text: "The message was received."}
			if fmt.Sprintf("%+v", want) != fmt.Sprintf("%+v", n) {
				t.Errorf("got %+v", n)
			}
		}
	})
	t.Run("openssl verifies it", func(t *testing.T) {
		r, err := given().Render(signature(known().us))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file := func(name string, text []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		message := file("mdn.eml", append([]byte("MIME-Version: 1.0\r\nContent-Type: "+r.ContentType+"\r\n\r\n"), r.Body...))
		cert := file("us.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: known().us.x509.Raw}))
		out, err := exec.Command("openssl", "cms", "-verify", "-inform", "SMIME", "-in", message, "-certfile", cert, "-nointern", "-noverify").CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("Original-Message-ID: <a@b>")) {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func TestParseDisposition(t *testing.T) {
	for value, want := range map[string]Disposition{
		"automatic-action/MDN-sent-automatically; processed":                                        {"processed", ""},
		"automatic-action/MDN-sent-automatically;processed":                                         {"processed", ""},
		"Automatic-Action/mdn-sent-automatically;\tProcessed/Warning: Duplicate-Document":           {"processed", "warning: duplicate-document"},
		"automatic-action/MDN-sent-automatically; processed/error: decryption-failed":               {"processed", "error: decryption-failed"},
		"automatic-action/MDN-sent-automatically; processed/error:decryption-failed":                {"processed", "error: decryption-failed"},
		"automatic-action/MDN-sent-automatically; processed/Error : unexpected-processing-error, x": {"processed", "error: unexpected-processing-error, x"},
		"automatic-action/MDN-sent-automatically; failed/Failure: unsupported format":               {"failed", "failure: unsupported format"},
		"automatic-action/MDN-sent-automatically; error: authentication-failed":                     {"processed", "error: authentication-failed"},
		"manual-action/MDN-sent-manually; displayed":                                                {"processed", ""},
		"processed": {"processed", ""},
	} {
		d, err := ParseDisposition(value)
		if err != nil || d != want {
			t.Errorf("%s: %+v, %v", value, d, err)
		}
	}
	for _, value := range []string{"", "automatic-action/MDN-sent-automatically", "x; y"} {
		if d, err := ParseDisposition(value); err == nil {
			t.Errorf("%q: %+v", value, d)
		}
	}
	for d, want := range map[Disposition]bool{processed: true, {"processed", "warning: duplicate-document"}: true, {"processed", "error: x"}: false, {"failed", "failure: x"}: false, {"failed", ""}: false} {
		if d.Positive() != want {
			t.Errorf("%+v", d)
		}
		if again, err := ParseDisposition(d.String()); err != nil || again != d {
			t.Errorf("%+v became %+v, %v", d, again, err)
		}
	}
}

func TestParseReport(t *testing.T) {
	report := func(parts ...string) *entity.Entity {
		body := "before\r\n"
		for _, p := range parts {
			body += "--b\r\n" + strings.ReplaceAll(p, "\n", "\r\n") + "\r\n"
		}
		return received(Composed{ContentType: "multipart/report; boundary=b", Body: []byte(body + "--b--\r\n")})
	}
	const text = "Content-Type: text/plain\n\nThank you.\n"
	for name, c := range map[string]*entity.Entity{
		"as RFC 4130 has it":                  report(text, "Content-Type: message/disposition-notification\n\nReporting-UA: x\nOriginal-Message-ID: <a@b>\nDisposition: automatic-action/MDN-sent-automatically; processed\nReceived-content-MIC: AQID, sha1\n"),
		"the other way round, and upper case": report("Content-Type: MESSAGE/Disposition-Notification\n\nREPORTING-UA: x\nORIGINAL-MESSAGE-ID: <a@b>\nDISPOSITION: automatic-action/MDN-sent-automatically;processed\nRECEIVED-CONTENT-MIC: AQID,SHA-1\n", text),
		"a blank line before the fields":      report(text, "Content-Type: message/disposition-notification\n\n\nReporting-UA: x\nOriginal-Message-ID: <a@b>\nDisposition: automatic-action/MDN-sent-automatically; processed\nReceived-content-MIC: AQID, sha1\n"),
		"folded fields":                       report(text, "Content-Type: message/disposition-notification\n\nReporting-UA: x\nOriginal-Message-ID:\n <a@b>\nDisposition: automatic-action/MDN-sent-automatically;\n processed\nReceived-content-MIC: AQID,\n\tsha1\n"),
		"in base64":                           report(text, "Content-Type: message/disposition-notification\nContent-Transfer-Encoding: base64\n\n"+lines([]byte("Reporting-UA: x\nOriginal-Message-ID: <a@b>\nDisposition: a/b; processed\nReceived-content-MIC: AQID, sha1\n"))),
		"a copy of the message behind it":     report(text, "Content-Type: message/disposition-notification\n\nReporting-UA: x\nOriginal-Message-ID: <a@b>\nDisposition: automatic-action/MDN-sent-automatically; processed\nReceived-content-MIC: AQID, sha1\n", "Content-Type: text/rfc822-headers\n\nSubject: x\n"),
	} {
		t.Run(name, func(t *testing.T) {
			n, err := ParseReport(c)
			if err != nil {
				t.Fatal(err)
			}
			if !n.Disposition.Positive() || !n.Is("a@b") || !n.MIC.Equal(MIC{[]byte{1, 2, 3}, "sha1"}) || n.Reporter != "x" || n.Text != "Thank you." {
				t.Errorf("got %+v", n)
			}
		})
	}
	for name, c := range map[string]*entity.Entity{"no such part": report(text), "no disposition": report("Content-Type: message/disposition-notification\n\nReporting-UA: x\n"),
		"no boundary": received(Composed{ContentType: "multipart/report", Body: []byte("x")})} {
		t.Run("it is no MDN: "+name, func(t *testing.T) {
			if n, err := ParseReport(c); err == nil {
				t.Errorf("got %+v", n)
			}
		})
	}
}

// TestForeignMDNs reads MDNs of other products.
func TestForeignMDNs(t *testing.T) {
	for _, c := range []struct{ name, file, original, disposition, mic string }{
		{"pyas2lib", "generated/sig.mdn", "<179597939730.31633.5854949290485313956@localhost>", "processed", "R2aEmC3p0FOt3p3N+QojUfhyCaCCRWahRFfJ3IdHe/4=, sha256"},
		{"pyas2lib, of a compressed message", "generated/sec.mdn", "<179597939746.31633.5758367310394999920@localhost>", "processed", "kAFy1p2h9oOoG3epgDsLVGaUFUGOWsRhgmbmIUlI07k=, sha256"},
		{"pyas2lib, of a copy", "generated/sig.dupmdn", "<179597939730.31633.5854949290485313956@localhost>", "processed/warning: duplicate-document", ""},
		{"phase2, its header in quotation marks", "phase2/mdn/issue97", "<mftas2_07102019213832125_ctm_mft_ctm_mft_dedc08b2181a4553a0996dc5eb258615_mfttest_0>", "processed", "WX3WE/vT631XugOIxrcgSd1YPVo=, sha-1"},
		{"phase2", "phase2/mdn/20190925-david", "", "", ""},
		{"Sterling", "phase2/mdn/4af6f84c-d882-4466-8e0c-305a7fbe37b3", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var raw []byte
			if strings.HasPrefix(c.file, "phase2") {
				raw = append(bytes.TrimSpace(shared(t, "samples/as2/"+c.file+".header")), "\n\n"...)
				raw = append(raw, shared(t, "samples/as2/"+c.file+".payload")...)
			} else {
				raw = shared(t, "samples/as2/"+c.file)
			}
			_, e := request(t, raw)
			report := e
			if e.ContentType().Word == "multipart/signed" {
				m, err := e.Multipart()
				if err != nil || len(m.Parts) != 2 {
					t.Fatal(err)
				}
				report = m.Parts[0]
			}
			n, err := ParseReport(report)
			if err != nil {
				t.Fatal(err)
			}
			if n.Original == "" || n.Disposition.Kind != "processed" {
				t.Errorf("got %+v", n)
			}
			if c.original == "" {
				return
			}
			got := []string{n.Original, strings.TrimPrefix(n.Disposition.String(), "automatic-action/MDN-sent-automatically; "), n.MIC.String()}
			if diff := cmp.Diff([]string{c.original, c.disposition, c.mic}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("pyas2lib's are verified with its certificate", func(t *testing.T) {
		for _, file := range []string{"sig.mdn", "sec.mdn", "sig.dupmdn", "sec.dupmdn"} {
			c := shared(t, "samples/as2/generated/pyas2-key.crt")
			h, e := request(t, shared(t, "samples/as2/generated/"+file))
			m, err := sampleOpener(t, c, nil, nil).Open(e, wantedOf(h))
			if err != nil || !m.Signed || m.Report == nil || m.Hash == crypto.SHA1 {
				t.Errorf("%s: %+v, %v", file, m, err)
			}
		}
	})
}

func FuzzParseReport(f *testing.F) {
	r, err := given().Render(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.ContentType, r.Body)
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		n, err := ParseReport(received(Composed{ContentType: contentType, Body: body}))
		if err == nil && n.Disposition.Kind != "processed" && n.Disposition.Kind != "failed" {
			t.Fatalf("%+v", n)
		}
	})
}
