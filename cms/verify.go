package cms

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"
)

// Policy is what a signature may be made of. The zero Policy allows SHA-256,
// SHA-384, SHA-512, SHA-512/256 and SHA3-256, -384, -512, and RSA keys of 2048
// bits or more.
type Policy struct {
	Old []crypto.Hash // digests that are allowed besides: MD5, SHA1, SHA224, SHA512_224, SHA3_224
	RSA int           // fewest bits of an RSA key; 0 is 2048; under 1024 none is taken
}

// Match is how the signer's certificate was found.
type Match string

const (
	// ByIdentifier: the signature names the candidate's issuer and serial number, or
	// its key identifier.
	ByIdentifier Match = "identifier"
	// ByKey: the signature names another certificate, and the candidate's key made
	// it: a certificate that was renewed, for one.
	ByKey Match = "key"
)

// Verified is what is proved of a signature.
type Verified struct {
	Certificate *Certificate // the candidate
	Matched     Match
	Shown       *Certificate // that the signature names and that came with it; nil where it was left out
	Scheme      Scheme
	Hash        crypto.Hash // of the content: the algorithm of the MIC, RFC 4130 §7.4.3
	Digest      []byte      // of the content by Hash
	SignedHash  crypto.Hash // of what the signature is over: seldom another
	SigningTime time.Time   // what the signer says; zero where nothing. It proves nothing
}

// Verify checks that one of the candidates signed the content: all of it, as it
// is. content is nil where it stands in the message. Of several signers who are
// candidates one suffices; the strongest digest is tried first.
//
// The error wraps ErrUnknownSigner where no candidate is meant, ErrForbidden where
// the policy does not allow how it was signed, ErrUnsupported, ErrMalformed,
// ErrDigest where the content is another, ErrSignature where the key did not sign;
// or it is content's.
func (s *Signed) Verify(content Content, candidates []*Certificate, p Policy) (*Verified, error) {
	switch {
	case content == nil && s.Content == nil:
		return nil, fmt.Errorf("%w: its content stands outside, and is not there", ErrMalformed)
	case content == nil:
		content = s.Content.Write
	case s.Content != nil:
		return nil, fmt.Errorf("%w: its content stands in it and outside", ErrMalformed)
	}
	attempts, err := s.attempts(candidates, p)
	if len(attempts) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("%w: it has no signer", ErrUnknownSigner))
	}
	d, contentErr := digestsOf(content, attempts)
	if contentErr != nil {
		return nil, contentErr
	}
	for _, a := range attempts {
		v, refused := s.check(a, d)
		if refused == nil {
			return v, nil
		}
		err = nearer(err, refused)
	}
	return nil, err
}

// nearer gives the error that tells more of two: who signs under the name of a
// candidate, and cannot, matters more than a stranger.
func nearer(a, b error) error {
	if a == nil || errors.Is(a, ErrUnknownSigner) && !errors.Is(b, ErrUnknownSigner) {
		return b
	}
	return a
}

// attempt is a signer with the candidates who may be meant.
type attempt struct {
	*signer
	hash       crypto.Hash // of the content
	signing    signing
	candidates []*Certificate
	matched    Match
	shown      *Certificate
}

// attempts finds for each signer who can be checked the candidates who may be
// meant, the strongest digest first. The error is that of a signer who cannot be
// checked.
func (s *Signed) attempts(candidates []*Certificate, p Policy) (list []attempt, err error) {
	for _, one := range s.signers {
		a := attempt{signer: one, hash: hashOf(one.digest.id)}
		a.find(candidates, s.Certificates)
		refused := func() (err error) {
			if len(a.candidates) == 0 {
				return fmt.Errorf("%w: %s signed, and there is no candidate", ErrUnknownSigner, identifierText(one.issuer, one.serial, one.keyID))
			}
			if a.hash == 0 {
				return fmt.Errorf("%w: the digest algorithm %s", ErrUnsupported, dotted(one.digest.id))
			}
			if a.signing, err = signingOf(one.signing, a.hash); err != nil {
				return err
			}
			return p.allows(a.hash, a.signing.hash)
		}()
		if refused == nil {
			a.candidates = slices.DeleteFunc(a.candidates, func(c *Certificate) bool {
				refused = cmp.Or(p.allowsKey(c), refused)
				return p.allowsKey(c) != nil
			})
			if len(a.candidates) > 0 {
				list = append(list, a)
				continue
			}
		}
		err = nearer(err, refused)
	}
	slices.SortStableFunc(list, func(a, b attempt) int { return cmp.Compare(b.hash.Size(), a.hash.Size()) })
	return list, err
}

