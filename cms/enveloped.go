package cms

import (
	"bytes"
	"fmt"
)

// Enveloped is an EnvelopedData or AuthEnvelopedData that was read: RFC 5652 §6,
// RFC 5083. It lies in the bytes that it was read from.
type Enveloped struct {
	Kind       Kind // EnvelopedData or AuthEnvelopedData
	Type       Kind // of the content; "" is one that is not known here
	Encryption Encryption
	Size       int // of the encrypted content in bytes

	cipher     cipherOf
	iv         []byte // or the nonce of GCM and CCM
	content    Octets
	tag        []byte // of GCM and CCM
	attributes []byte // [1] authAttrs as it stands, nil where there are none
	recipients []*recipient
	spent      bool // decrypted before
}

// recipient is one who has the content's key: a KeyTransRecipientInfo, or one of
// the RecipientEncryptedKeys of a KeyAgreeRecipientInfo. RFC 5652 §6.2.
type recipient struct {
	issuer, serial []byte // nil where keyID is told
	keyID          []byte
	algorithm      algorithm
	encrypted      []byte // the content's key

	agreed     bool   // by key agreement
	originator []byte // point of the sender's ephemeral key; nil where it is another kind of key
	ukm        []byte // nil where there is none
}

// mostKeyBytes is how long an encrypted key, or the sender's own, may be.
const mostKeyBytes = mostRSA/8 + 64

// ParseEnveloped reads an EnvelopedData or AuthEnvelopedData. The error wraps
// ErrMalformed, ErrLimit or ErrUnsupported; it tells nothing of any key.
func ParseEnveloped(der []byte, l Limits) (*Enveloped, error) {
	e := &Enveloped{Kind: EnvelopedData}
	name := "EnvelopedData"
	if KindOf(der) == AuthEnvelopedData {
		e.Kind, name = AuthEnvelopedData, "AuthEnvelopedData"
	}
	if err := open(der, l, name, func(r *reader) error { return e.read(r, l) }, oidEnveloped, oidAuthEnveloped); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Enveloped) read(r *reader, l Limits) error {
	if _, err := r.primitive(tagInteger); err != nil { // version: what it says, the structure says
		return err
	}
	if r.next(tagged(0)) { // the sender's certificates: for keys that are not ephemeral
		if _, err := r.skip(); err != nil {
			return err
		}
	}
	if err := r.enter(tagSet); err != nil {
		return err
	}
	for r.more() {
		if err := e.recipient(r, l); err != nil {
			return fmt.Errorf("recipient %d: %w", len(e.recipients)+1, err)
		}
	}
	if err := r.leave(); err != nil {
		return err
	}
	if err := e.encrypted(r); err != nil {
		return err
	}
	if e.Kind == EnvelopedData {
		if r.next(tagged(1)) { // unprotected attributes
			if _, err := r.skip(); err != nil {
				return err
			}
		}
		return e.tagInside()
	}
	if r.next(tagged(1)) {
		raw, err := r.skip()
		if err != nil {
			return err
		}
		if len(raw) > mostAttributeBytes {
			return fmt.Errorf("%w: attributes of %d bytes; %d are the most", ErrLimit, len(raw), mostAttributeBytes)
		}
		if e.attributes, err = derOf(asSet(raw)); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
	}
	tag, err := r.octets(tagOctetString)
	if err != nil {
		return err
	}
	if err := e.checkTag(tag.Size()); err != nil {
		return err
	}
	e.tag = bytes.Clone(tag.Bytes())
	if r.next(tagged(2)) {
		_, err = r.skip()
	}
	return err
}

// asSet gives attributes whose tag is implicit as the SET that is authenticated:
// RFC 5083 §2.2, as RFC 5652 §5.4.
func asSet(attributes []byte) []byte {
	set := bytes.Clone(attributes)
	set[0] = byte(tagSet) | constructed
	return set
}

// encrypted reads the EncryptedContentInfo: RFC 5652 §6.1.
func (e *Enveloped) encrypted(r *reader) error {
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	id, err := r.primitive(tagOID)
	if err != nil {
		return err
	}
	e.Type = kindOf(id)
	a, err := r.algorithm()
	if err != nil {
		return err
	}
	if err := e.algorithm(a); err != nil {
		return err
	}
	if !r.more() {
		return fmt.Errorf("%w: encrypted content that stands outside", ErrUnsupported)
	}
	if e.content, err = r.octets(tagged(0)); err != nil {
		return err
	}
	e.Size = e.content.Size()
	return r.leave()
}

