package main

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/edigw/edigw/partners/keys"
)

// bareCrypto does the cryptography of a message whenever it is called, and nothing
// else, by the standard library: the key is decrypted by RSA, the payload by
// AES-256-CBC, it is digested, one signature verified, and one made for the MDN.
func (r *run) bareCrypto(content []byte) (func() error, error) {
	text, err := os.ReadFile(filepath.Join(r.keys, receiver+".key.pem"))
	if err != nil {
		return nil, err
	}
	read, _, err := keys.Read(text, "")
	if err != nil {
		return nil, err
	}
	private, is := read.(*rsa.PrivateKey)
	if !is {
		return nil, errors.New("not an RSA key")
	}
	key, iv := make([]byte, 32), make([]byte, aes.BlockSize)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	content = content[:len(content)/aes.BlockSize*aes.BlockSize]
	sealed := make([]byte, len(content))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(sealed, content)
	//lint:ignore SA1019 most AS2 products have nothing else: RFC 8551 §2.3
	wrapped, err := rsa.EncryptPKCS1v15(rand.Reader, &private.PublicKey, key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	return func() error {
		//lint:ignore SA1019 as above
		decryptErr := rsa.DecryptPKCS1v15SessionKey(nil, private, wrapped, slices.Clone(key))
		opened := make([]byte, len(sealed))
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(opened, sealed)
		digest := sha256.Sum256(opened)
		verifyErr := rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, digest[:], signature)
		_, signErr := rsa.SignPKCS1v15(nil, private, crypto.SHA256, digest[:])
		return errors.Join(decryptErr, verifyErr, signErr)
	}, nil
}
