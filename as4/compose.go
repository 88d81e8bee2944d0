package as4

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/wssec"
)

// Payload is a payload of a message that we send.
type Payload struct {
	ContentID    string // without brackets; "" is made of the message's id
	MimeType     string
	CharacterSet string
	Compress     bool
	Properties   []Property // further ones

	// Open reads it from its beginning. It is called several times, and gives the same
	// bytes each time.
	Open func() (io.ReadCloser, error)
}

// Bytes makes a payload of what is in memory.
func Bytes(b []byte, mimeType string) Payload {
	return Payload{MimeType: mimeType, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// Composed is a message as it goes out: the same bytes as often as they are read.
type Composed struct {
	MessageID   string
	ContentType string
	References  []wssec.Reference // that its receipt has to name; none of what is not signed

	boundary string
	secured  *wssec.Secured
}

// Compose builds a message: compressed, then signed, then encrypted, as eDelivery AS4
// 1.15 §1.4.3.1 has it. nil signs or encrypts nothing.
func Compose(u *UserMessage, payloads []Payload, signing *wssec.Signing, encrypting *wssec.Encrypting) (*Composed, error) {
	if u.MessageInfo.MessageID == "" {
		return nil, errors.New("a message needs a MessageId")
	}
	out := *u
	out.Parts = nil
	var parts []wssec.Part
	for i, p := range payloads {
		if p.ContentID == "" {
			p.ContentID = fmt.Sprintf("payload-%d.%s", i+1, u.MessageInfo.MessageID)
		}
		if strings.ContainsAny(p.ContentID, "<>\r\n \t") {
			return nil, fmt.Errorf("the Content-ID %q has brackets or blanks in it", p.ContentID)
		}
		info := PartInfo{Href: "cid:" + cidOf(p.ContentID), Properties: []Property{{Name: mimeTypeProperty, Value: p.MimeType}}}
		if p.CharacterSet != "" {
			info.Properties = append(info.Properties, Property{Name: characterSetProperty, Value: p.CharacterSet})
		}
		part := wssec.Part{ContentID: p.ContentID, MimeType: p.MimeType, Open: p.Open}
		if p.Compress {
			info.Properties = append(info.Properties, Property{Name: compressionTypeProperty, Value: GZIP})
			part.MimeType, part.Open = GZIP, compressed(p.Open)
		}
		info.Properties = append(info.Properties, p.Properties...)
		out.Parts, parts = append(out.Parts, info), append(parts, part)
	}
	secured, err := wssec.Outgoing{Messaging: out.element(), Parts: parts}.Secure(signing, encrypting)
	if err != nil {
		return nil, fmt.Errorf("secure message %s: %w", u.MessageInfo.MessageID, err)
	}
	c := &Composed{MessageID: u.MessageInfo.MessageID, References: secured.References, secured: secured, ContentType: answerType}
	if len(secured.Parts) > 0 {
		c.boundary = "=_edigw-" + rand.Text()
		c.ContentType = fmt.Sprintf(`multipart/related; type=%s; boundary=%s; start=%s`, quote(soapType), quote(c.boundary), quote("<"+soapContentID+">"))
	}
	return c, nil
}

// soapContentID is the Content-ID of the SOAP part.
const soapContentID = "soap-part@edigw"

// cidOf percent-encodes a Content-ID: RFC 2392 §2. The @ may stand in a URL, and is
// what most receivers compare with.
func cidOf(id string) string {
	return strings.ReplaceAll(url.PathEscape(id), "%40", "@")
}

// compressed reads through gzip, whose output of one program for one input is always
// the same.
func compressed(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		from, err := open()
		if err != nil {
			return nil, err
		}
		r, w := io.Pipe()
		go func() {
			zip := gzip.NewWriter(w)
			_, err := io.Copy(zip, from)
			_ = w.CloseWithError(errors.Join(err, zip.Close(), from.Close())) // it always gives nil
		}()
		return r, nil
	}
}

// Body reads the message.
func (c *Composed) Body() io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		_ = w.CloseWithError(c.write(w)) // it always gives nil
	}()
	return r
}

func (c *Composed) write(w io.Writer) error {
	if c.boundary == "" {
		_, err := w.Write(c.secured.SOAP)
		return err
	}
	part := func(id, kind string) error {
		_, err := fmt.Fprintf(w, "--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <%s>\r\n\r\n", c.boundary, kind, id)
		return err
	}
	if err := part(soapContentID, answerType); err != nil {
		return err
	}
	if _, err := w.Write(c.secured.SOAP); err != nil {
		return err
	}
	for _, p := range c.secured.Parts {
		if _, err := io.WriteString(w, "\r\n"); err != nil {
			return err
		}
		kind := p.MimeType
		if p.Encrypted { // its own type stands in EncryptedData/@MimeType
			kind = "application/octet-stream"
		}
		if err := part(p.ContentID, kind); err != nil {
			return err
		}
		from, err := p.Open()
		if err != nil {
			return err
		}
		_, err = io.Copy(w, from)
		if err = errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\r\n--%s--\r\n", c.boundary)
	return err
}

// element writes eb:Messaging with the message.
func (u *UserMessage) element() *etree.Element {
	m := newMessaging()
	e := m.CreateElement("eb:UserMessage")
	if u.MPC != "" && u.MPC != DefaultMPC {
		e.CreateAttr("mpc", u.MPC)
	}
	text := func(of *etree.Element, name, value string) *etree.Element {
		c := of.CreateElement("eb:" + name)
		c.SetText(value)
		return c
	}
	optional := func(e *etree.Element, name, value string) {
		if value != "" {
			e.CreateAttr(name, value)
		}
	}
	info := e.CreateElement("eb:MessageInfo")
	text(info, "Timestamp", timestamp(u.MessageInfo.Timestamp))
	text(info, "MessageId", u.MessageInfo.MessageID)
	if u.MessageInfo.RefToMessageID != "" {
		text(info, "RefToMessageId", u.MessageInfo.RefToMessageID)
	}
	parties := e.CreateElement("eb:PartyInfo")
	for _, side := range []struct {
		name string
		p    Party
	}{{"From", u.From}, {"To", u.To}} {
		s := parties.CreateElement("eb:" + side.name)
		optional(text(s, "PartyId", side.p.ID), "type", side.p.Type)
		text(s, "Role", side.p.Role)
	}
	c := e.CreateElement("eb:CollaborationInfo")
	if a := u.Collaboration.Agreement; a.Value != "" {
		ref := text(c, "AgreementRef", a.Value)
		optional(ref, "type", a.Type)
		optional(ref, "pmode", a.PMode)
	}
	optional(text(c, "Service", u.Collaboration.Service), "type", u.Collaboration.ServiceType)
	text(c, "Action", u.Collaboration.Action)
	text(c, "ConversationId", u.Collaboration.ConversationID)
	properties := func(of *etree.Element, name string, list []Property) {
		if len(list) == 0 {
			return
		}
		of = of.CreateElement("eb:" + name)
		for _, p := range list {
			e := text(of, "Property", p.Value)
			e.CreateAttr("name", p.Name)
			optional(e, "type", p.Type)
		}
	}
	properties(e, "MessageProperties", u.Properties)
	if len(u.Parts) > 0 {
		payload := e.CreateElement("eb:PayloadInfo")
		for _, p := range u.Parts {
			part := payload.CreateElement("eb:PartInfo")
			part.CreateAttr("href", p.Href)
			properties(part, "PartProperties", p.Properties)
		}
	}
	return m
}
