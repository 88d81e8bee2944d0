package cms_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"fmt"
	"slices"
	"testing"

	"github.com/edigw/edigw/cms"
)

var cipherNames = []struct {
	openssl string
	name    cms.Encryption
}{
	{"-des3", cms.TripleDES}, {"-aes128", cms.AES128CBC}, {"-aes192", cms.AES192CBC}, {"-aes256", cms.AES256CBC},
	{"-aes-128-gcm", cms.AES128GCM}, {"-aes-192-gcm", cms.AES192GCM}, {"-aes-256-gcm", cms.AES256GCM},
}

// ways is how a content's key reaches a recipient, as openssl is told.
type ways struct {
	to      *identity
	how     cms.KeyEncryption
	options []string
}

func waysOf(t *testing.T) (list []ways) {
	r := newIdentity(t, "rsa", rsaKeys()[0])
	list = append(list, ways{r, cms.KeyRSAPKCS1, nil})
	for i, h := range []string{"sha1", "sha224", "sha256", "sha384", "sha512", "sha3-256"} {
		options := []string{"-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_md:" + h}
		list = append(list, ways{r, cms.KeyRSAOAEP, options},
			ways{r, cms.KeyRSAOAEP, append(options, "-keyopt", "rsa_mgf1_md:"+[]string{"sha256", "sha1"}[i%2])})
	}
	list = append(list, ways{r, cms.KeyRSAOAEP, []string{"-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_label:6c6162656c"}})
	for i, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		to := newEC(t, curve.Params().Name, curve)
		for j, h := range []string{"sha1", "sha224", "sha256", "sha384", "sha512"} {
			options := []string{"-keyopt", "ecdh_kdf_md:" + h, "-keyopt", fmt.Sprintf("ecdh_cofactor_mode:%d", j&1)}
			options = append(options, [][]string{nil, {"-aes128-wrap"}, {"-aes192-wrap"}, {"-aes256-wrap"}}[(i+j)%4]...)
			list = append(list, ways{to, cms.KeyECDH, options})
		}
	}
	return list
}

func TestOpensslEncrypted(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "content", message)
	n := 0
	for _, w := range waysOf(t) {
		for _, c := range cipherNames {
			args := []string{"-encrypt", "-binary", "-in", in, c.openssl, "-outform", "DER"}
			for i, option := range [][]string{{"-stream", "-indef"}, {"-keyid"}} {
				if n>>i&1 == 1 {
					args = append(args, option...)
				}
			}
			n++
			args = append(append(args, "-recip", w.to.file), w.options...)
			t.Run(fmt.Sprintf("%s %s %q", w.to.name, c.name, args[7:]), func(t *testing.T) {
				decrypted(t, openssl(t, args...), w, c.name)
			})
		}
	}
}

// decrypted reads and decrypts what openssl made.
func decrypted(t *testing.T, der []byte, w ways, c cms.Encryption) {
	t.Helper()
	e, err := cms.ParseEnveloped(der, cms.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Decrypt([]cms.Key{{Certificate: w.to.certificate, Private: w.to.key}})
	if err != nil {
		t.Fatalf("%v: %s", err, cms.Detail(err))
	}
	if !bytes.Equal(d.Content, message) || d.Encryption != c || d.Key != w.how || d.Certificate != w.to.certificate {
		t.Errorf("%s by %s: %q", d.Encryption, d.Key, d.Content)
	}
}

func TestOpensslDecrypts(t *testing.T) {
	dir := t.TempDir()
	r := newIdentity(t, "rsa", rsaKeys()[0])
	type way struct {
		to       *identity
		oaep, df crypto.Hash
	}
	list := []way{{to: r}, {to: r, oaep: crypto.SHA1}, {to: r, oaep: crypto.SHA224}, {to: r, oaep: crypto.SHA256}, {to: r, oaep: crypto.SHA384},
		{to: r, oaep: crypto.SHA512}}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		to := newEC(t, curve.Params().Name, curve)
		for _, h := range []crypto.Hash{0, crypto.SHA1, crypto.SHA224, crypto.SHA384, crypto.SHA512} {
			list = append(list, way{to: to, df: h})
		}
	}
	for i, w := range list {
		for j, c := range cipherNames {
			how := cms.Envelope{Recipients: []*cms.Certificate{w.to.certificate}, Encryption: c.name, OAEP: w.oaep, KDF: w.df, KeyIdentifier: (i+j)&1 == 1}
			t.Run(fmt.Sprintf("%s %s, oaep %v, kdf %v, key identifier %v", w.to.name, c.name, w.oaep, w.df, how.KeyIdentifier), func(t *testing.T) {
				// The padding of every length, from none of the last block to all of it.
				content := message[:len(message)-j]
				der, err := how.Encrypt(content)
				if err != nil {
					t.Fatal(err)
				}
				got := openssl(t, "-decrypt", "-binary", "-inform", "DER", "-in", write(t, dir, "encrypted", der), "-recip", w.to.file, "-inkey", w.to.keyFile)
				if !bytes.Equal(got, content) {
					t.Errorf("openssl sees %q", got)
				}
			})
		}
	}
}

func TestSeveralRecipients(t *testing.T) {
	dir := t.TempDir()
	r, other, e := newIdentity(t, "rsa", rsaKeys()[0]), newIdentity(t, "other", rsaKeys()[1]), newEC(t, "p256", elliptic.P256())
	all := []*identity{other, r, e}
	t.Run("each of whom we encrypt to reads it in openssl", func(t *testing.T) {
		for _, c := range cipherNames {
			der, err := cms.Envelope{Recipients: []*cms.Certificate{other.certificate, r.certificate, e.certificate}, Encryption: c.name}.Encrypt(message)
			if err != nil {
				t.Fatal(err)
			}
			path := write(t, dir, "encrypted", der)
			for _, who := range all {
				if got := openssl(t, "-decrypt", "-binary", "-inform", "DER", "-in", path, "-recip", who.file, "-inkey", who.keyFile); !bytes.Equal(got, message) {
					t.Errorf("%s by %s: %q", c.name, who.name, got)
				}
			}
		}
	})
	t.Run("each of whom openssl encrypts to reads it, whatever keys stand beside", func(t *testing.T) {
		in := write(t, dir, "content", message)
		for _, c := range cipherNames {
			der := openssl(t, "-encrypt", "-binary", "-in", in, c.openssl, "-outform", "DER", other.file, r.file, e.file)
			for _, mine := range [][]*identity{{other}, {r}, {e}, {e, other}, {r, other, e}} {
				enveloped, err := cms.ParseEnveloped(bytes.Clone(der), cms.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				var keys []cms.Key
				for _, who := range mine {
					keys = append(keys, cms.Key{Certificate: who.certificate, Private: who.key})
				}
				d, err := enveloped.Decrypt(keys)
				if err != nil {
					t.Fatalf("%s: %s", c.name, cms.Detail(err))
				}
				if !bytes.Equal(d.Content, message) || !slices.ContainsFunc(mine, func(who *identity) bool { return who.certificate == d.Certificate }) {
					t.Errorf("%s by %s: %q", c.name, d.Certificate, d.Content)
				}
			}
		}
	})
}
