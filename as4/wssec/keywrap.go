package wssec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

var errUnwrap = errors.New("the wrapped key does not fit")

// unwrapKey opens a key that was wrapped with AES: RFC 3394 §2.2.2.
func unwrapKey(kek cipher.Block, wrapped []byte) ([]byte, error) {
	n := len(wrapped)/8 - 1
	if len(wrapped)%8 != 0 || n < 2 || n > 8 {
		return nil, errUnwrap
	}
	r := make([]byte, n*8)
	copy(r, wrapped[8:])
	var b [aes.BlockSize]byte
	copy(b[:8], wrapped)
	for j := 5; j >= 0; j-- {
		for i := n; i >= 1; i-- {
			t := uint64(n*j + i)
			binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])^t)
			copy(b[8:], r[(i-1)*8:])
			kek.Decrypt(b[:], b[:])
			copy(r[(i-1)*8:], b[8:])
		}
	}
	if subtle.ConstantTimeCompare(b[:8], keyWrapIV) != 1 {
		return nil, errUnwrap
	}
	return r, nil
}

// keyWrapIV is the check value: RFC 3394 §2.2.3.1.
var keyWrapIV = []byte{0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6}

// wrapKey wraps a key of whole 8-byte blocks with AES: RFC 3394 §2.2.1.
func wrapKey(kek cipher.Block, key []byte) []byte {
	n := len(key) / 8
	out := make([]byte, 8+len(key))
	copy(out[8:], key)
	var b [aes.BlockSize]byte
	copy(b[:8], keyWrapIV)
	for j := range 6 {
		for i := 1; i <= n; i++ {
			copy(b[8:], out[i*8:])
			kek.Encrypt(b[:], b[:])
			binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])^uint64(n*j+i))
			copy(out[i*8:], b[8:])
		}
	}
	copy(out, b[:8])
	return out
}
