package wssec

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// Verification is what a signature has to be and to cover.
type Verification struct {
	// Signer gives the certificate to verify with, or says why the token is not the
	// partner's; that error becomes a Fault Unauthenticated with its text as Detail.
	// It is called before any cryptography is done. Pinned is the usual one.
	Signer func(Token) (*x509.Certificate, error)

	SHA1         bool // the signature and its digests may use SHA-1
	MinRSA       int  // shortest RSA modulus in bits; 0 is MinRSA
	UnsignedBody bool // an empty Body need not be covered: BDEW, signals of old peers
}

// Signature is a verified signature. What it holds is to be used in place of what
// the envelope held before: each was the very element or part whose digest fits.
type Signature struct {
	Certificate *x509.Certificate
	Method      string      // algorithm URI
	References  []Reference // in their order
	Messaging   *etree.Element
	Body        *etree.Element // nil if it is not covered
	Parts       []Part         // every part, in the order given
}

// maxReferences bounds what a signature covers: SignedInfo is canonicalised before
// anybody is known to have signed it.
const maxReferences = 256

// signed is a ds:Signature as it stands, before anything in it is believed.
type signed struct {
	info       *etree.Element // ds:SignedInfo
	method     string
	canonical  c14n.Method
	references []Reference
	value      []byte
	token      Token
}

// SignatureToken gives how the signature names its certificate, for finding out
// who says to have signed. Nothing is verified. Errors are *Fault.
func (e *Envelope) SignatureToken() (Token, error) {
	signature, err := e.signature()
	if err != nil {
		return Token{}, err
	}
	return e.signerToken(signature)
}

func (e *Envelope) signerToken(signature *etree.Element) (Token, error) {
	t, err := e.token(signature)
	if err != nil {
		return t, unauthenticated("the certificate of the signature cannot be told: %v", err)
	}
	return t, nil
}

// signature gives the one ds:Signature of the Security header.
func (e *Envelope) signature() (*etree.Element, error) {
	if e.Security == nil {
		return nil, nonCompliant("the message is not signed: it has no wsse:Security header")
	}
	found := infoset.Children(e.Security, ds("Signature"))
	switch len(found) {
	case 0:
		return nil, nonCompliant("the message is not signed: its wsse:Security header holds no ds:Signature")
	case 1:
		return found[0], nil
	}
	return nil, nonCompliant("the wsse:Security header holds %d signatures, one is allowed", len(found))
}

// Authenticate verifies who signed the envelope, and that it is this one: its
// eb:Messaging and its Body are covered, and their digests fit, so that nobody puts the
// signature of another message of the signer's, which all its receivers have, before a
// header of his own. Parts are not looked at. It is for before they are taken in and
// for before Decrypt, so that we work for the partner alone. Between it and Verify the
// envelope may not be changed. Errors are as those of Verify.
func (e *Envelope) Authenticate(v Verification) error {
	s, _, err := e.authenticate(v)
	if err != nil {
		return err
	}
	var found Signature
	var targets []target
	var of []Reference
	seen := map[*etree.Element]bool{}
	for _, r := range s.references {
		if _, part := ContentID(r.URI); part {
			continue
		}
		t, err := e.element(r, &found)
		if err != nil {
			return err
		}
		if seen[t.element] {
			return unauthenticated("the signature covers %q twice", r.URI)
		}
		seen[t.element] = true
		targets, of = append(targets, t), append(of, r)
	}
	if err := e.covered(&found, v); err != nil {
		return err
	}
	for i, t := range targets {
		if err := t.fits(of[i]); err != nil {
			return err
		}
	}
	return nil
}

// authenticate verifies the value of the signature with the certificate that is the
// signer's.
func (e *Envelope) authenticate(v Verification) (_ *signed, certificate *x509.Certificate, err error) {
	if v.Signer == nil {
		return nil, nil, errors.New("Verification.Signer is missing")
	}
	before := e.proved
	if before != nil && (before.sha1 != v.SHA1 || before.minRSA != v.MinRSA) {
		before = nil
	}
	s := &signed{}
	if before != nil {
		s = before.signed
	} else if s, err = e.parseSignature(v); err != nil {
		return nil, nil, err
	}
	if certificate, err = v.Signer(s.token); err != nil {
		return nil, nil, &Fault{Reason: Unauthenticated, Detail: clip(err.Error())}
	}
	if before != nil && certificate.Equal(before.certificate) {
		return s, certificate, nil
	}
	var info bytes.Buffer
	if err := s.canonical.Element(&info, s.info); err != nil {
		return nil, nil, unauthenticated("ds:SignedInfo has no canonical form: %v", err)
	}
	if err := verifyValue(s.method, certificate, cmp.Or(v.MinRSA, MinRSA), info.Bytes(), s.value); err != nil {
		return nil, nil, unauthenticated("the signature is not one of the %v over this message: %v", Token{Certificate: certificate}, err)
	}
	e.proved = &proved{s, certificate, v.SHA1, v.MinRSA}
	return s, certificate, nil
}

