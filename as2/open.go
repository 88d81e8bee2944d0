package as2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
	"github.com/edigw/edigw/wire"
)

// waitingRoom is the size up to which a copy of a running message is read and waits
// for the first one's answer; a larger one is refused before it is read.
const waitingRoom = 1 << 20

// opened is a request as far as it could be opened: what is not known is nil.
type opened struct {
	from, to Name
	id       MessageID
	wanted   Wanted
	partner  *partners.Partner
	key      string // transport key, "" if the sender gave no id
	leave    []func()
	entry    *gateway.Entry
	spooled  *gateway.Spooled
	address  string // of who sends
	memory   *claim // what it was opened in; nil without
	m        *Opened
	report   *entity.Entity // it is an MDN
	notified *Notification
	signing  *Key // with which the MDN is signed, nil for not
	fault    *Fault
	delivery *gateway.Delivery
	answers  map[string]gateway.Rendered // made so far
	notFor   string                      // why the address for the MDN is not used
}

// close lets go of what open took, once.
func (o *opened) close() {
	for i := len(o.leave) - 1; i >= 0; i-- {
		o.leave[i]()
	}
	o.leave = nil
}

// forget gives back the memory of a message that is at fault: what is kept of it is the
// body as it came, and it may wait for the partner's quarantine.
func (o *opened) forget() {
	if o.memory != nil {
		o.memory.close()
	}
	if o.m != nil {
		o.m.Parts, o.m.Entity, o.m.Detached, o.m.checked = nil, nil, nil, nil
	}
}

// unproved tells that a message is refused that has to be signed, before a signature of
// the partner's was found right: anybody may have used its name.
func (o *opened) unproved() bool {
	return o.fault != nil && o.partner.AS2.SignatureRequired && (o.m == nil || !o.m.Signed)
}

// open reads a request: who, which message, and only then the body; then what is in it.
// Its error is a *refusal, or ours. A fault of the message is no error: it is received
// as one, so that it is journalled, and told after that.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, client proxy.Client, o *opened) error {
	o.address = client.Address
	if err := h.who(r.Header, o); err != nil {
		return err
	}
	if err := h.admit(r, o, client); err != nil {
		return err
	}
	limits := h.Limits.withDefaults()
	if err := h.take(w, r, o, limits); err != nil {
		return err
	}
	if err := h.signer(r.Context(), o); err != nil {
		return err
	}
	err := h.message(r, o, limits)
	if f := faultOf(err); f != nil {
		o.fault = f
		o.forget()
	} else if err != nil {
		return err
	}
	if o.fault == nil && !o.entry.Proved() {
		return gateway.ErrCrowded
	}
	if o.report != nil && o.fault == nil {
		return nil
	}
	return h.deliver(r, client, o)
}

// who finds the partner by the names of the header, RFC 4130 §6.2. What is not a pair
// that we know is told one thing, whichever of the two it is.
func (h *Handler) who(header http.Header, o *opened) error {
	if header.Values("AS2-From") == nil || header.Values("AS2-To") == nil {
		return &refusal{status: http.StatusBadRequest, reason: "no-as2-names", text: "AS2-From and AS2-To are missing: RFC 4130 §6.2. Plain HTTP is taken elsewhere."}
	}
	// QUIRK: of a repeated field the first counts.
	from, err := ParseName(header.Get("AS2-From"))
	to, err2 := ParseName(header.Get("AS2-To"))
	if err := errors.Join(err, err2); err != nil {
		return &refusal{status: http.StatusBadRequest, reason: "no-as2-names", text: "AS2-From or AS2-To is no name of 1 to 128 printable characters: RFC 4130 §6.2.", cause: err}
	}
	o.from, o.to = from, to
	o.id, _ = ParseMessageID(header.Get("Message-ID"))
	p := h.ByName(from.Plain, to.Plain)
	switch {
	case p == nil:
		return &refusal{status: http.StatusForbidden, reason: unknownPartner, stranger: true}
	case !p.Active:
		return &refusal{status: http.StatusForbidden, reason: "paused", stranger: true}
	}
	o.partner = p
	if o.id.Plain != "" {
		o.key = dedup.TransportKey(Transport, to.Plain, o.id.Plain)
	}
	return nil
}

