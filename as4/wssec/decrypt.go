package wssec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// How parts are encrypted: XML Encryption 1.1 §5.2.
const (
	AES128GCM = XENC11 + "aes128-gcm"
	AES192GCM = XENC11 + "aes192-gcm"
	AES256GCM = XENC11 + "aes256-gcm"
)

// ciphers are the data encryptions that are read.
var ciphers = map[string]struct {
	key int // bytes
	cbc bool
}{
	AES128GCM: {16, false}, AES192GCM: {24, false}, AES256GCM: {32, false},
	XENC + "aes128-cbc": {16, true}, XENC + "aes192-cbc": {24, true}, XENC + "aes256-cbc": {32, true},
}

// Encrypted parts: SwA profile 1.1 §5.5.
const (
	attachmentOnly       = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Only"
	attachmentCiphertext = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Ciphertext-Transform"
)

// maxKeys bounds the keys of one message: each costs an operation with a private key.
const maxKeys = 8

// Decryption is how the parts of one message are decrypted.
type Decryption struct {
	Keys     []DecryptionKey // all that may still be encrypted to
	Required bool            // every part has to be encrypted

	// CBC has AES-CBC taken too, of messages that are signed: nothing else protects their
	// integrity. Where it is not set, what is said to be of CBC is refused before a key of
	// ours works for it, so that nobody has us decrypt so what was encrypted by GCM.
	CBC bool
}

// encrypted is an xenc:EncryptedData that was read.
type encrypted struct {
	key      *etree.Element // xenc:EncryptedKey
	method   string
	mimeType string
	part     int // of the parts
}

// Encrypted tells whether the Security header names encrypted parts.
func (e *Envelope) Encrypted() bool {
	return e.Security != nil && len(infoset.Children(e.Security, xenc("EncryptedData"))) > 0
}

// Decrypt gives the parts of a message as they were before encryption, in the order
// given: those that no xenc:EncryptedData names unchanged, the others with the
// MimeType of their EncryptedData and an Open that decrypts as it reads. The tag of
// every part is verified before it returns: one pass over the ciphertext.
//
// Errors are *Fault: Undecryptable, always with the same Detail; NonCompliant for
// an algorithm outside the list, a part that is not encrypted where it has to be,
// or EncryptedData of anything but a part; Malformed. Others are of reading a part.
func (e *Envelope) Decrypt(parts []Part, d Decryption) ([]Part, error) {
	data, err := e.encryptedParts(parts, d)
	if err != nil {
		return nil, err
	}
	keys := map[*etree.Element]*wrapped{}
	for _, x := range data {
		if keys[x.key] != nil {
			continue
		}
		if len(keys) == maxKeys {
			return nil, nonCompliant("the message has more than %d encrypted keys", maxKeys)
		}
		if keys[x.key], err = e.parseKey(x.key); err != nil {
			return nil, err
		}
	}
	result := slices.Clone(parts)
	opened := map[openedKey]opening{}
	var failed []error // each part is gone through, whatever went wrong before
	for _, x := range data {
		length := ciphers[x.method].key
		at := openedKey{x.key, length}
		if _, ok := opened[at]; !ok {
			opened[at] = open(keys[x.key], d.Keys, length)
		}
		if o := opened[at]; o.err != nil {
			failed = append(failed, o.err)
		}
		p := &result[x.part]
		fault, err := decryptPart(p, x, opened[at].key)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			failed = append(failed, fmt.Errorf("part %s: %w", p.ContentID, fault))
		}
	}
	if len(failed) > 0 {
		return nil, undecryptable("%w", errors.Join(failed...))
	}
	return result, nil
}

type openedKey struct {
	element *etree.Element
	length  int
}

type opening struct {
	key []byte
	err error
}

// open gives the key, or a random one in its place, so that what follows takes as
// long whether a key of ours fitted or not.
func open(w *wrapped, keys []DecryptionKey, length int) opening {
	key, err := w.key(keys, length)
	if err != nil {
		key = make([]byte, length)
		_, _ = rand.Read(key) // it never fails
	}
	return opening{key, err}
}

