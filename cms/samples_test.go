package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where sample messages of AS2 stand, beside the repository.
const (
	samples = "../../shared/samples/as2/generated/cms"
	others  = "../../shared/samples/as2/phase2/mdn"
)

func sample(t *testing.T, name string) []byte { return read(t, samples, name) }

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	if _, err := os.Stat("../../shared"); errors.Is(err, os.ErrNotExist) {
		t.Skip("shared absent")
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pemKey reads a private key and pemCertificate a certificate as openssl writes
// them.
func pemKey(t *testing.T, text []byte) crypto.PrivateKey {
	t.Helper()
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pemCertificate(t *testing.T, text []byte) *Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	c, err := ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSamplesVerify(t *testing.T) {
	content := sample(t, "p.mime")
	signer, elliptic := pemCertificate(t, sample(t, "s.crt")), pemCertificate(t, sample(t, "e.crt"))
	old := Policy{Old: []crypto.Hash{crypto.MD5, crypto.SHA1, crypto.SHA224}}
	for _, c := range []struct {
		name   string
		scheme Scheme
		hash   crypto.Hash
		policy Policy
	}{
		{"sig-md5", RSAPKCS1, crypto.MD5, old},
		{"sig-sha1", RSAPKCS1, crypto.SHA1, old},
		{"sig-sha224", RSAPKCS1, crypto.SHA224, old},
		{"sig-sha256", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-sha384", RSAPKCS1, crypto.SHA384, Policy{}},
		{"sig-sha512", RSAPKCS1, crypto.SHA512, Policy{}},
		{"sig-pss", RSAPSS, crypto.SHA256, Policy{}},
		{"sig-ecdsa", ECDSA, crypto.SHA256, Policy{}},
		{"sig-noattr", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-nocerts", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-keyid", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-opaque", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-opaque-ber", RSAPKCS1, crypto.SHA256, Policy{}},
		{"sig-smime", RSAPKCS1, crypto.SHA256, Policy{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSigned(sample(t, c.name+".der"), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			detached := InMemory(content)
			if s.Content != nil {
				if detached = nil; !bytes.Equal(s.Content.Bytes(), content) {
					t.Errorf("its content is %q", s.Content.Bytes())
				}
			}
			v, err := s.Verify(detached, []*Certificate{elliptic, signer}, c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if v.Scheme != c.scheme || v.Hash != c.hash || v.Matched != ByIdentifier {
				t.Errorf("verified by %s with %s, found by %s", v.Scheme, v.Hash, v.Matched)
			}
		})
	}
}

func TestSamplesDecrypt(t *testing.T) {
	content := sample(t, "p.mime")
	keys := []Key{
		{pemCertificate(t, sample(t, "r.crt")), pemKey(t, sample(t, "r.key"))},
		{pemCertificate(t, sample(t, "e.crt")), pemKey(t, sample(t, "e.key"))},
	}
	for _, c := range []struct {
		name       string
		encryption Encryption
		key        KeyEncryption
	}{
		{"enc-des3", TripleDES, KeyRSAPKCS1},
		{"enc-des-ede3-cbc", TripleDES, KeyRSAPKCS1},
		{"enc-aes128", AES128CBC, KeyRSAPKCS1},
		{"enc-aes192", AES192CBC, KeyRSAPKCS1},
		{"enc-aes256", AES256CBC, KeyRSAPKCS1},
		{"enc-aes-128-gcm", AES128GCM, KeyRSAPKCS1},
		{"enc-aes-256-gcm", AES256GCM, KeyRSAPKCS1},
		{"enc-oaep", AES256CBC, KeyRSAOAEP},
		{"enc-oaep256", AES256CBC, KeyRSAOAEP},
		{"enc-gcm-oaep256", AES256GCM, KeyRSAOAEP},
		{"enc-ec", AES256CBC, KeyECDH},
		{"enc-ec-gcm", AES256GCM, KeyECDH},
		{"enc-ec-kdf256", AES256CBC, KeyECDH},
		{"enc-ec-des3", TripleDES, KeyECDH},
		{"enc-ec-keyid", AES128CBC, KeyECDH},
		{"enc-keyid", AES256CBC, KeyRSAPKCS1},
		{"enc-two", AES256CBC, KeyRSAPKCS1},
		{"enc-ber", AES256CBC, KeyRSAPKCS1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := ParseEnveloped(sample(t, c.name+".der"), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := e.Decrypt(keys)
			if err != nil {
				t.Fatalf("%v: %s", err, Detail(err))
			}
			if !bytes.Equal(d.Content, content) || d.Encryption != c.encryption || d.Key != c.key {
				t.Errorf("%s by %s: %.80q", d.Encryption, d.Key, d.Content)
			}
		})
	}
	for name, cipher := range map[string]string{"enc-des": "DES", "enc-camellia128": "Camellia-128", "enc-rc2-40": "RC2"} {
		t.Run(name+" is refused by its name", func(t *testing.T) {
			_, err := ParseEnveloped(sample(t, name+".der"), Limits{})
			if !errors.Is(err, ErrUnsupported) || !strings.HasSuffix(err.Error(), "the content encryption "+cipher) {
				t.Error(err)
			}
		})
	}
}

func TestSamplesDecompress(t *testing.T) {
	content := sample(t, "p.mime")
	for _, name := range []string{"comp-der.der", "comp-ber.der"} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseCompressed(sample(t, name), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Decompress(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(content), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two signatures of MDNs from the field, neither of which verifies: the line ends of
// one were changed, and the other was taken for text in UTF-8.
func TestSamplesOfTheField(t *testing.T) {
	t.Run("signed by its certificate, over what it was once", func(t *testing.T) {
		_, rest, _ := bytes.Cut(read(t, others, "20190925-david.payload"), []byte("S/MIME Cryptographic Signature"))
		text, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte("\n--"))
		der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(text), nil)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSigned(der, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		who := pemCertificate(t, read(t, others, "20190925-david.pem"))
		_, err = s.Verify(InMemory([]byte("something else")), []*Certificate{who}, Policy{Old: []crypto.Hash{crypto.SHA1}})
		if !errors.Is(err, ErrDigest) {
			t.Error(err)
		}
	})
	t.Run("spoilt", func(t *testing.T) {
		_, rest, _ := bytes.Cut(read(t, others, "4af6f84c-d882-4466-8e0c-305a7fbe37b3.payload"), []byte("EDIINTSIG.p7s\r\n\r\n"))
		if _, err := ParseSigned(rest, Limits{}); !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	})
}
