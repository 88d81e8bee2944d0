package cms_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/cms"
)

// breakable is a message, and how each of us opens it.
type breakable struct {
	name   string
	der    []byte
	ours   func(der []byte, by *identity) ([]byte, error)
	theirs func(path string, by *identity) ([]byte, error)
	who    *identity
	sealed bool // no change of its content goes unseen
}

// What is broken is refused by openssl and by us, or both open the same: each algorithm,
// made by either, with single bits changed, cut off, and opened by another key that has
// the right one's name. Where one refuses what the other opens, it is what was sent, and
// the reason is one of format: excused and excusedHere list them.
func TestOpensslAgreesOnWhatIsBroken(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "content", message)
	twins := map[*identity]*identity{}
	rsa := newIdentity(t, "rsa", rsaKeys()[0])
	twins[rsa] = newIdentity(t, "rsa", rsaKeys()[1])
	var curves []*identity
	for _, c := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		id := newEC(t, c.Params().Name, c)
		twins[id] = newEC(t, c.Params().Name, c)
		curves = append(curves, id)
	}

	var list []breakable
	signed := func(name string, der []byte, who *identity) {
		list = append(list, breakable{name, der, verifiedBy, func(path string, by *identity) ([]byte, error) {
			args := []string{"-verify", "-binary", "-inform", "DER", "-in", path, "-noverify", "-nointern", "-certfile", by.file}
			if s, err := cms.ParseSigned(der, cms.Limits{}); err == nil && s.Content == nil {
				args = append(args, "-content", in)
			}
			return tryOpenssl(args...)
		}, who, true})
	}
	encrypted := func(name string, der []byte, to *identity, c cms.Encryption) {
		list = append(list, breakable{name, der, decryptedBy, func(path string, by *identity) ([]byte, error) {
			return tryOpenssl("-decrypt", "-binary", "-inform", "DER", "-in", path, "-recip", by.file, "-inkey", by.keyFile)
		}, to, c.Authenticates()})
	}

	for i, who := range append(curves, rsa) {
		for j, form := range [][]string{nil, {"-nodetach"}, {"-nodetach", "-stream", "-indef"}, {"-noattr"}, {"-keyid", "-nocerts"}, {"-keyopt", "rsa_padding_mode:pss"}} {
			if j == 5 && who != rsa {
				continue
			}
			args := append([]string{"-sign", "-binary", "-in", in, "-signer", who.file, "-inkey", who.keyFile, "-md", []string{"sha256", "sha384", "sha512"}[(i+j)%3], "-outform", "DER"}, form...)
			signed(fmt.Sprintf("openssl: signed by %s %q", who.name, form), openssl(t, args...), who)
		}
		for j, how := range []cms.Signature{{}, {NoAttributes: true}, {KeyIdentifier: true, NoCertificates: true}, {PSS: true, Hash: crypto.SHA384}} {
			if how.PSS && who != rsa {
				continue
			}
			how.Key, how.Certificate = who.key, who.certificate
			der, err := how.Sign(cms.InMemory(message))
			if j%2 == 1 {
				der, err = how.SignAttached(message)
			}
			if err != nil {
				t.Fatal(err)
			}
			signed(fmt.Sprintf("ours: signed by %s, form %d", who.name, j), der, who)
		}
	}
	for i, c := range cipherNames {
		to := curves[i%3]
		for j, w := range []ways{{rsa, cms.KeyRSAPKCS1, nil}, {rsa, cms.KeyRSAOAEP, []string{"-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_md:sha256"}}, {to, cms.KeyECDH, nil}} {
			args := []string{"-encrypt", "-binary", "-in", in, c.openssl, "-outform", "DER"}
			if (i+j)%2 == 0 {
				args = append(args, "-stream", "-indef")
			}
			args = append(append(args, "-recip", w.to.file), w.options...)
			encrypted(fmt.Sprintf("openssl: %s to %s by %s", c.name, w.to.name, w.how), openssl(t, args...), w.to, c.name)
			e := cms.Envelope{Recipients: []*cms.Certificate{w.to.certificate}, Encryption: c.name, KeyIdentifier: (i+j)%2 == 1}
			if w.how == cms.KeyRSAOAEP {
				e.OAEP = crypto.SHA256
			}
			der, err := e.Encrypt(message)
			if err != nil {
				t.Fatal(err)
			}
			encrypted(fmt.Sprintf("ours: %s to %s by %s", c.name, w.to.name, w.how), der, w.to, c.name)
		}
	}

	seed := uint32(1)
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			b.agree(t, dir, "as it was made", b.der)
			for range 5 {
				seed = seed*1664525 + 1013904223 // Numerical Recipes'
				bit := int(seed>>4) % (8 * len(b.der))
				changed := bytes.Clone(b.der)
				changed[bit/8] ^= 1 << (bit % 8)
				b.agree(t, dir, fmt.Sprintf("bit %d of byte %d of %d changed", bit%8, bit/8, len(b.der)), changed)
			}
			for _, n := range []int{len(b.der) / 2, len(b.der) - 1} {
				b.agree(t, dir, fmt.Sprintf("the first %d bytes of %d", n, len(b.der)), b.der[:n])
			}
			b.refused(t, dir, twins[b.who])
		})
	}
}

