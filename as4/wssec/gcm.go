package wssec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"io"
)

// The layout of encrypted octets: XML Encryption 1.1 §5.2.4.
const (
	gcmNonce = 12
	gcmTag   = 16
	gcmMax   = 1<<36 - 32 // bytes of plaintext: NIST SP 800-38D §5.2.1.1
)

// gcmHash computes the GCM tag of ciphertext that is never held as a whole: NIST SP
// 800-38D §6.4, §7. The standard library has GCM only over a whole message, which is
// a gigabyte here, but its hash is done in hardware: so that is taken over one block
// of ciphertext after another, as additional data, and the results are chained.
//
// With H the hash key, the standard library gives for a chunk of blocks A
//
//	S = (Y ⊕ L)·H, where Y is the state after A and L = [len(A)]64 || [0]64
//
// and the state after the block X that follows A is (Y ⊕ X)·H = S ⊕ (X ⊕ L)·H.
// What was the state before A is added to the first block of A.
type gcmHash struct {
	aead  cipher.AEAD
	h     block // the hash key
	mask  block // what aead adds to its hash under a nonce of zeros
	state block // after all chunks but what is buffered
	chunk [32<<10 + 16]byte
	n     int   // bytes in chunk
	total int64 // of ciphertext
}

// block is 128 bits, the first in the highest bit of hi: SP 800-38D §6.3.
type block struct{ hi, lo uint64 }

func toBlock(b []byte) block {
	return block{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (b block) put(to []byte) {
	binary.BigEndian.PutUint64(to, b.hi)
	binary.BigEndian.PutUint64(to[8:], b.lo)
}

func (b block) xor(o block) block { return block{b.hi ^ o.hi, b.lo ^ o.lo} }

// mul multiplies in GF(2^128) by the bit, in constant time: SP 800-38D §6.3. It is
// done once for a chunk.
func (b block) mul(o block) (z block) {
	v := o
	for i := range 128 {
		word := b.hi
		if i >= 64 {
			word = b.lo
		}
		bit := -(word >> (63 - i%64) & 1)
		z.hi ^= v.hi & bit
		z.lo ^= v.lo & bit
		carry := -(v.lo & 1)
		v.lo = v.lo>>1 | v.hi<<63
		v.hi = v.hi>>1 ^ carry&0xE1<<56
	}
	return z
}

func newGCMHash(aesBlock cipher.Block) (*gcmHash, error) {
	aead, err := cipher.NewGCM(aesBlock)
	if err != nil {
		return nil, err
	}
	g := &gcmHash{aead: aead}
	var b [aes.BlockSize]byte
	aesBlock.Encrypt(b[:], b[:])
	g.h = toBlock(b[:])
	b = [aes.BlockSize]byte{15: 1} // the counter block of a nonce of zeros
	aesBlock.Encrypt(b[:], b[:])
	g.mask = toBlock(b[:])
	return g, nil
}

// Write takes ciphertext. It never fails.
func (g *gcmHash) Write(p []byte) (int, error) {
	written := len(p)
	g.total += int64(written)
	for len(p) > 0 {
		n := copy(g.chunk[g.n:], p)
		g.n, p = g.n+n, p[n:]
		if g.n == len(g.chunk) {
			last := g.n - aes.BlockSize
			g.absorb(g.chunk[:last], toBlock(g.chunk[last:]))
			g.n = 0
		}
	}
	return written, nil
}

// absorb takes whole blocks, none or more, and the one that follows them.
func (g *gcmHash) absorb(blocks []byte, next block) {
	if len(blocks) == 0 {
		g.state = g.state.xor(next).mul(g.h)
		return
	}
	toBlock(blocks).xor(g.state).put(blocks)
	var nonce [gcmNonce]byte
	var tag [gcmTag]byte
	s := toBlock(g.aead.Seal(tag[:0], nonce[:], nil, blocks)).xor(g.mask)
	length := block{hi: uint64(len(blocks)) * 8}
	g.state = s.xor(next.xor(length).mul(g.h))
}

// sum gives the tag under the real nonce: SP 800-38D §7.1 steps 4 to 6.
func (g *gcmHash) sum(aesBlock cipher.Block, nonce []byte) [gcmTag]byte {
	padded := (g.n + aes.BlockSize - 1) / aes.BlockSize * aes.BlockSize
	clear(g.chunk[g.n:padded])
	g.absorb(g.chunk[:padded], block{lo: uint64(g.total) * 8})
	var counter, tag [gcmTag]byte
	copy(counter[:], nonce)
	counter[15] = 1
	aesBlock.Encrypt(counter[:], counter[:])
	g.state.xor(toBlock(counter[:])).put(tag[:])
	return tag
}

// gcmStream encrypts or decrypts after the nonce: counters from 2 on.
func gcmStream(aesBlock cipher.Block, nonce []byte) cipher.Stream {
	var counter [aes.BlockSize]byte
	copy(counter[:], nonce)
	counter[15] = 2
	return cipher.NewCTR(aesBlock, counter[:])
}

var errTag = errors.New("the GCM tag does not fit")

// verifyGCM reads nonce, ciphertext and tag to their end, and gives the nonce and the
// length of the ciphertext if the tag fits. errTag and errShort are the message's;
// others are of in.
func verifyGCM(aesBlock cipher.Block, in io.Reader) (nonce [gcmNonce]byte, length int64, err error) {
	if _, err := io.ReadFull(in, nonce[:]); err != nil {
		return nonce, 0, short(err)
	}
	g, err := newGCMHash(aesBlock)
	if err != nil {
		return nonce, 0, err
	}
	tail := &holdBack{to: g}
	n, err := io.Copy(tail, in)
	if err != nil {
		return nonce, 0, err
	}
	if n < gcmTag || n-gcmTag > gcmMax {
		return nonce, 0, errShort
	}
	tag := g.sum(aesBlock, nonce[:])
	if subtle.ConstantTimeCompare(tag[:], tail.held[:]) != 1 {
		return nonce, 0, errTag
	}
	return nonce, n - gcmTag, nil
}

var errShort = errors.New("the ciphertext has no possible length")

// short tells a message that ends too early from one that cannot be read.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errShort
	}
	return err
}

