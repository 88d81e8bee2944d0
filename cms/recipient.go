package cms

import (
	"fmt"
)

// recipient reads a RecipientInfo: RFC 5652 §6.2. Those who share a password or a
// symmetric key are passed over.
func (e *Enveloped) recipient(r *reader, l Limits) error {
	switch {
	case r.next(tagSequence):
		return e.transported(r, l)
	case r.next(tagged(1)):
		return e.agreed(r, l)
	}
	if err := e.add(&recipient{algorithm: algorithm{}}, l); err != nil {
		return err
	}
	_, err := r.skip()
	return err
}

func (e *Enveloped) add(one *recipient, l Limits) error {
	if len(e.recipients) == l.recipients() {
		return fmt.Errorf("%w: more than %d recipients", ErrLimit, l.recipients())
	}
	e.recipients = append(e.recipients, one)
	return nil
}

// transported reads a KeyTransRecipientInfo: RFC 5652 §6.2.1.
func (e *Enveloped) transported(r *reader, l Limits) (err error) {
	one := &recipient{}
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	if _, err := r.primitive(tagInteger); err != nil { // version
		return err
	}
	if one.issuer, one.serial, one.keyID, err = r.identifier(); err != nil {
		return err
	}
	if one.algorithm, err = r.algorithm(); err != nil {
		return err
	}
	if one.encrypted, err = r.key(tagOctetString); err != nil {
		return err
	}
	if err := e.add(one, l); err != nil {
		return err
	}
	return r.leave()
}

// key reads an OCTET STRING that is no longer than a key.
func (r *reader) key(t tag) ([]byte, error) {
	o, err := r.octets(t)
	if err != nil {
		return nil, err
	}
	if o.Size() > mostKeyBytes {
		return nil, fmt.Errorf("%w: an encrypted key of %d bytes; %d are the most", ErrLimit, o.Size(), mostKeyBytes)
	}
	return o.Bytes(), nil
}

// agreed reads a KeyAgreeRecipientInfo: RFC 5652 §6.2.2, RFC 5753 §3.1.
func (e *Enveloped) agreed(r *reader, l Limits) (err error) {
	common := recipient{agreed: true}
	if err := r.enter(tagged(1)); err != nil {
		return err
	}
	if _, err := r.primitive(tagInteger); err != nil { // version
		return err
	}
	if common.originator, err = r.originator(); err != nil {
		return err
	}
	if r.next(tagged(1)) {
		if err := r.enter(tagged(1)); err != nil {
			return err
		}
		if common.ukm, err = r.key(tagOctetString); err != nil {
			return err
		}
		if err := r.leave(); err != nil {
			return err
		}
	}
	if common.algorithm, err = r.algorithm(); err != nil {
		return err
	}
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	for r.more() {
		one := common
		if err := r.enter(tagSequence); err != nil {
			return err
		}
		if one.issuer, one.serial, one.keyID, err = r.agreedIdentifier(); err != nil {
			return err
		}
		if one.encrypted, err = r.key(tagOctetString); err != nil {
			return err
		}
		if err := r.leave(); err != nil {
			return err
		}
		if err := e.add(&one, l); err != nil {
			return err
		}
	}
	if err := r.leave(); err != nil {
		return err
	}
	return r.leave()
}

// originator reads an OriginatorIdentifierOrKey, and gives the point of an
// ephemeral key; nil where the sender's key stands in a certificate.
func (r *reader) originator() (point []byte, err error) {
	if err := r.enter(tagged(0)); err != nil {
		return nil, err
	}
	if !r.next(tagged(1)) {
		return nil, r.leaveRest()
	}
	if err := r.enter(tagged(1)); err != nil {
		return nil, err
	}
	// Its algorithm is that of our key: a point of another curve is none of ours.
	if _, err := r.algorithm(); err != nil {
		return nil, err
	}
	bits, err := r.primitive(tagBitString)
	if err != nil {
		return nil, err
	}
	if len(bits) == 0 || bits[0] != 0 || len(bits) > mostKeyBytes {
		return nil, r.malformed("the sender's key")
	}
	if err := r.leave(); err != nil {
		return nil, err
	}
	return bits[1:], r.leave()
}

// agreedIdentifier reads a KeyAgreeRecipientIdentifier.
func (r *reader) agreedIdentifier() (issuer, serial, keyID []byte, err error) {
	if !r.next(tagged(0)) {
		return r.identifier()
	}
	if err := r.enter(tagged(0)); err != nil {
		return nil, nil, nil, err
	}
	if keyID, err = r.key(tagOctetString); err != nil {
		return nil, nil, nil, err
	}
	return nil, nil, keyID, r.leaveRest() // a date, and what others add
}

// Recipients says to whom a message is encrypted, for people.
func (e *Enveloped) Recipients() []string {
	var list []string
	for _, one := range e.recipients {
		list = append(list, one.String())
	}
	return list
}

func (one *recipient) String() string {
	if one.serial == nil && one.keyID == nil {
		return "one who shares a password or a symmetric key"
	}
	return identifierText(one.issuer, one.serial, one.keyID)
}
