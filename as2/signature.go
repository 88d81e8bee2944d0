package as2

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
)

// signed verifies multipart/signed (RFC 1847 §2.1, RFC 8551 §3.5.3), and opens what
// was signed: the bytes that the signature is over, and no others.
func (o *opening) signed(e *entity.Entity) error {
	if o.malleable() && garbled(e) {
		return malformed(nil, "The header of the signed message is garbled.")
	}
	m, err := e.Multipart()
	switch {
	case err != nil:
		return malformed(err, "The parts of the signed message cannot be told apart: its boundary is missing or not the one that its Content-Type names.")
	case len(m.Parts) != 2:
		return malformed(nil, "A signed message has two parts, and this one has %d.", len(m.Parts))
	case o.malleable() && garbled(m.Parts[1]):
		return malformed(nil, "The header of the signature is garbled.")
	case o.malleable() && len(bytes.TrimSpace(m.Rest)) > 0:
		// Whoever recorded an encrypted message could put blocks behind it, and see by the
		// answer whether they are padded well.
		return malformed(nil, "Something stands behind the last boundary of the signed message.")
	}
	der, err := o.undress(m.Parts[1])
	if isRoom(err) {
		return err
	}
	if err != nil {
		return malformed(err, "The transfer encoding of the signature cannot be undone.")
	}
	s, err := cms.ParseSigned(der, cms.Limits{})
	if err != nil {
		return o.unreadable(err)
	}
	content, changed := m.Parts[0], false
	err = o.verify(s, cms.InMemory(content.Raw))
	if f := faultOf(err); f != nil && f.Reason == integrityFailed && mayHaveChanged(content) {
		// QUIRK: what went over systems that know lines has lost its carriage returns; the
		// signature is over the canonical form, RFC 8551 §3.1.1.
		if err := o.room(len(content.Raw) + bytes.Count(content.Raw, []byte("\n"))); err != nil {
			return err
		}
		if canonical, other := withoutLoneLF(content.Raw); other && o.verify(s, cms.InMemory(canonical)) == nil {
			o.note("signed with CRLF, and sent with LF")
			err = nil
			if content, err = entity.Parse(canonical); err != nil {
				return malformed(err, "The header of the signed part cannot be read.")
			}
			changed = true
		}
	}
	if err != nil {
		return err
	}
	if changed || len(der) > 0 && len(m.Parts[1].Body) > 0 && &der[0] == &m.Parts[1].Body[0] {
		// As it stands nobody could verify it again: the line ends are others, or the
		// signature is in DER, which openssl and others do not read from MIME.
		o.m.Entity, o.m.Detached = content.Raw, der
	} else {
		o.keep(e)
	}
	o.m.micalg = e.ContentType().Get("micalg")
	o.m.checked = content.Raw
	return o.layer(content)
}

// mayHaveChanged reports whether the line ends of a signed part may have been changed
// on the way: not where it says that it is binary.
func mayHaveChanged(e *entity.Entity) bool {
	return entity.ParseValue(e.Get("Content-Transfer-Encoding")).Word != "binary"
}

// opaque verifies a SignedData that holds its content: RFC 8551 §3.5.2.
func (o *opening) opaque(e *entity.Entity, der []byte) error {
	s, err := cms.ParseSigned(der, cms.Limits{})
	if err != nil {
		return o.unreadable(err)
	}
	if s.Content == nil {
		return malformed(nil, "The signature stands alone: what it is over is missing.")
	}
	malleable := o.malleable()
	if err := o.verify(s, nil); err != nil {
		if f := faultOf(err); f != nil && malleable && !o.proved {
			// The signature's value stands at the end, where blocks can be put that leave all
			// else as it was: that they could be read would tell that they are padded well.
			f.structural = true
		}
		return err
	}
	o.m.Entity, o.m.Opaque = der, true
	o.m.checked = s.Content.Bytes()
	return o.inner(o.m.checked)
}

// unreadable is of a signature that cannot be read.
func (o *opening) unreadable(err error) *Fault {
	f := fault(integrityFailed, err, "The signature cannot be read.")
	f.structural = true
	return f
}

