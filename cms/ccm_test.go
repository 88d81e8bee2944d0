package cms

import (
	"bytes"
	"crypto/aes"
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The examples of NIST SP 800-38C appendix C, and further ones that pyca/cryptography
// made.
func TestCCM(t *testing.T) {
	from := func(first byte, n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = first + byte(i)
		}
		return out
	}
	for _, c := range []struct {
		name              string
		nonce, data, text []byte
		tag               int
		want              string // its end, where it is long
	}{
		{"C.1", from(0x10, 7), from(0, 8), from(0x20, 4), 4, "7162015b4dac255d"},
		{"C.2", from(0x10, 8), from(0, 16), from(0x20, 16), 6, "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd"},
		{"C.3", from(0x10, 12), from(0, 20), from(0x20, 24), 8, "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951"},
		{"C.4", from(0x10, 13), from(0, 65536), from(0x20, 32), 14, "69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc484828529463ccf72b4ac6bec93e8598e7f0dadbcea5b"},
		{"nothing", from(0x10, 12), from(0, 0), from(0x20, 0), 16, "538f76630f36a98a2f502d9b23d86343"},
		{"no data", from(0x10, 12), from(0, 0), from(0x20, 100), 16, "e5481798dd4a603318015130691ca2059caef810bf1fd9c5"},
		{"a whole block", from(0x10, 11), from(0, 14), from(0x20, 16), 12, "24b85b4ffbe0998809dab62ee5bd488aab6b1f628b390c33"},
		{"data of 65,279 bytes", from(0x10, 12), from(0, 65279), from(0x20, 33), 16, "1bd1d416fa0ce3ec880c92080d7564204a77b61737f4d89c"},
		{"data of 65,280 bytes", from(0x10, 12), from(0, 65280), from(0x20, 33), 16, "1bd1d416fa0ce3ec56229acd51aa8d55556d54edf7e3eef5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			block, err := aes.NewCipher(from(0x40, 16))
			if err != nil {
				t.Fatal(err)
			}
			aead := newCCM(block, len(c.nonce), c.tag)
			sealed := aead.Seal([]byte("before"), c.nonce, c.text, c.data)[6:]
			got := hex.EncodeToString(sealed)
			if got = got[max(0, len(got)-len(c.want)):]; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for i := -1; i < len(sealed); i++ {
				changed := bytes.Clone(sealed)
				if i >= 0 {
					changed[i] ^= 0x10
				}
				text, err := aead.Open(changed[:0], c.nonce, changed, c.data)
				if i < 0 && (err != nil || !bytes.Equal(text, c.text)) {
					t.Errorf("opened it is %x, %v", text, err)
				}
				if i >= 0 && (err == nil || !bytes.Equal(changed, make([]byte, len(changed)))) {
					t.Fatalf("byte %d changed: %x, %v", i, changed, err)
				}
				if i >= 100 {
					break
				}
			}
			if _, err := aead.Open(nil, c.nonce, sealed[:c.tag-1], c.data); err == nil {
				t.Error("less than a tag is taken")
			}
		})
	}
	t.Run("long content has a shorter nonce", func(t *testing.T) {
		k := testKey(t, "p256")
		for n, nonce := range map[int]int{1<<24 - 1: 12, 1 << 24: 11} {
			der, err := Envelope{Recipients: []*Certificate{k.Certificate}, Encryption: AES256CCM}.Encrypt(make([]byte, n))
			if err != nil {
				t.Fatal(err)
			}
			e, err := ParseEnveloped(der, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.iv) != nonce {
				t.Errorf("%d bytes: a nonce of %d", n, len(e.iv))
			}
			if d, err := e.Decrypt([]Key{k}); err != nil || len(d.Content) != n {
				t.Error(Detail(err))
			}
		}
	})
	t.Run("content longer than the nonce allows is no content", func(t *testing.T) {
		block, err := aes.NewCipher(make([]byte, 16))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newCCM(block, 13, 8).Open(nil, make([]byte, 13), make([]byte, 1<<16+8), nil); err == nil {
			t.Error("65,536 bytes with a length of two bytes")
		}
	})
}