// decryptPart verifies what a part holds and makes it one that decrypts. fault is
// the message's, err is ours.
func decryptPart(p *Part, x encrypted, key []byte) (fault, err error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	cipherPart := *p
	in, err := cipherPart.Open()
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
	}
	defer in.Close() // it was read to its end, or its error is the one that counts
	if x.mimeType != "" {
		p.MimeType = x.mimeType
	}
	p.Encrypted = true
	if ciphers[x.method].cbc {
		length, err := io.Copy(io.Discard, in)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
		}
		if length < 2*aes.BlockSize || length%aes.BlockSize != 0 {
			return errShort, nil
		}
		p.Open, p.cbc = func() (io.ReadCloser, error) { return openCBC(cipherPart, block) }, true
		return nil, nil
	}
	nonce, length, err := verifyGCM(block, in)
	if err == errTag || err == errShort {
		return err, nil
	}
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", p.ContentID, err)
	}
	p.Open = func() (io.ReadCloser, error) {
		in, err := cipherPart.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, in, gcmNonce); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return &reader{cipher.StreamReader{S: gcmStream(block, nonce[:]), R: io.LimitReader(in, length)}, in}, nil
	}
	return nil, nil
}

// reader reads from one and closes another.
type reader struct {
	io.Reader
	io.Closer
}

// encryptedParts reads every xenc:EncryptedData of the message and finds the part
// that each names.
func (e *Envelope) encryptedParts(parts []Part, d Decryption) ([]encrypted, error) {
	if err := e.nothingElseEncrypted(e.Root); err != nil {
		return nil, err
	}
	var data []encrypted
	named := map[int]bool{}
	if e.Security != nil {
		for _, at := range infoset.Children(e.Security, xenc("EncryptedData")) {
			x, err := e.parseData(at, parts, d)
			if err != nil {
				return nil, err
			}
			if named[x.part] {
				return nil, malformed("two xenc:EncryptedData name the part %q", parts[x.part].ContentID)
			}
			named[x.part] = true
			data = append(data, x)
		}
	}
	for i, p := range parts {
		if d.Required && !named[i] {
			return nil, nonCompliant("the part %q is not encrypted", p.ContentID)
		}
	}
	return data, nil
}

// nothingElseEncrypted holds that all encryption is of parts: their EncryptedData
// stand in the Security header, and nowhere else is any.
func (e *Envelope) nothingElseEncrypted(at *etree.Element) error {
	for _, child := range at.ChildElements() {
		if infoset.Is(child, xenc("EncryptedData")) && at != e.Security {
			return nonCompliant("%s stands within %s: only parts may be encrypted", child.FullTag(), at.FullTag())
		}
		if err := e.nothingElseEncrypted(child); err != nil {
			return err
		}
	}
	return nil
}

// parseData reads an xenc:EncryptedData of a part: SwA profile 1.1 §5.5.2.
func (e *Envelope) parseData(at *etree.Element, parts []Part, d Decryption) (x encrypted, err error) {
	if err := holds(at, xenc("EncryptionMethod"), ds("KeyInfo"), xenc("CipherData"), xenc("EncryptionProperties")); err != nil {
		return x, malformed("%v", err)
	}
	if kind, _ := infoset.Attr(at, plain("Type")); kind != attachmentOnly {
		return x, nonCompliant("an xenc:EncryptedData has the Type %q, only %s is allowed", kind, attachmentOnly)
	}
	x.mimeType, _ = infoset.Attr(at, plain("MimeType"))
	if x.method, err = algorithm(at, xenc("EncryptionMethod")); err != nil {
		return x, malformed("%v", err)
	}
	c, ok := ciphers[x.method]
	if !ok || c.cbc && !d.CBC {
		return x, nonCompliant("the encryption %q is not allowed; use %s", x.method, AES128GCM)
	}
	if c.cbc && len(infoset.Children(e.Security, ds("Signature"))) == 0 {
		return x, nonCompliant("the encryption %q is allowed in messages that are signed alone; sign, or use %s", x.method, AES128GCM)
	}
	uri, err := cipherReference(at)
	if err != nil {
		return x, malformed("%v", err)
	}
	id, named := ContentID(uri)
	if x.part = slices.IndexFunc(parts, func(p Part) bool { return named && p.ContentID == id }); x.part < 0 {
		return x, malformed("an xenc:EncryptedData names %q, which is no part of the message", uri)
	}
	x.key, err = e.keyOf(at)
	if err != nil {
		return x, malformed("%v", err)
	}
	return x, nil
}

