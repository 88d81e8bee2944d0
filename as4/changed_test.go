package as4_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
)

// signedOver is a message of talquist, signed and not encrypted, that names all of
// payloads and covers the first of them alone.
func signedOver(t *testing.T, id string, payloads ...as4.Payload) string {
	t.Helper()
	return string(firstSecured(t, id, nil, payloads...).SOAP)
}

// untyped is a message of talquist with one part, of which its signed header does not say
// what it is.
func untyped(t *testing.T, id, text string, encrypting *wssec.Encrypting) []byte {
	t.Helper()
	p := as4.Bytes([]byte(text), "")
	p.ContentID = "part@x"
	s := firstSecured(t, id, encrypting, p)
	from, err := s.Parts[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return frame(string(s.SOAP), "Content-Type: application/octet-stream\r\nContent-ID: <part@x>\r\n\r\n"+string(content))
}

func firstSecured(t *testing.T, id string, encrypting *wssec.Encrypting, payloads ...as4.Payload) *wssec.Secured {
	t.Helper()
	c, err := as4.Compose(message(id), payloads, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(c.Body())
	if err != nil {
		t.Fatal(err)
	}
	from, to := bytes.Index(body, []byte("<S12:Envelope")), bytes.Index(body, []byte("</S12:Envelope>"))
	soap := append(body[from:to:to], "</S12:Envelope>"...)
	e, err := wssec.Read(bytes.ReplaceAll(soap, []byte(`<eb:PartProperties><eb:Property name="MimeType"></eb:Property></eb:PartProperties>`), nil))
	if err != nil {
		t.Fatal(err)
	}
	covered := wssec.Part{ContentID: payloads[0].ContentID, MimeType: payloads[0].MimeType, Open: payloads[0].Open}
	s, err := wssec.Outgoing{Messaging: e.Messaging, Parts: []wssec.Part{covered}}.Secure(signedBy(talquist()), encrypting)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	cipherValue = regexp.MustCompile(`<xenc:CipherValue>([^<]+)</xenc:CipherValue>`)
	errorDetail = regexp.MustCompile(`<eb:ErrorDetail>([^<]*)</eb:ErrorDetail>`)
)

// byCBC is a message of one part as a sender encrypts it by AES-CBC: what was encrypted is
// given to change first. Whoever cannot read it makes the same of it by changing the
// ciphertext.
func byCBC(t *testing.T, wire []byte, change func(plain []byte) []byte) []byte {
	t.Helper()
	wrapped, err := base64.StdEncoding.DecodeString(string(cipherValue.FindSubmatch(wire)[1]))
	if err != nil {
		t.Fatal(err)
	}
	key, err := nordhafen().key.(*rsa.PrivateKey).Decrypt(nil, wrapped, &rsa.OAEPOptions{Hash: crypto.SHA256, MGFHash: crypto.SHA256})
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	from, to := bytes.LastIndex(wire, []byte("\r\n\r\n"))+4, bytes.LastIndex(wire, []byte("\r\n--"))
	plain, err := gcm.Open(nil, wire[from:from+12], wire[from+12:to], nil)
	if err != nil {
		t.Fatal(err)
	}
	plain = change(plain)
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	text := slices.Concat(make([]byte, aes.BlockSize), plain, bytes.Repeat([]byte{byte(pad)}, pad))
	if _, err := rand.Read(text[:aes.BlockSize]); err != nil {
		t.Fatal(err)
	}
	cipher.NewCBCEncrypter(block, text[:aes.BlockSize]).CryptBlocks(text[aes.BlockSize:], text[aes.BlockSize:])
	return labelledCBC(slices.Concat(wire[:from], text, wire[to:]))
}

// labelledCBC says of what is encrypted that it is by CBC. Nobody signs that.
func labelledCBC(wire []byte) []byte {
	return bytes.Replace(wire, []byte("http://www.w3.org/2009/xmlenc11#aes128-gcm"), []byte("http://www.w3.org/2001/04/xmlenc#aes128-cbc"), 1)
}

func unchanged(plain []byte) []byte { return plain }

// TestCBC is Jager and Somorovsky (CCS 2011) over AS4: who recorded a message sends it
// again with its signed header as it is and its ciphertext changed, and reads in the answer
// whether what came out is well-formed.
func TestCBC(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	r := newRig(t, "cbc: accept")
	send := func(c *as4.Composed, change func([]byte) []byte) posted {
		t.Helper()
		return r.post(c.ContentType, byCBC(t, r.wireOf(c), change))
	}
	t.Run("what is encrypted so is taken, compressed or not", func(t *testing.T) {
		for i, p := range []as4.Payload{gzipped(text), as4.Bytes([]byte(interchange("REF2", "R-2", "2.00")), "application/edifact"), as4.Bytes([]byte(interchange("REF3", "R-3", "3.00")), "text/plain")} {
			if got := send(r.compose(message(fmt.Sprint("m", i)), p), unchanged); got.told() != "receipt" || r.posted() != i+1 {
				t.Errorf("%s, %d documents\n%s", got.told(), r.posted(), got.body)
			}
		}
	})
	t.Run("canonical XML is read too, and is no interchange", func(t *testing.T) {
		if got := send(r.compose(message("x1"), as4.Bytes([]byte(`<a b="1">text</a>`), "text/xml")), unchanged); got.told() != as4.OtherError {
			t.Errorf("%s\n%s", got.told(), got.body)
		}
	})
	replaced := func(by string) func([]byte) []byte { return func([]byte) []byte { return []byte(by) } }
	broken := r.compose(message("x2"), gzipped(text))
	wire, garbage := byCBC(t, r.wireOf(broken), unchanged), make([]byte, 256)
	if _, err := rand.Read(garbage); err != nil {
		t.Fatal(err)
	}
	undecryptable := r.post(broken.ContentType, bytes.Replace(wire, cipherValue.FindSubmatch(wire)[1], []byte(base64.StdEncoding.EncodeToString(garbage)), 1)) // a key that opens with none of ours
	want := errorDetail.FindStringSubmatch(undecryptable.body)
	if undecryptable.told() != as4.FailedDecryption || want == nil {
		t.Fatalf("%s\n%s", undecryptable.told(), undecryptable.body)
	}
	for name, mimeType := range map[string]string{
		"of text/xml": "text/xml", "of text": "text/plain", "of EDIFACT": "application/edifact",
		"of no type, which is then said to be XML": "",
	} {
		for what, content := range map[string]string{
			"well-formed":     `<a b="2">text</a>`,
			"not well-formed": `<a b="1">text`,
			"well-formed, of the same canonical form": `<a  b='1'><!-- what was recorded -->text</a>`,
			"of another document type":                `<!DOCTYPE a><a b="1">text</a>`,
			"one byte":                                "x",
			"not padded rightly":                      "UNB\x00",
		} {
			t.Run("a part "+name+" that comes out "+what+" is told as what cannot be decrypted", func(t *testing.T) {
				const genuine = `<a b="1">text</a>`
				var got posted
				if mimeType == "" {
					body := byCBC(t, untyped(t, "untyped", genuine, encryptedTo(nordhafen())), replaced(content))
					relabelled := bytes.Replace(body, []byte(` MimeType="" `), []byte(` MimeType="text/xml" `), 1)
					if bytes.Equal(body, relabelled) {
						t.Fatalf("nothing says what it is in %s", body)
					}
					got = r.post(framed, relabelled)
				} else {
					got = send(r.compose(message("typed"), as4.Bytes([]byte(genuine), mimeType)), replaced(content))
				}
				if diff := cmp.Diff(want, errorDetail.FindStringSubmatch(got.body)); diff != "" || got.told() != as4.FailedDecryption || got.status != undecryptable.status {
					t.Errorf("%d %s\n%s", got.status, got.told(), diff)
				}
			})
		}
	}
	t.Run("the log has what the sender is not told", func(t *testing.T) {
		if !strings.Contains(r.logged(), "which was encrypted by AES-CBC, is not that of the signature") {
			t.Error(r.logged())
		}
	})
	t.Run("where CBC is not agreed it is refused before our key works for it, also what was encrypted by GCM", func(t *testing.T) {
		r.settings("")
		before, worked := r.handler.Decrypters, 0
		defer func() { r.handler.Decrypters = before }()
		r.handler.Decrypters = func(context.Context, string) ([]wssec.DecryptionKey, error) {
			return []wssec.DecryptionKey{{Certificate: nordhafen().cert, Key: counted{nordhafen().key.(*rsa.PrivateKey), &worked}}}, nil
		}
		c := r.compose(message("g1"), gzipped(interchange("REF9", "R-9", "9.00")))
		if got := r.post(c.ContentType, labelledCBC(r.wireOf(c))); got.told() != as4.PolicyNoncompliance || worked != 0 {
			t.Errorf("%s, the key worked %d times", got.told(), worked)
		}
		if r.received(c); worked != 1 {
			t.Errorf("the key worked %d times", worked)
		}
	})
}

// counted is a key that tells how often it worked.
type counted struct {
	*rsa.PrivateKey
	times *int
}

func (c counted) Decrypt(r io.Reader, text []byte, o crypto.DecrypterOpts) ([]byte, error) {
	*c.times++
	return c.PrivateKey.Decrypt(r, text, o)
}

// TestPartOfNoSignedType: where the signed header gives a part no type, its Content-Type
// says what is left out of its digest, and whoever is on the way may change that.
func TestPartOfNoSignedType(t *testing.T) {
	r := newRig(t, "unencrypted: accept")
	genuine := strings.ReplaceAll(interchange("REF1", "R-1", "100.00"), "'", "'\r\n")
	wire := string(untyped(t, "m1", genuine, nil))
	changed := strings.NewReplacer(genuine, strings.ReplaceAll(genuine, "\r\n", "\n"), "Content-Type: application/octet-stream", "Content-Type: text/plain").Replace(wire)
	if strings.Contains(changed, genuine) || !strings.Contains(changed, "Content-Type: text/plain") {
		t.Fatal("nothing was changed")
	}
	var got string
	receive := r.handler.Receive
	r.handler.Receive = func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
		if d.Fault == nil {
			b, err := d.Payload.Slice(0, d.Payload.Size())
			if err != nil {
				return nil, err
			}
			got = string(b)
		}
		return receive(ctx, d)
	}
	t.Run("what is received is what was signed, whatever was done to its line ends", func(t *testing.T) {
		if a := r.post(framed, []byte(changed)); a.told() != "receipt" {
			t.Fatalf("%s\n%s", a.told(), a.body)
		}
		if diff := cmp.Diff(genuine, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("so that the genuine message is its duplicate, and no drift", func(t *testing.T) {
		if a := r.post(framed, []byte(wire)); a.told() != "receipt" || r.posted() != 1 || r.count(`select count(*) from drift_alert`) != 0 {
			t.Errorf("%s, %d documents", a.told(), r.posted())
		}
	})
}

// TestWithoutOurKey: a partner has a certificate of ours, and cannot know that its key is
// gone, or not made known to this gateway yet.
func TestWithoutOurKey(t *testing.T) {
	r := newRig(t, "")
	text := interchange("REF1", "R-1", "100.00")
	keys := r.handler.Decrypters
	r.handler.Decrypters = func(context.Context, string) ([]wssec.DecryptionKey, error) { return nil, nil }
	t.Run("what is encrypted is told to come again, and nothing is remembered", func(t *testing.T) {
		if a := r.refused(r.compose(message("m1"), gzipped(text)), as4.DeliveryFailure); a.Status != 503 || r.journal()+r.keys() != 0 {
			t.Errorf("%d, %d journal rows, %d keys", a.Status, r.journal(), r.keys())
		}
	})
	t.Run("the log says which key is missing, and how it is made", func(t *testing.T) {
		if !strings.Contains(r.logged(), "organisation nordhafen has no key for as4_decrypt that holds now; `edigw keys create` makes one") {
			t.Error(r.logged())
		}
	})
	t.Run("what is not encrypted, and has to be, is the sender's to mend all the same", func(t *testing.T) {
		c, err := as4.Compose(message("m2"), []as4.Payload{gzipped(text)}, signedBy(talquist()), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.PolicyNoncompliance)
	})
	t.Run("the same message is taken when there is a key", func(t *testing.T) {
		r.handler.Decrypters = keys
		r.received(r.compose(message("m1"), gzipped(text)))
	})
	t.Run("what is encrypted to somebody else is told as that", func(t *testing.T) {
		c, err := as4.Compose(message("m3"), []as4.Payload{gzipped(text)}, signedBy(talquist()), encryptedTo(mallory()))
		if err != nil {
			t.Fatal(err)
		}
		r.refused(c, as4.FailedDecryption)
	})
}
