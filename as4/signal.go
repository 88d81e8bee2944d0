package as4

import (
	"time"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/wssec"
)

// timestamp writes an xs:dateTime in UTC: core §5.2.2.1.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// newMessaging makes eb:Messaging, to be understood by whoever gets it.
func newMessaging() *etree.Element {
	m := etree.NewElement("eb:Messaging")
	m.CreateAttr("xmlns:eb", nsEBMS)
	m.CreateAttr("xmlns:S12", nsSOAP)
	m.CreateAttr("S12:mustUnderstand", "true")
	return m
}

// signalTo makes an eb:SignalMessage that refers to a message, "" for none.
func signalTo(ref, id string, now time.Time) (messaging, signal *etree.Element) {
	messaging = newMessaging()
	signal = messaging.CreateElement("eb:SignalMessage")
	info := signal.CreateElement("eb:MessageInfo")
	info.CreateElement("eb:Timestamp").SetText(timestamp(now))
	info.CreateElement("eb:MessageId").SetText(id)
	if ref != "" {
		info.CreateElement("eb:RefToMessageId").SetText(ref)
	}
	return messaging, signal
}

// receiptTo makes the receipt of a message: AS4 profile §5.1.8 with the references of
// its signature, to a message that was not signed with the header itself.
func receiptTo(u *UserMessage, of *proved, id string, now time.Time) *etree.Element {
	messaging, signal := signalTo(u.MessageInfo.MessageID, id, now)
	receipt := signal.CreateElement("eb:Receipt")
	if len(of.references) > 0 {
		nonRepudiation(receipt, of.references)
		return messaging
	}
	for _, unit := range of.messaging.ChildElements() {
		if unit.Tag == "UserMessage" {
			receipt.AddChild(graft(unit))
		}
	}
	return messaging
}

// graft copies an element out of its document, with the namespaces that are in scope
// there.
func graft(e *etree.Element) *etree.Element {
	c := e.Copy()
	bound := map[string]bool{}
	for at := e; at != nil; at = at.Parent() {
		for _, a := range at.Attr {
			name := a.FullKey()
			if a.Space != "xmlns" && name != "xmlns" || bound[name] {
				continue
			}
			bound[name] = true
			if at != e {
				c.CreateAttr(name, a.Value)
			}
		}
	}
	return c
}

// errorTo makes the signal of errors to a message, "" where none can be told.
func errorTo(ref, id string, now time.Time, errs ...*Error) *etree.Element {
	messaging, signal := signalTo(ref, id, now)
	for _, err := range errs {
		row := err.Row()
		e := signal.CreateElement("eb:Error")
		e.CreateAttr("category", row.Category)
		e.CreateAttr("errorCode", row.Code)
		e.CreateAttr("origin", row.Origin)
		if ref != "" {
			e.CreateAttr("refToMessageInError", ref)
		}
		e.CreateAttr("severity", row.Severity)
		e.CreateAttr("shortDescription", row.Short)
		description := e.CreateElement("eb:Description")
		description.CreateAttr("xml:lang", "en")
		description.SetText(printable(err.Detail))
		e.CreateElement("eb:ErrorDetail").SetText(printable(err.Detail))
	}
	return messaging
}

// soapFault makes an S12:Fault: SOAP 1.2 part 1 §5.4.
func soapFault(code, text string) *etree.Element {
	f := etree.NewElement("S12:Fault")
	f.CreateAttr("xmlns:S12", nsSOAP)
	f.CreateElement("S12:Code").CreateElement("S12:Value").SetText("S12:" + code)
	reason := f.CreateElement("S12:Reason").CreateElement("S12:Text")
	reason.CreateAttr("xml:lang", "en")
	reason.SetText(printable(text))
	return f
}

// printable leaves out what XML 1.0 §2.2 has no place for.
func printable(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000:
			out = append(out, r)
		default:
			out = append(out, '?')
		}
	}
	return string(out)
}

// write gives the bytes of an answer; nil signs nothing.
func write(messaging, body *etree.Element, signing *wssec.Signing) ([]byte, error) {
	s, err := wssec.Outgoing{Messaging: messaging, Body: body}.Secure(signing, nil)
	if err != nil {
		return nil, err
	}
	return s.SOAP, nil
}
