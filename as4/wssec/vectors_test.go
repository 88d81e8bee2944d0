package wssec

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// vector reads a file of xmlsec's own tests, which are never copied.
func vector(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/samples/as4/xmlsec", path))
	if _, there := os.Stat("../../../shared"); os.IsNotExist(there) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func vectorKey(t *testing.T, path string) crypto.PrivateKey {
	t.Helper()
	block, _ := pem.Decode(vector(t, path))
	if block == nil {
		t.Fatalf("%s holds no PEM", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// within gives the first element with the name, in the order of the document.
func within(t *testing.T, e *etree.Element, name infoset.Name) *etree.Element {
	t.Helper()
	var search func(e *etree.Element) *etree.Element
	search = func(e *etree.Element) *etree.Element {
		if infoset.Is(e, name) {
			return e
		}
		for _, c := range e.ChildElements() {
			if found := search(c); found != nil {
				return found
			}
		}
		return nil
	}
	found := search(e)
	if found == nil {
		t.Fatalf("there is no %s", name)
	}
	return found
}

func root(t *testing.T, text []byte) *etree.Element {
	t.Helper()
	doc, err := infoset.Parse(text, infoset.Header)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

// TestVectorsOfEncryption opens what xmlsec encrypted. Its documents name keys by
// ds:KeyName, in whose place stands here what an AS4 message has.
func TestVectorsOfEncryption(t *testing.T) {
	byNumber := `<dsig:X509Data xmlns:dsig="http://www.w3.org/2000/09/xmldsig#"><dsig:X509SKI>AAAA</dsig:X509SKI></dsig:X509Data>`
	for _, c := range []struct{ file, recipient, originator string }{
		{"enc_xdh_x25519_hkdf_sha256_kw_aes256_aes128gcm", "keys-xdh/xdh-x25519-second-key.pem", "keys-xdh/xdh-x25519-first-pubkey.der"},
		{"enc_xdh_x25519_concatkdf_sha256_kw_aes256_aes128gcm", "keys-xdh/xdh-x25519-second-key.pem", "keys-xdh/xdh-x25519-first-pubkey.der"},
		{"enc_ecdh_p256_hkdf_sha256_kw_aes256_aes128gcm", "keys-ec/ec-prime256v1-second-key.pem", "keys-ec/ec-prime256v1-pubkey.der"},
		{"enc_ecdh_p256_concatkdf_sha256_kw_aes256_aes128gcm", "keys-ec/ec-prime256v1-second-key.pem", "keys-ec/ec-prime256v1-pubkey.der"},
		{"enc-aes256-kt-rsa_oaep_sha256", "keys-rsa/rsa-4096-key.pem", ""},
		{"enc-aes256-kt-rsa_oaep_sha256_mgf1_sha256", "keys-rsa/rsa-4096-key.pem", ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := string(vector(t, c.file+".xml"))
			text = strings.ReplaceAll(text, "<dsig:KeyName>recipient-key-name</dsig:KeyName>", byNumber)
			text = strings.ReplaceAll(text, "<ds:KeyName>TestKeyName-rsa-4096</ds:KeyName>", byNumber)
			if c.originator != "" {
				text = strings.ReplaceAll(text, "<dsig:KeyName>originator-key-name</dsig:KeyName>",
					`<d:DEREncodedKeyValue xmlns:d="`+DSIG11+`">`+base64.StdEncoding.EncodeToString(vector(t, c.originator))+`</d:DEREncodedKeyValue>`)
			}
			data := within(t, root(t, []byte(text)), xenc("EncryptedData"))
			method, err := algorithm(data, xenc("EncryptionMethod"))
			if err != nil {
				t.Fatal(err)
			}
			w, err := (&Envelope{}).parseKey(within(t, data, xenc("EncryptedKey")))
			if err != nil {
				t.Fatal(err)
			}
			length := ciphers[method].key
			if strings.Contains(c.file, "concatkdf") { // the key of 32 bytes that is wrapped there is cut to 16
				length = 32
			}
			key, err := w.key([]DecryptionKey{{Key: vectorKey(t, c.recipient)}}, length)
			if err != nil {
				t.Fatal(err)
			}
			key = key[:ciphers[method].key]
			ciphertext, err := cipherValue(data)
			if err != nil {
				t.Fatal(err)
			}
			p := Part{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(ciphertext)), nil }}
			if fault, err := decryptPart(&p, encrypted{method: method}, key); fault != nil || err != nil {
				t.Fatal(fault, err)
			}
			in, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(in)
			if err != nil || len(plain) < 16 || !bytes.Contains(vector(t, c.file+".data"), plain) {
				t.Errorf("%v: %q is not of the document", err, plain)
			}
		})
	}
	t.Run("an EncryptedKey with its mask generation function", func(t *testing.T) {
		e := root(t, vector(t, "../as4net/EncryptedKeyWithMGFSpec.txt"))
		options, err := parseOAEP(within(t, e, xenc("EncryptionMethod")))
		if err != nil || options.Hash != crypto.SHA256 || options.MGFHash != crypto.SHA256 || options.Label != nil {
			t.Errorf("%+v, %v", options, err)
		}
		if value, err := cipherValue(e); err != nil || len(value) != 256 {
			t.Errorf("%d bytes, %v", len(value), err)
		}
	})
	t.Run("enc-aes128gcm-keyname, whose key is not there, has the layout of octets", func(t *testing.T) {
		ciphertext, err := cipherValue(root(t, vector(t, "enc-aes128gcm-keyname.xml")))
		if err != nil || len(ciphertext) != gcmNonce+gcmTag+len(vector(t, "enc-aes128gcm-keyname.data")) {
			t.Errorf("%d bytes, %v", len(ciphertext), err)
		}
		block, err := aes.NewCipher(make([]byte, 16))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := verifyGCM(block, bytes.NewReader(ciphertext)); err != errTag {
			t.Errorf("another key: %v", err)
		}
	})
}

// TestVectorsOfSignature verifies what xmlsec and Baltimore's Merlin signed. They are
// no WS-Security, so that digests and values are verified one by one.
func TestVectorsOfSignature(t *testing.T) {
	for _, file := range []string{"enveloped-sha256-eddsa-ed25519.xml", "enveloping-sha256-eddsa-ed25519-der-encoded-key-value.xml"} {
		t.Run(file, func(t *testing.T) {
			certificate, err := x509.ParseCertificate(vector(t, "keys-eddsa/eddsa-ed25519-cert.der"))
			if err != nil {
				t.Fatal(err)
			}
			signature := within(t, root(t, vector(t, file)), ds("Signature"))
			message, err := canonical(within(t, signature, ds("SignedInfo")), c14n.Inclusive)
			if err != nil {
				t.Fatal(err)
			}
			value, err := decoded(within(t, signature, ds("SignatureValue")))
			if err != nil {
				t.Fatal(err)
			}
			if err := verifyValue(EdDSAEd25519, certificate, MinRSA, message, value); err != nil {
				t.Error(err)
			}
			if err := verifyValue(EdDSAEd25519, certificate, MinRSA, append(message, ' '), value); err == nil {
				t.Error("a blank more verifies too")
			}
		})
	}
	t.Run("merlin-exc-c14n-one", func(t *testing.T) {
		doc := root(t, vector(t, "merlin-exc-c14n-one/exc-signature.xml"))
		var signed *etree.Element
		for _, e := range doc.FindElements("//*") {
			if id, ok := infoset.Attr(e, plain("Id")); ok && id == "to-be-signed" {
				signed = e
			}
		}
		references := infoset.Children(within(t, doc, ds("SignedInfo")), ds("Reference"))
		if signed == nil || len(references) != 4 {
			t.Fatalf("%v, %d references", signed, len(references))
		}
		for _, at := range references {
			r, err := ParseReference(at)
			if err != nil {
				t.Fatal(err)
			}
			m, err := c14n.New(r.Transforms[0].Algorithm, r.Transforms[0].PrefixList)
			if err != nil {
				t.Fatal(err)
			}
			h := digests[r.DigestMethod].New()
			if err := m.Element(h, signed); err != nil || !bytes.Equal(h.Sum(nil), r.DigestValue) {
				t.Errorf("%+v: %v, digest %x", r, err, h.Sum(nil))
			}
		}
	})
}
