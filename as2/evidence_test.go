package as2

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// whole puts an exhibit together with the payload's bytes that stand in it.
func whole(t *testing.T, x gateway.Exhibit, payload string) []byte {
	t.Helper()
	rest, err := io.ReadAll(x.Body.Reader(0, x.Body.Size()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range x.Stretches {
		rest = bytes.Join([][]byte{rest[:s.At], []byte(payload)[s.Offset : s.Offset+s.Length], rest[s.At:]}, nil)
	}
	return rest
}

// Whoever is shown the evidence has openssl, and the command that stands in its README.
func TestEvidenceIsVerifiedByOpenssl(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "web", "evidence_signatures.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := known()
	signed := func(p *pair, content Composed) Composed {
		c, err := sign(*signature(p), content.bytes())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	odd := Composed{ContentType: "application/octet-stream", Encoding: "binary", Body: []byte("UNB+UNOC:3+A+B\r\n+1'\n\x00\xff\x1a\r\rUNZ+0+1'\n")}
	opaque := func(content []byte) []byte {
		der, err := signature(all.partner).SignAttached(content)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	for _, c := range []struct {
		name string
		send Composed
	}{
		{"signed", signed(all.partner, edifact)},
		{"of any bytes", signed(all.partner, odd)},
		{"compressed inside", func() Composed {
			c, _ := wrap(t, Wrapping{Compress: true, Signature: signature(all.partner)}, edifact, 0)
			return c
		}()},
		{"compressed around it", func() Composed {
			c, _ := wrap(t, Wrapping{Compress: true, CompressAfter: true, Signature: signature(all.partner)}, edifact, 0)
			return c
		}()},
		{"encrypted around it", func() Composed {
			c, _ := wrap(t, Wrapping{Signature: signature(all.partner), Envelope: envelope(all.us)}, odd, 0)
			return c
		}()},
		{"by a curve", signed(all.curve, edifact)},
		{"by a successor of the certificate, with the same key", signed(all.renewed, edifact)},
		{"kept with LF somewhere, and signed with CRLF", func() Composed {
			c := signed(all.partner, Composed{ContentType: "application/EDIFACT", Body: []byte("UNB+UNOC:3+A+B+1'\r\nUNZ+0+1'\r\n")})
			c.Body = bytes.ReplaceAll(c.Body, []byte("\r\n"), []byte("\n"))
			return c
		}()},
		{"the signature in DER", func() Composed {
			c := signed(all.partner, odd)
			at, end := bytes.Index(c.Body, []byte("MII")), bytes.LastIndex(c.Body, []byte("\r\n--"))
			der, err := entity.Decode("base64", c.Body[at:end])
			if err != nil {
				t.Fatal(err)
			}
			c.Body = bytes.Join([][]byte{bytes.Replace(c.Body[:at], []byte("Encoding: base64"), []byte("Encoding: binary"), 1), der, c.Body[end:]}, nil)
			return c
		}()},
		{"a SignedData with its content", Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data; name=smime.p7m", Body: opaque(odd.bytes())}},
		{"one in base64", Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data; name=smime.p7m", Encoding: "base64", Body: []byte(lines(opaque(edifact.bytes())))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newIngress(t, func(p *partners.Partner) { p.Certificates[0].PinsKey = true })
			if a := in.send(c.send); a.says() != "200 processed" {
				t.Fatalf("got %s: %s", a.says(), a.body)
			}
			dir := t.TempDir()
			for _, x := range in.got[0].Evidence {
				if err := os.WriteFile(filepath.Join(dir, x.Name), whole(t, x, in.payloads[0]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			kept, form := "signed-entity.eml", []string{"-binary", "-crlfeol", "-inform", "SMIME"}
			switch in.got[0].Evidence[0].Name {
			case "signed-data.p7m":
				kept, form = "signed-data.p7m", []string{"-binary", "-inform", "DER"}
			case "signature.p7s":
				kept, form = "signature.p7s", []string{"-binary", "-inform", "DER", "-content", "signed-content"}
			}
			args := append(append([]string{"cms", "-verify"}, form...), "-in", kept, "-certfile", "certificate.pem", "-nointern", "-noverify", "-out", "content")
			if command := strings.Replace(strings.Join(form, " ")+" -in ", "-content ", `-content " + folder + "`, 1); !bytes.Contains(readme, []byte(`"`+command+`"`)) {
				t.Errorf("the README has no command with %s", command)
			}
			verify := exec.CommandContext(t.Context(), "openssl", args...)
			verify.Dir = dir
			if said, err := verify.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%.1500q", err, said, whole(t, in.got[0].Evidence[0], in.payloads[0]))
			}
			content, err := os.ReadFile(filepath.Join(dir, "content"))
			if err != nil {
				t.Fatal(err)
			}
			if c.name != "compressed inside" && !bytes.Contains(content, []byte(in.payloads[0])) {
				t.Errorf("the content is %q, the payload %q", content, in.payloads[0])
			}
		})
	}
}
