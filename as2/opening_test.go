package as2

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
)

// pair is a key with its certificate.
type pair struct {
	key  crypto.Signer
	x509 *x509.Certificate
	cms  *cms.Certificate
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// newPair makes one that is valid from 2026 to until.
func newPair(name string, key crypto.Signer, until time.Time) *pair {
	template := &x509.Certificate{SerialNumber: big.NewInt(int64(len(name)) + until.Unix()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: until, SubjectKeyId: []byte(name)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	read, err := cms.CertificateOf(c)
	if err != nil {
		panic(err)
	}
	return &pair{key, c, read}
}

// people are those that the tests know: keys take long to make.
type people struct {
	partner, renewed, ended, stranger, us, other, weak, curve *pair
}

var known = sync.OnceValue(func() *people {
	rsaKey := func(bits int) crypto.Signer {
		k, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			panic(err)
		}
		return k
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	later := noon.AddDate(1, 0, 0)
	k := rsaKey(2048)
	return &people{
		partner: newPair("partner", k, later), renewed: newPair("renewed", k, later.AddDate(1, 0, 0)), ended: newPair("ended", rsaKey(2048), noon.AddDate(0, -1, 0)),
		stranger: newPair("stranger", rsaKey(2048), later), us: newPair("us", rsaKey(2048), later), other: newPair("other", rsaKey(2048), later),
		weak: newPair("weak", rsaKey(1024), later), curve: newPair("curve", ec, later),
	}
})

func certificate(label string, p *pair) *partners.Certificate {
	return &partners.Certificate{Label: label, Purposes: []string{partners.AS2Sign}, X509: p.x509}
}

// rules is a partner as the tests know it.
func rules(change ...func(*partners.Partner)) *partners.Partner {
	p := &partners.Partner{ID: "talquist", Active: true, Organisation: "nordhafen",
		Certificates: []*partners.Certificate{certificate("now", known().partner), certificate("old", known().ended), certificate("curve", known().curve), certificate("weak", known().weak)},
		AS2:          partners.AS2{Names: []string{"TALQUIST-AS2"}, SignatureRequired: true, OldAlgorithms: []string{"3des", "sha1"}}}
	for _, c := range change {
		c(p)
	}
	return p
}

func unsigned(p *partners.Partner) { p.AS2.SignatureRequired = false }

func authenticated(p *partners.Partner) { p.AS2.EncryptionNeeded, p.AS2.CBCRefused = true, true }

// begins is what an interchange begins with, for the tests.
func begins(text []byte) bool {
	return bytes.HasPrefix(text, []byte("UNB+")) || bytes.HasPrefix(text, []byte("UNA:")) || bytes.HasPrefix(text, []byte("ISA*"))
}

func opener(p *partners.Partner) *Opener {
	return &Opener{Partner: p, Keys: func() ([]cms.Key, error) {
		return []cms.Key{{Certificate: known().us.cms, Private: known().us.key}}, nil
	}, Leads: begins, Now: noon}
}

// received is a composed message as HTTP brings it.
func received(c Composed) *entity.Entity {
	e := &entity.Entity{Body: bytes.Clone(c.Body), Fields: []entity.Field{{Name: "Content-Type", Value: c.ContentType}}}
	if c.Encoding != "" {
		e.Fields = append(e.Fields, entity.Field{Name: "Content-Transfer-Encoding", Value: c.Encoding})
	}
	if c.Disposition != "" {
		e.Fields = append(e.Fields, entity.Field{Name: "Content-Disposition", Value: c.Disposition})
	}
	return e
}

var edifact = Composed{ContentType: "application/EDIFACT", Disposition: `attachment; filename="invoic.edi"`, Encoding: "binary", Body: []byte("UNB+UNOC:3+A+B+261129:1015+1'\nUNZ+0+1'\n")}

// says is what became of a message, in words.
func says(o *Opened, err error) string {
	if f := faultOf(err); f != nil {
		return f.Reason
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func wrap(t *testing.T, w Wrapping, content Composed, asked crypto.Hash) (Composed, MIC) {
	t.Helper()
	c, mic, err := w.Wrap(content, asked)
	if err != nil {
		t.Fatal(err)
	}
	return c, mic
}

func signature(p *pair, change ...func(*cms.Signature)) *cms.Signature {
	s := &cms.Signature{Key: p.key, Certificate: p.cms, Time: noon}
	for _, c := range change {
		c(s)
	}
	return s
}

func envelope(to *pair, change ...func(*cms.Envelope)) *cms.Envelope {
	e := &cms.Envelope{Recipients: []*cms.Certificate{to.cms}}
	for _, c := range change {
		c(e)
	}
	return e
}

func TestOpenEveryWrapping(t *testing.T) {
	all := known()
	for _, sig := range []string{"unsigned", "sha256", "sha1", "sha512", "pss", "ecdsa"} {
		for _, comp := range []string{"plain", "compressed before", "compressed after"} {
			for _, enc := range []cms.Encryption{"", cms.AES128CBC, cms.AES256GCM, cms.TripleDES} {
				name := fmt.Sprintf("%s, %s, %q", sig, comp, enc)
				t.Run("the payload and the check are the sender's: "+name, func(t *testing.T) {
					w := Wrapping{Compress: comp != "plain", CompressAfter: comp == "compressed after"}
					switch sig {
					case "sha256":
						w.Signature = signature(all.partner)
					case "sha1":
						w.Signature = signature(all.partner, func(s *cms.Signature) { s.Hash = crypto.SHA1 })
					case "sha512":
						w.Signature = signature(all.partner, func(s *cms.Signature) { s.Hash = crypto.SHA512 })
					case "pss":
						w.Signature = signature(all.partner, func(s *cms.Signature) { s.PSS = true })
					case "ecdsa":
						w.Signature = signature(all.curve)
					}
					if enc != "" {
						w.Envelope = envelope(all.us, func(e *cms.Envelope) { e.Encryption = enc })
					}
					c, mic := wrap(t, w, edifact, crypto.SHA384)
					o, err := opener(rules(unsigned)).Open(received(c), Wanted{MDN: true, MICs: []string{"SHA384"}})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff([]Part{{Type: "application/edifact", Filename: "invoic.edi", Body: edifact.Body, EDI: true}}, o.Parts); diff != "" {
						t.Error(diff)
					}
					if !o.MIC.Equal(mic) {
						t.Errorf("the check is %s, want %s", o.MIC, mic)
					}
					if sig == "unsigned" && o.MIC.Algorithm != "SHA384" {
						t.Errorf("the algorithm is spelled %s", o.MIC.Algorithm)
					}
					got := []bool{o.Signed, o.Compressed, o.Encrypted}
					if diff := cmp.Diff([]bool{sig != "unsigned", comp != "plain", enc != ""}, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

func TestOpenOddWrappings(t *testing.T) {
	all := known()
	sealed := func(t *testing.T, content []byte) Composed {
		der, err := envelope(all.us).Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		return Composed{ContentType: "application/pkcs7-mime; smime-type=enveloped-data", Body: der}
	}
	opaque := func(t *testing.T, content []byte) Composed {
		der, err := signature(all.partner).SignAttached(content)
		if err != nil {
			t.Fatal(err)
		}
		return Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data", Body: der}
	}
	squeezed := func(t *testing.T, content []byte) Composed {
		der, err := cms.Compress(content)
		if err != nil {
			t.Fatal(err)
		}
		return Composed{ContentType: "application/x-pkcs7-mime", Body: der}
	}
	text := func(c Composed) Composed {
		return Composed{ContentType: c.ContentType, Encoding: "base64", Body: []byte(lines(c.Body) + "\r\n")}
	}
	mixed := func(parts ...Composed) Composed {
		body := "a preamble\r\n"
		for _, p := range parts {
			body += "--outer\r\n" + string(p.bytes()) + "\r\n"
		}
		return Composed{ContentType: `multipart/related; boundary=outer; type="application/EDI-X12"`, Body: []byte(body + "--outer--\r\n")}
	}
	multipartSigned := func(t *testing.T, p *pair, content Composed) Composed {
		c, err := sign(*signature(p), content.bytes())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pdf := Composed{ContentType: `application/pdf; name="invoice.pdf"`, Encoding: "base64", Body: []byte("JVBERi0=")}
	second := Composed{ContentType: "application/EDIFACT", Body: []byte("UNB+UNOC:3+A+B+261129:1015+2'UNZ+0+2'")}

	for _, c := range []struct {
		name  string
		rules *partners.Partner
		c     func(t *testing.T) Composed
		want  string
		parts []string
	}{
		{"encrypted: the interchange alone, without an entity", rules(unsigned), func(t *testing.T) Composed { return sealed(t, edifact.Body) }, "ok", []string{string(edifact.Body)}},
		{"encrypted: an entity, and all in base64", rules(unsigned), func(t *testing.T) Composed { return text(sealed(t, edifact.bytes())) }, "ok", []string{string(edifact.Body)}},
		{"encrypted, base64 that nobody says is base64", rules(unsigned), func(t *testing.T) Composed { c := text(sealed(t, edifact.bytes())); c.Encoding = ""; return c }, "ok", []string{string(edifact.Body)}},
		{"encrypted, binary that is said to be base64", rules(unsigned), func(t *testing.T) Composed { c := sealed(t, edifact.bytes()); c.Encoding = "base64"; return c }, "ok", []string{string(edifact.Body)}},
		{"signed, opaque", rules(), func(t *testing.T) Composed { return opaque(t, edifact.bytes()) }, "ok", []string{string(edifact.Body)}},
		{"signed, opaque, the interchange alone", rules(), func(t *testing.T) Composed { return opaque(t, edifact.Body) }, "ok", []string{string(edifact.Body)}},
		{"encrypted, and signed around it", rules(), func(t *testing.T) Composed { return multipartSigned(t, all.partner, sealed(t, edifact.bytes())) }, "ok", []string{string(edifact.Body)}},
		{"compressed, and encrypted inside it", rules(unsigned), func(t *testing.T) Composed { return squeezed(t, sealed(t, edifact.bytes()).bytes()) }, "ok", []string{string(edifact.Body)}},
		{"several attachments, signed", rules(), func(t *testing.T) Composed {
			return multipartSigned(t, all.partner, mixed(edifact, pdf, second))
		}, "ok", []string{string(edifact.Body), "%PDF-", string(second.Body)}},
		{"several attachments, plain", rules(unsigned), func(t *testing.T) Composed { return mixed(edifact, second) }, "ok", []string{string(edifact.Body), string(second.Body)}},

		{"one of several parts is signed by itself", rules(), func(t *testing.T) Composed { return mixed(multipartSigned(t, all.partner, edifact), second) }, unexpected, nil},
		{"several parts, encrypted, one of them signed", rules(), func(t *testing.T) Composed {
			return sealed(t, mixed(multipartSigned(t, all.partner, edifact), second).bytes())
		}, decryptionFailed, nil},
		{"signed twice", rules(), func(t *testing.T) Composed {
			return multipartSigned(t, all.partner, multipartSigned(t, all.partner, edifact))
		}, unexpected, nil},
		{"encrypted twice", rules(unsigned), func(t *testing.T) Composed { return sealed(t, sealed(t, edifact.bytes()).bytes()) }, decryptionFailed, nil},
		{"encrypted twice, around it with GCM", rules(unsigned), func(t *testing.T) Composed {
			der, err := envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.AES128GCM }).Encrypt(sealed(t, edifact.bytes()).bytes())
			if err != nil {
				t.Fatal(err)
			}
			return Composed{ContentType: "application/pkcs7-mime", Body: der}
		}, unexpected, nil},
		{"compressed twice", rules(unsigned), func(t *testing.T) Composed { return squeezed(t, squeezed(t, edifact.bytes()).bytes()) }, decompressionFailed, nil},
		{"too many layers", rules(unsigned), func(t *testing.T) Composed {
			c := edifact
			for range 10 {
				c = mixed(c)
			}
			return c
		}, unexpected, nil},
		{"multipart bodies in each other that hold nothing", rules(unsigned), func(t *testing.T) Composed {
			nothing := Composed{ContentType: "multipart/mixed; boundary=e", Body: []byte("--e--")}
			between := Composed{ContentType: "multipart/mixed; boundary=b", Body: []byte(strings.Repeat("--b\r\n"+string(nothing.bytes())+"\r\n", 100) + "--b--")}
			return mixed(slices.Repeat([]Composed{between}, 20)...)
		}, unexpected, nil},
		{"several parts without the last boundary", rules(unsigned), func(t *testing.T) Composed {
			c := mixed(edifact, second)
			c.Body = bytes.TrimSuffix(c.Body, []byte("--outer--\r\n"))
			return c
		}, unexpected, nil},
		{"said to be encrypted, and nothing of the kind", rules(unsigned), func(t *testing.T) Composed {
			return Composed{ContentType: "application/pkcs7-mime; smime-type=enveloped-data", Body: edifact.Body}
		}, decryptionFailed, nil},
		{"said to be compressed, and nothing of the kind", rules(unsigned), func(t *testing.T) Composed {
			return Composed{ContentType: "application/pkcs7-mime; smime-type=compressed-data", Body: edifact.Body}
		}, decompressionFailed, nil},
		{"said to be signed, and nothing of the kind", rules(unsigned), func(t *testing.T) Composed {
			return Composed{ContentType: "application/pkcs7-mime; smime-type=signed-data", Body: edifact.Body}
		}, integrityFailed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := opener(c.rules).Open(received(c.c(t)), Wanted{MDN: true})
			if got := says(o, err); got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
			var parts []string
			for _, p := range o.Parts {
				parts = append(parts, string(p.Body))
			}
			if c.want == "ok" {
				if diff := cmp.Diff(c.parts, parts); diff != "" {
					t.Error(diff)
				}
				if o.MIC.Digest == nil {
					t.Error("there is no check")
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	all := known()
	signed := func(p *pair, change ...func(*cms.Signature)) Wrapping {
		return Wrapping{Signature: signature(p, change...)}
	}
	sha := func(h crypto.Hash) func(*cms.Signature) { return func(s *cms.Signature) { s.Hash = h } }
	expired := func(p *partners.Partner) { p.AS2.ExpiredAccepted = true }
	old := func(list ...string) func(*partners.Partner) {
		return func(p *partners.Partner) { p.AS2.OldAlgorithms = list }
	}
	for _, c := range []struct {
		name  string
		rules *partners.Partner
		w     Wrapping
		want  string
		notes []string
	}{
		{"not signed, and has to be", rules(), Wrapping{}, insufficientSecurity, nil},
		{"not signed, encrypted with CBC, and has to be", rules(), Wrapping{Envelope: envelope(all.us)}, decryptionFailed, nil},
		{"not signed, encrypted with GCM, and has to be", rules(), Wrapping{Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.AES256GCM })}, insufficientSecurity, nil},
		{"not encrypted, and has to be", rules(func(p *partners.Partner) { p.AS2.EncryptionNeeded = true }), signed(all.partner), insufficientSecurity, nil},
		{"signed by nobody we know", rules(), signed(all.stranger), authenticationFailed, nil},
		{"signed by nobody we know, where no signature is needed", rules(unsigned), signed(all.stranger), authenticationFailed, nil},
		{"signed by nobody we know, encrypted", rules(), Wrapping{Signature: signature(all.stranger), Envelope: envelope(all.us)}, authenticationFailed, nil},
		{"a partner without certificates", rules(func(p *partners.Partner) { p.Certificates = nil }), signed(all.partner), authenticationFailed, nil},
		{"a certificate for another purpose", rules(func(p *partners.Partner) { p.Certificates[0].Purposes = []string{partners.AS2Encrypt} }), signed(all.partner), authenticationFailed, nil},
		{"a certificate that has ended", rules(), signed(all.ended), authenticationFailed, nil},
		{"a certificate that has ended, by permission", rules(expired), signed(all.ended), "ok", []string{`signed with the certificate "old", which has ended`}},
		{"a certificate that is not used yet", rules(func(p *partners.Partner) { p.Certificates[0].From = noon.Add(time.Hour) }), signed(all.partner), authenticationFailed, nil},
		{"another certificate of the same key", rules(), signed(all.renewed), authenticationFailed, nil},
		{"another certificate of the same key, which is what is pinned", rules(func(p *partners.Partner) { p.Certificates[0].PinsKey = true }), signed(all.renewed), "ok", nil},
		{"certificates left out", rules(), signed(all.partner, func(s *cms.Signature) { s.NoCertificates = true }), "ok", nil},
		{"named by its key identifier", rules(), signed(all.partner, func(s *cms.Signature) { s.KeyIdentifier = true }), "ok", nil},
		{"no signed attributes", rules(), signed(all.partner, func(s *cms.Signature) { s.NoAttributes, s.Time = true, time.Time{} }), "ok", nil},
		{"SHA-1", rules(), signed(all.partner, sha(crypto.SHA1)), "ok", []string{"signed with sha1"}},
		{"SHA-1, not allowed", rules(old()), signed(all.partner, sha(crypto.SHA1)), insufficientSecurity, nil},
		{"a short key", rules(), signed(all.weak), insufficientSecurity, nil},
		{"a short key, allowed", rules(old("rsa-1024")), signed(all.weak), "ok", []string{"signed with an RSA key of 1024 bits"}},
		{"3DES", rules(unsigned), Wrapping{Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.TripleDES })}, "ok", []string{"encrypted with 3DES"}},
		{"3DES, not allowed", rules(unsigned, old()), Wrapping{Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.TripleDES })}, insufficientSecurity, nil},
		{"CBC, which is refused", rules(authenticated), Wrapping{Signature: signature(all.partner), Envelope: envelope(all.us)}, insufficientSecurity, nil},
		{"3DES, where CBC is refused", rules(authenticated), Wrapping{Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.TripleDES })}, insufficientSecurity, nil},
		{"not encrypted, where CBC is refused", rules(authenticated), signed(all.partner), insufficientSecurity, nil},
		{"GCM, where CBC is refused", rules(authenticated), Wrapping{Signature: signature(all.partner), Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.AES256GCM })}, "ok", nil},
		{"CCM, where CBC is refused", rules(authenticated), Wrapping{Signature: signature(all.partner), Envelope: envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.AES128CCM })}, "ok", nil},
		{"encrypted to somebody else", rules(unsigned), Wrapping{Envelope: envelope(all.other)}, decryptionFailed, nil},
		{"encrypted to somebody else and to us", rules(unsigned), Wrapping{Envelope: envelope(all.other, func(e *cms.Envelope) { e.Recipients = append(e.Recipients, all.us.cms) })}, "ok", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := wrap(t, c.w, edifact, crypto.SHA256)
			o, err := opener(c.rules).Open(received(m), Wanted{MDN: true})
			if got := says(o, err); got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
			if diff := cmp.Diff(c.notes, o.Notes); diff != "" && c.want == "ok" {
				t.Error(diff)
			}
		})
	}
	t.Run("content that was changed", func(t *testing.T) {
		for name, w := range map[string]Wrapping{"signed": signed(all.partner), "signed and compressed": {Signature: signature(all.partner), Compress: true, CompressAfter: true}} {
			m, _ := wrap(t, w, edifact, 0)
			e := received(m)
			e.Body = bytes.Replace(e.Body, []byte("UNB+"), []byte("UNB-"), 1)
			want := integrityFailed
			if name != "signed" {
				e.Body[len(e.Body)/2] ^= 0x40
				want = decompressionFailed
			}
			if _, err := opener(rules()).Open(e, Wanted{}); faultOf(err) == nil || faultOf(err).Reason != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	})
	t.Run("more bytes than are taken are not decompressed", func(t *testing.T) {
		m, _ := wrap(t, Wrapping{Compress: true}, Composed{ContentType: "text/plain", Body: bytes.Repeat([]byte{'x'}, 1<<20)}, crypto.SHA256)
		o := opener(rules(unsigned))
		o.Max = 1 << 19
		if _, err := o.Open(received(m), Wanted{}); faultOf(err) == nil || faultOf(err).Reason != decompressionFailed || !errors.Is(err, cms.ErrLimit) {
			t.Errorf("got %v", err)
		}
	})
}

// TestUniformDecryption holds all that may go wrong in and behind a decryption to one
// fault: who could tell one from the other could find out what is encrypted.
func TestUniformDecryption(t *testing.T) {
	all := known()
	seal := func(content []byte, e cms.Encryption) []byte {
		der, err := envelope(all.us, func(v *cms.Envelope) { v.Encryption = e }).Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	signedEntity, _ := wrap(t, Wrapping{Signature: signature(all.partner)}, edifact, 0)
	compressed, _ := wrap(t, Wrapping{Compress: true}, edifact, crypto.SHA256)
	broken := func(c Composed, change func(b []byte) []byte) []byte { return change(bytes.Clone(c.bytes())) }
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	for name, der := range map[string][]byte{
		"bad padding":                    flip(seal(edifact.bytes(), cms.AES128CBC), 1),
		"another key's":                  encryptTo(t, all.other, edifact.bytes()),
		"bad tag":                        flip(seal(edifact.bytes(), cms.AES128GCM), 1),
		"cut off":                        cut(40)(seal(edifact.bytes(), cms.AES128CBC)),
		"garbage behind good padding":    seal([]byte(strings.Repeat("\x9c\x01", 400)), cms.AES128CBC),
		"nothing":                        seal(nil, cms.AES128CBC),
		"a signed entity cut off":        seal(broken(signedEntity, cut(2000)), cms.AES128CBC),
		"a signature cut off":            seal(broken(signedEntity, cut(100)), cms.AES128CBC),
		"compressed, and cut off":        seal(broken(compressed, cut(9)), cms.AES128CBC),
		"compressed, and changed":        seal(broken(compressed, func(b []byte) []byte { return flip(b, 12) }), cms.AES128CBC),
		"a header and no body":           seal([]byte("Content-Type: multipart/signed; boundary=x\r\n\r\n"), cms.AES128CBC),
		"a part in an unknown coding":    seal([]byte("Content-Type: a/b\r\nContent-Transfer-Encoding: x\r\n\r\n"), cms.AES128CBC),
		"CMS of another kind inside":     seal([]byte("Content-Type: application/pkcs7-mime\r\n\r\n0\x03\x02\x01\x01"), cms.AES128CBC),
		"a header that is much too long": seal([]byte("Content-Type: a/b\r\n"+strings.Repeat("x-y: z\r\n", 500)+"\r\n"), cms.AES128CBC),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := opener(rules()).Open(received(Composed{ContentType: "application/pkcs7-mime", Body: der}), Wanted{MDN: true, Signed: true})
			want := cannotDecrypt(nil)
			f := faultOf(err)
			if f == nil || f.Reason != want.Reason || f.Detail != want.Detail {
				t.Fatalf("got %v", err)
			}
			if got, want := fmt.Sprintf("%+v", m), fmt.Sprintf("%+v", &Opened{Encrypted: true}); got != want {
				t.Errorf("it says more: %s", got)
			}
		})
	}
}

func encryptTo(t *testing.T, p *pair, content []byte) []byte {
	t.Helper()
	der, err := envelope(p).Encrypt(content)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// flip changes a bit n bytes before the end.
func flip(b []byte, n int) []byte {
	b = slices.Clone(b)
	b[len(b)-n] ^= 1
	return b
}
