package wssec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/beevik/etree"
)

// Encrypting is to whom the parts are encrypted.
type Encrypting struct {
	Recipient *x509.Certificate // RSA; P-256, P-384, P-521 or X25519 for key agreement
	Chain     []*x509.Certificate
	Token     TokenForm

	// Method protects the key: RSAOAEP (SHA-256, MGF1 with SHA-256), RSAOAEPMGF1P
	// (SHA-256, MGF1 with SHA-1), ECDHES or X25519. "" takes what the recipient's key goes
	// with.
	Method string

	ConcatKDF bool   // with key agreement: ConcatKDF as BDEW has it, in place of HKDF
	Data      string // of the parts: AES128GCM, AES192GCM or AES256GCM; "" takes AES128GCM
}

// encrypt adds the key and the encrypted parts to wsse:Security, and gives the parts
// as they travel.
func (x *Encrypting) encrypt(security *etree.Element, parts []Part) ([]Part, error) {
	if x.Recipient == nil {
		return nil, errors.New("a recipient's certificate is needed")
	}
	data := x.Data
	if data == "" {
		data = AES128GCM
	}
	c, ok := ciphers[data]
	if !ok || c.cbc {
		return nil, fmt.Errorf("%q does not encrypt what we send; AES-GCM does", data)
	}
	key := make([]byte, c.key)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if token := x.Token.binary(recipientID, x.Recipient, x.Chain); token != nil {
		security.AddChild(token)
	}
	encryptedKey, err := x.encryptedKey(key)
	if err != nil {
		return nil, err
	}
	security.AddChild(encryptedKey)
	list := encryptedKey.CreateElement("xenc:ReferenceList")
	sealed := slices.Clone(parts)
	for i := range sealed {
		id := fmt.Sprintf(partIDs, i+1)
		list.CreateElement("xenc:DataReference").CreateAttr("URI", "#"+id)
		security.AddChild(encryptedData(id, data, sealed[i]))
		if err := sealPart(&sealed[i], block); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// sealPart makes a part one that encrypts as it is read. Its nonce is drawn once, so
// that whoever sends it again sends the same.
func sealPart(p *Part, block cipher.Block) error {
	nonce := make([]byte, gcmNonce)
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	plain := p.Open
	p.Encrypted = true
	p.MimeType = "application/octet-stream" // SwA profile 1.1 §5.5.2
	p.Open = func() (io.ReadCloser, error) {
		in, err := plain()
		if err != nil {
			return nil, err
		}
		return seal(block, nonce, in)
	}
	return nil
}

// encryptedData is SwA profile 1.1 §5.5.2.
func encryptedData(id, method string, p Part) *etree.Element {
	e := etree.NewElement("xenc:EncryptedData")
	e.CreateAttr("xmlns:xenc", XENC)
	e.CreateAttr("xmlns:ds", DSIG)
	e.CreateAttr("Id", id)
	e.CreateAttr("MimeType", p.MimeType)
	e.CreateAttr("Type", attachmentOnly)
	e.CreateElement("xenc:EncryptionMethod").CreateAttr("Algorithm", method)
	reference := e.CreateElement("ds:KeyInfo").CreateElement("wsse:SecurityTokenReference")
	reference.CreateAttr("xmlns:wsse11", WSSE11)
	reference.CreateAttr("wsse11:TokenType", typeEncryptedKey)
	reference.CreateElement("wsse:Reference").CreateAttr("URI", "#"+keyID)
	at := e.CreateElement("xenc:CipherData").CreateElement("xenc:CipherReference")
	at.CreateAttr("URI", CID(p.ContentID))
	at.CreateElement("xenc:Transforms").CreateElement("ds:Transform").CreateAttr("Algorithm", attachmentCiphertext)
	return e
}

// encryptedKey is XML Encryption 1.1 §3.5.1.
func (x *Encrypting) encryptedKey(key []byte) (*etree.Element, error) {
	e := etree.NewElement("xenc:EncryptedKey")
	e.CreateAttr("xmlns:xenc", XENC)
	e.CreateAttr("xmlns:ds", DSIG)
	e.CreateAttr("Id", keyID)
	method := e.CreateElement("xenc:EncryptionMethod")
	info := e.CreateElement("ds:KeyInfo")
	recipient, err := x.Token.reference(x.Recipient, recipientID)
	if err != nil {
		return nil, err
	}
	recipientKey, err := publicKey(x.Recipient)
	if err != nil {
		return nil, err
	}
	var ciphertext []byte
	switch public := recipientKey.(type) {
	case *rsa.PublicKey:
		info.AddChild(recipient)
		ciphertext, err = x.oaep(method, public, key)
	case *ecdsa.PublicKey:
		var theirs *ecdh.PublicKey
		if theirs, err = public.ECDH(); err == nil {
			ciphertext, err = x.agree(method, info, recipient, theirs, key)
		}
	case *ecdh.PublicKey:
		ciphertext, err = x.agree(method, info, recipient, public, key)
	default:
		err = fmt.Errorf("nothing can be encrypted to a %T", public)
	}
	if err != nil {
		return nil, err
	}
	value := e.CreateElement("xenc:CipherData").CreateElement("xenc:CipherValue")
	value.SetText(base64.StdEncoding.EncodeToString(ciphertext))
	return e, nil
}

// publicKey gives the key of a certificate. crypto/x509 leaves out those that verify
// nothing: X25519 (RFC 8410), of which it reads the SubjectPublicKeyInfo alone.
func publicKey(c *x509.Certificate) (any, error) {
	if c.PublicKey != nil {
		return c.PublicKey, nil
	}
	return x509.ParsePKIXPublicKey(c.RawSubjectPublicKeyInfo)
}

// oaep encrypts the key with RSA: XML Encryption 1.1 §5.5.2.
func (x *Encrypting) oaep(method *etree.Element, public *rsa.PublicKey, key []byte) ([]byte, error) {
	options := &rsa.OAEPOptions{Hash: digests[SHA256], MGFHash: digests[SHA256]}
	uri := x.Method
	switch uri {
	case "", RSAOAEP:
		uri = RSAOAEP
	case RSAOAEPMGF1P:
		options.MGFHash = digests[sha1URI]
	default:
		return nil, fmt.Errorf("%q does not go with an RSA key", uri)
	}
	method.CreateAttr("Algorithm", uri)
	method.CreateElement("ds:DigestMethod").CreateAttr("Algorithm", SHA256)
	if uri == RSAOAEP {
		mgf := method.CreateElement("xenc11:MGF")
		mgf.CreateAttr("xmlns:xenc11", XENC11)
		mgf.CreateAttr("Algorithm", XENC11+"mgf1sha256")
	}
	return rsa.EncryptOAEPWithOptions(rand.Reader, public, key, options)
}

// agree wraps the key under one that a fresh key of ours and the recipient's agree
// on: XML Encryption 1.1 §5.6, eDelivery AS4 2.0.
func (x *Encrypting) agree(method, info, recipient *etree.Element, theirs *ecdh.PublicKey, key []byte) ([]byte, error) {
	uri := ECDHES
	if theirs.Curve() == ecdh.X25519() {
		uri = X25519
	}
	if x.Method != "" && x.Method != uri {
		return nil, fmt.Errorf("%q does not go with a key on %v", x.Method, theirs.Curve())
	}
	ours, err := theirs.Curve().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	secret, err := ours.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	agreement := info.CreateElement("xenc:AgreementMethod")
	agreement.CreateAttr("Algorithm", uri)
	salt := make([]byte, sha256.Size)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	if x.ConcatKDF {
		agreement.AddChild(concatElement())
	} else {
		agreement.AddChild(hkdfElement(salt, len(key)))
	}
	derive, err := parseDerivation(agreement)
	if err != nil {
		return nil, err
	}
	originator, err := originatorElement(ours.PublicKey())
	if err != nil {
		return nil, err
	}
	agreement.AddChild(originator)
	agreement.CreateElement("xenc:RecipientKeyInfo").AddChild(recipient)
	// The wrap is as strong as what it wraps: kw-aes128 for AES-128-GCM, as eDelivery has it.
	method.CreateAttr("Algorithm", fmt.Sprintf("%skw-aes%d", XENC, len(key)*8))
	kek, err := derive(secret, len(key))
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, err
	}
	return wrapKey(block, key), nil
}

// originatorElement gives the fresh key: X25519 as DER (eDelivery AS4 2.0), the others
// as a point on a named curve (XML Signature 1.1 §4.5.2.3).
func originatorElement(public *ecdh.PublicKey) (*etree.Element, error) {
	e := etree.NewElement("xenc:OriginatorKeyInfo")
	for uri, curve := range curves {
		if curve != public.Curve() {
			continue
		}
		value := e.CreateElement("ds:KeyValue").CreateElement("dsig11:ECKeyValue")
		value.CreateAttr("xmlns:dsig11", DSIG11)
		value.CreateElement("dsig11:NamedCurve").CreateAttr("URI", uri)
		value.CreateElement("dsig11:PublicKey").SetText(base64.StdEncoding.EncodeToString(public.Bytes()))
		return e, nil
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	value := e.CreateElement("dsig11:DEREncodedKeyValue")
	value.CreateAttr("xmlns:dsig11", DSIG11)
	value.SetText(base64.StdEncoding.EncodeToString(der))
	return e, nil
}
