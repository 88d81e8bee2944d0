package as4

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// opened is a request as far as it could be opened: what is not known is nil.
type opened struct {
	answering
	key      string            // transport key
	proved   *partners.Partner // partner, once its message is verified
	signer   string            // label of its certificate then
	entry    *gateway.Entry    // among what the partner has here; nil without
	release  func()            // of the reserved key; nil without
	request  *request
	reader   *envelopeReader
	content  *content
	delivery *gateway.Delivery
	ping     *gateway.Rendered // the answer to the test service
	closed   bool
}

// close lets go of what open took, once.
func (o *opened) close() {
	if o.closed {
		return
	}
	o.closed = true
	if o.request != nil {
		o.request.proved()
	}
	if o.reader != nil {
		o.reader.close()
	}
	if o.content != nil {
		o.content.close()
	}
	if o.release != nil {
		o.release()
	}
	o.entry.Leave()
}

// open reads a request: the envelope, whose it says to be, then its parts; and what
// proves it. What it gives is never nil. Its error is an *Error, a *notSOAP, of
// package wire, gateway.ErrBusy or ErrCrowded, or ours.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, client proxy.Client) (*opened, error) {
	limits := h.Limits.withDefaults()
	o := &opened{answering: answering{h: h}, request: h.request(w, r, client, limits)}
	if r.ContentLength > limits.MaxBody {
		return o, limits.spoolFault(wire.ErrLarge)
	}
	if coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding != "" && coding != "identity" {
		return o, &notSOAP{code: "Sender", text: fmt.Sprintf("the request has the Content-Encoding %.40q; send it as it is, and compress payloads by their CompressionType", coding)}
	}
	var err error
	if o.reader, err = readEnvelope(r.Header.Get("Content-Type"), o.request, limits, h.Spool); err != nil {
		return o, inFrame(limits.spoolFault(err))
	}
	env, u, err := o.identify(client)
	if err != nil && o.partner != nil {
		// Nothing of it is taken in, nor among what the partner has here. A small request
		// is read to its end all the same, for the quarantine.
		o.reader.soap = nil
		if r.ContentLength <= keptBytes {
			o.request.Limit = min(o.request.Limit, keptBytes)
			_, _ = io.Copy(io.Discard, o.request) // whatever it says, the fault is told
			o.request.Release()
		}
	}
	if err != nil {
		return o, err
	}
	o.request.proved()
	if err := o.admit(r, client); err != nil {
		return o, err
	}
	o.entry.MayGo(o.request.cut)
	o.reader.entry = o.entry
	err = o.reader.rest(o.partner)
	o.request.Release()
	o.entry.Stays()
	if err != nil {
		return o, inFrame(limits.spoolFault(err))
	}
	return o, o.open(r.Context(), env, u, client)
}

// identify finds whose message it is, and that whoever sent it has signed as that
// partner. A tree of elements takes many times its text, so that few are read at a
// time.
func (o *opened) identify(client proxy.Client) (*wssec.Envelope, *UserMessage, error) {
	defer o.h.turn()()
	env, err := wssec.Read(o.reader.soap)
	if err != nil {
		return nil, nil, &notSOAP{code: "Sender", text: detail(err)}
	}
	head, err := o.readEnvelope(env)
	if err != nil {
		o.claimed(head)
		return nil, nil, err
	}
	if head.signal != nil {
		return nil, nil, unexpected(head.signal)
	}
	u := head.user
	if o.partner, err = o.h.sender(u.From, u.To); err != nil {
		return nil, nil, err
	}
	o.key = dedup.TransportKey(Transport, u.To.ID, u.MessageInfo.MessageID)
	return env, u, o.h.authenticate(o.partner, env, len(u.Parts), client.Certificate)
}

// claimed notes whose a message says to be that is at fault before that could be
// asked for.
func (o *opened) claimed(head *header) {
	if head == nil || head.from.ID == "" {
		return
	}
	p, err := o.h.sender(head.from, head.to)
	if err != nil {
		return // a stranger is told what is wrong, and nothing else happens
	}
	o.partner = p
	if head.named != "" {
		o.key = dedup.TransportKey(Transport, head.to.ID, head.named)
	}
}

// turn waits until one more envelope may be read, and gives what lets the next.
func (h *Handler) turn() (leave func()) {
	h.turns.Do(func() { h.reading = make(chan struct{}, 2*runtime.GOMAXPROCS(0)) })
	h.reading <- struct{}{}
	return func() { <-h.reading }
}

// readEnvelope reads what the envelope says, and whom errors refer to. Beside a fault
// of the header it gives what could be read of it; nil where there is none.
func (o *opened) readEnvelope(env *wssec.Envelope) (*header, error) {
	if env.SOAP != nsSOAP {
		return nil, &notSOAP{code: "VersionMismatch", text: "the envelope is of SOAP 1.1; AS4 is SOAP 1.2 (AS4 profile §2.1)"}
	}
	if err := understood(env); err != nil {
		return nil, err
	}
	if env.Messaging == nil {
		return nil, faulty(InvalidHeader, "the SOAP header holds no eb:Messaging")
	}
	head, err := readHeader(env.Messaging)
	o.named = head.named
	if err != nil {
		return head, err
	}
	if head.user != nil {
		// eDelivery AS4 1.15 §1.4.2.3, and no PartInfo can name it.
		text, err := infoset.Text(env.Body)
		if err != nil || strings.Trim(text, linearSpace) != "" {
			return head, faulty(ValueInconsistent, "the SOAP Body is not empty; send payloads as parts beside the SOAP part")
		}
	}
	return head, nil
}

