package cms

import "crypto"

// Enveloped is an EnvelopedData or AuthEnvelopedData that was read: RFC 5652 §6,
// RFC 5083. It lies in the bytes that it was read from.
type Enveloped struct {
	Kind       Kind // EnvelopedData or AuthEnvelopedData
	Type       Kind // of the content
	Encryption Encryption
	Size       int // of the encrypted content in bytes
}

// ParseEnveloped reads an EnvelopedData or AuthEnvelopedData. The error wraps
// ErrMalformed, ErrLimit or ErrUnsupported; it tells nothing of any key.
func ParseEnveloped(der []byte, l Limits) (*Enveloped, error) { return nil, ErrUnsupported }

// Key is a private key of ours with the certificate that senders encrypt to.
type Key struct {
	Certificate *Certificate
	// Private is a crypto.Decrypter of RSA, or has the method ECDH of
	// *ecdh.PrivateKey or of *ecdsa.PrivateKey.
	Private crypto.PrivateKey
}

// Decrypted is what came out of an Enveloped.
type Decrypted struct {
	Content     []byte // in the memory of the message
	Encryption  Encryption
	Key         KeyEncryption
	Certificate *Certificate // of ours, that it was encrypted to
}

// Decrypt decrypts the content where it lies: afterwards the bytes that Enveloped
// was read from are spoilt, whether it went well or not, and it is not called
// again. The error is ErrDecrypt, whatever it was; Detail says more.
func (e *Enveloped) Decrypt(keys []Key) (*Decrypted, error) { return nil, ErrUnsupported }

// Recipients says to whom a message is encrypted, for people.
func (e *Enveloped) Recipients() []string { return nil }

// Detail says why a decryption failed: for a log that nobody outside reads, since
// a sender who learns it learns the content of others. "" of other errors.
func Detail(err error) string { return "" }
