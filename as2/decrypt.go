package as2

import (
	"bytes"
	"errors"
	"slices"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
)

// enveloped decrypts, RFC 4130 §5.2, and opens what was encrypted. Until a signature
// on that was found right, all that is broken inside is told as what could not be
// decrypted: RFC 3218, and attacks on the padding of CBC.
func (o *opening) enveloped(der []byte) error {
	switch {
	case o.malleable(): // what it is inside CBC is told as everything else that is wrong there
		return malformed(nil, "The message is encrypted twice.")
	case o.m.Encrypted:
		return fault(unexpected, nil, "The message is encrypted twice.")
	}
	o.m.Encrypted = true
	if o.m.Signed {
		if err := o.room(len(der)); err != nil {
			return err
		}
		der = bytes.Clone(der) // what was signed is kept, and this would be decrypted in it
	}
	e, err := cms.ParseEnveloped(der, cms.Limits{})
	if err != nil {
		return cannotDecrypt(err)
	}
	if e.Encryption == cms.TripleDES {
		if !o.allows("3des") {
			return fault(insufficientSecurity, nil, "The message is encrypted with 3DES, which is not accepted from you. Use AES.")
		}
		o.note("encrypted with 3DES")
	}
	if o.Partner.AS2.CBCRefused && !e.Encryption.Authenticates() {
		// Before a key works for it: what was encrypted with GCM and is said to be of CBC is
		// refused as well.
		return fault(insufficientSecurity, nil, "The message is encrypted with %s, which is not accepted from you. Use AES-GCM.", e.Encryption)
	}
	var keys []cms.Key
	if o.Keys != nil {
		if keys, err = o.Keys(); err != nil {
			return err // ours
		}
	}
	o.sealed = e.Encryption.Authenticates()
	d, err := e.Decrypt(keys)
	if d == nil {
		return cannotDecrypt(err)
	}
	if !o.m.Signed {
		o.m.checked = d.Content
	}
	inside := o.inner(d.Content)
	switch {
	case err != nil:
		// Garbage takes as long where its padding is wrong as where that is right, and
		// nothing that came of it is told.
		return cannotDecrypt(err)
	case !o.m.Signed:
		return behindEncryption(inside)
	}
	return inside
}

// compressed decompresses, RFC 5402, and opens what was compressed.
func (o *opening) compressed(der []byte) error {
	if o.m.Compressed { // RFC 5402 §3
		return fault(decompressionFailed, nil, "The message is compressed twice.")
	}
	o.m.Compressed = true
	c, err := cms.ParseCompressed(der, cms.Limits{})
	if err != nil {
		return o.cannotDecompress(err, "The compressed part cannot be read.")
	}
	most := min(o.left, max(freeRatio, ratio*int64(c.Size)))
	content, err := o.inflate(c, most)
	switch {
	case isRoom(err):
		return err
	case errors.Is(err, cms.ErrLimit):
		return fault(decompressionFailed, err, "The message is larger than %d bytes when it is decompressed, or more than %d times as large. Send it uncompressed, or in several.", o.left, ratio)
	case err != nil:
		return o.cannotDecompress(err, "The compressed part is broken.")
	}
	o.left -= int64(len(content))
	if !o.m.Signed {
		o.m.checked = o.checkedOf(der, content)
	}
	if err := o.inner(content); err != nil {
		if f := faultOf(err); f != nil && f.structural && f.Reason == unexpected {
			f.Reason = decompressionFailed
		}
		return err
	}
	return nil
}

// checkedOf is what the MIC of a compressed message without a signature is over.
//
// QUIRK: RFC 5402 §4.2 has it over what was compressed, with its header. phase2 takes
// the compressed part, OpenAS2 the content without its header where nothing is encrypted:
// as2.compressed_mic.
func (o *opening) checkedOf(compressed, content []byte) []byte {
	switch o.Partner.AS2.CompressedMIC {
	case partners.AS2MICOfCompressed:
		if o.m.checked != nil { // with its header, as it was decrypted
			return o.m.checked
		}
		return compressed
	case partners.AS2MICOfBody:
		if e, err := entity.Parse(content); err == nil && entity.HasHeader(content) {
			return e.Body
		}
	}
	return content
}

// often is how many times its compressed size a message is, at most and most often.
const often = 16

// inflate decompresses in memory that was taken for it. A large message is measured
// first: what it may be by its compressed size is many times what it is.
func (o *opening) inflate(c *cms.Compressed, most int64) ([]byte, error) {
	if small := min(most, smallMessage); often*int64(c.Size) <= small || small == most {
		content, err := c.Decompress(small)
		if err == nil {
			err = o.room(len(content))
		}
		if !errors.Is(err, cms.ErrLimit) || small == most {
			return content, err
		}
	}
	size, err := c.Measure(most)
	if err != nil {
		return nil, err
	}
	if err := o.room(int(size)); err != nil {
		return nil, err
	}
	return c.Decompress(size)
}

func (o *opening) cannotDecompress(err error, detail string) *Fault {
	f := fault(decompressionFailed, err, "%s", detail)
	f.structural = true
	return f
}

// allows reports whether the partner may use an old algorithm.
func (o *opening) allows(algorithm string) bool {
	return slices.Contains(o.Partner.AS2.OldAlgorithms, algorithm)
}

// note keeps what was let pass.
func (o *opening) note(text string) {
	if !slices.Contains(o.m.Notes, text) {
		o.m.Notes = append(o.m.Notes, text)
	}
}