// understood refuses header blocks that have to be understood and are not: SOAP 1.2
// part 1 §2.4. Those for other nodes on the way are none of ours.
func understood(env *wssec.Envelope) error {
	for _, block := range env.Header.ChildElements() {
		must, _ := infoset.Attr(block, soap("mustUnderstand"))
		role, _ := infoset.Attr(block, soap("role"))
		ours := role == "" || role == nsSOAP+"/role/next" || role == nsSOAP+"/role/ultimateReceiver"
		if (must == "true" || must == "1") && ours && block != env.Messaging && block != env.Security {
			return &notSOAP{code: "MustUnderstand", text: fmt.Sprintf("the header block %s has to be understood, and is not", infoset.NameOf(block))}
		}
	}
	return nil
}

// unexpected answers signals: those that answer messages of ours come in the HTTP
// response to them, and nothing can be pulled here.
func unexpected(s *SignalMessage) error {
	switch {
	case s.Pull != nil:
		return faulty(FeatureNotSupported, "messages cannot be pulled here; they are pushed")
	case s.Receipt != nil:
		return faulty(FeatureNotSupported, "receipts are taken in the HTTP response to the message alone (eDelivery AS4 1.15 §1.4.3.2)")
	}
	return &errorSent{s.Errors}
}

// errorSent: a partner sent an error by itself. An error is never answered by an
// error: core §6.
type errorSent struct{ errors []ErrorSignal }

// Error is for the log.
func (e *errorSent) Error() string {
	return fmt.Sprintf("the partner sent %s %s: %.200s", e.errors[0].Code, e.errors[0].Severity, e.errors[0].Detail)
}

// waitingRoom is the size up to which a copy of a running message is read and
// waits for the first one's answer; a larger one is refused before it is read.
const waitingRoom = 1 << 20

// admit takes the delivery among those of the partner, and the transport key of a
// large one, before its parts are read.
func (o *opened) admit(r *http.Request, client proxy.Client) error {
	if o.h.Admit != nil {
		entry, ok := o.h.Admit(o.partner, client.Address)
		if !ok {
			return gateway.ErrCrowded
		}
		o.entry = entry
	}
	if o.h.Reserve == nil || r.ContentLength >= 0 && r.ContentLength <= waitingRoom {
		return nil
	}
	release, ok := o.h.Reserve(o.partner.ID, o.key)
	if !ok {
		return gateway.ErrBusy
	}
	o.release = release
	return nil
}

// open proves and unpacks a message that was read.
func (o *opened) open(ctx context.Context, env *wssec.Envelope, u *UserMessage, client proxy.Client) error {
	attachments, err := match(u.Parts, o.reader.taken)
	if err != nil {
		return err
	}
	proved, err := o.h.secure(ctx, o.partner, env, attachments)
	if err != nil {
		return err
	}
	if proved.messaging != env.Messaging {
		return errors.New("the element that was verified is not the one that was read")
	}
	o.proved, o.signer = o.partner, proved.signer
	if !o.entry.Proved() {
		return gateway.ErrCrowded
	}
	if now := o.h.now(); u.MessageInfo.Timestamp.After(now.Add(skew)) {
		// It is no security timestamp, and decides nothing.
		o.h.log().WarnContext(ctx, "an AS4 message is of the future; compare the clocks", "partner", o.partner.ID, "message_id", o.key, "timestamp", u.MessageInfo.Timestamp, "now", now)
	}
	if err := agreed(o.partner.AS4, u); err != nil {
		return err
	}
	if err := o.withKey(ctx); err != nil {
		return err
	}
	o.content, err = o.h.unpack(o.partner, u, attachments, proved.parts, o.reader.soap)
	if err != nil {
		return err
	}
	if u.IsTest() {
		rendered, err := o.receipt(u, proved)
		o.ping = &rendered
		return err
	}
	o.delivery = &gateway.Delivery{
		Transport:   Transport,
		Partner:     o.partner,
		TransportID: o.key,
		Payload:     o.content.payload,
		Parts:       o.content.ends,
		SHA256:      o.content.sha256,
		Received:    o.h.now(),
		Remote:      client.Address,
		Signer:      o.signer,
		Evidence:    o.content.evidence,
		Render:      o.render(u, proved),
		Refusal:     o.refused,
		Signs:       true,
		Binding:     o.binding(proved),
	}
	return nil
}

// binding is what a stored answer is tied to: the references that its receipt
// repeats, or the header where it repeats that, and our certificate and how it is
// named.
func (o *opened) binding(p *proved) []byte {
	h := sha256.New()
	if len(p.references) > 0 {
		sum := wssec.Binding(p.references)
		h.Write(sum[:])
	} else {
		h.Write(o.reader.soap)
	}
	if o.signing != nil {
		h.Write(o.signing.Certificate.Raw)
		h.Write([]byte{byte(o.signing.Token)})
	}
	h.Write([]byte(o.partner.AS4.Errors))
	return h.Sum(nil)
}

// inFrame gives a fault of the framing its code.
func inFrame(err error) error {
	if m := (*entity.Misframed)(nil); errors.As(err, &m) {
		return faulty(MimeInconsistency, "%s", m.Text)
	}
	if errors.Is(err, entity.ErrEncoding) {
		return faulty(MimeInconsistency, "%v", err)
	}
	return err
}

// detail is what the sender learns of a fault of its security or its envelope.
func detail(err error) string {
	if f := (*wssec.Fault)(nil); errors.As(err, &f) {
		return f.Detail
	}
	return err.Error()
}
