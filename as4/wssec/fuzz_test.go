package wssec_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/wssec"
)

// FuzzEnvelope: no message panics, and none that is not the genuine one verifies: what
// Verify gives back is, in canonical form, what was signed.
//
// The corpus has genuine messages, signed and encrypted by the keys beside it.
func FuzzEnvelope(f *testing.F) {
	signer, recipient := kept(f, "signer"), kept(f, "recipient")
	genuine := map[string]bool{}
	for _, encrypting := range []*wssec.Encrypting{nil, {Recipient: recipient.Certificate}} {
		soap, err := os.ReadFile(filepath.Join("testdata", map[bool]string{false: "signed.xml", true: "encrypted.xml"}[encrypting != nil]))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(soap)
		e, err := wssec.Read(soap)
		if err != nil {
			f.Fatal(err)
		}
		genuine[canonical(f, e)] = true
	}
	parts := []wssec.Part{part("text@example", "text/plain", []byte("UNA:+.? '"))}
	f.Fuzz(func(t *testing.T, soap []byte) {
		e, err := wssec.Read(soap)
		if err != nil {
			if wssec.ReasonOf(err) != wssec.Malformed {
				t.Errorf("%v is no fault of the message", err)
			}
			return
		}
		if _, err := e.SignatureToken(); err != nil && wssec.ReasonOf(err) == 0 {
			t.Errorf("%v is no fault of the message", err)
		}
		_, err = e.Decrypt(parts, wssec.Decryption{Keys: []wssec.DecryptionKey{recipient}, CBC: true})
		if err != nil && wssec.ReasonOf(err) == 0 {
			t.Errorf("%v is no fault of the message", err)
		}
		s, err := e.Verify(parts, wssec.Verification{Signer: wssec.Pinned(signer.Certificate)})
		if err != nil {
			if wssec.ReasonOf(err) == 0 {
				t.Errorf("%v is no fault of the message", err)
			}
			return
		}
		if s.Messaging != e.Messaging || s.Body != e.Body || !genuine[canonical(t, e)] {
			t.Errorf("it verifies and was not signed:\n%s", soap)
		}
	})
}

// canonical is what of an envelope is signed.
func canonical(t testing.TB, e *wssec.Envelope) string {
	t.Helper()
	m, err := c14n.New(c14n.Exclusive, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Element(&b, e.Messaging); err != nil {
		return err.Error()
	}
	if err := m.Element(&b, e.Body); err != nil {
		return err.Error()
	}
	return b.String()
}

// kept is a key of the corpus.
func kept(t testing.TB, name string) wssec.DecryptionKey {
	t.Helper()
	var der [2][]byte
	for i, end := range []string{".key", ".cer"} {
		var err error
		if der[i], err = os.ReadFile(filepath.Join("testdata", name+end)); err != nil {
			t.Fatal(err)
		}
	}
	key, err := x509.ParsePKCS8PrivateKey(der[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der[1])
	if err != nil {
		t.Fatal(err)
	}
	return wssec.DecryptionKey{Key: key.(*ecdsa.PrivateKey), Certificate: c}
}

// TestCorpus writes the messages and keys of FuzzEnvelope with -update, and holds that
// they are read.
func TestCorpus(t *testing.T) {
	if *update {
		for _, name := range []string{"signer", "recipient"} {
			id := of(t, name, "p256")
			der, err := x509.MarshalPKCS8PrivateKey(id.key)
			if err != nil {
				t.Fatal(err)
			}
			write(t, name+".key", der)
			write(t, name+".cer", id.certificate.Raw)
		}
		text := []wssec.Part{part("text@example", "text/plain", []byte("UNA:+.? '"))}
		write(t, "signed.xml", secure(t, text, of(t, "signer", "p256").signing(), nil).SOAP)
		sent := secure(t, text, of(t, "signer", "p256").signing(), &wssec.Encrypting{Recipient: of(t, "recipient", "p256").certificate})
		write(t, "encrypted.xml", sent.SOAP)
		write(t, "encrypted.part", content(t, sent.Parts[0]))
	}
	signer, recipient := kept(t, "signer"), kept(t, "recipient")
	for file, arrived := range map[string][]byte{"signed.xml": []byte("UNA:+.? '"), "encrypted.xml": nil} {
		soap, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		e := read(t, soap)
		if arrived == nil {
			if arrived, err = os.ReadFile("testdata/encrypted.part"); err != nil {
				t.Fatal(err)
			}
		}
		parts, err := e.Decrypt([]wssec.Part{part("text@example", "text/plain", arrived)}, wssec.Decryption{Keys: []wssec.DecryptionKey{recipient}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Verify(parts, wssec.Verification{Signer: wssec.Pinned(signer.Certificate)}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("testdata", name), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
