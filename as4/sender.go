package as4

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/wire"
)

// Sender sends messages and holds what answers them against what was sent. A message
// is sent again under the same MessageId until there is an answer: the receiver
// processes it once (AS4 profile §3.2).
type Sender struct {
	HTTP *http.Client // nil is one without a bound of time; redirects are not followed
	SHA1 bool         // a receipt may be signed with SHA-1
}

// Answered is what a partner answered.
type Answered struct {
	Status  int
	SOAP    []byte            // the envelope as it came: the evidence
	Signal  *SignalMessage    // nil where there is none
	Signer  *x509.Certificate // nil where it is not signed
	Receipt bool              // the message was received: the receipt fits what was sent
}

// Refused says that the partner answered with errors. The message was not taken.
type Refused struct {
	Errors []ErrorSignal
	Again  bool // the partner asks to send it again later
	Proven bool // it names the message, and is signed where a signed receipt is asked for
}

// Error gives what the partner said.
func (r *Refused) Error() string {
	words := make([]string, len(r.Errors))
	for i, e := range r.Errors {
		words[i] = strings.TrimSpace(e.Code + " " + e.Short)
		if text := e.Detail; text != "" || e.Description != "" {
			if text == "" {
				text = e.Description
			}
			words[i] += ": " + text
		}
	}
	return "the partner refused the message: " + strings.Join(words, "; ")
}

// ErrInvalidReceipt is wrapped where a receipt does not say what it should: EBMS:0302.
var ErrInvalidReceipt = errors.New("EBMS:0302 InvalidReceipt")

// ErrMissingReceipt is wrapped where there is no answer that says anything: EBMS:0301.
var ErrMissingReceipt = errors.New("EBMS:0301 MissingReceipt")

// ErrLost is wrapped where the message left, and the connection ended before its answer.
var ErrLost = errors.New("its answer is lost")

// Send pushes a message. signers are the certificates that may have signed the
// receipt; with none its signature is not asked for. The error is a *Refused, wraps
// ErrInvalidReceipt, ErrMissingReceipt or ErrLost, or is of the network: all but a *Refused
// without Again call for sending it again.
func (s Sender) Send(ctx context.Context, address string, c *Composed, signers []*x509.Certificate) (*Answered, error) {
	body := c.Body()
	ctx, left := wire.Left(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	r.Header.Set("Content-Type", c.ContentType)
	r.Header.Set("Accept", soapType+", multipart/related")
	client := http.Client{}
	if s.HTTP != nil {
		client = *s.HTTP
	}
	// A message that was signed and encrypted for one receiver goes to no other.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil && left() {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	a := &Answered{Status: answer.StatusCode}
	if err := a.read(answer); err != nil {
		return a, fmt.Errorf("%w: HTTP status %d: %w", ErrMissingReceipt, a.Status, err)
	}
	return a, a.judge(c, signers, s.SHA1)
}

// read reads the signal of an answer. QUIRK: some receivers answer in
// multipart/related with one part.
func (a *Answered) read(answer *http.Response) error {
	e, err := readEnvelope(answer.Header.Get("Content-Type"), answer.Body, Limits{}.withDefaults(), &gateway.Spool{})
	if e != nil {
		defer e.close()
	}
	if err != nil {
		return err
	}
	a.SOAP = e.soap
	env, err := wssec.Read(e.soap)
	if err != nil {
		return err
	}
	if env.Messaging == nil {
		return errors.New("the answer holds no eb:Messaging: a SOAP Fault, or something else than AS4")
	}
	head, err := readHeader(env.Messaging)
	if err != nil {
		return err
	}
	if head.signal == nil {
		return errors.New("the answer is a user message, where a receipt is expected")
	}
	a.Signal = head.signal
	return nil
}

// judge holds the signal against what was sent.
func (a *Answered) judge(c *Composed, signers []*x509.Certificate, sha1 bool) error {
	ref := a.Signal.MessageInfo.RefToMessageID
	if len(a.Signal.Errors) > 0 {
		refused := &Refused{Again: true}
		for _, e := range a.Signal.Errors {
			// A warning refuses nothing: core §6.2.4.
			if e.Severity == "failure" {
				refused.Errors = append(refused.Errors, e)
				refused.Again = refused.Again && slices.Contains(passing, e.Code)
			}
		}
		if len(refused.Errors) == 0 {
			return fmt.Errorf("%w: the answer holds warnings alone", ErrMissingReceipt)
		}
		if ref != "" && ref != c.MessageID {
			return fmt.Errorf("%w: the errors are of another message, %.120q", ErrMissingReceipt, ref)
		}
		named := ref != "" || slices.ContainsFunc(refused.Errors, func(e ErrorSignal) bool { return e.RefToMessage == c.MessageID })
		refused.Proven = named && (len(signers) == 0 || a.signed(signers, sha1) == nil)
		return refused
	}
	if a.Signal.Receipt == nil {
		return fmt.Errorf("%w: the answer is neither a receipt nor an error", ErrMissingReceipt)
	}
	if ref != c.MessageID {
		return fmt.Errorf("%w: the receipt is of another message, %.120q", ErrInvalidReceipt, ref)
	}
	if len(c.References) > 0 {
		if err := wssec.Compare(c.References, a.Signal.Receipt.References); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidReceipt, err)
		}
	}
	if len(signers) > 0 {
		if err := a.signed(signers, sha1); err != nil {
			return fmt.Errorf("%w: its signature: %w", ErrInvalidReceipt, err)
		}
	}
	a.Receipt = true
	return nil
}

// signed fails where the signal is not signed by one of signers.
func (a *Answered) signed(signers []*x509.Certificate, sha1 bool) error {
	env, err := wssec.Read(a.SOAP)
	if err != nil {
		return err
	}
	signature, err := env.Verify(nil, wssec.Verification{Signer: wssec.Pinned(signers...), SHA1: sha1, UnsignedBody: true})
	if err != nil {
		return err
	}
	if signature.Messaging != env.Messaging {
		return errors.New("it covers another element")
	}
	a.Signer = signature.Certificate
	return nil
}
