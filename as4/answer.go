package as4

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// notSOAP is a fault of the envelope: there is no message that an ebMS error alone
// could answer.
type notSOAP struct {
	code string // Sender, VersionMismatch, MustUnderstand: SOAP 1.2 part 1 §5.4.6
	text string
}

// Error says what is wrong with the envelope.
func (n *notSOAP) Error() string { return n.code + ": " + n.text }

// The content types and statuses of answers. Errors have 200, since they are
// messages that arrived; a SOAP Fault has the one of the SOAP 1.2 HTTP binding (part
// 2 §7.4.2) for what the sender has to change.
const (
	answerType  = soapType + "; charset=UTF-8"
	statusError = 200
	statusFault = 400
	statusAgain = 503
)

// answering is how the answers to one message are made.
type answering struct {
	h       *Handler
	partner *partners.Partner // nil: nobody known
	named   string            // MessageId that errors refer to
	signing *wssec.Signing    // nil: not signed
}

// withKey finds the key of the organisation that the partner sends to. Without one
// nothing is signed; whether that will do is for the caller to say.
func (a *answering) withKey(ctx context.Context) error {
	if a.signing != nil || a.partner == nil {
		return nil
	}
	ours, err := a.h.Signers(ctx, a.partner.Organisation)
	if err != nil {
		return fmt.Errorf("key to sign with: %w", err)
	}
	a.signing = signingFor(a.partner.AS4, ours)
	return nil
}

// signingFor gives with which of our keys a partner is answered, and how: the first
// that signs by an algorithm agreed with it, since an organisation may have partners
// of eDelivery 1.15 and of 2.0, whose algorithms exclude each other. Where none does
// the first is taken all the same, which a doctor of the installation says. nil
// without keys.
func signingFor(agreed *partners.AS4, ours []*wssec.Signing) *wssec.Signing {
	if len(ours) == 0 {
		return nil
	}
	named := *ours[0]
choice:
	for _, s := range ours {
		for _, name := range agreed.Signatures {
			if s.Signs(signatures[name]) {
				named = *s
				named.Method = signatures[name]
				break choice
			}
		}
	}
	named.Token = TokenForm(agreed.Token)
	return &named
}

// TokenForm gives the form of a token reference by its name in partners.AS4Tokens.
func TokenForm(name string) wssec.TokenForm {
	switch name {
	case "pkipath":
		return wssec.PKIPath
	case "ski":
		return wssec.SubjectKeyID
	case "issuer-serial":
		return wssec.IssuerSerial
	}
	return wssec.BinarySecurityToken
}

// errors renders errors of the message: a signal, with a SOAP Fault where the partner
// wants one or status says that something was not taken.
func (a *answering) errors(status int, errs ...*Error) (gateway.Rendered, error) {
	var body *etree.Element
	switch {
	case status == statusAgain:
		body = soapFault("Receiver", errs[0].Detail)
	case a.asFault():
		status, body = statusFault, soapFault("Sender", errs[0].Detail)
	}
	text, err := write(errorTo(a.named, a.h.messageID(), a.h.now(), errs...), body, a.signing)
	return gateway.Rendered{Status: status, ContentType: answerType, Body: text}, err
}

// asFault reports whether the partner wants errors with a SOAP Fault.
func (a *answering) asFault() bool {
	return a.partner != nil && a.partner.AS4.Errors == partners.AS4AsFault
}

// refused is the status under which a refusal is told.
func (a *answering) refused(*gateway.Rejection) int {
	if a.asFault() {
		return statusFault
	}
	return statusError
}

// notSOAP renders a fault of the envelope, with the error that says the same in
// ebMS.
func (a *answering) notSOAP(n *notSOAP) (gateway.Rendered, error) {
	text, err := write(errorTo(a.named, a.h.messageID(), a.h.now(), faulty(InvalidHeader, "%s", n.text)), soapFault(n.code, n.text), nil)
	return gateway.Rendered{Status: statusFault, ContentType: answerType, Body: text}, err
}