// verify checks that one of the partner's certificates signed the content.
func (o *opening) verify(s *cms.Signed, content cms.Content) error {
	if o.m.Signed {
		return fault(unexpected, nil, "The message is signed twice.")
	}
	candidates, owners := o.signers()
	policy := cms.Policy{RSA: o.Partner.FewestRSA(partners.AS2Sign)}
	for name, hash := range oldHashes {
		if o.allows(name) {
			policy.Old = append(policy.Old, hash)
		}
	}
	v, err := s.Verify(content, candidates, policy)
	o.proved = err == nil || errors.Is(err, cms.ErrDigest)
	switch {
	case errors.Is(err, cms.ErrUnknownSigner):
		return fault(authenticationFailed, err, "The message is signed by a certificate that is not one of yours with us.")
	case errors.Is(err, cms.ErrForbidden):
		return fault(insufficientSecurity, err, "The signature was made with an algorithm or a key that is not accepted from you. Use SHA-256 and a key of 2048 bits or more.")
	case errors.Is(err, cms.ErrDigest), errors.Is(err, cms.ErrSignature):
		return fault(integrityFailed, err, "The content is not what was signed, or the signature is another's.")
	case errors.Is(err, cms.ErrUnsupported):
		return fault(integrityFailed, err, "The signature was made in a way that is not known here.")
	case err != nil:
		return o.unreadable(err)
	}
	owner := owners[slices.Index(candidates, v.Certificate)]
	if err := o.recognise(owner, v); err != nil {
		return err
	}
	for name, hash := range oldHashes {
		if v.Hash == hash || v.SignedHash == hash {
			o.note("signed with " + name)
		}
	}
	if key, ok := v.Certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < 2048 {
		o.note(fmt.Sprintf("signed with an RSA key of %d bits", key.N.BitLen()))
	}
	o.m.Signed, o.m.Signer, o.m.Hash, o.m.digest = true, owner, v.Hash, v.Digest
	if v.Matched == cms.ByKey && v.Shown != nil {
		o.m.Shown = bytes.Clone(v.Shown.Raw)
	}
	return nil
}

// oldHashes are the digests that a partner has to be allowed, by their names in
// partners.OldAlgorithms.
var oldHashes = map[string]crypto.Hash{"sha1": crypto.SHA1, "md5": crypto.MD5, "sha224": crypto.SHA224}

// signers are the partner's certificates that may have signed, also those that have
// ended, so that it can be told.
func (o *opening) signers() (candidates []*cms.Certificate, owners []*partners.Certificate) {
	for _, c := range o.Partner.Certificates {
		if c.X509 == nil || !slices.Contains(c.Purposes, partners.AS2Sign) {
			continue
		}
		read, err := cms.CertificateOf(c.X509)
		if err != nil {
			continue // crypto/x509 has read it; it is not used, and stops no other
		}
		candidates, owners = append(candidates, read), append(owners, c)
	}
	return candidates, owners
}

// recognise holds the certificate that signed against when it may be used, and how
// it is pinned.
func (o *opening) recognise(c *partners.Certificate, v *cms.Verified) error {
	err := c.Usable(partners.AS2Sign, o.Now)
	if v.Matched == cms.ByKey {
		switch shown := v.Shown; {
		case !c.PinsKey:
			return fault(authenticationFailed, nil, "The message is signed with the key of your certificate %q, and another certificate of it. Send us that one.", c.Label)
		case shown != nil && !shown.NotAfter.IsZero() && o.Now.After(shown.NotAfter.Add(time.Second)):
			err = partners.ErrExpired
		case shown != nil:
			if !c.Until.IsZero() && !o.Now.Before(c.Until) {
				err = partners.ErrExpired
			} else if errors.Is(err, partners.ErrExpired) {
				err = nil // its successor has not
			}
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, partners.ErrExpired) && o.Partner.AS2.ExpiredAccepted:
		o.note(fmt.Sprintf("signed with the certificate %q, which has ended", c.Label))
		return nil
	case errors.Is(err, partners.ErrExpired):
		return fault(authenticationFailed, err, "The message is signed with your certificate %q, which has ended. Sign with its successor, and send us that before.", c.Label)
	}
	return fault(authenticationFailed, err, "The message is signed with your certificate %q, which may not be used for it now: %s.", c.Label, partners.WhyNot(err))
}

// keep keeps the signed entity: as it stands, and of an HTTP message with the fields
// that say what it is before it.
func (o *opening) keep(e *entity.Entity) {
	if e.Raw != nil {
		o.m.Entity = e.Raw
		return
	}
	header := "MIME-Version: 1.0\r\nContent-Type: " + e.Get("Content-Type") + "\r\n"
	if encoding := e.Get("Content-Transfer-Encoding"); encoding != "" {
		header += "Content-Transfer-Encoding: " + encoding + "\r\n"
	}
	o.m.Header, o.m.Entity = []byte(header+"\r\n"), e.Body
}
