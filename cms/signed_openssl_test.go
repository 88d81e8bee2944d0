package cms_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
	"testing"
	"time"

	"github.com/edigw/edigw/cms"
)

// everyDigest allows all there are.
var everyDigest = cms.Policy{Old: []crypto.Hash{crypto.MD5, crypto.SHA1, crypto.SHA224, crypto.SHA512_224, crypto.SHA3_224}}

var digestNames = []struct {
	name string
	hash crypto.Hash
}{
	{"md5", crypto.MD5}, {"sha1", crypto.SHA1}, {"sha224", crypto.SHA224}, {"sha256", crypto.SHA256}, {"sha384", crypto.SHA384},
	{"sha512", crypto.SHA512}, {"sha512-224", crypto.SHA512_224}, {"sha512-256", crypto.SHA512_256},
	{"sha3-224", crypto.SHA3_224}, {"sha3-256", crypto.SHA3_256}, {"sha3-384", crypto.SHA3_384}, {"sha3-512", crypto.SHA3_512},
}

// opensslSigns reports whether openssl can sign with a digest: by ECDSA it knows
// five.
func opensslSigns(id *identity, h crypto.Hash) bool {
	if _, ok := id.key.Public().(*rsa.PublicKey); ok {
		return true
	}
	return h == crypto.SHA1 || h == crypto.SHA224 || h == crypto.SHA256 || h == crypto.SHA384 || h == crypto.SHA512
}

func signers(t *testing.T) []*identity {
	return []*identity{newIdentity(t, "rsa", rsaKeys()[0]), newEC(t, "p224", elliptic.P224()), newEC(t, "p256", elliptic.P256()),
		newEC(t, "p384", elliptic.P384()), newEC(t, "p521", elliptic.P521())}
}

// verified reads and verifies what openssl made or we did.
func verified(t *testing.T, der []byte, content []byte, who *identity, scheme cms.Scheme, h crypto.Hash) {
	t.Helper()
	s, err := cms.ParseSigned(der, cms.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	detached := cms.InMemory(content)
	if s.Content != nil {
		if detached = nil; !bytes.Equal(s.Content.Bytes(), content) {
			t.Errorf("its content is %q", s.Content.Bytes())
		}
	}
	v, err := s.Verify(detached, []*cms.Certificate{who.certificate}, everyDigest)
	if err != nil {
		t.Fatal(err)
	}
	state := h.New()
	state.Write(content)
	if v.Certificate != who.certificate || v.Scheme != scheme || v.Hash != h || !bytes.Equal(v.Digest, state.Sum(nil)) {
		t.Errorf("by %s: %s with %s, digest %x", v.Certificate, v.Scheme, v.Hash, v.Digest)
	}
}

func TestOpensslSigned(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "content", message)
	n := 0
	for _, who := range signers(t) {
		scheme := cms.ECDSA
		if who.name == "rsa" {
			scheme = cms.RSAPKCS1
		}
		for _, d := range digestNames {
			if !opensslSigns(who, d.hash) {
				continue
			}
			for _, form := range [][]string{nil, {"-nodetach"}, {"-nodetach", "-stream", "-indef"}} {
				// What remains takes turns: without attributes, by key identifier, without
				// certificates.
				args := append([]string{"-sign", "-binary", "-in", in, "-signer", who.file, "-inkey", who.keyFile, "-md", d.name, "-outform", "DER"}, form...)
				for i, option := range []string{"-noattr", "-keyid", "-nocerts"} {
					if n>>i&1 == 1 {
						args = append(args, option)
					}
				}
				n++
				t.Run(fmt.Sprintf("%s %s %q", who.name, d.name, args[12:]), func(t *testing.T) {
					verified(t, openssl(t, args...), message, who, scheme, d.hash)
				})
			}
		}
	}
	who := newIdentity(t, "rsa", rsaKeys()[0])
	for _, d := range digestNames {
		if d.hash == crypto.MD5 || d.hash >= crypto.SHA3_224 && d.hash <= crypto.SHA3_512 {
			continue // openssl cannot write the parameters of these, though it reads those of SHA-3
		}
		for i, salt := range []string{"digest", "max", "0", "7", "auto"} {
			mask := []string{d.name, "sha1", "sha512", "sha384", d.name}[i]
			t.Run(fmt.Sprintf("pss %s, salt %s, mask by %s", d.name, salt, mask), func(t *testing.T) {
				der := openssl(t, "-sign", "-binary", "-in", in, "-signer", who.file, "-inkey", who.keyFile, "-md", d.name, "-outform", "DER",
					"-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:"+salt, "-keyopt", "rsa_mgf1_md:"+mask)
				verified(t, der, message, who, cms.RSAPSS, d.hash)
			})
		}
	}
}

func TestOpensslVerifies(t *testing.T) {
	dir := t.TempDir()
	content := write(t, dir, "content", message)
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	n := 0
	for _, who := range signers(t) {
		for _, d := range digestNames {
			for _, pss := range []bool{false, true} {
				if !opensslSigns(who, d.hash) || pss && (who.name != "rsa" || d.hash == crypto.MD5) {
					continue
				}
				for _, attached := range []bool{false, true} {
					how := cms.Signature{Key: who.key, Certificate: who.certificate, Hash: d.hash, PSS: pss,
						NoAttributes: n&1 == 1, KeyIdentifier: n>>1&1 == 1, NoCertificates: n>>2&1 == 1}
					if n>>3&1 == 1 {
						how.Time = at
					}
					n++
					t.Run(fmt.Sprintf("%s %s, pss %v, attached %v, no attributes %v, key identifier %v, no certificates %v", who.name, d.name,
						pss, attached, how.NoAttributes, how.KeyIdentifier, how.NoCertificates), func(t *testing.T) {
						args := []string{"-verify", "-binary", "-inform", "DER", "-CAfile", who.file, "-certfile", who.file, "-purpose", "any", "-no_check_time"}
						var der []byte
						var err error
						if attached {
							der, err = how.SignAttached(message)
						} else {
							der, err = how.Sign(cms.InMemory(message))
							args = append(args, "-content", content)
						}
						if err != nil {
							t.Fatal(err)
						}
						if got := openssl(t, append(args, "-in", write(t, dir, "signed", der))...); !bytes.Equal(got, message) {
							t.Errorf("openssl sees %q", got)
						}
						scheme := cms.ECDSA
						switch {
						case pss:
							scheme = cms.RSAPSS
						case who.name == "rsa":
							scheme = cms.RSAPKCS1
						}
						verified(t, der, message, who, scheme, d.hash)
					})
				}
			}
		}
	}
}
