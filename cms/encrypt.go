package cms

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/bits"
)

// Envelope is how something is to be encrypted: to whom and with what.
type Envelope struct {
	Recipients []*Certificate // RSA, or EC of P-256, P-384 and P-521
	Encryption Encryption     // "" is AES128CBC, which every product has; GCM and CCM make an AuthEnvelopedData
	OAEP       crypto.Hash    // RSA keys: RSA-OAEP with this hash; 0 is PKCS #1 v1.5
	KDF        crypto.Hash    // EC keys: of the key derivation, SHA1 to SHA512; 0 is SHA256

	KeyIdentifier bool // names recipients by key identifier, not by issuer and serial number
}

// Encrypt makes an EnvelopedData or AuthEnvelopedData in DER. The content is copied
// once. The error says what of Envelope does not fit.
func (e Envelope) Encrypt(content []byte) (der []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("encrypt: %w", err)
		}
	}()
	if len(e.Recipients) == 0 {
		return nil, errors.New("there is no recipient")
	}
	var c cipherOf
	for _, known := range ciphers {
		if known.name == cmp.Or(e.Encryption, AES128CBC) {
			c = known
		}
	}
	if c.id == nil {
		return nil, fmt.Errorf("%w: the content encryption %q", ErrUnsupported, e.Encryption)
	}
	key := make([]byte, c.key)
	rand.Read(key) // never fails
	version := byte(0)
	var infos [][]byte
	for _, to := range e.Recipients {
		info, plain, err := e.recipient(to, key, c)
		if err != nil {
			return nil, fmt.Errorf("to %s: %w", to, err)
		}
		if infos = append(infos, info); !plain {
			version = 2 // RFC 5652 §6.1
		}
	}
	if c.mode.authenticates() {
		return sealAuthenticated(key, c, setOf(infos...), content)
	}
	block, err := c.new(key)
	if err != nil {
		return nil, err
	}
	return sealCBC(block, c, integer(version), setOf(infos...), content)
}

// recipient writes a RecipientInfo. plain is one of version 0.
func (e Envelope) recipient(to *Certificate, key []byte, c cipherOf) (info []byte, plain bool, err error) {
	switch public := to.PublicKey.(type) {
	case *rsa.PublicKey:
		algorithm, encrypted := sequence(element(byte(tagOID), oidRSA), null), []byte(nil)
		if e.OAEP == 0 {
			//lint:ignore SA1019 most AS2 products have nothing else: RFC 8551 §2.3
			encrypted, err = rsa.EncryptPKCS1v15(rand.Reader, public, key)
		} else if algorithm, err = oaepIdentifier(e.OAEP); err == nil {
			encrypted, err = rsa.EncryptOAEP(e.OAEP.New(), rand.Reader, public, key, nil)
		}
		if err != nil {
			return nil, false, err
		}
		version, id := byte(0), sequence(to.Issuer, element(byte(tagInteger), to.Serial))
		if e.KeyIdentifier {
			version, id = 2, element(byte(contextSpecific), to.keyIdentifier())
		}
		return sequence(integer(version), id, algorithm, element(byte(tagOctetString), encrypted)), !e.KeyIdentifier, nil
	case *ecdsa.PublicKey:
		info, err := e.agreed(to, public, key, c)
		return info, false, err
	}
	return nil, false, cmp.Or(to.KeyError, fmt.Errorf("%w: nobody encrypts to a key of kind %T", ErrUnsupported, to.PublicKey))
}

// oaepIdentifier gives RSA-OAEP with a hash: RFC 4055 §4.1. What is the default is
// left out.
func oaepIdentifier(h crypto.Hash) ([]byte, error) {
	if hashIdentifier(h) == nil {
		return nil, fmt.Errorf("%w: RSA-OAEP with %s", ErrUnsupported, h)
	}
	var parameters []byte
	if h != crypto.SHA1 {
		parameters = bytes.Join([][]byte{explicit(0, sequence(hashIdentifier(h), null)), explicit(1, maskIdentifier(h))}, nil)
	}
	return sequence(element(byte(tagOID), oidOAEP), sequence(parameters)), nil
}

