package cms

import (
	"crypto"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/binary"
	"math/big"
)

// verifyPSS verifies an RSASSA-PSS signature, whose salt may have any length. Where
// the mask is made with another hash than the digest, which crypto/rsa cannot do,
// it is done here.
func verifyPSS(key *rsa.PublicKey, hash, mgf crypto.Hash, digest, signature []byte) bool {
	if hash == mgf {
		return rsa.VerifyPSS(key, hash, digest, signature, nil) == nil
	}
	s := new(big.Int).SetBytes(signature)
	if len(signature) != key.Size() || s.Cmp(key.N) >= 0 {
		return false
	}
	bits := key.N.BitLen() - 1
	m := s.Exp(s, big.NewInt(int64(key.E)), key.N)
	if m.BitLen() > bits {
		return false
	}
	return verifyEncodedPSS(m.FillBytes(make([]byte, (bits+7)/8)), bits, hash, mgf, digest)
}

// verifyEncodedPSS is EMSA-PSS-VERIFY: RFC 8017 §9.1.2. Everything in it is
// public.
func verifyEncodedPSS(encoded []byte, bits int, hash, mgf crypto.Hash, digest []byte) bool {
	size := hash.Size()
	if len(digest) != size || len(encoded) < size+2 || encoded[len(encoded)-1] != 0xbc {
		return false
	}
	db, h := encoded[:len(encoded)-size-1], encoded[len(encoded)-size-1:len(encoded)-1]
	unused := byte(0xff) >> (8*len(encoded) - bits)
	if db[0]&^unused != 0 {
		return false
	}
	mask(db, mgf, h)
	db[0] &= unused
	for len(db) > 0 && db[0] == 0 {
		db = db[1:]
	}
	if len(db) == 0 || db[0] != 1 {
		return false
	}
	state := hash.New()
	state.Write(make([]byte, 8))
	state.Write(digest)
	state.Write(db[1:]) // the salt
	return subtle.ConstantTimeCompare(h, state.Sum(nil)) == 1
}

// mask combines out with MGF1 of a seed: RFC 8017 §B.2.1.
func mask(out []byte, mgf crypto.Hash, seed []byte) {
	state := mgf.New()
	for counter := uint32(0); len(out) > 0; counter++ {
		state.Reset()
		state.Write(seed)
		state.Write(binary.BigEndian.AppendUint32(nil, counter))
		out = out[subtle.XORBytes(out, out, state.Sum(nil)):]
	}
}
