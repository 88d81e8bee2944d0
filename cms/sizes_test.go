package cms

import (
	"bytes"
	"crypto"
	"testing"

	"pgregory.net/rapid"
)

// Content of any size comes back, in any style of BER: at the borders of blocks and of
// lengths too.
func TestEverySize(t *testing.T) {
	k := testKey(t, "p256")
	sizes := []int{0, 1, 7, 8, 9, 15, 16, 17, 95, 96, 100, 127, 128, 129, 200, 255, 256, 257, 1000, 4095, 4096, 65535, 65536, 70000}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.OneOf(rapid.SampledFrom(sizes), rapid.IntRange(0, 5000)).Draw(r, "size")
		content := bytes.Repeat([]byte{rapid.Byte().Draw(r, "filled with")}, n)
		s := rapid.SampledFrom(berStyles).Draw(r, "style")
		encryption := rapid.SampledFrom(Encryptions).Draw(r, "encryption")
		if n > 5000 && s.piece > 0 {
			s.piece *= 100
		}

		der, err := Envelope{Recipients: []*Certificate{k.Certificate}, Encryption: encryption}.Encrypt(content)
		if err != nil {
			r.Fatal(err)
		}
		e, err := ParseEnveloped(s.write(t, der), Limits{})
		if err != nil {
			r.Fatal(err)
		}
		d, err := e.Decrypt([]Key{k})
		if err != nil || !bytes.Equal(d.Content, content) {
			r.Fatalf("decrypted: %s", Detail(err))
		}

		if der, err = Compress(content); err != nil {
			r.Fatal(err)
		}
		c, err := ParseCompressed(s.write(t, der), Limits{})
		if err != nil {
			r.Fatal(err)
		}
		if got, err := c.Decompress(int64(n)); err != nil || !bytes.Equal(got, content) {
			r.Fatalf("decompressed: %d bytes, %v", len(got), err)
		}

		how := Signature{Key: k.Private.(crypto.Signer), Certificate: k.Certificate, NoAttributes: rapid.Bool().Draw(r, "no attributes")}
		if der, err = how.SignAttached(content); err != nil {
			r.Fatal(err)
		}
		signed, err := ParseSigned(s.write(t, der), Limits{})
		if err != nil {
			r.Fatal(err)
		}
		if _, err := signed.Verify(nil, []*Certificate{k.Certificate}, Policy{}); err != nil || !bytes.Equal(signed.Content.Bytes(), content) {
			r.Fatalf("verified: %v", err)
		}
	})
}