// algorithm reads the content encryption's: RFC 3370 §5.1, RFC 3565 §4.1, RFC 5084
// §3.2.
func (e *Enveloped) algorithm(a algorithm) error {
	for _, c := range ciphers {
		if a.is(c.id) {
			e.cipher, e.Encryption = c, c.name
		}
	}
	if e.Encryption == "" {
		return fmt.Errorf("%w: the content encryption %s", ErrUnsupported, cipherText(a.id))
	}
	if e.Kind == AuthEnvelopedData && !e.cipher.mode.authenticates() {
		return fmt.Errorf("%w: an AuthEnvelopedData of %s", ErrUnsupported, e.Encryption)
	}
	if a.parameters == nil {
		return fmt.Errorf("%w: %s without its parameters", ErrMalformed, e.Encryption)
	}
	r := newReader(a.parameters, partDepth)
	if e.cipher.mode.authenticates() {
		return e.authenticated(r)
	}
	iv, err := r.octets(tagOctetString)
	if err != nil {
		return err
	}
	if iv.Size() != e.cipher.block() {
		return fmt.Errorf("%w: an initialisation vector of %d bytes for %s", ErrMalformed, iv.Size(), e.Encryption)
	}
	e.iv = bytes.Clone(iv.Bytes())
	return nil
}

// authenticated reads GCMParameters or CCMParameters, which are alike: RFC 5084 §3.1
// and §3.2.
//
// QUIRK: pkijs, and libas2 by it, writes GCM as if it was CBC: in an EnvelopedData, the
// nonce alone for parameters, and the tag of 16 bytes behind the content. It is verified
// as every other.
func (e *Enveloped) authenticated(r *reader) error {
	if e.Kind == EnvelopedData && e.cipher.mode == gcm && r.next(tagOctetString) {
		nonce, err := r.octets(tagOctetString)
		if err != nil {
			return err
		}
		if err := e.nonce(nonce); err != nil {
			return err
		}
		e.tag = make([]byte, 16)
		return e.checkTag(len(e.tag))
	}
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	nonce, err := r.octets(tagOctetString)
	if err != nil {
		return err
	}
	if err := e.nonce(nonce); err != nil {
		return err
	}
	size := 12 // the default of both
	if r.more() {
		n, err := r.primitive(tagInteger)
		if err != nil {
			return err
		}
		if len(n) != 1 {
			return r.malformed("the length of the tag")
		}
		size = int(n[0])
	}
	if err := r.leave(); err != nil {
		return err
	}
	e.tag = make([]byte, size)
	return e.checkTag(size)
}

func (e *Enveloped) nonce(nonce Octets) error {
	if n := nonce.Size(); n == 0 || n > 64 {
		return fmt.Errorf("%w: a nonce of %d bytes", ErrUnsupported, n)
	}
	e.iv = bytes.Clone(nonce.Bytes())
	return nil
}

// checkTag holds the lengths of tag and nonce against what can be done. RFC 5084
// allows CCM tags of 4 and 6 bytes: they are guessed too easily.
func (e *Enveloped) checkTag(size int) error {
	nonce, good := len(e.iv), false
	switch e.cipher.mode {
	case gcm:
		good = size == 16 || size >= 12 && size < 16 && nonce == 12
	case ccm:
		good = size >= 8 && size <= 16 && size%2 == 0 && nonce >= 7 && nonce <= 13
	}
	if !good {
		return fmt.Errorf("%w: %s with a tag of %d bytes and a nonce of %d", ErrUnsupported, e.Encryption, size, nonce)
	}
	return nil
}

// tagInside finds the tag in an EnvelopedData behind the content.
//
// QUIRK: Bouncy Castle, and phase2 by it, writes GCM and CCM as an EnvelopedData,
// which RFC 5084 §1 has no place for.
func (e *Enveloped) tagInside() error {
	if !e.cipher.mode.authenticates() {
		return nil
	}
	if e.Size -= len(e.tag); e.Size < 0 {
		return fmt.Errorf("%w: encrypted content without its tag", ErrMalformed)
	}
	e.tag = nil
	return nil
}

func (c cipherOf) block() int {
	if c.name == TripleDES {
		return 8
	}
	return 16
}

// cipherText names a content encryption that is not done here.
func cipherText(id []byte) string {
	for _, known := range []struct{ name, id string }{
		{"DES", "\x2b\x0e\x03\x02\x07"},
		{"RC2", "\x2a\x86\x48\x86\xf7\x0d\x03\x02"},
		{"RC4", "\x2a\x86\x48\x86\xf7\x0d\x03\x04"},
		{"CAST5", "\x2a\x86\x48\x86\xf6\x7d\x07\x42\x0a"},
		{"IDEA", "\x2b\x06\x01\x04\x01\x81\x3c\x07\x01\x01\x02"},
		{"Camellia-128", "\x2a\x83\x08\x8c\x9a\x4b\x3d\x01\x01\x01\x02"},
		{"Camellia-192", "\x2a\x83\x08\x8c\x9a\x4b\x3d\x01\x01\x01\x03"},
		{"Camellia-256", "\x2a\x83\x08\x8c\x9a\x4b\x3d\x01\x01\x01\x04"},
		{"ChaCha20-Poly1305", "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x03\x12"},
	} {
		if known.id == string(id) {
			return known.name
		}
	}
	return dotted(id)
}