// cipherReference gives the URI of xenc:CipherData/xenc:CipherReference.
func cipherReference(of *etree.Element) (string, error) {
	data, err := infoset.Only(of, xenc("CipherData"))
	if err != nil {
		return "", err
	}
	reference, err := infoset.Only(data, xenc("CipherReference"))
	if err != nil {
		return "", err
	}
	if err := holds(reference, xenc("Transforms")); err != nil {
		return "", err
	}
	transforms, err := infoset.Only(reference, xenc("Transforms"))
	if err != nil {
		return "", err
	}
	if err := holds(transforms, ds("Transform")); err != nil {
		return "", err
	}
	if uri, err := algorithm(transforms, ds("Transform")); err != nil {
		return "", err
	} else if uri != attachmentCiphertext {
		return "", fmt.Errorf("the CipherReference has the transform %q, only %s is allowed", uri, attachmentCiphertext)
	}
	uri, _ := infoset.Attr(reference, plain("URI"))
	return uri, nil
}

// keyOf gives the xenc:EncryptedKey that belongs to an xenc:EncryptedData: the one
// that its KeyInfo names or holds, or without KeyInfo the one whose ReferenceList
// names it (Holodeck B2B encrypts its second part so).
func (e *Envelope) keyOf(data *etree.Element) (*etree.Element, error) {
	info, err := infoset.Child(data, ds("KeyInfo"))
	if err != nil {
		return nil, err
	}
	if info == nil {
		return e.keyListing(data)
	}
	at, err := onlyChild(info)
	if err != nil {
		return nil, err
	}
	if infoset.Is(at, xenc("EncryptedKey")) {
		return at, nil
	}
	reference := at
	if infoset.Is(at, wsse("SecurityTokenReference")) {
		if reference, err = onlyChild(at); err != nil {
			return nil, err
		}
	}
	uri, _ := infoset.Attr(reference, plain("URI"))
	key := e.byReference(uri)
	if !infoset.Is(reference, wsse("Reference")) || key == nil || !infoset.Is(key, xenc("EncryptedKey")) || key.Parent() != e.Security {
		return nil, fmt.Errorf("the key of an xenc:EncryptedData is named by %s %q, which is no xenc:EncryptedKey of the Security header", reference.FullTag(), uri)
	}
	return key, nil
}

func (e *Envelope) keyListing(data *etree.Element) (*etree.Element, error) {
	id, ok := infoset.Attr(data, plain("Id"))
	var found *etree.Element
	for _, key := range infoset.Children(e.Security, xenc("EncryptedKey")) {
		list, err := infoset.Child(key, xenc("ReferenceList"))
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		for _, r := range infoset.Children(list, xenc("DataReference")) {
			// QUIRK: AS4.NET writes the Id without # in front.
			uri, _ := infoset.Attr(r, plain("URI"))
			if strings.TrimPrefix(uri, "#") != id || !ok || found == key {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("two xenc:EncryptedKey list the xenc:EncryptedData %q", id)
			}
			found = key
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no xenc:EncryptedKey belongs to the xenc:EncryptedData %q", id)
	}
	return found, nil
}
