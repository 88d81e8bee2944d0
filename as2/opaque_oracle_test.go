package as2

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/edigw/edigw/cms"
)

// A SignedData that holds its content ends with the signature's value, of which no byte
// says anything of its structure: blocks that are put there leave all else as it was. If
// the padding of the last one is right, and as long as it was before, the message can be
// read, and the signature is wrong; else it cannot be decrypted. Were the two told apart,
// who recorded a message would learn the last byte of each block of it.
func TestNoOracleInASignature(t *testing.T) {
	all := known()
	key := cms.Key{Certificate: all.curve.cms, Private: all.curve.key}
	for _, attributes := range []bool{true, false} {
		t.Run(fmt.Sprintf("signed attributes: %v", attributes), func(t *testing.T) {
			var sealed []byte
			for payload := edifact; sealed == nil; payload.Body = append(bytes.Clone(payload.Body), '\n') {
				der, err := signature(all.partner, func(s *cms.Signature) { s.NoAttributes = !attributes }).SignAttached(payload.bytes())
				if err != nil {
					t.Fatal(err)
				}
				whole := Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data", Encoding: "binary", Body: der}.bytes()
				if len(whole)%16 != 15 { // one byte of padding
					continue
				}
				if sealed, err = envelope(all.curve).Encrypt(whole); err != nil {
					t.Fatal(err)
				}
			}
			r := record(t, sealed)
			iv, content := r.Data.Encrypted.Algorithm.IV, bytes.Clone(r.Data.Encrypted.Content.Bytes)
			chosen := make([]byte, 16)
			rand.Read(chosen)
			right := 0
			seen := map[string]int{}
			for n := range 256 {
				chosen[15] = byte(n)
				der := r.with(t, iv, bytes.Join([][]byte{content[:len(content)-32], chosen, content[48:64]}, nil))
				if e, err := cms.ParseEnveloped(bytes.Clone(der), cms.Limits{}); err != nil {
					t.Fatal(err)
				} else if _, err := e.Decrypt([]cms.Key{key}); err == nil {
					right++
				}
				o := opener(rules())
				o.Keys = func() ([]cms.Key, error) { return []cms.Key{key}, nil }
				m, err := o.Open(received(Composed{ContentType: "application/pkcs7-mime", Body: der}), Wanted{MDN: true, Signed: true})
				told := fmt.Sprintf("%s %+v ", says(m, err), m)
				if f := faultOf(err); f != nil {
					told += f.Detail
				}
				seen[told]++
			}
			if right == 0 {
				t.Error("no choice was padded well: nothing is tested")
			}
			if len(seen) != 1 {
				t.Errorf("%d of 256 choices were padded well, and it shows: %v", right, seen)
			}
		})
	}
	t.Run("content that is not what the partner's key signed is told as that", func(t *testing.T) {
		der, err := signature(all.partner).SignAttached(edifact.bytes())
		if err != nil {
			t.Fatal(err)
		}
		der = bytes.Replace(der, []byte("UNB+"), []byte("UNB-"), 1)
		sealed, err := envelope(all.us).Encrypt(Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data", Encoding: "binary", Body: der}.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if m, err := opener(rules()).Open(received(Composed{ContentType: "application/pkcs7-mime", Body: sealed}), Wanted{}); says(m, err) != integrityFailed {
			t.Errorf("got %s, %v", says(m, err), err)
		}
	})
}
