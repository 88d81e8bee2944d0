package cms_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/edigw/edigw/cms"
)

// The openssl of most systems is built without zlib, and does not compress; its reader and
// writer of ASN.1 are there all the same.
func TestOpensslReadsWhatIsCompressed(t *testing.T) {
	dir := t.TempDir()
	asn1parse := func(args ...string) []byte {
		t.Helper()
		out, err := exec.Command("openssl", append([]string{"asn1parse", "-inform", "DER"}, args...)...).Output()
		if err != nil {
			t.Fatalf("openssl asn1parse %q: %v", args, err)
		}
		return out
	}
	t.Run("of ours it reads the structure, and in its octets is the content", func(t *testing.T) {
		der, err := cms.Compress(message)
		if err != nil {
			t.Fatal(err)
		}
		path := write(t, dir, "compressed", der)
		found := regexp.MustCompile(`(?s):id-smime-ct-compressedData\n.*INTEGER +:00\n.*:zlib compression\n.*:pkcs7-data\n[^\n]*cont \[ 0 \][^\n]*\n +(\d+):d=\d+ +hl=\d+ l= *(\d+) prim: OCTET STRING`).FindSubmatch(asn1parse("-in", path))
		if found == nil {
			t.Fatalf("openssl reads\n%s", asn1parse("-in", path))
		}
		octets := filepath.Join(dir, "octets")
		asn1parse("-in", path, "-offset", string(found[1]), "-length", fmt.Sprint(len(der)), "-noout", "-out", octets)
		element, err := os.ReadFile(octets)
		if err != nil {
			t.Fatal(err)
		}
		var size int
		if _, err := fmt.Sscan(string(found[2]), &size); err != nil {
			t.Fatal(err)
		}
		z, err := zlib.NewReader(bytes.NewReader(element[len(element)-size:]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, message) {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("what it writes we read", func(t *testing.T) {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		if _, err := w.Write(message); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		description := write(t, dir, "description", fmt.Appendf(nil, `asn1=SEQUENCE:info
[info]
type=OID:1.2.840.113549.1.9.16.1.9
content=EXPLICIT:0,SEQUENCE:compressed
[compressed]
version=INTEGER:0
algorithm=SEQUENCE:zlib
inner=SEQUENCE:inner
[zlib]
id=OID:1.2.840.113549.1.9.16.3.8
[inner]
type=OID:1.2.840.113549.1.7.1
content=EXPLICIT:0,FORMAT:HEX,OCTETSTRING:%x
`, packed.Bytes()))
		path := filepath.Join(dir, "theirs")
		asn1parse("-genconf", description, "-noout", "-out", path)
		der, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cms.ParseCompressed(der, cms.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Decompress(1 << 20); err != nil || !bytes.Equal(got, message) || c.Type != cms.Data {
			t.Errorf("%q, %v", got, err)
		}
	})
}