// admit lets the delivery in as one whose sender is not proved, and takes the key of a
// large body before it is read.
func (h *Handler) admit(r *http.Request, o *opened, client proxy.Client) error {
	if h.Admit != nil {
		entry, ok := h.Admit(o.partner, client.Address)
		if !ok {
			return gateway.ErrCrowded
		}
		o.entry = entry
		o.leave = append(o.leave, entry.Leave)
	}
	if o.key == "" || h.Reserve == nil || r.ContentLength >= 0 && r.ContentLength <= waitingRoom {
		return nil
	}
	release, ok := h.Reserve(o.partner.ID, o.key)
	if !ok {
		return gateway.ErrBusy
	}
	o.leave = append(o.leave, release)
	return nil
}

// take reads the body to its end.
func (h *Handler) take(w http.ResponseWriter, r *http.Request, o *opened, limits Limits) error {
	limit := limits.MaxBody
	if !isPlain(r.Header) {
		limit = min(limit, limits.MaxOpened)
	}
	large := &refusal{status: http.StatusRequestEntityTooLarge, reason: "content-too-large", text: fmt.Sprintf("The message is larger than %d bytes. Send its interchanges in several.", limit)}
	if coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding != "" && coding != "identity" {
		return &refusal{status: http.StatusUnsupportedMediaType, reason: "unsupported-content-encoding", text: "Content-Encoding is not taken over AS2. Compress by RFC 5402, or not at all."}
	}
	if r.ContentLength > limit {
		return large
	}
	body := wire.NewBody(w, r, limit, limits.Pace)
	body.Steady = true
	o.entry.MayGo(func() { body.Cut(gateway.ErrCrowded) })
	in, err := o.entry.Take(h.Spool, o.partner, body, r.ContentLength, limit)
	body.Release()
	o.entry.Stays()
	switch {
	case errors.Is(err, gateway.ErrTooLarge), errors.Is(err, wire.ErrLarge):
		return large
	case errors.Is(err, gateway.ErrSpoolShare):
		return &refusal{status: http.StatusServiceUnavailable, reason: "spool-share", cause: gateway.ErrCrowded}
	case errors.Is(err, gateway.ErrSpoolFull):
		return &refusal{status: http.StatusServiceUnavailable, reason: "spool-full", cause: err}
	case errors.Is(err, wire.ErrSlow):
		return &refusal{status: http.StatusRequestTimeout, reason: "request-timeout", text: "The body did not come. Send the message again.", broken: true, cause: err}
	case errors.Is(err, wire.ErrIncomplete):
		return &refusal{status: http.StatusBadRequest, reason: "incomplete-body", text: "The request ended before its announced end. Send the message again.", broken: true, cause: err}
	case err != nil:
		return err
	}
	o.spooled = in
	o.leave = append(o.leave, func() {
		_ = in.Close() // the file has no name: it is gone, whatever closing says
	})
	return nil
}

// isPlain reports whether a body is a payload as it is: nothing in it has to be taken
// apart in memory.
func isPlain(h http.Header) bool {
	t := outerEntity(h, nil).ContentType()
	encoding := entity.ParseValue(h.Get("Content-Transfer-Encoding")).Word
	return !isCMS(t) && !strings.HasPrefix(t.Word, "multipart/") && encoding != "base64" && encoding != "quoted-printable"
}

// signer finds the key that MDNs are signed with, where a signed one is asked for.
func (h *Handler) signer(ctx context.Context, o *opened) error {
	if !o.wanted.Signed {
		return nil
	}
	keys, err := h.Keys(ctx, o.partner.Organisation, ForSigning)
	if err != nil {
		return fmt.Errorf("keys for MDNs: %w", err)
	}
	if len(keys) > 0 {
		o.signing = &keys[0]
	}
	return nil
}

