package wssec

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestForms(t *testing.T) {
	for mimeType, want := range map[string]form{
		"text/xml": xmlForm, "Text/XML; charset=utf-8": xmlForm, "application/xml": xmlForm, "application/soap+xml": xmlForm, "image/svg+xml ; x": xmlForm,
		"text/plain": textForm, "text/foo+xml": textForm, "TEXT/EDI": textForm, "text/": textForm,
		"application/gzip": rawForm, "application/EDIFACT": rawForm, "application/xml-dtd": rawForm, "model/x3d+xml": rawForm, "application/octet-stream": rawForm, "": rawForm, "text": rawForm,
	} {
		if got := formOf(mimeType); got != want {
			t.Errorf("%q has form %d, want %d", mimeType, got, want)
		}
	}
}

func TestPartDigests(t *testing.T) {
	for _, c := range []struct{ what, mimeType, text, canonical string }{
		{"XML is canonicalised", "application/xml", "<?xml version='1.0'?>\r\n<!-- x --><a  b='1'\r\n c=\"2\"/>\n<?p q?>", "<a b=\"1\" c=\"2\"></a>\n<?p q?>"},
		{"text has CRLF as line ends", "text/plain", "1\n2\r3\r\n4\n\r5\r\r\n\n", "1\r\n2\r\n3\r\n4\r\n\r\n5\r\n\r\n\r\n"},
		{"anything else is its bytes", "application/octet-stream", "1\n2\r3", ""},
		{"XML in another encoding is UTF-8 when it is canonical", "text/xml; charset=us-ascii", "<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xe4'/>", "<a b=\"ä\"></a>"},
		{"and UTF-16", "application/xml", "\xff\xfe<\x00\xe4\x00/\x00>\x00", "<ä></ä>"},
		{"XML that is not in the encoding it declares is its bytes", "application/xml", "\xff\xfe<\x00a\x00>\x00\x00\xd8", ""},
		{"XML that is none is its bytes", "text/xml", "UNB+UNOC:3'", ""},
		{"XML with a document type is its bytes", "text/xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", ""},
		{"XML that ends in its middle is its bytes", "text/xml", "<a><b></b>", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			raw := sha256.Sum256([]byte(c.text))
			want := [][]byte{raw[:]}
			if c.canonical != "" {
				first := sha256.Sum256([]byte(c.canonical))
				want = [][]byte{first[:], raw[:]}
			}
			for name, in := range map[string]io.Reader{"whole": bytes.NewReader([]byte(c.text)), "in bytes": iotest.OneByteReader(bytes.NewReader([]byte(c.text)))} {
				p := Part{MimeType: c.mimeType, Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}
				got, err := p.digest(crypto.SHA256)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
	t.Run("a part that cannot be read is our fault, not the message's", func(t *testing.T) {
		broken := errors.New("the disk is gone")
		for _, mimeType := range []string{"text/xml", "text/plain", "application/gzip"} {
			p := Part{ContentID: "a@b", MimeType: mimeType, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(bytes.NewReader([]byte("<a>")), iotest.ErrReader(broken))), nil
			}}
			if _, err := p.digest(crypto.SHA256); !errors.Is(err, broken) || ReasonOf(err) != 0 {
				t.Errorf("%s: %v", mimeType, err)
			}
		}
	})
}
