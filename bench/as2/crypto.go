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
	"time"

	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/partners/keys"
)

// bareCrypto is the processor time that the cryptography of a message takes and
// nothing else, by the standard library: the key is decrypted by RSA, the payload by
// AES-256-CBC, it is digested, one signature verified, and one made for the MDN.
func (r *run) bareCrypto(content []byte, messages int) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(r.keys, receiver+".key.pem"))
	if err != nil {
		return 0, err
	}
	read, _, err := keys.Read(text, "")
	if err != nil {
		return 0, err
	}
	private, is := read.(*rsa.PrivateKey)
	if !is {
		return 0, errors.New("not an RSA key")
	}
	key, iv := make([]byte, 32), make([]byte, aes.BlockSize)
	block, err := aes.NewCipher(key)
	if err != nil {
		return 0, err
	}
	content = append([]byte(nil), content[:len(content)/aes.BlockSize*aes.BlockSize]...)
	//lint:ignore SA1019 most AS2 products have nothing else: RFC 8551 §2.3
	wrapped, err := rsa.EncryptPKCS1v15(rand.Reader, &private.PublicKey, key)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(content)
	signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
	if err != nil {
		return 0, err
	}
	before, err := site.OwnCPU()
	if err != nil {
		return 0, err
	}
	for range messages {
		//lint:ignore SA1019 as above
		decryptErr := rsa.DecryptPKCS1v15SessionKey(nil, private, wrapped, key)
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(content, content)
		digest := sha256.Sum256(content)
		_ = digest // its time is what counts: the content is decrypted once more each time
		verifyErr := rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, sum[:], signature)
		_, signErr := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
		if err := errors.Join(decryptErr, verifyErr, signErr); err != nil {
			return 0, err
		}
	}
	after, err := site.OwnCPU()
	return (after - before) / time.Duration(messages), err
}
