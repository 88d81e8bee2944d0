package as2

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/wire"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 4 << 20

// Sender sends to partners, as their as2.send says, and judges what they answer.
type Sender struct {
	// Keys gives the keys of an organisation, as Handler.Keys.
	Keys func(ctx context.Context, organisation string, purpose Purpose) ([]Key, error)
	// Client is guarded (targets.Guard.Client): an administrator names the address.
	Client *http.Client
	Now    func() time.Time // nil is time.Now
}

// Outgoing is what is to be sent. Each try of it has the same MessageID, by which the
// partner knows that it is one (RFC 4130 §5.5).
type Outgoing struct {
	MessageID string // with angle brackets or without
	Type      string // of the content: application/EDIFACT
	Filename  string
	Subject   string
	Content   []byte

	// Expect is called before a message leaves whose MDN comes by itself (mdn_to), with the
	// checks that it may have; nil has the MDN come in the response.
	Expect func(checks []MIC) error
}

// Sent is what a partner said to a message that reached him.
type Sent struct {
	Status       int
	MIC          MIC           // of what was sent
	Checks       []MIC         // MIC, and what else is taken for it
	Notification *Notification // nil where none was asked for
	Signed       bool          // by one of the partner's certificates
	Certificate  string        // its label
}

// What a partner may answer that is no acknowledgement, as errors.Is finds it.
var (
	// ErrRefused: the message arrived, and the partner will not have it, or says of another
	// content that it arrived. To send it again is of no use.
	ErrRefused = errors.New("the partner did not accept the message")
	// ErrUnexplained: the partner will not have it, and does not say whether for what it is.
	ErrUnexplained = errors.New("the partner did not accept the message, and says nothing of its content")
	// ErrShut: the partner takes nothing that is sent as this was, until one of us mends that.
	ErrShut = errors.New("the partner takes no message as this was sent")
	// ErrLost: the message left, and what became of it is not known.
	ErrLost = errors.New("the answer is lost")
	// ErrUnproven: what came back does not prove that the message arrived: no MDN that can
	// be read, for this message, and signed where that was asked for.
	ErrUnproven = errors.New("the partner's answer does not acknowledge the message")
	// ErrNotConfigured: the partner's settings do not say how to send, or a certificate or
	// key is missing.
	ErrNotConfigured = errors.New("sending over AS2 is not configured")
	// ErrAwaited: the message was taken, and its MDN comes by itself.
	ErrAwaited = errors.New("the partner took the message, and its MDN has not come yet")
)

// Send sends once. The error wraps one of those above, but for ErrNotConfigured and ErrLost
// with what was answered in Sent; any other means that nothing arrived. After all but
// ErrRefused the same may be sent again.
func (s *Sender) Send(ctx context.Context, p *partners.Partner, o Outgoing) (*Sent, error) {
	r, checks, err := s.compose(ctx, p, o)
	if err != nil {
		return nil, err
	}
	later := r.Header.Get("Receipt-Delivery-Option") != ""
	if later {
		if err := o.Expect(checks); err != nil {
			return nil, err
		}
	}
	leaving, left := wire.Left(ctx)
	resp, err := s.Client.Do(r.WithContext(leaving))
	if err != nil && left() {
		return nil, fmt.Errorf("%w: send to %s: %w", ErrLost, p.ID, err)
	}
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", p.ID, err)
	}
	defer func() {
		_ = resp.Body.Close() // it was read, or is given up
	}()
	sent := &Sent{Status: resp.StatusCode, MIC: checks[0], Checks: checks}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what it says is for people
		err := fmt.Errorf("%s answered %d: %.200q", r.URL.Host, resp.StatusCode, text)
		if wire.Taken(resp.StatusCode) {
			return sent, fmt.Errorf("%w: %w", ErrLost, err)
		}
		return sent, err
	}
	if p.AS2.Send.MDN == "none" {
		return sent, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return sent, fmt.Errorf("%w: read the MDN of %s: %w", ErrLost, p.ID, err)
	}
	// QUIRK: some answer in the response all the same.
	if later && !strings.HasPrefix(outerEntity(resp.Header, nil).ContentType().Word, "multipart/") {
		return sent, ErrAwaited
	}
	return sent, s.judge(p, o, sent, resp.Header, body)
}

// judge holds the MDN against what was sent: RFC 4130 §7.
func (s *Sender) judge(p *partners.Partner, o Outgoing, sent *Sent, header http.Header, body []byte) error {
	lenient := *p
	lenient.AS2.SignatureRequired, lenient.AS2.EncryptionNeeded, lenient.AS2.CBCRefused = false, false, false
	m, err := (&Opener{Partner: &lenient, Now: s.now()}).Open(outerEntity(header, body), Wanted{})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	if m.Report == nil {
		return fmt.Errorf("%w: there is no MDN in it", ErrUnproven)
	}
	n, err := ParseReport(m.Report)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	sent.Notification, sent.Signed = n, m.Signed
	if m.Signer != nil {
		sent.Certificate = m.Signer.Label
	}
	return acknowledges(p, n, m.Signed, o.MessageID, sent.Checks)
}

