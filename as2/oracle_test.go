package as2

import (
	"bytes"
	"crypto/rand"
	"encoding/asn1"
	"fmt"
	"testing"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
)

// recorded is an EnvelopedData that somebody recorded on its way, taken apart: who has
// no key can change its initialisation vector and its content, and send it again.
type recorded struct {
	Type asn1.ObjectIdentifier
	Data struct {
		Version    int
		Recipients asn1.RawValue
		Encrypted  struct {
			Type      asn1.ObjectIdentifier
			Algorithm struct {
				ID asn1.ObjectIdentifier
				IV []byte
			}
			Content asn1.RawValue
		}
	} `asn1:"explicit,tag:0"`
}

func record(t *testing.T, der []byte) *recorded {
	t.Helper()
	r := &recorded{}
	if _, err := asn1.Unmarshal(der, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// with gives the message with another vector and content.
func (r recorded) with(t *testing.T, iv, content []byte) []byte {
	t.Helper()
	r.Data.Encrypted.Algorithm.IV = iv
	r.Data.Encrypted.Content = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, Bytes: content}
	der, err := asn1.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Whether the padding of a changed message is right must not be seen from outside, or
// whoever recorded a message reads it block by block (Vaudenay 2002): a block of it is
// put at the end, behind one that is chosen, and one of 256 choices ends in a padding
// that is right. Nor by the work that is done.
func TestNoPaddingOracle(t *testing.T) {
	all := known()
	signed := Wrapping{Signature: signature(all.partner), Envelope: envelope(all.curve)} // ECDH: fast
	key := cms.Key{Certificate: all.curve.cms, Private: all.curve.key}
	type attack struct {
		name string
		rest int // bytes in the last block, as far as that can be had
		p    *partners.Partner
		w    Wrapping
		make func(r *recorded, iv, content []byte, chosen []byte) []byte
	}
	block := func(content []byte, n int) []byte { return content[16*n : 16*n+16] }
	for _, a := range []attack{
		{"behind the whole message", 8, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			return r.with(t, iv, bytes.Join([][]byte{content, chosen, block(content, 3)}, nil))
		}},
		{"behind the whole message, compressed behind the signature", 8, rules(), Wrapping{Compress: true, CompressAfter: true, Signature: signed.Signature, Envelope: signed.Envelope},
			func(r *recorded, iv, content, chosen []byte) []byte {
				return r.with(t, iv, bytes.Join([][]byte{content, chosen, block(content, 3)}, nil))
			}},
		{"in place of the end", 8, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			return r.with(t, iv, bytes.Join([][]byte{content[:len(content)-32], chosen, block(content, 3)}, nil))
		}},
		{"the start made a bare interchange", 8, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			changed := bytes.Clone(iv)
			for i, was := range []byte("Content-Type: mu") {
				changed[i] ^= was ^ "UNB+UNOC:3+A+B+2"[i]
			}
			return r.with(t, changed, bytes.Join([][]byte{content[:16], chosen, block(content, 3)}, nil))
		}},
		{"the start made a field of a header", 8, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			changed := bytes.Clone(iv)
			for i, was := range []byte("Content-Type: mu") {
				changed[i] ^= was ^ "a: b\r\n\r\nUNB+UNOC"[i]
			}
			return r.with(t, changed, bytes.Join([][]byte{content[:16], chosen, block(content, 3)}, nil))
		}},
		{"in a field of the header, whose line a line feed would end", 8, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			return r.with(t, iv, bytes.Join([][]byte{content[:48], chosen, block(content, 20), content[32:]}, nil))
		}},
		{"behind a carriage return whose line feed is left out", 1, rules(), signed, func(r *recorded, iv, content, chosen []byte) []byte {
			return r.with(t, iv, bytes.Join([][]byte{content[:len(content)-16], chosen, block(content, 3)}, nil))
		}},
	} {
		t.Run(a.name, func(t *testing.T) {
			c, _ := wrap(t, a.w, leaving(t, a.w, a.rest), 0)
			r := record(t, c.Body)
			iv, content := r.Data.Encrypted.Algorithm.IV, bytes.Clone(r.Data.Encrypted.Content.Bytes)
			chosen := make([]byte, 16)
			rand.Read(chosen)
			right := 0
			seen := map[string]int{}
			for n := range 256 {
				chosen[15] = byte(n)
				der := a.make(r, iv, content, chosen)
				if e, err := cms.ParseEnveloped(bytes.Clone(der), cms.Limits{}); err != nil {
					t.Fatal(err)
				} else if _, err := e.Decrypt([]cms.Key{key}); err == nil {
					right++
				}
				looked := 0 // how often somebody looked at what came out
				o := opener(a.p)
				o.Leads = func(text []byte) bool { looked++; return begins(text) }
				o.Keys = func() ([]cms.Key, error) { return []cms.Key{key}, nil }
				m, err := o.Open(received(Composed{ContentType: "application/pkcs7-mime", Body: der}), Wanted{MDN: true, Signed: true})
				told := fmt.Sprintf("%s %+v, looked at %d times ", says(m, err), m, looked)
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
}

// leaving is a payload that leaves so many bytes in the last block of what is encrypted.
func leaving(t *testing.T, w Wrapping, rest int) Composed {
	t.Helper()
	w.Envelope = nil
	c := edifact
	for range 16 {
		whole, _ := wrap(t, w, c, 0)
		if len(whole.bytes())%16 == rest {
			return c
		}
		c.Body = append(bytes.Clone(c.Body), '\n')
	}
	return edifact // compressed, its length depends on more than that
}
