package as2

import (
	"bytes"
	"crypto/subtle"
	"encoding/asn1"
	"errors"
	"fmt"
	"testing"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
)

// recordedGCM is an AuthEnvelopedData that somebody recorded on its way: RFC 5083 §2.1.
type recordedGCM struct {
	Type asn1.ObjectIdentifier
	Data struct {
		Version    int
		Recipients asn1.RawValue
		Encrypted  struct {
			Type      asn1.ObjectIdentifier
			Algorithm struct {
				ID         asn1.ObjectIdentifier
				Parameters struct {
					Nonce []byte
					Tag   int
				}
			}
			Content asn1.RawValue
		}
		Tag []byte
	} `asn1:"explicit,tag:0"`
}

func xor(a, b []byte) []byte {
	out := make([]byte, len(a))
	subtle.XORBytes(out, a, b)
	return out
}

// What was encrypted with GCM can be sent again as if it was CBC, with the same key of the
// content (Roth and Strenzke 2024; RFC 9709 §1). GCM adds the encrypted counter to the
// content: whoever guesses a block of that has the counter encrypted, and as a block of
// CBC it comes out as the counter, which he knows. If he guessed wrong, it comes out as
// anything. So he can put what he likes before a block that is padded well only if he
// guessed right, and has to be told nothing of it.
func TestNoOracleForGCM(t *testing.T) {
	all := known()
	key := cms.Key{Certificate: all.curve.cms, Private: all.curve.key}
	c, _ := wrap(t, Wrapping{Signature: signature(all.partner), Envelope: envelope(all.curve, func(e *cms.Envelope) { e.Encryption = cms.AES128GCM })}, edifact, 0)
	var g recordedGCM
	if _, err := asn1.Unmarshal(c.Body, &g); err != nil {
		t.Fatal(err)
	}
	counter := func(n byte) []byte {
		return append(bytes.Clone(g.Data.Encrypted.Algorithm.Parameters.Nonce), 0, 0, 0, n)
	}
	content := g.Data.Encrypted.Content.Bytes
	// What a MIME entity that is signed begins with everybody knows; the second block is
	// guessed.
	known1 := xor(content[:16], []byte("Content-Type: mu"))
	said := func(p *partners.Partner, guess string) (told string, right bool) {
		r := recorded{}
		r.Type, r.Data.Version, r.Data.Recipients = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 3}, 2, g.Data.Recipients
		r.Data.Encrypted.Type = g.Data.Encrypted.Type
		r.Data.Encrypted.Algorithm.ID = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2} // aes128-CBC
		guessed := xor(content[16:32], []byte(guess))
		padding := bytes.Repeat([]byte{16}, 16)
		// known1 comes out as the first counter, 2, and becomes an interchange; the block behind
		// it is what has to stand before the one that is guessed; that becomes padding.
		der := r.with(t, xor(counter(2), []byte("UNB+UNOC:3+A+B+2")), bytes.Join([][]byte{known1, xor(counter(3), padding), guessed}, nil))
		e, err := cms.ParseEnveloped(bytes.Clone(der), cms.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Decrypt([]cms.Key{key})
		right, looked := err == nil, 0
		o := opener(p)
		o.Leads = func(text []byte) bool { looked++; return begins(text) }
		o.Keys = func() ([]cms.Key, error) { return []cms.Key{key}, nil }
		m, err := o.Open(received(Composed{ContentType: "application/pkcs7-mime", Body: der}), Wanted{MDN: true, Signed: true})
		told = fmt.Sprintf("%s %+v, looked at %d times", says(m, err), m, looked)
		if f := (*Fault)(nil); errors.As(err, &f) {
			told += " " + f.Detail
		}
		return told, right
	}
	for _, p := range []struct {
		name  string
		rules *partners.Partner
		shows bool
	}{
		{"a partner who signs", rules(), false},
		{"one who need not sign, and for whom CBC is refused", rules(unsigned, authenticated), false},
		// What becomes of the interchange is the answer: docs/decisions/0022-cms.md. This is
		// what the other setting is for.
		{"one who need not sign, and may use CBC", rules(unsigned), true},
	} {
		t.Run(p.name, func(t *testing.T) {
			good, right := said(p.rules, "ltipart/signed; ")
			bad, wrong := said(p.rules, "ltipart/signed;?")
			if !right || wrong {
				t.Fatalf("a good guess is padded well: %v, a bad one %v: nothing is tested", right, wrong)
			}
			if (good != bad) != p.shows {
				t.Errorf("a good guess is told\n%s\na bad one\n%s", good, bad)
			}
		})
	}
}