// tries is how often what was opened is opened again: with a random key, as is taken for
// one that cannot be unwrapped, content is padded well once in 256 times.
const tries = 4

// agree opens a message, broken or not, by the right key.
func (b breakable) agree(t *testing.T, dir, what string, der []byte) {
	t.Helper()
	path := write(t, dir, "broken", der)
	for try := 1; ; try++ {
		ours, err := b.ours(bytes.Clone(der), b.who)
		theirs, refusal := b.theirs(path, b.who)
		good := false
		switch {
		case err != nil && refusal != nil:
			good = true
		case err == nil && refusal == nil:
			good = bytes.Equal(ours, theirs) && (!b.sealed || bytes.Equal(ours, message))
		case err == nil:
			good = bytes.Equal(ours, message) && excused(string(theirs))
		default:
			good = bytes.Equal(theirs, message) && excusedHere(err)
		}
		if good {
			return
		}
		if try == tries {
			t.Errorf("%s: we give %q, %v %s; openssl %q, %v", what, ours, err, cms.Detail(err), theirs, refusal)
			return
		}
	}
}

// refused has a message that nobody broke opened by another key of the same name.
func (b breakable) refused(t *testing.T, dir string, by *identity) {
	t.Helper()
	path := write(t, dir, "whole", b.der)
	for try := 1; ; try++ {
		ours, err := b.ours(bytes.Clone(b.der), by)
		theirs, refusal := b.theirs(path, by)
		if err != nil && refusal != nil {
			return
		}
		if b.sealed || try == tries {
			t.Errorf("by another key we give %q, %v; openssl %q, %v", ours, err, theirs, refusal)
			return
		}
	}
}

// excused reports whether openssl refused for what we have no need of: certificates and
// names it cannot read, the name of a certificate where there is a key that fits, the
// list of digests in front, the curve that the sender's point is said to be of.
func excused(says string) bool {
	for _, why := range []string{"Error reading SMIME Content Info", "signer certificate not found", "unknown digest algorithm", "peer key error"} {
		if strings.Contains(says, why) {
			return true
		}
	}
	return says == "Error decrypting CMS using private key\n" // nothing went wrong but that nobody is named
}

// excusedHere reports whether we refused what is not well-formed, or algorithms that
// openssl does not look at where the key says them.
func excusedHere(err error) bool {
	return errors.Is(err, cms.ErrMalformed) || errors.Is(err, cms.ErrUnsupported) || strings.Contains(cms.Detail(err), "no key of ours is meant")
}

// verifiedBy gives the content of a SignedData that somebody signed.
func verifiedBy(der []byte, who *identity) ([]byte, error) {
	s, err := cms.ParseSigned(der, cms.Limits{})
	if err != nil {
		return nil, err
	}
	content, detached := message, cms.InMemory(message)
	if s.Content != nil {
		content, detached = s.Content.Bytes(), nil
	}
	_, err = s.Verify(detached, []*cms.Certificate{who.certificate}, everyDigest)
	return content, err
}

// decryptedBy gives the content of an EnvelopedData.
func decryptedBy(der []byte, who *identity) ([]byte, error) {
	e, err := cms.ParseEnveloped(der, cms.Limits{})
	if err != nil {
		return nil, err
	}
	d, err := e.Decrypt([]cms.Key{{Certificate: who.certificate, Private: who.key}})
	if err != nil {
		return nil, err // what came out of CBC is nothing
	}
	return d.Content, nil
}
