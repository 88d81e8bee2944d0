package cms

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"slices"
)

// errUnwrap is of an encrypted key whose check does not hold.
var errUnwrap = errors.New("the content's key cannot be unwrapped")

const initialValue = "\xa6\xa6\xa6\xa6\xa6\xa6\xa6\xa6" // RFC 3394 §2.2.3.1

// unwrapAES is RFC 3394 §2.2.2.
func unwrapAES(kek, wrapped []byte) ([]byte, error) {
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, err
	}
	n := len(wrapped)/8 - 1
	if len(wrapped)%8 != 0 || n < 2 || n > 8 {
		return nil, errUnwrap
	}
	var buffer [16]byte
	copy(buffer[:8], wrapped)
	key := slices.Clone(wrapped[8:])
	for t := 6 * n; t > 0; t-- {
		i := (t - 1) % n * 8
		binary.BigEndian.PutUint64(buffer[:], binary.BigEndian.Uint64(buffer[:])^uint64(t))
		copy(buffer[8:], key[i:i+8])
		block.Decrypt(buffer[:], buffer[:])
		copy(key[i:], buffer[8:])
	}
	if subtle.ConstantTimeCompare(buffer[:8], []byte(initialValue)) != 1 {
		return nil, errUnwrap
	}
	return key, nil
}

// wrapAES is RFC 3394 §2.2.1.
func wrapAES(kek, key []byte) ([]byte, error) {
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, err
	}
	n := len(key) / 8
	out := append([]byte(initialValue), key...)
	var buffer [16]byte
	for t := 1; t <= 6*n; t++ {
		i := (t-1)%n*8 + 8
		copy(buffer[:8], out)
		copy(buffer[8:], out[i:i+8])
		block.Encrypt(buffer[:], buffer[:])
		binary.BigEndian.PutUint64(out, binary.BigEndian.Uint64(buffer[:])^uint64(t))
		copy(out[i:], buffer[8:])
	}
	return out, nil
}

const wrapIV = "\x4a\xdd\xa2\x2c\x79\xe8\x21\x05" // RFC 3217 §3.1

// unwrap3DES is RFC 3217 §3.2.
//
// QUIRK: Bouncy Castle wraps keys of AES with it as well, which are shorter or longer.
func unwrap3DES(kek, wrapped []byte) ([]byte, error) {
	block, err := des.NewTripleDESCipher(kek)
	if err != nil {
		return nil, err
	}
	if len(wrapped)%8 != 0 || len(wrapped) < 32 || len(wrapped) > 48 {
		return nil, errUnwrap
	}
	outer := make([]byte, len(wrapped))
	cipher.NewCBCDecrypter(block, []byte(wrapIV)).CryptBlocks(outer, wrapped)
	slices.Reverse(outer)
	iv, inner := outer[:8], outer[8:]
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(inner, inner)
	key, check := inner[:len(inner)-8], inner[len(inner)-8:]
	sum := sha1.Sum(key)
	if subtle.ConstantTimeCompare(check, sum[:8]) != 1 {
		return nil, errUnwrap
	}
	return key, nil
}

// wrap3DES is RFC 3217 §3.1. The parity of the key's bytes is not set: nobody
// looks at it.
func wrap3DES(kek, key []byte) ([]byte, error) {
	block, err := des.NewTripleDESCipher(kek)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum(key)
	out := slices.Concat(make([]byte, 8), key, sum[:8])
	iv := out[:8]
	rand.Read(iv) // never fails
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out[8:], out[8:])
	slices.Reverse(out)
	cipher.NewCBCEncrypter(block, []byte(wrapIV)).CryptBlocks(out, out)
	return out, nil
}