// mostByKey is how many candidates are tried of a signer whom no name tells.
const mostByKey = 16

// find looks for the signer among the candidates: by what the signature names; by
// the key of the certificate that it names; and where it names one that did not
// come, by the keys of all, since which of them signed the signature itself tells.
func (a *attempt) find(candidates, shown []*Certificate) {
	for _, c := range shown {
		if c.named(a.issuer, a.serial, a.keyID) {
			a.shown = c
			break
		}
	}
	for _, c := range candidates {
		if c.named(a.issuer, a.serial, a.keyID) {
			a.candidates = append(a.candidates, c)
		}
	}
	if a.matched = ByIdentifier; len(a.candidates) > 0 {
		return
	}
	a.matched = ByKey
	for _, c := range candidates {
		if len(a.candidates) < mostByKey && (a.shown == nil || a.shown.sameKey(c)) {
			a.candidates = append(a.candidates, c)
		}
	}
}

// allows says why hashes are not allowed; nil if they are.
func (p Policy) allows(hashes ...crypto.Hash) error {
	for _, d := range digests {
		if slices.Contains(hashes, d.hash) && d.old && !slices.Contains(p.Old, d.hash) {
			return fmt.Errorf("%w: signed with %s", ErrForbidden, d.hash)
		}
	}
	return nil
}

func (p Policy) allowsKey(c *Certificate) error {
	if c.PublicKey == nil {
		return fmt.Errorf("the key of %s: %w", c, c.KeyError)
	}
	key, ok := c.PublicKey.(*rsa.PublicKey)
	if fewest := max(cmp.Or(p.RSA, 2048), 1024); ok && key.N.BitLen() < fewest {
		return fmt.Errorf("%w: %s has an RSA key of %d bits; %d are the fewest", ErrForbidden, c, key.N.BitLen(), fewest)
	}
	return nil
}

// digested is what was made of the content while it went by.
type digested struct {
	sums  map[crypto.Hash][]byte
	start []byte // its first bytes
	whole []byte // where Ed25519 signs the content itself
}

// mostSignedWhole is how much content Ed25519 may sign without attributes, which
// needs it in one piece: RFC 8419 §3.2.
const mostSignedWhole = 64 << 20

// edwards reports whether a certificate's key is one of Ed25519: for who only says so
// in his signature nothing is kept.
func edwards(c *Certificate) bool {
	_, ok := c.PublicKey.(ed25519.PublicKey)
	return ok
}

// digestsOf makes each digest that the attempts need, in one pass.
func digestsOf(content Content, attempts []attempt) (*digested, error) {
	hashes := map[crypto.Hash]hash.Hash{}
	var start, whole bytes.Buffer
	keep := false // whole
	writers := []io.Writer{&capped{buffer: &start, most: 16, cut: true}}
	for _, a := range attempts {
		if hashes[a.hash] == nil {
			hashes[a.hash] = a.hash.New()
			writers = append(writers, hashes[a.hash])
		}
		// Without attributes the signature may be over another digest than is told.
		if a.attributes == nil && hashes[a.signing.hash] == nil {
			hashes[a.signing.hash] = a.signing.hash.New()
			writers = append(writers, hashes[a.signing.hash])
		}
		keep = keep || a.attributes == nil && a.signing.scheme == Ed25519 && slices.ContainsFunc(a.candidates, edwards)
	}
	if keep {
		writers = append(writers, &capped{buffer: &whole, most: mostSignedWhole})
	}
	if err := content(io.MultiWriter(writers...)); err != nil {
		return nil, fmt.Errorf("the content that is signed: %w", err)
	}
	d := &digested{sums: map[crypto.Hash][]byte{}, start: start.Bytes(), whole: whole.Bytes()}
	for h, state := range hashes {
		d.sums[h] = state.Sum(nil)
	}
	return d, nil
}

// capped keeps most bytes; more are an error, or with cut are not kept.
type capped struct {
	buffer *bytes.Buffer
	most   int
	cut    bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.most - c.buffer.Len()
	if len(p) > room && !c.cut {
		return 0, fmt.Errorf("%w: Ed25519 without signed attributes over more than %d bytes", ErrLimit, c.most)
	}
	c.buffer.Write(p[:min(len(p), room)])
	return len(p), nil
}

