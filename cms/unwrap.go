package cms

import (
	"cmp"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
)

// Key is a private key of ours with the certificate that senders encrypt to.
type Key struct {
	Certificate *Certificate
	// Private is a crypto.Decrypter of RSA, or has the method ECDH of
	// *ecdh.PrivateKey or of *ecdsa.PrivateKey.
	Private crypto.PrivateKey
}

// agreer agrees on a secret: *ecdh.PrivateKey.
type agreer interface {
	ECDH(*ecdh.PublicKey) ([]byte, error)
}

// serves reports whether the key is of the kind that the recipient's algorithm
// needs, and how the content's key is encrypted then.
func (k Key) serves(one *recipient) (KeyEncryption, bool) {
	switch {
	case k.Certificate == nil:
		return "", false
	case one.agreed:
		_, agrees := k.agreer()
		return KeyECDH, agrees && one.originator != nil
	case one.algorithm.is(oidRSA):
		_, decrypts := k.decrypter()
		return KeyRSAPKCS1, decrypts
	case one.algorithm.is(oidOAEP):
		_, decrypts := k.decrypter()
		return KeyRSAOAEP, decrypts
	}
	return "", false
}

func (k Key) decrypter() (crypto.Decrypter, bool) {
	d, ok := k.Private.(crypto.Decrypter)
	if !ok {
		return nil, false
	}
	_, ok = d.Public().(*rsa.PublicKey)
	return d, ok
}

func (k Key) agreer() (agreer, bool) {
	if key, ok := k.Private.(*ecdsa.PrivateKey); ok {
		agrees, err := key.ECDH()
		return agrees, err == nil
	}
	agrees, ok := k.Private.(agreer)
	return agrees, ok
}

// unwrap gives the content's key of size bytes. Where it cannot, it gives a random
// one, so that what comes next is the same, and says why: RFC 3218 §2.3.2.
func (one *recipient) unwrap(k Key, how KeyEncryption, size int) (key []byte, why error) {
	instead := make([]byte, size)
	rand.Read(instead) // never fails
	switch how {
	case KeyRSAPKCS1:
		d, _ := k.decrypter()
		// That the padding is wrong is never told: a random key comes then.
		//lint:ignore SA1019 most AS2 products have nothing else; see unwrap for what is done against the danger
		key, why = d.Decrypt(rand.Reader, one.encrypted, &rsa.PKCS1v15DecryptOptions{SessionKeyLen: size})
	case KeyRSAOAEP:
		d, _ := k.decrypter()
		options, refused := optionsOAEP(one.algorithm.parameters)
		key, why = d.Decrypt(rand.Reader, one.encrypted, options)
		why = cmp.Or(refused, why)
	case KeyECDH:
		key, why = one.agree(k)
	}
	if why == nil && len(key) != size {
		why = fmt.Errorf("the content's key has %d bytes in place of %d", len(key), size)
	}
	if why != nil {
		return instead, why
	}
	return key, nil
}

// optionsOAEP reads RSAES-OAEP-params: RFC 4055 §4.1. With an error come the
// defaults, so that the key works all the same.
func optionsOAEP(text []byte) (*rsa.OAEPOptions, error) {
	o := &rsa.OAEPOptions{Hash: crypto.SHA1, MGFHash: crypto.SHA1}
	if err := readOAEP(o, text); err != nil {
		return &rsa.OAEPOptions{Hash: crypto.SHA1, MGFHash: crypto.SHA1}, err
	}
	return o, nil
}

func readOAEP(o *rsa.OAEPOptions, text []byte) error {
	if text == nil || text[0] == byte(tagNull) {
		return nil
	}
	r := newReader(text, partDepth)
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	if err := r.hash(tagged(0), &o.Hash); err != nil {
		return err
	}
	if err := r.maskGenerator(tagged(1), &o.MGFHash); err != nil {
		return err
	}
	if r.next(tagged(2)) {
		if err := r.enter(tagged(2)); err != nil {
			return err
		}
		a, err := r.algorithm()
		if err != nil {
			return err
		}
		if !a.is(oidPSpecified) || a.parameters == nil {
			return fmt.Errorf("%w: the source of the label %s", ErrUnsupported, dotted(a.id))
		}
		if o.Label, err = newReader(a.parameters, partDepth).key(tagOctetString); err != nil {
			return err
		}
		if err := r.leave(); err != nil {
			return err
		}
	}
	return r.leave()
}
