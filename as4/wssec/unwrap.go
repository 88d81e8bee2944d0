package wssec

import (
	"crypto"
	"crypto/aes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// How the key of the parts is protected: XML Encryption 1.1 §5.5, §5.6, RFC 9231 §2.7.
const (
	RSAOAEP      = XENC11 + "rsa-oaep"
	RSAOAEPMGF1P = XENC + "rsa-oaep-mgf1p" // MGF1 with SHA-1
	ECDHES       = XENC11 + "ECDH-ES"
	X25519       = DSIGMore + "x25519"
)

// keyWraps are the key wraps with the length of their keys in bytes: XML Encryption
// 1.1 §5.7.
var keyWraps = map[string]int{XENC + "kw-aes128": 16, XENC + "kw-aes192": 24, XENC + "kw-aes256": 32}

// masks are the mask generation functions of RSA-OAEP: XML Encryption 1.1 §5.5.2.
var masks = map[string]crypto.Hash{
	XENC11 + "mgf1sha1": crypto.SHA1, XENC11 + "mgf1sha256": crypto.SHA256,
	XENC11 + "mgf1sha384": crypto.SHA384, XENC11 + "mgf1sha512": crypto.SHA512,
}

// DecryptionKey is a private key of ours that partners encrypt to: *rsa.PrivateKey or
// another crypto.Decrypter of an RSA key; *ecdsa.PrivateKey, *ecdh.PrivateKey or what
// has its methods Curve and ECDH for key agreement.
type DecryptionKey struct {
	Certificate *x509.Certificate
	Key         crypto.PrivateKey
}

// wrapped is an xenc:EncryptedKey that was read; open tries one key of ours. All
// that open says is for the log alone.
type wrapped struct {
	token Token
	open  func(key DecryptionKey) ([]byte, error)
}

// parseKey reads an xenc:EncryptedKey. Its errors are about what stands in the
// message for all to see.
func (e *Envelope) parseKey(at *etree.Element) (*wrapped, error) {
	if err := holds(at, xenc("EncryptionMethod"), ds("KeyInfo"), xenc("CipherData"), xenc("ReferenceList"), xenc("CarriedKeyName")); err != nil {
		return nil, malformed("%v", err)
	}
	method, err := infoset.Only(at, xenc("EncryptionMethod"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	ciphertext, err := cipherValue(at)
	if err != nil {
		return nil, malformed("%v", err)
	}
	uri, _ := infoset.Attr(method, plain("Algorithm"))
	if length, ok := keyWraps[uri]; ok {
		return e.parseAgreement(at, ciphertext, length)
	}
	if uri != RSAOAEP && uri != RSAOAEPMGF1P {
		return nil, nonCompliant("the key encryption %q is not allowed; use %s, or key agreement with %skw-aes128", uri, RSAOAEP, XENC)
	}
	options, err := parseOAEP(method)
	if err != nil {
		return nil, err
	}
	w := &wrapped{open: func(key DecryptionKey) ([]byte, error) {
		decrypter, ok := key.Key.(crypto.Decrypter)
		if !ok {
			return nil, fmt.Errorf("a %T does not decrypt RSA-OAEP", key.Key)
		}
		if _, ok := decrypter.Public().(*rsa.PublicKey); !ok {
			return nil, fmt.Errorf("a %T is no RSA key", decrypter.Public())
		}
		return decrypter.Decrypt(nil, ciphertext, options)
	}}
	if w.token, err = e.token(at); err != nil {
		return nil, malformed("the recipient of the key cannot be told: %v", err)
	}
	return w, nil
}

// cipherValue reads xenc:CipherData/xenc:CipherValue.
func cipherValue(of *etree.Element) ([]byte, error) {
	data, err := infoset.Only(of, xenc("CipherData"))
	if err != nil {
		return nil, err
	}
	value, err := infoset.Only(data, xenc("CipherValue"))
	if err != nil {
		return nil, err
	}
	return decoded(value)
}

// parseOAEP reads the parameters of RSA-OAEP: XML Encryption 1.1 §5.5.2. SHA-1 is not
// forbidden: RSA-OAEP does not need its hash to be free of collisions, and without an
// MGF element MGF1 has SHA-1, whatever DigestMethod says.
func parseOAEP(method *etree.Element) (*rsa.OAEPOptions, error) {
	if err := holds(method, ds("DigestMethod"), xenc11("MGF"), xenc("OAEPparams"), xenc("KeySize")); err != nil {
		return nil, malformed("%v", err)
	}
	options := &rsa.OAEPOptions{Hash: crypto.SHA1, MGFHash: crypto.SHA1}
	digest, err := infoset.Child(method, ds("DigestMethod"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	if digest != nil {
		uri, _ := infoset.Attr(digest, plain("Algorithm"))
		var ok bool
		if options.Hash, ok = digests[uri]; !ok {
			return nil, nonCompliant("the digest method %q is not allowed in RSA-OAEP; use SHA-256", uri)
		}
	}
	// QUIRK: xmlsec1 writes an MGF beside rsa-oaep-mgf1p too, and means it.
	mgf, err := infoset.Child(method, xenc11("MGF"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	if mgf != nil {
		uri, _ := infoset.Attr(mgf, plain("Algorithm"))
		var ok bool
		if options.MGFHash, ok = masks[uri]; !ok {
			return nil, nonCompliant("the mask generation function %q is not allowed in RSA-OAEP; use %smgf1sha256", uri, XENC11)
		}
	}
	if options.Label, err = optionalBase64(method, xenc("OAEPparams")); err != nil {
		return nil, malformed("%v", err)
	}
	return options, nil
}

// parseAgreement reads a key that is wrapped under an agreed one: XML Encryption 1.1
// §5.6.
func (e *Envelope) parseAgreement(at *etree.Element, ciphertext []byte, length int) (*wrapped, error) {
	info, err := infoset.Only(at, ds("KeyInfo"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	agreement, err := infoset.Only(info, xenc("AgreementMethod"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	uri, _ := infoset.Attr(agreement, plain("Algorithm"))
	if uri != ECDHES && uri != X25519 {
		return nil, nonCompliant("the key agreement %q is not allowed; use %s or %s", uri, X25519, ECDHES)
	}
	derive, err := parseDerivation(agreement)
	if err != nil {
		return nil, nonCompliant("%v", err)
	}
	originator, err := originatorKey(agreement)
	if err != nil {
		return nil, nonCompliant("the originator's key cannot be used: %v", err)
	}
	if (uri == X25519) != (originator.Curve() == ecdh.X25519()) {
		return nil, nonCompliant("the key agreement %q has an originator's key of another curve, %v", uri, originator.Curve())
	}
	w := &wrapped{open: func(key DecryptionKey) ([]byte, error) {
		secret, err := agree(key, originator)
		if err != nil {
			return nil, err
		}
		kek, err := derive(secret, length)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(kek)
		if err != nil {
			return nil, err
		}
		return unwrapKey(block, ciphertext)
	}}
	recipient, err := infoset.Child(agreement, xenc("RecipientKeyInfo"))
	if err != nil {
		return nil, malformed("%v", err)
	}
	if recipient != nil {
		if w.token, err = e.tokenIn(recipient); err != nil {
			return nil, malformed("the recipient of the key cannot be told: %v", err)
		}
	}
	return w, nil
}

// agreeing is a private key that agrees on another: *ecdh.PrivateKey, or what holds one.
type agreeing interface {
	Curve() ecdh.Curve
	ECDH(*ecdh.PublicKey) ([]byte, error)
}

// agree gives the shared secret of a key of ours and the originator's.
func agree(key DecryptionKey, originator *ecdh.PublicKey) ([]byte, error) {
	var ours agreeing
	switch k := key.Key.(type) {
	case agreeing:
		ours = k
	case *ecdsa.PrivateKey:
		var err error
		if ours, err = k.ECDH(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("a %T agrees on no key", key.Key)
	}
	if ours.Curve() != originator.Curve() {
		return nil, errors.New("the originator's key is of another curve")
	}
	return ours.ECDH(originator)
}

// curves are the named curves that are read: RFC 5480 §2.1.1.1.
var curves = map[string]ecdh.Curve{
	"urn:oid:1.2.840.10045.3.1.7": ecdh.P256(),
	"urn:oid:1.3.132.0.34":        ecdh.P384(),
	"urn:oid:1.3.132.0.35":        ecdh.P521(),
}

// originatorKey reads xenc:OriginatorKeyInfo: XML Signature 1.1 §4.5.2.3, §4.5.9.
func originatorKey(agreement *etree.Element) (*ecdh.PublicKey, error) {
	info, err := infoset.Only(agreement, xenc("OriginatorKeyInfo"))
	if err != nil {
		return nil, err
	}
	at, err := onlyChild(info)
	if err != nil {
		return nil, err
	}
	if infoset.Is(at, ds("KeyValue")) {
		if at, err = onlyChild(at); err != nil {
			return nil, err
		}
	}
	switch infoset.NameOf(at) {
	case dsig11("DEREncodedKeyValue"):
		der, err := decoded(at)
		if err != nil {
			return nil, err
		}
		key, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, err
		}
		switch key := key.(type) {
		case *ecdh.PublicKey:
			return key, nil
		case *ecdsa.PublicKey:
			return key.ECDH()
		}
		return nil, fmt.Errorf("a %T agrees on no key", key)
	case dsig11("ECKeyValue"):
		curve, err := infoset.Only(at, dsig11("NamedCurve"))
		if err != nil {
			return nil, err
		}
		uri, _ := infoset.Attr(curve, plain("URI"))
		c, ok := curves[uri]
		if !ok {
			return nil, fmt.Errorf("the curve %q is not supported; P-256, P-384 and P-521 are", uri)
		}
		value, err := infoset.Only(at, dsig11("PublicKey"))
		if err != nil {
			return nil, err
		}
		point, err := decoded(value)
		if err != nil {
			return nil, err
		}
		return c.NewPublicKey(point)
	}
	return nil, fmt.Errorf("it is given as %s; DEREncodedKeyValue and ECKeyValue are read", infoset.NameOf(at))
}

func dsig11(local string) infoset.Name { return infoset.Name{Space: DSIG11, Local: local} }

// key opens the key with one of ours: first those that the message names, then the
// others, since a renewed certificate is often named otherwise by who still has the
// old one. A key of another length is none.
func (w *wrapped) key(keys []DecryptionKey, length int) ([]byte, error) {
	named := func(k DecryptionKey) int {
		if k.Certificate != nil && w.token.Names(k.Certificate) {
			return 0
		}
		return 1
	}
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(a, b DecryptionKey) int { return named(a) - named(b) })
	faults := []error{fmt.Errorf("the key is for the %v, of %d keys of ours", w.token, len(keys))}
	for _, k := range keys {
		key, err := w.open(k)
		if err == nil && len(key) != length {
			err = fmt.Errorf("the key has %d bytes, %d are expected", len(key), length)
		}
		if err == nil {
			return key, nil
		}
		faults = append(faults, err)
	}
	return nil, errors.Join(faults...)
}