// Bouncy Castle, and phase2 by it, writes GCM as an EnvelopedData whose content ends
// with the tag; the tag is as long as the parameters say, 12 bytes where they say
// nothing.
func TestTagInsideTheContent(t *testing.T) {
	k := testKey(t, "p256")
	for _, c := range []Encryption{AES128GCM, AES256CCM} {
		for _, size := range []int{16, 12} {
			t.Run(fmt.Sprintf("%s, %d bytes", c, size), func(t *testing.T) {
				var known cipherOf
				for _, one := range ciphers {
					if one.name == c {
						known = one
					}
				}
				key, nonce := bytes.Repeat([]byte{7}, known.key), make([]byte, 12)
				aead, err := known.aead(key, 12, size)
				if err != nil {
					t.Fatal(err)
				}
				sealed := aead.Seal(nil, nonce, interchange, nil)
				info, err := Envelope{}.agreed(k.Certificate, k.Certificate.PublicKey.(*ecdsa.PublicKey), key, known)
				if err != nil {
					t.Fatal(err)
				}
				parameters := sequence(element(byte(tagOctetString), nonce))
				if size != 12 {
					parameters = sequence(element(byte(tagOctetString), nonce), integer(byte(size)))
				}
				message := func(sealed []byte) []byte {
					return contentInfo(oidEnveloped, integer(2), setOf(info), encryptedHead(known, parameters, len(sealed)), sealed)
				}
				e, err := ParseEnveloped(message(sealed), Limits{})
				if err != nil {
					t.Fatal(err)
				}
				d, err := e.Decrypt([]Key{k})
				if err != nil || !bytes.Equal(d.Content, interchange) {
					t.Error(Detail(err))
				}
				if _, err := ParseEnveloped(message(sealed[:size-1]), Limits{}); err == nil {
					t.Error("less than a tag is taken")
				}
			})
		}
	}
}

// pkijs, and libas2 by it, writes GCM as if it was CBC: the parameters are the nonce,
// which has 16 bytes, and the tag stands behind the content.
func TestNonceAlone(t *testing.T) {
	k := testKey(t, "p256")
	message := func(t *testing.T, c Encryption, nonce int, container []byte) []byte {
		var known cipherOf
		for _, one := range ciphers {
			if one.name == c {
				known = one
			}
		}
		key := bytes.Repeat([]byte{7}, known.key)
		aead, err := known.aead(key, nonce, 16)
		if err != nil {
			t.Fatal(err)
		}
		sealed := aead.Seal(nil, make([]byte, nonce), interchange, nil)
		info, err := Envelope{}.agreed(k.Certificate, k.Certificate.PublicKey.(*ecdsa.PublicKey), key, known)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(container, oidAuthEnveloped) {
			inside := len(sealed) - 16
			return contentInfo(container, integer(0), setOf(info), encryptedHead(known, element(byte(tagOctetString), make([]byte, nonce)), inside), sealed[:inside], element(byte(tagOctetString), sealed[inside:]))
		}
		return contentInfo(container, integer(2), setOf(info), encryptedHead(known, element(byte(tagOctetString), make([]byte, nonce)), len(sealed)), sealed)
	}
	for _, c := range []Encryption{AES128GCM, AES192GCM, AES256GCM} {
		for _, nonce := range []int{12, 16} {
			t.Run(fmt.Sprintf("it is read, and its tag is verified: %s, %d bytes", c, nonce), func(t *testing.T) {
				der := message(t, c, nonce, oidEnveloped)
				for at := range 2 { // the last byte is of the tag
					e, err := ParseEnveloped(bytes.Clone(der), Limits{})
					if err != nil {
						t.Fatal(err)
					}
					d, err := e.Decrypt([]Key{k})
					if good := err == nil && bytes.Equal(d.Content, interchange); good != (at == 0) {
						t.Errorf("with %d bytes changed: %v %s", at, err, Detail(err))
					}
					if !e.Encryption.Authenticates() {
						t.Error("it is taken for one that authenticates nothing")
					}
					der[len(der)-1] ^= 1
				}
			})
		}
	}
	t.Run("as libas2 0.8.2 sends it", func(t *testing.T) {
		text, err := os.ReadFile("testdata/libas2-gcm.p7m")
		if err != nil {
			t.Fatal(err)
		}
		der, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(text), "\r\n", ""))
		if err != nil {
			t.Fatal(err)
		}
		e, err := ParseEnveloped(der, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Decrypt([]Key{testKey(t, "rsa")})
		if err != nil || !bytes.Contains(d.Content, []byte("multipart/signed; protocol=")) || d.Encryption != AES128GCM || d.Key != KeyRSAOAEP {
			t.Errorf("%v %s %+.300q", err, Detail(err), d)
		}
	})
	for name, der := range map[string][]byte{
		"in an AuthEnvelopedData": message(t, AES128GCM, 16, oidAuthEnveloped),
		"of CCM":                  message(t, AES128CCM, 12, oidEnveloped),
	} {
		t.Run("it is not read "+name, func(t *testing.T) {
			if _, err := ParseEnveloped(der, Limits{}); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v", err)
			}
		})
	}
}