// proved is a signature whose value was verified, by which rules: Verify, which follows
// Authenticate, does not do that again.
type proved struct {
	signed      *signed
	certificate *x509.Certificate
	sha1        bool
	minRSA      int
}

// Verify verifies the one signature of the envelope over parts as Decrypt gave
// them. It has to cover eb:Messaging, the Body and every part.
//
// The value is verified before the digests: only who has the signer's key can make
// us digest. Errors are *Fault: Unauthenticated for a signer, a digest or a signature
// value that does not fit; Undecryptable for the digest of a part that was encrypted by
// AES-CBC; NonCompliant for no signature, one that does not cover all,
// or an algorithm outside the list. Others are of reading a part.
func (e *Envelope) Verify(parts []Part, v Verification) (*Signature, error) {
	s, certificate, err := e.authenticate(v)
	if err != nil {
		return nil, err
	}
	result := &Signature{Certificate: certificate, Method: s.method, References: s.references}
	parts = slices.Clone(parts)
	targets, err := e.targets(s.references, parts, result)
	if err != nil {
		return nil, err
	}
	if err := e.covered(result, v); err != nil {
		return nil, err
	}
	for i, r := range s.references {
		if err := targets[i].fits(r); err != nil {
			return nil, err
		}
	}
	result.Parts = parts
	return result, nil
}

// parseSignature reads the ds:Signature and holds it against the closed lists.
func (e *Envelope) parseSignature(v Verification) (*signed, error) {
	at, err := e.signature()
	if err != nil {
		return nil, err
	}
	// No ds:Object: nothing of AS4 is signed there, and it is where wrapped elements go.
	if err := holds(at, ds("SignedInfo"), ds("SignatureValue"), ds("KeyInfo")); err != nil {
		return nil, unauthenticated("%v", err)
	}
	s := &signed{}
	if s.info, err = infoset.Only(at, ds("SignedInfo")); err != nil {
		return nil, unauthenticated("%v", err)
	}
	value, err := infoset.Only(at, ds("SignatureValue"))
	if err == nil {
		s.value, err = decoded(value)
	}
	if err != nil {
		return nil, unauthenticated("%v", err)
	}
	if s.token, err = e.signerToken(at); err != nil {
		return nil, err
	}
	return s, s.parseInfo(v)
}

// parseInfo reads the ds:SignedInfo: XML Signature §4.4.
func (s *signed) parseInfo(v Verification) error {
	if err := holds(s.info, ds("CanonicalizationMethod"), ds("SignatureMethod"), ds("Reference")); err != nil {
		return unauthenticated("%v", err)
	}
	canonicalization, err := infoset.Only(s.info, ds("CanonicalizationMethod"))
	if err != nil {
		return unauthenticated("%v", err)
	}
	t, err := parseTransform(canonicalization)
	if err != nil {
		return unauthenticated("%v", err)
	}
	if s.canonical, err = t.exclusive(); err != nil {
		return err
	}
	if s.method, err = algorithm(s.info, ds("SignatureMethod")); err != nil {
		return unauthenticated("%v", err)
	}
	known, ok := signatures[s.method]
	if !ok || known.hash == crypto.SHA1 && !v.SHA1 {
		return nonCompliant("the signature method %q is not allowed; use RSA, RSA-PSS or ECDSA with SHA-256, SHA-384 or SHA-512, or Ed25519", s.method)
	}
	for _, at := range infoset.Children(s.info, ds("Reference")) {
		if len(s.references) == maxReferences {
			return nonCompliant("the signature has more than %d references", maxReferences)
		}
		r, err := ParseReference(at)
		if err != nil {
			return unauthenticated("%v", err)
		}
		if h, ok := digests[r.DigestMethod]; !ok || h == crypto.SHA1 && !v.SHA1 {
			return nonCompliant("the digest method %q of the reference %q is not allowed; use SHA-256, SHA-384 or SHA-512", r.DigestMethod, r.URI)
		}
		s.references = append(s.references, r)
	}
	return nil
}

// exclusive gives the one canonicalization there is for signatures: AS4 profiles
// have exclusive canonical XML alone. "WithComments" would bring comments into what is
// signed that a reference by Id leaves out (XML Signature §4.4.3.3).
func (t Transform) exclusive() (c14n.Method, error) {
	if t.Algorithm != c14n.Exclusive {
		return c14n.Method{}, nonCompliant("the canonicalization %q is not allowed; use %s", t.Algorithm, c14n.Exclusive)
	}
	m, err := c14n.New(t.Algorithm, t.PrefixList)
	if err != nil {
		return m, nonCompliant("%v", err)
	}
	return m, nil
}

// target is what a reference names.
type target struct {
	element *etree.Element
	method  c14n.Method // of an element
	part    *Part
}

