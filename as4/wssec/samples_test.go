package wssec_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/edigw/edigw/as4/wssec"
)

// sample reads a file of the shared samples, which are never copied.
func sample(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/samples/as4", path))
	if _, there := os.Stat("../../../shared"); os.IsNotExist(there) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message splits a sample into its SOAP part and its other parts. It may begin with
// the headers of HTTP, with a byte order mark, or with the first boundary.
func message(t *testing.T, text []byte) (soap []byte, parts []wssec.Part) {
	t.Helper()
	text = bytes.TrimLeft(text, "\ufeff\r\n ")
	if line, _, _ := bytes.Cut(text, []byte("\n")); !bytes.HasPrefix(line, []byte("--")) && !bytes.HasPrefix(line, []byte("<")) {
		_, text, _ = bytes.Cut(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
		text = bytes.TrimLeft(text, "\n")
	}
	if bytes.HasPrefix(text, []byte("<")) {
		return text, nil
	}
	boundary, _, _ := strings.Cut(string(text[2:]), "\n")
	r := multipart.NewReader(bytes.NewReader(text), strings.TrimSpace(boundary))
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return soap, parts
		}
		if err != nil {
			t.Fatalf("boundary %q: %v", boundary, err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		if soap == nil {
			soap = bytes.TrimSpace(body)
			continue
		}
		parts = append(parts, part(strings.Trim(p.Header.Get("Content-ID"), "<>"), p.Header.Get("Content-Type"), body))
	}
}

func part(id, mimeType string, body []byte) wssec.Part {
	return wssec.Part{ContentID: id, MimeType: mimeType, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(body)), nil
	}}
}

func content(t testing.TB, p wssec.Part) []byte {
	t.Helper()
	in, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	return b
}

func pfx(t *testing.T, path, password string) wssec.DecryptionKey {
	t.Helper()
	key, certificate, _, err := pkcs12.DecodeChain(sample(t, path), password)
	if err != nil {
		t.Fatal(err)
	}
	return wssec.DecryptionKey{Certificate: certificate, Key: key.(*rsa.PrivateKey)}
}

// fate is what becomes of a sample, in one line.
func fate(t *testing.T, text []byte, keys []wssec.DecryptionKey) string {
	t.Helper()
	soap, parts := message(t, text)
	e, err := wssec.Read(soap)
	if err != nil {
		return "malformed: " + err.Error()
	}
	said := ""
	if e.Encrypted() {
		plain, err := e.Decrypt(parts, wssec.Decryption{Keys: keys})
		switch wssec.ReasonOf(err) {
		case 0:
			if err != nil {
				t.Fatal(err)
			}
			parts, said = plain, "decrypted, "
		case wssec.Undecryptable:
			said = "undecryptable, "
			if key, err := e.UnwrapKey(keys, 16); err == nil {
				said = fmt.Sprintf("undecryptable with its key of %d bytes, ", len(key))
			}
		default:
			said = err.Error() + ", "
			if key, err := e.UnwrapKey(keys, 16); err == nil {
				said += fmt.Sprintf("a key of %d bytes, ", len(key))
			}
		}
	}
	// Signers that the samples bring no key of are taken at their word.
	from := "in the message"
	s, err := e.Verify(parts, wssec.Verification{MinRSA: 1024, UnsignedBody: true, Signer: func(token wssec.Token) (*x509.Certificate, error) {
		for _, k := range keys {
			if token.Names(k.Certificate) {
				from = "pinned"
				return k.Certificate, nil
			}
		}
		if token.Certificate == nil {
			return nil, fmt.Errorf("no %v", token)
		}
		return token.Certificate, nil
	}})
	if err != nil {
		if wssec.ReasonOf(err) == 0 {
			t.Fatal(err)
		}
		return said + wssec.ReasonOf(err).String() + ": " + err.Error()
	}
	method := s.Method[strings.LastIndexByte(s.Method, '#')+1:]
	return fmt.Sprintf("%s%s by %s (%s), %d references", said, method, s.Certificate.Subject, from, len(s.References))
}

var update = flag.Bool("update", false, "write what becomes of the samples to testdata/samples.txt")

// TestSamples holds what becomes of every sample; the file was compared by hand with
// the verdicts of an independent check, in INDEX.md beside the samples.
func TestSamples(t *testing.T) {
	keys := []wssec.DecryptionKey{
		pfx(t, "as4net/AccessPointA.pfx", "Pz4cZK4SULUwmraZa"), pfx(t, "as4net/AccessPointB.pfx", "Pz4cZK4SULUwmraZb"),
		pfx(t, "as4net/holodeck-partya-certificate.pfx", "secrets"), pfx(t, "as4net/partyC.p12", "ExampleC"),
	}
	keys = append(keys, jks(t, "domibus/gateway_keystore.jks", "test123")...)
	keys = append(keys, jks(t, "domibus/gateway_keystore2.jks", "test123")...)
	keys = append(keys, jks(t, "phase4/dummy-pw-test.jks", "test")...)
	var got strings.Builder
	for _, folder := range []string{"as4net", "phase4", "phase4/testfiles", "domibus", "oasis/examples/as4receipt"} {
		files, err := os.ReadDir(filepath.Join("../../../shared/samples/as4", folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			switch filepath.Ext(f.Name()) {
			case ".pfx", ".p12", ".cer", ".jks", ".mime", ".xsl":
				continue
			}
			if !f.IsDir() {
				fmt.Fprintf(&got, "%s/%s\n\t%s\n", folder, f.Name(), fate(t, sample(t, folder+"/"+f.Name()), keys))
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/samples.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
