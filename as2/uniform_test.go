package as2

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/cms"
)

// faulty is our key whose answer is changed: so that something fails at a place that no
// message reaches at will.
type faulty struct {
	*rsa.PrivateKey
	answers func(key []byte, err error) ([]byte, error) // nil: as they are
	times   *int
}

func (f faulty) Decrypt(random io.Reader, text []byte, o crypto.DecrypterOpts) ([]byte, error) {
	*f.times++
	key, err := f.PrivateKey.Decrypt(random, text, o)
	if f.answers != nil {
		key, err = f.answers(key, err)
	}
	return key, err
}

// Wherever a decryption fails, and whatever is broken behind it, the whole answer is the
// same, byte for byte but for its time: the messages have one Message-ID here, and ids of
// MDNs are digests of what they say. The private key works once for each, all are
// received as one fault, and why it failed is for our own log.
func TestWhatCannotBeDecryptedGetsOneAnswer(t *testing.T) {
	all := known()
	seal := func(content []byte, e cms.Encryption, oaep crypto.Hash) []byte {
		der, err := envelope(all.us, func(v *cms.Envelope) { v.Encryption, v.OAEP = e, oaep }).Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	signedEntity, _ := wrap(t, Wrapping{Signature: signature(all.partner)}, edifact, 0)
	good := signedEntity.bytes()
	garbage := []byte(strings.Repeat("\x9c\x01", 400))
	key := func(k []byte) func([]byte, error) ([]byte, error) {
		return func([]byte, error) ([]byte, error) { return k, nil }
	}
	broken := func(key []byte, _ error) ([]byte, error) { return key, errors.New("the key does not answer") }
	type fault struct {
		name    string
		der     []byte
		answers func([]byte, error) ([]byte, error)
		why     string // in the log
	}
	faults := []fault{
		{"bad padding of the content", flip(seal(good, cms.AES128CBC, 0), 17), nil, "padding"}, // the last byte of the block before the last
		{"bad padding of the content, 3DES", flip(seal(good, cms.TripleDES, 0), 9), nil, "padding"},
		{"another key of the content", seal(good, cms.AES128CBC, 0), key([]byte("sixteen bytes ..")), ""}, // once in 256 times it is padded well
		{"a key of the content that is too short", seal(good, cms.AES256CBC, 0), key([]byte("sixteen bytes ..")), "16 bytes in place of 32"},
		{"no key of the content", seal(good, cms.AES256CBC, 0), key(nil), "0 bytes in place of 32"},
		{"our key does not answer", seal(good, cms.AES128CBC, 0), broken, "does not answer"},
		{"bad padding of OAEP", seal(good, cms.AES128CBC, crypto.SHA256), broken, "rsa-oaep"},
		{"bad tag", flip(seal(good, cms.AES128GCM, 0), 1), nil, "tag"},
		{"bad tag of CCM", flip(seal(good, cms.AES256CCM, 0), 1), nil, "tag"},
		{"another key of the content, GCM", seal(good, cms.AES128GCM, 0), key([]byte("sixteen bytes ..")), "tag"},
		{"our key does not answer, GCM", seal(good, cms.AES128GCM, 0), broken, "does not answer"},
		{"garbage where MIME should be", seal(garbage, cms.AES128CBC, 0), nil, "neither a MIME entity"},
		{"garbage where MIME should be, GCM", seal(garbage, cms.AES128GCM, 0), nil, "neither a MIME entity"},
		{"half of a MIME entity", seal(good[:len(good)/2], cms.AES128CBC, 0), nil, "unexpected-processing-error"},
		{"a header alone", seal([]byte("Content-Type: multipart/signed; boundary=x\r\n\r\n"), cms.AES128CBC, 0), nil, "told apart"},
		{"CMS of no kind inside", seal([]byte("Content-Type: application/pkcs7-mime\r\n\r\n0\x03\x02\x01\x01"), cms.AES128CBC, 0), nil, "could not be decrypted"},
		{"nothing inside", seal(nil, cms.AES128CBC, 0), nil, "neither a MIME entity"},
		{"what has to be signed is not", seal(edifact.bytes(), cms.AES128CBC, 0), nil, "has to be"},
	}
	for what, fields := range map[string][]string{"a signed MDN": {signedMDN}, "an unsigned MDN": nil, "no MDN": {"Disposition-Notification-To: -"}} {
		t.Run("asked for "+what, func(t *testing.T) {
			var first string
			for _, f := range faults {
				a, in, log := faultyAnswer(t, f.der, f.answers, fields...)
				if what == "a signed MDN" && a.says() != "200 signed processed/error: decryption-failed" {
					t.Fatalf("%s: got %s", f.name, a.says())
				}
				d := in.got[0].Fault
				if d == nil || d.Reason != decryptionFailed || d.Detail != cannotDecrypt(nil).Detail {
					t.Fatalf("%s: it is received as %+v", f.name, d)
				}
				if !strings.Contains(log, f.why) {
					t.Errorf("%s: the log does not speak of %q: %s", f.name, f.why, log)
				}
				a.header.Del("Date")
				told := fmt.Sprintf("%d %v\n%s", a.status, a.header, a.body)
				if first == "" {
					first = told
				}
				if diff := cmp.Diff(first, told); diff != "" {
					t.Errorf("%s is told from %s:\n%s", f.name, faults[0].name, diff)
				}
			}
		})
	}
	t.Run("and with a key that answers as it should the message is received", func(t *testing.T) {
		for _, e := range []cms.Encryption{cms.AES128CBC, cms.TripleDES, cms.AES128GCM, cms.AES256CCM} {
			if a, _, _ := faultyAnswer(t, seal(good, e, 0), nil, signedMDN); a.says() != "200 signed processed" {
				t.Errorf("%s: got %s", e, a.says())
			}
		}
	})
}

// logged is what is logged, one line each.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// faultyAnswer sends what is encrypted to a gateway of such a key, and gives what it
// answers, what it has received and what it logs.
func faultyAnswer(t *testing.T, der []byte, answers func([]byte, error) ([]byte, error), fields ...string) (reply, *ingress, string) {
	t.Helper()
	in, times, log := newIngress(t), 0, make(logged, 10)
	in.Log = slog.New(slog.NewTextHandler(log, nil))
	in.Keys = func(_ context.Context, _ string, purpose Purpose) ([]Key, error) {
		us := known().us
		k := Key{Label: "ours", Private: us.key, Certificates: []*x509.Certificate{us.x509}}
		if purpose == ForDecryption {
			k.Private = faulty{us.key.(*rsa.PrivateKey), answers, &times}
		}
		return []Key{k}, nil
	}
	a := in.send(Composed{ContentType: "application/pkcs7-mime; smime-type=enveloped-data", Encoding: "binary", Body: der}, fields...)
	line := <-log // written behind the answer
	if times != 1 {
		t.Errorf("the private key worked %d times", times)
	}
	return a, in, line
}
