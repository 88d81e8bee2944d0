package cms

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Decrypted is what came out of an Enveloped.
type Decrypted struct {
	Content     []byte // in the memory of the message
	Encryption  Encryption
	Key         KeyEncryption
	Certificate *Certificate // of ours, that it was encrypted to
}

// decryptError is ErrDecrypt, with what failed for our own log. However it is
// printed, it says no more than ErrDecrypt.
type decryptError struct{ detail string }

func (e *decryptError) Error() string    { return ErrDecrypt.Error() }
func (e *decryptError) GoString() string { return ErrDecrypt.Error() }
func (e *decryptError) Unwrap() error    { return ErrDecrypt }

// Detail says why a decryption failed: for a log that nobody outside reads, since
// a sender who learns it learns the content of others. "" of other errors.
func Detail(err error) string {
	if e, ok := errors.AsType[*decryptError](err); ok {
		return e.detail
	}
	return ""
}

// pair is a recipient of the message, and a key of ours that may be meant.
type pair struct {
	*recipient
	Key
	how KeyEncryption
}

// mostPairs bounds how often a private key works for one message.
const mostPairs = 4

// Decrypt decrypts the content where it lies: afterwards the bytes that Enveloped
// was read from are spoilt, whether it went well or not, and a second call fails.
// The error is ErrDecrypt, whatever it was; Detail says more.
//
// Of CBC what came out is there with the error as well, and is garbage: who goes on with
// it as if nothing was wrong, and forgets what comes of that, answers after the same
// time as for garbage that is padded well. RFC 3218 §2.3.
//
// Behind it is one path: a key that cannot be unwrapped is replaced by a random
// one, and the whole content is decrypted with it, so that a wrong padding in the
// key, a wrong key and a wrong padding or tag of the content take the same time. An
// earlier end tells only what everybody sees in the message.
func (e *Enveloped) Decrypt(keys []Key) (*Decrypted, error) {
	if e.spent {
		return nil, &decryptError{"it was decrypted before"}
	}
	e.spent = true
	if e.cipher.mode == cbc && (e.Size == 0 || e.Size%e.cipher.block() != 0) {
		return nil, &decryptError{fmt.Sprintf("%d bytes are no multiple of the block", e.Size)}
	}
	pairs := e.pairs(keys)
	if len(pairs) == 0 {
		return nil, &decryptError{"no key of ours is meant: it is encrypted to " + strings.Join(e.Recipients(), "; ")}
	}
	candidates, whys := make([][]byte, len(pairs)), make([]error, len(pairs))
	for i, p := range pairs {
		candidates[i], whys[i] = p.unwrap(p.Key, p.how, e.cipher.key)
	}
	content, chosen, err := e.decrypt(candidates)
	p := pairs[chosen]
	d := &Decrypted{Content: content, Encryption: e.Encryption, Key: p.how, Certificate: p.Certificate}
	if err == nil && whys[chosen] == nil {
		return d, nil
	}
	var details []string
	for i, p := range pairs {
		if whys[i] != nil {
			details = append(details, fmt.Sprintf("%s, by %s: %v", p.Certificate, p.how, whys[i]))
		}
	}
	if err != nil {
		details = append(details, err.Error())
	}
	if e.cipher.mode != cbc {
		d = nil // nothing came out
	}
	return d, &decryptError{strings.Join(details, "; ")}
}