// acknowledges says why an MDN does not acknowledge the message of an id with these
// checks; nil if it does.
func acknowledges(p *partners.Partner, n *Notification, signed bool, id string, checks []MIC) error {
	switch positive := n.Disposition.Positive(); {
	case n.Original != "" && !n.Is(id):
		return fmt.Errorf("%w: it is for message %.80q", ErrUnproven, n.Original)
	case p.AS2.Send.MDN == "signed" && !signed:
		return fmt.Errorf("%w: %.200s, and it is not signed; say mdn: unsigned under as2.send if that is all the partner can", ErrUnproven, n.Disposition)
	case !positive && n.Original == "":
		return fmt.Errorf("%w: %.200s, and it names no message", ErrUnproven, n.Disposition)
	case !positive:
		return fmt.Errorf("%w: %.200s %.500s", n.Disposition.refusal(), n.Disposition, strings.Join(n.Errors, " "))
	case n.MIC.Digest == nil && signed:
		return fmt.Errorf("%w: the MDN tells no Received-content-MIC", ErrUnproven)
	case n.MIC.Digest != nil && !slices.ContainsFunc(checks, n.MIC.Equal):
		return fmt.Errorf("%w: it has the check %s, and what was sent has %s: it arrived as something else", ErrRefused, n.MIC, checks[0])
	}
	return nil
}

// compose makes the request, with the checks that its MDN may have.
func (s *Sender) compose(ctx context.Context, p *partners.Partner, o Outgoing) (*http.Request, []MIC, error) {
	how := p.AS2.Send
	if how.URL == "" {
		return nil, nil, fmt.Errorf("%w: partner %s has no as2.send.url", ErrNotConfigured, p.ID)
	}
	w, err := s.wrapping(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	content := Composed{ContentType: o.Type, Body: o.Content, Encoding: "binary"}
	if o.Filename != "" {
		content.Disposition = `attachment; filename="` + strings.NewReplacer(`\`, `_`, `"`, `_`).Replace(ascii(o.Filename, 200)) + `"`
	}
	asked := crypto.SHA256
	c, checks, err := w.wrap(content, asked)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, how.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, nil, fmt.Errorf("send to %s: %w", p.ID, err)
	}
	id := o.MessageID
	if !strings.HasPrefix(id, "<") {
		id = "<" + id + ">"
	}
	for _, f := range [][2]string{
		{"AS2-Version", version}, {"AS2-From", NameOf(how.From).Raw}, {"AS2-To", NameOf(how.To).Raw}, {"Message-ID", id}, {"Subject", ascii(o.Subject, 200)},
		{"MIME-Version", "1.0"}, {"Content-Type", c.ContentType}, {"Content-Disposition", c.Disposition}, {"Content-Transfer-Encoding", c.Encoding},
		{"Date", s.now().UTC().Format(http.TimeFormat)}, {"EDIINT-Features", features}, {"User-Agent", product},
	} {
		if f[1] != "" {
			r.Header[f[0]] = []string{f[1]} // as RFC 4130 spells it
		}
	}
	if how.MDN != "none" {
		r.Header["Disposition-Notification-To"] = []string{product}
		options := "signed-receipt-micalg=optional, " + digestName(w.micHash(asked))
		if how.MDN == "signed" {
			options = "signed-receipt-protocol=optional, pkcs7-signature; " + options
		}
		r.Header["Disposition-Notification-Options"] = []string{options}
		if how.MDNTo != "" && o.Expect != nil {
			r.Header["Receipt-Delivery-Option"] = []string{how.MDNTo}
		}
	}
	return r, checks, nil
}

// micHash is the algorithm that the MIC has to be by.
func (w Wrapping) micHash(asked crypto.Hash) crypto.Hash {
	if w.Signature != nil {
		return w.hash()
	}
	return asked
}

// wrapping is how a partner's messages are signed and encrypted.
func (s *Sender) wrapping(ctx context.Context, p *partners.Partner) (w Wrapping, err error) {
	how := p.AS2.Send
	w.Compress = how.Compression
	if how.Signature != "none" {
		keys, err := s.Keys(ctx, p.Organisation, ForSigning)
		if err != nil {
			return w, fmt.Errorf("keys to sign with: %w", err)
		}
		if len(keys) == 0 {
			return w, fmt.Errorf("%w: organisation %s has no key for as2_sign; `edigw keys create` makes one", ErrNotConfigured, p.Organisation)
		}
		if w.Signature, err = signatureBy(&keys[0], how.Signature, p.AS2.PSS, s.now()); err != nil {
			return w, err
		}
	}
	if how.Encryption != "none" {
		to := p.CertificatesFor(partners.AS2Encrypt, s.now())
		if len(to) == 0 {
			return w, fmt.Errorf("%w: partner %s has no certificate for as2_encrypt that holds now", ErrNotConfigured, p.ID)
		}
		c, err := cms.CertificateOf(to[0].X509)
		if err != nil {
			return w, fmt.Errorf("certificate %q of %s: %w", to[0].Label, p.ID, err)
		}
		w.Envelope = &cms.Envelope{Recipients: []*cms.Certificate{c}, Encryption: cms.Encryption(how.Encryption)}
		if how.KeyEncryption == "rsa-oaep" {
			w.Envelope.OAEP = crypto.SHA256
		}
	}
	return w, nil
}

func (s *Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}
