package cms

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

// ccmMode is Counter with CBC-MAC, which crypto/cipher does not have: NIST SP
// 800-38C, RFC 3610. It is a cipher.AEAD for nonces of 7 to 13 bytes and tags of 4
// to 16, an even number.
type ccmMode struct {
	block      cipher.Block // of 16 bytes
	nonce, tag int
}

func newCCM(block cipher.Block, nonce, tag int) *ccmMode { return &ccmMode{block, nonce, tag} }

func (c *ccmMode) NonceSize() int { return c.nonce }
func (c *ccmMode) Overhead() int  { return c.tag }

// errCCM is of a text that was not sealed so.
var errCCM = errors.New("the tag is wrong")

// most is how long a text may be: its length stands in the 15 bytes that the nonce
// leaves. SP 800-38C appendix A.1.
func (c *ccmMode) most() uint64 {
	if q := 15 - c.nonce; q < 8 {
		return 1<<(8*q) - 1
	}
	return 1<<63 - 1
}

// counter gives the block that the first counter has: appendix A.3.
func (c *ccmMode) counter(nonce []byte) (block [16]byte) {
	block[0] = byte(14 - c.nonce)
	copy(block[1:], nonce)
	return block
}

// mac is the CBC-MAC of formatted nonce, data and text: appendix A.2, §6.1.
func (c *ccmMode) mac(nonce, text, data []byte) (state [16]byte) {
	binary.BigEndian.PutUint64(state[8:], uint64(len(text))) // the nonce overwrites what it does not need
	state[0] = byte((c.tag-2)/2<<3 | (14 - c.nonce))
	copy(state[1:], nonce)
	if len(data) > 0 {
		state[0] |= 0x40
	}
	c.block.Encrypt(state[:], state[:])
	if n := len(data); n > 0 {
		var length []byte
		if n < 0xff00 {
			length = binary.BigEndian.AppendUint16(nil, uint16(n))
		} else {
			length = binary.BigEndian.AppendUint32([]byte{0xff, 0xfe}, uint32(n))
		}
		c.chain(&state, append(length, data...))
	}
	c.chain(&state, text)
	return state
}

// chain runs the CBC-MAC over text, zeros behind it up to a whole block.
func (c *ccmMode) chain(state *[16]byte, text []byte) {
	for len(text) > 0 {
		text = text[subtle.XORBytes(state[:], state[:], text[:min(16, len(text))]):]
		c.block.Encrypt(state[:], state[:])
	}
}

// Seal encrypts and authenticates, and appends both to dst. dst does not overlap
// text.
func (c *ccmMode) Seal(dst, nonce, text, data []byte) []byte {
	if uint64(len(text)) > c.most() {
		panic("cms: a text too long for the nonce of CCM") // as crypto/cipher's GCM does
	}
	mac := c.mac(nonce, text, data)
	at := len(dst)
	dst = append(append(dst, text...), mac[:c.tag]...)
	c.cipher(nonce, dst[at:])
	return dst
}

// Open decrypts and checks, and appends the text to dst, which may be the memory of
// sealed. What does not hold is wiped out.
func (c *ccmMode) Open(dst, nonce, sealed, data []byte) ([]byte, error) {
	n := len(sealed) - c.tag
	if n < 0 || uint64(n) > c.most() {
		return nil, errCCM
	}
	at := len(dst)
	dst = append(dst, sealed...)
	c.cipher(nonce, dst[at:])
	text, tag := dst[at:at+n], dst[at+n:]
	mac := c.mac(nonce, text, data)
	if subtle.ConstantTimeCompare(mac[:c.tag], tag) != 1 {
		clear(dst[at:])
		return nil, errCCM
	}
	return dst[:at+n], nil
}

// cipher encrypts or decrypts a text with its tag behind it: the tag has counter
// zero, the text those from one on. SP 800-38C §6.1 step 5 to 8.
func (c *ccmMode) cipher(nonce, text []byte) {
	start := c.counter(nonce)
	var first [16]byte
	c.block.Encrypt(first[:], start[:])
	tag := text[len(text)-c.tag:]
	subtle.XORBytes(tag, tag, first[:])
	start[15] = 1
	text = text[:len(text)-c.tag]
	cipher.NewCTR(c.block, start[:]).XORKeyStream(text, text)
}