// targets finds what each reference names, once each, and notes in result what of it
// has to be covered.
func (e *Envelope) targets(references []Reference, parts []Part, result *Signature) ([]target, error) {
	byID := map[string]*Part{}
	for i := range parts {
		if _, twice := byID[parts[i].ContentID]; twice {
			return nil, malformed("two parts have the Content-ID %q", parts[i].ContentID)
		}
		byID[parts[i].ContentID] = &parts[i]
	}
	targets := make([]target, len(references))
	seen := map[any]bool{}
	for i, r := range references {
		var key any
		if id, ok := ContentID(r.URI); ok {
			part := byID[id]
			if part == nil {
				return nil, unauthenticated("the signature covers %q, which is no part of the message", r.URI)
			}
			if len(r.Transforms) != 1 || r.Transforms[0] != (Transform{Algorithm: attachmentContent}) {
				return nil, nonCompliant("the reference %q has other transforms than the one allowed, %s", r.URI, attachmentContent)
			}
			targets[i].part, key = part, part
		} else {
			var err error
			if targets[i], err = e.element(r, result); err != nil {
				return nil, err
			}
			key = targets[i].element
		}
		if seen[key] {
			return nil, unauthenticated("the signature covers %q twice", r.URI)
		}
		seen[key] = true
	}
	for i := range parts {
		if !seen[&parts[i]] {
			return nil, nonCompliant("the part %q is not covered by the signature", parts[i].ContentID)
		}
	}
	return targets, nil
}

// element finds the element that a reference names, and notes in result whether it
// has to be covered.
func (e *Envelope) element(r Reference, result *Signature) (t target, err error) {
	if t.element = e.byReference(r.URI); t.element == nil {
		return t, unauthenticated("the signature covers %q, which names no element of the message by its wsu:Id", r.URI)
	}
	if len(r.Transforms) != 1 {
		return t, nonCompliant("the reference %q has %d transforms, one is expected: %s", r.URI, len(r.Transforms), c14n.Exclusive)
	}
	if t.method, err = r.Transforms[0].exclusive(); err != nil {
		return t, err
	}
	switch t.element {
	case e.Messaging:
		result.Messaging = t.element
	case e.Body:
		result.Body = t.element
	}
	return t, nil
}

// byReference gives the element that a same-document reference names: by wsu:Id
// (WSS 1.1 §4.2), or by the Id that XML signature and encryption give their own
// elements. Read has seen that the value names one element.
func (e *Envelope) byReference(uri string) *etree.Element {
	id, ok := strings.CutPrefix(uri, "#")
	at := e.ids[id]
	if !ok || at == nil {
		return nil
	}
	name := infoset.Name{Space: WSU, Local: "Id"}
	if space := infoset.NameOf(at).Space; space == DSIG || space == XENC {
		name = plain("Id")
	}
	if v, ok := infoset.Attr(at, name); !ok || v != id {
		return nil
	}
	return at
}

// covered holds what the signature covers against what it has to.
func (e *Envelope) covered(s *Signature, v Verification) error {
	switch {
	case e.Messaging == nil:
		return malformed("the envelope has no eb:Messaging")
	case s.Messaging == nil:
		return nonCompliant("eb:Messaging is not covered by the signature")
	case s.Body == nil && !(v.UnsignedBody && holds(e.Body) == nil):
		return nonCompliant("the SOAP Body is not covered by the signature")
	}
	return nil
}

// fits computes the digest of the target and compares it with the reference's.
func (t target) fits(r Reference) error {
	hash := digests[r.DigestMethod]
	var sums [][]byte
	if t.part != nil {
		var err error
		if sums, err = t.part.digest(hash); err != nil {
			return err
		}
	} else {
		h := hash.New()
		if err := t.method.Element(h, t.element); err != nil {
			return unauthenticated("%q has no canonical form: %v", r.URI, err)
		}
		sums = [][]byte{h.Sum(nil)}
	}
	for i, sum := range sums {
		if subtle.ConstantTimeCompare(sum, r.DigestValue) != 1 {
			continue
		}
		if i < len(sums)-1 && t.part.SignedType == "" {
			t.part.asDigested()
		}
		return nil
	}
	if t.part != nil && t.part.cbc {
		// As whatever else is wrong with ciphertext: it can be changed at will, and what
		// comes out is nothing that anybody may learn of.
		return undecryptable("the digest of %q, which was encrypted by AES-CBC, is not that of the signature: it was changed on the way; or it is XML, which behind AES-CBC has to be compressed, or canonical", r.URI)
	}
	if t.part != nil && t.part.form() == xmlForm && len(sums) == 1 {
		return unauthenticated("the digest of %q is not that of the signature: it is XML by its type, and cannot be made canonical: send XML 1.0 without a document type, in UTF-8, UTF-16 or a character set of one byte a character", r.URI)
	}
	return unauthenticated("the digest of %q is not that of the signature: it was changed after signing, or signed in another order than compress, sign, encrypt", r.URI)
}