// pairs finds whom of us the message names. Where it names none, the sender may
// have a certificate of ours that was renewed: then any key may be meant.
func (e *Enveloped) pairs(keys []Key) (list []pair) {
	for _, byName := range []bool{true, false} {
		for _, one := range e.recipients {
			for _, k := range keys {
				how, serves := k.serves(one)
				if !serves || byName && !k.Certificate.named(one.issuer, one.serial, one.keyID) {
					continue
				}
				twice := slices.ContainsFunc(list, func(p pair) bool { return p.recipient == one && p.Certificate.sameKey(k.Certificate) })
				if !twice && len(list) < mostPairs {
					list = append(list, pair{one, k, how})
				}
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// decrypt decrypts the content with the one of the keys that fits, and says which
// it was.
func (e *Enveloped) decrypt(keys [][]byte) (content []byte, chosen int, err error) {
	if e.cipher.mode.authenticates() {
		return e.decryptAuthenticated(keys)
	}
	text := e.content.gather()
	blocks := make([]cipher.Block, len(keys))
	for i, key := range keys {
		if blocks[i], err = e.cipher.new(key); err != nil {
			return nil, 0, err
		}
	}
	chosen = e.fitting(blocks, text)
	cipher.NewCBCDecrypter(blocks[chosen], e.iv).CryptBlocks(text, text)
	padding, good := paddingOf(text, e.cipher.block())
	if good != 1 {
		return text, chosen, errors.New("the padding of the content is wrong: the wrong key, or changed content")
	}
	return text[:len(text)-padding], chosen, nil
}

func (c cipherOf) new(key []byte) (cipher.Block, error) {
	if c.name == TripleDES {
		return des.NewTripleDESCipher(key)
	}
	return aes.NewCipher(key)
}

// fitting finds the first key by which the last block is padded well, the last one
// where there is none. It takes the same time whichever it is.
func (e *Enveloped) fitting(blocks []cipher.Block, text []byte) int {
	size := e.cipher.block()
	iv, last := e.iv, text[len(text)-size:]
	if len(text) > size {
		iv = text[len(text)-2*size : len(text)-size]
	}
	chosen := len(blocks) - 1
	for i := len(blocks) - 2; i >= 0; i-- {
		plain := make([]byte, size)
		cipher.NewCBCDecrypter(blocks[i], iv).CryptBlocks(plain, last)
		_, good := paddingOf(plain, size)
		chosen = subtle.ConstantTimeSelect(good, i, chosen)
	}
	return chosen
}

// paddingOf gives the length of the padding, RFC 5652 §6.3, and 1 if it is good,
// else 0. It takes the same time whatever the last block holds.
func paddingOf(text []byte, block int) (length, good int) {
	last := text[len(text)-block:]
	n := int(last[block-1])
	good = subtle.ConstantTimeLessOrEq(1, n) & subtle.ConstantTimeLessOrEq(n, block)
	for i := range block {
		counts := subtle.ConstantTimeLessOrEq(block-i, n)
		equal := subtle.ConstantTimeByteEq(last[i], byte(n))
		good &= subtle.ConstantTimeSelect(counts, equal, 1)
	}
	return n, good
}

// decryptAuthenticated checks the tag, and decrypts: RFC 5084 §3. Only the last key
// works in place, since a wrong one spoils the content.
func (e *Enveloped) decryptAuthenticated(keys [][]byte) (content []byte, chosen int, err error) {
	text := e.content.gather()
	if e.Kind == AuthEnvelopedData {
		// The tag stands behind the content in the message: there is room for it.
		text = append(text, e.tag...)
	}
	var apart []byte // for keys but the last one, which may be another's
	for i, key := range keys {
		aead, err := e.cipher.aead(key, len(e.iv), len(text)-e.Size)
		if err != nil {
			return nil, 0, err
		}
		into := text[:0]
		if i < len(keys)-1 {
			if apart == nil {
				apart = make([]byte, 0, len(text))
			}
			into = apart
		}
		if content, err = aead.Open(into, e.iv, text, e.attributes); err == nil {
			return content, i, nil
		}
	}
	return nil, 0, errors.New("the tag of the content is wrong: the wrong key, or changed content")
}

// aead gives the mode with a key, for nonces and tags of these lengths in bytes.
func (c cipherOf) aead(key []byte, nonce, tag int) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	switch {
	case err != nil:
		return nil, err
	case c.mode == ccm:
		return newCCM(block, nonce, tag), nil
	case tag == 16:
		return cipher.NewGCMWithNonceSize(block, nonce)
	}
	return cipher.NewGCMWithTagSize(block, tag)
}
