package wssec

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/c14n"
	"github.com/edigw/edigw/as4/infoset"
)

// Outgoing is a message that we are about to send.
type Outgoing struct {
	Messaging *etree.Element // eb:Messaging, declaring its namespaces; its wsu:Id is made if it has none
	Body      *etree.Element // the one element in the Body, such as S12:Fault; nil leaves it empty
	Parts     []Part         // already compressed; signed and encrypted as they are
}

// Secured is a message as it goes out.
type Secured struct {
	SOAP       []byte      // the envelope: UTF-8 without declaration, the same bytes whenever it is sent
	Parts      []Part      // as they travel: with Encrypting their Open gives nonce, ciphertext and tag
	References []Reference // what a receipt has to name; none if nothing is signed
}

// Ids of what we write. They are the same in every message, so that signing again
// gives the same references and the receipt of the first sending still fits.
const (
	messagingID = "messaging"
	bodyID      = "body"
	signerID    = "signer"    // wsse:BinarySecurityToken
	recipientID = "recipient" // wsse:BinarySecurityToken
	keyID       = "key"       // xenc:EncryptedKey
	partIDs     = "part-%d"   // xenc:EncryptedData, from 1
)

// Secure builds the envelope, signs eb:Messaging, the Body and every part, and
// encrypts every part; nil for signing or encrypting leaves that out. Parts are read
// twice when they are signed: here and when they are sent.
//
// The order in wsse:Security is that of processing: the key, the encrypted parts, the
// signature (WSS 1.1 §5; WSS4J goes through it so). The envelope is written as
// canonical XML.
func (o Outgoing) Secure(signing *Signing, encrypting *Encrypting) (*Secured, error) {
	e, err := o.envelope(signing != nil || encrypting != nil)
	if err != nil {
		return nil, err
	}
	s := &Secured{Parts: o.Parts}
	var signature *etree.Element
	if signing != nil {
		if signature, s.References, err = signing.sign(e, o.Parts); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
	}
	if encrypting != nil && len(o.Parts) > 0 {
		if s.Parts, err = encrypting.encrypt(e.Security, o.Parts); err != nil {
			return nil, fmt.Errorf("encrypt: %w", err)
		}
	}
	if signing != nil {
		if token := signing.binaryToken(); token != nil {
			e.Security.AddChild(token)
		}
		e.Security.AddChild(signature)
	}
	e.ids = map[string]*etree.Element{}
	if err := e.walk(e.Root, false); err != nil {
		return nil, err // an id of the caller's that is one of ours
	}
	s.SOAP, err = canonical(e.Root, c14n.Inclusive)
	return s, err
}

// canonical gives the bytes of an element.
func canonical(e *etree.Element, method string) ([]byte, error) {
	m, err := c14n.New(method, "")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = m.Element(&b, e)
	return b.Bytes(), err
}

// envelope builds what is to be secured.
func (o Outgoing) envelope(secured bool) (*Envelope, error) {
	if o.Messaging == nil {
		return nil, errors.New("there is no eb:Messaging to send")
	}
	ids := map[string]bool{"": true}
	for _, p := range o.Parts {
		if ids[p.ContentID] {
			return nil, fmt.Errorf("each part needs a Content-ID of its own, not %q", p.ContentID)
		}
		ids[p.ContentID] = true
	}
	e := &Envelope{SOAP: SOAP12, Root: etree.NewElement("S12:Envelope")}
	e.Root.CreateAttr("xmlns:S12", SOAP12)
	e.Header = e.Root.CreateElement("S12:Header")
	if secured {
		e.Security = e.Header.CreateElement("wsse:Security")
		e.Security.CreateAttr("xmlns:wsse", WSSE)
		e.Security.CreateAttr("xmlns:wsu", WSU)
		e.Security.CreateAttr("S12:mustUnderstand", "true")
	}
	e.Messaging = o.Messaging.Copy()
	e.Header.AddChild(e.Messaging)
	if !infoset.Is(e.Messaging, messaging) {
		return nil, fmt.Errorf("%s is to be sent, %s is expected", infoset.NameOf(e.Messaging), messaging)
	}
	identify(e.Messaging, messagingID)
	if _, ok := infoset.Attr(e.Messaging, e.soap("mustUnderstand")); !ok { // ebMS 3.0 core §5.2.1
		e.Messaging.CreateAttr("S12:mustUnderstand", "true")
	}
	e.Body = e.Root.CreateElement("S12:Body")
	identify(e.Body, bodyID)
	if o.Body != nil {
		e.Body.AddChild(o.Body.Copy())
	}
	return e, nil
}

// identify gives e a wsu:Id if it has none.
func identify(e *etree.Element, id string) {
	if _, ok := infoset.Attr(e, infoset.Name{Space: WSU, Local: "Id"}); ok {
		return
	}
	if infoset.Namespace(e, "wsu") != WSU {
		e.CreateAttr("xmlns:wsu", WSU)
	}
	e.CreateAttr("wsu:Id", id)
}
