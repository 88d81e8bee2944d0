package wssec

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/c14n"
)

// TestCBC: parts that old stacks encrypt, where the agreement takes them; and RSA-OAEP
// with a label, which nobody sends.
func TestCBC(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(5), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), SubjectKeyId: []byte{1}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	key, plain := []byte("sixteen bytes ok"), bytes.Repeat([]byte("UNB+UNOC:3'\r\n"), 1000)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	ciphertext := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := make([]byte, aes.BlockSize)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(ciphertext, ciphertext)
	part := func(b []byte) []Part {
		return []Part{{ContentID: "a@b", MimeType: "application/octet-stream", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}}
	}
	whole := append(iv, ciphertext...)

	m := etree.NewElement("eb:Messaging")
	m.CreateAttr("xmlns:eb", EBMS3)
	e, err := Outgoing{Messaging: m}.envelope(true)
	if err != nil {
		t.Fatal(err)
	}
	x := Encrypting{Recipient: certificate, Token: SubjectKeyID}
	encryptedKey, err := x.encryptedKey(key)
	if err != nil {
		t.Fatal(err)
	}
	e.Security.AddChild(encryptedKey)
	e.Security.AddChild(encryptedData("part-1", XENC+"aes128-cbc", Part{ContentID: "a@b", MimeType: "application/edifact"}))
	unsigned, err := canonical(e.Root, c14n.Inclusive)
	if err != nil {
		t.Fatal(err)
	}
	e.Security.CreateElement("ds:Signature").CreateAttr("xmlns:ds", DSIG) // nothing is verified here
	soap, err := canonical(e.Root, c14n.Inclusive)
	if err != nil {
		t.Fatal(err)
	}
	decrypt := func(soap []byte, parts []Part, cbc bool) ([]Part, error) {
		e, err := Read(soap)
		if err != nil {
			t.Fatal(err)
		}
		return e.Decrypt(parts, Decryption{Keys: []DecryptionKey{{certificate, private}}, Required: true, CBC: cbc})
	}
	t.Run("it is taken where it is agreed, and nowhere else", func(t *testing.T) {
		parts, err := decrypt(soap, part(whole), true)
		if err != nil {
			t.Fatal(err)
		}
		in, err := parts[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, plain) || parts[0].MimeType != "application/edifact" {
			t.Errorf("%d bytes, %v, as %s", len(got), err, parts[0].MimeType)
		}
		if _, err := decrypt(soap, part(whole), false); ReasonOf(err) != NonCompliant {
			t.Error(err)
		}
		if _, err := decrypt(unsigned, part(whole), true); ReasonOf(err) != NonCompliant {
			t.Errorf("without a signature: %v", err)
		}
	})
	t.Run("whatever is done to the ciphertext, decryption does not tell", func(t *testing.T) {
		for at := len(whole) - 33; at < len(whole); at++ {
			forged := bytes.Clone(whole)
			forged[at] ^= 0x55
			if _, err := decrypt(soap, part(forged), true); err != nil {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	})
	t.Run("a ciphertext of no possible length", func(t *testing.T) {
		for _, n := range []int{0, 15, 16, 31, 33} {
			if _, err := decrypt(soap, part(whole[:n]), true); ReasonOf(err) != Undecryptable {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	})
	t.Run("a label of RSA-OAEP has to be the one it was encrypted with", func(t *testing.T) {
		labelled, err := rsa.EncryptOAEPWithOptions(rand.Reader, &private.PublicKey, key, &rsa.OAEPOptions{Hash: digests[SHA256], MGFHash: digests[SHA256], Label: []byte("label")})
		if err != nil {
			t.Fatal(err)
		}
		begin, rest, _ := strings.Cut(string(soap), "<xenc:CipherValue>")
		_, end, _ := strings.Cut(rest, "</xenc:CipherValue>")
		text := begin + "<xenc:CipherValue>" + base64.StdEncoding.EncodeToString(labelled) + "</xenc:CipherValue>" + end
		if _, err := decrypt([]byte(text), part(whole), true); err != nil {
			t.Log(err) // CBC: the random key in place of the one that does not open
		} else {
			t.Error("it opens without its label")
		}
		text = strings.Replace(text, "<ds:DigestMethod", "<xenc:OAEPparams>bGFiZWw=</xenc:OAEPparams><ds:DigestMethod", 1)
		if _, err := decrypt([]byte(text), part(whole), true); err != nil {
			t.Error(err)
		}
	})
}
