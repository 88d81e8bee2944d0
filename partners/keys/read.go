package keys

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"software.sslmate.com/src/go-pkcs12"
)

// Read reads a private key with the certificates beside it, as people have them:
// PEM (PKCS#8, PKCS#1 or SEC 1, RFC 7468) or PKCS#12 (RFC 7292), which a password
// protects. The certificate of the key comes first, then its issuers in order;
// others are left out.
func Read(text []byte, password string) (crypto.Signer, []*x509.Certificate, error) {
	if bytes.Contains(text, []byte("-----BEGIN")) {
		return readPEM(text)
	}
	key, cert, issuers, err := pkcs12.DecodeChain(text, password)
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return nil, nil, unfit("the password does not open it")
	case err != nil:
		return nil, nil, unfit("it is neither PEM nor PKCS#12: %w", err)
	}
	signer, err := usable(key)
	if err != nil {
		return nil, nil, err
	}
	return signer, chain(cert, issuers), nil
}

func readPEM(text []byte) (crypto.Signer, []*x509.Certificate, error) {
	var key crypto.Signer
	var certificates []*x509.Certificate
	read := 0
	for rest := text; ; read++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch {
		case block.Type == "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, nil, unfit("a certificate in it cannot be read: %w", err)
			}
			certificates = append(certificates, c)
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return nil, nil, unfit("the key is encrypted: open it with `openssl pkcs8 -in FILE`, or bring PKCS#12, which a password may protect")
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			if key != nil {
				return nil, nil, unfit("it holds more than one private key")
			}
			k, err := parse(block)
			if err != nil {
				return nil, nil, err
			}
			key = k
		}
	}
	if err := entire(text, read); err != nil {
		return nil, nil, err
	}
	if key == nil {
		return nil, nil, unfit("it holds no private key")
	}
	own, err := spkiOf(key.Public())
	if err != nil {
		return nil, nil, err
	}
	for _, c := range certificates {
		public, err := publicOf(c)
		if err != nil {
			continue // of a kind that is not kept
		}
		if spki, err := spkiOf(public); err == nil && spki == own {
			return key, chain(c, certificates), nil
		}
	}
	return key, nil, nil
}

func parse(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, unfit("the private key cannot be read: %w", err)
	}
	return usable(key)
}

// ReadChain reads certificates in PEM in the order in which they stand.
func ReadChain(text []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	read := 0
	for rest := text; ; read++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, unfit("certificate %d cannot be read: %w", len(list)+1, err)
		}
		list = append(list, c)
	}
	if err := entire(text, read); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, unfit("it holds no certificate in PEM")
	}
	return chain(list[0], list), nil
}

// entire refuses a text of which some blocks cannot be read. The reader of PEM
// passes them over without a word, so of a file that was half written the issuers
// would be missing, and partners refuse what is signed.
func entire(text []byte, read int) error {
	begun := 0
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("-----BEGIN ")) {
			begun++
		}
	}
	if begun > read {
		return unfit("%d of the %d PEM blocks in it are cut short or damaged: get the file again", begun-read, begun)
	}
	return nil
}

// longestChain bounds a chain that does not end.
const longestChain = 10

// chain puts behind a certificate whoever issued it, of those at hand.
func chain(own *x509.Certificate, others []*x509.Certificate) []*x509.Certificate {
	list := []*x509.Certificate{own}
	for last := own; len(list) < longestChain && !bytes.Equal(last.RawIssuer, last.RawSubject); {
		found := false
		for _, c := range others {
			if bytes.Equal(c.RawSubject, last.RawIssuer) && last.CheckSignatureFrom(c) == nil {
				list, last, found = append(list, c), c, true
				break
			}
		}
		if !found {
			break
		}
	}
	return list
}

// String never shows more of a key than what it is.
func (k *Key) String() string {
	return fmt.Sprintf("key %q of %s (%s)", k.Label, k.Organisation, k.Algorithm)
}