// agreed writes a KeyAgreeRecipientInfo with an ephemeral key: RFC 5753 §3.1.
func (e Envelope) agreed(to *Certificate, theirs *ecdsa.PublicKey, key []byte, c cipherOf) ([]byte, error) {
	public, err := theirs.ECDH()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	hash := cmp.Or(e.KDF, crypto.SHA256)
	var agreement []byte
	for _, d := range derivations {
		if d.hash == hash && agreement == nil {
			agreement = element(byte(tagOID), d.id)
		}
	}
	if agreement == nil {
		return nil, fmt.Errorf("%w: a key derivation with %s", ErrUnsupported, hash)
	}
	ephemeral, err := public.Curve().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	secret, err := ephemeral.ECDH(public)
	if err != nil {
		return nil, err
	}
	wrapper := wrapAES
	var wrap []byte
	for _, w := range wraps {
		if w.key == c.key && wrap == nil {
			wrap = sequence(element(byte(tagOID), w.id))
		}
	}
	if c.name == TripleDES { // who has no AES has its own wrap: RFC 5753 §7.1.5
		wrapper, wrap = wrap3DES, sequence(element(byte(tagOID), oidWrap3DES), null)
	}
	wrapped, err := wrapper(derive(hash, secret, sharedInfo(wrap, nil, c.key), c.key), key)
	if err != nil {
		return nil, err
	}
	id := sequence(to.Issuer, element(byte(tagInteger), to.Serial))
	if e.KeyIdentifier {
		id = explicit(0, element(byte(tagOctetString), to.keyIdentifier()))
	}
	originator := explicit(0, explicit(1,
		sequence(element(byte(tagOID), oidECPublicKey)),
		element(byte(tagBitString), []byte{0}, ephemeral.PublicKey().Bytes())))
	return explicit(1, integer(3), originator, sequence(agreement, wrap),
		sequence(sequence(id, element(byte(tagOctetString), wrapped)))), nil
}

// sealCBC writes an EnvelopedData: RFC 5652 §6.1, with the padding of §6.3.
func sealCBC(block cipher.Block, c cipherOf, version, infos, content []byte) ([]byte, error) {
	iv := make([]byte, c.block())
	rand.Read(iv) // never fails
	padding := c.block() - len(content)%c.block()
	size := len(content) + padding
	head := encryptedHead(c, element(byte(tagOctetString), iv), size)
	out := startContent(oidEnveloped, len(version)+len(infos)+len(head)+size)
	out = append(append(append(out, version...), infos...), head...)
	text := append(append(out, content...), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text[len(out):], text[len(out):])
	return text, nil
}

// sealAuthenticated writes an AuthEnvelopedData with a tag of 16 bytes: RFC 5083
// §2.1, RFC 5084 §3. The nonce has 12 bytes, but for CCM of a content whose length
// needs more than the three that it leaves.
func sealAuthenticated(key []byte, c cipherOf, infos, content []byte) ([]byte, error) {
	const size = 16
	nonce := make([]byte, 12)
	if c.mode == ccm {
		nonce = nonce[:15-max(3, (bits.Len(uint(len(content)))+7)/8)]
	}
	rand.Read(nonce) // never fails
	aead, err := c.aead(key, len(nonce), size)
	if err != nil {
		return nil, err
	}
	version, head := integer(0), encryptedHead(c, sequence(element(byte(tagOctetString), nonce), integer(size)), len(content))
	out := startContent(oidAuthEnveloped, len(version)+len(infos)+len(head)+len(content)+2+size)
	out = append(append(append(out, version...), infos...), head...)
	out = aead.Seal(out, nonce, content, nil)
	// The header of the tag stands between it and the content.
	tag := bytes.Clone(out[len(out)-size:])
	return append(out[:len(out)-size], element(byte(tagOctetString), tag)...), nil
}

// encryptedHead writes an EncryptedContentInfo up to where size bytes of encrypted
// content follow.
func encryptedHead(c cipherOf, parameters []byte, size int) []byte {
	kind := element(byte(tagOID), oidData)
	algorithm := sequence(element(byte(tagOID), c.id), parameters)
	out := appendHeader(nil, byte(tagSequence)|constructed, len(kind)+len(algorithm)+headerSize(size)+size)
	out = append(append(out, kind...), algorithm...)
	return appendHeader(out, byte(contextSpecific), size)
}
