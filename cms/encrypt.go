package cms

import "crypto"

// Envelope is how something is to be encrypted: to whom and with what.
type Envelope struct {
	Recipients []*Certificate // RSA or EC
	Encryption Encryption     // "" is AES128CBC, which every product has; GCM makes an AuthEnvelopedData
	OAEP       crypto.Hash    // RSA keys: RSA-OAEP with this hash; 0 is PKCS #1 v1.5
	KDF        crypto.Hash    // EC keys: of the key derivation; 0 is SHA256

	KeyIdentifier bool // names recipients by key identifier, not by issuer and serial number
}

// Encrypt makes an EnvelopedData or AuthEnvelopedData in DER.
func (e Envelope) Encrypt(content []byte) ([]byte, error) { return nil, ErrUnsupported }