// check checks one signer: RFC 5652 §5.4 and §5.6.
func (s *Signed) check(a attempt, d *digested) (*Verified, error) {
	v := &Verified{Matched: a.matched, Shown: a.shown, Scheme: a.signing.scheme,
		Hash: a.hash, Digest: d.sums[a.hash], SignedHash: a.signing.hash, SigningTime: a.signingTime}
	var messages [][]byte // what may have been signed
	switch {
	case a.attributes == nil && likeAttributes(d.start):
		// What was signed as attributes can be shown as content that was signed without
		// any: refused, as draft-ietf-lamps-cms-euf-cma-signeddata proposes.
		return nil, fmt.Errorf("%w: content without signed attributes that looks like signed attributes", ErrForbidden)
	case a.attributes == nil:
		messages = [][]byte{d.whole}
	default:
		if a.messageDigest == nil {
			return nil, fmt.Errorf("%w: signed attributes without a message digest", ErrMalformed)
		}
		if a.contentType != nil && !bytes.Equal(a.contentType, s.typeID) {
			return nil, fmt.Errorf("%w: the content type is %s, and %s was signed", ErrMalformed, typeText(s.typeID), typeText(a.contentType))
		}
		var err error
		if messages, err = signedForms(a.attributes); err != nil {
			return nil, err
		}
	}
	for _, c := range a.candidates {
		for _, message := range messages {
			digest := d.sums[a.signing.hash]
			if a.attributes != nil {
				state := a.signing.hash.New()
				state.Write(message)
				digest = state.Sum(nil)
			}
			if !a.signing.verifies(c.PublicKey, message, digest, a.signature) {
				continue
			}
			// The signature first: then a digest that differs tells of content that was
			// changed, and not of a forgery.
			if a.attributes != nil && subtle.ConstantTimeCompare(a.messageDigest, v.Digest) != 1 {
				return nil, fmt.Errorf("%w: by %s", ErrDigest, c)
			}
			v.Certificate = c
			return v, nil
		}
	}
	named := identifierText(a.issuer, a.serial, a.keyID)
	if a.matched == ByKey && a.shown == nil {
		return nil, fmt.Errorf("%w: %s signed, and no candidate has its key", ErrUnknownSigner, named)
	}
	if a.attributes == nil {
		// Content and signature cannot be told apart: the one or the other was changed.
		return nil, fmt.Errorf("%w, or the content is not what was signed: %s", ErrSignature, named)
	}
	return nil, fmt.Errorf("%w: %s did not sign this", ErrSignature, named)
}

// likeAttributes reports whether content begins as a SET OF Attribute in DER does.
func likeAttributes(start []byte) bool {
	r := newReader(slices.Concat(start, make([]byte, 2*mostAttributeBytes)), partDepth)
	if r.enter(tagSet) != nil || r.enter(tagSequence) != nil {
		return false
	}
	return r.next(tagOID)
}

// signedForms gives what may have been signed as attributes: their DER as a SET
// (RFC 5652 §5.4), and, since not every stack sorts what it signs, what was sent.
func signedForms(attributes []byte) ([][]byte, error) {
	sent := bytes.Clone(attributes)
	sent[0] = byte(tagSet) | constructed
	inDER, err := derOf(sent)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(inDER, sent) {
		return [][]byte{sent}, nil
	}
	return [][]byte{inDER, sent}, nil
}

// verifies reports whether the key made the signature, over the message whose
// digest is given.
func (s signing) verifies(key crypto.PublicKey, message, digest, signature []byte) bool {
	switch key := key.(type) {
	case *rsa.PublicKey:
		// QUIRK: a stack that writes numbers without leading zeros writes one signature
		// in 256 too short.
		if short := key.Size() - len(signature); short > 0 && short < 8 {
			signature = append(make([]byte, short), signature...)
		}
		switch s.scheme {
		case RSAPKCS1:
			return rsa.VerifyPKCS1v15(key, s.hash, digest, signature) == nil ||
				rsa.VerifyPKCS1v15(key, 0, bareDigestInfo(s.hash, digest), signature) == nil
		case RSAPSS:
			return verifyPSS(key, s.hash, s.mgf, digest, signature)
		}
	case *ecdsa.PublicKey:
		return s.scheme == ECDSA && ecdsa.VerifyASN1(key, digest, signature)
	case ed25519.PublicKey:
		return s.scheme == Ed25519 && ed25519.Verify(key, message, signature)
	}
	return false
}

// bareDigestInfo is a DigestInfo without the NULL of its algorithm, which old
// stacks left out: RFC 8017 §A.2.4 and appendix B.1.
func bareDigestInfo(h crypto.Hash, digest []byte) []byte {
	for _, d := range digests {
		if d.hash == h {
			return sequence(sequence(element(byte(tagOID), d.id)), element(byte(tagOctetString), digest))
		}
	}
	return nil
}