// holdBack writes all but the last 16 bytes.
type holdBack struct {
	to   io.Writer
	held [gcmTag]byte
	n    int
}

func (h *holdBack) Write(p []byte) (int, error) {
	written := len(p)
	if out := h.n + len(p) - gcmTag; out > 0 {
		first := min(out, h.n)
		if _, err := h.to.Write(h.held[:first]); err != nil {
			return 0, err
		}
		h.n = copy(h.held[:], h.held[first:h.n])
		if _, err := h.to.Write(p[:out-first]); err != nil {
			return 0, err
		}
		p = p[out-first:]
	}
	h.n += copy(h.held[h.n:], p)
	return written, nil
}

// sealing reads plaintext and gives nonce, ciphertext and tag.
type sealing struct {
	plain  io.ReadCloser
	block  cipher.Block
	stream cipher.Stream
	hash   *gcmHash
	nonce  []byte
	ready  []byte // to be given before anything else is read
	ended  bool
}

// seal encrypts what is read. The same key and nonce are only ever used for the same
// plaintext: Part.Open gives the same bytes each time.
func seal(aesBlock cipher.Block, nonce []byte, plain io.ReadCloser) (io.ReadCloser, error) {
	hash, err := newGCMHash(aesBlock)
	if err != nil {
		return nil, err
	}
	return &sealing{plain: plain, block: aesBlock, stream: gcmStream(aesBlock, nonce), hash: hash, nonce: nonce, ready: nonce}, nil
}

func (s *sealing) Read(p []byte) (int, error) {
	if len(s.ready) > 0 {
		n := copy(p, s.ready)
		s.ready = s.ready[n:]
		return n, nil
	}
	if s.ended || len(p) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		return 0, nil
	}
	n, err := s.plain.Read(p)
	s.stream.XORKeyStream(p[:n], p[:n])
	_, _ = s.hash.Write(p[:n]) // it never fails
	if s.hash.total > gcmMax {
		return 0, errors.New("the part is longer than AES-GCM encrypts")
	}
	if err == io.EOF {
		tag := s.hash.sum(s.block, s.nonce)
		s.ready, s.ended, err = tag[:], true, nil
	}
	return n, err
}

func (s *sealing) Close() error { return s.plain.Close() }
