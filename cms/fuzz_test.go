package cms

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"testing"
)

// seeds adds a message of every kind that read takes, in every style.
func seeds(f *testing.F, kinds ...Kind) {
	f.Helper()
	for _, one := range forms(f) {
		for _, kind := range kinds {
			if KindOf(one.der) != kind {
				continue
			}
			for _, s := range berStyles {
				f.Add(s.write(f, one.der))
			}
		}
	}
}

// pieced checks that an Octets is as long as it says, whichever way it is read.
func pieced(t *testing.T, o Octets) {
	t.Helper()
	var written bytes.Buffer
	if err := o.Write(&written); err != nil {
		t.Fatal(err)
	}
	if written.Len() != o.Size() || !bytes.Equal(written.Bytes(), o.Bytes()) {
		t.Fatalf("of %d bytes %d are written, %d given", o.Size(), written.Len(), len(o.Bytes()))
	}
}

// FuzzSigned reads and verifies: nothing is verified that was never signed.
func FuzzSigned(f *testing.F) {
	seeds(f, SignedData)
	genuine := forms(f)[0].content // all that the keys beside ever signed
	var candidates []*Certificate
	for _, name := range []string{"rsa", "p256", "ed25519"} {
		candidates = append(candidates, testKey(f, name).Certificate)
	}
	all := Policy{Old: []crypto.Hash{crypto.MD5, crypto.SHA1, crypto.SHA224, crypto.SHA512_224, crypto.SHA3_224}}
	f.Fuzz(func(t *testing.T, der []byte) {
		before := bytes.Clone(der)
		s, err := ParseSigned(der, Limits{})
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		content := InMemory(genuine)
		if s.Content != nil {
			pieced(t, *s.Content)
			content = nil
		}
		for _, c := range s.Certificates {
			if c.PublicKey == nil == (c.KeyError == nil) {
				t.Fatalf("%s: key %v, %v", c, c.PublicKey, c.KeyError)
			}
		}
		for i, of := range [][]*Certificate{candidates, s.Certificates, nil} {
			v, err := s.Verify(content, of, all)
			if err == nil && i == 0 && content == nil && !bytes.Equal(s.Content.Bytes(), genuine) {
				t.Fatalf("%s signed %q", v.Certificate, s.Content.Bytes())
			}
			switch {
			case err != nil && !known(err):
				t.Fatal(err)
			case err == nil && v.Certificate == nil:
				t.Fatal("verified by nobody")
			}
		}
		if content != nil {
			if v, err := s.Verify(InMemory([]byte("UNB+UNOC:3")), candidates, all); err == nil {
				t.Fatalf("%s signed what it did not", v.Certificate)
			}
		}
		if !bytes.Equal(der, before) {
			t.Fatal("the message was changed")
		}
	})
}

// FuzzEnveloped reads and decrypts: what is authenticated comes out as it was, and of
// what fails nothing is told.
func FuzzEnveloped(f *testing.F) {
	seeds(f, EnvelopedData, AuthEnvelopedData)
	genuine := forms(f)[0].content
	keys := []Key{testKey(f, "rsa"), testKey(f, "p256")}
	f.Fuzz(func(t *testing.T, der []byte) {
		e, err := ParseEnveloped(der, Limits{})
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		pieced(t, e.content)
		d, err := e.Decrypt(keys)
		switch {
		case err == nil && e.Encryption.Authenticates() && !bytes.Equal(d.Content, genuine):
			t.Fatalf("%q was never encrypted", d.Content)
		case err == nil && len(d.Content) > e.Size:
			t.Fatalf("%d bytes became %d", e.Size, len(d.Content))
		case err != nil && (!errors.Is(err, ErrDecrypt) || fmt.Sprintf("%v %#v", err, err) != "cannot be decrypted cannot be decrypted"):
			t.Fatalf("%#v", err)
		case err != nil && Detail(err) == "":
			t.Fatal("nothing is said for the log")
		}
	})
}

func FuzzCompressed(f *testing.F) {
	seeds(f, CompressedData)
	const most = 1 << 16
	f.Fuzz(func(t *testing.T, der []byte) {
		c, err := ParseCompressed(der, Limits{})
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		pieced(t, c.content)
		content, err := c.Decompress(most)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		if len(content) > most {
			t.Fatalf("%d bytes came out", len(content))
		}
		again, err := Compress(content)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = ParseCompressed(again, Limits{}); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Decompress(most); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("written back it is %q, %v", got, err)
		}
	})
}

func FuzzCertificate(f *testing.F) {
	for _, name := range []string{"rsa", "p256", "ed25519"} {
		for _, s := range berStyles {
			f.Add(s.write(f, testKey(f, name).Certificate.Raw))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCertificate(text)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		if c.PublicKey == nil == (c.KeyError == nil) {
			t.Fatalf("key %v, %v", c.PublicKey, c.KeyError)
		}
		if !c.issued(c.Issuer, c.Serial) || !c.named(nil, nil, append([]byte{}, c.keyIdentifier()...)) || !c.sameKey(c) {
			t.Fatalf("%s is not itself", c)
		}
		if x := c.X509(); !bytes.Equal(x.Raw, c.Raw) || x.SerialNumber == nil {
			t.Fatalf("as crypto/x509 has it, it is %v", x)
		}
		again, err := ParseCertificate(c.Raw)
		if err != nil || again.String() != c.String() {
			t.Fatalf("%s, read again %s, %v", c, again, err)
		}
	})
}
