package as2

import (
	"bytes"
	"crypto"
	"net/http"
	"testing"
)

func FuzzOpen(f *testing.F) {
	all := known()
	for _, w := range []Wrapping{
		{}, {Signature: signature(all.curve)}, {Compress: true}, {Envelope: envelope(all.us)},
		{Signature: signature(all.curve), Compress: true, CompressAfter: true, Envelope: envelope(all.us)},
	} {
		c, _, err := w.Wrap(edifact, crypto.SHA256)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.ContentType, c.Encoding, c.Body)
	}
	f.Add("multipart/mixed; boundary=b", "", []byte("--b\r\n\r\nUNB+\r\n--b--\r\n"))
	f.Fuzz(func(t *testing.T, contentType, encoding string, body []byte) {
		h := http.Header{"Content-Type": {contentType}, "Content-Transfer-Encoding": {encoding}}
		was := bytes.Clone(body)
		m, err := opener(rules()).Open(outerEntity(h, body), Wanted{MDN: true, MICs: []string{"sha-256"}})
		if err == nil && !m.Signed && m.Report == nil {
			t.Fatal("what is not signed was taken")
		}
		if err != nil {
			f := faultOf(err)
			if f == nil {
				t.Fatalf("no fault: %v", err)
			}
			if _, ok := reasonNamed(f.Reason); !ok || f.Detail == "" {
				t.Fatalf("a fault without a reason or words: %+v", f)
			}
		}
		if !m.Encrypted && !bytes.Equal(was, body) {
			t.Fatal("a message that was not decrypted was changed")
		}
	})
}

func FuzzOptions(f *testing.F) {
	f.Add("signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=optional, sha1")
	f.Add(";=,;")
	f.Fuzz(func(t *testing.T, text string) {
		w := wantedOf(http.Header{"Disposition-Notification-To": {"x"}, "Disposition-Notification-Options": {text}})
		if h, name := w.mic(); h == 0 || digestNamed(name) != h {
			t.Fatalf("%v %q", h, name)
		}
		if n, err := ParseName(text); err == nil {
			if again, err := ParseName(NameOf(n.Plain).Raw); err != nil || again.Plain != n.Plain {
				t.Fatalf("%q became %q, %v", n.Plain, again.Plain, err)
			}
		}
		if id, ok := ParseMessageID(text); ok && id.Plain == "" {
			t.Fatal("an empty id")
		}
		if m, err := ParseMIC(text); err == nil && !m.Equal(m) {
			t.Fatal("a check that is not itself")
		}
	})
}
