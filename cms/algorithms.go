package cms

import (
	"bytes"
	"crypto"
	_ "crypto/md5"  // QUIRK: old partners; a Policy has to allow each of these two
	_ "crypto/sha1" // likewise
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"fmt"
)

// Encryption is how content is encrypted, by the name that settings and
// documentation give it.
type Encryption string

// RFC 3370 §5.1, RFC 3565, RFC 5084.
const (
	TripleDES Encryption = "3des" // des-ede3-cbc
	AES128CBC Encryption = "aes128-cbc"
	AES192CBC Encryption = "aes192-cbc"
	AES256CBC Encryption = "aes256-cbc"
	AES128GCM Encryption = "aes128-gcm"
	AES192GCM Encryption = "aes192-gcm"
	AES256GCM Encryption = "aes256-gcm"
	AES128CCM Encryption = "aes128-ccm"
	AES192CCM Encryption = "aes192-ccm"
	AES256CCM Encryption = "aes256-ccm"
)

// Encryptions is every one there is.
var Encryptions = []Encryption{TripleDES, AES128CBC, AES192CBC, AES256CBC, AES128GCM, AES192GCM, AES256GCM, AES128CCM, AES192CCM, AES256CCM}

// Authenticates reports whether a change of the content on its way is seen. Without
// that, what is told of decrypted content tells a stranger what was encrypted, unless a
// signature inside was found right.
func (e Encryption) Authenticates() bool {
	for _, c := range ciphers {
		if c.name == e {
			return c.mode.authenticates()
		}
	}
	return false
}

// cipherOf is what is to be known of an Encryption.
type cipherOf struct {
	name Encryption
	id   []byte
	key  int // its length in bytes
	mode mode
}

// mode is how a block cipher is used.
type mode int

const (
	cbc mode = iota
	gcm      // Galois/Counter Mode: NIST SP 800-38D
	ccm      // Counter with CBC-MAC: NIST SP 800-38C
)

// authenticates reports whether a change of the content is seen.
func (m mode) authenticates() bool { return m != cbc }

var ciphers = []cipherOf{
	{TripleDES, []byte("\x2a\x86\x48\x86\xf7\x0d\x03\x07"), 24, cbc},
	{AES128CBC, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x02"), 16, cbc},
	{AES192CBC, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x16"), 24, cbc},
	{AES256CBC, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x2a"), 32, cbc},
	{AES128GCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x06"), 16, gcm},
	{AES192GCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x1a"), 24, gcm},
	{AES256GCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x2e"), 32, gcm},
	{AES128CCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x07"), 16, ccm},
	{AES192CCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x1b"), 24, ccm},
	{AES256CCM, []byte("\x60\x86\x48\x01\x65\x03\x04\x01\x2f"), 32, ccm},
}

// Scheme is how a signature was made.
type Scheme string

// RFC 3370 §3.2, RFC 4056, RFC 5753 §2.1, RFC 8419.
const (
	RSAPKCS1 Scheme = "rsa-pkcs1"
	RSAPSS   Scheme = "rsa-pss"
	ECDSA    Scheme = "ecdsa"
	Ed25519  Scheme = "ed25519"
)

// KeyEncryption is how the content's key reached a recipient.
type KeyEncryption string

// RFC 3370 §4.2.1, RFC 3560, RFC 5753 §3.1.
const (
	KeyRSAPKCS1 KeyEncryption = "rsa-pkcs1"
	KeyRSAOAEP  KeyEncryption = "rsa-oaep"
	KeyECDH     KeyEncryption = "ecdh"
)

// digests are the digest algorithms: RFC 3370 §2, RFC 5754 §2, RFC 8702 §3.1. Old
// ones are taken only where a Policy names them.
var digests = []struct {
	hash crypto.Hash
	id   []byte
	old  bool
}{
	{crypto.SHA256, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x01"), false},
	{crypto.SHA384, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x02"), false},
	{crypto.SHA512, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x03"), false},
	{crypto.SHA1, []byte("\x2b\x0e\x03\x02\x1a"), true},
	{crypto.SHA224, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x04"), true},
	{crypto.MD5, []byte("\x2a\x86\x48\x86\xf7\x0d\x02\x05"), true},
	{crypto.SHA512_224, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x05"), true},
	{crypto.SHA512_256, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x06"), false},
	{crypto.SHA3_224, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x07"), true},
	{crypto.SHA3_256, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x08"), false},
	{crypto.SHA3_384, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x09"), false},
	{crypto.SHA3_512, []byte("\x60\x86\x48\x01\x65\x03\x04\x02\x0a"), false},
}

// hashOf gives the hash function of a digest algorithm, 0 for one that is not
// known.
func hashOf(id []byte) crypto.Hash {
	for _, d := range digests {
		if bytes.Equal(d.id, id) {
			return d.hash
		}
	}
	return 0
}

// algorithm is an AlgorithmIdentifier: RFC 5280 §4.1.1.2.
type algorithm struct {
	id         []byte
	parameters []byte // the whole element, nil where there is none
}

func (a algorithm) is(id []byte) bool { return bytes.Equal(a.id, id) }

// algorithm reads one.
func (r *reader) algorithm() (a algorithm, err error) { return r.algorithmAs(tagSequence) }

// mostParameters is how long the parameters of an algorithm may be, in bytes: the
// longest that there are hold a label of RSA-OAEP. Some are written anew in DER, which
// takes many times their memory where they are of many small elements.
const mostParameters = 4 << 10

// algorithmAs reads one whose tag is implicit.
func (r *reader) algorithmAs(t tag) (a algorithm, err error) {
	if err := r.enter(t); err != nil {
		return a, err
	}
	if a.id, err = r.primitive(tagOID); err != nil {
		return a, err
	}
	if r.more() {
		if a.parameters, err = r.skip(); err != nil {
			return a, err
		}
		if len(a.parameters) > mostParameters {
			return a, fmt.Errorf("%w: parameters of %d bytes for %s; %d are the most", ErrLimit, len(a.parameters), dotted(a.id), mostParameters)
		}
	}
	return a, r.leave()
}
