package httpin

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/proxy"
)

// opened is a request as far as it could be opened: what is not known is nil.
type opened struct {
	partner  *partners.Partner
	key      string // transport key, "" if the sender gave no id
	leave    func() // of the partner's share; nil without
	release  func() // of the reserved key; nil without
	spooled  *gateway.Spooled
	delivery *gateway.Delivery
	closed   bool
}

// close lets go of what open took, once.
func (o *opened) close() {
	if o.closed {
		return
	}
	o.closed = true
	if o.spooled != nil {
		_ = o.spooled.Close() // the file has no name: it is gone, whatever closing says
	}
	if o.release != nil {
		o.release()
	}
	if o.leave != nil {
		o.leave()
	}
}

// open reads a request: who, which message, and only then the body. Its error
// is a *refusal, or ours. What it gives is never nil, and its spooled payload
// has to be closed.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, client proxy.Client) (*opened, error) {
	o := &opened{}
	p, err := h.authenticate(r, client)
	if err != nil {
		return o, err
	}
	o.partner = p
	if h.Admit != nil {
		leave, ok := h.Admit(p)
		if !ok {
			return o, gateway.ErrCrowded
		}
		o.leave = leave
	}
	id, err := messageID(r.Header)
	if err != nil {
		return o, err
	}
	if id != "" {
		o.key = dedup.TransportKey(Transport, p.Organisation, id)
	}
	wants, err := wantedDigests(r.Header.Values("Content-Digest"))
	if err != nil {
		return o, err
	}
	if err := acceptable(r.Header); err != nil {
		return o, err
	}
	if err := h.reserve(o, r); err != nil {
		return o, err
	}
	body, err := h.body(w, r, wants)
	if err != nil {
		return o, err
	}
	o.spooled, err = body.take(h.Spool, p)
	if err != nil {
		return o, err
	}
	if o.spooled.Blank {
		return o, &refusal{problem: "empty"}
	}
	o.delivery = &gateway.Delivery{
		Transport:           Transport,
		Partner:             p,
		TransportID:         o.key,
		Payload:             o.spooled.Payload,
		SHA256:              o.spooled.SHA256,
		Received:            h.now(),
		Remote:              client.Address,
		Filename:            filename(r.Header),
		Render:              Render,
		WithAcknowledgement: p.Policy.Acknowledge == "response",
	}
	if wrong := body.verify(); wrong != nil {
		// What fails verification under a known name is kept apart and journalled,
		// so that the two sides can find out why.
		o.delivery.Fault = &gateway.Rejection{Answer: gateway.ToldFaulty, Reason: wrong.problem, Detail: wrong.text()}
	}
	return o, nil
}

// waitingRoom is the size up to which a copy of a running message is read and
// waits for the first one's answer; a larger one is refused before it is read.
const waitingRoom = 1 << 20

// reserve takes the transport key of a large body before it is read.
func (h *Handler) reserve(o *opened, r *http.Request) error {
	if o.key == "" || h.Reserve == nil || r.ContentLength >= 0 && r.ContentLength <= waitingRoom {
		return nil
	}
	release, ok := h.Reserve(o.partner.ID, o.key)
	if !ok {
		return gateway.ErrBusy
	}
	o.release = release
	return nil
}

// acceptable holds the header against what a body may be.
func acceptable(header http.Header) error {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	// QUIRK: senders declare anything, or something that is no media type at all;
	// curl --data-binary says application/x-www-form-urlencoded. The content tells
	// what it is. Only a body that has to be taken apart first is refused.
	if (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter)) && strings.HasPrefix(media, "multipart/") {
		hint := "Send the interchange itself as the body, in one part."
		switch media {
		case "multipart/form-data":
			hint = "Send the interchange itself as the body: with curl, --data-binary @file and not -F."
		case "multipart/signed", "multipart/report":
			hint = "Send the interchange itself as the body, neither signed nor encrypted."
		}
		return &refusal{problem: "unsupported-content-type", detail: fmt.Sprintf("The body is %s. %s", media, hint)}
	}
	return nil
}

// filename is the name the sender gave the file, without any path.
func filename(header http.Header) string {
	// RFC 6266 is about responses; senders use the field in requests all the same.
	_, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	if runes := []rune(name); len(runes) > 200 {
		name = string(runes[:200])
	}
	return name
}
