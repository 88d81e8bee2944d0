package as2

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/edigw/edigw/cms"
)

// Composed is a MIME entity: its Content-… fields apart from its body, as HTTP sends
// them.
type Composed struct {
	ContentType string
	Disposition string // Content-Disposition, "" for none
	Encoding    string // Content-Transfer-Encoding, "" for none: binary
	Body        []byte
}

// bytes gives the entity as it stands inside another.
func (c Composed) bytes() []byte {
	var b bytes.Buffer
	b.Grow(len(c.Body) + 256)
	for _, f := range [][2]string{{"Content-Type", c.ContentType}, {"Content-Transfer-Encoding", c.Encoding}, {"Content-Disposition", c.Disposition}} {
		if f[1] != "" {
			b.WriteString(f[0] + ": " + f[1] + "\r\n")
		}
	}
	b.WriteString("\r\n")
	b.Write(c.Body)
	return b.Bytes()
}

// Wrapping is what is done to a payload before it is sent, RFC 4130 §5.2: it is
// compressed, signed, encrypted, each where it is asked for.
type Wrapping struct {
	Compress      bool
	CompressAfter bool // behind the signature, RFC 5402 §3: some want it so
	Signature     *cms.Signature
	Envelope      *cms.Envelope
}

// Wrap composes a message. The MIC is what an MDN has to say of it: RFC 4130 §7.3.1;
// of one that is not signed it is by the algorithm asked for.
func (w Wrapping) Wrap(content Composed, asked crypto.Hash) (Composed, MIC, error) {
	c, mics, err := w.wrap(content, asked)
	if err != nil {
		return Composed{}, MIC{}, err
	}
	return c, mics[0], nil
}

// wrap gives all that others take for the check of a message, the right one first: of one
// that is compressed and not signed there are several (AS2CompressedMICs).
func (w Wrapping) wrap(content Composed, asked crypto.Hash) (Composed, []MIC, error) {
	c := content
	var also [][]byte
	checked := content.Body // of a plain message: without its header
	var err error
	compress := func() {
		if err != nil {
			return
		}
		checked = c.bytes()
		var der []byte
		if der, err = cms.Compress(checked); err == nil {
			c = Composed{`application/pkcs7-mime; smime-type=compressed-data; name="smime.p7z"`, `attachment; filename="smime.p7z"`, "binary", der}
		}
		if w.Signature == nil {
			also = [][]byte{content.Body, c.bytes(), der}
		}
	}
	if w.Compress && !w.CompressAfter {
		compress()
	}
	hash := asked
	if w.Signature != nil && err == nil {
		signed := c.bytes()
		hash = w.hash()
		c, err = sign(*w.Signature, signed)
		if w.Compress && w.CompressAfter {
			compress()
		}
		checked = signed
	} else if w.Compress && w.CompressAfter {
		compress()
	}
	if w.Envelope != nil && err == nil {
		whole := c.bytes()
		if w.Signature == nil && !w.Compress {
			checked = whole
		}
		var der []byte
		if der, err = w.Envelope.Encrypt(whole); err == nil {
			kind := cms.KindOf(der)
			c = Composed{`application/pkcs7-mime; smime-type=` + string(kind) + `; name="smime.p7m"`, `attachment; filename="smime.p7m"`, "binary", der}
		}
	}
	if err != nil {
		return Composed{}, nil, fmt.Errorf("compose a message: %w", err)
	}
	var mics []MIC
	for _, text := range append([][]byte{checked}, also...) {
		mic, err := micOver(hash, digestName(hash), func(to io.Writer) error { _, err := to.Write(text); return err })
		if err != nil {
			return Composed{}, nil, fmt.Errorf("compose a message: %w", err)
		}
		mics = append(mics, mic)
	}
	return c, mics, nil
}

func (w Wrapping) hash() crypto.Hash { return w.Signature.HashFunc() }

// sign makes multipart/signed of an entity: RFC 1847 §2.1, RFC 8551 §3.5.3. The
// signature is base64, since some cannot read it otherwise.
func sign(s cms.Signature, entity []byte) (Composed, error) {
	der, err := s.Sign(cms.InMemory(entity))
	if err != nil {
		return Composed{}, fmt.Errorf("sign: %w", err)
	}
	boundary := boundaryOf(entity)
	var b bytes.Buffer
	b.Grow(len(entity) + len(der)*3/2 + 512)
	b.WriteString("--" + boundary + "\r\n")
	b.Write(entity)
	b.WriteString("\r\n--" + boundary + "\r\n" +
		"Content-Type: application/pkcs7-signature; name=\"smime.p7s\"\r\n" +
		"Content-Transfer-Encoding: base64\r\n" +
		"Content-Disposition: attachment; filename=\"smime.p7s\"\r\n\r\n")
	b.WriteString(lines(der))
	b.WriteString("\r\n--" + boundary + "--\r\n")
	return Composed{ContentType: fmt.Sprintf(`multipart/signed; protocol="application/pkcs7-signature"; micalg=%s; boundary="%s"`, digestName(s.HashFunc()), boundary), Body: b.Bytes()}, nil
}

// boundaryOf makes a boundary that does not stand in text: of its digest, so that the
// same text has the same one.
func boundaryOf(text []byte) string {
	for sum := sha256.Sum256(text); ; sum = sha256.Sum256(sum[:]) {
		boundary := "edigw-" + hex.EncodeToString(sum[:16])
		if !bytes.Contains(text, []byte(boundary)) {
			return boundary
		}
	}
}

// lines gives base64 in lines of 76 characters, RFC 2045 §6.8, without the last line's
// end.
func lines(der []byte) string {
	text := base64.StdEncoding.EncodeToString(der)
	var b strings.Builder
	for len(text) > 76 {
		b.WriteString(text[:76] + "\r\n")
		text = text[76:]
	}
	b.WriteString(text)
	return b.String()
}