// receipt renders the receipt of a message.
func (a *answering) receipt(u *UserMessage, of *proved) (gateway.Rendered, error) {
	if len(of.references) > 0 && a.signing == nil {
		return gateway.Rendered{}, errNoKey
	}
	text, err := write(receiptTo(u, of, a.h.messageID(), a.h.now()), nil, a.signing)
	return gateway.Rendered{Status: 200, ContentType: answerType, Body: text}, err
}

// errNoKey: a signed message has a signed receipt.
var errNoKey = errors.New("our organisation has no key for as4_sign that holds now; `edigw keys create` makes one")

// render makes Delivery.Render: signed once for each thing that may be told, since a
// signature is costly and what was drafted has to be what leaves.
func (a *answering) render(u *UserMessage, of *proved) func(*gateway.Receipt) (gateway.Rendered, error) {
	made := map[string]gateway.Rendered{}
	return func(r *gateway.Receipt) (gateway.Rendered, error) {
		signal, told := r.Signal()
		detail := ""
		if signal != gateway.SignalPositive {
			detail = detailOf(r, told)
		}
		key := fmt.Sprint(signal, told.AS4, detail)
		if known, ok := made[key]; ok {
			return known, nil
		}
		var rendered gateway.Rendered
		var err error
		switch signal {
		case gateway.SignalPositive:
			rendered, err = a.receipt(u, of)
		case gateway.SignalTryAgain:
			rendered, err = a.errors(statusAgain, &Error{Code: DeliveryFailure, Detail: detail})
		default:
			rendered, err = a.errors(statusError, &Error{Code: told.AS4, Detail: detail})
		}
		if err == nil {
			made[key] = rendered
		}
		return rendered, err
	}
}

// What an error tells at most.
const (
	maxTold   = 20   // interchanges
	maxDetail = 4000 // bytes
)

// detailOf says what is wrong, where, for each interchange that is not taken. Of a
// drift it says the alert's id and nothing else: what came before is not told.
func detailOf(r *gateway.Receipt, told gateway.Told) string {
	var lines []string
	omitted := 0
	for i, it := range r.Items {
		its := it.Answer.Told()
		if its.Problem == "" && it.Answer != gateway.ToldPartly {
			continue
		}
		if len(lines) == maxTold {
			omitted++
			continue
		}
		var ic gateway.InterchangeReceipt
		line := its.Title
		if json.Unmarshal(it.JSON, &ic) == nil { // stored by us; without it the title says what there is
			line = interchangeLine(&ic, its.Title)
		}
		if len(r.Items) > 1 {
			line = fmt.Sprintf("Interchange %d of %d: %s", i+1, len(r.Items), line)
		}
		lines = append(lines, line)
	}
	if omitted > 0 {
		lines = append(lines, fmt.Sprintf("%d further interchanges", omitted))
	}
	if len(lines) == 0 {
		lines = append(lines, told.Title)
	}
	text := strings.Join(lines, "\n")
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + " …"
	}
	return text
}

func interchangeLine(ic *gateway.InterchangeReceipt, title string) string {
	words := []string{}
	if ic.MessageID != "" {
		words = append(words, ic.MessageID)
	}
	switch {
	case ic.Detail != "":
		words = append(words, ic.Detail)
	case title != "":
		words = append(words, title)
	default:
		words = append(words, "some of its messages were refused")
	}
	if ic.Alert != "" {
		return strings.Join(append(words, "If you ask us, name alert "+ic.Alert), ": ")
	}
	for _, f := range ic.Findings {
		if f.Severity != edi.SeverityError.String() {
			continue
		}
		text := f.Message
		if l := f.Location; l != nil {
			text = fmt.Sprintf("%s (segment %d %s, at byte %d)", text, l.Segment, l.Tag, l.Offset)
		}
		words = append(words, text)
		break
	}
	return strings.Join(words, ": ")
}
