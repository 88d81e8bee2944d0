package main

import (
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"

	"github.com/edigw/edigw/partners/keys"
)

// bareCrypto does the cryptography of a message whenever it is called, and nothing
// else, by the standard library: the key is unwrapped, the payload decrypted and
// digested as it was compressed, one signature verified, and one made for the receipt.
// It is not decompressed.
func bareCrypto(dir string, content []byte) (func() error, error) {
	var private [2]*rsa.PrivateKey
	for i, purpose := range []string{"sign", "encrypt"} {
		text, err := os.ReadFile(filepath.Join(dir, receiver+"-rsa-"+purpose+".key.pem"))
		if err != nil {
			return nil, err
		}
		key, _, err := keys.Read(text, "")
		if err != nil {
			return nil, err
		}
		own, is := key.(*rsa.PrivateKey)
		if !is {
			return nil, errors.New("not an RSA key")
		}
		private[i] = own
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(content); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	key, nonce := make([]byte, 16), make([]byte, 12)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	sealed := gcm.Seal(nil, nonce, packed.Bytes(), nil)
	wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &private[1].PublicKey, key, nil)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed.Bytes())
	signature, err := rsa.SignPKCS1v15(nil, private[0], crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	return func() error {
		_, unwrapErr := rsa.DecryptOAEP(sha256.New(), nil, private[1], wrapped, nil)
		opened, openErr := gcm.Open(nil, nonce, sealed, nil)
		digest := sha256.Sum256(opened)
		verifyErr := rsa.VerifyPKCS1v15(&private[0].PublicKey, crypto.SHA256, digest[:], signature)
		_, signErr := rsa.SignPKCS1v15(nil, private[0], crypto.SHA256, digest[:])
		return errors.Join(unwrapErr, openErr, verifyErr, signErr)
	}, nil
}