// message opens what was taken in.
func (h *Handler) message(r *http.Request, o *opened, limits Limits) error {
	if o.from.Plain == o.to.Plain {
		return fault(senderIsReceiver, nil, "AS2-From and AS2-To are the same.")
	}
	if o.spooled.Blank {
		return fault(empty, nil, "The message is empty.")
	}
	if isPlain(r.Header) {
		if err := h.plain(r, o); err != nil {
			return err
		}
	} else {
		if err := h.wrapped(r, o, limits); err != nil {
			return err
		}
	}
	switch {
	case o.report != nil:
		return nil
	case len(o.m.Parts) == 0:
		return fault(empty, nil, "The message has no parts.")
	case len(o.m.Parts) == 1 && o.m.Parts[0].Body != nil && len(bytes.TrimSpace(o.m.Parts[0].Body)) == 0:
		return fault(empty, nil, "The message is empty.")
	case o.wanted.UnknownProtocol != "":
		return fault(unsupportedFormat, nil, "You require an MDN signed by %s, which is not known here. pkcs7-signature is.", o.wanted.UnknownProtocol)
	case o.wanted.UnknownMICs != "":
		return fault(unsupportedMIC, nil, "You require the algorithm %s for the check, which is not known here. sha-256 is.", o.wanted.UnknownMICs)
	case o.wanted.SignedRequired && o.signing == nil:
		return fault(unsupportedFormat, nil, "You require a signed MDN, and we have no key to sign it with. Ask us.")
	}
	return nil
}

// plain takes a body that is the payload: it stays where it is, also in a file.
func (h *Handler) plain(r *http.Request, o *opened) error {
	e := outerEntity(r.Header, nil)
	o.m = &Opened{Parts: []Part{{Type: e.ContentType().Word, Filename: e.Filename(), EDI: true}}}
	rules := &opening{Opener: &Opener{Partner: o.partner}, m: o.m}
	hash, name := o.wanted.mic()
	var err error
	// RFC 4130 §7.3.1: over the content without its header.
	if o.m.MIC, err = micOver(hash, name, contentOf(o.spooled.Payload)); err != nil {
		return err
	}
	return rules.required()
}

// wrapped opens a body that has to be taken apart.
func (h *Handler) wrapped(r *http.Request, o *opened, limits Limits) error {
	size := o.spooled.Payload.Size()
	crowded := &refusal{status: http.StatusServiceUnavailable, reason: "memory", cause: gateway.ErrCrowded}
	taken, err := h.memory.open(r.Context(), o.partner, o.address, opensTo*size, limits)
	switch {
	case errors.Is(err, gateway.ErrCrowded):
		return crowded
	case err != nil:
		return err
	}
	o.memory = taken
	o.leave = append(o.leave, taken.close)
	if err := taken.need(size); err != nil { // it is paid
		return err
	}
	body, err := o.spooled.Payload.Slice(0, size)
	if err != nil {
		return err
	}
	if _, mine := o.spooled.Payload.InMemory(); mine && isCMS(outerEntity(r.Header, nil).ContentType()) {
		body = bytes.Clone(body) // it is decrypted where it lies, and what came is kept where that fails; it is small
	}
	opener := &Opener{Partner: o.partner, Leads: h.Leads, Now: h.now(), Max: limits.MaxOpened, Room: taken.need,
		Keys: func() ([]cms.Key, error) { return h.opens(r.Context(), o.partner.Organisation) }}
	o.m, err = opener.Open(outerEntity(r.Header, body), o.wanted)
	if err == nil && len(o.m.Parts) > 1 { // they are put behind each other
		if err = taken.need(o.m.size()); errors.Is(err, ErrTooMuch) {
			err = tooMuch(err)
		}
	}
	switch {
	case errors.Is(err, ErrNoRoom):
		return crowded
	case err == nil:
		o.report = o.m.Report
	}
	return err
}

// opens gives what a message that is encrypted may be encrypted to. That we have nothing
// at all is our fault and not its sender's, who has a certificate of ours: he is to come
// again.
func (h *Handler) opens(ctx context.Context, organisation string) ([]cms.Key, error) {
	list, err := h.decrypters(ctx, organisation)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("a message is encrypted, and organisation %s has no key for %s that holds now; `edigw keys create` makes one", organisation, ForDecryption)
	}
	return list, err
}

func (h *Handler) decrypters(ctx context.Context, organisation string) (list []cms.Key, err error) {
	keys, err := h.Keys(ctx, organisation, ForDecryption)
	if err != nil {
		return nil, fmt.Errorf("keys to decrypt with: %w", err)
	}
	for _, k := range keys {
		c, err := cms.CertificateOf(k.Certificates[0])
		if err != nil {
			return nil, fmt.Errorf("certificate of key %q: %w", k.Label, err)
		}
		list = append(list, cms.Key{Certificate: c, Private: k.Private})
	}
	return list, nil
}
